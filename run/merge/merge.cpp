// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/merge/merge.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "run/origin/origin.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kDecisionsBetweenLooks = 256; ///< at whether the merge is to go on
constexpr double kNow = 0;                      ///< no input is waited for, so that no clock is needed

[[noreturn]] void out_of_memory() {
    throw std::bad_alloc();
}

void check(qc_status status, const char* why) {
    if (status == QC_ERROR_NO_MEMORY) out_of_memory();
    if (status != QC_OK) throw RunTrouble(why);
}

Records records_of(const qcr_merge_config& wish) {
    Records records;
    records.inputs = static_cast<size_t>(1 + wish.renditions);
    for (const qcr_part& part : std::span(wish.parts, static_cast<size_t>(wish.part_count)))
        records.parts.push_back({{part.from, part.from + records.inputs}, part.path});
    return records;
}

void log_of_engine(void* opaque, qc_log_level level, const char* text) {
    static constexpr qcr_level kLevels[] = {QCR_LEVEL_ERROR, QCR_LEVEL_WARNING, QCR_LEVEL_INFO, QCR_LEVEL_DEBUG};
    say(*static_cast<const qcr_sink*>(opaque), kLevels[level], text);
}

} // namespace

// ---- before the first frame

Merge::Merge(const qcr_merge_config& wish)
    : wish_(wish), doubts_(qcr_doubts_create(&wish.sink)), sink_(qcr_doubting(doubts_.get())),
      records_(records_of(wish)), frames_(records_), measured_(records_),
      rows_(qcr_rows_create(wish.renditions, std::max(wish.n_subsample, 1))) {
    if (rows_ == nullptr || doubts_ == nullptr) out_of_memory();
    if (wish.waits != 0) records_.may_come = [this] { return goes_on(); };
    names_.inputs = static_cast<int>(inputs());
    for (size_t i = 0; i < inputs(); ++i) {
        input_[i].role = i == 0 ? "main" : i == QCR_REFERENCE ? "reference" : formatted("main%zu", i - 1);
        names_.role[i] = input_[i].role.c_str();
    }
    config_.struct_size = sizeof(config_);
    config_.renditions = wish.renditions;
    config_.metrics = wish.metrics;
    config_.model = wish.model;
    config_.feature = wish.feature;
    config_.options = wish.options;
    config_.n_subsample = wish.n_subsample;
    config_.skip_unsupported = wish.skip_unsupported;
    config_.backend = QC_BACKEND_RECORDED;
    config_.log = log_of_engine;
    config_.log_opaque = &sink_;
}

Merge::~Merge() {
    qcr_close_files(&files_, 0); // a later merge of this process may write them anew
}

void Merge::check_wish() {
    qc_error error{};
    qc_request* request = nullptr;
    check(qc_request_create(&config_, &request, &error), error.text);
    request_.reset(request);
    qcr_file_wishes wishes{};
    wishes.log_path = wish_.log_path;
    wishes.log_fmt = wish_.log_fmt;
    wishes.stats_file = wish_.stats_file;
    wishes.renditions = wish_.renditions;
    qcr_failure failure{};
    if (qcr_open_files(&files_, &wishes, &sink_, &failure) < 0) throw RunTrouble(failure.text);
}

void Merge::open() {
    check_wish();
    const qcr_condition_rules rules = {
        .names = &names_, .range = wish_.range, .converts = converts() ? 1 : 0, .is_quiet = 0, .sink = sink_};
    conditions_.reset(qcr_conditions_create(&rules));
    if (conditions_ == nullptr) out_of_memory();
    beginning_ = read_beginning(records_);
    for (const auto& [level, text] : beginning_.said) say(sink_, level, text);
    make_pairs();
    settle_start();
}

