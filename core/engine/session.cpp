// SPDX-License-Identifier: Apache-2.0
#include "core/engine/session.h"

#include <bit>
#include <map>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/format/state_tree.h"
#include "core/numerics/log_codec.h"
#include "core/tensor/optimizer.h"
#include "cuda/arith/rounding.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// One held-out batch of a step with an evaluation: its table, and its sites with the numbers they have in the step.
struct EvaluationPass {
    HeldOutBatch batch;
    const SiteTable* table = nullptr;
    std::vector<Site> sites;
};

int threadCount(const tensor::KernelProfile& profile) {
    if (profile.threads > 0) {
        return profile.threads;
    }
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// Refuses what cannot fit, before the operating system ends the process for it.
Result<void> checkMemory(const SiteTable& table) {
    const auto pages = ::sysconf(_SC_PHYS_PAGES);
    const auto pageSize = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || pageSize <= 0) {
        return {};
    }
    double machine = static_cast<double>(pages) * static_cast<double>(pageSize);
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        machine = std::min(machine, static_cast<double>(limit.rlim_cur));
    }
    const auto needed = static_cast<double>(table.peakBytes());
    if (needed <= machine) {
        return {};
    }
    constexpr double kGiB = 0x1p30;
    return fail(ErrorCode::environment,
                fmt::format("one step holds at least {:.1f} GiB of values, this process may have {:.1f} GiB of memory",
                            needed / kGiB, machine / kGiB),
                "a machine with more memory, or a higher limit (ulimit -v)");
}

} // namespace

float StepOutcome::loss() const {
    return std::bit_cast<float>(leaf.lossBits);
}

struct Session::State {
    format::Order order;
    base::Digest digest;
    SiteTable table;
    std::map<std::uint64_t, SiteTable> evaluationTables; ///< by batch size
    std::vector<EvaluationPass> passes;                  ///< empty if the order has no evaluations
    std::vector<Site> sites;                             ///< of all passes
    std::uint32_t evaluationSections = 0;
    tensor::ThreadPool pool;
    tensor::ProductRunner products;

    State(format::Order wanted, SiteTable trainTable, const tensor::KernelProfile& profile, numerics::BoundKind bound)
        : order(std::move(wanted)), digest(format::orderDigest(order)), table(std::move(trainTable)),
          sites(table.sites()), pool(threadCount(profile)),
          products(profile, bound, order.numerics.block, order.seed, pool) {}

    Result<const SiteTable*> evaluationTable(std::uint64_t batch) {
        auto found = evaluationTables.find(batch);
        if (found == evaluationTables.end()) {
            ASSAY_TRY(built, SiteTable::build(table.program(), batch, order.optimizer, tensor::Mode::evaluate));
            found = evaluationTables.emplace(batch, std::move(built)).first;
        }
        return &found->second;
    }

    Result<void> planEvaluations() {
        for (const auto& batch : heldOutBatches(order.data.samples, order.data.heldOut, order.loop.batch)) {
            EvaluationPass pass;
            pass.batch = batch;
            ASSAY_TRY(passTable, evaluationTable(batch.count));
            pass.table = passTable;
            pass.sites = passTable->sites();
            for (auto& site : pass.sites) {
                site.index += static_cast<std::uint32_t>(sites.size());
                site.name = fmt::format("evaluation {} / {}", passes.size() + 1, site.name);
                if (site.product) {
                    site.section += table.productSites() + evaluationSections;
                }
            }
            evaluationSections += passTable->productSites();
            sites.insert(sites.end(), pass.sites.begin(), pass.sites.end());
            passes.push_back(std::move(pass));
        }
        return {};
    }

    /// The metric over all held-out batches through `sink`.
    Result<Metric> evaluatePasses(const TrainingState& training, const format::Dataset& data, StepSink& sink) {
        MetricSum sum;
        for (const auto& pass : passes) {
            std::vector<std::uint64_t> indices(pass.batch.count);
            std::iota(indices.begin(), indices.end(), pass.batch.first);
            ASSAY_TRY(batch, loadBatch(table.program(), data, indices));
            Executor executor(*pass.table, pass.sites, order.optimizer, products, pool);
            ASSAY_TRY(evaluation, executor.evaluate(training, batch, sink));
            ASSAY_CHECK(sum.add(table.program(), batch, pass.batch.count, evaluation));
        }
        return sum.result();
    }

