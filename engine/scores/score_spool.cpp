// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores/score_spool.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "files/temporary_file.hpp"
#include "text/message.hpp"

namespace qc {

namespace {

constexpr size_t kPendingBytes = size_t{256} << 10; ///< rows of about this size are written at a time

void unpack_values(const uint64_t* words, std::span<double> values) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::bit_cast<double>(words[i]);
}

} // namespace

Status ScoreSpool::check_folder() {
    const std::string folder = temporary_folder();
    if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
    return {QC_ERROR_IO, "no temporary file can be made in " + in_quotes(folder) + ": " + std::strerror(errno)};
}

ScoreSpool::ScoreSpool(size_t columns) : columns_(columns) {
    pending_limit_words_ = std::max<size_t>(kPendingBytes / row_bytes(), 1) * row_words();
    pending_.reserve(pending_limit_words_);
}

ScoreSpool::~ScoreSpool() {
    if (file_ >= 0) close(file_);
}

void ScoreSpool::append(int64_t frame, std::span<const double> values) {
    if (pending_.size() >= pending_limit_words_ && !file_failed_) file_failed_ = !write_out();
    pending_.push_back(static_cast<uint64_t>(frame));
    for (double value : values) pending_.push_back(std::bit_cast<uint64_t>(value));
    ++rows_;
}

Status ScoreSpool::read(int64_t row, int64_t* frame, std::span<double> values) const {
    std::vector<uint64_t> from_file;
    const uint64_t* words = nullptr;
    if (row >= rows_in_file_) {
        words = pending_.data() + static_cast<size_t>(row - rows_in_file_) * row_words();
    } else {
        from_file.resize(row_words());
        QC_RETURN_IF_ERROR(read_words(row, 1, from_file.data()));
        words = from_file.data();
    }
    *frame = static_cast<int64_t>(words[0]);
    unpack_values(words + 1, values);
    return {};
}

Status ScoreSpool::find(int64_t frame, int64_t* row) const {
    // Rows stand in the order of their frames, none of which comes twice: row n is of frame n or a later one.
    int64_t first = 0;
    std::vector<double> values(columns_);
    for (int64_t end = std::clamp(frame, int64_t{0}, rows_); first < end;) {
        const int64_t middle = first + (end - first) / 2;
        int64_t found = 0;
        QC_RETURN_IF_ERROR(read(middle, &found, values));
        if (found < frame)
            first = middle + 1;
        else
            end = middle;
    }
    *row = first;
    return {};
}

Status ScoreSpool::truncate(int64_t frames) {
    int64_t kept = 0;
    QC_RETURN_IF_ERROR(find(frames, &kept));
    rows_ = kept;
    rows_in_file_ = std::min(rows_in_file_, kept);
    pending_.resize(static_cast<size_t>(rows_ - rows_in_file_) * row_words());
    return {};
}

Status ScoreSpool::for_each(int64_t first, int64_t end, const Visitor& visit) const {
    const int64_t rows_per_block = static_cast<int64_t>(pending_limit_words_ / row_words());
    const int64_t end_in_file = std::min(end, rows_in_file_);
    std::vector<uint64_t> block(first < end_in_file ? pending_limit_words_ : 0);
    std::vector<double> values(columns_);
    const auto visit_words = [&](const uint64_t* words) {
        unpack_values(words + 1, values);
        return visit(static_cast<int64_t>(words[0]), values);
    };
    for (int64_t row = first; row < end_in_file; row += rows_per_block) {
        const int64_t count = std::min(rows_per_block, end_in_file - row);
        QC_RETURN_IF_ERROR(read_words(row, count, block.data()));
        for (int64_t i = 0; i < count; ++i)
            QC_RETURN_IF_ERROR(visit_words(block.data() + static_cast<size_t>(i) * row_words()));
    }
    for (int64_t row = std::max(first, rows_in_file_); row < end; ++row)
        QC_RETURN_IF_ERROR(visit_words(pending_.data() + static_cast<size_t>(row - rows_in_file_) * row_words()));
    return {};
}

/// Moves the pending rows into the file. @return false if that failed: they stay in memory, readable
bool ScoreSpool::write_out() {
    if (file_ < 0) {
        std::string name;
        file_ = create_temporary(temporary_folder(), "quality_cuda-scores-", "", S_IRUSR | S_IWUSR, &name);
        if (file_ < 0) return false;
        unlink(name.c_str()); // lives on until it is closed, and no run can leave it behind
    }
    const char* data = reinterpret_cast<const char*>(pending_.data());
    const size_t size = pending_.size() * sizeof(uint64_t);
    const off_t offset = static_cast<off_t>(rows_in_file_) * static_cast<off_t>(row_bytes());
    for (size_t done = 0; done < size;) {
        const ssize_t count = pwrite(file_, data + done, size - done, offset + static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += static_cast<size_t>(count);
    }
    rows_in_file_ = rows_;
    pending_.clear();
    return true;
}

Status ScoreSpool::read_words(int64_t row, int64_t count, uint64_t* words) const {
    char* data = reinterpret_cast<char*>(words);
    const size_t size = static_cast<size_t>(count) * row_bytes();
    const off_t offset = static_cast<off_t>(row) * static_cast<off_t>(row_bytes());
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(file_, data + done, size - done, offset + static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return {QC_ERROR_IO, std::string("cannot read the temporary file for the scores: ") +
                                     std::strerror(got < 0 ? errno : EIO)};
        done += static_cast<size_t>(got);
    }
    return {};
}

} // namespace qc
