// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/assert.h"
#include "core/numerics/float_environment.h"

namespace assay::tensor {

struct ThreadPool::Shared {
    std::mutex mutex;
    std::condition_variable started;
    std::condition_variable finished;
    std::uint64_t generation = 0;
    int running = 0; ///< workers that have not finished the current generation
    bool stopping = false;
    const std::function<void()>* work = nullptr; ///< what every worker does once per generation
    std::vector<std::thread> threads;

    void workerLoop() {
        std::uint64_t seen = 0;
        while (true) {
            const std::function<void()>* todo = nullptr;
            {
                std::unique_lock lock(mutex);
                started.wait(lock, [&] { return stopping || generation != seen; });
                if (stopping) {
                    return;
                }
                seen = generation;
                todo = work;
            }
            (*todo)();
            {
                const std::lock_guard lock(mutex);
                if (--running == 0) {
                    finished.notify_one();
                }
            }
        }
    }

    /// Runs `todo` once on every worker and on the caller.
    void everywhere(const std::function<void()>& todo) {
        {
            const std::lock_guard lock(mutex);
            work = &todo;
            running = static_cast<int>(threads.size());
            ++generation;
        }
        started.notify_all();
        todo();
        std::unique_lock lock(mutex);
        finished.wait(lock, [&] { return running == 0; });
        work = nullptr;
    }
};

ThreadPool::ThreadPool(int threads) : m_threads(std::max(1, threads)), m_shared(std::make_unique<Shared>()) {
    for (int i = 1; i < m_threads; ++i) {
        m_shared->threads.emplace_back([shared = m_shared.get()] { shared->workerLoop(); });
    }
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->stopping = true;
    }
    m_shared->started.notify_all();
    for (auto& thread : m_shared->threads) {
        thread.join();
    }
}

base::Result<void> ThreadPool::checkEnvironment() {
    std::mutex mutex;
    base::Result<void> result;
    m_shared->everywhere([&] {
        auto own = numerics::checkFloatEnvironment();
        if (!own) {
            const std::lock_guard lock(mutex);
            result = std::move(own);
        }
    });
    return result;
}

void ThreadPool::parallelFor(std::uint64_t n, std::uint64_t grain, const Body& body) {
    grain = std::max<std::uint64_t>(grain, 1);
    if (n == 0) {
        return;
    }
    if (m_threads == 1 || n <= grain) {
        body(0, n);
        return;
    }
    std::atomic<std::uint64_t> next{0};
    m_shared->everywhere([&] {
        while (true) {
            const std::uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
            if (begin >= n) {
                return;
            }
            body(begin, std::min(n, begin + grain));
        }
    });
}

} // namespace assay::tensor
