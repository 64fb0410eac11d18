// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/format/order.h"

namespace assay::format {

/// What the person who makes an order wants from a data folder.
struct DatasetRequest {
    std::string reader;                   ///< "idx", "cifar10", "text" or "bytes"
    base::fs::path path;                  ///< folder; for text and bytes also one file
    std::vector<std::string> files;       ///< names inside the folder; empty = the well-known names, or the only file
    std::uint64_t samples = 0;            ///< training samples; 0 = all but the held-out ones
    std::uint64_t heldOut = 0;            ///< 0 = the reader's own test set or a tenth, as far as `samples` leaves any
    bool noHeldOut = false;               ///< 0 held-out samples really means none
    std::uint64_t context = 0;            ///< text: tokens per sample
    std::vector<std::int64_t> imageShape; ///< bytes: channels (1), height, width
};

/// The samples of an order, checked against it. Files stay mapped; reading is const and thread-safe.
class Dataset {
public:
    /// Describes a data folder for a new order: file digests, sample count, root. `usage` where the request does not
    /// fit.
    [[nodiscard]] static base::Result<DataSpec> build(const DatasetRequest& request);
    /// Opens the files of `spec` in `folder` (a file's own path is accepted where the spec has one file). Checks size
    /// and SHA-256 of every file, every label, and the sample root; the error names the file, or the sample, that
    /// differs.
    [[nodiscard]] static base::Result<Dataset> open(const DataSpec& spec, const base::fs::path& folder,
                                                    const base::ProgressFn& progress = {}, std::stop_token stop = {});

    Dataset(Dataset&&) noexcept;
    Dataset& operator=(Dataset&&) noexcept;
    ~Dataset();

    [[nodiscard]] const DataSpec& spec() const;
    [[nodiscard]] std::uint64_t size() const;    ///< training + held-out samples
    [[nodiscard]] std::uint64_t samples() const; ///< training samples
    [[nodiscard]] std::uint64_t heldOut() const;
    [[nodiscard]] const base::Digest& sampleDigest(std::uint64_t index) const; ///< index < size()
    [[nodiscard]] std::vector<base::Digest> sampleDigests(std::span<const std::uint64_t> indices) const;

    /// Values per sample: pixels of an image, tokens of a text sample (context).
    [[nodiscard]] std::uint64_t valuesPerSample() const;
    /// Row-major FP32 pixels [indices.size(), C, H, W]: RN(p / 255). Precondition: task "classification".
    void copyImages(std::span<const std::uint64_t> indices, float* out) const;
    /// Labels [indices.size()]. Precondition: task "classification".
    void copyLabels(std::span<const std::uint64_t> indices, std::int64_t* out) const;
    /// Tokens and the tokens that follow them, both [indices.size(), context]. Precondition: task "next-token".
    void copyTokens(std::span<const std::uint64_t> indices, std::int64_t* tokens, std::int64_t* targets) const;
    /// Raw bytes of one sample (pixels, or context + 1 tokens; `bytes`: the pixels).
    [[nodiscard]] base::ByteView sampleBytes(std::uint64_t index) const;

private:
    struct State;
    explicit Dataset(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

/// Digest of one sample: leaf hash of its tagged bytes. `label` is kNoLabel for text.
inline constexpr std::uint64_t kNoLabel = ~0ULL;
[[nodiscard]] base::Digest sampleDigestOf(base::ByteView bytes, std::uint64_t label);

} // namespace assay::format
