// SPDX-License-Identifier: Apache-2.0
// manifest.json, commitment.json and the signed statement.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "core/crypto/statement.h"
#include "core/format/detail/json_cursor.h"
#include "core/format/detail/names.h"
#include "core/format/detail/object_reader.h"
#include "core/format/json.h"
#include "core/format/submission.h"

namespace assay::format {

using base::ByteView;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::failAt;
using base::Result;
using detail::JsonCursor;
using detail::ObjectReader;

namespace {

constexpr std::string_view kManifestFormat = "assay/manifest/1";
constexpr std::string_view kCommitmentFormat = "assay/commitment/1";
constexpr std::string_view kTrainingFormat = "assay/training/1";
constexpr std::string_view kRootSubject = "root";
constexpr std::uint64_t kMaxManifestBytes = 1ULL << 30;
constexpr std::uint64_t kMaxCommitmentBytes = 1ULL << 20;
constexpr std::size_t kMaxProfiles = 1 << 16;

Result<void> expectKey(JsonCursor& cursor, std::string_view key) {
    ASSAY_TRY(found, cursor.string(64));
    if (found != key) {
        return fail(cursor.error(fmt::format("expected the field \"{}\", found \"{}\"", key, found)));
    }
    return cursor.expect(':');
}

/// {"name":...,"sha256":...,"size":...}
Result<ManifestEntry> readManifestEntry(JsonCursor& cursor) {
    ManifestEntry entry;
    ASSAY_CHECK(cursor.expect('{'));
    ASSAY_CHECK(expectKey(cursor, "name"));
    const auto at = cursor.offset();
    ASSAY_TRY(name, cursor.string(1024));
    if (!detail::isRelativePath(name)) {
        return failAt(fmt::format("\"{}\" is not a relative path without \"..\"", name), at);
    }
    entry.name = std::move(name);
    ASSAY_CHECK(cursor.expect(','));
    ASSAY_CHECK(expectKey(cursor, "sha256"));
    ASSAY_TRY(hex, cursor.string(64));
    if (!detail::isLowerHex(hex, 64)) {
        return fail(cursor.error("expected 64 lower-case hex digits"));
    }
    ASSAY_TRY(digest, Digest::fromHex(hex));
    entry.sha256 = digest;
    ASSAY_CHECK(cursor.expect(','));
    ASSAY_CHECK(expectKey(cursor, "size"));
    ASSAY_TRY(size, cursor.integer());
    if (size < 0) {
        return fail(cursor.error("negative size"));
    }
    entry.size = static_cast<std::uint64_t>(size);
    ASSAY_CHECK(cursor.expect('}'));
    return entry;
}

JsonValue number(std::uint64_t value) {
    return JsonValue(static_cast<std::int64_t>(value));
}

} // namespace

const ManifestEntry* Manifest::find(std::string_view name) const {
    const auto found =
        std::lower_bound(files.begin(), files.end(), name,
                         [](const ManifestEntry& entry, std::string_view wanted) { return entry.name < wanted; });
    return found != files.end() && found->name == name ? &*found : nullptr;
}

std::string serialiseManifest(const Manifest& manifest) {
    std::string out = "{\"files\":[";
    for (const auto& entry : manifest.files) {
        if (&entry != manifest.files.data()) {
            out += ',';
        }
        out += "{\"name\":";
        detail::appendJsonString(out, entry.name);
        out += fmt::format(",\"sha256\":\"{}\",\"size\":{}}}", entry.sha256.toHex(), entry.size);
    }
    out += fmt::format("],\"format\":\"{}\"}}\n", kManifestFormat);
    return out;
}

Result<Manifest> parseManifest(ByteView bytes) {
    // A cursor instead of JsonValue: a manifest may list a million files.
    if (bytes.size() > kMaxManifestBytes) {
        return failAt(fmt::format("manifest of {} bytes, at most {} are accepted", bytes.size(), kMaxManifestBytes),
                      kMaxManifestBytes);
    }
    JsonCursor cursor(base::asText(bytes));
    Manifest manifest;
    ASSAY_CHECK(cursor.expect('{'));
    ASSAY_CHECK(expectKey(cursor, "files"));
    ASSAY_CHECK(cursor.expect('['));
    std::unordered_set<std::string> folded;
    if (!cursor.accept(']')) {
        do {
            const auto at = cursor.offset();
            ASSAY_TRY(entry, readManifestEntry(cursor));
            if (!manifest.files.empty() && manifest.files.back().name >= entry.name) {
                return failAt(fmt::format("\"{}\" is listed twice or out of order", entry.name), at);
            }
            if (!folded.insert(detail::foldCase(entry.name)).second) {
                return failAt(fmt::format("\"{}\" differs from another name only in upper and lower case", entry.name),
                              at);
            }
            manifest.files.push_back(std::move(entry));
        } while (cursor.accept(','));
        ASSAY_CHECK(cursor.expect(']'));
    }
    ASSAY_CHECK(cursor.expect(','));
    ASSAY_CHECK(expectKey(cursor, "format"));
    ASSAY_TRY(format, cursor.string(64));
    if (format != kManifestFormat) {
        return fail(cursor.error(fmt::format("format: expected {}, found \"{}\"", kManifestFormat, format)));
    }
    ASSAY_CHECK(cursor.expect('}'));
    ASSAY_CHECK(cursor.expectEnd());
    ASSAY_CHECK(detail::expectCanonical(base::asText(bytes), serialiseManifest(manifest)));
    return manifest;
}

std::string serialiseCommitment(const Commitment& commitment) {
    return writeJson(JsonValue::Object{{"checkpoint_note", commitment.checkpointNote},
                                       {"diverged", commitment.diverged},
                                       {"format", std::string(kCommitmentFormat)},
                                       {"leaves", number(commitment.leaves)},
                                       {"order", commitment.order.toHex()},
                                       {"root", commitment.root.toHex()}}) +
           '\n';
}

Result<Commitment> parseCommitment(ByteView bytes) {
    ASSAY_TRY(value, readJson(bytes, kMaxCommitmentBytes));
    Commitment commitment;
    ObjectReader reader(value, "");
    std::string format;
    reader.text("format", format);
    if (!reader.failed() && format != kCommitmentFormat) {
        return failAt(fmt::format("format: expected {}, found \"{}\"", kCommitmentFormat, format), 0);
    }
    reader.text("checkpoint_note", commitment.checkpointNote);
    reader.boolean("diverged", commitment.diverged);
    reader.count("leaves", commitment.leaves);
    reader.digest("order", commitment.order);
    reader.digest("root", commitment.root);
    ASSAY_CHECK(reader.finish());
    return commitment;
}

Result<std::string> statementText(const Attestation& attestation) {
    JsonValue::Array profiles;
    for (const auto& range : attestation.profiles) {
        profiles.emplace_back(JsonValue::Object{{"first_step", number(range.firstStep)},
                                                {"last_step", number(range.lastStep)},
                                                {"profile", range.profile}});
    }
    const JsonValue predicate = JsonValue::Object{{"engine_version", attestation.engineVersion},
                                                  {"format", std::string(kTrainingFormat)},
                                                  {"leaves", number(attestation.leaves)},
                                                  {"profiles", std::move(profiles)}};
    crypto::Statement statement;
    statement.predicateType = kPredicateType;
    statement.predicate = writeJson(predicate);
    statement.subjects = {{std::string(kRootSubject), {{std::string(kRootAlgorithm), attestation.root.toHex()}}},
                          {std::string(kManifestName), {{"sha256", attestation.manifest.toHex()}}},
                          {attestation.finalCheckpointName, {{"sha256", attestation.finalCheckpoint.toHex()}}},
                          {std::string(kOrderName), {{"sha256", attestation.order.toHex()}}}};
    return crypto::serialiseStatement(statement);
}

namespace {

Result<Digest> subjectDigest(const crypto::Statement& statement, std::size_t index, std::string_view name,
                             std::string_view algorithm) {
    const auto& subject = statement.subjects[index];
    const auto found = subject.digest.find(std::string(algorithm));
    if (subject.name != name || subject.digest.size() != 1 || found == subject.digest.end() ||
        !detail::isLowerHex(found->second, 64)) {
        return fail(ErrorCode::malformed,
                    fmt::format("statement: subject {} must be \"{}\" with one digest {} of 64 hex digits", index + 1,
                                name, algorithm));
    }
    return Digest::fromHex(found->second);
}

Result<void> readPredicate(const std::string& text, Attestation& attestation) {
    const auto canonical = text + '\n';
    ASSAY_TRY(value, readJson(base::asBytes(canonical), kMaxManifestBytes));
    ObjectReader reader(value, "predicate");
    std::string format;
    reader.text("engine_version", attestation.engineVersion);
    reader.text("format", format);
    reader.count("leaves", attestation.leaves);
    std::uint64_t next = 1;
    for (const auto& item : reader.array("profiles")) {
        ProfileRange range;
        ObjectReader fields(item, fmt::format("predicate.profiles.{}", attestation.profiles.size()));
        fields.count("first_step", range.firstStep);
        fields.count("last_step", range.lastStep);
        fields.text("profile", range.profile);
        ASSAY_CHECK(fields.finish());
        if (range.firstStep != next || range.lastStep < range.firstStep ||
            attestation.profiles.size() == kMaxProfiles) {
            return failAt("predicate.profiles: expected ranges that follow each other from step 1", item.offset());
        }
        next = range.lastStep + 1;
        attestation.profiles.push_back(std::move(range));
    }
    ASSAY_CHECK(reader.finish());
    if (format != kTrainingFormat) {
        return fail(ErrorCode::malformed,
                    fmt::format("predicate.format: expected {}, found \"{}\"", kTrainingFormat, format));
    }
    return {};
}

} // namespace

Result<Attestation> parseStatement(ByteView statementBytes) {
    ASSAY_TRY(statement, crypto::parseStatement(base::asText(statementBytes)));
    if (statement.predicateType != kPredicateType) {
        return fail(ErrorCode::malformed, fmt::format("statement: expected the predicate type {}, found \"{}\"",
                                                      kPredicateType, statement.predicateType));
    }
    if (statement.subjects.size() != 4) {
        return fail(ErrorCode::malformed,
                    fmt::format("statement: expected 4 subjects, found {}", statement.subjects.size()));
    }
    Attestation attestation;
    attestation.finalCheckpointName = statement.subjects[2].name;
    if (!detail::isRelativePath(attestation.finalCheckpointName)) {
        return fail(ErrorCode::malformed, "statement: the third subject is not the name of a checkpoint");
    }
    ASSAY_TRY(root, subjectDigest(statement, 0, kRootSubject, kRootAlgorithm));
    ASSAY_TRY(manifest, subjectDigest(statement, 1, kManifestName, "sha256"));
    ASSAY_TRY(checkpoint, subjectDigest(statement, 2, attestation.finalCheckpointName, "sha256"));
    ASSAY_TRY(order, subjectDigest(statement, 3, kOrderName, "sha256"));
    attestation.root = root;
    attestation.manifest = manifest;
    attestation.finalCheckpoint = checkpoint;
    attestation.order = order;
    ASSAY_CHECK(readPredicate(statement.predicate, attestation));
    return attestation;
}

} // namespace assay::format
