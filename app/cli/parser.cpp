// SPDX-License-Identifier: Apache-2.0
#include "app/cli/parser.h"

#include <algorithm>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/cli/help_text.h"
#include "app/cli/json_text.h"
#include "core/base/file.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// What CLI11 collected for one verb and the verbs below it.
struct Node {
    const VerbSpec* spec = nullptr;
    CLI::App* app = nullptr;
    std::string path; ///< "assay order new"
    std::map<const OptionSpec*, std::vector<std::string>> values;
    std::map<const OptionSpec*, std::string> arguments; ///< values of arguments that take just one
    std::map<const OptionSpec*, CLI::Option*> options;
    std::vector<std::unique_ptr<Node>> verbs;
};

std::unique_ptr<Node> attach(const VerbSpec& spec, CLI::App& app, std::string path) {
    auto node = std::make_unique<Node>();
    node->spec = &spec;
    node->app = &app;
    node->path = std::move(path);
    app.set_help_flag();
    app.allow_extras(); // reported by us, with a suggestion
    app.require_subcommand(0, 1);
    app.add_flag("-h,--help");
    for (const auto& option : spec.options()) {
        auto& values = node->values[&option];
        CLI::Option* added = nullptr;
        switch (option.kind) {
        case OptionSpec::Kind::flag:
            added = app.add_flag(option.name);
            break;
        case OptionSpec::Kind::value:
            added = app.add_option(option.name, values);
            added->allow_extra_args(option.many);
            break;
        case OptionSpec::Kind::argument:
            // A plain string takes one word, so that a second one is reported as unexpected.
            added = option.many ? app.add_option(option.name, values)
                                : app.add_option(option.name, node->arguments[&option]);
            break;
        }
        node->options[&option] = added;
    }
    for (const auto& verb : spec.verbs()) {
        auto* sub = app.add_subcommand(verb.name(), verb.summary());
        node->verbs.push_back(attach(verb, *sub, node->path + " " + verb.name()));
    }
    return node;
}

/// The deepest verb that was named.
const Node& chosen(const Node& node) {
    for (const auto& verb : node.verbs) {
        if (verb->app->parsed()) {
            return chosen(*verb);
        }
    }
    return node;
}

std::string seeHelp(const Node& node) {
    return fmt::format("{} --help", node.path);
}

Error usageError(std::string message, std::string remedy) {
    return Error{ErrorCode::usage, std::move(message), {}, std::nullopt, std::move(remedy)};
}

/// What CLI11 could not place: an unknown option, an unknown verb, or one argument too many.
Result<void> refuseExtras(const Node& root, const Node& node) {
    auto extras = root.app->remaining(true);
    if (extras.empty()) {
        return {};
    }
    const auto option =
        std::find_if(extras.begin(), extras.end(), [](const auto& text) { return text.size() > 1 && text[0] == '-'; });
    const std::string& extra = option != extras.end() ? *option : extras.front();
    if (option != extras.end()) {
        std::vector<std::string> known{"--help"};
        for (const auto& spec : node.spec->options()) {
            known.push_back(spec.name);
        }
        const auto name = extra.substr(0, extra.find('='));
        const auto near = closestWord(name, known);
        std::error_code code;
        if (name.starts_with("-") && base::fs::exists(name, code)) {
            return fail(usageError(fmt::format("there is no option {}", name),
                                   fmt::format("./{} for the file or folder of that name", name)));
        }
        return fail(
            usageError(fmt::format("there is no option {}", name),
                       near.empty() ? seeHelp(node) : fmt::format("{} (all options: {})", near, seeHelp(node))));
    }
    if (!node.spec->verbs().empty()) {
        std::vector<std::string> known;
        for (const auto& verb : node.spec->verbs()) {
            known.push_back(verb.name());
        }
        const auto near = closestWord(extra, known);
        return fail(usageError(fmt::format("there is no verb \"{}\"", extra),
                               near.empty() ? seeHelp(node)
                                            : fmt::format("{} {} (all verbs: {})", node.path, near, seeHelp(node))));
    }
    return fail(usageError(fmt::format("unexpected argument \"{}\"", extra), usageLine(*node.spec, node.path)));
}

