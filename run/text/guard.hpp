// SPDX-License-Identifier: BSD-2-Clause-Patent
// No exception leaves the C interface.
#pragma once

#include <new>
#include <utility>

#include <quality_cuda.h>

namespace qc::run {

/// Runs a body that returns nothing; what it throws becomes a status.
template <typename Body>
qc_status guarded(Body&& body) noexcept {
    try {
        std::forward<Body>(body)();
        return QC_OK;
    } catch (const std::bad_alloc&) {
        return QC_ERROR_NO_MEMORY;
    } catch (...) {
        return QC_ERROR_INTERNAL;
    }
}

/// The same for words that go unsaid where there is no memory for them.
template <typename Body>
void if_possible(Body&& body) noexcept {
    static_cast<void>(guarded(std::forward<Body>(body)));
}

} // namespace qc::run
