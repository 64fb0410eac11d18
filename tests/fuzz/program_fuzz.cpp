// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "core/format/program.h"

/// A program that parses has exactly the bytes that its serialiser makes, and every required attribute can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto program = format::parseProgram({data, size});
    if (!program) {
        return 0;
    }
    const auto text = format::serialiseProgram(*program);
    if (!text || *text != base::asText({data, size})) {
        std::abort();
    }
    for (const auto& op : program->operators) {
        for (const auto& rule : format::findOperatorKind(op.kind)->attributes) {
            if (rule.required && !op.attributes.contains(std::string(rule.name))) {
                std::abort();
            }
        }
    }
    return 0;
}
