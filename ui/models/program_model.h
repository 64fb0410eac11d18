// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

#include "core/format/program.h"
#include "ui/models/table_model.h"

namespace assay::ui {

/// One box of the operator graph: a batch tensor, an operator or the loss.
struct GraphNode {
    QString title; ///< module path
    QString kind;  ///< operator kind, "batch" or "loss"
    QString group; ///< module that the box belongs to ("blocks.0"), empty for none
    QString tooltip;
    bool product = false;       ///< its roundings are logged
    std::vector<int> inputs;    ///< indices of earlier nodes
    int layer = 0;              ///< longest path from an input
    double column = 0;          ///< horizontal position in units of one box
};

/// Nodes in program order with layers and columns assigned. Linear in operators and edges.
[[nodiscard]] std::vector<GraphNode> graphOf(const format::Program& program);
/// The operator list as table rows: number, name, kind, inputs, outputs, attributes.
[[nodiscard]] std::vector<TableRow> operatorRows(const format::Program& program);
/// Parameters and buffers as table rows: name, role, shape, values, initialiser.
[[nodiscard]] std::vector<TableRow> tensorRows(const format::Program& program);
/// Values of all parameters together.
[[nodiscard]] std::uint64_t parameterCount(const format::Program& program);
/// "[384, 128]".
[[nodiscard]] QString shapeText(const std::vector<std::int64_t>& shape);
/// True for the operators whose products run in vendor libraries and whose rounding decisions are logged.
[[nodiscard]] bool isProductKind(std::string_view kind);

} // namespace assay::ui
