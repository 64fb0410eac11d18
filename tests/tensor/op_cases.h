// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/tensor/op_harness.h"

namespace assay::test {

/// One operator case with what its comparison with the reference may be off by.
struct NamedCase {
    std::string name;
    OpCase op;
    /// Largest magnitude with which rounded values (statistics, products before the bias) enter the outputs and
    /// gradients; each costs one unit roundoff of FP32. Derived at each case.
    double forwardScale = 0.0, backwardScale = 0.0;
    double step = 1e-5; ///< of the differences; 1 where the operator is linear in each operand
};

/// Small cases of every kind: sizes 1, odd, larger than a block of 16.
std::vector<NamedCase> allCases();

} // namespace assay::test