/// "--steps --out DIR": the parser took the next option for a value.
Result<void> refuseSwallowed(const Node& node) {
    for (const auto& [spec, values] : node.values) {
        for (const auto& value : values) {
            const bool swallowed =
                std::any_of(node.spec->options().begin(), node.spec->options().end(), [&](const auto& other) {
                    return other.kind != OptionSpec::Kind::argument && other.name == value;
                });
            if (swallowed) {
                return fail(
                    usageError(fmt::format("{} needs a value, and {} follows it", spec->name, value), seeHelp(node)));
            }
        }
    }
    return {};
}

Result<void> applyValues(const Node& node) {
    for (const auto& spec : node.spec->options()) {
        const auto* option = node.options.at(&spec);
        if (option->count() == 0) {
            if (spec.required) {
                return fail(usageError(fmt::format("{} is missing ({})", spec.name, spec.help),
                                       usageLine(*node.spec, node.path)));
            }
            continue;
        }
        if (spec.kind == OptionSpec::Kind::flag) {
            ASSAY_CHECK(spec.accept({}));
            continue;
        }
        auto values = node.values.at(&spec);
        if (spec.kind == OptionSpec::Kind::argument && !spec.many) {
            values = {node.arguments.at(&spec)};
        }
        if (values.size() > 1 && !spec.many) {
            return fail(usageError(fmt::format("{} is given {} times", spec.name, values.size()), "give it once"));
        }
        for (const auto& value : values) {
            if (auto accepted = spec.accept(value); !accepted) {
                auto error = std::move(accepted).error();
                error.message = fmt::format("{} {}", spec.name, error.message);
                return fail(std::move(error));
            }
        }
    }
    return {};
}

std::string errorJson(const Error& error, std::string_view verb) {
    JsonObject inner;
    inner.add("code", base::toString(error.code)).add("message", error.message);
    error.file.empty() ? inner.raw("file", "null") : inner.add("file", error.file);
    inner.add("offset", error.offset);
    error.remedy.empty() ? inner.raw("remedy", "null") : inner.add("remedy", error.remedy);
    return JsonObject("assay.error").add("verb", verb).add("error", inner).text();
}

Result<int> parseAndRun(const VerbSpec& root, Session& session) {
    CLI::App app;
    const auto tree = attach(root, app, root.name());
    std::vector<std::string> reversed(session.arguments.rbegin(), session.arguments.rend());
    std::string trouble;
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        trouble = error.what();
    }
    const Node& node = chosen(*tree);
    session.verb = node.path.substr(std::min(node.path.size(), root.name().size() + 1));
    if (node.app->get_option("--help")->count() > 0 || app.get_option("--help")->count() > 0) {
        session.console.print(helpText(*node.spec, node.path));
        return 0;
    }
    ASSAY_CHECK(refuseSwallowed(node));
    ASSAY_CHECK(refuseExtras(*tree, node));
    if (!trouble.empty()) {
        const auto name = trouble.substr(0, trouble.find(':'));
        return fail(
            usageError(name.starts_with("--") ? fmt::format("{} needs a value", name) : trouble, seeHelp(node)));
    }
    if (!node.spec->run()) {
        std::fputs(helpText(*node.spec, node.path).c_str(), stderr);
        return fail(usageError("no verb given", seeHelp(node)));
    }
    ASSAY_CHECK(applyValues(node));
    return node.spec->run()(session);
}

} // namespace

int runCommandLine(const VerbSpec& root, Session& session) {
    // An error in the arguments may come before --json is read.
    session.json = std::find(session.arguments.begin(), session.arguments.end(), "--json") != session.arguments.end();
    const auto result = [&]() -> Result<int> {
        try {
            return parseAndRun(root, session);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::environment, "there is not enough memory",
                        "close other programs, or use a larger machine");
        } catch (const std::exception& error) {
            return fail(ErrorCode::internal, error.what(), "report this: it is a bug of Assay");
        }
    }();
    int code = 0;
    if (result) {
        code = *result;
    } else {
        session.console.error(result.error(), session.verb);
        if (session.json) {
            session.console.printLine(errorJson(result.error(), session.verb));
        }
        code = base::exitCodeFor(result.error().code);
    }
    if (const auto written = session.console.finish(); !written) {
        session.console.error(written.error(), session.verb);
        return base::exitCodeFor(written.error().code);
    }
    return code;
}

} // namespace assay::cli
