// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/program_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <QCoreApplication>
#include <QStringList>

#include "ui/models/number_text.h"

namespace assay::ui {

namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }

QString tr(const char* words) { return QCoreApplication::translate("Program", words); }

QString joined(const std::vector<std::string>& names) {
    QStringList out;
    for (const auto& name : names) {
        out << text(name);
    }
    return out.join(QStringLiteral(", "));
}

QString attributeText(const format::Attribute& value) {
    struct Visitor {
        QString operator()(std::int64_t v) const { return QString::number(static_cast<qlonglong>(v)); }
        QString operator()(float v) const { return shortDecimal(static_cast<double>(v)); }
        QString operator()(bool v) const { return v ? QStringLiteral("true") : QStringLiteral("false"); }
        QString operator()(const std::string& v) const { return text(v); }
        QString operator()(const std::vector<std::int64_t>& v) const { return shapeText(v); }
    };
    return std::visit(Visitor{}, value);
}

QString attributesText(const format::Operator& op) {
    QStringList out;
    for (const auto& [name, value] : op.attributes) {
        out << QStringLiteral("%1 = %2").arg(text(name), attributeText(value));
    }
    return out.join(QStringLiteral(", "));
}

/// "blocks.0.attn.qkv" -> "blocks.0"; "head" -> "".
QString groupOf(const QString& name) {
    const QStringList parts = name.split(u'.');
    for (qsizetype i = 1; i < parts.size(); ++i) {
        bool number = false;
        parts[i].toUInt(&number);
        if (number) {
            return parts.mid(0, i + 1).join(u'.');
        }
    }
    return {};
}

std::uint64_t valuesOf(const std::vector<std::int64_t>& shape) {
    std::uint64_t out = 1;
    for (const auto dim : shape) {
        out *= static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    }
    return out;
}

} // namespace

QString shapeText(const std::vector<std::int64_t>& shape) {
    QStringList out;
    for (const auto dim : shape) {
        out << QString::number(static_cast<qlonglong>(dim));
    }
    return u'[' + out.join(QStringLiteral(", ")) + u']';
}

bool isProductKind(std::string_view kind) { return kind == "linear" || kind == "conv2d" || kind == "matmul"; }

std::uint64_t parameterCount(const format::Program& program) {
    std::uint64_t out = 0;
    for (const auto& tensor : program.tensors) {
        out += tensor.role == "parameter" ? valuesOf(tensor.shape) : 0;
    }
    return out;
}

std::vector<GraphNode> graphOf(const format::Program& program) {
    std::vector<GraphNode> nodes;
    std::unordered_map<std::string, int> producer;
    for (const auto& tensor : program.batch) {
        GraphNode node;
        node.title = text(tensor.name);
        node.kind = QStringLiteral("batch");
        node.tooltip = tr("Batch tensor %1, %2").arg(text(tensor.dtype), shapeText(tensor.shape));
        producer[tensor.name] = static_cast<int>(nodes.size());
        nodes.push_back(std::move(node));
    }
    for (const auto& op : program.operators) {
        GraphNode node;
        node.title = text(op.name);
        node.kind = text(op.kind);
        node.group = groupOf(node.title);
        node.product = isProductKind(op.kind);
        node.tooltip = tr("%1 (%2)\ninputs: %3\noutputs: %4").arg(node.title, node.kind, joined(op.inputs), joined(op.outputs));
        if (const QString attributes = attributesText(op); !attributes.isEmpty()) {
            node.tooltip += u'\n' + attributes;
        }
        for (const auto& input : op.inputs) {
            if (const auto it = producer.find(input); it != producer.end() &&
                std::find(node.inputs.begin(), node.inputs.end(), it->second) == node.inputs.end()) {
                node.inputs.push_back(it->second);
                node.layer = std::max(node.layer, nodes[static_cast<std::size_t>(it->second)].layer + 1);
            }
        }
        for (const auto& output : op.outputs) {
            producer[output] = static_cast<int>(nodes.size());
        }
        nodes.push_back(std::move(node));
    }
    // Labels and targets belong beside their first use, not at the top.
    for (std::size_t i = 0; i < program.batch.size(); ++i) {
        int first = -1;
        for (const auto& node : nodes) {
            if (std::find(node.inputs.begin(), node.inputs.end(), static_cast<int>(i)) != node.inputs.end()) {
                first = first < 0 ? node.layer : std::min(first, node.layer);
            }
        }
        nodes[i].layer = std::max(0, first - 1);
    }
    std::map<int, std::vector<int>> taken; // occupied columns per layer
    for (auto& node : nodes) {
        int wanted = 0;
        if (!node.inputs.empty()) {
            wanted = static_cast<int>(nodes[static_cast<std::size_t>(node.inputs.front())].column);
        }
        auto& columns = taken[node.layer];
        const auto isFree = [&](int c) { return std::find(columns.begin(), columns.end(), c) == columns.end(); };
        int column = wanted;
        for (int shift = 1; !isFree(column); ++shift) {
            column = wanted + shift;
        }
        columns.push_back(column);
        node.column = column;
    }
    return nodes;
}

std::vector<TableRow> operatorRows(const format::Program& program) {
    std::vector<TableRow> rows;
    std::uint64_t number = 0;
    for (const auto& op : program.operators) {
        rows.push_back({{numberCell(number++), textCell(text(op.name), text(op.source)), textCell(text(op.kind)),
                         textCell(joined(op.inputs)), textCell(joined(op.outputs)), textCell(attributesText(op))},
                        {}});
    }
    return rows;
}

std::vector<TableRow> tensorRows(const format::Program& program) {
    std::vector<TableRow> rows;
    for (const auto& tensor : program.tensors) {
        rows.push_back({{textCell(text(tensor.name)), textCell(text(tensor.role)), textCell(shapeText(tensor.shape)),
                         numberCell(valuesOf(tensor.shape)), textCell(text(tensor.init))},
                        {}});
    }
    return rows;
}

} // namespace assay::ui
