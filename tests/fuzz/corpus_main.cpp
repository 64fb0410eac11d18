// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: over every file of its corpus, then over deterministic mutations of them, so
// that each corpus is also an ordinary test. Usage: TARGET CORPUS_FOLDER [MUTATIONS].
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

/// SplitMix64: the same cases on every machine.
class Random {
public:
    std::uint64_t next() {
        std::uint64_t z = (m_state += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }

private:
    std::uint64_t m_state = 1;
};

/// One to three edits: bit flip, byte, truncation, duplicated, removed or exchanged piece, piece of another file,
/// extreme number.
Bytes mutate(Bytes bytes, const std::vector<Bytes>& corpus, Random& random) {
    const auto at = [&](std::size_t place) { return bytes.begin() + static_cast<std::ptrdiff_t>(place); };
    for (std::size_t edits = 1 + random.below(3); edits > 0; --edits) {
        const auto place = random.below(bytes.size() + 1);
        const auto length = std::min(bytes.size() - place, 1 + random.below(random.below(4) == 0 ? 4096 : 16));
        switch (random.below(9)) {
        case 0:
            if (place < bytes.size()) {
                bytes[place] = static_cast<std::uint8_t>(bytes[place] ^ (1U << random.below(8)));
            }
            break;
        case 1:
            if (place < bytes.size()) {
                bytes[place] = static_cast<std::uint8_t>(random.next());
            }
            break;
        case 2:
            bytes.resize(place);
            break;
        case 3: {
            const Bytes piece(at(place), at(place + length));
            bytes.insert(at(random.below(bytes.size() + 1)), piece.begin(), piece.end());
            break;
        }
        case 4:
            bytes.erase(at(place), at(place + length));
            break;
        case 5:
            std::swap_ranges(at(place), at(place + length / 2), at(place + length - length / 2));
            break;
        case 6: {
            const auto& other = corpus[random.below(corpus.size())];
            const auto from = random.below(other.size() + 1);
            const auto count = std::min(other.size() - from, random.below(64));
            bytes.insert(at(place), other.begin() + static_cast<std::ptrdiff_t>(from),
                         other.begin() + static_cast<std::ptrdiff_t>(from + count));
            break;
        }
        case 7: {
            static constexpr std::uint64_t kNumbers[] = {
                0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, ~0ULL};
            const auto number = kNumbers[random.below(std::size(kNumbers))];
            for (std::size_t i = 0; i < 8 && place + i < bytes.size(); ++i) {
                bytes[place + i] = static_cast<std::uint8_t>(number >> (8 * i));
            }
            break;
        }
        default: {
            static constexpr const char* kTokens[] = {
                "\"", "[[[[[[[[", "{", "}", ",", "-", "9007199254740992", "1e400", "\\u0000", "../", "null", "\xFF"};
            const std::string token = kTokens[random.below(std::size(kTokens))];
            bytes.insert(at(place), token.begin(), token.end());
        }
        }
    }
    return bytes;
}

/// What is running, for the report of a crash.
char currentCase[256] = "";

extern "C" void reportCase(int number) {
    for (const char* part : {"broken by: ", static_cast<const char*>(currentCase), "\n"}) {
        if (write(STDERR_FILENO, part, std::strlen(part)) < 0) {
            break;
        }
    }
    std::signal(number, SIG_DFL);
    std::raise(number);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s CORPUS_FOLDER [MUTATIONS]\n", argv[0]);
        return 2;
    }
    const std::size_t mutations = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 4000;
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASSAY_SANITIZED 1
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(ASSAY_SANITIZED)
    // A small input must not make a reader ask for gigabytes: the allocation then fails and the test with it.
    const rlimit memory{2ULL << 30, 2ULL << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        if (entry.is_regular_file()) {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Bytes> corpus;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    if (corpus.empty()) {
        std::fprintf(stderr, "the corpus %s is empty\n", argv[1]);
        return 1;
    }
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) {
        std::signal(number, reportCase);
    }
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double slowest = 0;
    const auto run = [&](const Bytes& bytes, const std::string& what) {
        std::snprintf(currentCase, sizeof currentCase, "%s", what.c_str());
        const auto begin = Clock::now();
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
        slowest = std::max(slowest, std::chrono::duration<double>(Clock::now() - begin).count());
    };
    for (std::size_t i = 0; i < corpus.size(); ++i) {
        run(corpus[i], paths[i].filename().string());
    }
    Random random;
    for (std::size_t i = 0; i < mutations; ++i) {
        run(mutate(corpus[i % corpus.size()], corpus, random), "mutation " + std::to_string(i));
    }
    std::printf("%zu corpus files, %zu mutations, %.1f s, slowest input %.1f ms\n", corpus.size(), mutations,
                std::chrono::duration<double>(Clock::now() - start).count(), slowest * 1000);
    return 0;
}
