// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/pairs/machine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "run/pairs/delay.hpp"
#include "run/pairs/lengths.hpp"
#include "run/pairs/messages.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

using qc::run::Choice;
using qc::run::Frame;
using qc::run::is_frame;
using qc::run::is_lavfi;
using qc::run::lack_of;
using qc::run::move_later;
using qc::run::plausible_rate;
using qc::run::rescaled;
using qc::run::tolerance_of;
using qc::run::Track;

namespace {

constexpr int kDistorted = 0, kReference = 1;

/// So many frames more are read behind the end of the distorted video, to learn whether an input goes on.
constexpr int kLongestTail = 100;

constexpr double kRounding = 1e-6;     ///< of times in seconds
constexpr double kCoarsestTick = 1e-3; ///< seconds: coarser clocks are made of frame rates, and round nothing

/// Says what `compose` makes.
template <class Compose>
void warn(const qcr_sink& sink, Compose compose) noexcept {
    qc::run::if_possible([&] { qc::run::say(sink, QCR_LEVEL_WARNING, compose()); });
}

} // namespace

qcr_pairs::qcr_pairs(const qcr_pairs_config& config, qcr_counts* counts)
    : config_(config), counts_(counts),
      inputs_(static_cast<size_t>(1 + config.renditions + (config.has_weights != 0 ? 1 : 0))) {
    for (int i = 0; i < input_count(); ++i) {
        input(i).name = config.name[i] != nullptr ? config.name[i] : "";
        input(i).track.clock = config.clock[i];
    }
    const qcr_rules& rules = config.rules;
    pairing_ = {rules.sync, rules.eof_action, 0, rules.max_dt > 0, rules.outlasts != 0};
    adopt_rate(plausible_rate(config.claimed_rate, {}, config.clock[kDistorted]));
}

qcr_pairs::qcr_pairs(const qcr_pairs& whole, qcr_counts* counts)
    : config_(whole.config_), pairing_(whole.pairing_), counts_(counts),
      inputs_(static_cast<size_t>(1 + config_.renditions)), rate_(whole.rate_), rate_settled_(true) {
    config_.has_weights = 0;
    config_.sink = {};
    config_.release = nullptr;
    pairing_.eof_action = QCR_EOF_PASS; // a repeated picture tells nothing
    pairing_.outlasts = false;
    for (int i = 0; i < input_count(); ++i) input(i).track.clock = whole.input(i).track.clock;
}

qcr_pairs::~qcr_pairs() {
    release(&waiting_.frame);
    for (Input& in : inputs_) {
        release(&in.cur);
        release(&in.next);
    }
}

// ---- rules ----------------------------------------------------------------------------------------------------------

bool qcr_pairs::goes_by_stamps() const {
    return pairing_.sync != QCR_SYNC_INDEX && !is_lavfi(pairing_);
}

int64_t qcr_pairs::stamp_of(const Input& in, int64_t pts) const {
    return pts == QCR_NO_PTS || !is_lavfi(pairing_) ? pts : rescaled(pts, in.track.clock, config_.common);
}

/// A rate that was measured is of the first frames only: it makes the tolerance of pairs smaller than that of an
/// unknown rate, never larger.
void qcr_pairs::adopt_rate(double rate) {
    rate_ = rate;
    pairing_.tolerance = tolerance_of(config_.rules.max_dt, rate);
    if (rate != config_.claimed_rate)
        pairing_.tolerance = std::min(pairing_.tolerance, tolerance_of(config_.rules.max_dt, 0));
}

int qcr_pairs::rate_frames() const {
    const bool measures = config_.rules.rate < 0 && config_.claimed_rate > 0 && pairing_.sync != QCR_SYNC_INDEX;
    return measures && !rate_settled_ ? config_.rate_frames : 0;
}

/// The engine is never told of a frame that is moved: its pictures are what they are.
bool qcr_pairs::mends_delay() const {
    return config_.rules.mends_delay != 0 && pairing_.sync == QCR_SYNC_NEAREST && config_.rules.align_start == 0;
}

int qcr_pairs::first_frames(int index) const {
    const Input& in = input(index);
    if (in.is_shown) return 0;
    if (index == kDistorted) return mends_delay() ? config_.rate_frames : rate_frames();
    if (!mends_delay() || is_weights(index)) return 0;
    return in.shown.empty() ? 1 : config_.rate_frames; // one tells whether the others are worth waiting for
}

