// SPDX-License-Identifier: Apache-2.0
#include "app/cli/help_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/console.h"

namespace assay::cli {

namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kLeft = 26; ///< where descriptions start
const std::string kLeftIndent(kLeft, ' ');

std::string leftSide(const OptionSpec& option) {
    std::string text = option.name;
    if (option.kind == OptionSpec::Kind::value) {
        text += " " + option.placeholder + (option.many ? "..." : "");
    }
    return text;
}

std::string describe(const OptionSpec& option) {
    std::string text = option.help;
    if (!option.choices.empty()) {
        text += fmt::format(": {}", fmt::join(option.choices, ", "));
    }
    if (!option.defaultText.empty()) {
        text += fmt::format(" [{}]", option.defaultText);
    }
    if (option.required && option.kind != OptionSpec::Kind::argument) {
        text += " (required)";
    }
    return text;
}

std::string entry(std::string_view left, std::string_view right) {
    std::string body = wrapText(right, kColumns, kLeftIndent);
    if (left.size() + 4 > kLeft) {
        return fmt::format("  {}\n{}", left, body);
    }
    return fmt::format("  {:<{}}{}", left, kLeft - 2, body.size() > kLeft ? body.substr(kLeft) : "\n");
}

std::string paragraphs(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        result += "\n" + wrapText(text.substr(0, end), kColumns, "");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

bool hasOptions(const VerbSpec& spec) {
    return std::any_of(spec.options().begin(), spec.options().end(),
                       [](const auto& option) { return option.kind != OptionSpec::Kind::argument; });
}

} // namespace

std::string usageLine(const VerbSpec& spec, std::string_view path) {
    std::string line(path);
    if (!spec.verbs().empty()) {
        line += " VERB";
    }
    for (const auto& option : spec.options()) {
        if (option.kind == OptionSpec::Kind::argument) {
            const auto name = option.placeholder + (option.many ? "..." : "");
            line += option.required ? " " + name : fmt::format(" [{}]", name);
        }
    }
    for (const auto& option : spec.options()) {
        if (option.kind != OptionSpec::Kind::argument && option.required) {
            line += " " + leftSide(option);
        }
    }
    return hasOptions(spec) ? line + " [options]" : line;
}

std::string helpText(const VerbSpec& spec, std::string_view path) {
    std::string text = wrapText(spec.summary(), kColumns, "") + fmt::format("\nUsage: {}\n", usageLine(spec, path));
    text += paragraphs(spec.aboutText());
    if (!spec.verbs().empty()) {
        text += "\nVerbs:\n";
        for (const auto& verb : spec.verbs()) {
            text += entry(verb.name(), verb.summary());
        }
    }
    const auto section = [&](const char* title, bool arguments) {
        std::string body;
        for (const auto& option : spec.options()) {
            if ((option.kind == OptionSpec::Kind::argument) == arguments) {
                body += entry(leftSide(option), describe(option));
            }
        }
        if (!arguments && spec.verbs().empty()) {
            body += entry("--help", "this text");
        }
        if (!body.empty()) {
            text += fmt::format("\n{}:\n{}", title, body);
        }
    };
    section("Arguments", true);
    section("Options", false);
    if (!spec.examples().empty()) {
        text += "\nExamples:\n";
        for (const auto& example : spec.examples()) {
            text += fmt::format("  {}\n      {}\n", example.command, example.what);
        }
    }
    if (!spec.verbs().empty()) {
        text += fmt::format("\nHelp on one verb: {} VERB --help\n", path);
    }
    return text;
}

namespace {

void completionCases(const VerbSpec& spec, const std::string& key, std::string& words, std::string& choices) {
    std::vector<std::string> list;
    for (const auto& verb : spec.verbs()) {
        list.push_back(verb.name());
    }
    for (const auto& option : spec.options()) {
        if (option.kind != OptionSpec::Kind::argument) {
            list.push_back(option.name);
        }
        if (!option.choices.empty()) {
            choices +=
                fmt::format("        '{} {}') words='{}' ;;\n", key, option.name, fmt::join(option.choices, " "));
        } else if (option.kind == OptionSpec::Kind::value) {
            choices += fmt::format("        '{} {}') words='' ;;\n", key, option.name);
        }
    }
    list.emplace_back("--help");
    words += fmt::format("        '{}') words='{}' ;;\n", key, fmt::join(list, " "));
    for (const auto& verb : spec.verbs()) {
        completionCases(verb, key.empty() ? verb.name() : key + " " + verb.name(), words, choices);
    }
}

std::string groupPattern(const VerbSpec& root) {
    std::vector<std::string> groups;
    for (const auto& verb : root.verbs()) {
        if (!verb.verbs().empty()) {
            groups.push_back(verb.name());
        }
    }
    return fmt::format("{}", fmt::join(groups, "|"));
}

std::string troff(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '\\') {
            safe += "\\e";
        } else if (c == '-') {
            safe += "\\-";
        } else {
            safe += c;
        }
    }
    return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

void manualVerbs(const VerbSpec& spec, const std::string& path, std::string& text) {
    if (spec.run()) {
        text += fmt::format(".SS {}\n{}\n", troff(usageLine(spec, path)), troff(spec.summary() + "."));
        std::string_view rest = spec.aboutText();
        while (!rest.empty()) {
            const auto end = std::min(rest.find('\n'), rest.size());
            text += fmt::format(".PP\n{}\n", troff(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        for (const auto& option : spec.options()) {
            text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", troff(leftSide(option)), troff(describe(option)));
        }
        for (const auto& example : spec.examples()) {
            text +=
                fmt::format(".PP\nExample, {}:\n.PP\n.nf\n    {}\n.fi\n", troff(example.what), troff(example.command));
        }
    }
    for (const auto& verb : spec.verbs()) {
        manualVerbs(verb, path + " " + verb.name(), text);
    }
}

} // namespace

std::string bashCompletion(const VerbSpec& root) {
    std::string words;
    std::string choices;
    completionCases(root, {}, words, choices);
    return fmt::format(R"(# Completion for assay; load it with: source <(assay completion bash)
_assay() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb='' words='' found=1
    if [ "$COMP_CWORD" -gt 1 ]; then
        verb=${{COMP_WORDS[1]}}
        case $verb in
        {}) [ "$COMP_CWORD" -gt 2 ] && verb="$verb ${{COMP_WORDS[2]}}" ;;
        esac
    fi
    case "$verb $previous" in
{}        *) found=0 ;;
    esac
    if [ "$found" -eq 0 ]; then
        case "$verb" in
{}        esac
        case $current in
        -*) ;;
        *) [ "$COMP_CWORD" -gt 1 ] && COMPREPLY=($(compgen -f -- "$current")) ;;
        esac
    elif [ -z "$words" ]; then
        COMPREPLY=($(compgen -f -- "$current"))
        return
    fi
    COMPREPLY+=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -F _assay assay
)",
                       groupPattern(root), choices, words);
}

std::string manualPage(const VerbSpec& root, std::string_view version) {
    std::string text = fmt::format(".TH ASSAY 1 \"\" \"assay {}\" \"User Commands\"\n.SH NAME\nassay \\- {}\n", version,
                                   troff(root.summary()));
    text += ".SH SYNOPSIS\n.B assay\n.I VERB\n[options]\n.SH DESCRIPTION\n";
    std::string_view rest = root.aboutText();
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        text += fmt::format("{}\n.PP\n", troff(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text += ".SH VERBS\n";
    manualVerbs(root, "assay", text);
    return text;
}

} // namespace assay::cli
