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
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/temporary_file.hpp"
#include "files/writing.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr size_t kBlock = size_t{1} << 20, kSample = size_t{64} << 10;
constexpr std::string_view kTemporary = "quality-cuda.run."; ///< how names of temporary folders begin
constexpr size_t kRandom = 6;                                ///< characters that follow
constexpr uint64_t kMostCommand = uint64_t{1} << 20;         ///< bytes
constexpr std::time_t kFresh = 60;                           ///< seconds
constexpr uint32_t kSealKind = 0x5351;    ///< of the record's entries, beside those of filter/quality_cuda/record.h
constexpr uint32_t kCommandKind = 0x4351; ///< a text in words, then how many these are
constexpr uint32_t kSealWords = 3;
constexpr size_t kSealBytes = 2 * sizeof(uint32_t) + kSealWords * sizeof(uint64_t);

struct SealEntry {
    uint32_t kind = kSealKind, count = kSealWords;
    uint64_t entry = 0, inputs = 0, bytes = 0; ///< the last one: checksum of all that is before the seal
};
static_assert(sizeof(SealEntry) == kSealBytes);

Failure trouble(const std::string& path, const char* what) {
    return Failure(path + what + std::strerror(errno));
}

/// Checksum of the first `size` bytes. @return false if there are fewer
bool checksum_of_bytes(std::ifstream& file, uint64_t size, Checksum* sum) {
    std::vector<char> block(kBlock);
    while (size > 0) {
        file.read(block.data(), static_cast<std::streamsize>(std::min<uint64_t>(size, kBlock)));
        const auto count = static_cast<size_t>(file.gcount());
        if (count == 0) return false;
        sum->add({block.data(), count});
        size -= count;
    }
    return true;
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

std::string read_whole(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw Failure(path + " is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw trouble(path, " cannot be read: ");
    std::string text;
    if (const uintmax_t size = std::filesystem::file_size(path, error); !error) text.reserve(size); // a pipe has none
    std::vector<char> block(kBlock);
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
        text.append(block.data(), static_cast<size_t>(file.gcount()));
    return text;
}

void write_whole(const std::string& path, std::string_view text) {
    errno = replace_file(path, text);
    if (errno != 0) throw trouble(path, " cannot be written: ");
}

void print_whole(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    // Who reads from a file that is full must not take what is there for all.
    if (std::fflush(stdout) != 0) throw Failure("standard output cannot be written");
}

void append_command(const std::string& path, const std::string& command) {
    const uint64_t words = command.size() / sizeof(uint64_t) + 1;
    const uint32_t head[2] = {kCommandKind, static_cast<uint32_t>(words + 1)};
    std::string entry(reinterpret_cast<const char*>(head), sizeof(head));
    entry += command + std::string(words * sizeof(uint64_t) - command.size(), '\0');
    entry.append(reinterpret_cast<const char*>(&words), sizeof(words));
    std::ofstream file(path, std::ios::binary | std::ios::app);
    if (!file.write(entry.data(), static_cast<std::streamsize>(entry.size())) || !file.flush())
        throw trouble(path, " cannot be written: ");
}

std::string command_of_record(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff end = static_cast<std::streamoff>(file.tellg()) - static_cast<std::streamoff>(kSealBytes);
    uint64_t words = 0;
    uint32_t head[2] = {};
    if (!file.seekg(end - static_cast<std::streamoff>(sizeof(words))) ||
        !file.read(reinterpret_cast<char*>(&words), sizeof(words)) || words > kMostCommand / sizeof(words))
        return "";
    const std::streamoff size = static_cast<std::streamoff>((words + 1) * sizeof(words));
    if (!file.seekg(end - size - static_cast<std::streamoff>(sizeof(head))) ||
        !file.read(reinterpret_cast<char*>(head), sizeof(head)) || head[0] != kCommandKind || head[1] != words + 1)
        return "";
    std::string text(words * sizeof(words), '\0');
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) return "";
    return text.substr(0, text.find('\0'));
}

void seal(const std::string& path, const Seal& seal) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    Checksum sum;
    if (error || !file || !checksum_of_bytes(file, size, &sum)) throw trouble(path, " cannot be read: ");
    const SealEntry entry{.entry = seal.entry, .inputs = seal.inputs, .bytes = sum.value()};
    std::FILE* end = std::fopen(path.c_str(), "abe");
    if (end == nullptr) throw trouble(path, " cannot be written: ");
    // On the disk before it gets its name: a machine that fails must not leave a result that looks finished.
    const bool written =
        std::fwrite(&entry, sizeof(entry), 1, end) == 1 && std::fflush(end) == 0 && fsync(fileno(end)) == 0;
    if (std::fclose(end) != 0 || !written) throw trouble(path, " cannot be written: ");
}

bool has_seal(const std::string& path, const Seal& seal) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file || size < kSealBytes) return false;
    Checksum sum;
    SealEntry entry;
    if (!checksum_of_bytes(file, size - kSealBytes, &sum)) return false;
    file.read(reinterpret_cast<char*>(&entry), sizeof(entry));
    return file.gcount() == sizeof(entry) && entry.kind == kSealKind && entry.count == kSealWords &&
           entry.entry == seal.entry && entry.inputs == seal.inputs && entry.bytes == sum.value();
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
