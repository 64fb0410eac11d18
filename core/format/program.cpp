// SPDX-License-Identifier: Apache-2.0
#include "core/format/program.h"

#include <fmt/format.h>

#include "core/crypto/sha256.h"
#include "core/format/detail/object_reader.h"
#include "core/format/json.h"

namespace assay::format {

using base::ErrorCode;
using base::fail;
using base::Result;
using detail::ObjectReader;

namespace {

constexpr std::string_view kFormat = "assay/program/1";

JsonValue::Array toJson(const std::vector<std::string>& texts) {
    return {texts.begin(), texts.end()};
}

JsonValue batchToJson(const TensorSpec& tensor) {
    return JsonValue::Object{{"dtype", tensor.dtype},
                             {"name", tensor.name},
                             {"shape", JsonValue::Array(tensor.shape.begin(), tensor.shape.end())}};
}

JsonValue toJson(const TensorSpec& tensor) {
    return JsonValue::Object{{"dtype", tensor.dtype},
                             {"init", tensor.init},
                             {"name", tensor.name},
                             {"role", tensor.role},
                             {"shape", JsonValue::Array(tensor.shape.begin(), tensor.shape.end())}};
}

JsonValue toJson(const Operator& op) {
    JsonValue::Object attributes;
    for (const auto& [name, attribute] : op.attributes) {
        if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
            attributes.emplace(name, *integer);
        } else if (const auto* real = std::get_if<float>(&attribute)) {
            attributes.emplace(name + "_f32", detail::realToHex(*real));
        } else if (const auto* boolean = std::get_if<bool>(&attribute)) {
            attributes.emplace(name, *boolean);
        } else if (const auto* text = std::get_if<std::string>(&attribute)) {
            attributes.emplace(name, *text);
        } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
            attributes.emplace(name, JsonValue::Array(integers->begin(), integers->end()));
        }
    }
    return JsonValue::Object{
        {"attributes", std::move(attributes)}, {"inputs", toJson(op.inputs)}, {"kind", op.kind}, {"name", op.name},
        {"outputs", toJson(op.outputs)},       {"source", op.source}};
}

JsonValue toJson(const Program& program) {
    const auto list = [](const auto& items) {
        JsonValue::Array out;
        out.reserve(items.size());
        for (const auto& item : items) {
            out.push_back(toJson(item));
        }
        return out;
    };
    JsonValue::Array batch;
    for (const auto& tensor : program.batch) {
        batch.push_back(batchToJson(tensor));
    }
    return JsonValue::Object{
        {"batch", std::move(batch)}, {"format", std::string(kFormat)},       {"logits", program.logits},
        {"loss", program.loss},      {"operators", list(program.operators)}, {"tensors", list(program.tensors)},
        {"title", program.title}};
}

Result<void> readTensor(const JsonValue& value, std::string path, bool isBatch, TensorSpec& tensor) {
    ObjectReader reader(value, std::move(path));
    reader.text("dtype", tensor.dtype);
    reader.text("name", tensor.name);
    if (!isBatch) {
        reader.text("init", tensor.init);
        reader.text("role", tensor.role);
    }
    reader.integers("shape", tensor.shape);
    return reader.finish();
}

Result<void> readAttributes(const JsonValue& value, const std::string& path, std::map<std::string, Attribute>& out) {
    const auto* object = value.object();
    if (object == nullptr) {
        return base::failAt(fmt::format("{}: expected an object, found {}", path, value.typeName()), value.offset());
    }
    for (const auto& [key, item] : *object) {
        if (const auto* integer = item.integer()) {
            out[key] = *integer;
        } else if (const auto* boolean = item.boolean()) {
            out[key] = *boolean;
        } else if (const auto* text = item.text()) {
            if (!key.ends_with("_f32")) {
                out[key] = *text;
                continue;
            }
            const auto real = detail::realFromHex(*text);
            if (!real) {
                return base::failAt(fmt::format("{}.{}: expected 8 lower-case hex digits", path, key), item.offset());
            }
            out[key.substr(0, key.size() - 4)] = *real;
        } else if (const auto* array = item.array()) {
            std::vector<std::int64_t> integers;
            for (const auto& element : *array) {
                if (element.integer() == nullptr) {
                    return base::failAt(fmt::format("{}.{}: expected integers", path, key), element.offset());
                }
                integers.push_back(*element.integer());
            }
            out[key] = std::move(integers);
        } else {
            return base::failAt(fmt::format("{}.{}: an attribute cannot be an object", path, key), item.offset());
        }
    }
    return {};
}

