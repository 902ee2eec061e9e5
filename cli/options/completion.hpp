// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a shell may offer for the word that is being typed. The scripts for bash, zsh and fish ask this program.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qc::cli {

/// @param words those behind the program's name, the last one as far as it is typed, maybe empty
/// @return a line for each that fits: the word, and behind a tabulator what it is; ":files" where files fit too
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);

} // namespace qc::cli
