// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "files/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/links.hpp"
#include "files/temporary_file.hpp"
#include "files/writing.hpp"
#include "text/message.hpp"

namespace qc {

namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

/// What came of writing: an error of the file, or of what was to be written.
struct Outcome {
    int file_error = 0;
    Status content{};
};

Outcome fill(int descriptor, const Content& content, int patience_ms = -1) {
    OutputFile file(descriptor, patience_ms);
    Status status = content(&file);
    const int error = file.finish();
    return error != 0 ? Outcome{error} : Outcome{0, std::move(status)};
}

/// ".json" of "dir/q.json"; nothing of what is no usual ending.
std::string ending_of(const std::string& path) {
    constexpr size_t kLongest = 8;
    const size_t dot = path.find_last_of("./");
    const bool usual = dot != std::string::npos && path[dot] == '.' && path.size() - dot <= kLongest;
    return usual ? path.substr(dot) : std::string();
}

/// A temporary file with the whole text. Goes with the object, unless it was kept or has become the file itself.
class StagedFile {
public:
    StagedFile() = default;
    ~StagedFile() { discard(); }
    StagedFile(const StagedFile&) = delete;
    StagedFile& operator=(const StagedFile&) = delete;

    /// @param mode permissions, before the umask
    Outcome fill_in(const std::string& folder, const std::string& ending, mode_t mode, const Content& content) {
        const int descriptor = create_temporary(folder, "quality_cuda-log-", ending, mode, &name_);
        if (descriptor < 0) return {errno};
        Outcome outcome = fill(descriptor, content);
        if (outcome.file_error != 0 || !outcome.content.ok()) discard();
        return outcome;
    }

    bool exists() const { return !name_.empty(); }
    const std::string& name() const { return name_; }
    void let_go() { name_.clear(); }

private:
    void discard() {
        if (exists()) unlink(name_.c_str());
        name_.clear();
    }

    std::string name_;
};

std::string reason(int error) {
    switch (error) {
    case ENXIO:
        return "no process reads from it";
    case ETIMEDOUT:
        return "its reader takes nothing";
    default:
        return std::strerror(error);
    }
}

Status failure(const std::string& path, int error, const StagedFile* kept = nullptr) {
    return {QC_ERROR_IO, "cannot write log " + in_quotes(path) + ": " + reason(error) +
                             (kept != nullptr ? "; the scores are in " + in_quotes(kept->name()) : "")};
}

/// The text lies in a file of another name, and stays there.
Status kept_aside(const std::string& path, int error, StagedFile* staged) {
    Status status = failure(path, error, staged);
    staged->let_go();
    return status;
}

/// What a copy of a file may be read by: no more than the file itself, while it is made, and if it has to stay.
mode_t mode_for(const std::string& path) {
    struct stat old {};
    return lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode) ? (old.st_mode & kNewFile) | S_IRUSR | S_IWUSR
                                                                  : kNewFile;
}

/// Tries folders until the text is whole: the one that is wished for, if any, then those that may do.
Outcome stage(const std::string& wish, const std::string& path, const Content& content, StagedFile* staged) {
    Outcome first;
    for (const std::string& folder : {wish, temporary_folder(), std::string("/tmp"), std::string(".")}) {
        if (folder.empty()) continue;
        Outcome outcome = staged->fill_in(folder, ending_of(path), mode_for(path), content);
        if (outcome.file_error == 0) return outcome;
        if (first.file_error == 0) first = std::move(outcome);
    }
    return first;
}

// ---- into a file's place --------------------------------------------------------------------------------------------

/// Whether the staged file may be renamed to path, and looks like the file that it replaces.
bool may_take_the_place(const StagedFile& staged, const std::string& path) {
    struct stat old {
    }, made{};
    if (lstat(path.c_str(), &old) != 0) return errno == ENOENT;
    if (!S_ISREG(old.st_mode) || old.st_nlink != 1 || lstat(staged.name().c_str(), &made) != 0) return false;
    const bool same_owner = old.st_uid == made.st_uid && old.st_gid == made.st_gid;
    if (!same_owner && lchown(staged.name().c_str(), old.st_uid, old.st_gid) != 0) return false;
    return chmod(staged.name().c_str(), old.st_mode & 07777) == 0;
}

/// Opens an existing file without O_CREAT: where other users' files are protected in sticky folders, that would refuse
/// even those that may be written. @param flags O_TRUNC or 0
int open_in_place(const std::string& path, int flags) {
    const int descriptor = open(path.c_str(), O_WRONLY | flags | O_CLOEXEC | O_NOCTTY);
    if (descriptor >= 0 || errno != ENOENT) return descriptor;
    return open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, kNewFile);
}

