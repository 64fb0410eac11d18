// SPDX-License-Identifier: Apache-2.0
// Edits of one step's rounding log. Which edit can be proved wrong depends on y and D, so the step is replayed to know
// them.
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/engine/detail/fault_tools.h"
#include "core/numerics/log_codec.h"
#include "core/numerics/site_pass.h"
#include "cuda/arith/interval.h"
#include "cuda/arith/rounding.h"

namespace assay::engine::detail {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// A tie is that far from y at most for an auditor, who may be D off, to still demand the entry.
constexpr double kProvablyDemanded = 0.5;
/// Nothing within that distance: no auditor permits an entry there (3D of its own value, which is at most D off).
constexpr double kProvablyForbidden = 5.0;

/// One change to the log of a step. The larger the score, the surer it is seen.
struct Edit {
    std::uint32_t site = 0;
    numerics::LogEntry entry;   ///< as it is (flip, drop), or as it shall be (extra)
    numerics::LogEntry changed; ///< flip
    float before = 0;           ///< the value that the honest log gives
    float after = 0;
    double score = 0;
};

/// The distance from y to the nearest rounding boundary, in units of D, from above: the smallest listed factor that
/// reaches it.
double tieDistance(const numerics::ElementView& view) {
    for (const double factor : {0.25, 0.5, 0.75, 1.0, 1.125, 1.25, 1.5, 1.75, 2.0}) {
        if (arith::floatsWithin(view.y, factor * view.bound).count() > 1) {
            return factor;
        }
    }
    return 4.0;
}

bool isFiniteKey(std::int64_t key) {
    constexpr std::int64_t kLargest = 0x7F7FFFFF;
    return key >= -kLargest && key <= kLargest;
}

/// Watches the panels of one step and keeps the best edit of the wanted kind.
class EditFinder {
public:
    explicit EditFinder(FaultKind kind) : m_kind(kind) {}

    void look(const Site& site, const numerics::ProductSite& panel, std::span<const numerics::LogEntry> entries) {
        m_entries += entries.size();
        if (m_kind == FaultKind::logExtra) {
            lookForGap(site, panel, entries);
            return;
        }
        for (const auto& entry : entries) {
            const auto view = numerics::viewElement(panel, entry.index);
            const double distance = tieDistance(view);
            m_provable += distance <= kProvablyDemanded ? 1 : 0;
            if (m_kind == FaultKind::logFlip) {
                offer(flipped(site, entry, view, distance));
            } else if (m_kind == FaultKind::logDrop && distance <= kProvablyDemanded) {
                Edit edit;
                edit.site = site.index;
                edit.entry = entry;
                edit.before = view.own;
                edit.after = view.own;
                edit.score = 1.0 / distance;
                offer(edit);
            }
        }
    }

    [[nodiscard]] const std::optional<Edit>& best() const { return m_best; }
    [[nodiscard]] std::uint64_t entries() const { return m_entries; }
    [[nodiscard]] std::uint64_t provable() const { return m_provable; } ///< entries whose absence can be proved

private:
    void offer(const Edit& edit) {
        if (!m_best || edit.score > m_best->score) {
            m_best = edit;
        }
    }

    static Edit flipped(const Site& site, const numerics::LogEntry& entry, const numerics::ElementView& view,
                        double distance) {
        Edit edit;
        edit.site = site.index;
        edit.entry = entry;
        edit.changed = entry;
        edit.before = view.own;
        if (!entry.whole) {
            edit.changed.payload ^= 1u; // admissible as long as the tie is within D of an auditor's value
            edit.after = view.own;
            edit.score = distance;
            return edit;
        }
        const std::int64_t above = std::int64_t{view.permits.hi} + 1;
        const std::int64_t below = std::int64_t{view.permits.lo} - 1;
        const auto key = static_cast<std::int32_t>(isFiniteKey(above) ? above : below);
        edit.before = std::bit_cast<float>(entry.payload);
        edit.after = arith::fromKey(key);
        edit.changed.payload = std::bit_cast<std::uint32_t>(edit.after);
        edit.score = 8.0; // no auditor takes a value out there
        return edit;
    }

