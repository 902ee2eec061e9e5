// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files of CAMBI's heat maps.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "contract/status.hpp"
#include "metrics/cambi/cambi_settings.hpp"

namespace qc::cambi {

/// Refuses a folder that can be seen to be impossible to make or to write to. Makes nothing itself.
Status check_folder(const std::string& path);

/// The heat maps of one rendition: a raw file per scale, frame after frame.
class HeatMapFiles {
public:
    HeatMapFiles() = default;
    ~HeatMapFiles();
    HeatMapFiles(const HeatMapFiles&) = delete;
    HeatMapFiles& operator=(const HeatMapFiles&) = delete;

    bool is_open() const { return files_[0].descriptor >= 0; }
    /// Makes the folder, and makes the files or empties them. Refuses to share them with another rendition or session.
    Status open(const Settings& settings, const std::string& folder);
    /// @param words of all scales' maps
    Status write(int64_t frame, std::span<const uint64_t> words);

private:
    struct File {
        std::string path;
        size_t samples = 0; ///< of a frame
        int descriptor = -1;
    };
    static Status failed(const File& file, int error);

    std::array<File, kScales> files_;
};

} // namespace qc::cambi
