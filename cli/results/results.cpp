// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "results/results.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/sha256.hpp"
#include "files/temporary_file.hpp"
#include "files/writing.hpp"
#include "results/outputs.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr size_t kBlock = size_t{1} << 20, kSample = size_t{64} << 10;
constexpr std::string_view kTemporary = "quality-cuda.run."; ///< how names of temporary folders begin
constexpr size_t kRandom = 6;                                ///< characters that follow
constexpr std::time_t kFresh = 60;                           ///< seconds

Failure trouble(const std::string& path, const char* what) {
    return Failure(path + what + std::strerror(errno));
}

/// Of a folder. It ends with the process that has it, whatever ends that. @return below 0: another one has it
int lock(const std::string& path) {
    const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) return -1;
    if (flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
    close(folder);
    return -1;
}

/// Folders of processes that were killed. Not those of the last minute: one may just have been made, and be locked
/// next.
void remove_abandoned(const std::string& place) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
        struct stat state {};
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kTemporary) || name.size() != kTemporary.size() + kRandom) continue;
        if (lstat(entry.path().c_str(), &state) != 0) continue;
        if (!S_ISDIR(state.st_mode) || state.st_uid != geteuid() || std::time(nullptr) - state.st_mtime < kFresh)
            continue;
        const int folder = lock(entry.path().string());
        if (folder < 0) continue;
        std::error_code ignored;
        std::filesystem::remove_all(entry.path(), ignored);
        close(folder);
    }
}

/// Of a device or a pipe. @return errno, 0 for none
int write_into(const std::string& path, std::string_view text) {
    constexpr int kPatienceMs = 5000; ///< for a reader that takes nothing
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return errno;
    int error = 0;
    while (!text.empty() && error == 0) {
        const ssize_t count = write(file, text.data(), text.size());
        if (count >= 0) {
            text.remove_prefix(static_cast<size_t>(count));
        } else if (errno == EAGAIN) {
            pollfd end{file, POLLOUT, 0};
            if (poll(&end, 1, kPatienceMs) == 0) error = ETIMEDOUT;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    return close(file) != 0 && error == 0 ? errno : error;
}

} // namespace

void Checksum::add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
}

uint64_t checksum_of(std::string_view bytes) {
    Checksum sum;
    sum.add(bytes);
    return sum.value();
}

uint64_t checksum_of_input(const std::string& path) {
    std::error_code error;
    if (path.find("://") == std::string::npos && !std::filesystem::exists(path, error))
        throw Failure(path + ": no such file");
    if (!std::filesystem::is_regular_file(path, error)) return checksum_of(path);
    const uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file) throw trouble(path, " cannot be read: ");
    Checksum sum;
    sum.add(std::to_string(size));
    std::vector<char> sample(kSample);
    for (const uint64_t at : {uint64_t{0}, size / 2, size > kSample ? size - kSample : 0}) {
        file.clear();
        file.seekg(static_cast<std::streamoff>(at));
        file.read(sample.data(), static_cast<std::streamsize>(sample.size()));
        sum.add({sample.data(), static_cast<size_t>(file.gcount())});
    }
    return sum.value();
}

std::string hex(uint64_t value) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
    return text.data();
}

FileText::FileText(const std::string& path) : block_(kBlock) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw Failure(path + " is a folder");
    errno = 0;
    if (file_.open(path, std::ios::in | std::ios::binary) == nullptr) throw trouble(path, " cannot be read: ");
}

FileText::int_type FileText::underflow() {
    if (gptr() == egptr()) {
        const auto count = file_.sgetn(block_.data(), static_cast<std::streamsize>(block_.size()));
        setg(block_.data(), block_.data(), block_.data() + std::max<std::streamsize>(count, 0));
    }
    return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string_view FileText::ahead() {
    underflow();
    return {gptr(), egptr()};
}

std::string_view FileText::take_block() {
    const std::string_view block = ahead();
    setg(eback(), egptr(), egptr());
    return block;
}

std::string FileText::take_rest() {
    std::string text;
    for (std::string_view block; !(block = take_block()).empty();) text += block;
    return text;
}

std::string sha256_of_file(const std::string& path) {
    FileText text(path);
    Sha256 sum;
    for (std::string_view block = text.take_block(); !block.empty(); block = text.take_block()) sum.add(block);
    return sum.finish();
}

std::string read_whole(const std::string& path) {
    return FileText(path).take_rest();
}

void write_whole(const std::string& path, std::string_view text) {
    errno = is_special_file(path) ? write_into(path, text) : replace_file(path, text);
    if (errno != 0) throw trouble(path, " cannot be written: ");
}

void seal(const std::string& path, const std::string& complaints, const std::string& command, const Seal& seal) {
    if (qcr_record_seal(path.c_str(), complaints.c_str(), command.c_str(), &seal) != QC_OK)
        throw trouble(path, " cannot be written: ");
}

bool has_seal(const std::string& path, const Seal& seal) {
    return qcr_record_has_seal(path.c_str(), &seal) != 0;
}

namespace {

std::string owned(char* text) {
    const std::unique_ptr<char, void (*)(char*)> owner(text, qcr_record_free);
    return text != nullptr ? text : "";
}

} // namespace

std::string command_of_record(const std::string& path) {
    return owned(qcr_record_command(path.c_str()));
}

std::string complaints_of_record(const std::string& path) {
    return owned(qcr_record_complaints(path.c_str()));
}

TemporaryFolder::TemporaryFolder() {
    const std::string place = temporary_folder();
    remove_abandoned(place);
    std::string name = place + "/" + std::string(kTemporary) + std::string(kRandom, 'X');
    if (mkdtemp(name.data()) == nullptr) throw trouble(name, " cannot be made (TMPDIR chooses another place): ");
    path_ = name;
    lock_ = lock(name); // where none can be had the folder is nobody's to remove but ours
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    if (lock_ >= 0) close(lock_);
}

} // namespace qc::cli
