// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/record/parts.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr const char* kIsDamaged = "is damaged";
constexpr std::chrono::milliseconds kPause{5}; ///< between two looks for a record that is to come

int int_of(int64_t word) {
    return static_cast<int>(word);
}

} // namespace

void Records::fail(size_t part, const std::string& why) const {
    throw PartsTrouble(formatted("the record of part %zu, %s, %s", part, parts[part].path.c_str(), why.c_str()));
}

// ---- entries of some kinds

void PartReader::open(size_t part) {
    part_ = part;
    while (!file_.open(records_->parts[part].path)) {
        if (errno != ENOENT || !records_->may_come || !records_->may_come()) records_->fail(part, "cannot be opened");
        std::this_thread::sleep_for(kPause);
    }
    Entry head;
    const EntryReader::Found found = file_.next(&head);
    if (found == EntryReader::Found::kTrouble) records_->fail(part, file_.trouble());
    if (found == EntryReader::Found::kEnd || head.kind != Kind::kHead) records_->fail(part, kIsNone);
    check_head(head);
}

void PartReader::check_head(const Entry& head) const {
    if (head.words.size() < 3 || head.words[0] != kRecordVersion || text_of(head.words.subspan(2)) != qc_version())
        records_->fail(part_, "was made by another version");
    if (head.words[1] != static_cast<int64_t>(records_->inputs)) records_->fail(part_, "has another number of inputs");
}

bool PartReader::next(Entry* entry) {
    if (!file_.is_open()) open(part_);
    for (;;) {
        const EntryReader::Found found = file_.next(entry);
        if (found == EntryReader::Found::kTrouble) records_->fail(part_, file_.trouble());
        if (found == EntryReader::Found::kEnd) return false;
        if (std::ranges::find(kinds_, entry->kind) != kinds_.end()) return true;
    }
}

// ---- what comes before the frames

bool FormatNames::add(std::span<const int64_t> words) {
    if (words.size() < 2) return false;
    by_number_[words[0]] = names_.insert(text_of(words.subspan(1))).first->c_str();
    return true;
}

const char* FormatNames::of(int64_t number) const {
    const auto name = by_number_.find(number);
    return name == by_number_.end() ? "unknown" : name->second;
}

namespace {

/// @return false: it is of no input that there is
bool read_input(const Records& records, const Entry& entry, Beginning* beginning) {
    const auto& words = entry.words;
    if (words.size() != kInputWords || words[kInputIndex] < 0 ||
        words[kInputIndex] >= static_cast<int64_t>(records.inputs))
        return false;
    beginning->inputs[static_cast<size_t>(words[kInputIndex])] = {
        .width = int_of(words[kInputWidth]),
        .height = int_of(words[kInputHeight]),
        .format = int_of(words[kInputFormat]),
        .format_name = beginning->formats.of(words[kInputFormat]),
        .clock_num = int_of(words[kInputClockNum]),
        .clock_den = int_of(words[kInputClockDen]),
        .rate_num = int_of(words[kInputRateNum]),
        .rate_den = int_of(words[kInputRateDen]),
        .shape_num = int_of(words[kInputShapeNum]),
        .shape_den = int_of(words[kInputShapeDen]),
    };
    return true;
}

} // namespace

Beginning read_beginning(const Records& records) {
    PartReader reader(records, {Kind::kInput, Kind::kFormat, Kind::kSaid, Kind::kFrame, Kind::kEnd});
    for (size_t part = 1; part < records.parts.size() && !records.may_come; ++part) reader.open(part);
    Beginning beginning;
    beginning.inputs.resize(records.inputs);
    size_t seen = 0;
    reader.open(0);
    for (Entry entry; reader.next(&entry) && entry.kind != Kind::kFrame && entry.kind != Kind::kEnd;) {
        if (entry.kind == Kind::kFormat && !beginning.formats.add(entry.words)) records.fail(0, kIsDamaged);
        if (entry.kind == Kind::kSaid && entry.words.size() > 1)
            beginning.said.emplace_back(static_cast<qcr_level>(entry.words[0]), text_of(entry.words.subspan(1)));
        if (entry.kind != Kind::kInput) continue;
        if (!read_input(records, entry, &beginning)) records.fail(0, kIsDamaged);
        ++seen;
    }
    if (seen != records.inputs) records.fail(0, "ends early");
    return beginning;
}

RecordedSession read_session(const Records& records, size_t part) {
    PartReader reader(records, {Kind::kSession, Kind::kEngine, Kind::kOrigin});
    RecordedSession session;
    reader.open(part);
    for (Entry entry; session.origin.empty() && reader.next(&entry);) {
        if (entry.kind == Kind::kSession)
            session.config.assign(entry.words.begin(), entry.words.end());
        else
            (entry.kind == Kind::kOrigin ? session.origin : session.description) = text_of(entry.words);
    }
    return session;
}

// ---- frames

/// The last frame that the part before gave has to be the last one that this part saw before its own: none is missing.
void FrameReader::join() {
    if (entries_.part() == 0 || is_joined_) return;
    is_joined_ = true;
    if (lead_ != sent_) records_->fail(entries_.part(), "does not go on where the one before it ends");
}