    void lookForGap(const Site& site, const numerics::ProductSite& panel, std::span<const numerics::LogEntry> entries) {
        if (m_best) {
            return;
        }
        constexpr std::uint64_t kLookedAt = 4096; // of a panel; most elements are far from any tie
        const std::uint64_t end = panel.indexBase + std::min(panel.values(), kLookedAt);
        for (std::uint64_t index = panel.indexBase; index < end; ++index) {
            const bool taken =
                std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.index == index; });
            const auto view = numerics::viewElement(panel, index);
            const std::int64_t key = std::int64_t{arith::keyOf(view.own)} + 1;
            if (taken || !(view.bound > 0) || !isFiniteKey(key) ||
                arith::floatsWithin(view.y, kProvablyForbidden * view.bound).count() > 1) {
                continue;
            }
            Edit edit;
            edit.site = site.index;
            edit.before = view.own;
            edit.after = arith::fromKey(static_cast<std::int32_t>(key));
            edit.entry = {index, true, std::bit_cast<std::uint32_t>(edit.after)};
            edit.score = 1;
            m_best = edit;
            return;
        }
    }

    FaultKind m_kind;
    std::optional<Edit> m_best;
    std::uint64_t m_entries = 0;
    std::uint64_t m_provable = 0;
};

/// The section with the edit made.
Result<base::ByteVector> editSection(const numerics::StepLogFile::Section& section, const Site& site, FaultKind kind,
                                     const Edit& edit) {
    ASSAY_TRY(log, numerics::decodeSection(section.bytes, site.values, section.offset));
    const auto at = std::lower_bound(log.begin(), log.end(), edit.entry.index,
                                     [](const auto& entry, std::uint64_t index) { return entry.index < index; });
    if (kind == FaultKind::logExtra) {
        log.insert(at, edit.entry);
    } else {
        ASSAY_ASSERT(at != log.end() && at->index == edit.entry.index);
        if (kind == FaultKind::logFlip) {
            *at = edit.changed;
        } else {
            log.erase(at);
        }
    }
    return numerics::encodeSection(log, site.values);
}

struct StepEdit {
    EditFinder finder;
    base::ByteVector log; ///< the step's honest log
};

/// Runs the next step on `state` with its log enforced and looks for an edit.
Result<StepEdit> examine(const Victim& victim, TrainingState& state) {
    const std::uint64_t step = state.step() + 1;
    StepEdit result{EditFinder(victim.request.kind), {}};
    ASSAY_TRY(bytes, victim.submission.log(step));
    result.log = std::move(bytes);
    ASSAY_TRY(log, numerics::decodeStepLog(result.log));
    if (log.sections.size() != victim.session.sectionsOf(step)) {
        return fail(ErrorCode::usage, fmt::format("the submission itself does not hold: step {} has {} log sections",
                                                  step, log.sections.size()));
    }
    ASSAY_TRY(inputs, victim.session.inputsOf(step));
    Enforcer enforcer(step, {}, &log, false);
    enforcer.watchPanels(
        [&](const Site& site, const numerics::ProductSite& panel, std::span<const numerics::LogEntry> entries) {
            result.finder.look(site, panel, entries);
        });
    ASSAY_CHECK(victim.session.run(state, victim.data, inputs, enforcer));
    return result;
}

bool isUsable(const TamperRequest& request, const EditFinder& finder) {
    if (request.kind == FaultKind::logEmpty) {
        return request.recommit ? finder.provable() > 0 : finder.entries() > 0;
    }
    return finder.best().has_value();
}

std::string whyNot(const TamperRequest& request) {
    switch (request.kind) {
    case FaultKind::logExtra:
        return "no value that is far enough from every tie";
    case FaultKind::logFlip:
        return "no entry in the rounding log";
    case FaultKind::logEmpty:
        return request.recommit ? "no entry in the rounding log whose absence could be proved"
                                : "no entry in the rounding log";
    default:
        return "no entry in the rounding log whose absence could be proved";
    }
}

