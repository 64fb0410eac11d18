// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/statement.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/crypto/strict_json.h"

namespace assay::crypto {

using base::ErrorCode;
using base::fail;
using base::Result;
using nlohmann::json;

namespace {

constexpr std::uint64_t kMaxStatementBytes = 16ull << 20;
constexpr std::size_t kMaxSubjects = 1024;
constexpr std::size_t kMaxName = 4096;

bool isLowerHex(std::string_view text) {
    return !text.empty() && text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

} // namespace

Result<std::string> serialiseStatement(const Statement& statement) {
    ASSAY_TRY(predicate, parseStrictJson(statement.predicate, kMaxStatementBytes));
    if (!predicate.is_object()) {
        return fail(ErrorCode::malformed, "the predicate is not a JSON object");
    }
    json subjects = json::array();
    for (const auto& subject : statement.subjects) {
        subjects.push_back({{"digest", subject.digest}, {"name", subject.name}});
    }
    const json object = {{"_type", kStatementType},
                         {"predicate", predicate},
                         {"predicateType", statement.predicateType},
                         {"subject", subjects}};
    ASSAY_TRY(text, dumpStrictJson(object));
    ASSAY_CHECK(parseStatement(text)); // whatever our own reader would refuse is not written
    return text;
}

Result<Statement> parseStatement(std::string_view text) {
    ASSAY_TRY(object, parseStrictJson(text, kMaxStatementBytes));
    ASSAY_CHECK(expectMembers(object, {"_type", "predicate", "predicateType", "subject"}, "statement"));
    if (object["_type"] != kStatementType) {
        return fail(ErrorCode::malformed, fmt::format("statement: expected the type {}", kStatementType));
    }
    Statement statement;
    ASSAY_TRY(type, stringMember(object, "predicateType", kMaxName));
    statement.predicateType = type;
    if (!object["predicate"].is_object()) {
        return fail(ErrorCode::malformed, "statement: the predicate is not a JSON object");
    }
    statement.predicate = object["predicate"].dump();
    const auto& subjects = object["subject"];
    std::set<std::string> names;
    if (!subjects.is_array() || subjects.empty() || subjects.size() > kMaxSubjects) {
        return fail(ErrorCode::malformed, fmt::format("statement: expected 1 to {} subjects", kMaxSubjects));
    }
    for (const auto& item : subjects) {
        ASSAY_CHECK(expectMembers(item, {"digest", "name"}, "subject"));
        Subject subject;
        ASSAY_TRY(name, stringMember(item, "name", kMaxName));
        subject.name = name;
        if (!names.insert(name).second) { // a reader that looks one up by name must not depend on the order
            return fail(ErrorCode::malformed, fmt::format("statement: two subjects are named {}", name.substr(0, 80)));
        }
        const auto& digest = item["digest"];
        if (!digest.is_object() || digest.empty() || digest.size() > 16) {
            return fail(ErrorCode::malformed, fmt::format("subject {}: expected 1 to 16 digests", subject.name));
        }
        for (const auto& [algorithm, value] : digest.items()) {
            if (!value.is_string() || !isLowerHex(value.get<std::string>())) {
                return fail(ErrorCode::malformed,
                            fmt::format("subject {}: a digest is not lower-case hex", subject.name));
            }
            subject.digest[algorithm] = value.get<std::string>();
        }
        statement.subjects.push_back(std::move(subject));
    }
    return statement;
}

} // namespace assay::crypto
