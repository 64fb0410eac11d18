// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

/// Checks what only a bug of ours can violate. Must never be reachable from input.
#ifdef ASSAY_ASSERTS
#define ASSAY_ASSERT(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition);                     \
            std::abort();                                                                                              \
        }                                                                                                              \
    } while (false)
#else
#define ASSAY_ASSERT(condition) static_cast<void>(0)
#endif