void Merge::make_pairs() {
    const qcr_recorded_input& distorted = beginning_.inputs[0];
    qcr_pairs_config config{};
    config.rules.sync = QCR_SYNC_NEAREST;
    config.rules.eof_action = QCR_EOF_PASS;
    config.rules.max_dt = wish_.max_dt;
    config.rules.rate = -1;
    config.rules.mends_delay = 1;
    config.renditions = wish_.renditions;
    if (distorted.rate_num > 0 && distorted.rate_den > 0)
        config.claimed_rate = static_cast<double>(distorted.rate_num) / distorted.rate_den;
    config.rate_frames = QCR_RATE_FRAMES;
    config.sink = sink_;
    config.release = [](void* opaque, void* frame) { static_cast<Frames*>(opaque)->give_back(frame); };
    config.opaque = &frames_;
    for (size_t i = 0; i < inputs(); ++i) {
        const qcr_recorded_input& facts = beginning_.inputs[i];
        config.clock[i] = {facts.clock_num, facts.clock_den, 0};
        config.name[i] = names_.role[i];
        input_[i].tick = static_cast<double>(facts.clock_num) / facts.clock_den;
    }
    qcr_pairs* pairs = nullptr;
    check(qcr_pairs_create(&config, counts_.data(), &pairs), "the first record has a clock that is none");
    pairs_.reset(pairs);
}

void Merge::settle_start() {
    for (size_t input = 0; input < inputs(); ++input) {
        const auto index = static_cast<int>(input);
        for (int wanted; (wanted = qcr_pairs_first_frames(pairs_.get(), index)) > 0;) {
            std::array<int64_t, QCR_RATE_FRAMES> pts{};
            int count = 0;
            while (count < wanted) {
                const qcr_recorded_frame* const frame = frames_.peek(input, static_cast<size_t>(count));
                if (frame == nullptr) break;
                pts[static_cast<size_t>(count++)] = frame->pts;
            }
            qcr_pairs_show_first(pairs_.get(), index, pts.data(), count);
        }
    }
    frame_rate_ = qcr_pairs_rate(pairs_.get());
}

const qc_format& Merge::format_of(size_t input) const {
    if (input == QCR_REFERENCE) return config_.reference;
    return config_.distorted[input == 0 ? 0 : input - 1];
}

/// As the session of that part was opened: its pictures are those of all.
void Merge::open_session(size_t part) {
    const RecordedSession recorded = read_session(records_, part);
    if (recorded.config.empty()) records_.fail(part, "lacks a pair");
    if (!read_config(recorded.config, &config_) || config_.renditions != wish_.renditions)
        records_.fail(part, "is damaged");
    config_.frame_rate = frame_rate_;
    description_ = recorded.description;
    origin_ = recorded.origin;
    qc_error error{};
    qc_session* session = nullptr;
    check(qc_request_open(request_.get(), &config_, &session, &error), error.text);
    session_.reset(session);
    measured_.set_history(qc_session_history(session));
    std::array<qc_colour, QCR_MAX_VIDEOS> colour{};
    for (size_t i = 0; i < inputs(); ++i) {
        colour[i] = format_of(i).colour;
        qcr_adopt_colour(conditions_.get(), static_cast<int>(i), &colour[i]);
    }
    qcr_check_hdr(conditions_.get(), session, wish_.model, colour.data());
}

/// Whether the run's sessions convert what stands for something else.
bool Merge::converts() {
    for (size_t part = 0; part < records_.parts.size(); ++part) {
        qc_config config{};
        const RecordedSession recorded = read_session(records_, part);
        if (!recorded.config.empty() && read_config(recorded.config, &config)) return config.convert == QC_CONVERT_AUTO;
    }
    return true;
}

/// For a log without scores. @return false: no part had one
bool Merge::open_any_session() {
    for (size_t part = 0; part < records_.parts.size(); ++part) {
        if (read_session(records_, part).config.empty()) continue;
        open_session(part);
        return true;
    }
    return false;
}

// ---- frames come in

/// Frames that are no longer what the first one was end a rendition, and a run of the others.
bool Merge::has_changed(size_t input, const qcr_recorded_frame& frame) {
    const qcr_recorded_input& first = beginning_.inputs[input];
    if (frame.width == first.width && frame.height == first.height &&
        std::strcmp(frame.format_name, first.format_name) == 0)
        return false;
    const qcr_shape from = {first.width, first.height, first.format_name},
                    to = {frame.width, frame.height, frame.format_name};
    std::array<char, QCR_REFUSAL> why{};
    qcr_tell_change(&names_, static_cast<int>(input), &from, &to, seconds(input, frame.pts), why.data());
    if (input <= QCR_REFERENCE) throw RunTrouble(why.data());
    input_[input].refusal = why.data();
    qcr_say_no_further(why.data(), &sink_);
    return true;
}

