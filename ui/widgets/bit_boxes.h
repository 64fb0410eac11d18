// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include <QWidget>

namespace assay::ui {

/// Two FP32 values bit by bit: sign, exponent, mantissa. Differing bits are filled and carry a mark between the rows.
class BitBoxes : public QWidget {
    Q_OBJECT

public:
    explicit BitBoxes(QWidget* parent = nullptr);
    void setBits(std::optional<std::uint32_t> claimed, std::optional<std::uint32_t> computed);
    /// Bits in which the two differ, 0 where one is unknown.
    [[nodiscard]] std::uint32_t difference() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] int labelWidth() const;
    std::optional<std::uint32_t> m_claimed;
    std::optional<std::uint32_t> m_computed;
};

} // namespace assay::ui
