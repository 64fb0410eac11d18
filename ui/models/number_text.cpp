// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/number_text.h"

#include <bit>
#include <cmath>

#include <QCoreApplication>
#include <QLocale>

namespace assay::ui {

namespace {

QString notFinite(double value) {
    if (std::isnan(value)) {
        return QStringLiteral("NaN");
    }
    return value > 0 ? QStringLiteral("+Inf") : QStringLiteral("-Inf");
}

std::int64_t keyOfBits(std::uint32_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFFFFFFu);
    return (bits >> 31) != 0 ? -magnitude : magnitude;
}

} // namespace

QString groupedNumber(std::uint64_t value) {
    QString text = QString::number(static_cast<qulonglong>(value));
    for (qsizetype at = text.size() - 3; at > 0; at -= 3) {
        text.insert(at, QChar(0x202F));
    }
    return text;
}

QString byteText(std::uint64_t bytes) {
    static const char* const units[] = {"B", "KB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < std::size(units)) {
        value /= 1000.0;
        ++unit;
    }
    const int digits = unit == 0 || value >= 99.95 ? 0 : 1;
    return QString::number(value, 'f', digits) + QChar(0xA0) + QLatin1String(units[unit]);
}

QString durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) {
        return QCoreApplication::translate("Numbers", "unknown");
    }
    if (seconds < 9.95) {
        return QStringLiteral("%1 s").arg(seconds, 0, 'f', 1);
    }
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole < 60) {
        return QStringLiteral("%1 s").arg(whole);
    }
    if (whole < 3600) {
        return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60, 2, 10, QChar(u'0'));
    }
    return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60, 2, 10, QChar(u'0'));
}

QString exactDecimal(double value) {
    return std::isfinite(value) ? QString::number(value, 'g', QLocale::FloatingPointShortest) : notFinite(value);
}

QString shortDecimal(double value) { return std::isfinite(value) ? QString::number(value, 'g', 5) : notFinite(value); }

QString floatDecimal(std::uint32_t bits) {
    const auto value = static_cast<double>(std::bit_cast<float>(bits));
    return std::isfinite(value) ? QString::number(value, 'g', 9) : notFinite(value);
}

QString floatHex(std::uint32_t bits) { return QStringLiteral("0x%1").arg(bits, 8, 16, QChar(u'0')); }

std::int64_t floatDistance(std::uint32_t from, std::uint32_t to) {
    const auto isNan = [](std::uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; };
    return isNan(from) || isNan(to) ? 0 : keyOfBits(to) - keyOfBits(from);
}

QString countText(std::uint64_t count, const QString& noun) {
    const QString ending = count == 1 ? QString() : QStringLiteral("s");
    return groupedNumber(count) + QChar(0xA0) + noun + ending;
}

QString shareText(double share) {
    if (!std::isfinite(share)) {
        return QCoreApplication::translate("Numbers", "unknown");
    }
    const double percent = share * 100.0;
    if (share < 1.0 && percent >= 99.95) {
        return QStringLiteral("> 99.9 %");
    }
    if (share > 0.0 && percent < 0.05) {
        return QStringLiteral("< 0.1 %");
    }
    return QStringLiteral("%1 %").arg(percent, 0, 'f', percent == std::floor(percent) ? 0 : 1);
}

} // namespace assay::ui
