// SPDX-License-Identifier: BSD-2-Clause-Patent
// Exceptions of the standard library as statuses, wherever none may go on: at the C boundary, in threads, where graphs
// are made.
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <type_traits>

#include "contract/status.hpp"

namespace qc {

/// Takes no memory: the text is short enough to lie in the string itself.
inline Status out_of_memory() noexcept {
    static const std::string text = "out of memory";
    return Status::lasting(QC_ERROR_NO_MEMORY, text);
}

/// What is being handled by a catch clause. Where memory is short, the text is shorter.
inline Status status_of_exception() noexcept {
    static const std::string no_thread = "no more threads", unexpected = "unexpected";
    const auto described = [](qc_status code, const char* what, const char* detail, const std::string& shorter) {
        try {
            return Status(code, std::string(what) + ": " + detail);
        } catch (...) {
            return Status::lasting(code, shorter);
        }
    };
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::system_error& error) { // of threads: nothing else here throws it
        return described(QC_ERROR_NO_MEMORY, "a thread cannot be started", error.what(), no_thread);
    } catch (const std::exception& error) {
        return described(QC_ERROR_INTERNAL, "unexpected", error.what(), unexpected);
    } catch (...) {
        return Status::lasting(QC_ERROR_INTERNAL, unexpected);
    }
}

/// Runs a body that returns a Status or nothing; an exception becomes its status.
template <typename Body>
Status caught(Body&& body) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return {};
        } else {
            return body();
        }
    } catch (...) {
        return status_of_exception();
    }
}

} // namespace qc
