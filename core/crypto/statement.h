// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

/// in-toto Statement v1 (github.com/in-toto/attestation, spec/v1/statement.md).
namespace assay::crypto {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";

struct Subject {
    std::string name;
    std::map<std::string, std::string> digest; ///< algorithm -> lower-case hex
    bool operator==(const Subject&) const = default;
};

struct Statement {
    std::vector<Subject> subjects;
    std::string predicateType;
    std::string predicate; ///< JSON text of an object, with sorted members
    bool operator==(const Statement&) const = default;
};

/// Canonical JSON text: sorted members, no white space. `malformed` if the predicate is not a JSON object, or if the
/// statement breaks a rule of parseStatement.
[[nodiscard]] base::Result<std::string> serialiseStatement(const Statement& statement);
/// Strict: exactly the members of the specification, at most 16 MiB, 1 to 1024 subjects with different names, 1 to 16
/// digests each in lower-case hex. The order of members and white space are free, as other tools write them
/// differently.
[[nodiscard]] base::Result<Statement> parseStatement(std::string_view json);

} // namespace assay::crypto
