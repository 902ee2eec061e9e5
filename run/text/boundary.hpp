// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where C++ ends and C begins: no exception gets beyond.
#pragma once

#include <new>

namespace qc::run {

/// What `body` returns, or `otherwise` if memory is exhausted.
template <class Result, class Body>
Result guarded(Result otherwise, const Body& body) noexcept {
    try {
        return body();
    } catch (...) { // nothing but std::bad_alloc and what the library throws in its place
        return otherwise;
    }
}

} // namespace qc::run
