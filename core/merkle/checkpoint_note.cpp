// SPDX-License-Identifier: Apache-2.0
#include "core/merkle/checkpoint_note.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/crypto/sha256.h"
#include "core/crypto/utf8.h"

namespace assay::merkle {

using base::ErrorCode;
using base::fail;
using base::failAt;
using base::Result;

namespace {

constexpr std::size_t kMaxNote = 128 << 10; // 16 post-quantum signatures of witnesses fit
constexpr std::size_t kMaxSignatures = 16;
constexpr std::uint8_t kEd25519Type = 0x01;
constexpr std::string_view kDash = "\xe2\x80\x94 "; // em dash and space start a signature line

/// First 4 bytes of SHA-256(name, newline, type, key): tells keys of one name apart.
std::array<std::uint8_t, 4> keyHash(std::string_view name, const crypto::PublicKey& key) {
    base::ByteWriter writer;
    writer.putText(name);
    writer.put(static_cast<std::uint8_t>('\n'));
    writer.put(kEd25519Type);
    writer.putBytes(key.bytes());
    const auto digest = crypto::sha256(writer.bytes());
    return {digest.bytes[0], digest.bytes[1], digest.bytes[2], digest.bytes[3]};
}

/// The Unicode spaces beyond ASCII, in UTF-8: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F,
/// U+3000.
bool hasUnicodeSpace(std::string_view name) {
    constexpr std::array<std::string_view, 8> kSpaces = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
                                                         "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
                                                         "\xe2\x81\x9f", "\xe3\x80\x80"};
    for (const auto space : kSpaces) {
        if (name.find(space) != std::string_view::npos) {
            return true;
        }
    }
    for (auto at = name.find("\xe2\x80"); at != std::string_view::npos; at = name.find("\xe2\x80", at + 1)) {
        if (at + 2 < name.size() && static_cast<unsigned char>(name[at + 2]) <= 0x8a) {
            return true;
        }
    }
    return false;
}

bool isKeyName(std::string_view name) {
    return !name.empty() && crypto::isUtf8(name) && !hasUnicodeSpace(name) &&
           std::none_of(name.begin(), name.end(),
                        [](char c) { return c == '+' || (static_cast<unsigned char>(c) <= ' ') || c == 0x7f; });
}

/// Notes hold no control characters but newlines.
bool isNoteText(std::string_view text) {
    return crypto::isUtf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < ' ' && c != '\n';
           });
}

/// Cuts one line off the front of `rest`; malformed where no newline is left.
Result<std::string_view> takeLine(std::string_view& rest, std::string_view whole, std::string_view what) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) {
        return failAt(fmt::format("checkpoint: the line with {} does not end", what), whole.size() - rest.size());
    }
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
}

} // namespace

std::string checkpointBody(const Checkpoint& checkpoint) {
    return fmt::format("{}\n{}\n{}\n", checkpoint.origin, checkpoint.size.value, base::toBase64(checkpoint.root.bytes));
}

Result<std::string> signCheckpoint(const Checkpoint& checkpoint, const std::string& keyName,
                                   const crypto::PrivateKey& key) {
    if (!isKeyName(keyName)) {
        return fail(ErrorCode::usage, "a key name may hold neither white space nor '+'");
    }
    if (checkpoint.origin.empty() || !isNoteText(checkpoint.origin) ||
        checkpoint.origin.find('\n') != std::string::npos) {
        return fail(ErrorCode::usage, "the origin of a checkpoint is one line of UTF-8 that is not empty");
    }
    const auto body = checkpointBody(checkpoint);
    ASSAY_TRY(publicKey, key.publicKey());
    ASSAY_TRY(signature, key.sign(base::asBytes(body)));
    const auto hash = keyHash(keyName, publicKey);
    base::ByteVector bytes(hash.begin(), hash.end());
    bytes.insert(bytes.end(), signature.begin(), signature.end());
    return fmt::format("{}\n{}{} {}\n", body, kDash, keyName, base::toBase64(bytes));
}

Result<SignedCheckpoint> parseCheckpoint(std::string_view note) {
    if (note.size() > kMaxNote) {
        return failAt(fmt::format("checkpoint of {} bytes, at most {} are accepted", note.size(), kMaxNote), kMaxNote);
    }
    if (!isNoteText(note)) {
        return fail(ErrorCode::malformed, "checkpoint: not UTF-8 text without control characters");
    }
    SignedCheckpoint parsed;
    std::string_view rest = note;
    ASSAY_TRY(origin, takeLine(rest, note, "the origin"));
    if (origin.empty()) {
        return failAt("checkpoint: the origin is empty", 0);
    }
    parsed.checkpoint.origin = origin;
    const auto sizeAt = note.size() - rest.size();
    ASSAY_TRY(size, takeLine(rest, note, "the size"));
    const auto [end, code] = std::from_chars(size.data(), size.data() + size.size(), parsed.checkpoint.size.value);
    if (code != std::errc{} || end != size.data() + size.size() || (size.size() > 1 && size[0] == '0')) {
        return failAt("checkpoint: the size is not a decimal number without leading zeros", sizeAt);
    }
    const auto rootAt = note.size() - rest.size();
    ASSAY_TRY(root, takeLine(rest, note, "the root"));
    const auto rootBytes = base::fromBase64(root);
    if (!rootBytes || rootBytes->size() != 32) {
        return failAt("checkpoint: the root is not base64 of 32 bytes", rootAt);
    }
    parsed.checkpoint.root = base::Digest::fromBytes(*rootBytes).value();
    parsed.body = note.substr(0, note.size() - rest.size());
    if (rest.empty()) {
        return parsed;
    }
    if (rest.front() != '\n') {
        return failAt("checkpoint: extension lines are not used here; expected an empty line",
                      note.size() - rest.size());
    }
    rest.remove_prefix(1);
    if (rest.empty()) {
        return failAt("checkpoint: no signature after the empty line", note.size());
    }
    while (!rest.empty()) {
        const auto at = note.size() - rest.size();
        ASSAY_TRY(line, takeLine(rest, note, "a signature"));
        const auto space = line.find(' ', kDash.size());
        if (!line.starts_with(kDash) || space == std::string_view::npos) {
            return failAt("checkpoint: expected a signature line", at);
        }
        NoteSignature signature;
        signature.keyName = line.substr(kDash.size(), space - kDash.size());
        auto bytes = base::fromBase64(line.substr(space + 1));
        if (!isKeyName(signature.keyName) || !bytes || bytes->size() < 5) {
            return failAt("checkpoint: malformed signature line", at);
        }
        signature.bytes = std::move(*bytes);
        parsed.signatures.push_back(std::move(signature));
        if (parsed.signatures.size() > kMaxSignatures) {
            return failAt(fmt::format("checkpoint: more than {} signatures", kMaxSignatures), at);
        }
    }
    return parsed;
}

crypto::SignatureCheck verifyCheckpoint(const SignedCheckpoint& note, const std::string& keyName,
                                        const crypto::PublicKey& key) {
    const auto hash = keyHash(keyName, key);
    auto check = crypto::SignatureCheck::notChecked;
    for (const auto& signature : note.signatures) {
        if (signature.keyName != keyName || signature.bytes.size() < hash.size() ||
            !std::equal(hash.begin(), hash.end(), signature.bytes.begin())) {
            continue;
        }
        check = key.verify(base::asBytes(note.body), base::ByteView(signature.bytes).subspan(hash.size()));
        if (check != crypto::SignatureCheck::valid) {
            return check; // one bad signature under a known key spoils the note
        }
    }
    return check;
}

} // namespace assay::merkle
