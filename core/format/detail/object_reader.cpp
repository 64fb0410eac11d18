// SPDX-License-Identifier: Apache-2.0
#include "core/format/detail/object_reader.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace assay::format::detail {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;

std::string realToHex(float value) {
    return fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value));
}

bool isLowerHex(std::string_view text, std::size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

std::optional<float> realFromHex(std::string_view text) {
    if (!isLowerHex(text, 8)) {
        return std::nullopt;
    }
    return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(std::string(text), nullptr, 16)));
}

ObjectReader::ObjectReader(const JsonValue& value, std::string path) : m_value(value), m_path(std::move(path)) {
    if (value.object() == nullptr) {
        m_error = Error{
            ErrorCode::malformed,
            fmt::format("{}: expected an object, found {}", m_path.empty() ? "the file" : m_path, value.typeName()),
            {},
            value.offset(),
            {}};
    }
}

std::string ObjectReader::pathOf(std::string_view key) const {
    return m_path.empty() ? std::string(key) : fmt::format("{}.{}", m_path, key);
}

void ObjectReader::reject(std::string_view key, const JsonValue& at, std::string_view expected) {
    if (!m_error) {
        m_error = Error{ErrorCode::malformed,
                        fmt::format("{}: expected {}, found {}", pathOf(key), expected, at.typeName()),
                        {},
                        at.offset(),
                        {}};
    }
}

void ObjectReader::adopt(Result<void> result) {
    if (!result && !m_error) {
        m_error = std::move(result).error();
    }
}

const JsonValue* ObjectReader::value(std::string_view key) {
    if (m_error) {
        return nullptr;
    }
    const auto& object = *m_value.object();
    const auto found = object.find(key);
    if (found == object.end()) {
        m_error = Error{ErrorCode::malformed, fmt::format("{}: missing", pathOf(key)), {}, m_value.offset(), {}};
        return nullptr;
    }
    m_seen.emplace_back(key);
    return &found->second;
}

void ObjectReader::text(std::string_view key, std::string& out) {
    if (const auto* item = value(key)) {
        if (const auto* found = item->text()) {
            out = *found;
        } else {
            reject(key, *item, "a string");
        }
    }
}

void ObjectReader::boolean(std::string_view key, bool& out) {
    if (const auto* item = value(key)) {
        if (const auto* found = item->boolean()) {
            out = *found;
        } else {
            reject(key, *item, "true or false");
        }
    }
}

void ObjectReader::integer(std::string_view key, std::int64_t& out) {
    if (const auto* item = value(key)) {
        if (const auto* found = item->integer()) {
            out = *found;
        } else {
            reject(key, *item, "an integer");
        }
    }
}

void ObjectReader::count(std::string_view key, std::uint64_t& out) {
    if (const auto* item = value(key)) {
        const auto* found = item->integer();
        if (found != nullptr && *found >= 0) {
            out = static_cast<std::uint64_t>(*found);
        } else {
            reject(key, *item, "an integer of 0 or more");
        }
    }
}

void ObjectReader::digest(std::string_view key, base::Digest& out) {
    if (const auto* item = value(key)) {
        const auto* found = item->text();
        if (found != nullptr && isLowerHex(*found, 64)) {
            out = *base::Digest::fromHex(*found);
        } else {
            reject(key, *item, "64 lower-case hex digits");
        }
    }
}

void ObjectReader::real(std::string_view key, float& out) {
    const auto full = fmt::format("{}_f32", key);
    if (const auto* item = value(full)) {
        const auto* found = item->text();
        const auto number = found != nullptr ? realFromHex(*found) : std::nullopt;
        if (number) {
            out = *number;
        } else {
            reject(full, *item, "8 lower-case hex digits (the bits of an FP32 value)");
        }
    }
}

const JsonValue::Array& ObjectReader::array(std::string_view key) {
    static const JsonValue::Array kNone;
    if (const auto* item = value(key)) {
        if (const auto* found = item->array()) {
            return *found;
        }
        reject(key, *item, "an array");
    }
    return kNone;
}

void ObjectReader::integers(std::string_view key, std::vector<std::int64_t>& out) {
    for (const auto& item : array(key)) {
        if (const auto* found = item.integer()) {
            out.push_back(*found);
        } else {
            reject(key, item, "integers");
        }
    }
}

void ObjectReader::texts(std::string_view key, std::vector<std::string>& out) {
    for (const auto& item : array(key)) {
        if (const auto* found = item.text()) {
            out.push_back(*found);
        } else {
            reject(key, item, "strings");
        }
    }
}

Result<void> ObjectReader::finish() {
    if (m_error) {
        return fail(*m_error);
    }
    std::sort(m_seen.begin(), m_seen.end());
    for (const auto& [key, item] : *m_value.object()) {
        if (!std::binary_search(m_seen.begin(), m_seen.end(), key)) {
            return base::failAt(fmt::format("{}: unknown field", pathOf(key)), item.offset());
        }
    }
    return {};
}

} // namespace assay::format::detail
