// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "app/engine/verbs.h"
#include "core/engine/site_table.h"
#include "core/format/submission.h"

namespace assay::app {

using base::Result;

/// Lists the sites of one training step of a submission: names and sizes follow from program and batch size alone, so
/// nothing is computed and no kernel is needed.
Result<int> runSites(const Request& request, EventOutput& output) {
    ASSAY_TRY(path, request.requiredText("submission"));
    ASSAY_TRY(submission, format::Submission::open(path));
    const auto& order = submission.order();
    ASSAY_TRY(table,
              engine::SiteTable::build(submission.program(), order.loop.batch, order.optimizer, tensor::Mode::train));
    audit::SitesEvent event;
    for (const auto& site : table.sites()) {
        event.sites.push_back(
            {site.index, site.name, std::string(tensor::toString(site.direction)), site.product, site.values});
    }
    output.emit(event);
    nlohmann::json result;
    result["sites"] = table.sites().size();
    result["product_sites"] = table.productSites();
    output.emit(audit::DoneEvent{result.dump()});
    return 0;
}

} // namespace assay::app
