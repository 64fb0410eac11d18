// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"
#include "core/engine/replayer.h"
#include "core/engine/run_control.h"
#include "core/engine/session.h"
#include "core/engine/trainer.h"
#include "core/format/order.h"
#include "core/format/submission.h"
#include "core/models/built_in.h"

/// Small orders that are really trained, and one-line ways to train and replay them.
namespace assay::test {

/// An order with everything beside it, in a folder of its own.
struct OrderFolder {
    base::TemporaryFolder folder;
    format::Order order;
    format::Program program;
    [[nodiscard]] base::fs::path file() const { return folder.path() / "order.json"; }
    [[nodiscard]] base::fs::path data() const { return folder.path(); }
    [[nodiscard]] base::fs::path sub(std::string_view name) const { return folder.path() / "out" / name; }
};

struct OrderWish {
    std::string kind = "mlp"; ///< mlp, cnn, gpt
    std::function<void(models::ModelRequest&)> model;
    std::function<void(format::Order&)> order;
    std::function<void(format::Program&)> program; ///< last, before it is written
    std::size_t textBytes = 6000;
};
/// Writes the order. Aborts the test program if it cannot.
[[nodiscard]] OrderFolder makeOrder(const OrderWish& wish = {});
/// The usual three: an MLP with dropout and SGD, a CNN with momentum, a GPT with AdamW, clipping, cosine and dropout.
[[nodiscard]] OrderFolder makeStandardOrder(std::string_view kind);
/// An MLP wide enough that its rounding log has entries.
[[nodiscard]] OrderFolder makeOrderWithEntries();

/// Sees every site's digest: "step site name digest" per site.
class DigestList final : public engine::SiteHook {
public:
    base::Result<void> completed(std::uint64_t step, const engine::Site& site, std::span<float> values) override;
    [[nodiscard]] const std::vector<std::string>& lines() const { return m_lines; }

private:
    std::vector<std::string> m_lines;
};

/// Activates `profile` in this process and gives its canonical text.
[[nodiscard]] tensor::KernelProfile profileOf(std::string_view text);

/// PEM of a fixed key.
[[nodiscard]] const std::string& testKey();

struct TrainOptions {
    std::string profile = "threads=1";
    bool resume = false;
    std::uint64_t stopAfter = 0; ///< ask for a stop once this step is done; 0: run to the end
    base::fs::path siteDigests = {};
};
[[nodiscard]] base::Result<engine::TrainResult> trainTo(const OrderFolder& order, const base::fs::path& out,
                                                        const TrainOptions& options = {});

struct Replayed {
    engine::ReplayResult result;
    std::vector<std::string> digests;
    std::vector<std::uint64_t> steps; ///< in the order in which they were reported
};
struct ReplayOptions {
    std::string profile = "threads=1";
    bool ignoreLog = false;
    std::vector<engine::StepSpan> spans = {}; ///< empty: all
    std::uint64_t verifiedThrough = 0;
    const format::Order* order = nullptr; ///< the client's; nullptr: the one of the folder
};
[[nodiscard]] Replayed replayOf(const OrderFolder& order, const base::fs::path& submission,
                                const ReplayOptions& options = {});

/// The first failure of a replay; an empty one if there is none.
[[nodiscard]] engine::Divergence firstFailure(const engine::ReplayResult& result);

/// Every file of a folder with its bytes.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> contentOf(const base::fs::path& folder);

} // namespace assay::test
