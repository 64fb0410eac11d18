// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace assay::format {

/// One tensor: little-endian, row-major. `bytes` borrows and may be unaligned when it comes from a stranger's file.
struct TensorView {
    std::string name;
    std::string dtype; ///< safetensors spelling: "F32", "F64", "I64", "U8", ...
    std::vector<std::int64_t> shape;
    base::ByteView bytes;
};

/// Views an FP32 span as tensor bytes.
[[nodiscard]] inline base::ByteView bytesOf(std::span<const float> values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}
/// Bytes per element; 0 for an unknown dtype.
[[nodiscard]] std::uint64_t dtypeSize(std::string_view dtype);
/// Number of elements; `malformed` on a negative dimension or 2^48 elements and more. An empty shape is a scalar (1).
[[nodiscard]] base::Result<std::uint64_t> elementCount(std::span<const std::int64_t> shape);

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// A parsed safetensors file (https://github.com/huggingface/safetensors, format section). Strict: header limit, no
/// duplicate names, dtype x shape = length without overflow, ranges tile the data exactly, nothing after it. Movable,
/// immutable.
class Safetensors {
public:
    /// Maps the file; views live as long as this object.
    [[nodiscard]] static base::Result<Safetensors> open(const base::fs::path& path);
    /// Borrows `file`, which must outlive the object.
    [[nodiscard]] static base::Result<Safetensors> parse(base::ByteView file);

    [[nodiscard]] const std::vector<TensorView>& tensors() const { return m_tensors; } ///< sorted by name
    [[nodiscard]] const TensorView* find(std::string_view name) const;                 ///< nullptr if absent
    [[nodiscard]] base::ByteView fileBytes() const { return m_file; }

private:
    base::MappedFile m_mapped;
    base::ByteView m_file;
    std::vector<TensorView> m_tensors;
};

/// FP32 values of a view (any alignment). `malformed` if the dtype is not F32.
[[nodiscard]] base::Result<std::vector<float>> floatsOf(const TensorView& tensor);

struct WrittenFile {
    std::uint64_t size = 0;
    base::Digest sha256;
};
/// The one encoding of a set of tensors: sorted by name, no metadata, header padded with spaces to a multiple of 8
/// bytes. `malformed` for duplicate names, bad shapes or lengths.
[[nodiscard]] base::Result<base::ByteVector> serialiseSafetensors(std::span<const TensorView> tensors);
/// The same bytes straight to a file (temporary, fsync, rename), without a second copy in memory.
[[nodiscard]] base::Result<WrittenFile> writeSafetensors(const base::fs::path& path,
                                                         std::span<const TensorView> tensors);

} // namespace assay::format
