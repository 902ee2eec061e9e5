// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a word that is none was meant to be.
#pragma once

#include <string>
#include <vector>

namespace qc {

/// In small letters, with _ for -.
std::string plain_word(const std::string& word);

/// The word that a mistyped one is likeliest to mean; empty: none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& words);

/// "; did you mean WORD?", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& words);

} // namespace qc
