// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/error.h"

namespace assay::tensor {

/// A fixed set of threads for loops over independent items. Which thread runs an item is not fixed, so bodies must
/// compute each item on its own: results then do not depend on the number of threads. Not to be used from inside a
/// body, nor by two threads at once.
class ThreadPool {
public:
    /// `threads` >= 1 in all, the caller's included.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// `environment` if on any of the threads the floating-point mode is not the one that all results rely on.
    [[nodiscard]] base::Result<void> checkEnvironment();

    [[nodiscard]] int threads() const { return m_threads; }

    using Body = std::function<void(std::uint64_t begin, std::uint64_t end)>;
    /// Calls body(begin, end) for consecutive ranges of `grain` items that together make up 0 .. n-1; returns when all
    /// are done. Small loops (n <= grain) run on the caller. Bodies must not throw.
    void parallelFor(std::uint64_t n, std::uint64_t grain, const Body& body);

private:
    struct Shared;
    int m_threads;
    std::unique_ptr<Shared> m_shared;
};

} // namespace assay::tensor
