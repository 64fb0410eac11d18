// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"

/// SHA-256 (FIPS 180-4), through OpenSSL. Values are never truncated.
namespace assay::crypto {

/// Incremental hasher. Not thread-safe; one object per thread.
class Sha256 {
public:
    Sha256();
    Sha256(Sha256&& other) noexcept;
    Sha256& operator=(Sha256&& other) noexcept;
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    ~Sha256();
    void update(base::ByteView bytes);
    /// The digest of everything so far; the object starts anew.
    [[nodiscard]] base::Digest finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

[[nodiscard]] base::Digest sha256(base::ByteView bytes);

/// Digest of `prefix` followed by each chunk of `chunkSize` bytes (the last may be shorter; no bytes give no chunks).
/// Uses up to `threads` threads; the result does not depend on their number. Precondition: chunkSize >= 1.
[[nodiscard]] std::vector<base::Digest> hashChunks(base::ByteView data, std::uint64_t chunkSize, base::ByteView prefix,
                                                   unsigned threads = 1);

} // namespace assay::crypto
