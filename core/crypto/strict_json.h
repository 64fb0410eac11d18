// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

/// JSON from strangers for the signature formats: bounded depth, no duplicate members. Include in .cpp files only.
namespace assay::crypto {

/// `malformed` (with the byte offset where the JSON library knows it) for bad JSON, any byte before or after the one
/// value but white space, zero bytes, nesting beyond 32, a member named twice, more than 2^20 values, or more than
/// `limit` bytes.
[[nodiscard]] base::Result<nlohmann::json> parseStrictJson(std::string_view text, std::uint64_t limit);
/// Sorted members, no white space; `malformed` if a text in it is not UTF-8.
[[nodiscard]] base::Result<std::string> dumpStrictJson(const nlohmann::json& value);
/// The value is an object with exactly these members.
[[nodiscard]] base::Result<void> expectMembers(const nlohmann::json& value,
                                               std::initializer_list<std::string_view> names, std::string_view what);
[[nodiscard]] base::Result<std::string> stringMember(const nlohmann::json& object, const std::string& name,
                                                     std::size_t limit);

} // namespace assay::crypto