/// The next frame of an input, or its end. @param is_checked a frame that has changed is refused
void Merge::offer_next(size_t input, bool is_checked) {
    const qcr_recorded_frame* const next = frames_.peek(input, 0);
    if (next == nullptr) {
        qcr_pairs_end(pairs_.get(), static_cast<int>(input), kNow);
        return;
    }
    qcr_offer offer{};
    offer.input = static_cast<int>(input);
    offer.pts = next->pts;
    offer.following_pts = QCR_NO_PTS;
    if (qcr_pairs_foresee(pairs_.get(), &offer) == 0) {
        const qcr_recorded_frame* const following = frames_.peek(input, 1);
        offer.knows_following = 1;
        if (following != nullptr) offer.following_pts = following->pts;
        qcr_pairs_foresee(pairs_.get(), &offer);
    }
    if (is_checked && has_changed(input, *next)) {
        frames_.give_back(frames_.take(input));
        qcr_pairs_refuse(pairs_.get(), offer.input, offer.pts);
        return;
    }
    offer.frame = frames_.take(input);
    qcr_pairs_offer(pairs_.get(), &offer);
}

void Merge::decide(qcr_decision* decision) {
    qcr_pairs_next(pairs_.get(), decision);
    while (decision->kind == QCR_NEEDS_INPUT) {
        for (size_t i = 0; i < inputs(); ++i)
            while (qcr_pairs_needs(pairs_.get(), static_cast<int>(i)) != 0) offer_next(i, true);
        qcr_pairs_next(pairs_.get(), decision);
    }
}

/// Behind the last decision: what inputs still have, as far as it tells whose end comes first. The distorted video is
/// the last one that is asked.
void Merge::read_rest() {
    qcr_decision decision{};
    do {
        for (size_t n = 1; n <= inputs(); ++n)
            while (qcr_pairs_needs(pairs_.get(), static_cast<int>(n % inputs())) != 0) offer_next(n % inputs(), false);
        qcr_pairs_next(pairs_.get(), &decision);
    } while (decision.needs != 0);
}

// ---- decisions

double Merge::seconds(size_t input, int64_t pts) const {
    return pts == QCR_NO_PTS ? kNotANumber : static_cast<double>(pts) * input_[input].tick;
}

qcr_frame_facts Merge::facts_of(size_t input, const qcr_recorded_frame* frame) const {
    qcr_frame_facts facts{};
    if (frame != nullptr) facts = frame->facts;
    const qcr_input met = qcr_pairs_input(pairs_.get(), static_cast<int>(input));
    facts.held = frame != nullptr ? 1 : 0;
    facts.time = frame != nullptr ? seconds(input, frame->pts) : kNotANumber;
    facts.jumps = met.jumps;
    facts.rate = met.rate;
    return facts;
}

void Merge::fail_session() {
    throw RunTrouble(std::string("scoring failed: ") + qc_session_error(session_.get()));
}

/// Hands what was measured of a pair to the session.
void Merge::submit(const qcr_decision& decision) {
    std::array<int64_t, QCR_MAX_VIDEOS> pts{};
    for (size_t i = 0; i < inputs(); ++i)
        pts[i] = decision.input[i].frame != nullptr ? decision.input[i].pts : QCR_NO_PTS;
    measured_.find(pts[0]);
    measured_.check(std::span(pts).first(inputs()));
    const std::span<const int64_t> words = measured_.words();
    const qc_status status =
        qc_session_submit_measured(session_.get(), decision.renditions, reinterpret_cast<const uint64_t*>(words.data()),
                                   static_cast<int64_t>(words.size()));
    measured_.keep();
    if (status != QC_OK) fail_session();
}

