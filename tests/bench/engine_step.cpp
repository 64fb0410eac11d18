// SPDX-License-Identifier: Apache-2.0
// What recording costs in a training step: share of site passes and log encoding, and the step against the same step
// with plain rounding. Usage: bench_engine_step ORDER.json [STEPS]; the order's program, state and data beside it.
// Runs on one thread, so that processor time tells the parts apart on a busy machine.
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/base/file.h"
#include "core/engine/session.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"
#include "core/format/submission.h"
#include "tests/bench/numerics_bench.h"

namespace {

using namespace assay;

template <typename T>
T must(base::Result<T> result, const char* what) {
    if (!result) {
        std::fprintf(stderr, "%s: %s\n", what, result.error().message.c_str());
        std::exit(1);
    }
    return std::move(*result);
}

/// Rounds as the trainer's recorder does and measures what that takes; without `records` only rounds.
class TimedSink final : public engine::StepSink {
public:
    TimedSink(std::uint64_t step, bool records) : StepSink(step, {}), m_records(records) {}
    double passNanoseconds = 0;
    double encodeNanoseconds = 0;
    std::uint64_t values = 0;
    std::uint64_t entries = 0;
    std::uint64_t logBytes = 0;

private:
    base::Result<bool> roundPanel(const engine::Site&, const numerics::ProductSite& panel, float* out) override {
        const double start = bench::threadTime();
        bool finite = true;
        if (m_records) {
            const auto before = m_log.size();
            finite = numerics::recordSite(panel, out, m_log).finite;
            entries += m_log.size() - before;
        } else {
            for (std::uint64_t i = 0; i < panel.values(); ++i) {
                out[i] = static_cast<float>(panel.y[i]);
            }
        }
        passNanoseconds += bench::threadTime() - start;
        values += panel.values();
        return finite;
    }
    base::Result<void> finishSite(const engine::Site& site) override {
        const double start = bench::threadTime();
        if (m_records) {
            logBytes += numerics::encodeSection(m_log, site.values).size();
            m_log.clear();
        }
        encodeNanoseconds += bench::threadTime() - start;
        return {};
    }

    bool m_records;
    numerics::SiteLog m_log;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s ORDER.json [STEPS]\n", argv[0]);
        return 2;
    }
    const base::fs::path file = argv[1];
    const auto folder = file.parent_path();
    const std::uint64_t steps = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3;
    const auto profile = must(tensor::KernelProfile::parse("threads=1"), "kernel");
    must(tensor::activate(profile), "kernel");
    const auto order = must(format::parseOrder(must(base::readFile(file, format::kMaxOrderBytes), "order")), "order");
    const auto program = must(
        format::parseProgram(must(base::readFile(folder / format::kProgramName, format::kMaxProgramBytes), "program")),
        "program");
    const auto data = must(format::Dataset::open(order.data, folder), "data");
    const auto init = must(format::Safetensors::open(folder / format::kInitName), "initial state");
    auto session = must(engine::Session::create(order, program, profile), "session");
    auto state = must(engine::TrainingState::initial(program, order.optimizer, init), "initial state");

    bench::printHeader("a training step with and without the rounding log, one thread", order.seed);
    std::printf("%-6s %12s %12s %8s %12s %12s %10s %10s\n", "step", "plain ms", "recorded ms", "ratio", "site pass",
                "log coding", "entries", "log bytes");
    double plainTotal = 0;
    double recordedTotal = 0;
    double passTotal = 0;
    std::uint64_t values = 0;
    for (std::uint64_t step = 1; step <= steps; ++step) {
        const auto inputs = must(session.inputsOf(step), "inputs");
        auto copy = state.clone();
        const double first = bench::threadTime();
        TimedSink plain(step, false);
        must(session.run(copy, data, inputs, plain), "plain step");
        const double second = bench::threadTime();
        TimedSink recorded(step, true);
        must(session.run(state, data, inputs, recorded), "recorded step");
        const double third = bench::threadTime();
        const double time = third - second;
        std::printf("%-6llu %12.1f %12.1f %8.3f %10.2f %% %10.2f %% %10llu %10llu\n",
                    static_cast<unsigned long long>(step), (second - first) / 1e6, time / 1e6, time / (second - first),
                    100 * recorded.passNanoseconds / time, 100 * recorded.encodeNanoseconds / time,
                    static_cast<unsigned long long>(recorded.entries),
                    static_cast<unsigned long long>(recorded.logBytes));
        plainTotal += second - first;
        recordedTotal += time;
        passTotal += recorded.passNanoseconds;
        values += recorded.values;
    }
    std::printf("all    ratio %.3f, site pass %.2f %% of the step, %.2f ns per value\n", recordedTotal / plainTotal,
                100 * passTotal / recordedTotal, passTotal / static_cast<double>(values));
    return 0;
}
