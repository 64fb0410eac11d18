// SPDX-License-Identifier: Apache-2.0
#include "core/format/leaf.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/format/detail/tags.h"
#include "core/format/json.h"
#include "core/merkle/tree.h"

namespace assay::format {

using base::ByteReader;
using base::ByteVector;
using base::ByteView;
using base::ByteWriter;
using base::Digest;
using base::failAt;
using base::Result;

namespace {

constexpr std::size_t kMaxSite = 1024;
constexpr std::uint32_t kMaxTensorRoots = 1 << 20;
// Persistent, never renumber.
constexpr std::uint8_t kHasStateRoot = 1;
constexpr std::uint8_t kHasEvaluation = 2;

Result<Digest> getDigest(ByteReader& reader, std::string_view what) {
    ASSAY_TRY(bytes, reader.getBytes(32, what));
    return Digest::fromBytes(bytes);
}

/// Reads an optional flag and the fields that it announces.
Result<void> getOptional(ByteReader& reader, LeafData& leaf) {
    const auto at = reader.offset();
    ASSAY_TRY(flags, reader.get<std::uint8_t>("flags"));
    if ((flags & ~(kHasStateRoot | kHasEvaluation)) != 0) {
        return failAt(fmt::format("unknown flags 0x{:02x}", flags), at);
    }
    if ((flags & kHasStateRoot) != 0) {
        ASSAY_TRY(root, getDigest(reader, "state root"));
        leaf.stateRoot = root;
    }
    if ((flags & kHasEvaluation) != 0) {
        ASSAY_TRY(bits, reader.get<std::uint32_t>("evaluation"));
        leaf.evaluationBits = bits;
    }
    return {};
}

Result<LeafData> getLeaf(ByteReader& reader, bool diverged) {
    LeafData leaf;
    leaf.diverged = diverged;
    ASSAY_TRY(order, getDigest(reader, "order digest"));
    ASSAY_TRY(step, reader.get<std::uint64_t>("step"));
    ASSAY_TRY(batch, getDigest(reader, "batch digest"));
    ASSAY_TRY(learningRate, reader.get<std::uint32_t>("learning rate"));
    leaf.order = order;
    leaf.step = step;
    leaf.batch = batch;
    leaf.learningRateBits = learningRate;
    if (diverged) {
        const auto at = reader.offset();
        ASSAY_TRY(length, reader.get<std::uint16_t>("length of the site name"));
        if (length == 0 || length > kMaxSite) {
            return failAt(fmt::format("site name of {} bytes, expected 1 to {}", length, kMaxSite), at);
        }
        ASSAY_TRY(site, reader.getBytes(length, "site name"));
        leaf.divergedSite = base::asText(site);
        if (!isUtf8(leaf.divergedSite)) {
            return failAt("the site name is not valid UTF-8", at + 2);
        }
    } else {
        ASSAY_TRY(loss, reader.get<std::uint32_t>("loss"));
        ASSAY_TRY(logRoot, getDigest(reader, "log root"));
        leaf.lossBits = loss;
        leaf.logRoot = logRoot;
        ASSAY_CHECK(getOptional(reader, leaf));
    }
    ASSAY_TRY(previous, getDigest(reader, "hash of the previous leaf"));
    leaf.previous = previous;
    return leaf;
}

} // namespace

ByteVector serialiseLeaf(const LeafData& leaf) {
    ByteWriter writer;
    writer.putText(leaf.diverged ? detail::kDivergedTag : detail::kStepTag);
    writer.putBytes(leaf.order.view());
    writer.put(leaf.step);
    writer.putBytes(leaf.batch.view());
    writer.put(leaf.learningRateBits);
    if (leaf.diverged) {
        ASSAY_ASSERT(!leaf.divergedSite.empty() && leaf.divergedSite.size() <= kMaxSite);
        ASSAY_ASSERT(leaf.lossBits == 0 && leaf.logRoot == Digest{} && !leaf.stateRoot && !leaf.evaluationBits);
        writer.put(static_cast<std::uint16_t>(leaf.divergedSite.size()));
        writer.putText(leaf.divergedSite);
    } else {
        ASSAY_ASSERT(leaf.divergedSite.empty());
        writer.put(leaf.lossBits);
        writer.putBytes(leaf.logRoot.view());
        writer.put(static_cast<std::uint8_t>((leaf.stateRoot ? kHasStateRoot : 0) |
                                             (leaf.evaluationBits ? kHasEvaluation : 0)));
        if (leaf.stateRoot) {
            writer.putBytes(leaf.stateRoot->view());
        }
        if (leaf.evaluationBits) {
            writer.put(*leaf.evaluationBits);
        }
    }
    writer.putBytes(leaf.previous.view());
    return writer.take();
}

Result<LeafData> parseLeaf(ByteView bytes, std::uint64_t baseOffset) {
    ByteReader reader(bytes, baseOffset);
    // The two tags have different lengths; the shorter one decides.
    const bool diverged = bytes.size() >= detail::kDivergedTag.size() &&
                          base::asText(bytes.first(detail::kDivergedTag.size())) == detail::kDivergedTag;
    ASSAY_CHECK(reader.expectText(diverged ? detail::kDivergedTag : detail::kStepTag, "leaf tag"));
    ASSAY_TRY(leaf, getLeaf(reader, diverged));
    ASSAY_CHECK(reader.expectEnd("leaf"));
    return std::move(leaf);
}

Digest leafHash(ByteView leafBytes) {
    return merkle::leafHash(leafBytes);
}

Digest leafHash(const LeafData& leaf) {
    return merkle::leafHash(serialiseLeaf(leaf));
}

std::vector<std::string> differingParts(const LeafData& claimed, const LeafData& computed) {
    std::vector<std::string> parts;
    const auto note = [&](bool differs, std::string_view part) {
        if (differs) {
            parts.emplace_back(part);
        }
    };
    note(claimed.batch != computed.batch, "batch");
    note(claimed.learningRateBits != computed.learningRateBits, "learning_rate");
    note(claimed.lossBits != computed.lossBits, "loss");
    note(claimed.logRoot != computed.logRoot, "log_root");
    note(claimed.stateRoot != computed.stateRoot, "state_root");
    note(claimed.evaluationBits != computed.evaluationBits, "evaluation");
    note(claimed.order != computed.order || claimed.step != computed.step || claimed.previous != computed.previous ||
             claimed.diverged != computed.diverged || claimed.divergedSite != computed.divergedSite,
         "chain");
    return parts;
}

ByteVector serialiseStepRecord(const StepRecord& record) {
    const auto leaf = serialiseLeaf(record.leaf);
    ByteWriter writer;
    writer.put(static_cast<std::uint32_t>(leaf.size()));
    writer.putBytes(leaf);
    writer.put(record.logBytes);
    writer.putBytes(record.logSha256.view());
    writer.put(static_cast<std::uint32_t>(record.tensorRoots.size()));
    for (const auto& root : record.tensorRoots) {
        writer.putBytes(root.view());
    }
    return writer.take();
}

Result<StepRecord> parseStepRecord(ByteView bytes, std::uint64_t baseOffset) {
    ByteReader reader(bytes, baseOffset);
    ASSAY_TRY(leafSize, reader.get<std::uint32_t>("leaf length"));
    const auto leafAt = reader.offset();
    ASSAY_TRY(leafBytes, reader.getBytes(leafSize, "leaf"));
    StepRecord record;
    ASSAY_TRY(leaf, parseLeaf(leafBytes, leafAt));
    record.leaf = std::move(leaf);
    const auto logAt = reader.offset();
    ASSAY_TRY(logBytes, reader.get<std::uint64_t>("log length"));
    ASSAY_TRY(logSha256, getDigest(reader, "log digest"));
    record.logBytes = logBytes;
    record.logSha256 = logSha256;
    if ((logBytes == 0) != (record.leaf.step == 0 || record.leaf.diverged) ||
        (logBytes == 0 && logSha256 != Digest{})) {
        return failAt(fmt::format("log of {} bytes for this kind of leaf", logBytes), logAt);
    }
    const auto countAt = reader.offset();
    ASSAY_TRY(count, reader.get<std::uint32_t>("number of tensor roots"));
    if (count > kMaxTensorRoots || count > reader.remaining() / 32) {
        return failAt(fmt::format("{} tensor roots, but {} bytes follow", count, reader.remaining()), countAt);
    }
    if ((count != 0) && !record.leaf.stateRoot) {
        return failAt("tensor roots without a state root", countAt);
    }
    record.tensorRoots.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSAY_TRY(root, getDigest(reader, "tensor root"));
        record.tensorRoots.push_back(root);
    }
    ASSAY_CHECK(reader.expectEnd("step record"));
    return record;
}

} // namespace assay::format
