// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Type tags: the first bytes of everything that is hashed into a tree, so that data of one tree can never pass as data
/// of another. Each ends with a newline, so no tag is a prefix of another. Persistent, never change.
namespace assay::format::detail {

inline constexpr std::string_view kStepTag = "assay/step/1\n";
inline constexpr std::string_view kDivergedTag = "assay/diverged/1\n";
inline constexpr std::string_view kTensorTag = "assay/tensor/1\n";
inline constexpr std::string_view kChunkTag = "assay/chunk/1\n";
inline constexpr std::string_view kLogTag = "assay/log/1\n";
inline constexpr std::string_view kSampleTag = "assay/sample/1\n";
inline constexpr std::string_view kBatchTag = "assay/batch/1\n"; ///< plain SHA-256, not a tree

} // namespace assay::format::detail
