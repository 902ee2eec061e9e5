// SPDX-License-Identifier: BSD-2-Clause-Patent
// Finished rows of a run of any length in flat memory: appended to an unlinked temporary file, read back at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "contract/status.hpp"

namespace qc {

/// Append-only list of rows of a fixed number of doubles. The file lies in $TMPDIR, else /tmp, and is made when the
/// first rows leave memory: short runs never touch the disk.
class ScoreSpool {
public:
    /// What is kept beside the values of a row.
    struct RowHead {
        int64_t frame = 0;
        bool scored = false;
    };

    explicit ScoreSpool(size_t columns);
    ~ScoreSpool();
    ScoreSpool(const ScoreSpool&) = delete;
    ScoreSpool& operator=(const ScoreSpool&) = delete;

    int64_t rows() const { return rows_; }

    /// @param values one per column. After a failure every later call fails alike; rows appended before stay readable.
    Status append(RowHead head, std::span<const double> values);
    Status read(int64_t row, RowHead* head, std::span<double> values) const;
    /// Forgets all rows but the first so many.
    void truncate(int64_t rows);
    /// Calls `visit` for every row in order until it fails.
    Status for_each(const std::function<Status(const RowHead&, std::span<const double>)>& visit) const;

private:
    size_t row_words() const { return columns_ + 1; }
    size_t row_bytes() const { return row_words() * sizeof(uint64_t); }
    Status write_out();
    Status open_file();
    Status read_words(int64_t row, int64_t count, uint64_t* words) const;

    size_t columns_;
    int64_t rows_ = 0;
    int64_t rows_in_file_ = 0;
    std::vector<uint64_t> pending_; ///< rows that are not in the file yet
    size_t pending_limit_words_;
    int file_ = -1;
    std::string directory_;
    Status failure_;
};

} // namespace qc
