// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/audit_types.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QSpinBox;
class QStackedWidget;

namespace assay::ui {

class ActionButton;
class Actions;
class SegmentBar;
class Workbench;

/// Kernel, scope, planner; start, pause, cancel, resume; progress with what is left in steps and seconds.
class ReplayControls : public QWidget {
    Q_OBJECT

public:
    ReplayControls(Workbench* workbench, Actions* actions, QWidget* parent = nullptr);
    [[nodiscard]] ReplayRequest request() const;
    /// Takes over kernel and scope of an audit that was read back.
    void setRequest(const ReplayRequest& request);
    /// "Step 13 of 40, 27 left, 2.1 steps/s, about 13 s"; the words beside the bar.
    [[nodiscard]] static QString progressText(const RunProgress& progress);

private:
    [[nodiscard]] QWidget* makeScopeFields();
    void refreshKernels();
    void refreshScope();
    void refreshRun();
    void refreshKernelText();

    Workbench* m_workbench;
    Actions* m_actions;
    QComboBox* m_kernel = nullptr;
    QLineEdit* m_extra = nullptr;
    QLabel* m_kernelText = nullptr;
    SegmentBar* m_scope = nullptr;
    QStackedWidget* m_fields = nullptr;
    QSpinBox* m_first = nullptr;
    QSpinBox* m_last = nullptr;
    QSpinBox* m_segments = nullptr;
    QSpinBox* m_bad = nullptr;
    QLabel* m_plan = nullptr;
    QCheckBox* m_ignoreLog = nullptr;
    ActionButton* m_start = nullptr;
    ActionButton* m_pause = nullptr;
    ActionButton* m_resume = nullptr;
    ActionButton* m_cancel = nullptr;
    QProgressBar* m_bar = nullptr;
    QLabel* m_progress = nullptr;
    bool m_kernelChosen = false;
};

} // namespace assay::ui
