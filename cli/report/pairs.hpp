// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which frames of the files a log's frames are.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ffmpeg/probe.hpp"
#include "report/report.hpp"

namespace qc::cli {

/// A frame of a file.
struct Place {
    size_t index = 0;           ///< from the file's first frame on
    std::optional<int64_t> pts; ///< as the filter sees it, where the file can be sought exactly
    double seek = -1;           ///< seconds for -ss, with `pts`; below 0: from the beginning
};

struct PairPlaces {
    std::string why_not;                     ///< why the pairs are not known; empty: they are
    std::vector<Place> distorted, reference; ///< of each frame of the log, in its order
};

/// Probes each file once.
class Files {
public:
    explicit Files(const Tools& tools) : tools_(tools) {}
    const Input& input(const std::string& path);
    /// Several, side by side; one that cannot be read fails when it is asked for. @param done called after each
    void read(const std::vector<std::string>& paths, const std::function<void()>& done);

private:
    const Tools& tools_;
    std::map<std::string, Input> known_;
};

/// By the stamps of frames where the log has them. Otherwise pairs as the filter makes them, by each of its rules until
/// all that the log counted of its own comes out.
PairPlaces pair_places(const Encode& encode, Files* files);

} // namespace qc::cli
