// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Reads members of the JSON object that a verb of the engine ends with. Absent or mistyped members are empty. Value
/// type.
class EngineResult {
public:
    explicit EngineResult(std::string_view json);
    [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
    [[nodiscard]] std::optional<std::uint64_t> integer(std::string_view name) const;
    [[nodiscard]] std::optional<double> number(std::string_view name) const;
    [[nodiscard]] bool flag(std::string_view name) const; ///< false where absent

    /// A member that is an object; empty object where absent.
    [[nodiscard]] EngineResult member(std::string_view name) const;

    struct Kernel {
        std::string name;
        bool supported = false;
        std::string reason;
    };
    [[nodiscard]] std::vector<Kernel> kernels() const; ///< result of the verb "kernels"

private:
    struct State;
    std::shared_ptr<const State> m_state;
};

/// The engine's result as one object of the command line: schema and version first. Precondition: `resultJson` is a
/// JSON object.
[[nodiscard]] std::string withSchema(std::string_view schema, std::string_view resultJson);

} // namespace assay::cli
