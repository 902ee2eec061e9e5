// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pairing on any time stamps: it ends, asks for frames in order, and chooses what a look at all stamps would choose.
#include <cmath>
#include <vector>

#include "quality_cuda_run/counts.h"
#include "tests/fuzz/input.hpp"
#include "tests/support/partners.hpp"

namespace {

using qc::fuzz::Input;
using qc::run::Choice;
using qc::run::Rules;

constexpr int kMostFrames = 64;
constexpr int64_t kLargestStamp = (int64_t{1} << 61) - 1; // as quality_cuda_run/pairs.h says
constexpr double kRounding = 2e-6;                        // above that of run/pairs/pairing.cpp

__extension__ typedef __int128 Wide;

struct Stream {
    qcr_clock clock{1, 1000, 0};
    std::vector<int64_t> stamps;
};

/// Stamps in order: mostly steps of some ticks, now and then a leap or none at all.
Stream any_stream(Input& input) {
    Stream stream;
    if (input.rarely(3)) {
        const auto positive = [&] { return static_cast<int>(input.any<uint32_t>() >> 1 | 1); };
        stream.clock.num = positive();
        stream.clock.den = positive();
    } else if (input.flag()) {
        stream.clock.den = 90000;
    }
    int64_t stamp = input.rarely(5) ? input.any<int64_t>() / 8 : input.byte();
    stream.clock.origin = input.flag() ? stamp : 0;
    for (int count = input.choose(kMostFrames); count > 0; --count) {
        stream.stamps.push_back(stamp);
        const int64_t step = input.rarely(16) ? static_cast<int64_t>(input.any<uint64_t>() >> 4) : input.byte();
        if (step > kLargestStamp - stamp) break;
        stamp += step;
    }
    return stream;
}

/// Seconds from the clock's origin, times both denominators: exact.
Wide exact(int64_t stamp, const qcr_clock& clock, const qcr_clock& other) {
    return (static_cast<Wide>(stamp) - clock.origin) * clock.num * other.den;
}

struct FuzzCheck {
    static void that(bool holds, const char* what) { QC_FUZZ_CHECK(holds, what); }
};
using Partners = qc::test::Partners<FuzzCheck>;

/// No frame of the track may be nearer than the one that was chosen; of equals the earlier one in time.
void check_nearest(const Stream& track, size_t chosen, const qcr_clock& clock, int64_t stamp) {
    const Wide main = exact(stamp, clock, track.clock), time = exact(track.stamps[chosen], track.clock, clock);
    const auto distance = [&](Wide other) { return other > main ? other - main : main - other; };
    for (const int64_t other_stamp : track.stamps) {
        const Wide other = exact(other_stamp, track.clock, clock);
        QC_FUZZ_CHECK(distance(time) <= distance(other));
        QC_FUZZ_CHECK(distance(time) < distance(other) || time <= other, "the later one of two");
    }
}

/// Nothing of the track that is not later than the main frame may be newer than the one that was chosen.
void check_newest(const Stream& track, size_t chosen, const qcr_clock& clock, int64_t stamp) {
    const Wide main = exact(stamp, clock, track.clock), time = exact(track.stamps[chosen], track.clock, clock);
    QC_FUZZ_CHECK(time <= main);
    for (const int64_t other : track.stamps)
        QC_FUZZ_CHECK(exact(other, track.clock, clock) > main || other <= track.stamps[chosen]);
}

class Run {
public:
    Run(const Rules& rules, const Stream& main, const Stream& track)
        : rules_(rules), main_(main), stream_(track), partners_(track.stamps, track.clock), uses_(track.stamps.size()) {
    }

    void pair_all() {
        for (size_t frame = 0; frame < main_.stamps.size(); ++frame) pair(frame);
        int64_t unused = 0;
        for (int i = 0; i < partners_.pulled(); ++i) unused += uses_[static_cast<size_t>(i)] == 0 ? 1 : 0;
        QC_FUZZ_CHECK(partners_.track().unused_by_now() == unused);
        QC_FUZZ_CHECK(counts_.paired + qcr_unscored(&counts_) == static_cast<int64_t>(main_.stamps.size()));
        QC_FUZZ_CHECK(std::isfinite(qcr_mean_dt(&counts_)));
    }

private:
    void pair(size_t frame) {
        const int64_t stamp = main_.stamps[frame];
        const Choice choice = partners_.choose(rules_, main_.clock, stamp);
        if (!qc::run::is_frame(choice)) {
            qcr_count_unpaired(&counts_, qc::run::lack_of(choice), 0, 0);
            return;
        }
        const int chosen = partners_.index_of(choice);
        QC_FUZZ_CHECK(chosen >= last_, "it went back");
        last_ = chosen;
        const bool again = partners_.track().use(choice);
        QC_FUZZ_CHECK(again == (uses_[static_cast<size_t>(chosen)]++ > 0));
        ++counts_.paired;
        check(frame, static_cast<size_t>(chosen));
        if (rules_.sync == QCR_SYNC_INDEX && choice == Choice::kNext) partners_.step();
    }

    void check(size_t frame, size_t chosen) {
        const int64_t stamp = main_.stamps[frame];
        const bool behind_the_end = rules_.eof_action == QCR_EOF_REPEAT && chosen + 1 == stream_.stamps.size();
        if (rules_.sync == QCR_SYNC_INDEX) {
            QC_FUZZ_CHECK(chosen == frame || behind_the_end, "not the n-th frame");
            return;
        }
        const double distance = qc::run::distance(stream_.clock, stream_.stamps[chosen], main_.clock, stamp);
        qcr_count_distance(&counts_, distance);
        if (behind_the_end) return;
        if (rules_.sync == QCR_SYNC_NEAREST || rules_.tolerance_is_wish)
            QC_FUZZ_CHECK(std::abs(distance) <= rules_.tolerance + kRounding);
        if (rules_.sync == QCR_SYNC_NEAREST)
            check_nearest(stream_, chosen, main_.clock, stamp);
        else
            check_newest(stream_, chosen, main_.clock, stamp);
    }

    const Rules& rules_;
    const Stream& main_;
    const Stream& stream_;
    Partners partners_;
    std::vector<int> uses_; ///< per frame of the track
    qcr_counts counts_{};
    int last_ = -1;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    Rules rules{};
    rules.sync = input.choose(3);
    rules.eof_action = input.choose(3);
    const double max_dt = input.rarely(3) ? input.byte() / 100.0 : 0.0;
    rules.tolerance = qc::run::tolerance_of(max_dt, input.byte());
    rules.tolerance_is_wish = max_dt > 0;
    const Stream main = any_stream(input), track = any_stream(input);
    Run(rules, main, track).pair_all();
    return 0;
}
