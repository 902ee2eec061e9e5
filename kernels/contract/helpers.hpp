// SPDX-License-Identifier: BSD-2-Clause-Patent
// Threads that have nothing to do, or soon will have, while one evaluates a pair: they may take a part of it.
#pragma once

#include <algorithm>
#include <functional>

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

} // namespace qc
