// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace assay::cli {

/// Meaning of a piece of text, shown as a colour on terminals.
enum class Tone { plain, strong, faint, good, bad, doubtful };

/// The two output streams. Results go to standard output, everything else to standard error. Colours appear on a
/// terminal only, and not with NO_COLOR set (https://no-color.org) or TERM=dumb.
class Console {
public:
    Console();

    void print(std::string_view text); ///< result, as it is
    void printLine(std::string_view text) { print(text), print("\n"); }
    void note(std::string_view text); ///< one line on standard error
    void warn(std::string_view text); ///< "warning: ..." on standard error
    /// "assay VERB: what", then where, and what to try.
    void error(const base::Error& error, std::string_view verb);

    /// The text in the colour of its tone for standard output (or standard error).
    [[nodiscard]] std::string toned(Tone tone, std::string_view text) const { return wrap(m_colourOut, tone, text); }
    [[nodiscard]] std::string tonedNote(Tone tone, std::string_view text) const {
        return wrap(m_colourErr, tone, text);
    }
    [[nodiscard]] bool errIsTerminal() const { return m_errIsTerminal; }
    [[nodiscard]] int errColumns() const; ///< width of the terminal behind standard error, 80 if unknown

    /// Flushes standard output; `environment` if something could not be written (disk full, closed pipe).
    [[nodiscard]] base::Result<void> finish();

private:
    static std::string wrap(bool colour, Tone tone, std::string_view text);

    bool m_errIsTerminal = false;
    bool m_colourOut = false;
    bool m_colourErr = false;
};

/// Rows of cells as aligned columns, two spaces apart, with an indent; cells hold no colours.
[[nodiscard]] std::string alignColumns(const std::vector<std::vector<std::string>>& rows,
                                       std::string_view indent = "  ");
/// Breaks text at spaces into lines of at most `columns` characters, each with the indent.
[[nodiscard]] std::string wrapText(std::string_view text, std::size_t columns, std::string_view indent);
/// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);
/// "12.3 MB" (powers of 1000).
[[nodiscard]] std::string byteText(std::uint64_t bytes);
/// "0:07", "3:05:10".
[[nodiscard]] std::string durationText(double seconds);
/// Control characters of untrusted text as "?", so that a file cannot steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);
/// The text as one word for a POSIX shell.
[[nodiscard]] std::string shellWord(std::string_view text);

} // namespace assay::cli
