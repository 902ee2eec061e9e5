// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "files/writing.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/links.hpp"
#include "files/temporary_file.hpp"

namespace qc {

namespace {

/// Whether it takes more; otherwise see errno.
bool wait_for_reader(int descriptor, int patience_ms) {
    pollfd asked{descriptor, POLLOUT, 0};
    const int ready = poll(&asked, 1, patience_ms);
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0 || (ready < 0 && errno == EINTR);
}

int fill_and_close(int descriptor, mode_t mode, std::string_view text) {
    int error = mode != 0 && fchmod(descriptor, mode) != 0 ? errno : 0;
    if (error == 0) error = write_all(descriptor, text, -1);
    if (close(descriptor) != 0 && error == 0) error = errno;
    return error;
}

} // namespace

int open_pipe(const std::string& path, int reader_ms) {
    constexpr int kStepMs = 20;
    int descriptor = -1;
    for (int waited = 0; waited <= reader_ms; waited += kStepMs) {
        descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (descriptor >= 0 || errno != ENXIO) break;
        poll(nullptr, 0, kStepMs);
        errno = ENXIO;
    }
    return descriptor;
}

int write_all(int descriptor, std::string_view text, int patience_ms) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count == 0) return ENOSPC;
        if (count > 0)
            text.remove_prefix(static_cast<size_t>(count));
        else if (errno != EINTR && !(errno == EAGAIN && wait_for_reader(descriptor, patience_ms)))
            return errno;
    }
    return 0;
}

int replace_file(const std::string& path, std::string_view text) {
    struct stat old {};
    const bool keeps_mode = lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode);
    std::string name;
    const int descriptor = create_temporary(folder_of(path), "quality_cuda-new-", "", kNewFile, &name);
    if (descriptor < 0) return errno;
    int error = fill_and_close(descriptor, keeps_mode ? old.st_mode & 07777 : 0, text);
    if (error == 0 && std::rename(name.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(name.c_str());
    return error;
}

} // namespace qc