void qcr_pairs::show_first(int index, std::span<const int64_t> pts) {
    Input& in = input(index);
    const Input& distorted = input(kDistorted);
    in.is_shown = index == kDistorted || pts.size() != 1 || !in.shown.empty() ||
                  !qc::run::may_be_delayed(distorted.shown, distorted.track.clock, pts[0], in.track.clock);
    if (index == kDistorted) settle_rate(rate_frames() > 0 ? pts : std::span<const int64_t>());
    qc::run::if_possible([&] { in.shown.assign(pts.begin(), pts.end()); });
    if (index != kDistorted && in.is_shown) mend_delay(index);
}

void qcr_pairs::mend_delay(int index) noexcept {
    Input& in = input(index);
    const Input& distorted = input(kDistorted);
    in.delay = qc::run::delay_of(distorted.shown, distorted.track.clock, in.shown, in.track.clock);
    if (in.delay == 0) return;
    move_later(in.track.clock, in.delay);
    warn(config_.sink, [&] { return qc::run::delay_sentence(index, in); });
}

void qcr_pairs::settle_rate(std::span<const int64_t> pts) {
    if (rate_settled_) return;
    rate_settled_ = true;
    if (config_.rules.rate >= 0) {
        rate_ = config_.rules.rate;
        pairing_.tolerance = tolerance_of(config_.rules.max_dt, rate_);
        return;
    }
    adopt_rate(plausible_rate(config_.claimed_rate, pts, input(kDistorted).track.clock));
    if (rate_ == config_.claimed_rate || is_lavfi(pairing_)) return; // lavfi's rules have no use for it
    warn(config_.sink,
         [this] { return qc::run::rate_sentence(input(kDistorted), config_.claimed_rate, rate_, pairing_.tolerance); });
}

void qcr_pairs::correct_start(int rendition, bool is_told, int frames, double seconds) {
    Input& reference = input(kReference);
    Input& own = input(rendition == 0 ? kDistorted : 1 + rendition);
    if (rendition == 0) start_told_ = is_told;
    if (pairing_.sync != QCR_SYNC_INDEX) {
        if (!is_told) return;
        if (config_.renditions == 1)
            move_later(reference.track.clock, seconds);
        else
            move_later(own.track.clock, -seconds);
    } else if (rendition == 0) {
        // Whoever is ahead begins with a later frame of the reference; whoever is behind leaves out its own first
        // frames.
        reference.left_out = std::max(-frames, 0);
        reference.track.delay = std::max(frames, 0);
    } else {
        const int first = frames + reference.left_out; // its frame for the first pair
        own.left_out = std::max(first, 0);
        own.track.delay = reference.track.delay + std::max(-first, 0);
    }
}

// ---- messages -------------------------------------------------------------------------------------------------------

void qcr_pairs::warn_of_start() noexcept {
    const Input &distorted = input(kDistorted), &reference = input(kReference);
    if (start_checked_ || distorted.first_pts == QCR_NO_PTS || reference.first_pts == QCR_NO_PTS) return;
    start_checked_ = true;
    const double start = distorted.seconds(distorted.first_pts);
    const double reference_start = reference.seconds(reference.first_pts);
    if (!goes_by_stamps() || config_.rules.align_start != 0 || start_told_ || reference.delay != 0 ||
        std::abs(start - reference_start) <= pairing_.tolerance)
        return;
    warn(config_.sink, [&] { return qc::run::start_sentence(start, reference_start); });
}

// ---- frames come in -------------------------------------------------------------------------------------------------

void qcr_pairs::release(Frame* frame) {
    if (frame->handle != nullptr && config_.release != nullptr) config_.release(config_.opaque, frame->handle);
    frame->handle = nullptr;
}

void qcr_pairs::drop(Input& in, Frame* frame) {
    ++in.track.unused;
    release(frame);
}

bool qcr_pairs::jumps(int index, int64_t pts) const {
    return goes_by_stamps() && !is_weights(index) && input(index).jumps_to(pts);
}

