// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"

/// Ed25519 (RFC 8032) through OpenSSL, with key files as the openssl command line writes them (PKCS#8 and SPKI PEM).
namespace assay::crypto {

using Signature = std::array<std::uint8_t, 64>;

/// The result of looking at a signature. A default-made value is never good.
enum class SignatureCheck { notChecked, valid, invalid };

/// A default-made key (all zero) verifies nothing.
class PublicKey {
public:
    /// Exactly 32 bytes. `malformed` also for the points of small order: RFC 8032 and OpenSSL accept them, but a
    /// signature under such a key fits many messages and so binds nobody to one.
    [[nodiscard]] static base::Result<PublicKey> fromBytes(base::ByteView raw);
    [[nodiscard]] static base::Result<PublicKey> fromHex(std::string_view hex);
    /// SPKI PEM, one block, at most 64 KiB; `malformed` for any other key type.
    [[nodiscard]] static base::Result<PublicKey> fromPem(std::string_view pem);
    [[nodiscard]] base::Result<std::string> toPem() const;
    [[nodiscard]] const std::array<std::uint8_t, 32>& bytes() const { return m_raw; }
    [[nodiscard]] std::string toHex() const { return base::toHex(m_raw); }
    /// Lower-case hex of SHA-256 over the raw key: names the key in envelopes; no proof of anything.
    [[nodiscard]] std::string keyId() const;
    /// valid or invalid, never notChecked; invalid also where OpenSSL fails. As OpenSSL checks it: S below the group
    /// order, so that a signature cannot be changed into another one. Thread-safe.
    [[nodiscard]] SignatureCheck verify(base::ByteView message, base::ByteView signature) const;
    bool operator==(const PublicKey&) const = default;

private:
    std::array<std::uint8_t, 32> m_raw{};
};

/// A private key. Copies share it; the memory is cleared by OpenSSL when the last one goes.
class PrivateKey {
public:
    [[nodiscard]] static base::Result<PrivateKey> generate();
    /// RFC 8032 seed of exactly 32 bytes.
    [[nodiscard]] static base::Result<PrivateKey> fromSeed(base::ByteView seed);
    /// PKCS#8 PEM without a pass phrase, one block, at most 64 KiB; `malformed` for any other key type.
    [[nodiscard]] static base::Result<PrivateKey> fromPem(std::string_view pem);
    [[nodiscard]] base::Result<std::string> toPem() const;
    [[nodiscard]] base::Result<PublicKey> publicKey() const;
    [[nodiscard]] base::Result<Signature> sign(base::ByteView message) const;

private:
    std::shared_ptr<void> m_key;
};

/// Reads a key file (at most 64 KiB). Errors name the file.
[[nodiscard]] base::Result<PrivateKey> readPrivateKey(const base::fs::path& path);
/// A public key file, or the public half of a private one.
[[nodiscard]] base::Result<PublicKey> readPublicKey(const base::fs::path& path);
/// Writes a private key that only its owner may read (0600): after a crash either the whole file is there or none.
/// Refuses to overwrite: `usage`.
[[nodiscard]] base::Result<void> writePrivateKey(const base::fs::path& path, const PrivateKey& key);

} // namespace assay::crypto
