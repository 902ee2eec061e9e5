// SPDX-License-Identifier: BSD-2-Clause-Patent
// Threads that have nothing to do, or soon will have, while one evaluates a pair: they may take a part of it.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <vector>

namespace qc {

class Helpers {
public:
    virtual ~Helpers() = default;

    /// How many threads may come to work at once on what the caller has to do now, itself included. It may be another
    /// number a moment later: scores must not depend on it.
    virtual int threads() = 0;
    /// Calls part(0) .. part(parts - 1), each once, in any order and side by side, and returns when all are done.
    /// @throws what a part threw; others may not have been called then
    virtual void share(int parts, const std::function<void(int)>& part) = 0;
};

/// How 0 .. count - 1 is cut into runs of multiples of `unit` that are as long as each other, or nearly.
class RunLimits {
public:
    RunLimits(int count, int unit, int most_parts)
        : count_(count), unit_(unit), units_((count + unit - 1) / unit),
          parts_(std::max(1, std::min(most_parts, units_))) {}
    /// One run for each thread that may help, or one in all.
    RunLimits(int count, int unit, Helpers* helpers)
        : RunLimits(count, unit, helpers == nullptr ? 1 : helpers->threads()) {}

    int parts() const { return parts_; }
    /// Of run `part`; the last one's end is begin(parts()).
    int begin(int part) const {
        return std::min(count_, static_cast<int>(static_cast<long long>(units_) * part / parts_) * unit_);
    }

private:
    int count_, unit_, units_, parts_;
};

/// Cuts 0 .. count - 1 into one run for each thread, of a multiple of `unit`, and calls run(begin, end) for each.
/// Without helpers, or where they are busy, there is one.
template <typename Run>
void share_runs(Helpers* helpers, int count, int unit, const Run& run) {
    const RunLimits limits(count, unit, helpers);
    if (limits.parts() == 1) return run(0, count);
    helpers->share(limits.parts(), [&](int part) { run(limits.begin(part), limits.begin(part + 1)); });
}

/// Runs of rows for threads that find it dear to begin anywhere, for they need what lies around, and cheap to go on.
class RowRuns {
public:
    struct Run {
        int begin, end;
    };

    explicit RowRuns(const RunLimits& limits) : taken_(static_cast<size_t>(limits.parts())) {
        for (int part = 0; part <= limits.parts(); ++part) limits_.push_back(limits.begin(part));
    }

    /// What a thread that comes may begin with: the middle of what nobody has begun. @return whether there is any
    bool begin(Run* run) {
        const std::lock_guard lock(mutex_);
        size_t best = 0, most = 0;
        for (size_t first = 0; first < taken_.size(); ++first) {
            size_t last = first;
            while (last < taken_.size() && !taken_[last]) ++last;
            if (last - first <= most) continue;
            most = last - first;
            best = most == taken_.size() ? 0 : first + most / 2; // the first thread has all, until others come
        }
        return most > 0 && take(best, run);
    }
    /// What follows what it had, if nobody has begun that. @return whether so
    bool go_on(Run* run) {
        const std::lock_guard lock(mutex_);
        const auto next = static_cast<size_t>(std::find(limits_.begin(), limits_.end(), run->end) - limits_.begin());
        return next < taken_.size() && !taken_[next] && take(next, run);
    }

private:
    bool take(size_t part, Run* run) {
        taken_[part] = true;
        *run = {limits_[part], limits_[part + 1]};
        return true;
    }

    std::mutex mutex_;
    std::vector<int> limits_;
    std::vector<bool> taken_;
};

/// As share_runs(), for such threads. Each calls work(runs, run) with its first run, and asks for more itself.
template <typename Work>
void share_row_runs(Helpers* helpers, int count, int unit, const Work& work) {
    const RunLimits limits(count, unit, helpers);
    RowRuns runs(limits);
    const auto come = [&](int /*part*/) {
        RowRuns::Run run{};
        if (runs.begin(&run)) work(runs, run);
    };
    if (limits.parts() == 1) return come(0);
    helpers->share(limits.parts(), come);
}

} // namespace qc
