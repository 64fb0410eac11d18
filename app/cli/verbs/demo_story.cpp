// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/demo_story.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "app/cli/engine_job.h"
#include "app/cli/engine_result.h"
#include "app/cli/interrupt.h"
#include "app/cli/verbs/audit_run.h"
#include "app/cli/verbs/order_new.h"
#include "app/cli/verbs/verdict_text.h"

namespace assay::cli {

using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr std::uint64_t kFaultStep = 7;
constexpr const char* kNoise = "noise=0.9";

/// The order of the main story: small enough for a laptop, large enough to learn something.
NewOrder mainOrder(const fs::path& folder) {
    NewOrder order;
    order.title = "demo: a small GPT on licence texts";
    order.steps = 12;
    order.batch = 8;
    order.width = 128;
    order.layers = 2;
    order.context = 64;
    order.learningRate = 0.003f;
    order.schedule = "cosine";
    order.warmup = 3;
    order.dropout = 0.1f;
    order.clip = 1.0f;
    order.checkpointEvery = 4;
    order.out = (folder / "order").string();
    return order;
}

/// Sums of 1024 terms in one block under the narrower bound: here real kernels do round differently.
NewOrder longSumsOrder(const fs::path& folder, const fs::path& key) {
    NewOrder order;
    order.title = "demo: long sums, empirical bound";
    order.steps = 2;
    order.batch = 16;
    order.width = 256;
    order.layers = 1;
    order.context = 64;
    order.learningRate = 0.003f;
    order.bound = "empirical";
    order.block = 65536;
    order.trainerKeys = {key.string()};
    order.out = (folder / "order-long-sums").string();
    return order;
}

/// Lines in which two files of site digests differ, and lines of the longer one.
Result<std::pair<std::uint64_t, std::uint64_t>> compareDigests(const fs::path& a, const fs::path& b) {
    constexpr std::uint64_t kLimit = 1ULL << 30;
    ASSAY_TRY(one, base::readTextFile(a, kLimit));
    ASSAY_TRY(two, base::readTextFile(b, kLimit));
    std::uint64_t differ = 0;
    std::uint64_t total = 0;
    std::string_view left = one;
    std::string_view right = two;
    const auto next = [](std::string_view& rest) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return line;
    };
    while (!left.empty() || !right.empty()) {
        ++total;
        differ += next(left) != next(right) ? 1u : 0u;
    }
    return std::pair{differ, total};
}

class Story {
public:
    Story(Session& session, fs::path folder) : m_session(session), m_folder(std::move(folder)) {}

    Result<DemoOutcome> tell() {
        ASSAY_CHECK(chooseKernels());
        ASSAY_CHECK(chapterOrder());
        ASSAY_CHECK(chapterTraining());
        ASSAY_CHECK(chapterAudit());
        ASSAY_CHECK(chapterLog());
        ASSAY_CHECK(chapterCheat());
        return m_outcome;
    }

private:
    void say(std::string_view text) {
        if (!m_session.json) {
            m_session.console.print(wrapText(text, 96, "   "));
        }
    }
    void title(std::string_view text) {
        if (!m_session.json) {
            m_session.console.print(fmt::format("\n{}\n", m_session.console.toned(Tone::strong, text)));
        }
    }
    void command(std::string_view text) {
        if (!m_session.json) {
            m_session.console.print(
                fmt::format("   {}\n", m_session.console.toned(Tone::faint, fmt::format("$ assay {}", text))));
            static_cast<void>(m_session.console.finish()); // the reader follows while the machine works
        }
    }
    /// The verdict in colour, and whether it is the promised one.
    void verdict(const audit::VerifyReport& report, audit::Verdict promised) {
        const auto tone = report.verdict == audit::Verdict::accepted   ? Tone::good
                          : report.verdict == audit::Verdict::rejected ? Tone::bad
                                                                       : Tone::doubtful;
        if (!m_session.json) {
            m_session.console.print(
                fmt::format("   {}\n", m_session.console.toned(tone, std::string(audit::verdictName(report.verdict)))));
            m_session.console.print(wrapText(report.reason, 96, "   "));
        }
        m_outcome.asTold = m_outcome.asTold && report.verdict == promised;
    }
    [[nodiscard]] std::string path(const char* name) const { return (m_folder / name).string(); }

