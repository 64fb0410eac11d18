// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <QObject>

namespace assay::ui {

/// Which step the person looks at; strip, chart, map and tables follow it.
class Selection : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;
    [[nodiscard]] std::uint64_t step() const { return m_step; }
    void setStep(std::uint64_t step) {
        if (step != m_step) {
            m_step = step;
            Q_EMIT stepChanged(step);
        }
    }

Q_SIGNALS:
    void stepChanged(std::uint64_t step);

private:
    std::uint64_t m_step = 0;
};

} // namespace assay::ui
