// SPDX-License-Identifier: Apache-2.0
#include "core/crypto/strict_json.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace assay::crypto {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::failAt;
using base::Result;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxValues = 1u << 20; // a tree of them takes some 100 MB at the very most

/// Checks depth, number of values and duplicate members on the token stream, before any tree is built.
class Scanner : public nlohmann::json_sax<json> {
public:
    Error error{ErrorCode::malformed, "malformed JSON", {}, std::nullopt, {}};

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }
    bool start_object(std::size_t) override { return open(); }
    bool key(string_t& name) override {
        if (!m_open.back().insert(name).second) {
            error.message = fmt::format("the member \"{}\" occurs twice", name.substr(0, 80));
            return false;
        }
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        error.message = "malformed JSON";
        error.offset = position > 0 ? position - 1 : 0;
        return false;
    }

private:
    bool count() {
        if (++m_values > kMaxValues) {
            error.message = fmt::format("JSON has more than {} values", kMaxValues);
            return false;
        }
        return true;
    }
    bool open() {
        m_open.emplace_back();
        if (m_open.size() > kMaxDepth) {
            error.message = fmt::format("JSON is nested deeper than {}", kMaxDepth);
            return false;
        }
        return count();
    }
    bool close() {
        m_open.pop_back();
        return true;
    }
    std::vector<std::set<std::string>> m_open; ///< member names of every open object; empty sets for arrays
    std::size_t m_values = 0;
};

} // namespace

Result<json> parseStrictJson(std::string_view text, std::uint64_t limit) {
    if (text.size() > limit) {
        return failAt(fmt::format("JSON text of {} bytes, at most {} are accepted here", text.size(), limit), limit);
    }
    // The JSON library takes a zero byte for the end of the text and skips a byte order mark: both would let bytes pass
    // unread.
    if (const auto at = text.find('\0'); at != std::string_view::npos) {
        return failAt("malformed JSON: zero byte", at);
    }
    if (text.starts_with("\xef\xbb\xbf")) {
        return failAt("malformed JSON: byte order mark", 0);
    }
    Scanner scanner;
    if (!json::sax_parse(text, &scanner)) {
        return fail(scanner.error);
    }
    auto value = json::parse(text, nullptr, false);
    if (value.is_discarded()) {
        return fail(ErrorCode::malformed, "malformed JSON");
    }
    return value;
}

Result<std::string> dumpStrictJson(const json& value) {
    try {
        return value.dump();
    } catch (const json::exception&) {
        return fail(ErrorCode::malformed, "a text is not UTF-8, so that JSON cannot hold it");
    }
}

Result<void> expectMembers(const json& value, std::initializer_list<std::string_view> names, std::string_view what) {
    if (!value.is_object()) {
        return fail(ErrorCode::malformed, fmt::format("{}: expected a JSON object", what));
    }
    for (const auto name : names) {
        if (!value.contains(name)) {
            return fail(ErrorCode::malformed, fmt::format("{}: the member \"{}\" is missing", what, name));
        }
    }
    for (const auto& [name, member] : value.items()) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            return fail(ErrorCode::malformed, fmt::format("{}: unknown member \"{}\"", what, name.substr(0, 80)));
        }
    }
    return {};
}

Result<std::string> stringMember(const json& object, const std::string& name, std::size_t limit) {
    const auto& value = object[name];
    if (!value.is_string()) {
        return fail(ErrorCode::malformed, fmt::format("\"{}\": expected a string", name));
    }
    auto text = value.get<std::string>();
    if (text.size() > limit) {
        return fail(ErrorCode::malformed,
                    fmt::format("\"{}\": {} characters, at most {} are accepted", name, text.size(), limit));
    }
    return text;
}

} // namespace assay::crypto