    /// Two core types that this processor runs, as different as possible; otherwise another order of the same sums.
    Result<void> chooseKernels() {
        ASSAY_TRY(end, runEngine(m_session, EngineRequest("kernels"), {}));
        if (end.exitCode != 0 || !end.result) {
            return fail(explainEnd(end, {}));
        }
        std::vector<std::string> usable;
        for (const auto& kernel : EngineResult(*end.result).kernels()) {
            if (kernel.supported && kernel.name != "default") {
                usable.push_back(kernel.name);
            }
        }
        const auto has = [&](const char* name) {
            return std::find(usable.begin(), usable.end(), name) != usable.end();
        };
        for (const auto& [trainer, auditor] : {std::pair{"haswell", "prescott"}, std::pair{"skylakex", "prescott"},
                                               std::pair{"haswell", "barcelona"}, std::pair{"haswell", "skylakex"}}) {
            if (has(trainer) && has(auditor)) {
                m_outcome.trainer = trainer;
                m_outcome.auditor = auditor;
                return {};
            }
        }
        m_outcome.trainer = "default";
        m_outcome.auditor = "default,reversed";
        return {};
    }

    [[nodiscard]] std::string arithmeticOf(const std::string& kernel) const {
        if (kernel == "haswell") {
            return "the kernels for Haswell processors (2013, four numbers at a time, fused multiply-add)";
        }
        if (kernel == "skylakex") {
            return "the kernels for Skylake servers (2017, eight numbers at a time)";
        }
        if (kernel == "prescott") {
            return "the kernels for Prescott processors (2004, two numbers at a time, no fused multiply-add)";
        }
        if (kernel == "barcelona") {
            return "the kernels for Barcelona processors (2007, two numbers at a time, no fused multiply-add)";
        }
        return fmt::format("kernel profile {}", kernel);
    }

    Result<void> chapterOrder() {
        if (!m_session.json) {
            m_session.console.printLine(m_session.console.toned(Tone::strong, "Was this model trained as ordered?"));
        }
        title("1. The order");
        const auto request = mainOrder(m_folder);
        ASSAY_TRY(written, writeOrder(request));
        m_key = written.folder / "trainer.pem";
        say(fmt::format("You want a language model: a GPT with {} parameters, trained for {} steps on licence texts. "
                        "You do not own the machines, so "
                        "you write down exactly what is to be done and let somebody else do it. The order fixes "
                        "everything: model, data, order of the "
                        "samples, optimizer, random numbers, numerics. Its digest is {}...",
                        grouped(written.parameters), request.steps, written.digest.shortHex()));
        command(fmt::format("order new --program gpt --steps {} --batch {} --width {} --layers {} --context {} --lr "
                            "0.003 --schedule cosine "
                            "--warmup {} --dropout 0.1 --clip 1 --checkpoint-every 4 --out {}",
                            request.steps, request.batch, request.width, request.layers, request.context,
                            request.warmup, request.out));
        return {};
    }

    Result<EngineResult> train(const std::string& order, const std::string& out, const std::string& kernel,
                               const std::string& digests) {
        EngineRequest request("train");
        request.set("order", order + "/order.json").set("out", out).set("data", order).set("kernel", kernel);
        request.set("key", m_key.string()).set("site_digests", digests);
        ASSAY_TRY(end, runEngine(m_session, request, m_interrupt.token()));
        if (end.exitCode != 0 || !end.result) {
            return fail(explainEnd(end, "assay demo starts anew"));
        }
        return EngineResult(*end.result);
    }

