// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "failure.hpp"

namespace qc::cli {

namespace {

constexpr size_t kBlock = size_t{1} << 20, kSample = size_t{64} << 10;
constexpr uint32_t kSealKind = 0x5351; ///< of the record's entries, beside those of filter/quality_cuda/record.h
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
    std::vector<char> block(kBlock);
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
        text.append(block.data(), static_cast<size_t>(file.gcount()));
    return text;
}

void write_whole(const std::string& path, std::string_view text) {
    const std::string unfinished = path + "." + std::to_string(getpid()) + ".unfinished";
    std::FILE* file = std::fopen(unfinished.c_str(), "wbe");
    if (file == nullptr) throw trouble(path, " cannot be written: ");
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    const int error = errno;
    std::fclose(file);
    if (written && std::rename(unfinished.c_str(), path.c_str()) == 0) return;
    if (!written) errno = error;
    const Failure failure = trouble(path, " cannot be written: ");
    std::remove(unfinished.c_str());
    throw failure;
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
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/quality-cuda-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw trouble(name, " cannot be made (TMPDIR chooses another place): ");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace qc::cli
