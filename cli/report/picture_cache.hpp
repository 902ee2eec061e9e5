// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of former reports: $XDG_CACHE_HOME/quality-cuda, otherwise ~/.cache/quality-cuda. Those that nobody asked
// for in a month go.
#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

namespace qc::cli {

/// Without a place for it there is none; what cannot be read or written there is taken again, and no error.
class PictureCache {
public:
    PictureCache();

    /// What makes a picture what it is. @param how all that decides, beside the two files
    static std::string key_of(const std::string& how, const std::string& distorted, const std::string& reference);

    std::optional<Picture> find(const std::string& key) const;
    void keep(const std::string& key, const Picture& picture) const;

private:
    std::string folder_; ///< empty: there is none
};

} // namespace qc::cli