void Merge::score(const qcr_decision& decision, qcr_row* row) {
    std::array<qcr_frame_facts, QCR_MAX_VIDEOS> facts{};
    for (size_t i = 0; i < inputs(); ++i)
        facts[i] = facts_of(i, static_cast<const qcr_recorded_frame*>(decision.input[i].frame));
    for (size_t i = 1; i < inputs(); ++i) {
        qc_error error{};
        if (facts[i].held != 0)
            check(qcr_check_colour(conditions_.get(), static_cast<int>(i), &facts[i], facts.data(), &error),
                  error.text);
    }
    row->number = decision.row;
    row->renditions = decision.renditions;
    row->ref_pts_time = seconds(QCR_REFERENCE, decision.input[QCR_REFERENCE].pts);
    qcr_pairs_take(pairs_.get());
    try {
        if (session_ != nullptr) {
            for (size_t i = 0; i < inputs(); ++i)
                if (facts[i].held != 0) qcr_follow_colour(conditions_.get(), static_cast<int>(i), &facts[i]);
        } else {
            size_t part = 0;
            while (records_.is_beyond(part, 0, decision.input[0].pts)) ++part;
            open_session(part);
        }
        submit(decision);
    } catch (...) {
        qcr_pairs_fail(pairs_.get());
        throw;
    }
    note(facts.data(), row);
    append(*row);
    qcr_note_pair(&alignment_, row->number, row->pts_time);
}

void Merge::note(const qcr_frame_facts* facts, qcr_row* row) {
    check(qcr_note_frames(conditions_.get(), facts, row->number, counts_.data(), &row->corrupt), "");
}

void Merge::append(const qcr_row& row) {
    check(qcr_rows_append(rows_.get(), &row, counts_.data()), "");
}

void Merge::break_session() {
    if (session_ != nullptr && !is_flushed_ && qc_session_break(session_.get()) != QC_OK) fail_session();
}

/// No pair follows.
void Merge::flush() {
    if (!std::exchange(is_flushed_, true) && session_ != nullptr && qc_session_flush(session_.get()) != QC_OK)
        fail_session();
}

/// The frame has no scores.
void Merge::pass(const qcr_decision& decision, qcr_row* row) {
    row->unscored = decision.why == QCR_WHY_UNTIMED ? "untimed" : "unpaired";
    std::array<qcr_frame_facts, QCR_MAX_VIDEOS> facts{};
    for (size_t i = 0; i < inputs(); ++i)
        facts[i] = facts_of(i, i == 0 ? static_cast<const qcr_recorded_frame*>(decision.input[0].frame) : nullptr);
    note(facts.data(), row);
    append(*row);
    if (decision.begins_pause != 0) break_session();
    if (decision.is_last != 0) flush();
}

void Merge::act(const qcr_decision& decision) {
    qcr_row row{};
    row.frame = decision.input[0].frame; // which nobody looks into: rows have one as long as they wait
    row.number = -1;
    row.pts_time = seconds(0, decision.input[0].pts);
    row.ref_pts_time = kNotANumber;
    if (decision.kind == QCR_PAIR)
        score(decision, &row);
    else
        pass(decision, &row);
    frames_.give_back(decision.input[0].frame);
}

// ---- scores come back

void Merge::receive(bool waits) {
    while (session_ != nullptr) {
        qc_row scores{};
        const qc_status status = qc_session_receive(session_.get(), waits ? 1 : 0, &scores);
        if (status == QC_AGAIN || status == QC_END) break;
        if (status != QC_OK) fail_session();
        qcr_row settled{};
        check(qcr_rows_deliver(rows_.get(), &scores, qc_session_feature_count(session_.get()), &settled),
              "scores came out of order");
    }
    qcr_row taken{};
    while (qcr_rows_take(rows_.get(), &taken) != 0) {
    }
    qcr_rows_confirm(rows_.get());
    account(false);
}

void Merge::account(bool all) {
    qcr_row row{};
    while (qcr_rows_account(rows_.get(), all ? 1 : 0, &row) != 0) {
        if (row.number >= 0) say_findings(row.number + 1);
        if (row.present == nullptr) continue;
        qc_row scores{};
        scores.frame = row.number;
        scores.value = row.value;
        scores.present = row.present;
        const qcr_stats_row line = {&scores, row.pts_time, row.ref_pts_time, row.corrupt, wish_.renditions};
        qcr_write_stats_line(&files_, session_.get(), &line, &sink_);
    }
}

void Merge::say_findings(int64_t rows_left) {
    const qcr_alignment_rules rules = alignment_rules();
    qcr_say_findings(&alignment_, &rules, session_.get(), rows_left, end_ == QCR_END_OF_STREAM ? 1 : 0, &sink_);
}

