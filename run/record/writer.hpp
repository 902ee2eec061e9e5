// SPDX-License-Identifier: BSD-2-Clause-Patent
// A record while its run goes on.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "quality_cuda_run/record.h"
#include "run/record/format.hpp"

namespace qc::run {

/// Writes entries; after a failure nothing more. The file is made with the first call of begin().
class RecordWriter {
public:
    RecordWriter(std::string path, int inputs);

    /// Until the file is there, entries wait. @return false after a failure, as all that follow
    bool begin();
    /// @param more further words behind `words`
    bool add(Kind kind, std::span<const int64_t> words, std::span<const int64_t> more = {});
    bool add(Kind kind, std::span<const int64_t> words, std::string_view text) {
        return add(kind, words, words_of(text));
    }

    /// What a number for a layout of samples means, once.
    bool add_format(int number, const char* name);
    bool add_pair(int64_t row, uint32_t renditions, const int64_t* pts);
    /// What the session measures, from now on.
    bool follow(qc_session* session, const qc_config& config);
    void pause() { broke_ = true; }
    bool finish(double frame_rate, double tolerance, bool is_whole);
    bool is_over() const { return is_over_; }

    /// The record lacks something. @param error errno, 0 for none in particular @return false
    bool give_up(int error);
    int error() const { return error_; }

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    bool write(std::string_view bytes);

    std::string path_;
    int inputs_;
    std::unique_ptr<std::FILE, Close> file_;
    std::string waiting_; ///< entries from before the first frame
    std::map<int, std::string> formats_;
    bool broke_ = false; ///< a pause has been
    bool is_over_ = false;
    int error_ = 0;
};

} // namespace qc::run
