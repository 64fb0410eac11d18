// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <QString>

namespace assay::ui {

/// 1234567 -> "1 234 567" with a narrow space, the same in every locale.
[[nodiscard]] QString groupedNumber(std::uint64_t value);
/// "412 B", "31.4 KB" (1 KB = 1,000 bytes).
[[nodiscard]] QString byteText(std::uint64_t bytes);
/// "0.4 s", "12 s", "3 min 20 s", "2 h 05 min"; "unknown" if negative or not finite.
[[nodiscard]] QString durationText(double seconds);
/// Shortest decimal that reads back as the same FP64; "NaN", "+Inf", "-Inf".
[[nodiscard]] QString exactDecimal(double value);
/// A few significant digits for reading, not for comparing.
[[nodiscard]] QString shortDecimal(double value);
/// Nine significant digits, enough to tell any two FP32 apart.
[[nodiscard]] QString floatDecimal(std::uint32_t bits);
/// "0x3f8ccccd".
[[nodiscard]] QString floatHex(std::uint32_t bits);
/// Number of FP32 values between two, with sign: how many rounding steps `to` lies above `from`. 0 if either is NaN.
[[nodiscard]] std::int64_t floatDistance(std::uint32_t from, std::uint32_t to);
/// "1 step", "12 steps": English plural of a regular noun.
[[nodiscard]] QString countText(std::uint64_t count, const QString& noun);
/// "99.2 %"; never rounds up to 100 % or down to 0 %.
[[nodiscard]] QString shareText(double share);

} // namespace assay::ui
