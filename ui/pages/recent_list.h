// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QListView>

#include "ui/models/audit_types.h"

namespace assay::ui {

/// Recent audits, newest first: verdict glyph and word, title, place, what was done. Enter or click opens.
class RecentList : public QListView {
    Q_OBJECT

public:
    explicit RecentList(QWidget* parent = nullptr);
    void setAudits(const std::vector<RecentAudit>& audits);

Q_SIGNALS:
    void chosen(std::int64_t id);
    void removeRequested(std::int64_t id);

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    class Model;
    class Delegate;
    Model* m_model = nullptr;
};

} // namespace assay::ui
