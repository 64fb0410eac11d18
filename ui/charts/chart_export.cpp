// SPDX-License-Identifier: GPL-3.0-or-later
#include <QBuffer>
#include <QCoreApplication>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "ui/charts/chart_source.h"
#include "ui/theme/theme.h"

namespace assay::ui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("ChartExport", text); }

} // namespace

QString exportChart(ChartSource& chart, const QString& path, int width, int height) {
    const QString ending = QFileInfo(path).suffix().toLower();
    const QRect rect(0, 0, width, height);
    const QColor paper = Theme::instance().colour(Colour::surface);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (ending == u"csv") {
        bytes = chart.chartCsv();
    } else if (ending == u"png") {
        QImage image(rect.size(), QImage::Format_RGB32);
        image.fill(paper);
        QPainter painter(&image);
        chart.paintChart(painter, rect);
        painter.end();
        image.save(&buffer, "PNG");
    } else if (ending == u"svg") {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize(rect.size());
        generator.setViewBox(rect);
        generator.setTitle(chart.chartTitle());
        QPainter painter(&generator);
        painter.fillRect(rect, paper);
        chart.paintChart(painter, rect);
    } else if (ending == u"pdf") {
        QPdfWriter writer(&buffer);
        writer.setResolution(96);
        writer.setTitle(chart.chartTitle());
        writer.setPageSize(QPageSize(QSizeF(width * 25.4 / 96.0, height * 25.4 / 96.0), QPageSize::Millimeter));
        writer.setPageMargins(QMarginsF());
        QPainter painter(&writer);
        painter.fillRect(rect, paper);
        chart.paintChart(painter, rect);
    } else {
        return tr("The ending .%1 is not known; use .png, .svg, .pdf or .csv").arg(ending);
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        return tr("%1 cannot be written: %2").arg(path, file.errorString());
    }
    return {};
}

} // namespace assay::ui