Result<void> readOperator(const JsonValue& value, const std::string& path, Operator& op) {
    ObjectReader reader(value, path);
    if (const auto* attributes = reader.value("attributes")) {
        reader.adopt(readAttributes(*attributes, path + ".attributes", op.attributes));
    }
    reader.texts("inputs", op.inputs);
    reader.text("kind", op.kind);
    reader.text("name", op.name);
    reader.texts("outputs", op.outputs);
    reader.text("source", op.source);
    return reader.finish();
}

template <typename T>
Result<T> attributeOf(const Operator& op, std::string_view name, std::string_view type) {
    const auto found = op.attributes.find(std::string(name));
    const auto* value = found != op.attributes.end() ? std::get_if<T>(&found->second) : nullptr;
    if (value == nullptr) {
        return fail(ErrorCode::malformed,
                    fmt::format("operator {} ({}): attribute {} of type {} is missing", op.name, op.kind, name, type));
    }
    return *value;
}

} // namespace

Result<std::string> serialiseProgram(const Program& program) {
    ASSAY_CHECK(validateProgram(program));
    return writeJson(toJson(program)) + '\n';
}

Result<Program> parseProgram(base::ByteView bytes) {
    ASSAY_TRY(value, readJson(bytes, kMaxProgramBytes));
    Program program;
    ObjectReader reader(value, "");
    std::string format;
    reader.text("format", format);
    if (!reader.failed() && format != kFormat) {
        return base::failAt(fmt::format("format: expected {}, found \"{}\"", kFormat, format), value.offset());
    }
    const auto tensors = [&](std::string_view key, std::vector<TensorSpec>& out) {
        const auto& items = reader.array(key);
        for (std::size_t i = 0; i < items.size() && !reader.failed(); ++i) {
            reader.adopt(readTensor(items[i], fmt::format("{}.{}", key, i), key == "batch", out.emplace_back()));
        }
    };
    tensors("batch", program.batch);
    reader.text("logits", program.logits);
    reader.text("loss", program.loss);
    const auto& operators = reader.array("operators");
    for (std::size_t i = 0; i < operators.size() && !reader.failed(); ++i) {
        reader.adopt(readOperator(operators[i], fmt::format("operators.{}", i), program.operators.emplace_back()));
    }
    tensors("tensors", program.tensors);
    reader.text("title", program.title);
    ASSAY_CHECK(reader.finish());
    ASSAY_CHECK(validateProgram(program));
    return program;
}

base::Digest programDigest(const Program& program) {
    return crypto::sha256(base::asBytes(writeJson(toJson(program)) + '\n'));
}

Result<std::int64_t> integerAttribute(const Operator& op, std::string_view name) {
    return attributeOf<std::int64_t>(op, name, "integer");
}

Result<float> realAttribute(const Operator& op, std::string_view name) {
    return attributeOf<float>(op, name, "FP32");
}

Result<bool> booleanAttribute(const Operator& op, std::string_view name) {
    return attributeOf<bool>(op, name, "boolean");
}

Result<std::vector<std::int64_t>> integersAttribute(const Operator& op, std::string_view name) {
    return attributeOf<std::vector<std::int64_t>>(op, name, "list of integers");
}

} // namespace assay::format
