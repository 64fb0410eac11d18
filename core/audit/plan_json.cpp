// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/audit/detail/report_json.h"
#include "core/audit/plan.h"

namespace assay::audit {

namespace {

nlohmann::json rowJson(const PlanRow& row) {
    return {{"segments", row.segments},
            {"steps_at_most", row.stepsAtMost},
            {"steps_expected", row.stepsExpected},
            {"detection_segments", row.detectionSegments},
            {"detection_steps", row.detectionSteps},
            {"seconds", row.seconds ? nlohmann::json(*row.seconds) : nlohmann::json(nullptr)}};
}

} // namespace

std::string planToJson(const PlanTable& table) {
    nlohmann::json value{{"schema", "assay.plan"},
                         {"version", 1},
                         {"segments_total", table.segmentsTotal},
                         {"steps_total", table.stepsTotal},
                         {"bad", table.bad},
                         {"rows", nlohmann::json::array()},
                         {"recommended", table.recommended ? rowJson(*table.recommended) : nlohmann::json(nullptr)},
                         {"why", table.why}};
    for (const auto& row : table.rows) {
        value["rows"].push_back(rowJson(row));
    }
    return detail::dump(value);
}

} // namespace assay::audit