    void commit(const TrainingState& training, StepOutcome& outcome) const {
        auto commitment = training.commit(static_cast<unsigned>(pool.threads()));
        outcome.leaf.stateRoot = commitment.root;
        outcome.tensorRoots = std::move(commitment.tensorRoots);
    }
};

Session::Session(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(format::Order order, const format::Program& program,
                                const tensor::KernelProfile& profile) {
    if (order.semantics != format::kSemantics || order.kind != "training" || order.numerics.mode != "interval") {
        return fail(
            ErrorCode::usage,
            fmt::format(
                "this release runs training orders of semantics {} in the mode \"interval\", found {} of semantics {} "
                "in the mode \"{}\"",
                format::kSemantics, order.kind, order.semantics, order.numerics.mode));
    }
    const auto bound =
        order.numerics.bound == "empirical" ? numerics::BoundKind::empirical : numerics::BoundKind::proven;
    ASSAY_TRY(table, SiteTable::build(program, order.loop.batch, order.optimizer, tensor::Mode::train));
    ASSAY_CHECK(checkMemory(table));
    auto state = std::make_unique<State>(std::move(order), std::move(table), profile, bound);
    ASSAY_CHECK(state->pool.checkEnvironment());
    if (state->order.evaluateEvery != 0) {
        ASSAY_CHECK(state->planEvaluations());
    }
    return Session(std::move(state));
}

const format::Order& Session::order() const {
    return m_state->order;
}
const base::Digest& Session::orderDigest() const {
    return m_state->digest;
}
const format::Program& Session::program() const {
    return m_state->table.program();
}
const SiteTable& Session::table() const {
    return m_state->table;
}
const std::vector<Site>& Session::sites() const {
    return m_state->sites;
}
int Session::threads() const {
    return m_state->pool.threads();
}

std::uint32_t Session::sectionsOf(std::uint64_t step) const {
    return m_state->table.productSites() +
           (format::evaluationDue(m_state->order, step) ? m_state->evaluationSections : 0);
}

Result<StepInputs> Session::inputsOf(std::uint64_t step) const {
    const auto& optimizer = m_state->order.optimizer;
    StepInputs inputs;
    inputs.step = step;
    inputs.indices = format::batchIndices(m_state->order, step);
    inputs.seed = m_state->order.seed;
    ASSAY_TRY(rate, tensor::learningRateAt({optimizer.schedule, optimizer.learningRate, optimizer.minLearningRate,
                                            optimizer.warmup, m_state->order.loop.steps},
                                           step));
    inputs.learningRate = rate;
    return inputs;
}

StepOutcome Session::initialOutcome(const TrainingState& state) const {
    StepOutcome outcome;
    outcome.leaf.order = m_state->digest;
    outcome.leaf.batch = format::batchDigest({}, {});
    outcome.leaf.logRoot = format::logRoot({});
    m_state->commit(state, outcome);
    return outcome;
}

Result<StepOutcome> Session::run(TrainingState& state, const format::Dataset& data, const StepInputs& inputs,
                                 StepSink& sink) {
    auto& order = m_state->order;
    StepOutcome outcome;
    outcome.leaf.order = m_state->digest;
    outcome.leaf.step = inputs.step;
    outcome.leaf.batch = format::batchDigest(inputs.indices, data.sampleDigests(inputs.indices));
    outcome.leaf.learningRateBits = std::bit_cast<std::uint32_t>(inputs.learningRate);
    ASSAY_TRY(batch, loadBatch(program(), data, inputs.indices));
    std::optional<TrainingState> before;
    if (inputs.discardUpdate) {
        before = state.clone();
    }
    const auto diverge = [&](base::Error error) -> Result<StepOutcome> {
        if (!sink.diverged()) {
            return fail(std::move(error));
        }
        outcome.leaf.diverged = true;
        outcome.leaf.divergedSite = *sink.diverged();
        return std::move(outcome);
    };
    Executor executor(m_state->table, m_state->table.sites(), order.optimizer, m_state->products, m_state->pool);
    auto loss = executor.train(state, batch, {inputs.step, inputs.learningRate, inputs.seed}, sink);
    if (!loss) {
        return diverge(std::move(loss).error());
    }
    if (before) {
        state = std::move(*before);
        state.setStep(inputs.step);
    }
    std::optional<std::uint32_t> evaluationBits;
    if (format::evaluationDue(order, inputs.step)) {
        auto metric = m_state->evaluatePasses(state, data, sink);
        if (!metric) {
            return diverge(std::move(metric).error());
        }
        const double value = order.metric == "accuracy" ? metric->accuracy : metric->loss;
        evaluationBits = std::bit_cast<std::uint32_t>(arith::roundToFloat(value));
    }
    outcome.leaf.lossBits = std::bit_cast<std::uint32_t>(*loss);
    outcome.leaf.evaluationBits = evaluationBits;
    if (format::stateRootDue(order, inputs.step)) {
        m_state->commit(state, outcome);
    }
    return outcome;
}

Result<StepOutcome> Session::record(TrainingState& state, const format::Dataset& data, const StepInputs& inputs,
                                    std::span<SiteHook* const> hooks) {
    Recorder recorder(inputs.step, hooks);
    ASSAY_TRY(outcome, run(state, data, inputs, recorder));
    outcome.stats = recorder.stats();
    for (const auto& stats : outcome.stats) {
        outcome.entries += stats.entries;
    }
    if (!outcome.leaf.diverged) {
        ASSAY_ASSERT(recorder.sections().size() == sectionsOf(inputs.step));
        std::vector<base::ByteView> sections(recorder.sections().begin(), recorder.sections().end());
        outcome.leaf.logRoot = format::logRoot(sections);
        outcome.log = numerics::encodeStepLog(m_state->digest, inputs.step, recorder.sections());
    }
    return std::move(outcome);
}

Result<StepOutcome> Session::enforce(TrainingState& state, const format::Dataset& data, const StepInputs& inputs,
                                     const numerics::StepLogFile* log, bool ignoreLog,
                                     std::span<SiteHook* const> hooks) {
    ASSAY_ASSERT(log == nullptr || log->sections.size() == sectionsOf(inputs.step));
    Enforcer enforcer(inputs.step, hooks, log, ignoreLog);
    ASSAY_TRY(outcome, run(state, data, inputs, enforcer));
    outcome.stats = enforcer.stats();
    outcome.offences = enforcer.offences();
    outcome.corrections = enforcer.corrections();
    for (const auto& stats : outcome.stats) {
        outcome.entries += stats.entries;
        outcome.correctionCount += stats.corrections;
        outcome.offenceCount += stats.offences;
        outcome.freedom += stats.freedom;
    }
    if (!outcome.leaf.diverged) {
        std::vector<base::ByteView> sections;
        if (log != nullptr) {
            for (const auto& section : log->sections) {
                sections.push_back(section.bytes);
            }
        }
        outcome.leaf.logRoot = format::logRoot(sections);
    }
    return std::move(outcome);
}

Result<Metric> Session::evaluate(const TrainingState& state, const format::Dataset& data,
                                 const base::ProgressFn& progress, std::stop_token stop) {
    const auto& order = m_state->order;
    MetricSum sum;
    const auto batches = heldOutBatches(order.data.samples, order.data.heldOut, order.loop.batch);
    std::uint64_t done = 0;
    for (const auto& part : batches) {
        if (stop.stop_requested()) {
            return fail(ErrorCode::cancelled, "the evaluation was cancelled");
        }
        ASSAY_TRY(evaluationTable, m_state->evaluationTable(part.count));
        std::vector<std::uint64_t> indices(part.count);
        std::iota(indices.begin(), indices.end(), part.first);
        ASSAY_TRY(batch, loadBatch(program(), data, indices));
        Enforcer plain(state.step(), {}, nullptr, false);
        Executor executor(*evaluationTable, evaluationTable->sites(), order.optimizer, m_state->products,
                          m_state->pool);
        auto evaluation = executor.evaluate(state, batch, plain);
        if (!evaluation) {
            if (plain.diverged()) {
                return fail(ErrorCode::notApplicable,
                            fmt::format("the evaluation meets a non-finite value at \"{}\"", *plain.diverged()));
            }
            return fail(std::move(evaluation).error());
        }
        ASSAY_CHECK(sum.add(program(), batch, part.count, *evaluation));
        done += part.count;
        if (progress) {
            progress({"evaluate", done, order.data.heldOut, "samples"});
        }
    }
    return sum.result();
}

} // namespace assay::engine
