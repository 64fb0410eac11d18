// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verb_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/session.h"

namespace assay::cli {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

OptionSpec valueOption(std::string name, std::string placeholder, std::string help) {
    OptionSpec spec;
    spec.name = std::move(name);
    spec.placeholder = std::move(placeholder);
    spec.help = std::move(help);
    return spec;
}

template <typename Target>
OptionSpec integerOption(std::string name, std::string placeholder, std::string help, Target& target,
                         std::uint64_t smallest, std::uint64_t largest) {
    auto spec = valueOption(std::move(name), std::move(placeholder), std::move(help));
    spec.accept = [&target, smallest, largest](const std::string& value) -> Result<void> {
        ASSAY_TRY(number, parseInteger(value, smallest, largest));
        target = number;
        return {};
    };
    return spec;
}

} // namespace

VerbSpec& VerbSpec::verb(std::string name, std::string summary) {
    return m_verbs.emplace_back(std::move(name), std::move(summary));
}

VerbSpec& VerbSpec::example(std::string command, std::string what) {
    m_examples.push_back({std::move(command), std::move(what)});
    return *this;
}

OptionSpec& VerbSpec::option(OptionSpec spec) {
    return m_options.emplace_back(std::move(spec));
}

OptionSpec& VerbSpec::flag(std::string name, std::string help, bool& target) {
    auto spec = valueOption(std::move(name), {}, std::move(help));
    spec.kind = OptionSpec::Kind::flag;
    spec.accept = [&target](const std::string&) -> Result<void> {
        target = true;
        return {};
    };
    return option(std::move(spec));
}

OptionSpec& VerbSpec::text(std::string name, std::string placeholder, std::string help, std::string& target) {
    auto spec = valueOption(std::move(name), std::move(placeholder), std::move(help));
    spec.accept = [&target](const std::string& value) -> Result<void> {
        if (value.empty()) {
            return fail(ErrorCode::usage, "is empty");
        }
        target = value;
        return {};
    };
    return option(std::move(spec));
}

OptionSpec& VerbSpec::path(std::string name, std::string placeholder, std::string help, std::string& target) {
    auto& spec = text(std::move(name), std::move(placeholder), std::move(help), target);
    spec.isPath = true;
    return spec;
}

OptionSpec& VerbSpec::list(std::string name, std::string placeholder, std::string help,
                           std::vector<std::string>& target) {
    auto spec = valueOption(std::move(name), std::move(placeholder), std::move(help));
    spec.many = true;
    spec.accept = [&target](const std::string& value) -> Result<void> {
        target.push_back(value);
        return {};
    };
    return option(std::move(spec));
}

OptionSpec& VerbSpec::choice(std::string name, std::string placeholder, std::string help, std::string& target,
                             std::vector<std::string> values) {
    auto spec = valueOption(std::move(name), std::move(placeholder), std::move(help));
    spec.choices = values;
    spec.accept = [&target, values = std::move(values)](const std::string& value) -> Result<void> {
        if (std::find(values.begin(), values.end(), value) == values.end()) {
            const auto near = closestWord(value, values);
            return fail(ErrorCode::usage, fmt::format("is \"{}\", expected one of {}", value, fmt::join(values, ", ")),
                        near.empty() ? std::string() : fmt::format("did you mean {}?", near));
        }
        target = value;
        return {};
    };
    return option(std::move(spec));
}

OptionSpec& VerbSpec::integer(std::string name, std::string placeholder, std::string help, std::uint64_t& target,
                              std::uint64_t smallest, std::uint64_t largest) {
    return option(integerOption(std::move(name), std::move(placeholder), std::move(help), target, smallest, largest));
}

OptionSpec& VerbSpec::integer(std::string name, std::string placeholder, std::string help,
                              std::optional<std::uint64_t>& target, std::uint64_t smallest, std::uint64_t largest) {
    return option(integerOption(std::move(name), std::move(placeholder), std::move(help), target, smallest, largest));
}

OptionSpec& VerbSpec::real(std::string name, std::string placeholder, std::string help, std::optional<float>& target,
                           float smallest) {
    auto spec = valueOption(std::move(name), std::move(placeholder), std::move(help));
    spec.accept = [&target, smallest](const std::string& value) -> Result<void> {
        ASSAY_TRY(number, parseReal(value, smallest));
        target = number;
        return {};
    };
    return option(std::move(spec));
}

OptionSpec& VerbSpec::argument(std::string placeholder, std::string help, std::string& target) {
    auto& spec = text(placeholder, placeholder, std::move(help), target);
    spec.kind = OptionSpec::Kind::argument;
    spec.isPath = true;
    spec.required = true;
    return spec;
}

Result<std::uint64_t> parseInteger(std::string_view text, std::uint64_t smallest, std::uint64_t largest) {
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size() && value >= smallest && value <= largest) {
        return value;
    }
    const bool tooLarge = code == std::errc::result_out_of_range || (code == std::errc{} && value > largest);
    if (largest >= VerbSpec::kLargestInteger && !tooLarge) {
        return fail(ErrorCode::usage, fmt::format("is \"{}\", expected a whole number of at least {}", text, smallest));
    }
    return fail(ErrorCode::usage,
                fmt::format("is \"{}\", expected a whole number from {} to {}", text, smallest, largest));
}

Result<float> parseReal(std::string_view text, float smallest) {
    float value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value >= smallest) {
        return value == 0.0f ? 0.0f : value; // never -0
    }
    if (code == std::errc::result_out_of_range) {
        return fail(ErrorCode::usage,
                    fmt::format("is \"{}\", which is too large or too small for a 32-bit floating-point number", text));
    }
    return fail(ErrorCode::usage, fmt::format("is \"{}\", expected a number of at least {}", text, smallest));
}

std::string closestWord(std::string_view word, const std::vector<std::string>& known) {
    std::string best;
    std::size_t bestDistance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const auto& candidate : known) {
        // Edit distance where exchanging two neighbouring letters counts once: the usual slip of the fingers.
        std::vector<std::size_t> before(candidate.size() + 1);
        std::vector<std::size_t> last(candidate.size() + 1);
        std::vector<std::size_t> row(candidate.size() + 1);
        for (std::size_t j = 0; j <= candidate.size(); ++j) {
            last[j] = j;
        }
        for (std::size_t i = 1; i <= word.size(); ++i) {
            row[0] = i;
            for (std::size_t j = 1; j <= candidate.size(); ++j) {
                const bool same = word[i - 1] == candidate[j - 1];
                row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
                if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
                    row[j] = std::min(row[j], before[j - 2] + 1);
                }
            }
            before = last;
            last = row;
        }
        if (last[candidate.size()] < bestDistance && last[candidate.size()] < candidate.size()) {
            bestDistance = last[candidate.size()];
            best = candidate;
        }
    }
    return best;
}

std::string Session::commandWith(std::string_view extra) const {
    std::string text = "assay";
    bool there = extra.empty();
    for (const auto& argument : arguments) {
        text += " " + shellWord(argument);
        there = there || argument == extra;
    }
    return there ? text : text + " " + std::string(extra);
}

} // namespace assay::cli
