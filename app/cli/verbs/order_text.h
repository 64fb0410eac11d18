// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "app/cli/json_text.h"
#include "core/base/file.h"
#include "core/format/order.h"
#include "core/format/program.h"

namespace assay::cli {

/// Reads an order; errors name the file and say what to try.
[[nodiscard]] base::Result<format::Order> readOrder(const base::fs::path& file);
/// program.json beside an order.
[[nodiscard]] base::Result<format::Program> readProgramOf(const base::fs::path& orderFile);

/// The order in words, one aligned line per topic.
[[nodiscard]] std::string describeOrder(const format::Order& order, const base::Digest& digest,
                                        std::optional<std::uint64_t> parameters);
/// {"schema","version","digest",...} with the FP32 values as decimals, and the canonical order under "order".
[[nodiscard]] JsonObject orderJson(std::string_view schema, const format::Order& order, const base::Digest& digest,
                                   std::optional<std::uint64_t> parameters);
/// "4 x linear, 1 x relu", in the order of first use.
[[nodiscard]] std::string operatorCensus(const format::Program& program);
/// "[8, 3, 32]".
[[nodiscard]] std::string shapeText(std::span<const std::int64_t> shape);

} // namespace assay::cli