qcr_alignment_rules Merge::alignment_rules() const {
    qcr_alignment_rules rules{};
    rules.names = &names_;
    rules.renditions = wish_.renditions;
    rules.frame_rate = frame_rate_;
    rules.conditions = conditions_.get();
    return rules;
}

// ---- the end

bool Merge::goes_on() {
    if (!is_stopped_ && wish_.goes_on != nullptr && wish_.goes_on(wish_.opaque) == 0) is_stopped_ = true;
    return !is_stopped_;
}

void Merge::fail(qcr_merged how, const std::string& why) {
    if (is_stopped_ || outcome_ != QCR_MERGED) return;
    outcome_ = how;
    reason_ = why;
    say(sink_, QCR_LEVEL_ERROR, why);
}

/// Whether a rendition, or all of them, lack too many frames.
void Merge::judge() {
    qcr_conclude_conditions(conditions_.get());
    if (outcome_ != QCR_MERGED) return;
    std::array<char, QCR_REFUSAL> why{};
    const double tolerance = qcr_pairs_tolerance(pairs_.get());
    is_refused_ = qcr_refuse_pairs(counts_.data(), 0, tolerance, why.data()) != 0;
    for (int k = 1; k < wish_.renditions && !is_refused_; ++k) {
        Input& in = input_[static_cast<size_t>(qcr_input_of(k))];
        std::array<char, QCR_REFUSAL> own{};
        if (qcr_refuse_pairs(&counts_[static_cast<size_t>(k)], k, tolerance, own.data()) == 0) continue;
        in.refusal = own.data();
        in.is_mispaired = is_rendition_refused_ = true;
        say(sink_, QCR_LEVEL_ERROR, in.refusal);
    }
    const int64_t received[] = {qcr_pairs_input(pairs_.get(), 0).received,
                                qcr_pairs_input(pairs_.get(), QCR_REFERENCE).received};
    if (!is_refused_) is_refused_ = qcr_refuse_nothing(counts_.data(), end_, received, why.data()) != 0;
    if (is_refused_) fail(QCR_MERGE_FAILED, why.data());
}

qcr_report_input Merge::input_of_report(int input) const {
    const auto at = static_cast<size_t>(input);
    const qcr_input met = qcr_pairs_input(pairs_.get(), input);
    qcr_report_input result{};
    result.format = beginning_.inputs[at].format_name;
    result.width = format_of(at).width;
    result.height = format_of(at).height;
    result.colour = format_of(at).colour;
    result.bit_rate = qcr_bit_rate(frames_.packet_bytes(at), met.received, met.seconds);
    result.refusal = input_[at].refusal.c_str();
    result.is_refused = input_[at].is_mispaired ? 1 : 0;
    result.delay = met.delay;
    result.has_other_length = met.has_other_length;
    return result;
}

qcr_report Merge::report_of() const {
    const bool is_plain = wish_.metrics == nullptr || std::strcmp(wish_.metrics, "vmaf") == 0;
    qcr_report report{};
    report.renditions = wish_.renditions;
    report.n_subsample = std::max(wish_.n_subsample, 1);
    report.pool = QC_POOL_MEAN;
    report.shows_all_features = wish_.feature != nullptr || !is_plain ? 1 : 0;
    report.watches_contents = 1;
    report.alignment_rules = alignment_rules();
    report.end = end_;
    report.has_failed = outcome_ != QCR_MERGED ? 1 : 0;
    report.reason = reason_.c_str();
    report.gpu_failure = "";
    report.counts = counts_.data();
    qcr_report_pairs(&report, pairs_.get(), qcr_rows_tally(rows_.get()));
    report.conditions = conditions_.get();
    report.doubts = doubts_.get();
    report.alignment = &alignment_;
    report.session = session_.get();
    report.engine = description_.c_str();
    report.origin = origin_.empty() ? nullptr : origin_.c_str();
    for (int i = 0; i < names_.inputs; ++i) report.input[i] = input_of_report(i);
    report.scored_width = config_.scoring_width != 0 ? config_.scoring_width : config_.reference.width;
    report.scored_height = config_.scoring_height != 0 ? config_.scoring_height : config_.reference.height;
    return report;
}

