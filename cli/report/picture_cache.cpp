// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/picture_cache.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "results/results.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

namespace fs = std::filesystem;

constexpr auto kKept = std::chrono::hours(24 * 30);
constexpr const char* kHead = "quality-cuda pictures %zu %zu %zu\n";

std::string folder_for_pictures() {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    fs::path place;
    if (cache != nullptr && *cache == '/')
        place = cache;
    else if (home != nullptr && *home == '/')
        place = fs::path(home) / ".cache";
    else
        return "";
    place = place / "quality-cuda" / "pictures";
    std::error_code error;
    fs::create_directories(place, error);
    return error ? "" : place.string();
}

void remove_old(const std::string& folder) {
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    for (const auto& each : fs::directory_iterator(folder, error)) {
        std::error_code ignored;
        if (const auto time = each.last_write_time(ignored); !ignored && now - time > kKept)
            fs::remove(each.path(), ignored);
    }
}

/// A file as it is now: its content as far as a checksum looks, and when it was written.
std::string state_of(const std::string& path) {
    std::error_code error;
    return hex(checksum_of_input(path)) + " " +
           std::to_string(fs::last_write_time(path, error).time_since_epoch().count());
}

} // namespace

PictureCache::PictureCache() : folder_(folder_for_pictures()) {
    if (!folder_.empty()) remove_old(folder_);
}

std::string PictureCache::key_of(const std::string& how, const std::string& distorted, const std::string& reference) {
    return hex(checksum_of(how + "\n" + state_of(distorted) + "\n" + state_of(reference) + "\n" QC_VERSION));
}

std::optional<Picture> PictureCache::find(const std::string& key) const {
    const fs::path path = fs::path(folder_) / key;
    std::error_code error;
    if (folder_.empty() || !fs::is_regular_file(path, error)) return std::nullopt;
    try {
        const std::string bytes = read_whole(path.string());
        const size_t head = bytes.find('\n') + 1;
        size_t one = 0, two = 0, three = 0;
        if (std::sscanf(bytes.c_str(), kHead, &one, &two, &three) != 3 || one > bytes.size() || two > bytes.size() ||
            three > bytes.size() || head + one + two + three != bytes.size())
            return std::nullopt;
        fs::last_write_time(path, fs::file_time_type::clock::now(), error); // it was asked for
        return Picture{bytes.substr(head, one), bytes.substr(head + one, two), bytes.substr(head + one + two)};
    } catch (const Failure&) {
        return std::nullopt;
    }
}

void PictureCache::keep(const std::string& key, const Picture& picture) const {
    if (folder_.empty()) return;
    const auto& [reference, distorted, difference] = picture;
    std::string bytes(128, '\0');
    bytes.resize(static_cast<size_t>(
        std::snprintf(bytes.data(), bytes.size(), kHead, reference.size(), distorted.size(), difference.size())));
    try {
        write_whole((fs::path(folder_) / key).string(), bytes + reference + distorted + difference);
    } catch (const Failure&) { // a full disk, say: the page has its pictures
    }
}

} // namespace qc::cli
