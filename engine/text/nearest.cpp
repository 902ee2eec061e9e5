// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "text/nearest.hpp"

#include <algorithm>

namespace qc {

namespace {

/// How many letters have to be left out, put in, replaced or swapped with a neighbour.
size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<size_t>> steps(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
        for (size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                steps[i][j] = i + j;
                continue;
            }
            const size_t replaced = steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
        }
    return steps[a.size()][b.size()];
}

/// Words that begin with it, or have it in them, where there is one such word only.
std::string only_one_with(const std::string& part, const std::vector<std::string>& words) {
    constexpr size_t kFewest = 3; // letters that tell anything
    if (part.size() < kFewest) return "";
    for (const bool is_start : {true, false}) {
        std::vector<std::string> found;
        for (const std::string& each : words) {
            const size_t at = plain_word(each).find(part);
            if (is_start ? at == 0 : at != std::string::npos) found.push_back(each);
        }
        if (found.size() == 1) return found.front();
    }
    return "";
}

} // namespace

std::string plain_word(const std::string& word) {
    std::string plain = word;
    for (char& c : plain) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-') c = '_';
    }
    return plain;
}

std::string nearest(const std::string& word, const std::vector<std::string>& words) {
    constexpr size_t kLongest = 64; // of a word that anyone mistypes
    const std::string plain = plain_word(word);
    if (plain.empty() || plain.size() > kLongest) return "";
    size_t least = plain.size() < 3 ? 1 : std::max<size_t>(2, plain.size() / 3 + 1); // steps that are too many
    std::string best;
    for (const std::string& each : words) {
        const size_t steps = distance(plain, plain_word(each));
        if (steps >= least) continue;
        least = steps;
        best = each;
    }
    return best.empty() ? only_one_with(plain, words) : best;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& words) {
    const std::string meant = nearest(word, words);
    return meant.empty() ? "" : "; did you mean " + meant + "?";
}

} // namespace qc
