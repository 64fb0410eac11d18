// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/detail/patches.h"

#include <algorithm>
#include <cstring>

namespace assay::tensor::detail {
namespace {

/// One line of a patch matrix: out[i] = line[offset + i * step], 0 where that is outside 0 .. length-1.
void copyClipped(const float* line, std::uint64_t length, std::int64_t offset, std::uint64_t step, std::uint64_t count,
                 float* out) {
    const auto signedStep = static_cast<std::int64_t>(step);
    const auto signedCount = static_cast<std::int64_t>(count);
    const std::int64_t first = std::min(signedCount, offset >= 0 ? 0 : (-offset + signedStep - 1) / signedStep);
    const std::int64_t room = static_cast<std::int64_t>(length) - offset; // valid: i * step < room
    const std::int64_t last =
        std::max(first, std::min(signedCount, room <= 0 ? 0 : (room + signedStep - 1) / signedStep));
    std::fill(out, out + first, 0.0F);
    std::fill(out + last, out + signedCount, 0.0F);
    if (step == 1) {
        std::copy(line + offset + first, line + offset + last, out + first);
        return;
    }
    for (std::int64_t i = first; i < last; ++i) {
        out[i] = line[offset + i * signedStep];
    }
}

} // namespace

void ImagePatches::rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const {
    const ConvSizes& s = m_sizes;
    const float* image = m_x + item * s.channels * s.pixels();
    for (std::uint64_t k = k0; k < k1; ++k) {
        const std::uint64_t tap = k % s.taps();
        const float* plane = image + k / s.taps() * s.pixels();
        const auto i = static_cast<std::int64_t>(tap / s.kernelWidth) - static_cast<std::int64_t>(s.padding);
        const auto j = static_cast<std::int64_t>(tap % s.kernelWidth) - static_cast<std::int64_t>(s.padding);
        for (std::uint64_t row = 0; row < s.outHeight; ++row, out += s.outWidth) {
            const std::int64_t h = static_cast<std::int64_t>(row * s.stride) + i;
            if (h < 0 || h >= static_cast<std::int64_t>(s.height)) {
                std::fill_n(out, s.outWidth, 0.0F);
            } else {
                copyClipped(plane + static_cast<std::uint64_t>(h) * s.width, s.width, j, s.stride, s.outWidth, out);
            }
        }
    }
}

void PatchRows::rows(std::uint64_t, std::uint64_t k0, std::uint64_t k1, float* out) const {
    const ConvSizes& s = m_sizes;
    for (std::uint64_t k = k0; k < k1; ++k) {
        const float* image = m_x + k / s.outPixels() * s.channels * s.pixels();
        const std::uint64_t position = k % s.outPixels();
        const auto h0 =
            static_cast<std::int64_t>(position / s.outWidth * s.stride) - static_cast<std::int64_t>(s.padding);
        const auto w0 =
            static_cast<std::int64_t>(position % s.outWidth * s.stride) - static_cast<std::int64_t>(s.padding);
        const bool isInside =
            w0 >= 0 && w0 + static_cast<std::int64_t>(s.kernelWidth) <= static_cast<std::int64_t>(s.width);
        for (std::uint64_t c = 0; c < s.channels; ++c) {
            const float* plane = image + c * s.pixels();
            for (std::uint64_t i = 0; i < s.kernelHeight; ++i, out += s.kernelWidth) {
                const std::int64_t h = h0 + static_cast<std::int64_t>(i);
                if (h < 0 || h >= static_cast<std::int64_t>(s.height)) {
                    std::fill_n(out, s.kernelWidth, 0.0F);
                    continue;
                }
                const float* line = plane + static_cast<std::uint64_t>(h) * s.width;
                if (isInside) {
                    for (std::uint64_t j = 0; j < s.kernelWidth; ++j) {
                        out[j] = line[w0 + static_cast<std::int64_t>(j)];
                    }
                } else {
                    copyClipped(line, s.width, w0, 1, s.kernelWidth, out);
                }
            }
        }
    }
}

ConvPhase::ConvPhase(const ConvSizes& s, std::uint64_t phaseRow, std::uint64_t phaseColumn)
    : firstTapRow(phaseRow), firstTapColumn(phaseColumn) {
    const auto countFrom = [&](std::uint64_t first, std::uint64_t size) {
        return first < size ? (size - first - 1) / s.stride + 1 : 0;
    };
    // (h + padding) mod stride = phase.
    const auto firstPosition = [&](std::uint64_t phase) {
        return (phase + s.stride - s.padding % s.stride) % s.stride;
    };
    tapRows = countFrom(phaseRow, s.kernelHeight);
    tapColumns = countFrom(phaseColumn, s.kernelWidth);
    firstRow = firstPosition(phaseRow);
    firstColumn = firstPosition(phaseColumn);
    rows = countFrom(firstRow, s.height);
    columns = countFrom(firstColumn, s.width);
}

void GradientPatches::rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const {
    const ConvSizes& s = m_sizes;
    const ConvPhase& p = m_phase;
    const float* gradient = m_dy + item * s.filters * s.outPixels();
    const auto signedStride = static_cast<std::int64_t>(s.stride);
    const std::uint64_t taps = p.tapRows * p.tapColumns;
    for (std::uint64_t k = k0; k < k1; ++k) {
        const std::uint64_t tap = k % taps;
        const float* plane = gradient + k / taps * s.outPixels();
        const std::uint64_t i = p.firstTapRow + tap / p.tapColumns * s.stride;
        const std::uint64_t j = p.firstTapColumn + tap % p.tapColumns * s.stride;
        // Output position of (h', w') through tap (i, j): (first + padding - i) / stride + h', an exact division.
        const std::int64_t row0 = static_cast<std::int64_t>(p.firstRow + s.padding) - static_cast<std::int64_t>(i);
        const std::int64_t column0 =
            static_cast<std::int64_t>(p.firstColumn + s.padding) - static_cast<std::int64_t>(j);
        for (std::uint64_t h = 0; h < p.rows; ++h, out += p.columns) {
            const std::int64_t row = row0 / signedStride + static_cast<std::int64_t>(h);
            if (row < 0 || row >= static_cast<std::int64_t>(s.outHeight)) {
                std::fill_n(out, p.columns, 0.0F);
            } else {
                copyClipped(plane + static_cast<std::uint64_t>(row) * s.outWidth, s.outWidth, column0 / signedStride, 1,
                            p.columns, out);
            }
        }
    }
}

} // namespace assay::tensor::detail
