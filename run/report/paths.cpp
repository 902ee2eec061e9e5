// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/report/paths.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/links.hpp"
#include "files/temporary_file.hpp"
#include "files/writing.hpp"
#include "run/text/boundary.hpp"

namespace qc::run {

namespace {

qcr_path_kind kind_of_file(const struct stat& info) {
    if (S_ISFIFO(info.st_mode)) return QCR_PATH_PIPE;
    return S_ISREG(info.st_mode) ? QCR_PATH_FILE : QCR_PATH_DEVICE;
}

int may_access(const std::string& path, int how) {
    return faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) != 0 ? -errno : 0;
}

/// Makes a file of a name that cannot be foreseen and was not there, and takes it away again; or makes none.
int check_folder(const std::string& folder, bool try_it) {
    if (!try_it) return may_access(folder, W_OK | X_OK);
    std::string name;
    const int file = create_temporary(folder, "quality_cuda-check-", "", S_IRUSR | S_IWUSR, &name);
    if (file < 0) return -errno;
    close(file);
    unlink(name.c_str());
    return 0;
}

/// Of a file that must not be written itself: whether the log may be renamed to its name.
bool may_be_replaced(const struct stat& file, const std::string& folder, bool try_it) {
    struct stat info {};
    const uid_t user = geteuid();
    if (stat(folder.c_str(), &info) != 0 || check_folder(folder, try_it) < 0) return false;
    return (info.st_mode & S_ISVTX) == 0 || user == 0 || user == file.st_uid || user == info.st_uid;
}

int check_file(const std::string& path, bool replaceable, bool try_it) {
    const int error = may_access(path, W_OK);
    const std::string folder = folder_of(path);
    struct stat info {};
    if (error == -ENOENT) return check_folder(folder, try_it);
    if (replaceable && error == -EACCES && lstat(path.c_str(), &info) == 0 && may_be_replaced(info, folder, try_it))
        return 0;
    return error;
}

int open_file(const char* path, bool append) {
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : O_TRUNC);
    const int file = open(path, flags);
    return file < 0 && errno == ENOENT ? open(path, flags | O_CREAT, kNewFile) : file;
}

int open_for_lines(const qcr_path& path, bool append, int reader_ms) {
    if (path.kind == QCR_PATH_DESCRIPTOR) return fcntl(path.descriptor, F_DUPFD_CLOEXEC, 0);
    if (path.kind == QCR_PATH_PIPE) return open_pipe(path.canonical, reader_ms);
    return open_file(path.canonical, append);
}

} // namespace

int resolve_path(const std::string& name, qcr_path* path) {
    struct stat info {};
    const bool exists = stat(name.c_str(), &info) == 0;
    if (!exists && errno != ENOENT) return -errno;
    if (exists && S_ISDIR(info.st_mode)) return -EISDIR;
    std::string canonical;
    if (const int error = follow_links(name, &canonical, &path->descriptor); error != 0) return -error;
    path->canonical = strdup(canonical.c_str());
    if (path->canonical == nullptr) return -ENOMEM;
    path->kind = path->descriptor >= 0 ? QCR_PATH_DESCRIPTOR : exists ? kind_of_file(info) : QCR_PATH_FILE;
    return 0;
}

void free_path(qcr_path* path) {
    std::free(std::exchange(path->canonical, nullptr));
}

bool is_same_file(const std::string& canonical, const std::string& other) {
    struct stat a {
    }, b{};
    return canonical == other || (stat(canonical.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 &&
                                  a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

int check_writable(const qcr_path& path, bool replaceable, bool try_it) {
    if (path.kind == QCR_PATH_FILE) return check_file(path.canonical, replaceable, try_it);
    if (path.kind != QCR_PATH_DESCRIPTOR) return may_access(path.canonical, W_OK);
    const int flags = fcntl(path.descriptor, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

int check_replaceable(const qcr_path& path) {
    struct stat info {};
    const std::string folder = folder_of(path.canonical);
    if (const int error = check_folder(folder, true); error != 0) return error;
    return lstat(path.canonical, &info) == 0 && !may_be_replaced(info, folder, false) ? -EPERM : 0;
}

bool is_always_full(const qcr_path& path) {
    struct stat full {
    }, info{};
    const bool known =
        (path.kind == QCR_PATH_DESCRIPTOR ? fstat(path.descriptor, &info) : stat(path.canonical, &info)) == 0;
    return known && S_ISCHR(info.st_mode) && stat("/dev/full", &full) == 0 && S_ISCHR(full.st_mode) &&
           info.st_rdev == full.st_rdev;
}

} // namespace qc::run

using namespace qc::run;

int qcr_open_for_lines(const qcr_path* path, int append, int reader_ms) {
    int file = -ENOMEM;
    if_possible([&] {
        file = open_for_lines(*path, append != 0, reader_ms);
        if (file < 0) file = -errno;
    });
    return file;
}

int qcr_replace_file(const qcr_path* path, const char* text, size_t size) {
    int error = ENOMEM;
    if_possible([&] { error = qc::replace_file(path->canonical, {text, size}); });
    return -error;
}
