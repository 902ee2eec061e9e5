// SPDX-License-Identifier: BSD-2-Clause-Patent
// Finished rows of a run of any length in flat memory: appended to an unlinked temporary file, read back at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "contract/status.hpp"

namespace qc {

/// Append-only list of rows: a frame's number and a fixed number of doubles. The file lies in temporary_folder() and is
/// made when the first rows leave memory: short runs never touch the disk. Where it cannot be made or written, rows
/// stay in memory: a run does not end for want of a disk, it only is no longer flat.
class ScoreSpool {
public:
    /// Whether the file could be made, asked before there are rows: makes none. @return QC_ERROR_IO, with the folder
    static Status check_folder();

    explicit ScoreSpool(size_t columns);
    ~ScoreSpool();
    ScoreSpool(const ScoreSpool&) = delete;
    ScoreSpool& operator=(const ScoreSpool&) = delete;

    int64_t rows() const { return rows_; }

    /// @param values one per column
    void append(int64_t frame, std::span<const double> values);
    Status read(int64_t row, int64_t* frame, std::span<double> values) const;
    /// Forgets all rows of the frames from number `frames` on.
    Status truncate(int64_t frames);
    /// The first row of the frames from number `frame` on; rows() if there is none.
    Status find(int64_t frame, int64_t* row) const;
    using Visitor = std::function<Status(int64_t frame, std::span<const double>)>;
    /// Calls `visit` for every row in order until it fails; of those from `first` up to, but without, `end`.
    Status for_each(const Visitor& visit) const { return for_each(0, rows_, visit); }
    Status for_each(int64_t first, int64_t end, const Visitor& visit) const;

private:
    size_t row_words() const { return columns_ + 1; }
    size_t row_bytes() const { return row_words() * sizeof(uint64_t); }
    bool write_out();
    Status read_words(int64_t row, int64_t count, uint64_t* words) const;

    size_t columns_;
    int64_t rows_ = 0;
    int64_t rows_in_file_ = 0;
    std::vector<uint64_t> pending_; ///< rows that are not in the file yet
    size_t pending_limit_words_;
    int file_ = -1;
    bool file_failed_ = false;
};

} // namespace qc