    Result<void> chapterTraining() {
        title("2. The training, somewhere else");
        say(fmt::format(
            "A trainer carries the order out with {}. After every step it commits to the whole state of the training. "
            "Wherever a "
            "rounding could come out differently on another machine, it notes in a rounding log which way it went.",
            arithmeticOf(m_outcome.trainer)));
        command(fmt::format("train {} --out {} --kernel {}", path("order/order.json"), path("run"), m_outcome.trainer));
        ASSAY_TRY(result, train(path("order"), path("run"), m_outcome.trainer, {}));
        const auto steps = std::max<std::uint64_t>(1, result.integer("steps").value_or(1));
        say(fmt::format("The loss fell from {:.2f} to {:.2f}. The submission holds a signed root over {} commitments; "
                        "the rounding log takes {} a step.",
                        result.number("first_loss").value_or(0), result.number("last_loss").value_or(0), steps + 1,
                        byteText(result.integer("log_bytes").value_or(0) / steps)));
        return {};
    }

    Result<audit::VerifyReport> verify(const char* submission, const char* order, const std::string& kernel,
                                       const std::string& digests = {}, bool ignoreLog = false) {
        AuditRequest request;
        request.submission = path(submission);
        request.order = path(order) + "/order.json";
        request.data = path(order);
        request.kernel = kernel;
        request.siteDigests = digests;
        request.ignoreLog = ignoreLog;
        request.store = path("audits.sqlite");
        return runAudit(m_session, request, m_interrupt.token());
    }

    Result<void> chapterAudit() {
        title("3. Your audit, on other arithmetic");
        say(fmt::format("You do not trust the trainer, and you have other hardware. You replay with {}. These add up "
                        "in another order, so low bits "
                        "differ everywhere inside; with the trainer's log you round the same way, and every step must "
                        "end in exactly the "
                        "committed state.",
                        arithmeticOf(m_outcome.auditor)));
        command(fmt::format("verify {} --order {} --kernel {}", path("run"), path("order"), m_outcome.auditor));
        ASSAY_TRY(report, verify("run", "order", m_outcome.auditor));
        m_outcome.honest = report;
        verdict(report, audit::Verdict::accepted);
        say(fmt::format("{} of {} steps were replayed and are equal bit for bit. The log holds {} entries, where the "
                        "trainer could have gone either "
                        "way; {} of them changed a rounding of yours.",
                        report.stepsChecked, report.stepsTotal, grouped(report.entries), grouped(report.corrections)));
        return {};
    }

    /// Trains under the trainer's kernel and replays with and without the log under `auditor`.
    Result<void> compareReplays(const std::string& auditor) {
        ASSAY_TRY(with, verify("run-long-sums", "order-long-sums", auditor, path("with-log.digests")));
        ASSAY_TRY(without, verify("run-long-sums", "order-long-sums", auditor, path("without-log.digests"), true));
        static_cast<void>(without);
        m_outcome.needsLog = with;
        ASSAY_TRY(kept, compareDigests(path("trainer.digests"), path("with-log.digests")));
        ASSAY_TRY(lost, compareDigests(path("trainer.digests"), path("without-log.digests")));
        m_outcome.sitesDifferWithLog = kept.first;
        m_outcome.sitesDifferWithoutLog = lost.first;
        m_outcome.sitesTotal = kept.second;
        return {};
    }

