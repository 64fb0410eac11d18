// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verbs/order_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/console.h"
#include "app/cli/verbs/order_text.h"
#include "core/crypto/sha256.h"
#include "core/format/dataset.h"
#include "core/format/safetensors.h"
#include "core/models/initial_state.h"

namespace assay::cli {

using base::ErrorCode;
using base::fail;
using base::Result;

bool OrderReport::passed() const {
    return !checks.empty() && std::all_of(checks.begin(), checks.end(), [](const auto& check) { return check.passed; });
}

namespace {

OrderCheck compareDigests(std::string name, const base::Digest& ordered, const base::Digest& found) {
    if (ordered == found) {
        return {std::move(name), true, fmt::format("SHA-256 {}", found.toHex())};
    }
    return {std::move(name), false,
            fmt::format("the order says SHA-256 {}, the file has {}", ordered.toHex(), found.toHex())};
}

/// The tensors of the file against those that the program declares.
OrderCheck compareTensors(const format::Program& program, const format::Safetensors& file) {
    for (const auto& spec : program.tensors) {
        const auto* tensor = file.find(spec.name);
        if (tensor == nullptr) {
            return {"tensors", false, fmt::format("the program has a tensor {}, init.safetensors does not", spec.name)};
        }
        if (tensor->dtype != "F32" || tensor->shape != spec.shape) {
            return {"tensors", false,
                    fmt::format("tensor {} is {} {} in init.safetensors, the program wants F32 {}", spec.name,
                                tensor->dtype, shapeText(tensor->shape), shapeText(spec.shape))};
        }
    }
    if (file.tensors().size() != program.tensors.size()) {
        return {"tensors", false,
                fmt::format("init.safetensors holds {} tensors, the program has {}", file.tensors().size(),
                            program.tensors.size())};
    }
    return {"tensors", true, fmt::format("{} tensors with the program's names and shapes", program.tensors.size())};
}

/// Makes the initial state anew from the seed: a client need not trust whoever made the file.
Result<OrderCheck> repeatInitialiser(const format::Order& order, const format::Program& program,
                                     const format::Safetensors& file) {
    if (order.initialiser != models::kInitialiser) {
        return OrderCheck{
            "seed", true,
            fmt::format("made by \"{}\", which this release cannot repeat; only the digest counts", order.initialiser)};
    }
    ASSAY_TRY(tensors, models::initialState(program, order.seed));
    for (const auto& tensor : tensors) {
        const auto* stored = file.find(tensor.name);
        const auto bytes = format::bytesOf(tensor.values);
        if (stored == nullptr || !std::equal(bytes.begin(), bytes.end(), stored->bytes.begin(), stored->bytes.end())) {
            return OrderCheck{"seed", false,
                              fmt::format("tensor {} is not what seed {} gives", tensor.name, order.seed)};
        }
    }
    return OrderCheck{"seed", true, fmt::format("seed {} gives exactly these values", order.seed)};
}

} // namespace

Result<OrderReport> checkOrderFiles(const base::fs::path& orderFile, const base::fs::path& dataFolder) {
    ASSAY_TRY(order, readOrder(orderFile));
    OrderReport report;
    report.digest = format::orderDigest(order);
    report.checks.push_back({"order", true, "every value is in its range and fits the others"});
    ASSAY_TRY(program, readProgramOf(orderFile));
    report.checks.push_back(compareDigests("program", order.program, format::programDigest(program)));
    const auto initFile = orderFile.parent_path() / "init.safetensors";
    ASSAY_TRY(init, format::Safetensors::open(initFile));
    report.checks.push_back(compareDigests("initial state", order.initialState, crypto::sha256(init.fileBytes())));
    report.checks.push_back(compareTensors(program, init));
    if (report.checks.back().passed) {
        ASSAY_TRY(seed, repeatInitialiser(order, program, init));
        report.checks.push_back(seed);
    }
    const auto data = format::Dataset::open(order.data, dataFolder);
    if (data) {
        report.checks.push_back(
            {"data", true, fmt::format("{} samples in {}", grouped(data->size()), dataFolder.string())});
    } else if (data.error().code == ErrorCode::malformed) {
        report.checks.push_back({"data", false, data.error().toString()});
    } else {
        return fail(data.error());
    }
    return report;
}

} // namespace assay::cli
