// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/input.h"
#include "app/cli/json_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/merkle/proof.h"
#include "core/merkle/tree.h"

namespace assay::cli {

using base::Digest;
using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::uint64_t kMaxLeafFile = 1ULL << 32;
constexpr std::uint64_t kMaxProofFile = 1ULL << 20;

/// Calls `each(line, number)` for every line; a last line without its newline counts, nothing after a final newline
/// does not.
template <typename Each>
Result<void> forEachLine(std::string_view text, Each each) {
    for (std::uint64_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        ASSAY_CHECK(each(line, number));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

Error inLine(Error error, const std::string& file, std::uint64_t number) {
    error.file = file;
    error.offset.reset();
    error.message = fmt::format("line {}: {}", number, error.message);
    return error;
}

Result<merkle::Tree> readTree(const std::string& file) {
    ASSAY_TRY(text, readInput(file, kMaxLeafFile));
    merkle::Tree tree;
    ASSAY_CHECK(forEachLine(text, [&](std::string_view line, std::uint64_t number) -> Result<void> {
        auto data = base::fromHex(line);
        if (!data) {
            auto error = std::move(data).error();
            if (error.offset) {
                error.message += fmt::format(" (column {})", *error.offset + 1);
            }
            error.remedy = "one leaf per line in hex digits, an empty line is an empty leaf";
            return fail(inLine(std::move(error), file, number));
        }
        tree.append(merkle::leafHash(*data));
        return {};
    }));
    return tree;
}

Digest rootOf(const merkle::Tree& tree) {
    return tree.size().value == 0 ? merkle::emptyRoot() : tree.root();
}

struct RootOptions {
    std::string file;
};

Result<int> runRoot(Session& session, const RootOptions& options) {
    ASSAY_TRY(tree, readTree(options.file));
    const auto root = rootOf(tree).toHex();
    if (session.json) {
        session.console.printLine(
            JsonObject("assay.merkle-root").add("size", tree.size().value).add("root", root).text());
    } else {
        session.console.printLine(root);
    }
    return 0;
}

struct ProveOptions {
    std::string file;
    std::uint64_t index = 0;
    std::optional<std::uint64_t> size;
};

Result<int> runProve(Session& session, const ProveOptions& options) {
    ASSAY_TRY(tree, readTree(options.file));
    const auto size = options.size.value_or(tree.size().value);
    if (size > tree.size().value || options.index >= size) {
        return fail(Error{ErrorCode::usage,
                          fmt::format("there is no leaf {} in a tree of the first {} leaves; the file has {}",
                                      options.index, size, tree.size().value),
                          options.file, std::nullopt, "indices start at 0"});
    }
    ASSAY_TRY(path, tree.inclusionProof(base::LeafIndex{options.index}, base::TreeSize{size}));
    if (!session.json) {
        for (const auto& hash : path) {
            session.console.printLine(hash.toHex());
        }
        return 0;
    }
    ASSAY_TRY(root, tree.root(base::TreeSize{size}));
    JsonArray hashes;
    for (const auto& hash : path) {
        hashes.add(hash.toHex());
    }
    session.console.printLine(JsonObject("assay.merkle-proof")
                                  .add("index", options.index)
                                  .add("size", size)
                                  .add("leaf_hash", tree.leaf(base::LeafIndex{options.index}).toHex())
                                  .add("root", root.toHex())
                                  .add("path", hashes)
                                  .text());
    return 0;
}

struct CheckOptions {
    std::string proof;
    std::optional<std::string> leaf;
    std::string leafHash;
    std::string root;
    std::optional<std::uint64_t> index;
    std::optional<std::uint64_t> size;
};

struct Proof {
    std::optional<std::uint64_t> index, size;
    std::optional<Digest> leafHash, root;
    std::vector<Digest> path;
};

Result<Proof> parseJsonProof(const std::string& text, const std::string& file) {
    const auto bad = [&](std::string message) {
        return fail(Error{ErrorCode::malformed, std::move(message), file, std::nullopt,
                          "the output of assay merkle prove --json, or one hash per line"});
    };
    // Flat by definition; the callback refuses deeper nesting before it can cost stack or memory.
    const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= 2; };
    const auto json = nlohmann::json::parse(text, shallow, false);
    if (!json.is_object()) {
        return bad("not a JSON object");
    }
    Proof proof;
    for (const auto& [key, value] : json.items()) {
        if (key == "index" || key == "size") {
            if (!value.is_number_unsigned()) {
                return bad(fmt::format("\"{}\" is not a whole number", key));
            }
            (key == "index" ? proof.index : proof.size) = value.get<std::uint64_t>();
        } else if (key == "leaf_hash" || key == "root") {
            const auto digest =
                value.is_string() ? Digest::fromHex(value.get<std::string>()) : fail(ErrorCode::malformed, "");
            if (!digest) {
                return bad(fmt::format("\"{}\" is not a hash of 64 hex digits", key));
            }
            (key == "root" ? proof.root : proof.leafHash) = *digest;
        } else if (key == "path") {
            for (const auto& item : value) {
                const auto digest =
                    item.is_string() ? Digest::fromHex(item.get<std::string>()) : fail(ErrorCode::malformed, "");
                if (!digest) {
                    return bad("\"path\" holds something that is not a hash of 64 hex digits");
                }
                proof.path.push_back(*digest);
            }
        }
    }
    return proof;
}

Result<Proof> readProof(const std::string& file) {
    ASSAY_TRY(text, readInput(file, kMaxProofFile));
    if (const auto start = text.find_first_not_of(" \t\r\n"); start != std::string::npos && text[start] == '{') {
        return parseJsonProof(text, file);
    }
    Proof proof;
    ASSAY_CHECK(forEachLine(text, [&](std::string_view line, std::uint64_t number) -> Result<void> {
        auto digest = Digest::fromHex(line);
        if (!digest) {
            return fail(inLine(std::move(digest).error(), file, number));
        }
        proof.path.push_back(*digest);
        return {};
    }));
    return proof;
}

Result<Digest> digestOption(std::string_view option, const std::string& text) {
    auto digest = Digest::fromHex(text);
    if (!digest) {
        return fail(ErrorCode::usage, fmt::format("{} is not a hash of 64 hex digits", option));
    }
    return *digest;
}

Result<int> runCheck(Session& session, const CheckOptions& options) {
    ASSAY_TRY(proof, readProof(options.proof));
    const bool rootFromFile = options.root.empty() && proof.root.has_value();
    if (!options.root.empty()) {
        ASSAY_TRY(root, digestOption("--root", options.root));
        proof.root = root;
    }
    if (options.leaf) {
        auto data = base::fromHex(*options.leaf);
        if (!data) {
            return fail(ErrorCode::usage, fmt::format("--leaf: {}", data.error().message));
        }
        proof.leafHash = merkle::leafHash(*data);
    }
    if (!options.leafHash.empty()) {
        if (options.leaf) {
            return fail(ErrorCode::usage, "--leaf and --leaf-hash are both given", "give one of them");
        }
        ASSAY_TRY(hash, digestOption("--leaf-hash", options.leafHash));
        proof.leafHash = hash;
    }
    proof.index = options.index ? options.index : proof.index;
    proof.size = options.size ? options.size : proof.size;
    const auto need = [](bool there, const char* what) -> Result<void> {
        return there ? Result<void>{}
                     : fail(ErrorCode::usage, fmt::format("{} is missing", what),
                            "give it as an option, or a JSON proof that holds it");
    };
    ASSAY_CHECK(need(proof.root.has_value(), "--root"));
    ASSAY_CHECK(need(proof.index.has_value(), "--index"));
    ASSAY_CHECK(need(proof.size.has_value(), "--size"));
    ASSAY_CHECK(need(proof.leafHash.has_value(), "--leaf or --leaf-hash"));
    const auto check = merkle::verifyInclusion(*proof.leafHash, base::LeafIndex{*proof.index},
                                               base::TreeSize{*proof.size}, proof.path, *proof.root);
    const bool valid = check == merkle::ProofCheck::valid;
    if (rootFromFile) {
        session.console.warn("the root is the proof's own; give the one that you trust with --root");
    }
    if (session.json) {
        session.console.printLine(JsonObject("assay.merkle-check")
                                      .add("valid", valid)
                                      .add("index", *proof.index)
                                      .add("size", *proof.size)
                                      .add("leaf_hash", proof.leafHash->toHex())
                                      .add("root", proof.root->toHex())
                                      .add("root_source", rootFromFile ? "proof" : "given")
                                      .text());
    } else if (valid) {
        session.console.printLine(fmt::format("{} leaf {} is in the tree of {} leaves with root {}",
                                              session.console.toned(Tone::good, "valid:"), *proof.index, *proof.size,
                                              proof.root->toHex()));
    } else {
        session.console.printLine(fmt::format("{} the path does not lead from this leaf at index {} of {} to root {}",
                                              session.console.toned(Tone::bad, "invalid:"), *proof.index, *proof.size,
                                              proof.root->toHex()));
    }
    return valid ? 0 : 1;
}

} // namespace

void addMerkle(VerbSpec& root, Session& session) {
    auto& group = root.verb("merkle", "RFC 9162 Merkle trees over a file of leaves");
    const std::string fileHelp = "leaves in hex, one per line; an empty line is an empty leaf; - reads standard input";
    {
        auto& verb = group.verb("root", "Print the root over all leaves");
        auto options = std::make_shared<RootOptions>();
        verb.argument("FILE", fileHelp, options->file);
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runRoot(s, *options); });
        verb.example("printf '00\\n\\n' | assay merkle root -", "two leaves: one zero byte, and an empty one");
    }
    {
        auto& verb = group.verb("prove", "Print the path that proves that a leaf is in the tree");
        verb.about("Prints one hash per line, from the leaf upwards; a tree of one leaf needs none.");
        auto options = std::make_shared<ProveOptions>();
        verb.argument("FILE", fileHelp, options->file);
        verb.integer("--index", "I", "position of the leaf, from 0", options->index).needed();
        verb.integer("--size", "N", "prove it in the tree of the first N leaves", options->size, 1).byDefault("all");
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runProve(s, *options); });
    }
    {
        auto& verb = group.verb("check", "Verify a path; exit code 0 if it is valid, 1 if not");
        auto options = std::make_shared<CheckOptions>();
        verb.argument("PROOF", "output of merkle prove, plain or --json; - reads standard input", options->proof);
        OptionSpec leaf;
        leaf.name = "--leaf";
        leaf.placeholder = "HEX";
        leaf.help = "the leaf's bytes; '' is the empty leaf";
        leaf.accept = [options](const std::string& value) -> Result<void> {
            options->leaf = value;
            return {};
        };
        verb.option(std::move(leaf));
        verb.text("--leaf-hash", "HEX", "the leaf's hash, instead of --leaf", options->leafHash);
        verb.text("--root", "HEX", "the root that you trust", options->root).byDefault("that of a JSON proof");
        verb.integer("--index", "I", "position of the leaf, from 0", options->index).byDefault("that of a JSON proof");
        verb.integer("--size", "N", "number of leaves of the tree", options->size).byDefault("that of a JSON proof");
        addJsonOption(verb, session);
        verb.action([options](Session& s) { return runCheck(s, *options); });
        verb.example("assay merkle prove leaves.txt --index 3 --json | assay merkle check - --root ROOT --leaf 0a0b",
                     "prove a leaf and check the proof");
    }
}

} // namespace assay::cli
