// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace assay::app {

/// The one JSON object that tells the engine what to do. Option names are those of the command line's long options with
/// '_' for '-'. Getters answer `usage` where a value has another type than it should.
class Request {
public:
    static constexpr std::size_t kMaxBytes = 1 << 20;
    /// `usage` with the offset for anything but one flat JSON object with a `verb`.
    [[nodiscard]] static base::Result<Request> parse(std::string_view line);

    Request(Request&&) noexcept;
    Request& operator=(Request&&) noexcept;
    ~Request();

    [[nodiscard]] const std::string& verb() const;
    [[nodiscard]] base::Result<std::string> text(std::string_view name) const; ///< empty where absent
    [[nodiscard]] base::Result<std::string> requiredText(std::string_view name) const;
    /// A number, or a text with one.
    [[nodiscard]] base::Result<std::optional<std::uint64_t>> number(std::string_view name) const;
    [[nodiscard]] base::Result<bool> flag(std::string_view name) const; ///< false where absent

private:
    struct State;
    explicit Request(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::app
