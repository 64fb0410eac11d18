// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace assay::cli {

struct Session;

/// One option or argument as a person sees it. Help, completion, the manual page and the parser all read this.
struct OptionSpec {
    enum class Kind { flag, value, argument };

    Kind kind = Kind::value;
    std::string name;        ///< "--steps", or "ORDER" for an argument without a name
    std::string placeholder; ///< "N"; empty for flags
    std::string help;
    std::string defaultText; ///< shown in brackets; empty = nothing to show
    std::vector<std::string> choices;
    bool isPath = false;
    bool required = false;
    bool many = false; ///< takes several values
    /// Called once for each value (flags: with an empty text). Errors need not name the option; the parser does.
    std::function<base::Result<void>(const std::string& value)> accept;

    OptionSpec& byDefault(std::string text) { return defaultText = std::move(text), *this; }
    OptionSpec& needed() { return required = true, *this; }
    OptionSpec& choose(std::vector<std::string> values) { return choices = std::move(values), *this; }
};

/// A verb with its options, or a group of verbs. The targets that options write to must outlive the parse; verbs keep
/// them in a shared object that the action holds.
class VerbSpec {
public:
    using Action = std::function<base::Result<int>(Session&)>;
    struct Example {
        std::string command;
        std::string what;
    };

    VerbSpec(std::string name, std::string summary) : m_name(std::move(name)), m_summary(std::move(summary)) {}
    VerbSpec(const VerbSpec&) = delete;
    VerbSpec& operator=(const VerbSpec&) = delete;

    VerbSpec& verb(std::string name, std::string summary); ///< adds a verb below this one
    VerbSpec& about(std::string text) { return m_about = std::move(text), *this; }
    VerbSpec& example(std::string command, std::string what);
    /// Returns the exit code, or an error that becomes one.
    VerbSpec& action(Action run) { return m_action = std::move(run), *this; }

    OptionSpec& flag(std::string name, std::string help, bool& target);
    OptionSpec& text(std::string name, std::string placeholder, std::string help, std::string& target);
    OptionSpec& path(std::string name, std::string placeholder, std::string help, std::string& target);
    OptionSpec& list(std::string name, std::string placeholder, std::string help, std::vector<std::string>& target);
    OptionSpec& choice(std::string name, std::string placeholder, std::string help, std::string& target,
                       std::vector<std::string> values);
    /// Whole numbers smallest .. largest.
    OptionSpec& integer(std::string name, std::string placeholder, std::string help, std::uint64_t& target,
                        std::uint64_t smallest = 0, std::uint64_t largest = kLargestInteger);
    OptionSpec& integer(std::string name, std::string placeholder, std::string help,
                        std::optional<std::uint64_t>& target, std::uint64_t smallest = 0,
                        std::uint64_t largest = kLargestInteger);
    /// Finite FP32 numbers of at least `smallest`.
    OptionSpec& real(std::string name, std::string placeholder, std::string help, std::optional<float>& target,
                     float smallest);
    OptionSpec& argument(std::string placeholder, std::string help, std::string& target);
    OptionSpec& option(OptionSpec spec);

    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::string& summary() const { return m_summary; }
    [[nodiscard]] const std::string& aboutText() const { return m_about; }
    [[nodiscard]] const std::vector<Example>& examples() const { return m_examples; }
    [[nodiscard]] const std::list<OptionSpec>& options() const { return m_options; }
    [[nodiscard]] const std::list<VerbSpec>& verbs() const { return m_verbs; }
    [[nodiscard]] const Action& run() const { return m_action; }

    static constexpr std::uint64_t kLargestInteger = (1ULL << 53) - 1; ///< what an order can hold

private:
    std::string m_name;
    std::string m_summary;
    std::string m_about;
    std::vector<Example> m_examples;
    std::list<OptionSpec> m_options; ///< lists: references stay valid
    std::list<VerbSpec> m_verbs;
    Action m_action;
};

/// Decimal digits only. `usage` names what was expected.
[[nodiscard]] base::Result<std::uint64_t> parseInteger(std::string_view text, std::uint64_t smallest,
                                                       std::uint64_t largest);
/// A finite decimal number, correctly rounded to FP32.
[[nodiscard]] base::Result<float> parseReal(std::string_view text, float smallest);
/// The word of `known` that is most like `word`; empty if none is near.
[[nodiscard]] std::string closestWord(std::string_view word, const std::vector<std::string>& known);

} // namespace assay::cli
