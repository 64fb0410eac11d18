// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace assay::bench {

/// CPU time of this thread in nanoseconds: other processes on the machine count as little as they can.
inline double threadTime() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Best of `repeats` runs, in nanoseconds per item.
template <typename F>
double nanosecondsPer(std::uint64_t items, int repeats, F&& run) {
    double best = 1e300;
    for (int i = 0; i < repeats; ++i) {
        const double start = threadTime();
        run();
        best = std::min(best, (threadTime() - start) / static_cast<double>(items));
    }
    return best;
}

/// Machine, compiler, commit and seed, so that printed figures can be compared.
inline void printHeader(const char* what, std::uint64_t seed) {
    std::string cpu = "unknown CPU";
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) {
            cpu = line.substr(line.find(':') + 2);
            break;
        }
    }
    std::string commit = "unknown";
    if (FILE* git = popen("git rev-parse --short HEAD 2>/dev/null", "r")) {
        char text[64] = {};
        if (std::fgets(text, sizeof text, git) != nullptr) {
            commit = text;
            commit.erase(std::find(commit.begin(), commit.end(), '\n'), commit.end());
        }
        pclose(git);
    }
    std::printf("%s\n%s; %s; commit %s; seed %llu\n\n", what, cpu.c_str(), ASSAY_COMPILER, commit.c_str(),
                static_cast<unsigned long long>(seed));
}

/// Stops with a message: a benchmark that computes something wrong measures nothing.
inline void require(bool condition, const char* what) {
    if (!condition) {
        std::fprintf(stderr, "wrong result: %s\n", what);
        std::exit(1);
    }
}

} // namespace assay::bench
