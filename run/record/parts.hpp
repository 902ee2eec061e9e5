// SPDX-License-Identifier: BSD-2-Clause-Patent
// The records of a video's parts, read as those of one run: each input's frames in order, and the pairs with what was
// measured of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "quality_cuda_run/record.h"
#include "run/record/entries.hpp"

namespace qc::run {

/// The parts do not make one run: a record is missing or damaged, or does not go on where the one before it ends.
class PartsTrouble : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Part {
    /// The timestamp of each input from which on its frames are this part's. Those before it, which the part saw to
    /// know what came before, are of the part before.
    std::vector<int64_t> from;
    std::string path;
};

/// The parts' files, and how to open them.
struct Records {
    std::vector<Part> parts;
    size_t inputs = 2;
    /// Asked now and then while a record is waited for, which appears when it is whole; false: it will not come. Empty:
    /// nothing is waited for.
    std::function<bool()> may_come;

    bool is_last(size_t part) const { return part + 1 == parts.size(); }
    /// Whether a part's frame of this timestamp is the next part's.
    bool is_beyond(size_t part, size_t input, int64_t pts) const {
        return !is_last(part) && pts >= parts[part + 1].from[input];
    }
    [[noreturn]] void fail(size_t part, const std::string& why) const;
};

/// Entries of some kinds, part by part.
class PartReader {
public:
    PartReader(const Records& records, std::vector<Kind> kinds) : records_(&records), kinds_(std::move(kinds)) {}

    /// @throws PartsTrouble
    void open(size_t part);
    /// The next entry of the part, which is opened if none is. @return false: it has no more @throws PartsTrouble
    bool next(Entry* entry);
    size_t part() const { return part_; }

private:
    void check_head(const Entry& head) const;

    const Records* records_;
    std::vector<Kind> kinds_;
    EntryReader file_;
    size_t part_ = 0;
};

/// What numbers of formats mean. Names stay as long as the object does.
class FormatNames {
public:
    /// @param words of an entry of Kind::kFormat @return false: they are of none
    bool add(std::span<const int64_t> words);
    const char* of(int64_t number) const;

private:
    std::set<std::string> names_;
    std::map<int64_t, const char*> by_number_;
};

/// What the first part says of all before its frames.
struct Beginning {
    std::vector<qcr_recorded_input> inputs;
    FormatNames formats; ///< which the inputs' names are of
    std::vector<std::pair<qcr_level, std::string>> said;
};

/// Looks at the head of every record; of those that are to come only at the first one's. @throws PartsTrouble
Beginning read_beginning(const Records& records);

/// What a session was opened with, and said of itself.
struct RecordedSession {
    std::vector<int64_t> config; ///< see read_config()
    std::string description, origin;
};

/// Of a part that is there; empty if it had none. @throws PartsTrouble
RecordedSession read_session(const Records& records, size_t part);

/// A frame, or the end of its input.
struct Arrival {
    bool is_end = false;
    int64_t status = 0, pts = 0; ///< of the end
    qcr_recorded_frame frame{};
};

/// The frames of one input.
class FrameReader {
public:
    FrameReader(const Records& records, size_t input)
        : records_(&records), input_(input), entries_(records, {Kind::kFormat, Kind::kFrame, Kind::kEnd}) {}

    /// @throws PartsTrouble
    Arrival next();

private:
    void join();
    void open_next();
    static qcr_frame_facts facts_of(std::span<const int64_t> words);
    Arrival arrival_of(const Entry& frame);

    const Records* records_;
    size_t input_;
    PartReader entries_;
    FormatNames formats_;
    int64_t sent_ = QCR_NO_PTS; ///< timestamp of the latest frame that came
    int64_t lead_ = QCR_NO_PTS; ///< of the latest one that its part saw, but that was of the part before
    bool is_joined_ = false;    ///< these two were held against each other
};

/// A pair, and what was measured of it.
struct MeasuredPair {
    std::vector<int64_t> pair;     ///< PairWord
    std::vector<int64_t> measured; ///< row, then the engine's words
};

/// The pairs of the parts. Those that two parts saw have to have been measured alike.
class PairReader {
public:
    explicit PairReader(const Records& records)
        : records_(&records), pairs_(records, {Kind::kPair}), measured_(records, {Kind::kMeasured}) {}

    /// The next pair of the part that scored this frame of the distorted video. @throws PartsTrouble
    void find(int64_t pts);
    /// The pair that was found has these frames, and all that enters into what was measured of it was there.
    /// @param pts of each input's; QCR_NO_PTS where there is none @throws PartsTrouble
    void check(std::span<const int64_t> pts) const;
    /// Keeps the pair that was found, for the part behind this one. It is found no more.
    void keep();

    size_t part() const { return pairs_.part(); }
    uint32_t renditions() const { return static_cast<uint32_t>(current_.pair[kPairRenditions]); }
    /// The engine's.
    std::span<const int64_t> words() const { return std::span(current_.measured).subspan(1); }
    /// So many pairs before it enter into what is measured of one.
    void set_history(int64_t history) { history_ = history; }

private:
    static constexpr size_t kKept = 8;

    bool read();
    bool is_settled() const;
    void compare_with_kept() const;

    const Records* records_;
    PartReader pairs_, measured_;
    MeasuredPair current_;
    std::array<MeasuredPair, kKept> kept_; ///< the latest ones, in a ring
    size_t kept_count_ = 0;
    int64_t history_ = 0;
};

} // namespace qc::run