/// Parts of several builds or GPUs have equal scores by all that we know: it is said, and is in the log. Where the
/// merge has failed, records may be damaged, or may never come: then it is the origin of the part that opened the
/// session.
void Merge::find_origin() {
    if (outcome_ != QCR_MERGED) return;
    std::vector<std::string> origins;
    for (size_t part = 0; part < records_.parts.size(); ++part)
        if (RecordedSession recorded = read_session(records_, part); !recorded.config.empty())
            origins.push_back(std::move(recorded.origin));
    origin_ = joined_origin(origins);
    if (!origins.empty() && origin_ != origins.front())
        say(sink_, QCR_LEVEL_INFO, "the parts were scored by several builds or devices: " + origin_);
}

/// An incomplete log does not take the place of one that is there: that may be a whole run's.
void Merge::spare_logs() {
    if (outcome_ == QCR_MERGED && !is_rendition_refused_) return;
    const bool is_any_there = std::any_of(std::begin(files_.log), std::end(files_.log), [](const char* path) {
        std::error_code error;
        return path != nullptr && std::filesystem::is_regular_file(path, error);
    });
    for (char*& path : files_.log)
        if (is_any_there) std::free(std::exchange(path, nullptr));
}

/// @return false: a log could not be written, which was said
bool Merge::report() {
    spare_logs();
    // Without any pair there was no session; the log has to say so all the same.
    if (session_ == nullptr && (outcome_ == QCR_MERGED || is_refused_) && files_.log[0] != nullptr &&
        open_any_session())
        qc_session_flush(session_.get());
    if (session_ != nullptr) qc_session_end_search(session_.get());
    say_findings(counts_[0].paired);
    find_origin();
    const qcr_report report = report_of();
    const qc_status written = qcr_write_logs(&report, &files_, 1, &sink_);
    const bool has_lines = qcr_finish_stats(&files_, &sink_) == 0;
    const qc_status said = qcr_say_summary(&report, &sink_);
    return written == QC_OK && has_lines && said == QC_OK;
}

/// Nothing comes any more: decides what counts, and reports. @return as report()
bool Merge::conclude() {
    qcr_pairs_count_unused(pairs_.get());
    end_ = outcome_ == QCR_MERGED ? QCR_END_OF_STREAM : QCR_END_BY_FAILURE;
    judge();
    if (outcome_ != QCR_MERGED) end_ = QCR_END_BY_FAILURE;
    account(true);
    return report();
}

void Merge::work() {
    open();
    for (int64_t n = 0;; ++n) {
        if (n % kDecisionsBetweenLooks == 0 && !goes_on()) return;
        qcr_decision decision{};
        decide(&decision);
        if (decision.kind == QCR_END) break;
        act(decision);
        receive(false);
    }
    flush();
    receive(true);
    read_rest();
}

qcr_merged Merge::run() {
    try {
        work();
    } catch (const PartsTrouble& trouble) {
        fail(QCR_MERGE_INEXACT, trouble.what());
    } catch (const RunTrouble& trouble) {
        fail(QCR_MERGE_FAILED, trouble.what());
    }
    if (is_stopped_) return QCR_MERGE_STOPPED;
    if (outcome_ != QCR_MERGED) {
        if (pairs_ == nullptr || (counts_[0].frames == 0 && session_ == nullptr)) return outcome_;
        // What is finished stays.
        try {
            flush();
            receive(true);
        } catch (const RunTrouble&) { // the first failure is told
        }
    }
    const bool is_written = conclude();
    if (outcome_ == QCR_MERGED && (!is_written || is_rendition_refused_)) outcome_ = QCR_MERGE_FAILED;
    return outcome_;
}

} // namespace qc::run

qcr_merged qcr_merge(const qcr_merge_config* config) {
    using namespace qc::run;
    qcr_merged outcome = QCR_MERGE_FAILED;
    const qc_status status = guarded([&] { outcome = Merge(*config).run(); });
    if (status != QC_OK)
        if_possible([&] {
            say(config->sink, QCR_LEVEL_ERROR, status == QC_ERROR_NO_MEMORY ? "out of memory" : "the merge failed");
        });
    return outcome;
}
