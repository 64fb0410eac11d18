// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/numerics/site_pass.h"
#include "core/tensor/op_kernel.h"
#include "tests/support/reference_ops.h"

/// Runs one operator forward and backward and keeps every site.
namespace assay::test {

/// What an emitter does with product sites.
enum class EmitMode { record, enforce, ignoreLog };

/// Checks the order of calls against the static site table and keeps values and logs.
class TestEmitter final : public tensor::SiteEmitter {
public:
    TestEmitter(EmitMode mode, std::vector<tensor::SiteSpec> sites, const std::vector<numerics::SiteLog>* given)
        : m_mode(mode), m_sites(std::move(sites)), m_given(given) {}

    base::Result<void> product(std::uint32_t site, const numerics::ProductSite& panel, float* out) override;
    base::Result<void> completed(std::uint32_t site, std::span<float> values) override;

    std::vector<std::vector<float>> values; ///< per completed site
    std::vector<numerics::SiteLog> logs;    ///< per completed site, empty for exact ones
    std::uint64_t entries = 0, corrections = 0, offences = 0;
    bool finite = true;
    std::string fault; ///< what was wrong with the calls; empty if nothing
    /// If set: element `plantElement` of site `plantSite` becomes `plantValue` when the site is completed.
    std::int64_t plantSite = -1;
    std::uint64_t plantElement = 0;
    float plantValue = 0.0F;

private:
    EmitMode m_mode;
    std::vector<tensor::SiteSpec> m_sites;
    const std::vector<numerics::SiteLog>* m_given;
    std::uint64_t m_next = 0; ///< index that the next panel of the current product must start with
    numerics::SiteLog m_log;
    std::span<const numerics::LogEntry> m_rest;
};

/// One operator with operands. Values are representable.
struct OpCase {
    std::string kind;
    tensor::AttributeMap attributes;
    std::vector<Values> inputs;
    std::vector<bool> isIds; ///< per input
    std::uint32_t wanted = 0;
    std::uint32_t parameters = 0;
    std::size_t outputs = 1;
    std::int64_t batch = 2;
    bool evaluate = false;
    std::uint64_t seed = 42, step = 3;
    std::uint32_t operatorIndex = 5;
};

struct OpProfile {
    tensor::KernelProfile kernel;
    numerics::BoundKind bound = numerics::BoundKind::proven;
    std::uint64_t block = 256;
    int poolThreads = 1;
};

struct OpResult {
    std::vector<Values> outputs;
    std::vector<Values> updated;                ///< of the buffers, in input order
    std::vector<Values> inputGradients;         ///< per input; empty shape and values where not wanted
    std::vector<tensor::SiteSpec> sites;        ///< forward, then backward
    std::vector<std::vector<float>> siteValues; ///< per site
    std::vector<numerics::SiteLog> logs;        ///< per site
    std::uint64_t entries = 0, corrections = 0, offences = 0;
    bool finite = true;
    std::string fault;
};

/// Output gradients that runOp uses: seeded representable values of about unit size.
std::vector<Values> outputGradientsFor(const std::vector<std::vector<std::int64_t>>& shapes);

OpResult runOp(const OpCase& op, const OpProfile& profile, EmitMode mode = EmitMode::record,
               const std::vector<numerics::SiteLog>* logs = nullptr);

/// Seeded standard normal values, rounded to representable ones.
Values randomValues(std::vector<std::int64_t> shape, std::uint32_t stream, double scale = 1.0);
Values randomIds(std::vector<std::int64_t> shape, std::uint32_t stream, std::uint64_t below);

} // namespace assay::test
