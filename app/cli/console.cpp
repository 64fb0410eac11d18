// SPDX-License-Identifier: Apache-2.0
#include "app/cli/console.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace assay::cli {

namespace {

bool environmentSet(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

const char* colourOf(Tone tone) {
    switch (tone) {
    case Tone::plain:
        return "";
    case Tone::strong:
        return "\033[1m";
    case Tone::faint:
        return "\033[2m";
    case Tone::good:
        return "\033[1;32m";
    case Tone::bad:
        return "\033[1;31m";
    case Tone::doubtful:
        return "\033[1;33m";
    }
    return "";
}

void writeErr(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

} // namespace

Console::Console() {
    const char* term = std::getenv("TERM");
    const bool allowed = !environmentSet("NO_COLOR") && (term == nullptr || std::strcmp(term, "dumb") != 0);
    m_errIsTerminal = ::isatty(STDERR_FILENO) == 1;
    m_colourErr = allowed && m_errIsTerminal;
    m_colourOut = allowed && ::isatty(STDOUT_FILENO) == 1;
}

void Console::print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::note(std::string_view text) {
    writeErr(fmt::format("{}\n", text));
}

void Console::warn(std::string_view text) {
    writeErr(fmt::format("{} {}\n", tonedNote(Tone::doubtful, "warning:"), printable(text)));
}

void Console::error(const base::Error& error, std::string_view verb) {
    std::fflush(stdout);
    std::string where;
    if (!error.file.empty()) {
        where =
            error.offset ? fmt::format("{}, byte {}: ", error.file, *error.offset) : fmt::format("{}: ", error.file);
    } else if (error.offset) {
        where = fmt::format("byte {}: ", *error.offset);
    }
    std::string text = fmt::format("assay{}{}: {} {}{}\n", verb.empty() ? "" : " ", verb,
                                   tonedNote(Tone::bad, "error:"), printable(where), printable(error.message));
    if (!error.remedy.empty()) {
        text += fmt::format("  try: {}\n", printable(error.remedy));
    }
    writeErr(text);
}

int Console::errColumns() const {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

base::Result<void> Console::finish() {
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        return base::fail(base::ErrorCode::environment,
                          fmt::format("cannot write the result to standard output: {}",
                                      errno != 0 ? std::strerror(errno) : "an earlier write failed"),
                          "send it to a file on a disk with free space");
    }
    return {};
}

std::string Console::wrap(bool colour, Tone tone, std::string_view text) {
    if (!colour || tone == Tone::plain) {
        return std::string(text);
    }
    return fmt::format("{}{}\033[0m", colourOf(tone), text);
}

std::string alignColumns(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line(indent);
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string wrapText(std::string_view text, std::size_t columns, std::string_view indent) {
    std::string result;
    std::string line;
    const auto flush = [&] {
        if (!line.empty()) {
            result += fmt::format("{}{}\n", indent, line);
            line.clear();
        }
    };
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        if (!line.empty() && indent.size() + line.size() + 1 + word.size() > columns) {
            flush();
        }
        if (!word.empty()) {
            line += line.empty() ? std::string(word) : fmt::format(" {}", word);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    flush();
    return result;
}

std::string grouped(std::uint64_t value) {
    const std::string digits = std::to_string(value);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            text += ',';
        }
        text += digits[i];
    }
    return text;
}

std::string byteText(std::uint64_t bytes) {
    if (bytes < 1000) {
        return fmt::format("{} B", bytes);
    }
    double value = static_cast<double>(bytes);
    const char* unit = "B";
    for (const char* next : {"kB", "MB", "GB", "TB", "PB", "EB"}) {
        if (value < 999.95) {
            break;
        }
        value /= 1000;
        unit = next;
    }
    return fmt::format("{:.1f} {}", value, unit);
}

std::string durationText(double seconds) {
    if (!(seconds >= 0) || seconds > 1e9) {
        return "?";
    }
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole >= 3600) {
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    }
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string printable(std::string_view text) {
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    std::string clean;
    clean.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned byte = at(i);
        const unsigned last = at(i + 2);
        // U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F: unseen, or they turn the text around them about.
        const bool unseen =
            byte == 0xE2 &&
            ((at(i + 1) == 0x80 && ((last >= 0x8B && last <= 0x8F) || (last >= 0xA8 && last <= 0xAE))) ||
             (at(i + 1) == 0x81 && last >= 0xA0 && last <= 0xAF));
        const bool c1 = byte == 0xC2 && at(i + 1) >= 0x80 && at(i + 1) < 0xA0;
        if (byte < 0x20 || byte == 0x7F || c1 || unseen) {
            clean += '?';
            i += unseen ? 2 : c1 ? 1 : 0;
        } else {
            clean += text[i];
        }
    }
    return clean;
}

std::string shellWord(std::string_view text) {
    constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
    if (!text.empty() && text.find_first_not_of(kSafe) == std::string_view::npos) {
        return std::string(text);
    }
    std::string word = "'";
    for (const char c : text) {
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return word + "'";
}

} // namespace assay::cli
