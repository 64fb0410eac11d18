// SPDX-License-Identifier: Apache-2.0
// The consistent liar: one thing is wrong from some step on; everything after it is computed, committed and signed
// properly.
#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "core/engine/detail/fault_tools.h"
#include "core/engine/site_digests.h"
#include "cuda/arith/rounding.h"

namespace assay::engine::detail {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

struct Place {
    std::uint64_t step = 0;
    std::uint32_t site = 0;
    std::uint64_t element = 0;
};

std::optional<std::uint64_t> numberOf(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "STEP:SITE:ELEMENT"; a site's name may hold colons of its own.
Result<Place> parsePlace(const Victim& victim, std::string_view text) {
    const auto first = text.find(':');
    const auto last = text.rfind(':');
    const auto wrong = [&](std::string_view why) {
        return fail(ErrorCode::usage, fmt::format("--at \"{}\": {}", text, why),
                    "STEP:SITE:ELEMENT, SITE an index or a name in quotes");
    };
    if (first == std::string_view::npos || first == last) {
        return wrong("expected STEP:SITE:ELEMENT");
    }
    const auto step = numberOf(text.substr(0, first));
    const auto element = numberOf(text.substr(last + 1));
    const auto name = text.substr(first + 1, last - first - 1);
    if (!step || *step < 1 || *step > victim.lastStep()) {
        return wrong(fmt::format("expected a step from 1 to {}", victim.lastStep()));
    }
    const auto& sites = victim.session.sites();
    const auto index = numberOf(name);
    const auto found =
        index ? sites.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(*index, sites.size()))
              : std::find_if(sites.begin(), sites.end(), [&](const Site& site) { return site.name == name; });
    if (found == sites.end()) {
        return wrong(fmt::format("there is no site {}; sites are numbered 0 to {}", name, sites.size() - 1));
    }
    if (!element || *element >= found->values) {
        return wrong(fmt::format("site \"{}\" has elements 0 to {}", found->name, found->values - 1));
    }
    return Place{*step, found->index, *element};
}

/// Same order, other permutation; the batch of `step` must really differ.
Result<std::uint64_t> otherSeed(const format::Order& order, std::uint64_t step) {
    const auto honest = format::batchIndices(order, step);
    auto other = order;
    for (std::uint64_t offset = 1; offset <= 64; ++offset) {
        other.seed = order.seed ^ (offset << 8);
        if (format::batchIndices(other, step) != honest) {
            return other.seed;
        }
    }
    return fail(ErrorCode::notApplicable, "every order of the samples gives the same batch");
}

format::Program withoutDropout(format::Program program, bool& found) {
    for (auto& op : program.operators) {
        if (op.kind != "dropout") {
            continue;
        }
        auto& p = op.attributes["p"];
        found = found || (std::holds_alternative<float>(p) && std::get<float>(p) > 0);
        p = 0.0f;
    }
    return program;
}

class Liar {
public:
    Liar(const Victim& victim, TamperResult& result) : m_victim(victim), m_request(victim.request), m_result(result) {}

    Result<void> prepare() {
        const auto& session = m_victim.session;
        const auto& order = session.order();
        const std::uint64_t step = m_result.step;
        switch (m_request.kind) {
        case FaultKind::weights:
        case FaultKind::optimizer:
            return prepareStateFault();
        case FaultKind::site:
            return {}; // the place is known
        case FaultKind::dataOrder:
        case FaultKind::seed: {
            ASSAY_TRY(seed, otherSeed(order, step));
            m_otherOrder = order;
            m_otherOrder->seed = seed;
            m_result.text = m_request.kind == FaultKind::seed
                                ? fmt::format("from step {} on the seed is {} instead of {}", step, seed, order.seed)
                                : fmt::format("from step {} on the samples come in another order", step);
            return {};
        }
        case FaultKind::dropout: {
            bool found = false;
            const auto program = withoutDropout(session.program(), found);
            if (!found) {
                return fail(ErrorCode::notApplicable, "the program has no dropout");
            }
            ASSAY_TRY(other, Session::create(order, program, m_request.profile));
            m_otherSession.emplace(std::move(other));
            m_result.text = fmt::format("from step {} on dropout is left out", step);
            return {};
        }
        case FaultKind::learningRate:
            m_result.text = fmt::format("from step {} on the learning rate is half as large again as ordered", step);
            return {};
        case FaultKind::skipStep:
            m_result.text = fmt::format("step {} is computed and committed, but its update is thrown away", step);
            return {};
        case FaultKind::loss:
            m_result.text = fmt::format("the loss of step {} is reported lower than it is", step);
            return {};
        default:
            return fail(ErrorCode::internal, "not a lie");
        }
    }

    Session& session() { return m_otherSession ? *m_otherSession : m_victim.session; }

    void usePlace(const Place& place) {
        const auto& site = m_victim.session.sites()[place.site];
        m_fault.emplace(place.step, place.site, place.element);
        m_result.site = site.name;
        m_result.element = place.element;
    }

