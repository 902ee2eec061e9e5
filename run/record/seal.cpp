// SPDX-License-Identifier: BSD-2-Clause-Patent
// Records that are whole: what is asked of them without reading their frames, and what is added behind these.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "quality_cuda_run/record.h"
#include "run/record/entries.hpp"
#include "run/text/guard.hpp"

namespace qc::run {

namespace {

constexpr size_t kBlock = size_t{1} << 16;
constexpr int64_t kMostCommand = int64_t{1} << 17; ///< words

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

struct SealEntry {
    EntryHead head{static_cast<uint32_t>(Kind::kSeal), kSealWords};
    std::array<uint64_t, kSealWords> words{};
};
static_assert(sizeof(SealEntry) == sizeof(EntryHead) + kSealWords * sizeof(uint64_t));

/// 64 bits of FNV-1a: tells damage, not malice. @return nothing if there are fewer than `size` bytes
std::optional<uint64_t> checksum_of(std::FILE* file, int64_t size) {
    uint64_t sum = 14695981039346656037ULL;
    std::vector<unsigned char> block(kBlock);
    while (size > 0) {
        const size_t count = std::fread(block.data(), 1, std::min(static_cast<size_t>(size), kBlock), file);
        if (count == 0) return std::nullopt;
        for (size_t i = 0; i < count; ++i) sum = (sum ^ block[i]) * 1099511628211ULL;
        size -= static_cast<int64_t>(count);
    }
    return sum;
}

/// Of an open file, which is at its beginning afterwards. @return below 0: it cannot be told
int64_t size_of(std::FILE* file) {
    if (std::fseek(file, 0, SEEK_END) != 0) return -1;
    const int64_t size = std::ftell(file);
    return std::fseek(file, 0, SEEK_SET) == 0 ? size : -1;
}

void append(std::string* bytes, const void* more, size_t size) {
    bytes->append(static_cast<const char*>(more), size);
}

/// A text that is found from the end.
bool add_text(std::FILE* file, Kind kind, const char* text_before) {
    const std::vector<int64_t> text = words_of(text_before);
    const auto count = static_cast<int64_t>(text.size());
    const EntryHead head{static_cast<uint32_t>(kind), static_cast<uint32_t>(count + 1)};
    std::string entry;
    append(&entry, &head, sizeof(head));
    append(&entry, text.data(), text.size() * sizeof(int64_t));
    append(&entry, &count, sizeof(count));
    return std::fwrite(entry.data(), 1, entry.size(), file) == entry.size() && std::fflush(file) == 0;
}

bool add_seal(const char* path, const char* complaints, const char* command, const qcr_seal& seal) {
    errno = 0;
    const File file(std::fopen(path, "r+be"));
    if (!file || size_of(file.get()) < 0 || std::fseek(file.get(), 0, SEEK_END) != 0) return false;
    if (*complaints != '\0' && !add_text(file.get(), Kind::kComplaints, complaints)) return false;
    if (!add_text(file.get(), Kind::kCommand, command)) return false;
    const int64_t size = size_of(file.get());
    const auto sum = checksum_of(file.get(), size);
    if (!sum || std::fseek(file.get(), 0, SEEK_END) != 0) return false;
    const SealEntry entry{.words = {seal.work, seal.inputs, *sum}};
    // On the disk before it gets its name: a machine that fails must not leave a result that looks finished.
    return std::fwrite(&entry, sizeof(entry), 1, file.get()) == 1 && std::fflush(file.get()) == 0 &&
           fsync(fileno(file.get())) == 0;
}

bool has_seal(const char* path, const qcr_seal& seal) {
    const File file(std::fopen(path, "rbe"));
    const int64_t end = file ? size_of(file.get()) - static_cast<int64_t>(sizeof(SealEntry)) : -1;
    if (end < 0) return false;
    const auto sum = checksum_of(file.get(), end);
    SealEntry entry;
    const SealEntry wanted{.words = {seal.work, seal.inputs, sum.value_or(0)}};
    return sum && std::fread(&entry, sizeof(entry), 1, file.get()) == 1 &&
           std::memcmp(&entry, &wanted, sizeof(entry)) == 0;
}

/// Of an entry that ends at `*at`, from its end: the number of words, the words, their head. @param at set to its
/// beginning @return nothing: it is of another kind
std::optional<std::string> text_before(std::FILE* file, Kind kind, int64_t* at) {
    int64_t count = 0;
    EntryHead head;
    const int64_t end = *at - static_cast<int64_t>(sizeof(count));
    if (end < 0 || std::fseek(file, end, SEEK_SET) != 0 || std::fread(&count, sizeof(count), 1, file) != 1 ||
        count < 1 || count > kMostCommand)
        return std::nullopt;
    *at = end - count * static_cast<int64_t>(sizeof(int64_t)) - static_cast<int64_t>(sizeof(head));
    std::vector<int64_t> words(static_cast<size_t>(count));
    if (*at < 0 || std::fseek(file, *at, SEEK_SET) != 0 || std::fread(&head, sizeof(head), 1, file) != 1 ||
        head.kind != static_cast<uint32_t>(kind) || head.count != count + 1 ||
        std::fread(words.data(), sizeof(int64_t), words.size(), file) != words.size())
        return std::nullopt;
    return text_of(words);
}

/// From the end: the seal, the command, the complaints if there were any.
std::string text_of_record(const char* path, Kind kind) {
    const File file(std::fopen(path, "rbe"));
    int64_t at = file ? size_of(file.get()) - static_cast<int64_t>(sizeof(SealEntry)) : -1;
    const auto command = at < 0 ? std::nullopt : text_before(file.get(), Kind::kCommand, &at);
    if (kind == Kind::kCommand || !command) return command.value_or("");
    return text_before(file.get(), kind, &at).value_or("");
}

bool read_rate(const char* path, double* frame_rate, double* tolerance) {
    EntryReader reader;
    Entry entry;
    if (!reader.open(path)) return false;
    while (reader.next(&entry) == EntryReader::Found::kEntry) {
        if (entry.kind != Kind::kRate) continue;
        if (entry.words.size() != 2) return false;
        *frame_rate = std::bit_cast<double>(entry.words[0]);
        *tolerance = std::bit_cast<double>(entry.words[1]);
        return true;
    }
    return false;
}

} // namespace

} // namespace qc::run

using qc::run::guarded;
using qc::run::Kind;

qc_status qcr_record_rate(const char* path, double* frame_rate, double* tolerance) {
    return guarded(QC_ERROR_NO_MEMORY,
                   [&] { return qc::run::read_rate(path, frame_rate, tolerance) ? QC_OK : QC_ERROR_IO; });
}

qc_status qcr_record_seal(const char* path, const char* complaints, const char* command, const qcr_seal* seal) {
    return guarded(QC_ERROR_NO_MEMORY,
                   [&] { return qc::run::add_seal(path, complaints, command, *seal) ? QC_OK : QC_ERROR_IO; });
}

int qcr_record_has_seal(const char* path, const qcr_seal* seal) {
    return guarded(0, [&] { return static_cast<int>(qc::run::has_seal(path, *seal)); });
}

char* qcr_record_command(const char* path) {
    return guarded<char*>(nullptr, [&] { return strdup(qc::run::text_of_record(path, Kind::kCommand).c_str()); });
}

char* qcr_record_complaints(const char* path) {
    return guarded<char*>(nullptr, [&] { return strdup(qc::run::text_of_record(path, Kind::kComplaints).c_str()); });
}

void qcr_record_free(char* text) {
    free(text);
}
