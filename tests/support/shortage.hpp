// SPDX-License-Identifier: BSD-2-Clause-Patent
// A process in need: the nth allocation (operator new), or the nth start of a thread, is refused, in whatever thread.
// For programs that link shortage.cpp, which replaces both.
#pragma once

#include <cstdint>

namespace qc::test {

enum class Resource { kMemory, kThreads };

/// From construction to destruction a resource is short. One at a time; the threads that are started meanwhile end
/// before.
class Shortage {
public:
    enum class Extent {
        kOnce,   ///< the nth request is refused, later ones are not
        kForGood ///< so are all later ones
    };
    /// @param nth counted from 1; 0: none, requests are only counted
    Shortage(Resource resource, int64_t nth, Extent extent);
    ~Shortage() { end(); }
    Shortage(const Shortage&) = delete;
    Shortage& operator=(const Shortage&) = delete;

    /// There is enough again.
    void end();
    /// Requests so far, or until the end.
    int64_t requests() const;
    /// Whether any was refused.
    bool refused() const;
};

/// This thread's requests are neither counted nor refused: for what a test needs for itself in the middle.
class Exempt {
public:
    Exempt();
    ~Exempt();
    Exempt(const Exempt&) = delete;
    Exempt& operator=(const Exempt&) = delete;
};

/// Where the function answers with more than 0, a thread's requests are exempt too. Null: nowhere.
void exempt_where(int (*inside)());

/// Blocks of operator new that were not given back, of the whole process.
int64_t live_blocks();

} // namespace qc::test