    Result<StepOutcome> runStep(TrainingState& state, std::uint64_t step) {
        ASSAY_TRY(inputs, m_victim.session.inputsOf(step));
        if (m_otherOrder) {
            inputs.indices = format::batchIndices(*m_otherOrder, step);
            inputs.seed = m_request.kind == FaultKind::seed ? m_otherOrder->seed : inputs.seed;
        }
        if (m_request.kind == FaultKind::learningRate) {
            const float wrong = arith::roundToFloat(1.5 * static_cast<double>(inputs.learningRate));
            inputs.learningRate =
                wrong != inputs.learningRate ? wrong : m_victim.session.order().optimizer.learningRate;
        }
        inputs.discardUpdate = m_request.kind == FaultKind::skipStep && step == m_result.step;
        std::vector<SiteHook*> hooks;
        if (m_fault) {
            hooks.push_back(&*m_fault);
        }
        ASSAY_TRY(outcome, session().record(state, m_victim.data, inputs, hooks));
        if (m_request.kind == FaultKind::loss && step == m_result.step) {
            const float honest = outcome.loss();
            float claimed = arith::roundToFloat(0.9 * static_cast<double>(honest));
            claimed = claimed == honest ? wrongValue(honest) : claimed;
            outcome.leaf.lossBits = std::bit_cast<std::uint32_t>(claimed);
            m_result.before = honest;
            m_result.after = claimed;
        }
        if (m_fault && step == m_result.step) {
            m_result.before = m_fault->before();
            m_result.after = m_fault->after();
            m_result.text = fmt::format("in step {} element {} of site \"{}\" is {} instead of {}", step,
                                        *m_result.element, *m_result.site, m_fault->after(), m_fault->before());
        }
        return std::move(outcome);
    }

private:
    /// One element of a parameter or of an optimizer state tensor, after the update of the step.
    Result<void> prepareStateFault() {
        const auto& table = m_victim.session.table();
        if (table.updates().empty()) {
            return fail(ErrorCode::notApplicable, "the program has no parameter that is trained");
        }
        const auto& update = table.updates().front();
        const auto& parameter = table.values()[update.value];
        const bool optimizer = m_request.kind == FaultKind::optimizer;
        const auto& sites = table.sites();
        if (optimizer && sites[update.firstSite].direction != tensor::Direction::optimizerState) {
            return fail(ErrorCode::notApplicable,
                        "the optimizer of the order keeps no state (plain SGD without momentum)");
        }
        std::uint32_t site = update.firstSite;
        while (!optimizer && sites[site].direction != tensor::Direction::parameterUpdate) {
            ++site;
        }
        usePlace({m_result.step, site, sites[site].values / 2});
        m_result.tensor = parameter.name;
        return {};
    }

    const Victim& m_victim;
    const TamperRequest& m_request;
    TamperResult& m_result;
    std::optional<format::Order> m_otherOrder;
    std::optional<Session> m_otherSession;
    std::optional<SiteFault> m_fault;
};

} // namespace

Result<TamperResult> plantLie(const Victim& victim) {
    const auto& request = victim.request;
    TamperResult result;
    result.kind = request.kind;
    result.stepChosen = !request.step;
    result.step = request.step.value_or((victim.lastStep() + 1) / 2);
    std::optional<Place> place;
    if (request.kind == FaultKind::site) {
        if (request.at.empty()) {
            return fail(ErrorCode::usage, "the place of the wrong element is missing", "--at STEP:SITE:ELEMENT");
        }
        ASSAY_TRY(parsed, parsePlace(victim, request.at));
        place = parsed;
        result.step = parsed.step;
        result.stepChosen = false;
    }
    Liar liar(victim, result);
    ASSAY_CHECK(liar.prepare());
    if (place) {
        liar.usePlace(*place);
    }
    ASSAY_TRY(state, stateAfter(victim, result.step - 1));
    ASSAY_TRY(rewriter, Rewriter::create(victim.submission, request.out));
    for (std::uint64_t step = 0; step < result.step; ++step) {
        ASSAY_CHECK(rewriter.copyStep());
    }
    ASSAY_CHECK(rewriter.setProfile(request.profileText));
    auto& writer = rewriter.writer();
    const std::uint64_t steps = victim.session.order().loop.steps;
    for (std::uint64_t step = result.step; step <= steps && !writer.diverged(); ++step) {
        if (victim.control.shouldStop()) {
            return fail(ErrorCode::cancelled, fmt::format("stopped before step {}", step));
        }
        ASSAY_TRY(outcome, liar.runStep(state, step));
        ASSAY_CHECK(commitStep(writer, state, outcome));
        if (victim.progress) {
            victim.progress({"train", step, steps, "steps"});
        }
    }
    ASSAY_CHECK(writer.finish(request.keyPem, request.engineVersion));
    return result;
}

} // namespace assay::engine::detail