bool qcr_pairs::foresee(const qcr_offer& offer) {
    Input& in = input(offer.input);
    const int64_t before = in.last_pts, pts = offer.pts;
    in.is_outlier = false;
    const bool is_jump = jumps(offer.input, pts);
    if (is_jump && offer.knows_following == 0) return false;
    in.is_foreseen = true;
    if (!is_jump) {
        if (pts != QCR_NO_PTS) in.last_pts = pts;
        return true;
    }
    ++in.jumps;
    if (!std::exchange(jump_told_, true))
        warn(config_.sink, [&] { return qc::run::jump_sentence(offer.input, in, before, pts); });
    in.is_outlier = offer.following_pts != QCR_NO_PTS && !in.is_jump(before, offer.following_pts);
    if (in.is_outlier) return true;
    in.epoch += pts < before ? 1 : 0;
    in.last_pts = pts;
    return true;
}

bool qcr_pairs::offer(const qcr_offer& offer) {
    Input& in = input(offer.input);
    if (!in.is_foreseen && !foresee(offer)) return false;
    in.is_foreseen = false;
    in.end_silence();
    const Frame frame{offer.frame, offer.pts, in.epoch};
    if (state_ == State::kRunning)
        receive(offer.input, frame);
    else if (offer.input != kDistorted)
        receive_tail(in, frame);
    if (offer.input == kDistorted) wait(offer);
    return true;
}

/// A distorted frame comes, which is the next one to be decided about.
void qcr_pairs::wait(const qcr_offer& offer) {
    const Input& in = input(kDistorted);
    release(&waiting_.frame);
    waiting_ = {true, {offer.frame, offer.pts, in.epoch}, QCR_NO_PTS, offer.disabled != 0, false};
    if (!in.is_outlier) waiting_.stamp = stamp_of(in, offer.pts);
    last_stamp_ = waiting_.stamp;
    last_disabled_ = waiting_.disabled;
    has_begun_ = true;
}

/// Counts a frame, and gives it to its track.
void qcr_pairs::receive(int index, Frame frame) {
    Input& in = input(index);
    ++in.received;
    if (in.first_pts == QCR_NO_PTS && frame.pts != QCR_NO_PTS && (!is_weights(index) || in.received == 1)) {
        in.first_pts = frame.pts;
        if (config_.rules.align_start != 0) in.track.clock.origin = frame.pts;
    }
    if (index == kDistorted) return;
    if (is_weights(index)) {
        in.next = frame;
        return;
    }
    if (in.left_out > 0) {
        --in.left_out;
        return drop(in, &frame);
    }
    if (!goes_by_stamps() || (frame.pts != QCR_NO_PTS && !in.is_outlier)) {
        in.next = frame;
        return in.track.push(stamp_of(in, frame.pts));
    }
    if (in.track.unused == 0 && !in.is_outlier)
        warn(config_.sink, [&] { return qc::run::untimed_sentence(index, in); });
    drop(in, &frame);
}

/// Whether a frame that no pair used comes when the last distorted one is over, whose rate may be lower.
bool qcr_pairs::is_behind(const Input& in, int64_t pts) const {
    const Input& distorted = input(kDistorted);
    if (pairing_.sync == QCR_SYNC_INDEX) return true;
    if (pts == QCR_NO_PTS || distorted.first_pts == QCR_NO_PTS || distorted.last_pts == QCR_NO_PTS) return false;
    double frame = 0;
    if (distorted.received > 1)
        frame = (distorted.seconds(distorted.last_pts) - distorted.seconds(distorted.first_pts)) /
                static_cast<double>(distorted.received - 1);
    return qc::run::distance(in.track.clock, pts, distorted.track.clock, distorted.last_pts) >
           std::max(pairing_.tolerance, frame - pairing_.tolerance) + kRounding;
}

void qcr_pairs::receive_tail(Input& in, Frame frame) {
    if (state_ == State::kEnded) {
        in.behind += is_behind(in, frame.pts) ? 1 : 0;
        ++in.tail;
    }
    drop(in, &frame);
}

void qcr_pairs::end(int index, double now) {
    input(index).track.ended = true;
    input(index).interrupt_silence(now);
}

void qcr_pairs::refuse(int index, int64_t pts) {
    Input& in = input(index);
    in.is_foreseen = false;
    in.end_silence();
    ++in.received;
    if (in.first_pts == QCR_NO_PTS) in.first_pts = pts;
    in.track.ended = true;
}

// ---- what is needed -------------------------------------------------------------------------------------------------

