// SPDX-License-Identifier: BSD-2-Clause-Patent
// The entries of one record, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/record/format.hpp"

namespace qc::run {

/// An entry; its words are valid until the next one is read.
struct Entry {
    Kind kind{};
    std::span<const int64_t> words;
};

/// What is wrong with a record, as words behind its name.
inline constexpr const char* kIsNone = "is none";
inline constexpr const char* kIsNoneOrDamaged = "is none, or damaged";
inline constexpr const char* kEndsWithin = "ends in mid of an entry";

class EntryReader {
public:
    EntryReader() = default;
    ~EntryReader() { close(); }
    EntryReader(EntryReader&& other) noexcept;
    EntryReader& operator=(EntryReader&& other) noexcept;

    /// @return false, with errno
    bool open(const std::string& path);
    bool is_open() const { return file_ >= 0; }
    void close();

    enum class Found { kEntry, kEnd, kTrouble };
    /// With kTrouble trouble() says what is wrong.
    Found next(Entry* entry);
    const char* trouble() const { return trouble_; }

private:
    bool load(size_t words);

    int file_ = -1;
    std::vector<int64_t> buffer_; ///< words that were read
    size_t at_ = 0, end_ = 0;     ///< of those that are not used up
    size_t odd_bytes_ = 0;        ///< of a word that was read in part, behind end_
    const char* trouble_ = "";
};

} // namespace qc::run
