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

/// Cuts 0 .. count - 1 into one run for each thread, of a multiple of `unit`, and calls run(begin, end) for each.
/// Without helpers, or where they are busy, there is one.
template <typename Run>
void share_runs(Helpers* helpers, int count, int unit, const Run& run) {
    const int units = (count + unit - 1) / unit;
    const int parts = helpers == nullptr ? 1 : std::min(helpers->threads(), units);
    if (parts <= 1) return run(0, count);
    const auto limit = [&](int part) {
        return std::min(count, static_cast<int>(static_cast<long long>(units) * part / parts) * unit);
    };
    helpers->share(parts, [&](int part) { run(limit(part), limit(part + 1)); });
}

/// Runs of rows for threads that find it dear to begin anywhere, for they need what lies around, and cheap to go on.
class RowRuns {
public:
    struct Run {
        int begin, end;
    };

    /// Of 0 .. count - 1, as many as `parts`, of multiples of `unit`.
    RowRuns(int count, int unit, int parts) {
        const int units = (count + unit - 1) / unit;
        for (int part = 0; part <= parts; ++part)
            limits_.push_back(std::min(count, static_cast<int>(static_cast<long long>(units) * part / parts) * unit));
        taken_.resize(static_cast<size_t>(parts));
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
    const int units = (count + unit - 1) / unit;
    const int parts = helpers == nullptr ? 1 : std::max(1, std::min(helpers->threads(), units));
    RowRuns runs(count, unit, parts);
    const auto come = [&](int /*part*/) {
        RowRuns::Run run{};
        if (runs.begin(&run)) work(runs, run);
    };
    if (parts == 1) return come(0);
    helpers->share(parts, come);
}

} // namespace qc
