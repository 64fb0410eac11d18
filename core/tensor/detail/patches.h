// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/product.h"

namespace assay::tensor::detail {

/// Sizes of conv2d: x[N, C, H, W], weight[O, C, kh, kw], padding on all sides.
struct ConvSizes {
    std::uint64_t batch, channels, height, width;
    std::uint64_t filters, kernelHeight, kernelWidth;
    std::uint64_t stride, padding;
    std::uint64_t outHeight, outWidth;

    [[nodiscard]] std::uint64_t taps() const { return kernelHeight * kernelWidth; }
    [[nodiscard]] std::uint64_t pixels() const { return height * width; }
    [[nodiscard]] std::uint64_t outPixels() const { return outHeight * outWidth; }
};

/// The right operand of the forward product, per image: [C kh kw, outPixels], row (c, i, j) holds what tap (i, j) of
/// channel c sees at each output position, 0 outside the image.
class ImagePatches final : public RowSource {
public:
    ImagePatches(const ConvSizes& sizes, const float* x) : m_sizes(sizes), m_x(x) {}
    void rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const override;

private:
    ConvSizes m_sizes;
    const float* m_x;
};

/// The right operand of dW, one item: [N outPixels, C kh kw], row (n, position) holds the patch of that output
/// position.
class PatchRows final : public RowSource {
public:
    PatchRows(const ConvSizes& sizes, const float* x) : m_sizes(sizes), m_x(x) {}
    void rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const override;

private:
    ConvSizes m_sizes;
    const float* m_x;
};

/// One phase of dX: the input positions whose (padded) row and column have the remainders phaseRow and phaseColumn
/// modulo the stride. Exactly the taps with the same remainders reach them.
struct ConvPhase {
    ConvPhase(const ConvSizes& sizes, std::uint64_t phaseRow, std::uint64_t phaseColumn);

    std::uint64_t firstTapRow, firstTapColumn; ///< tap (i, j) = first + stride * (i', j')
    std::uint64_t tapRows, tapColumns;         ///< number of i' and j'
    std::uint64_t firstRow, firstColumn;       ///< position (h, w) = first + stride * (h', w')
    std::uint64_t rows, columns;               ///< number of h' and w'

    [[nodiscard]] bool isEmpty() const { return tapRows * tapColumns * rows * columns == 0; }
};

/// The right operand of one phase, per image: [O tapRows tapColumns, rows columns], row (o, i', j') holds the output
/// gradient that reaches position (h', w') through that tap, 0 where there is none.
class GradientPatches final : public RowSource {
public:
    GradientPatches(const ConvSizes& sizes, const ConvPhase& phase, const float* dy)
        : m_sizes(sizes), m_phase(phase), m_dy(dy) {}
    void rows(std::uint64_t item, std::uint64_t k0, std::uint64_t k1, float* out) const override;

private:
    ConvSizes m_sizes;
    ConvPhase m_phase;
    const float* m_dy;
};

} // namespace assay::tensor::detail
