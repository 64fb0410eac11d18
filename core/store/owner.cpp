// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "core/store/audit_store.h"

namespace assay::store {

namespace {

// "linux/1 MACHINE BOOT PID-NAMESPACE PID START-TIME". Persistent.
constexpr std::string_view kScheme = "linux/1";

struct Owner {
    std::string scheme, machine, boot, space;
    std::uint64_t pid = 0, start = 0;
};

std::string oneLine(const char* path) {
    // Files in /proc have no size, so they are read as streams are.
    std::string text;
    if (FILE* file = std::fopen(path, "re")) {
        char buffer[256];
        text.assign(buffer, std::fread(buffer, 1, sizeof buffer, file));
        std::fclose(file);
    }
    text = text.substr(0, text.find('\n'));
    return text.empty() ? "-" : text;
}

/// Start time in clock ticks since boot (proc(5), field 22); nothing if there is no such process or it is a zombie.
std::optional<std::uint64_t> startTime(const std::string& pid) {
    std::string stat;
    if (FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re")) {
        char buffer[2048];
        stat.assign(buffer, std::fread(buffer, 1, sizeof buffer, file));
        std::fclose(file);
    }
    const auto close = stat.rfind(')'); // the name before it may hold anything
    if (close == std::string::npos) {
        return std::nullopt;
    }
    std::istringstream rest(stat.substr(close + 1));
    std::string word;
    if (!(rest >> word) || word == "Z" || word == "X") {
        return std::nullopt;
    }
    for (int field = 4; field <= 21; ++field) {
        rest >> word;
    }
    std::uint64_t start = 0;
    return rest >> start ? std::optional(start) : std::nullopt;
}

std::string pidNamespace() {
    char target[64];
    const auto size = ::readlink("/proc/self/ns/pid", target, sizeof target);
    return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : "-";
}

Owner thisProcess() {
    Owner owner;
    owner.scheme = kScheme;
    owner.machine = oneLine("/etc/machine-id");
    owner.boot = oneLine("/proc/sys/kernel/random/boot_id");
    owner.space = pidNamespace();
    owner.pid = static_cast<std::uint64_t>(::getpid());
    owner.start = startTime("self").value_or(0);
    return owner;
}

} // namespace

std::string currentOwner() {
    const auto own = thisProcess();
    return fmt::format("{} {} {} {} {} {}", own.scheme, own.machine, own.boot, own.space, own.pid, own.start);
}

bool ownerMayBeAlive(std::string_view text) {
    std::istringstream stream{std::string(text)};
    Owner owner;
    if (!(stream >> owner.scheme >> owner.machine >> owner.boot >> owner.space >> owner.pid >> owner.start) ||
        owner.scheme != kScheme) {
        return false;
    }
    const auto own = thisProcess();
    if (owner.machine != own.machine) {
        return true;
    }
    if (owner.boot != own.boot || owner.space != own.space) {
        return false;
    }
    return startTime(fmt::format("{}", owner.pid)) == owner.start;
}

base::Result<base::fs::path> defaultStorePath() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (const auto path = variable("ASSAY_STORE"); !path.empty()) {
        return base::fs::path(path);
    }
    if (const auto folder = variable("XDG_DATA_HOME"); !folder.empty() && folder.front() == '/') {
        return base::fs::path(folder) / "assay" / "audits.sqlite";
    }
    if (const auto home = variable("HOME"); !home.empty() && home.front() == '/') {
        return base::fs::path(home) / ".local" / "share" / "assay" / "audits.sqlite";
    }
    return base::fail(base::ErrorCode::environment, "there is no place for the audit store: HOME is not set",
                      "name a file with --store or ASSAY_STORE");
}

} // namespace assay::store