/// The frame `cur` is dropped, `next` takes its place.
void qcr_pairs::step(Input& in) {
    in.track.step();
    release(&in.cur);
    in.cur = std::exchange(in.next, {});
}

/// Finds the waiting frame's partner. @return whether that was possible
bool qcr_pairs::resolve(Input& in) {
    const Input& distorted = input(kDistorted);
    for (;;) {
        in.choice = goes_by_stamps() && waiting_.stamp != QCR_NO_PTS
                        ? in.choose_in_epoch(pairing_, distorted, waiting_.stamp)
                        : choose(pairing_, in.track, distorted.track.clock, waiting_.stamp);
        if (in.choice != Choice::kStep) return in.choice != Choice::kPull;
        step(in);
    }
}

/// Whether the next weights hold from the waiting frame on, or from an earlier one.
bool qcr_pairs::next_weights_hold(const Input& in) const {
    if (in.cur.handle == nullptr) return true;
    if (pairing_.sync == QCR_SYNC_INDEX) return weights_ <= counts_[0].frames;
    // Both stamps may have been rounded, to milliseconds where a container has no finer ones.
    const auto half_tick = [](const Input& input) {
        return 0.5 * static_cast<double>(input.track.clock.num) / static_cast<double>(input.track.clock.den);
    };
    const double rounding = std::min(half_tick(in) + half_tick(input(kDistorted)), kCoarsestTick);
    return distance(in, in.next.pts) <= rounding + kRounding; // never for NaN
}

bool qcr_pairs::resolve_weights(Input& in) {
    while (in.next.handle != nullptr) {
        if (!next_weights_hold(in)) return true;
        release(&in.cur);
        in.cur = std::exchange(in.next, {});
        ++weights_;
    }
    return in.track.ended;
}

bool qcr_pairs::resolve_all() {
    bool is_known = true;
    for (int i = kReference; i < input_count(); ++i)
        is_known &= is_weights(i) ? resolve_weights(input(i)) : resolve(input(i));
    return is_known;
}

/// Whether the last distorted frame may come again behind the end.
bool qcr_pairs::outlasts() const {
    return pairing_.outlasts && has_begun_ && input(kDistorted).track.ended;
}

bool qcr_pairs::needs(int index) {
    Input& in = input(index);
    if (in.track.ended) return false;
    if (state_ == State::kAbandoned) return index == kDistorted ? !waiting_.held : !is_weights(index);
    if (state_ == State::kEnded)
        return index != kDistorted && !is_weights(index) && in.tail < std::max<int64_t>(kLongestTail, in.tail_to_read);
    if (index == kDistorted) return !waiting_.held;
    if (!waiting_.held) return index == kReference && outlasts() && !in.track.next.held;
    return is_weights(index) ? !resolve_weights(in) : !resolve(in);
}

// ---- decisions ------------------------------------------------------------------------------------------------------

/// Makes the last distorted frame wait again, at the time of the reference's next one, where that goes on.
bool qcr_pairs::repeat_last() {
    const Track& track = input(kReference).track;
    if (!outlasts_distorted(pairing_, track, last_stamp_)) return false;
    const int64_t stamp = track.next.pts;
    const int64_t pts = stamp == QCR_NO_PTS ? stamp : rescaled(stamp, config_.common, input(kDistorted).track.clock);
    waiting_ = {true, {nullptr, pts, input(kDistorted).epoch}, stamp, last_disabled_, true};
    last_stamp_ = stamp;
    return true;
}

double qcr_pairs::distance(const Input& in, int64_t pts) const {
    if (pairing_.sync == QCR_SYNC_INDEX || pts == QCR_NO_PTS || waiting_.frame.pts == QCR_NO_PTS)
        return std::numeric_limits<double>::quiet_NaN();
    return qc::run::distance(in.track.clock, pts, input(kDistorted).track.clock, waiting_.frame.pts);
}

void qcr_pairs::count_frame(bool disabled) {
    for (int k = 0; k < config_.renditions; ++k) qcr_count_frame(&counts_[k], disabled ? 1 : 0);
}

void qcr_pairs::hand_over(qcr_decision* decision) {
    decision->input[kDistorted].frame = waiting_.frame.handle;
    decision->input[kDistorted].pts = waiting_.frame.pts;
    decision->is_repeat = waiting_.is_repeat ? 1 : 0;
    waiting_ = {};
}

