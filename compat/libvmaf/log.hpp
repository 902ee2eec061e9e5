// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the library says on standard error, and how failures become numbers of errno.h.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>

#include <quality_cuda.h>

#include <libvmaf/libvmaf.h>

namespace compat {

/// Of the whole process.
void set_log_level(VmafLogLevel level);

/// "libvmaf ERROR text" and a line's end, if the level is asked for.
void say(VmafLogLevel level, const std::string& text);

/// A qc_log_callback.
void say_for_engine(void* opaque, qc_log_level level, const char* text);

int errno_of(qc_status status);

/// Says why, and returns errno_of().
int failed(qc_status status, const std::string& text);

/// Says why. @return -EINVAL
int refused(const std::string& text);

/// Where exceptions end: memory or a thread was not to be had.
template <typename Body>
int guarded(Body&& body) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return -ENOMEM;
    } catch (const std::exception&) {
        return -EIO;
    }
}

} // namespace compat
