// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores/score_spool.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "text/message.hpp"

namespace qc {

namespace {

constexpr size_t kPendingBytes = size_t{256} << 10; ///< rows of about this size are written at a time

/// Head of a row in one word: the frame, and in the lowest bit whether it was scored.
uint64_t pack(const ScoreSpool::RowHead& head) {
    return static_cast<uint64_t>(head.frame) << 1 | (head.scored ? 1U : 0U);
}

ScoreSpool::RowHead unpack(uint64_t word) {
    return {static_cast<int64_t>(word >> 1), (word & 1) != 0};
}

void unpack_values(const uint64_t* words, std::span<double> values) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::bit_cast<double>(words[i]);
}

} // namespace

ScoreSpool::ScoreSpool(size_t columns) : columns_(columns) {
    pending_limit_words_ = std::max<size_t>(kPendingBytes / row_bytes(), 1) * row_words();
    pending_.reserve(pending_limit_words_);
}

ScoreSpool::~ScoreSpool() {
    if (file_ >= 0) close(file_);
}

Status ScoreSpool::append(RowHead head, std::span<const double> values) {
    if (pending_.size() == pending_limit_words_) QC_RETURN_IF_ERROR(write_out());
    pending_.push_back(pack(head));
    for (double value : values) pending_.push_back(std::bit_cast<uint64_t>(value));
    ++rows_;
    return {};
}

Status ScoreSpool::read(int64_t row, RowHead* head, std::span<double> values) const {
    std::vector<uint64_t> from_file;
    const uint64_t* words = nullptr;
    if (row >= rows_in_file_) {
        words = pending_.data() + static_cast<size_t>(row - rows_in_file_) * row_words();
    } else {
        from_file.resize(row_words());
        QC_RETURN_IF_ERROR(read_words(row, 1, from_file.data()));
        words = from_file.data();
    }
    *head = unpack(words[0]);
    unpack_values(words + 1, values);
    return {};
}

void ScoreSpool::truncate(int64_t rows) {
    if (rows >= rows_) return;
    rows_ = rows;
    rows_in_file_ = std::min(rows_in_file_, rows);
    pending_.resize(static_cast<size_t>(rows_ - rows_in_file_) * row_words());
}

Status ScoreSpool::for_each(const std::function<Status(const RowHead&, std::span<const double>)>& visit) const {
    const int64_t rows_per_block = static_cast<int64_t>(pending_limit_words_ / row_words());
    std::vector<uint64_t> block(rows_in_file_ > 0 ? pending_limit_words_ : 0);
    std::vector<double> values(columns_);
    const auto visit_words = [&](const uint64_t* words) {
        unpack_values(words + 1, values);
        return visit(unpack(words[0]), values);
    };
    for (int64_t row = 0; row < rows_in_file_; row += rows_per_block) {
        const int64_t count = std::min(rows_per_block, rows_in_file_ - row);
        QC_RETURN_IF_ERROR(read_words(row, count, block.data()));
        for (int64_t i = 0; i < count; ++i)
            QC_RETURN_IF_ERROR(visit_words(block.data() + static_cast<size_t>(i) * row_words()));
    }
    for (size_t at = 0; at < pending_.size(); at += row_words()) QC_RETURN_IF_ERROR(visit_words(pending_.data() + at));
    return {};
}

Status ScoreSpool::open_file() {
    const char* wish = std::getenv("TMPDIR");
    directory_ = wish != nullptr && *wish != '\0' ? wish : "/tmp";
    std::string name = directory_ + "/quality_cuda-scores-XXXXXX";
    file_ = mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0)
        return {QC_ERROR_IO, "cannot make a temporary file for the scores in " + in_quotes(directory_) + ": " +
                                 std::strerror(errno) + "; TMPDIR chooses another directory"};
    unlink(name.c_str()); // lives on until it is closed, and no run can leave it behind
    return {};
}

/// Moves the pending rows into the file. On failure they stay in memory, readable.
Status ScoreSpool::write_out() {
    if (!failure_.ok()) return failure_;
    if (file_ < 0) {
        failure_ = open_file();
        if (!failure_.ok()) return failure_;
    }
    const char* data = reinterpret_cast<const char*>(pending_.data());
    const size_t size = pending_.size() * sizeof(uint64_t);
    const off_t offset = static_cast<off_t>(rows_in_file_) * static_cast<off_t>(row_bytes());
    for (size_t done = 0; done < size;) {
        const ssize_t count = pwrite(file_, data + done, size - done, offset + static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            failure_ = {QC_ERROR_IO, "cannot write the temporary file for the scores in " + in_quotes(directory_) +
                                         ": " + std::strerror(count < 0 ? errno : ENOSPC) +
                                         "; TMPDIR chooses another directory"};
            return failure_;
        }
        done += static_cast<size_t>(count);
    }
    rows_in_file_ = rows_;
    pending_.clear();
    return {};
}

Status ScoreSpool::read_words(int64_t row, int64_t count, uint64_t* words) const {
    char* data = reinterpret_cast<char*>(words);
    const size_t size = static_cast<size_t>(count) * row_bytes();
    const off_t offset = static_cast<off_t>(row) * static_cast<off_t>(row_bytes());
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(file_, data + done, size - done, offset + static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return {QC_ERROR_IO, "cannot read the temporary file for the scores in " + in_quotes(directory_) + ": " +
                                     std::strerror(got < 0 ? errno : EIO)};
        done += static_cast<size_t>(got);
    }
    return {};
}

} // namespace qc