/// Frames that no further one may use give way, and a beginning that is put off comes nearer.
void qcr_pairs::use_up() {
    for (int i = kReference; i <= config_.renditions; ++i) {
        Input& in = input(i);
        if (uses_up(pairing_, in.choice))
            step(in);
        else if (in.track.delay > 0)
            --in.track.delay;
    }
}

void qcr_pairs::make_pair(qcr_decision* decision) {
    decision->kind = QCR_PAIR;
    decision->row = counts_[0].paired;
    decision->renditions = 1;
    decision->after_pause = after_pause_ ? 1 : 0;
    for (int i = kReference; i < input_count(); ++i) {
        const Input& in = input(i);
        qcr_partner& partner = decision->input[i];
        if (is_weights(i)) {
            partner.frame = in.cur.handle;
            partner.pts = in.cur.pts;
            continue;
        }
        partner.lack = lack_of(in.choice);
        if (partner.lack != QCR_HAS_FRAME) continue;
        const Frame& frame = in.choice == Choice::kNext ? in.next : in.cur;
        partner.frame = frame.handle;
        partner.pts = frame.pts;
        partner.distance = distance(in, frame.pts);
        decision->renditions |= uint32_t{1} << (i - kReference); // the reference is that of rendition 0
    }
    hand_over(decision);
    latest_ = *decision;
}

/// The waiting frame goes on without scores.
void qcr_pairs::pass(qcr_decision* decision) {
    const Choice choice = input(kReference).choice;
    const bool is_untimed = pairing_.sync != QCR_SYNC_INDEX && waiting_.frame.pts == QCR_NO_PTS;
    const bool is_disabled = waiting_.disabled;
    decision->kind = QCR_PASS;
    decision->why = is_disabled ? QCR_WHY_DISABLED : is_untimed ? QCR_WHY_UNTIMED : QCR_WHY_UNPAIRED;
    for (int k = config_.renditions - 1; k >= 0; --k)
        decision->begins_pause =
            qcr_count_unpaired(&counts_[k], lack_of(choice), is_disabled ? 1 : 0, is_untimed ? 1 : 0);
    decision->is_last = choice == Choice::kEnded ? 1 : 0;
    for (int i = kReference; i <= config_.renditions; ++i) decision->input[i].lack = lack_of(input(i).choice);
    is_over_ |= decision->is_last != 0;
    after_pause_ |= decision->begins_pause != 0;
    hand_over(decision);
    use_up();
}

void qcr_pairs::decide(qcr_decision* decision) {
    const Choice choice = input(kReference).choice;
    count_frame(waiting_.disabled);
    for (int k = 0; k < config_.renditions; ++k) counts_[k].unused = input(k + 1).track.unused;
    if (is_frame(choice) && !waiting_.disabled && !is_over_)
        make_pair(decision);
    else
        pass(decision);
}

/// Nothing is compared any more.
void qcr_pairs::decide_abandoned(qcr_decision* decision) {
    if (!waiting_.held) {
        decision->kind = input(kDistorted).track.ended ? QCR_END : QCR_NEEDS_INPUT;
        return;
    }
    count_frame(false);
    decision->kind = QCR_PASS;
    decision->why = QCR_WHY_ABANDONED;
    hand_over(decision);
}

/// The output ends here. A frame that waits stays.
void qcr_pairs::decide_end(qcr_decision* decision) {
    if (state_ == State::kRunning && goes_by_stamps())
        for (Input& in : inputs_) in.tail_to_read = qc::run::frames_to_compare(input(kDistorted), in);
    state_ = State::kEnded;
    decision->kind = QCR_END;
    decision->is_early = waiting_.held ? 1 : 0;
    decision->input[kDistorted].pts = waiting_.frame.pts;
}

/// Frames are compared.
void qcr_pairs::decide_running(qcr_decision* decision) {
    settle_rate({});
    if (!waiting_.held) {
        if (!input(kDistorted).track.ended || needs(kReference)) return;
        if (!outlasts() || !repeat_last()) return decide_end(decision);
    }
    if (!resolve_all()) return;
    warn_of_start();
    if (input(kReference).choice == Choice::kEnded && pairing_.eof_action == QCR_EOF_ENDALL)
        decide_end(decision);
    else
        decide(decision);
}

