// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/engine/site_table.h"
#include "core/numerics/log_codec.h"
#include "core/numerics/site_pass.h"

namespace assay::engine {

/// Sees every site when it is complete, in execution order, and may change its values (a planted fault). Called on the
/// thread that runs the step.
class SiteHook {
public:
    virtual ~SiteHook() = default;
    [[nodiscard]] virtual base::Result<void> completed(std::uint64_t step, const Site& site,
                                                       std::span<float> values) = 0;
};

/// Counts of one site in one step.
struct SiteStats {
    std::uint32_t site = 0;
    std::uint64_t entries = 0;
    std::uint64_t corrections = 0;
    std::uint64_t offences = 0;
    std::uint64_t freedom = 0; ///< values where an auditor would have accepted either of two floats
};
struct SiteOffence {
    std::uint32_t site = 0;
    numerics::Offence offence;
};
struct SiteCorrection {
    std::uint32_t site = 0;
    numerics::CorrectionRecord record;
};

/// Receives the sites of one step: rounds products, watches for non-finite values, feeds the hooks. One object per
/// step. A non-finite value stops the step: diverged() then holds the site's name and the operators' error means
/// nothing else.
class StepSink {
public:
    StepSink(std::uint64_t step, std::span<SiteHook* const> hooks)
        : m_step(step), m_hooks(hooks.begin(), hooks.end()) {}
    virtual ~StepSink() = default;
    StepSink(const StepSink&) = delete;
    StepSink& operator=(const StepSink&) = delete;

    [[nodiscard]] base::Result<void> product(const Site& site, const numerics::ProductSite& panel, float* out);
    [[nodiscard]] base::Result<void> completed(const Site& site, std::span<float> values);

    [[nodiscard]] const std::optional<std::string>& diverged() const { return m_diverged; }
    [[nodiscard]] const std::vector<SiteStats>& stats() const {
        return m_stats;
    } ///< product sites with any count, ascending

protected:
    /// Rounds one panel; false if it met a non-finite value.
    [[nodiscard]] virtual base::Result<bool> roundPanel(const Site& site, const numerics::ProductSite& panel,
                                                        float* out) = 0;
    /// The product site is complete.
    [[nodiscard]] virtual base::Result<void> finishSite(const Site&) { return {}; }
    SiteStats& statsOf(const Site& site);

private:
    [[nodiscard]] base::Result<void> stop(const Site& site);
    std::uint64_t m_step;
    std::vector<SiteHook*> m_hooks;
    std::optional<std::string> m_diverged;
    std::vector<SiteStats> m_stats;
};

/// Trainer: rounds and writes the log.
class Recorder final : public StepSink {
public:
    using StepSink::StepSink;
    /// Encoded sections in execution order; complete when the step is.
    [[nodiscard]] const std::vector<base::ByteVector>& sections() const { return m_sections; }

private:
    base::Result<bool> roundPanel(const Site& site, const numerics::ProductSite& panel, float* out) override;
    base::Result<void> finishSite(const Site& site) override;
    numerics::SiteLog m_log; ///< of the current site
    std::vector<base::ByteVector> m_sections;
};

/// Auditor, or a trainer that resumes: enforces a log, or rounds on its own where there is none.
class Enforcer final : public StepSink {
public:
    /// `log` outlives the object; it has as many sections as the step has product sites (see checkSectionCount).
    /// nullptr: no log, own roundings, no offences. With `ignoreLog` entries are counted but not obeyed.
    Enforcer(std::uint64_t step, std::span<SiteHook* const> hooks, const numerics::StepLogFile* log, bool ignoreLog);
    /// Called with every panel and its entries before it is rounded.
    using PanelWatcher = std::function<void(const Site& site, const numerics::ProductSite& panel,
                                            std::span<const numerics::LogEntry> entries)>;
    void watchPanels(PanelWatcher watcher) { m_watcher = std::move(watcher); }

    [[nodiscard]] const std::vector<SiteOffence>& offences() const { return m_offences; } ///< capped, first in order
    [[nodiscard]] const std::vector<SiteCorrection>& corrections() const {
        return m_corrections;
    } ///< capped, first in order

private:
    base::Result<bool> roundPanel(const Site& site, const numerics::ProductSite& panel, float* out) override;
    base::Result<void> finishSite(const Site& site) override;
    [[nodiscard]] base::Result<void> openSection(const Site& site);
    void take(const Site& site, const numerics::EnforceStats& stats);

    const numerics::StepLogFile* m_log;
    bool m_ignoreLog;
    PanelWatcher m_watcher;
    std::uint32_t m_openSite = kNone;
    numerics::SiteLog m_entries;                ///< of the open site
    std::span<const numerics::LogEntry> m_rest; ///< entries not yet handed to a panel
    std::vector<SiteOffence> m_offences;
    std::vector<SiteCorrection> m_corrections;
};

} // namespace assay::engine
