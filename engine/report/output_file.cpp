// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/output_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/message.hpp"

namespace qc {

namespace {

/// Where a symbolic link leads, so that the link survives the renaming.
std::string resolved(const std::string& path) {
    std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    return real ? std::string(real.get()) : path;
}

} // namespace

OutputFile::~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::open() {
    struct stat info {};
    const bool exists = stat(path_.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return failure(EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {
        file_ = std::fopen(path_.c_str(), "wb");
        return file_ != nullptr ? Status() : failure(errno);
    }
    target_ = exists ? resolved(path_) : path_;
    const int descriptor = open_temporary();
    if (descriptor < 0) return failure(errno);
    file_ = fdopen(descriptor, "wb");
    if (file_ != nullptr) return {};
    const int error = errno;
    ::close(descriptor);
    return failure(error);
}

Status OutputFile::write(std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), file_) == text.size() ? Status() : failure(errno);
}

Status OutputFile::finish() {
    FILE* file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) return failure(errno);
    if (temporary_.empty()) return {};
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return failure(errno);
    temporary_.clear();
    return {};
}

int OutputFile::open_temporary() {
    static std::atomic<unsigned> counter{0};
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        std::string name = target_ + format(".part-%ld-%u", static_cast<long>(getpid()), counter.fetch_add(1));
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) temporary_ = std::move(name);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

Status OutputFile::failure(int error) const {
    return {QC_ERROR_IO, "cannot write log " + in_quotes(path_) + ": " + std::strerror(error)};
}

} // namespace qc
