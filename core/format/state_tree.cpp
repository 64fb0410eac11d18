// SPDX-License-Identifier: Apache-2.0
#include "core/format/state_tree.h"

#include <algorithm>
#include <numeric>

#include "core/base/assert.h"
#include "core/crypto/sha256.h"
#include "core/format/detail/tags.h"
#include "core/merkle/tree.h"

namespace assay::format {

using base::ByteVector;
using base::ByteView;
using base::ByteWriter;
using base::Digest;

namespace {

/// What goes before the data of a leaf: the RFC 9162 leaf prefix and the type tag.
ByteVector leafPrefix(std::string_view tag) {
    ByteWriter writer;
    writer.put(std::uint8_t{0});
    writer.putText(tag);
    return writer.take();
}

Digest chunkRoot(ByteView bytes, unsigned threads) {
    static const auto prefix = leafPrefix(detail::kChunkTag);
    return merkle::rootOf(crypto::hashChunks(bytes, kChunkBytes, prefix, threads));
}

std::vector<std::size_t> nameOrder(std::span<const TensorView> tensors) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return tensors[a].name < tensors[b].name; });
    for (std::size_t i = 1; i < order.size(); ++i) {
        ASSAY_ASSERT(tensors[order[i - 1]].name != tensors[order[i]].name);
    }
    return order;
}

void putText(ByteWriter& writer, std::string_view text) {
    writer.put(static_cast<std::uint32_t>(text.size()));
    writer.putText(text);
}

} // namespace

Digest tensorRoot(ByteView bytes) {
    return chunkRoot(bytes, 1);
}

Digest tensorLeaf(const std::string& name, const std::string& dtype, std::span<const std::int64_t> shape,
                  std::uint64_t byteLength, const Digest& root) {
    ByteWriter writer;
    writer.putText(detail::kTensorTag);
    putText(writer, name);
    putText(writer, dtype);
    writer.put(static_cast<std::uint32_t>(shape.size()));
    for (const auto size : shape) {
        writer.put(static_cast<std::uint64_t>(size));
    }
    writer.put(byteLength);
    writer.putBytes(root.view());
    return merkle::leafHash(writer.bytes());
}

Digest stateRootFrom(std::span<const TensorView> tensors, std::span<const Digest> tensorRoots) {
    ASSAY_ASSERT(tensors.size() == tensorRoots.size());
    const auto order = nameOrder(tensors);
    std::vector<Digest> leaves;
    leaves.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& tensor = tensors[order[i]];
        leaves.push_back(tensorLeaf(tensor.name, tensor.dtype, tensor.shape, tensor.bytes.size(), tensorRoots[i]));
    }
    return merkle::rootOf(leaves);
}

StateCommitment commitState(std::span<const TensorView> tensors, unsigned threads) {
    StateCommitment result;
    for (const auto index : nameOrder(tensors)) {
        result.tensorRoots.push_back(chunkRoot(tensors[index].bytes, threads));
    }
    result.root = stateRootFrom(tensors, result.tensorRoots);
    return result;
}

Digest logRoot(std::span<const ByteView> sections) {
    const auto prefix = leafPrefix(detail::kLogTag);
    crypto::Sha256 hash;
    std::vector<Digest> leaves;
    leaves.reserve(sections.size());
    for (const auto section : sections) {
        hash.update(prefix);
        hash.update(section);
        leaves.push_back(hash.finish());
    }
    return merkle::rootOf(leaves);
}

Digest batchDigest(std::span<const std::uint64_t> indices, std::span<const Digest> sampleDigests) {
    ASSAY_ASSERT(indices.size() == sampleDigests.size());
    ByteWriter writer;
    writer.putText(detail::kBatchTag);
    writer.put(static_cast<std::uint64_t>(indices.size()));
    for (std::size_t i = 0; i < indices.size(); ++i) {
        writer.put(indices[i]);
        writer.putBytes(sampleDigests[i].view());
    }
    return crypto::sha256(writer.bytes());
}

} // namespace assay::format
