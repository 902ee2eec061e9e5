// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qc::run {

namespace {

constexpr int kStepMs = 50; // so often a wait looks whether it should go on
constexpr int kMoved = -ESTALE;
constexpr size_t kAtOnce = 512; // POSIX: a pipe that poll() calls writable takes so many bytes at once

Descriptor& self(void* opaque) {
    return *static_cast<Descriptor*>(opaque);
}

} // namespace

qcr_receiver Descriptor::table() {
    qcr_receiver table{};
    table.opaque = this;
    table.is_lasting = is_pipe() ? 0 : 1; // its readers come and go
    table.open = [](void* opaque, const char*, const qcr_patience* patience) { return self(opaque).open(*patience); };
    table.write = [](void* opaque, const char* text, size_t size) { return self(opaque).write(text, size); };
    table.close = [](void* opaque) { return self(opaque).close(); };
    table.describe = [](void* opaque, int error, char* text, size_t size) {
        const bool lacks_reader = self(opaque).is_pipe() && error == -ENXIO;
        std::snprintf(text, size, "%s",
                      lacks_reader ? "no process reads from it"
                      : error == kMoved
                          ? "it was renamed or removed, and a new file of this name takes those that follow"
                          : std::strerror(-error));
    };
    return table;
}

int Descriptor::open(const qcr_patience& patience) {
    patience_ = patience;
    descriptor_ = qcr_open_for_lines(&target_.path, target_.append, 0);
    return std::min(descriptor_, 0);
}

/// @return bytes, 0: it takes none now, or an error
long Descriptor::write_some(const char* text, size_t size) {
    pollfd asked = {descriptor_, POLLOUT, 0};
    if (!is_file() && ::poll(&asked, 1, kStepMs) == 0) return 0;
    const ssize_t count = ::write(descriptor_, text, is_file() ? size : std::min(size, kAtOnce));
    if (count > 0) return count;
    if (count == 0) return -ENOSPC;
    return errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

int Descriptor::write_all(const char* text, size_t size) {
    while (size > 0) {
        const long count = write_some(text, size);
        if (count < 0) return static_cast<int>(count);
        if (count == 0 && patience_.is_over(patience_.opaque) != 0) return QCR_GAVE_UP;
        text += count;
        size -= static_cast<size_t>(count);
    }
    return 0;
}

/// Whether the path no longer leads to the file that is open.
bool Descriptor::is_moved() const {
    struct stat opened {
    }, named{};
    if (::fstat(descriptor_, &opened) != 0) return false;
    return ::stat(target_.path.canonical, &named) != 0 ? errno == ENOENT
                                                       : opened.st_dev != named.st_dev || opened.st_ino != named.st_ino;
}

/// Lines go on in whatever has the name now, behind what it holds. @return kMoved, so that it is told; or why not
int Descriptor::begin_anew() {
    close();
    descriptor_ = qcr_open_for_lines(&target_.path, 1, 0);
    return descriptor_ < 0 ? descriptor_ : kMoved;
}

int Descriptor::write(const char* text, size_t size) {
    if (!is_file()) return write_all(text, size);
    if (descriptor_ < 0 || is_moved()) return begin_anew();
    const off_t before = ::lseek(descriptor_, 0, SEEK_END);
    const int result = write_all(text, size);
    if (result < 0 && before >= 0 && ::ftruncate(descriptor_, before) == 0) ::lseek(descriptor_, before, SEEK_SET);
    return result;
}

int Descriptor::close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return ::close(descriptor) == 0 ? 0 : -errno;
}

} // namespace qc::run