    Result<void> chapterLog() {
        title("4. Why the log is needed");
        ASSAY_TRY(written, writeOrder(longSumsOrder(m_folder, m_key)));
        say(fmt::format("A second order adds up more than a thousand terms at once, so that the two kernels really "
                        "round some values differently. The "
                        "trainer runs {} steps of it, and you replay them twice: with the log and without.",
                        written.order.loop.steps));
        command(fmt::format("train {} --out {} --kernel {} --site-digests {}", path("order-long-sums/order.json"),
                            path("run-long-sums"), m_outcome.trainer, path("trainer.digests")));
        ASSAY_TRY(trained,
                  train(path("order-long-sums"), path("run-long-sums"), m_outcome.trainer, path("trainer.digests")));
        static_cast<void>(trained);
        std::string auditor = m_outcome.auditor;
        const auto show = [&] {
            command(fmt::format("verify {} --order {} --kernel {} --site-digests {}", path("run-long-sums"),
                                path("order-long-sums"), auditor, path("with-log.digests")));
            command(fmt::format("verify {} --order {} --kernel {} --ignore-log --site-digests {}",
                                path("run-long-sums"), path("order-long-sums"), auditor, path("without-log.digests")));
        };
        show();
        ASSAY_CHECK(compareReplays(auditor));
        if (m_outcome.needsLog.verdict == audit::Verdict::accepted && m_outcome.needsLog.corrections == 0) {
            auditor = m_outcome.trainer + "," + kNoise;
            m_outcome.noiseUsed = true;
            say(fmt::format("On this machine the two kernels happen to agree. So this chapter uses {}: planted noise "
                            "of almost the size that the "
                            "error bound permits, no real hardware.",
                            auditor));
            show();
            ASSAY_CHECK(compareReplays(auditor));
        }
        verdict(m_outcome.needsLog, audit::Verdict::accepted);
        say(fmt::format("With the log: {} roundings were corrected, and {} of {} intermediate tensors are equal to the "
                        "trainer's. Without it: {} of "
                        "{} differ, because the first different bit spreads into everything that follows. An honest "
                        "trainer could not be told from a "
                        "cheat.",
                        grouped(m_outcome.needsLog.corrections), m_outcome.sitesTotal - m_outcome.sitesDifferWithLog,
                        m_outcome.sitesTotal, m_outcome.sitesDifferWithoutLog, m_outcome.sitesTotal));
        m_outcome.asTold = m_outcome.asTold && m_outcome.sitesDifferWithLog == 0 &&
                           m_outcome.sitesDifferWithoutLog > 0 && m_outcome.needsLog.corrections > 0;
        return {};
    }

    Result<void> chapterCheat() {
        title("5. A cheat");
        say(fmt::format("Now the trainer uses another learning rate from step {} on, and commits, logs and signs "
                        "everything consistently with its own "
                        "key. The files look as good as before.",
                        kFaultStep));
        command(fmt::format("tamper {} --kind lr --step {} --key {} --data {} --kernel {} --out {}", path("run"),
                            kFaultStep, m_key.string(), path("order"), m_outcome.trainer, path("forged")));
        EngineRequest request("tamper");
        request.set("submission", path("run")).set("kind", "lr").set("step", kFaultStep).set("key", m_key.string());
        request.set("data", path("order")).set("kernel", m_outcome.trainer).set("out", path("forged"));
        ASSAY_TRY(end, runEngine(m_session, request, m_interrupt.token()));
        if (end.exitCode != 0) {
            return fail(explainEnd(end, "assay demo starts anew"));
        }
        command(fmt::format("verify {} --order {} --kernel {}", path("forged"), path("order"), m_outcome.auditor));
        ASSAY_TRY(report, verify("forged", "order", m_outcome.auditor));
        m_outcome.forged = report;
        verdict(report, audit::Verdict::rejected);
        const auto& first = report.firstDivergence;
        m_outcome.asTold =
            m_outcome.asTold && first && first->step == kFaultStep && first->part == audit::Part::learningRate;
        if (first && !m_session.json) {
            m_session.console.print("   First divergence:\n");
            const auto text = divergenceText(*first);
            for (std::string_view rest = text; !rest.empty();) {
                const auto line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
                m_session.console.print(fmt::format("   {}\n", line));
                rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            }
        }
        say("Not \"something is wrong somewhere\": the step, what differs, the value claimed and the value ordered, "
            "with their bits.");
        return {};
    }

    Session& m_session;
    fs::path m_folder;
    fs::path m_key;
    Interrupt m_interrupt;
    DemoOutcome m_outcome;
};

} // namespace

Result<DemoOutcome> tellStory(Session& session, const fs::path& folder) {
    return Story(session, folder).tell();
}

} // namespace assay::cli
