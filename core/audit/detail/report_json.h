// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "core/audit/detail/json_reader.h"
#include "core/audit/verdict.h"

/// JSON of the pieces that both reports and events hold.
namespace assay::audit::detail {

inline constexpr std::size_t kMaxListItems = 1ULL << 20;

void putDivergence(nlohmann::json& into, const FirstDivergence& where);
[[nodiscard]] FirstDivergence readDivergence(JsonReader& reader);
[[nodiscard]] nlohmann::json checkJson(const CheckResult& check);
[[nodiscard]] CheckResult readCheck(JsonReader& reader);
[[nodiscard]] nlohmann::json findingJson(const Finding& finding);
[[nodiscard]] Finding readFinding(JsonReader& reader);
[[nodiscard]] nlohmann::json reportJson(const VerifyReport& report);
[[nodiscard]] VerifyReport readReport(JsonReader& reader);

/// A finite FP32 value as number, anything else as null: for people and scripts; the bits travel beside it.
[[nodiscard]] nlohmann::json floatJson(std::uint32_t bits);
/// The text of a JSON value; invalid UTF-8 is replaced by U+FFFD.
[[nodiscard]] std::string dump(const nlohmann::json& value);

} // namespace assay::audit::detail
