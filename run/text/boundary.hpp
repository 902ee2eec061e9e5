// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where C++ ends and C begins: no exception gets beyond.
#pragma once

#include <new>

#include <quality_cuda.h>

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

/// The same for a body that returns nothing. @return QC_OK, QC_ERROR_NO_MEMORY
template <class Body>
qc_status completed(const Body& body) noexcept {
    return guarded(QC_ERROR_NO_MEMORY, [&] {
        body();
        return QC_OK;
    });
}

/// The same for words that go unsaid where there is no memory for them.
template <class Body>
void if_possible(const Body& body) noexcept {
    static_cast<void>(completed(body));
}

} // namespace qc::run
