// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/ed25519.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <fmt/format.h>

#include "core/crypto/sha256.h"

namespace assay::crypto {

using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::uint64_t kKeyFileLimit = 64 << 10;

struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(BIO* bio) const { BIO_free_all(bio); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

std::shared_ptr<void> share(EVP_PKEY* key) {
    return {key, [](void* p) { EVP_PKEY_free(static_cast<EVP_PKEY*>(p)); }};
}

EVP_PKEY* keyOf(const std::shared_ptr<void>& key) {
    return static_cast<EVP_PKEY*>(key.get());
}

/// OpenSSL's error queue belongs to the thread: what is left in it would be taken for the failure of a later, unrelated
/// call.
struct CleanErrorQueue {
    CleanErrorQueue() = default;
    CleanErrorQueue(const CleanErrorQueue&) = delete;
    CleanErrorQueue& operator=(const CleanErrorQueue&) = delete;
    ~CleanErrorQueue() { ERR_clear_error(); }
};

/// Whether the encoded point has an order of 1, 2, 4 or 8. The y coordinates of these points are 1, -1, 0, two of order
/// 8, and with the two values that fit into 255 bits although they are not below p (p and p + 1), there are seven
/// encodings apart from the sign bit.
bool isSmallOrder(const std::array<std::uint8_t, 32>& raw) {
    using Point = std::array<std::uint8_t, 32>;
    static const std::array<Point, 7> points = [] {
        std::array<Point, 7> made{};
        made[1][0] = 1;
        for (std::size_t i = 2; i < 5; ++i) {
            made[i].fill(0xff);
            made[i][31] = 0x7f;
        }
        made[2][0] = 0xec; // p - 1, with p = 2^255 - 19
        made[3][0] = 0xed;
        made[4][0] = 0xee;
        made[5] = {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
                   0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05};
        made[6] = {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
                   0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a};
        return made;
    }();
    Point y = raw;
    y[31] &= 0x7f;
    return std::find(points.begin(), points.end(), y) != points.end();
}

/// A file with two keys in it could show one to a person and another to the program.
bool isOnePemBlock(std::string_view pem) {
    constexpr std::string_view kBegin = "-----BEGIN ";
    const auto first = pem.find(kBegin);
    return pem.size() <= kKeyFileLimit && first != std::string_view::npos &&
           pem.find(kBegin, first + 1) == std::string_view::npos;
}

Result<std::string> textOf(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    if (size <= 0 || data == nullptr) {
        return fail(ErrorCode::internal, "OpenSSL wrote no PEM text");
    }
    return std::string(data, static_cast<std::size_t>(size));
}

// A key with a pass phrase must not make the program wait for one.
int refusePassPhrase(char*, int, int, void*) {
    return -1;
}

} // namespace

Result<PublicKey> PublicKey::fromBytes(ByteView raw) {
    PublicKey key;
    if (raw.size() != key.m_raw.size()) {
        return fail(ErrorCode::malformed, fmt::format("an Ed25519 public key has 32 bytes, found {}", raw.size()));
    }
    std::copy(raw.begin(), raw.end(), key.m_raw.begin());
    if (isSmallOrder(key.m_raw)) {
        return fail(ErrorCode::malformed,
                    "this Ed25519 public key is a point of small order, whose signatures prove nothing");
    }
    return key;
}

Result<PublicKey> PublicKey::fromHex(std::string_view hex) {
    ASSAY_TRY(raw, base::fromHex(hex));
    return fromBytes(raw);
}

Result<PublicKey> PublicKey::fromPem(std::string_view pem) {
    const CleanErrorQueue clean;
    const Owned<BIO> bio(isOnePemBlock(pem) ? BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())) : nullptr);
    const Owned<EVP_PKEY> key(bio ? PEM_read_bio_PUBKEY(bio.get(), nullptr, refusePassPhrase, nullptr) : nullptr);
    if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) {
        return fail(ErrorCode::malformed, "not one Ed25519 public key in PEM form", "openssl pkey -in KEY -pubout");
    }
    std::array<std::uint8_t, 32> raw{};
    std::size_t length = raw.size();
    if (EVP_PKEY_get_raw_public_key(key.get(), raw.data(), &length) != 1) {
        return fail(ErrorCode::malformed, "the public key has no raw form");
    }
    return fromBytes({raw.data(), length});
}

Result<std::string> PublicKey::toPem() const {
    const Owned<EVP_PKEY> key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, m_raw.data(), m_raw.size()));
    const Owned<BIO> bio(BIO_new(BIO_s_mem()));
    if (!key || !bio || PEM_write_bio_PUBKEY(bio.get(), key.get()) != 1) {
        return fail(ErrorCode::internal, "OpenSSL could not write the public key");
    }
    return textOf(bio.get());
}

std::string PublicKey::keyId() const {
    return sha256(m_raw).toHex();
}

SignatureCheck PublicKey::verify(ByteView message, ByteView signature) const {
    const CleanErrorQueue clean;
    if (signature.size() != Signature{}.size() || isSmallOrder(m_raw)) {
        return SignatureCheck::invalid;
    }
    const Owned<EVP_PKEY> key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, m_raw.data(), m_raw.size()));
    const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
    if (!key || !context || EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) {
        return SignatureCheck::invalid; // a key that is no point on the curve, too
    }
    // 1 is the only success; 0 and negative values both mean that nothing was proved.
    return EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(), message.size()) == 1
               ? SignatureCheck::valid
               : SignatureCheck::invalid;
}

