// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "ui/models/submission_summary.h"

namespace assay::ui {

/// A look at samples: pictures in a wrapping row, texts as lines.
class SampleGallery : public QWidget {
    Q_OBJECT

public:
    explicit SampleGallery(QWidget* parent = nullptr);
    void setSamples(std::vector<SampleLook> samples);
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override { return {480, heightForWidth(480)}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] int columns(int width) const;
    [[nodiscard]] int textLines(const SampleLook& sample, int width) const;
    [[nodiscard]] int textHeight(const SampleLook& sample, int width) const;
    [[nodiscard]] bool areImages() const { return !m_samples.empty() && !m_samples.front().image.isNull(); }
    std::vector<SampleLook> m_samples;
};

} // namespace assay::ui
