// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/sha256.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>

#include <openssl/evp.h>

#include "core/base/assert.h"

namespace assay::crypto {

namespace {

/// OpenSSL documents 1 as the only success. A hash that fails (no memory, a disabled provider) cannot be reported
/// through a value that looks like a digest, so the process ends: a wrong digest would be worse.
void require(int result, const char* what) {
    if (result != 1) {
        std::fprintf(stderr, "SHA-256 is not available: %s failed\n", what);
        std::abort();
    }
}

const EVP_MD* algorithm() {
    // Fetched once: implicit fetching on every initialisation costs more than hashing a short input.
    static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    require(method != nullptr ? 1 : 0, "EVP_MD_fetch");
    return method;
}

} // namespace

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    State() {
        require(context != nullptr ? 1 : 0, "EVP_MD_CTX_new");
        start();
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { EVP_MD_CTX_free(context); }
    void start() { require(EVP_DigestInit_ex2(context, algorithm(), nullptr), "EVP_DigestInit_ex2"); }
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&& other) noexcept = default;
Sha256& Sha256::operator=(Sha256&& other) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(base::ByteView bytes) {
    require(EVP_DigestUpdate(m_state->context, bytes.data(), bytes.size()), "EVP_DigestUpdate");
}

base::Digest Sha256::finish() {
    base::Digest digest;
    unsigned length = 0;
    require(EVP_DigestFinal_ex(m_state->context, digest.bytes.data(), &length), "EVP_DigestFinal_ex");
    require(length == digest.bytes.size() ? 1 : 0, "EVP_DigestFinal_ex (length)");
    m_state->start();
    return digest;
}

base::Digest sha256(base::ByteView bytes) {
    thread_local Sha256 hasher;
    hasher.update(bytes);
    return hasher.finish();
}

std::vector<base::Digest> hashChunks(base::ByteView data, std::uint64_t chunkSize, base::ByteView prefix,
                                     unsigned threads) {
    ASSAY_ASSERT(chunkSize >= 1);
    const std::uint64_t count = data.size() / chunkSize + (data.size() % chunkSize != 0 ? 1 : 0);
    std::vector<base::Digest> digests(count);
    std::atomic<std::uint64_t> next{0};
    const auto work = [&] {
        Sha256 hasher;
        constexpr std::uint64_t kTaken = 16; // chunks taken at a time, to keep the counter cold
        for (;;) {
            const std::uint64_t first = next.fetch_add(kTaken);
            if (first >= count) {
                return;
            }
            for (std::uint64_t i = first; i < std::min(count, first + kTaken); ++i) {
                hasher.update(prefix);
                hasher.update(data.subspan(i * chunkSize, std::min(chunkSize, data.size() - i * chunkSize)));
                digests[i] = hasher.finish();
            }
        }
    };
    std::vector<std::jthread> helpers;
    const std::uint64_t useful = std::min<std::uint64_t>(threads, count / 16);
    for (std::uint64_t i = 1; i < useful; ++i) {
        try {
            helpers.emplace_back(work);
        } catch (const std::system_error&) {
            break; // no more threads to be had: those there are do it
        }
    }
    work();
    return digests;
}

} // namespace assay::crypto