Result<PrivateKey> PrivateKey::generate() {
    EVP_PKEY* made = nullptr;
    const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr));
    if (!context || EVP_PKEY_keygen_init(context.get()) != 1 || EVP_PKEY_keygen(context.get(), &made) != 1) {
        return fail(ErrorCode::environment, "OpenSSL could not make an Ed25519 key");
    }
    PrivateKey key;
    key.m_key = share(made);
    return key;
}

Result<PrivateKey> PrivateKey::fromSeed(ByteView seed) {
    if (seed.size() != 32) {
        return fail(ErrorCode::malformed, fmt::format("an Ed25519 seed has 32 bytes, found {}", seed.size()));
    }
    EVP_PKEY* made = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size());
    if (made == nullptr) {
        return fail(ErrorCode::internal, "OpenSSL refused the seed");
    }
    PrivateKey key;
    key.m_key = share(made);
    return key;
}

Result<PrivateKey> PrivateKey::fromPem(std::string_view pem) {
    const CleanErrorQueue clean;
    const Owned<BIO> bio(isOnePemBlock(pem) ? BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())) : nullptr);
    Owned<EVP_PKEY> read(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, refusePassPhrase, nullptr) : nullptr);
    if (!read || EVP_PKEY_get_base_id(read.get()) != EVP_PKEY_ED25519) {
        return fail(ErrorCode::malformed, "not one Ed25519 private key in PEM form without a pass phrase",
                    "assay keygen, or openssl genpkey -algorithm ed25519");
    }
    PrivateKey key;
    key.m_key = share(read.release());
    return key;
}

Result<std::string> PrivateKey::toPem() const {
    const Owned<BIO> bio(BIO_new(BIO_s_mem()));
    if (!m_key || !bio ||
        PEM_write_bio_PrivateKey(bio.get(), keyOf(m_key), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        return fail(ErrorCode::internal, "OpenSSL could not write the private key");
    }
    return textOf(bio.get());
}

Result<PublicKey> PrivateKey::publicKey() const {
    std::array<std::uint8_t, 32> raw{};
    std::size_t length = raw.size();
    if (!m_key || EVP_PKEY_get_raw_public_key(keyOf(m_key), raw.data(), &length) != 1) {
        return fail(ErrorCode::internal, "the private key has no public half");
    }
    return PublicKey::fromBytes({raw.data(), length});
}

Result<Signature> PrivateKey::sign(ByteView message) const {
    Signature signature{};
    std::size_t length = signature.size();
    const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
    if (!m_key || !context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, keyOf(m_key)) != 1 ||
        EVP_DigestSign(context.get(), signature.data(), &length, message.data(), message.size()) != 1 ||
        length != signature.size()) {
        return fail(ErrorCode::internal, "OpenSSL could not sign");
    }
    return signature;
}

Result<PrivateKey> readPrivateKey(const base::fs::path& path) {
    ASSAY_TRY(text, base::readTextFile(path, kKeyFileLimit));
    auto key = PrivateKey::fromPem(text);
    OPENSSL_cleanse(text.data(), text.size());
    if (!key) {
        return fail(key.error().inFile(path.string()));
    }
    return key;
}

Result<PublicKey> readPublicKey(const base::fs::path& path) {
    ASSAY_TRY(text, base::readTextFile(path, kKeyFileLimit));
    if (text.find("PRIVATE KEY") != std::string::npos) {
        ASSAY_TRY(key, readPrivateKey(path));
        return key.publicKey();
    }
    auto key = PublicKey::fromPem(text);
    if (!key) {
        return fail(key.error().inFile(path.string()));
    }
    return key;
}

Result<void> writePrivateKey(const base::fs::path& path, const PrivateKey& key) {
    ASSAY_TRY(pem, key.toPem());
    const base::fs::path folder = path.has_parent_path() ? path.parent_path() : base::fs::path(".");
    std::string temporary = (folder / fmt::format(".{}.XXXXXX", path.filename().string())).string();
    const int fd = ::mkostemp(temporary.data(), O_CLOEXEC); // 0600 from the start
    if (fd < 0) {
        return fail(base::systemError(path, "cannot create", errno));
    }
    int code = 0;
    for (std::size_t at = 0; at < pem.size() && code == 0;) {
        const auto written = ::write(fd, pem.data() + at, pem.size() - at);
        if (written >= 0) {
            at += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            code = errno;
        }
    }
    OPENSSL_cleanse(pem.data(), pem.size());
    if (code == 0 && ::fsync(fd) != 0) {
        code = errno;
    }
    ::close(fd);
    // Unlike rename, link gives the file its name only if nothing has that name yet.
    if (code == 0 && ::link(temporary.c_str(), path.c_str()) != 0) {
        code = errno;
    }
    ::unlink(temporary.c_str());
    if (code == EEXIST) {
        return fail(Error{ErrorCode::usage, "a file of this name exists; a key is never overwritten", path.string(),
                          std::nullopt, "another name"});
    }
    if (code != 0) {
        return fail(base::systemError(path, "cannot write", code));
    }
    return base::syncFolder(folder);
}

} // namespace assay::crypto