Result<base::ByteVector> editedLog(const Victim& victim, std::uint64_t step, const StepEdit& found,
                                   TamperResult& result) {
    ASSAY_TRY(log, numerics::decodeStepLog(found.log));
    std::vector<base::ByteVector> sections;
    for (const auto& section : log.sections) {
        sections.emplace_back(section.bytes.begin(), section.bytes.end());
    }
    const auto& sites = victim.session.sites();
    if (victim.request.kind == FaultKind::logEmpty) {
        for (const auto& site : sites) {
            if (site.product && site.section < sections.size()) {
                sections[site.section] = numerics::encodeSection({}, site.values);
            }
        }
        result.text =
            fmt::format("all {} entries of the rounding log of step {} are gone", found.finder.entries(), step);
        return numerics::encodeStepLog(log.order, step, sections);
    }
    const auto& edit = *found.finder.best();
    const auto& site = sites[edit.site];
    ASSAY_TRY(section, editSection(log.sections[site.section], site, victim.request.kind, edit));
    sections[site.section] = std::move(section);
    result.site = site.name;
    result.element = edit.entry.index;
    result.before = edit.before;
    result.after = edit.after;
    const char* what = victim.request.kind == FaultKind::logFlip    ? "says the other value"
                       : victim.request.kind == FaultKind::logExtra ? "was added where none is permitted"
                                                                    : "is gone";
    result.text = fmt::format("in the rounding log of step {} the entry for element {} of site \"{}\" {}", step,
                              edit.entry.index, site.name, what);
    return numerics::encodeStepLog(log.order, step, sections);
}

} // namespace

Result<TamperResult> plantLogEdit(const Victim& victim) {
    const auto& request = victim.request;
    TamperResult result;
    result.kind = request.kind;
    result.stepChosen = !request.step;
    // Without a wish: the first fitting step from the middle on, then from the start.
    std::vector<StepSpan> spans{{request.step.value_or(0), request.step.value_or(0)}};
    if (!request.step) {
        const std::uint64_t middle = (victim.lastStep() + 1) / 2;
        spans = {{middle, victim.lastStep()}, {1, middle - 1}};
    }
    std::optional<StepEdit> found;
    for (const auto& span : spans) {
        if (found || span.last < span.first) {
            continue;
        }
        ASSAY_TRY(state, stateAfter(victim, span.first - 1));
        for (std::uint64_t step = span.first; step <= span.last && !found; ++step) {
            if (victim.control.shouldStop()) {
                return fail(ErrorCode::cancelled, fmt::format("stopped at step {}", step));
            }
            ASSAY_TRY(looked, examine(victim, state));
            if (isUsable(request, looked.finder)) {
                result.step = step;
                found = std::move(looked);
            }
        }
    }
    if (!found) {
        return fail(ErrorCode::notApplicable,
                    request.step ? fmt::format("step {} has {}", *request.step, whyNot(request))
                                 : fmt::format("no step fits: each has {}", whyNot(request)),
                    request.step ? "another --step, or none"
                                 : "an order with bound=empirical and longer reductions makes more entries");
    }
    ASSAY_TRY(log, editedLog(victim, result.step, *found, result));
    if (!request.recommit) {
        ASSAY_CHECK(copySubmission(victim.submission, request.out));
        ASSAY_CHECK(base::writeFileAtomic(request.out / format::logName(result.step), log));
        ASSAY_CHECK(resealFile(request, victim.submission, format::logName(result.step)));
        return result;
    }
    ASSAY_TRY(rewriter, Rewriter::create(victim.submission, request.out));
    for (std::uint64_t step = 0; step < victim.submission.leaves(); ++step) {
        ASSAY_CHECK(rewriter.copyStep(step == result.step ? &log : nullptr));
    }
    ASSAY_CHECK(rewriter.writer().finish(request.keyPem, request.engineVersion));
    return result;
}

} // namespace assay::engine::detail