/// Reserves room for a text that is to replace what a file holds, which stays as it is. @return errno, 0 for none
int make_room(int file, off_t old_size, off_t new_size) {
    if (new_size == 0 || fallocate(file, FALLOC_FL_KEEP_SIZE, 0, new_size) == 0) return 0;
    const int error = errno;
    if (error != ENOSPC && error != EDQUOT && error != EFBIG) return 0; // a file system that cannot tell beforehand
    return ftruncate(file, old_size) == 0 ? error : errno;              // gives back what was reserved of it
}

int copy(int from, OutputFile* to) {
    std::string block(kBufferBytes, '\0');
    for (;;) {
        const ssize_t count = read(from, block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : 0;
        if (!to->write({block.data(), static_cast<size_t>(count)}).ok()) return 0; // finish() tells
    }
}

/// Copies the staged file into path. Where there is no room for it path stays as it was. @return errno, 0 for none
int copy_in_place(const StagedFile& staged, const std::string& path) {
    const int from = open(staged.name().c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) return errno;
    struct stat text {
    }, old{};
    const bool is_new = lstat(path.c_str(), &old) != 0;
    const int to = open_in_place(path, 0);
    int error = to < 0 || fstat(from, &text) != 0 || fstat(to, &old) != 0 ? errno : 0;
    if (error == 0) {
        OutputFile file(to);
        error = make_room(to, old.st_size, text.st_size);
        if (error == 0) {
            error = copy(from, &file);
            if (const int late = file.finish(); error == 0) error = late;
            // Cut to its length; half a log could be taken for a whole one.
            if (truncate(path.c_str(), error == 0 ? text.st_size : 0) != 0 && error == 0) error = errno;
        }
        if (error != 0 && is_new) unlink(path.c_str());
    }
    close(from);
    return error;
}

Status write_regular(const std::string& path, const Content& content) {
    StagedFile staged;
    Outcome outcome = stage(folder_of(path), path, content, &staged);
    if (!outcome.content.ok()) return std::move(outcome.content);
    int error = outcome.file_error;
    if (!staged.exists()) { // no room for a copy anywhere: straight into its place
        const int descriptor = open_in_place(path, O_TRUNC);
        if (descriptor < 0) return failure(path, error);
        outcome = fill(descriptor, content);
        return outcome.file_error != 0 ? failure(path, outcome.file_error) : std::move(outcome.content);
    }
    if (may_take_the_place(staged, path) && rename(staged.name().c_str(), path.c_str()) == 0) {
        staged.let_go();
        return {};
    }
    error = copy_in_place(staged, path);
    return error == 0 ? Status() : kept_aside(path, error, &staged);
}

// ---- pipes, devices, open descriptors -------------------------------------------------------------------------------

int open_device(const std::string& path) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (descriptor >= 0) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

/// @param descriptor -1: see errno
Status write_directly(const std::string& path, int descriptor, int patience_ms, const Content& content) {
    int error = descriptor < 0 ? errno : 0;
    Outcome outcome;
    if (error == 0) {
        outcome = fill(descriptor, content, patience_ms);
        error = outcome.file_error;
    }
    if (error == 0) return std::move(outcome.content);
    StagedFile staged;
    outcome = stage("", path, content, &staged);
    if (!outcome.content.ok()) return std::move(outcome.content);
    return staged.exists() ? kept_aside(path, error, &staged) : failure(path, error);
}

} // namespace

Status OutputFile::write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) write_out();
    return error_ == 0 ? Status() : Status(QC_ERROR_IO, std::strerror(error_));
}

int OutputFile::finish() {
    write_out();
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && close(descriptor) != 0 && error_ == 0) error_ = errno;
    return error_;
}

void OutputFile::write_out() {
    if (error_ == 0) error_ = write_all(descriptor_, buffer_, patience_ms_);
    buffer_.clear();
}

Status write_file(const std::string& path, const Content& content) {
    struct stat info {};
    if (path.empty()) return failure(path, ENOENT);
    if (stat(path.c_str(), &info) != 0) return write_regular(path, content);
    if (const int named = open_descriptor(path); named >= 0)
        return write_directly(path, fcntl(named, F_DUPFD_CLOEXEC, 0), -1, content);
    if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return write_regular(path, content);
    if (S_ISFIFO(info.st_mode)) return write_directly(path, open_pipe(path, kPatienceMs), kPatienceMs, content);
    return write_directly(path, open_device(path), -1, content);
}

} // namespace qc