void FrameReader::open_next() {
    join();
    lead_ = QCR_NO_PTS;
    is_joined_ = false;
    entries_.open(entries_.part() + 1);
}

qcr_frame_facts FrameReader::facts_of(std::span<const int64_t> words) {
    qcr_frame_facts facts{};
    facts.is_corrupt = int_of(words[kFrameIsCorrupt]);
    facts.is_concealed = int_of(words[kFrameIsConcealed]);
    facts.is_interlaced = int_of(words[kFrameIsInterlaced]);
    facts.has_grain = int_of(words[kFrameHasGrain]);
    facts.range = int_of(words[kFrameRange]);
    facts.matrix = int_of(words[kFrameMatrix]);
    facts.primaries = int_of(words[kFramePrimaries]);
    facts.transfer = int_of(words[kFrameTransfer]);
    facts.chroma_location = int_of(words[kFrameSiting]);
    return facts;
}

Arrival FrameReader::arrival_of(const Entry& frame) {
    const auto& words = frame.words;
    sent_ = words[kFramePts];
    return {.frame = {
                .pts = words[kFramePts],
                .width = int_of(words[kFrameWidth]),
                .height = int_of(words[kFrameHeight]),
                .format = int_of(words[kFrameFormat]),
                .format_name = formats_.of(words[kFrameFormat]),
                .facts = facts_of(words),
                .packet_bytes = words[kFrameBytes],
            }};
}

Arrival FrameReader::next() {
    for (Entry entry; entries_.next(&entry);) {
        const size_t part = entries_.part();
        if (entry.kind == Kind::kFormat) {
            if (!formats_.add(entry.words)) records_->fail(part, kIsDamaged);
            continue;
        }
        if (entry.words.size() != (entry.kind == Kind::kFrame ? size_t{kFrameWords} : size_t{kEndWords}))
            records_->fail(part, kIsDamaged);
        if (entry.words[0] != static_cast<int64_t>(input_)) continue;
        if (entry.kind == Kind::kEnd && records_->is_last(part)) {
            join();
            return {.is_end = true, .status = entry.words[kEndStatus], .pts = entry.words[kEndPts]};
        }
        if (entry.kind == Kind::kEnd || records_->is_beyond(part, input_, entry.words[kFramePts])) {
            open_next();
        } else if (part == 0 || entry.words[kFramePts] >= records_->parts[part].from[input_]) {
            join();
            return arrival_of(entry);
        } else {
            lead_ = entry.words[kFramePts];
        }
    }
    records_->fail(entries_.part(), "ends before its input does");
}

// ---- pairs

bool PairReader::read() {
    Entry entry;
    if (!pairs_.next(&entry)) return false;
    current_.pair.assign(entry.words.begin(), entry.words.end());
    if (measured_.part() != pairs_.part()) measured_.open(pairs_.part());
    current_.measured.clear();
    if (measured_.next(&entry)) current_.measured.assign(entry.words.begin(), entry.words.end());
    if (current_.measured.empty() || current_.pair.size() != kPairStamps + records_->inputs ||
        current_.pair[kPairRow] != current_.measured[0])
        records_->fail(pairs_.part(), "does not say what was measured of every pair");
    return true;
}

/// Whether all earlier pairs that enter into what was measured of the current one had been seen by its part.
bool PairReader::is_settled() const {
    return pairs_.part() == 0 || current_.pair[kPairBroke] != 0 || current_.pair[kPairRow] >= history_;
}

/// The current pair was the former part's too: both have to have measured the same.
void PairReader::compare_with_kept() const {
    const auto described = [](const MeasuredPair& each) { return std::span(each.pair).subspan(kPairStamps); };
    const auto words = [](const MeasuredPair& each) { return std::span(each.measured).subspan(1); };
    if (!is_settled()) return;
    for (size_t i = 0; i < std::min(kept_count_, kKept); ++i) {
        const MeasuredPair& kept = kept_[i];
        if (kept.pair[kPairStamps] != current_.pair[kPairStamps]) continue;
        if (kept.pair[kPairRenditions] != current_.pair[kPairRenditions] ||
            !std::ranges::equal(described(kept), described(current_)) ||
            !std::ranges::equal(words(kept), words(current_)))
            records_->fail(pairs_.part(),
                           "differs from the one before in what both have seen: the decoder does not come "
                           "to the same pictures from where this part begins");
    }
}

void PairReader::find(int64_t pts) {
    for (;;) {
        if (records_->is_beyond(pairs_.part(), 0, pts)) {
            pairs_.open(pairs_.part() + 1);
            continue;
        }
        if (!read()) records_->fail(pairs_.part(), "lacks a pair");
        if (current_.pair[kPairStamps] == pts) return;
        compare_with_kept();
    }
}

void PairReader::check(std::span<const int64_t> pts) const {
    if (!std::ranges::equal(pts, std::span(current_.pair).subspan(kPairStamps)))
        records_->fail(pairs_.part(), "has paired other frames");
    if (!is_settled())
        records_->fail(pairs_.part(), "begins too late: pairs that its first ones depend on are missing");
}

void PairReader::keep() {
    std::swap(kept_[kept_count_++ % kKept], current_);
}

} // namespace qc::run