void qcr_pairs::next(qcr_decision* decision) {
    *decision = {}; // QCR_NEEDS_INPUT
    for (qcr_partner& partner : decision->input)
        partner = {nullptr, QCR_NO_PTS, QCR_HAS_FRAME, std::numeric_limits<double>::quiet_NaN()};
    if (state_ == State::kAbandoned)
        decide_abandoned(decision);
    else if (state_ == State::kEnded)
        decide_end(decision);
    else
        decide_running(decision);
    for (int i = 0; i < input_count() && (decision->kind == QCR_NEEDS_INPUT || decision->kind == QCR_END); ++i)
        decision->needs |= needs(i) ? uint32_t{1} << i : 0;
}

void qcr_pairs::take() {
    after_pause_ = false;
    counts_[0].unpaired_row = 0;
    for (int k = 0; k < config_.renditions; ++k) {
        Input& in = input(k + 1);
        qcr_counts& counts = counts_[k];
        if (!is_frame(in.choice)) continue;
        counts.repeated += in.track.use(in.choice) ? 1 : 0;
        if (!std::isnan(latest_.input[k + 1].distance)) qcr_count_distance(&counts, latest_.input[k + 1].distance);
    }
    for (int k = 0; k < config_.renditions; ++k) {
        if ((latest_.renditions >> k & 1) != 0)
            ++counts_[k].paired;
        else
            qcr_count_without_rendition(&counts_[k], latest_.input[k + 1].lack);
    }
    use_up();
}

void qcr_pairs::leave() {
    for (int k = 0; k < config_.renditions; ++k) {
        Input& in = input(k + 1);
        if (is_frame(in.choice)) in.track.use(in.choice);
        ++counts_[k].passed;
    }
    use_up();
}

void qcr_pairs::fail() {
    for (int k = 0; k < config_.renditions; ++k) {
        const qcr_lack lack = latest_.input[k + 1].lack;
        qcr_counts& counts = counts_[k];
        if (k == 0 || lack == QCR_HAS_FRAME)
            --counts.paired;
        else
            --(lack == QCR_LACKS_BEFORE ? counts.late : lack == QCR_LACKS_GAP ? counts.holes : counts.ended);
    }
}

// ---- what is known --------------------------------------------------------------------------------------------------

qcr_input qcr_pairs::state_of(int index) const {
    constexpr int64_t kEnough = 5; // the rhythm of 3:2 pulldown
    const Input& in = input(index);
    const qcr_clock& clock = config_.clock[index];
    double seconds = std::numeric_limits<double>::quiet_NaN(), rate = 0;
    if (in.first_pts != QCR_NO_PTS && in.last_pts != QCR_NO_PTS)
        seconds = static_cast<double>(in.last_pts - in.first_pts) * clock.num / clock.den;
    if (in.received >= kEnough && seconds > 0) rate = static_cast<double>(in.received - 1) / seconds;
    qcr_input met{};
    met.received = in.received;
    met.first_pts = in.first_pts;
    met.last_pts = in.last_pts;
    met.seconds = seconds;
    met.rate = rate;
    met.jumps = in.jumps;
    met.behind = in.behind;
    met.ended = in.track.ended ? 1 : 0;
    met.delay = in.delay;
    met.has_other_length = in.has_other_length ? 1 : 0;
    return met;
}

void* qcr_pairs::held(int index) const {
    const Input& in = input(index);
    return in.next.handle != nullptr ? in.next.handle : in.cur.handle;
}

/// Both may have the same frames, and not the same time for them: that is known at the end alone.
void qcr_pairs::compare_lengths(int index) {
    Input& in = input(index);
    const Input& distorted = input(kDistorted);
    if (state_ != State::kEnded || !goes_by_stamps() || std::exchange(in.is_compared, true)) return;
    in.has_other_length = qc::run::have_other_lengths(distorted, in);
    if (in.has_other_length)
        warn(config_.sink, [&] { return qc::run::lengths_sentence(distorted, in, index); });
    else if (mends_delay() && qc::run::begins_a_frame_apart(distorted, in))
        warn(config_.sink, [&] { return qc::run::apart_sentence(distorted, in, index); });
}

void qcr_pairs::count_unused() {
    for (int i = kReference; i <= config_.renditions; ++i) compare_lengths(i);
    for (int k = 0; k < config_.renditions; ++k) counts_[k].unused = input(k + 1).track.unused_by_now();
}
