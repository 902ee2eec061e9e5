// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/record/entries.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace qc::run {

namespace {

constexpr size_t kReadAtOnce = size_t{1} << 14;    ///< words
constexpr uint32_t kMostWords = uint32_t{1} << 24; ///< of an entry: more is no record

} // namespace

EntryReader::EntryReader(EntryReader&& other) noexcept {
    *this = std::move(other);
}

EntryReader& EntryReader::operator=(EntryReader&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(buffer_, other.buffer_);
    std::swap(at_, other.at_);
    std::swap(end_, other.end_);
    std::swap(odd_bytes_, other.odd_bytes_);
    return *this;
}

bool EntryReader::open(const std::string& path) {
    close();
    at_ = end_ = odd_bytes_ = 0;
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    return file_ >= 0;
}

void EntryReader::close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
}

/// Has so many words in the buffer. @return false: the file has fewer
bool EntryReader::load(size_t words) {
    if (end_ - at_ >= words) return true;
    // What is left moves to the front, the bytes of a part of a word with it.
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_), buffer_.end(), buffer_.begin());
    end_ -= std::exchange(at_, 0);
    buffer_.resize(std::max(words, kReadAtOnce) + 1);
    while (end_ < words) {
        char* const place = reinterpret_cast<char*>(buffer_.data() + end_) + odd_bytes_;
        const ssize_t count = ::read(file_, place, (buffer_.size() - end_) * sizeof(int64_t) - odd_bytes_);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        odd_bytes_ += static_cast<size_t>(count);
        end_ += odd_bytes_ / sizeof(int64_t);
        odd_bytes_ %= sizeof(int64_t);
    }
    return true;
}

EntryReader::Found EntryReader::next(Entry* entry) {
    if (!load(1)) return Found::kEnd;
    const auto head = std::bit_cast<EntryHead>(buffer_[at_]);
    trouble_ = head.count > kMostWords ? kIsNoneOrDamaged : kEndsWithin;
    if (head.count > kMostWords || !load(size_t{1} + head.count)) return Found::kTrouble;
    *entry = {static_cast<Kind>(head.kind), std::span(buffer_).subspan(at_ + 1, head.count)};
    at_ += size_t{1} + head.count;
    return Found::kEntry;
}

} // namespace qc::run
