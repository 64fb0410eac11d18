// SPDX-License-Identifier: Apache-2.0
#include "app/cli/live_progress.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include <fmt/format.h>

namespace assay::cli {

namespace {

/// What a phase is called on the line.
std::string phaseWords(const std::string& phase) {
    if (phase == "train") {
        return "training";
    }
    if (phase == "repeat") {
        return "repeating committed steps";
    }
    if (phase == "replay") {
        return "replaying";
    }
    return printable(phase);
}

} // namespace

LiveProgress::LiveProgress(Session& session) : m_session(session), m_mode(session.progress) {
    if (m_mode == ProgressMode::automatic) {
        m_mode = session.console.errIsTerminal() ? ProgressMode::line : ProgressMode::none;
    }
}

void LiveProgress::show(const audit::EngineEvent& event, std::string_view line) {
    if (m_mode == ProgressMode::jsonLines) {
        // The list of all sites is for windows; everything else is small.
        if (!std::holds_alternative<audit::SitesEvent>(event) &&
            !std::holds_alternative<audit::SiteStatsEvent>(event)) {
            m_session.console.note(line);
        }
        return;
    }
    if (m_mode != ProgressMode::line) {
        return;
    }
    if (const auto* step = std::get_if<audit::StepEvent>(&event)) {
        m_loss = fmt::format("{:.4f}", std::bit_cast<float>(step->lossBits));
    } else if (const auto* progress = std::get_if<audit::ProgressEvent>(&event)) {
        draw(*progress);
    }
}

void LiveProgress::draw(const audit::ProgressEvent& event) {
    const auto now = std::chrono::steady_clock::now();
    const bool last = event.total > 0 && event.done >= event.total;
    if (event.phase == m_phase && !last && now - m_last < std::chrono::milliseconds(100)) {
        return;
    }
    m_phase = event.phase;
    m_last = now;
    const bool bytes = event.unit == "bytes";
    const auto amount = [&](std::uint64_t value) { return bytes ? byteText(value) : grouped(value); };
    std::string text = phaseWords(event.phase);
    if (event.total > 0) {
        text +=
            fmt::format(" {} {}/{}", progressBar(event.done, event.total, 24), amount(event.done), amount(event.total));
    } else {
        text += fmt::format(" {}", amount(event.done));
    }
    if (!bytes) {
        text += " " + printable(event.unit);
    }
    if (event.stepsPerSecond) {
        text += *event.stepsPerSecond >= 1 ? fmt::format(", {:.1f}/s", *event.stepsPerSecond)
                                           : fmt::format(", {:.1f} s each", 1 / std::max(1e-9, *event.stepsPerSecond));
    }
    if (!m_loss.empty() && event.unit == "steps") {
        text += fmt::format(", loss {}", m_loss);
    }
    if (event.etaSeconds && !last) {
        text += fmt::format(", {} left", durationText(*event.etaSeconds));
    }
    const auto columns = static_cast<std::size_t>(std::max(20, m_session.console.errColumns() - 1));
    text.resize(std::min(text.size(), columns));
    std::fputs(fmt::format("\r\033[K{}", text).c_str(), stderr);
    std::fflush(stderr);
    m_drawn = true;
}

void LiveProgress::clear() {
    if (m_drawn) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
        m_drawn = false;
    }
}

std::string progressBar(std::uint64_t done, std::uint64_t total, std::size_t width) {
    const double share = total == 0 ? 0.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
    return fmt::format("[{}{}]", std::string(filled, '='), std::string(width - filled, ' '));
}

} // namespace assay::cli
