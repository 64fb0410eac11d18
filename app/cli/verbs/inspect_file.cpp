// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/cli/verbs/inspect.h"
#include "app/cli/verbs/log_statistics.h"
#include "app/cli/verbs/order_text.h"
#include "core/audit/verdict.h"
#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/format/order.h"
#include "core/format/program.h"
#include "core/format/safetensors.h"
#include "core/format/submission.h"
#include "core/merkle/checkpoint_note.h"
#include "core/models/built_in.h"

namespace assay::cli {

using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

constexpr std::size_t kRowsShown = 200;

Result<Inspection> inspectOrder(ByteView bytes, const fs::path& path) {
    ASSAY_TRY(order, format::parseOrder(bytes));
    std::optional<std::uint64_t> parameters;
    if (const auto program = readProgramOf(path)) {
        parameters = models::parameterCount(*program);
    }
    const auto digest = format::orderDigest(order);
    Inspection result;
    result.json = orderJson("assay.inspect", order, digest, parameters);
    result.json.add("kind", "order").add("path", path.string());
    result.text = "Order\n" + describeOrder(order, digest, parameters);
    return result;
}

Result<Inspection> inspectProgram(ByteView bytes) {
    ASSAY_TRY(program, format::parseProgram(bytes));
    Inspection result;
    const auto parameters = models::parameterCount(program);
    JsonArray operators;
    std::vector<std::vector<std::string>> rows;
    for (const auto& op : program.operators) {
        operators.raw(JsonObject().add("name", op.name).add("kind", op.kind).text());
        if (rows.size() < kRowsShown) {
            std::string inputs;
            for (const auto& input : op.inputs) {
                inputs += (inputs.empty() ? "" : ", ") + input;
            }
            rows.push_back({printable(op.name), op.kind, printable(inputs)});
        }
    }
    result.json.add("kind", "program")
        .add("title", program.title)
        .add("digest", format::programDigest(program).toHex());
    result.json.add("parameters", parameters).add("operators", operators);
    result.text = fmt::format("Program \"{}\": {} operators, {} parameters\n  {}\n\n", printable(program.title),
                              program.operators.size(), grouped(parameters), operatorCensus(program));
    result.text += alignColumns(rows);
    if (program.operators.size() > kRowsShown) {
        result.text += fmt::format("  ... and {} more (--json has them all)\n", program.operators.size() - kRowsShown);
    }
    return result;
}

Result<Inspection> inspectSafetensors(const fs::path& path) {
    ASSAY_TRY(file, format::Safetensors::open(path));
    Inspection result;
    JsonArray tensors;
    std::vector<std::vector<std::string>> rows;
    std::uint64_t elements = 0;
    for (const auto& tensor : file.tensors()) {
        JsonArray shape;
        std::uint64_t count = 1;
        for (const auto size : tensor.shape) {
            shape.raw(std::to_string(size));
            count *= static_cast<std::uint64_t>(size);
        }
        elements += count;
        tensors.raw(JsonObject()
                        .add("name", tensor.name)
                        .add("dtype", tensor.dtype)
                        .add("shape", shape)
                        .add("bytes", tensor.bytes.size())
                        .text());
        if (rows.size() < kRowsShown) {
            rows.push_back(
                {printable(tensor.name), tensor.dtype, shapeText(tensor.shape), byteText(tensor.bytes.size())});
        }
    }
    result.json.add("kind", "safetensors")
        .add("bytes", file.fileBytes().size())
        .add("elements", elements)
        .add("tensors", tensors);
    result.text = fmt::format("Tensors (safetensors): {} with {} values, {}\n", file.tensors().size(),
                              grouped(elements), byteText(file.fileBytes().size()));
    result.text += alignColumns(rows);
    if (file.tensors().size() > kRowsShown) {
        result.text += fmt::format("  ... and {} more (--json has them all)\n", file.tensors().size() - kRowsShown);
    }
    return result;
}

Result<Inspection> inspectLog(ByteView bytes) {
    ASSAY_TRY(log, countStepLog(bytes));
    Inspection result;
    JsonArray sections;
    for (const auto& section : log.sections) {
        sections.raw(JsonObject()
                         .add("bytes", section.bytes)
                         .add("entries", section.entries)
                         .add("whole", section.whole)
                         .text());
    }
    result.json.add("kind", "log").add("order", log.order.toHex()).add("step", log.step).add("bytes", log.bytes);
    result.json.add("entries", log.entries).add("whole_entries", log.whole).add("sections", sections);
    result.text = fmt::format(
        "Rounding log of step {} (order {})\n  {} entries, {} of them whole values, in {} product sites, {}\n",
        log.step, log.order.shortHex(), grouped(log.entries), grouped(log.whole), log.sections.size(),
        byteText(log.bytes));
    return result;
}

Result<Inspection> inspectEnvelope(ByteView bytes) {
    ASSAY_TRY(envelope, crypto::parseEnvelope(base::asText(bytes)));
    Inspection result;
    JsonArray ids;
    std::vector<std::vector<std::string>> rows{{"payload type", printable(envelope.payloadType)},
                                               {"payload", byteText(envelope.payload.size())}};
    for (const auto& signature : envelope.signatures) {
        ids.add(signature.keyId);
        rows.push_back({"signed by key", printable(signature.keyId)});
    }
    if (envelope.signatures.empty()) {
        rows.push_back({"signed by", "nobody"});
    }
    result.json.add("kind", "envelope")
        .add("payload_type", envelope.payloadType)
        .add("payload_bytes", envelope.payload.size());
    result.json.add("signer_key_ids", ids);
    if (const auto attestation = format::parseStatement(envelope.payload)) {
        result.json.add("root", attestation->root.toHex()).add("order", attestation->order.toHex());
        result.json.add("engine", attestation->engineVersion);
        rows.push_back({"attests root", attestation->root.toHex()});
        rows.push_back({"for order", attestation->order.toHex()});
        rows.push_back({"final file", printable(attestation->finalCheckpointName)});
    }
    result.text = "Signed envelope (DSSE; signatures not verified: see assay verify-sig)\n" + alignColumns(rows);
    return result;
}

Result<Inspection> inspectKey(const fs::path& path, std::string_view text) {
    const bool secret = text.find("PRIVATE KEY") != std::string_view::npos;
    ASSAY_TRY(key, crypto::readPublicKey(path));
    Inspection result;
    result.json.add("kind", secret ? "private-key" : "public-key")
        .add("public_key", key.toHex())
        .add("key_id", key.keyId());
    result.text = fmt::format("{} (Ed25519)\n", secret ? "Private key: keep it secret" : "Public key");
    result.text += alignColumns({{"public key", key.toHex()}, {"key id", key.keyId()}});
    return result;
}

Result<Inspection> inspectCheckpointNote(std::string_view text) {
    ASSAY_TRY(note, merkle::parseCheckpoint(text));
    Inspection result;
    result.json.add("kind", "checkpoint-note")
        .add("origin", note.checkpoint.origin)
        .add("size", note.checkpoint.size.value);
    result.json.add("root", note.checkpoint.root.toHex()).add("signatures", note.signatures.size());
    result.text = "Checkpoint note (C2SP tlog-checkpoint)\n" +
                  alignColumns({{"origin", printable(note.checkpoint.origin)},
                                {"leaves", grouped(note.checkpoint.size.value)},
                                {"root", note.checkpoint.root.toHex()},
                                {"signatures", std::to_string(note.signatures.size())}});
    return result;
}

Result<Inspection> inspectManifest(ByteView bytes) {
    ASSAY_TRY(manifest, format::parseManifest(bytes));
    Inspection result;
    std::uint64_t total = 0;
    for (const auto& file : manifest.files) {
        total += file.size;
    }
    result.json.add("kind", "manifest").add("files", manifest.files.size()).add("bytes", total);
    result.text =
        fmt::format("Manifest of a submission: {} files with {}\n", grouped(manifest.files.size()), byteText(total));
    return result;
}

Result<Inspection> inspectCommitment(ByteView bytes) {
    ASSAY_TRY(commitment, format::parseCommitment(bytes));
    Inspection result;
    result.json.add("kind", "commitment").add("order", commitment.order.toHex()).add("leaves", commitment.leaves);
    result.json.add("root", commitment.root.toHex()).add("diverged", commitment.diverged);
    result.text = "Commitment\n" + alignColumns({{"order", commitment.order.toHex()},
                                                 {"leaves", grouped(commitment.leaves)},
                                                 {"root", commitment.root.toHex()}});
    return result;
}

Result<Inspection> inspectReport(std::string_view text) {
    ASSAY_TRY(report, audit::reportFromJson(text));
    Inspection result;
    result.json.add("kind", "verify-report")
        .add("verdict", audit::verdictName(report.verdict))
        .add("reason", report.reason);
    result.json.add("root_claimed", report.rootClaimed)
        .add("steps_checked", report.stepsChecked)
        .add("steps_total", report.stepsTotal);
    result.text =
        fmt::format("Report of an audit: {}. {}\n", audit::verdictName(report.verdict), printable(report.reason));
    return result;
}

/// Which of our JSON files this is: each has a telling member near its start or anywhere at its top.
Result<Inspection> inspectJson(ByteView bytes, const fs::path& path) {
    const auto text = base::asText(bytes);
    const auto holds = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
    const auto name = path.filename().string();
    if (holds("\"assay/order/")) {
        return inspectOrder(bytes, path);
    }
    if (holds("\"assay/program/")) {
        return inspectProgram(bytes);
    }
    if (holds("\"assay.verify\"")) {
        return inspectReport(text);
    }
    if (holds("\"payloadType\"")) {
        return inspectEnvelope(bytes);
    }
    if (name == format::kManifestName || holds("\"assay/manifest/")) {
        return inspectManifest(bytes);
    }
    if (name == format::kCommitmentName || holds("\"assay/commitment/")) {
        return inspectCommitment(bytes);
    }
    return fail(Error{ErrorCode::malformed,
                      "this JSON is none of Assay's formats",
                      {},
                      std::nullopt,
                      "an order, program, manifest, commitment, envelope or report"});
}

bool looksLikeSafetensors(ByteView bytes) {
    return bytes.size() > 8 && bytes[8] == '{';
}

Result<Inspection> dispatch(const fs::path& path) {
    constexpr std::size_t kUstarAt = 257;
    ASSAY_TRY(file, base::MappedFile::open(path));
    const auto bytes = file.bytes();
    const auto text = base::asText(bytes);
    if (text.starts_with("ASSAYLOG")) {
        return inspectLog(bytes);
    }
    if (text.starts_with("-----BEGIN ")) {
        return inspectKey(path, text);
    }
    if (text.size() > kUstarAt + 5 && text.substr(kUstarAt, 5) == "ustar") {
        return inspectSubmission(path);
    }
    if (looksLikeSafetensors(bytes) || path.extension() == ".safetensors") {
        return inspectSafetensors(path);
    }
    if (text.starts_with("{")) {
        return inspectJson(bytes, path);
    }
    if (text.starts_with("assay/training/")) {
        return inspectCheckpointNote(text);
    }
    if (path.extension() == ".assay") {
        return inspectSubmission(path); // says what is wrong with the bundle
    }
    if (path.extension() == ".rlog") {
        return inspectLog(bytes); // likewise for the log
    }
    return fail(Error{ErrorCode::malformed,
                      "this is no file that Assay knows",
                      {},
                      std::nullopt,
                      "a submission, bundle, log, checkpoint, order, program, envelope or key"});
}

} // namespace

Result<Inspection> inspectFile(const fs::path& path) {
    auto result = dispatch(path);
    if (!result) {
        return fail(std::move(result).error().inFile(path.string()));
    }
    return result;
}

} // namespace assay::cli
