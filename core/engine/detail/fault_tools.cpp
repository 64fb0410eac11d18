// SPDX-License-Identifier: Apache-2.0
#include "core/engine/detail/fault_tools.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/crypto/sha256.h"
#include "core/engine/replay_step.h"
#include "core/engine/site_digests.h"
#include "core/format/state_tree.h"
#include "core/numerics/log_codec.h"

namespace assay::engine::detail {

using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

std::uint64_t Victim::lastStep() const {
    return submission.steps() - (submission.commitment().diverged && submission.steps() > 0 ? 1 : 0);
}

Result<TrainingState> stateAfter(const Victim& victim, std::uint64_t step) {
    const std::uint64_t start = checkpointAtOrBefore(victim.submission, step);
    ASSAY_TRY(state, stateOf(victim.session, victim.submission, start));
    for (std::uint64_t s = start + 1; s <= step; ++s) {
        if (victim.control.shouldStop()) {
            return fail(ErrorCode::cancelled, fmt::format("stopped at step {}", s));
        }
        ASSAY_TRY(record, victim.submission.step(s));
        ASSAY_TRY(replayed, replayStep(victim.session, victim.data, victim.submission, record, state, false, {}));
        ASSAY_TRY(findings, compareStep(victim.session, victim.submission, record, replayed, state));
        if (!findings.empty()) {
            return fail(ErrorCode::usage, fmt::format("the submission itself does not hold: {}", findings.front().text),
                        "plant faults into an honest submission");
        }
        if (victim.progress) {
            victim.progress({"replay", s - start, step - start, "steps"});
        }
    }
    return std::move(state);
}

Result<base::Digest> logRootOf(base::ByteView log) {
    ASSAY_TRY(decoded, numerics::decodeStepLog(log));
    std::vector<base::ByteView> sections;
    for (const auto& section : decoded.sections) {
        sections.push_back(section.bytes);
    }
    return format::logRoot(sections);
}

std::string Rewriter::profileOf(std::uint64_t step) const {
    for (const auto& range : m_source.attestation().profiles) {
        if (step >= range.firstStep && step <= range.lastStep) {
            return range.profile;
        }
    }
    return m_profile;
}

Result<Rewriter> Rewriter::create(const format::Submission& source, const fs::path& out) {
    Rewriter rewriter(source);
    rewriter.m_profile =
        source.attestation().profiles.empty() ? "default" : source.attestation().profiles.front().profile;
    ASSAY_TRY(order, base::readFile(source.folder() / format::kOrderName, format::kMaxOrderBytes));
    ASSAY_TRY(program, base::readFile(source.folder() / format::kProgramName, format::kMaxProgramBytes));
    ASSAY_TRY(writer, format::SubmissionWriter::create(out, order, program, source.folder() / format::kInitName,
                                                       rewriter.m_profile));
    rewriter.m_writer.emplace(std::move(writer));
    return rewriter;
}

Result<void> Rewriter::setProfile(const std::string& profile) {
    if (profile == m_profile) {
        return {};
    }
    const auto folder = m_writer->folder();
    m_writer.reset(); // gives the lock back
    ASSAY_TRY(writer, format::SubmissionWriter::resume(folder, profile));
    m_writer.emplace(std::move(writer));
    m_profile = profile;
    return {};
}

Result<void> Rewriter::copyStep(const base::ByteVector* log) {
    const std::uint64_t step = m_writer->leaves();
    if (step > 0) {
        ASSAY_CHECK(setProfile(profileOf(step)));
    }
    ASSAY_TRY(record, m_source.step(step));
    if (record.leaf.step != step || record.leaf.order != m_writer->orderDigest() || m_writer->diverged()) {
        return fail(ErrorCode::malformed, fmt::format("the record of step {} belongs to another step or order", step));
    }
    record.leaf.previous = m_writer->lastLeafHash();
    base::ByteVector bytes;
    if (step > 0 && !record.leaf.diverged) {
        ASSAY_TRY(original, m_source.log(step));
        bytes = log != nullptr ? *log : std::move(original);
        if (bytes.empty()) {
            return fail(ErrorCode::malformed, fmt::format("the rounding log of step {} is empty", step));
        }
    }
    if (log != nullptr) {
        ASSAY_TRY(root, logRootOf(bytes));
        record.leaf.logRoot = root;
    }
    const auto& checkpoints = m_source.checkpoints();
    if (step > 0 && std::binary_search(checkpoints.begin(), checkpoints.end(), step)) {
        ASSAY_TRY(file, m_source.checkpoint(step));
        ASSAY_CHECK(m_writer->writeCheckpoint(file.tensors()));
    }
    return m_writer->append(record.leaf, record.tensorRoots, bytes);
}

Result<void> copySubmission(const format::Submission& source, const fs::path& out) {
    ASSAY_CHECK(base::makeFolders(out));
    std::error_code code;
    const auto copyOne = [&](const std::string& name) -> Result<void> {
        ASSAY_CHECK(base::makeFolders((out / name).parent_path()));
        fs::copy_file(source.folder() / name, out / name, code);
        return code ? Result<void>(fail(base::systemError(out / name, "copy", code.value()))) : Result<void>{};
    };
    for (const auto& entry : source.manifest().files) {
        ASSAY_CHECK(copyOne(entry.name));
    }
    ASSAY_CHECK(copyOne(std::string(format::kManifestName)));
    return copyOne(std::string(format::kAttestationName));
}

Result<void> resealFile(const TamperRequest& request, const format::Submission& source, const std::string& name) {
    if (!request.keyPem.empty()) {
        return format::sealSubmission(request.out, request.keyPem, source.attestation().engineVersion,
                                      source.attestation().profiles);
    }
    ASSAY_TRY(bytes, base::readFile(request.out / name, ~std::uint64_t{0}));
    auto manifest = source.manifest();
    for (auto& entry : manifest.files) {
        if (entry.name == name) {
            entry.size = bytes.size();
            entry.sha256 = crypto::sha256(bytes);
        }
    }
    return base::writeFileAtomic(request.out / format::kManifestName, format::serialiseManifest(manifest));
}

Result<TamperResult> plantCheckpointEdit(const TamperRequest& request, const format::Submission& submission) {
    if (submission.checkpoints().empty()) {
        return fail(ErrorCode::notApplicable, "the submission has no checkpoint file");
    }
    const std::uint64_t step =
        submission.checkpoints().back(); // the file that a client takes home, whatever step was asked for
    ASSAY_TRY(file, submission.checkpoint(step));
    auto tensors = file.tensors();
    const auto target = std::find_if(tensors.begin(), tensors.end(), [](const auto& tensor) {
        return tensor.dtype == "F32" && !tensor.bytes.empty() && !tensor.name.starts_with(kOptimizerPrefix);
    });
    if (target == tensors.end()) {
        return fail(ErrorCode::notApplicable, "the final file holds no weights");
    }
    ASSAY_TRY(values, format::floatsOf(*target));
    TamperResult result;
    result.kind = request.kind;
    result.step = step;
    result.stepChosen = request.step != step;
    result.tensor = target->name;
    result.element = values.size() / 2;
    result.before = values[*result.element];
    result.after = wrongValue(*result.before);
    values[*result.element] = *result.after;
    target->bytes = format::bytesOf(values);
    result.text = fmt::format("in the final checkpoint (step {}) element {} of tensor \"{}\" is {} instead of {}", step,
                              *result.element, *result.tensor, *result.after, *result.before);
    ASSAY_CHECK(copySubmission(submission, request.out));
    ASSAY_CHECK(format::writeSafetensors(request.out / format::checkpointName(step), tensors));
    ASSAY_CHECK(resealFile(request, submission, format::checkpointName(step)));
    return result;
}

} // namespace assay::engine::detail
