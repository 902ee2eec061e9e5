// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/cambi_heat_maps.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace qc::cambi {
namespace {

Status impossible(const std::string& path, const std::error_code& error) {
    return {QC_ERROR_IO, "cambi: heatmaps_path: cannot make the folder \"" + path + "\": " + error.message()};
}

Status make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path, error) && !error)
        error = std::make_error_code(std::errc::not_a_directory);
    return error ? impossible(path, error) : Status();
}

} // namespace

Status check_folder(const std::string& path) {
    // What exists of the path decides: files can be made in it, or the folders that are missing.
    std::error_code error;
    std::filesystem::path existing = std::filesystem::absolute(path, error);
    if (error) return impossible(path, error);
    while (!std::filesystem::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
    if (!std::filesystem::is_directory(existing, error))
        return impossible(path, error ? error : std::make_error_code(std::errc::not_a_directory));
    if (access(existing.c_str(), W_OK | X_OK) != 0) return impossible(path, {errno, std::generic_category()});
    return {};
}

HeatMapFiles::~HeatMapFiles() {
    for (const File& file : files_)
        if (file.descriptor >= 0) close(file.descriptor);
}

Status HeatMapFiles::open(const Settings& settings, const std::string& folder) {
    QC_RETURN_IF_ERROR(make_folder(folder));
    const Analysis& analysis = settings.distorted;
    for (int scale = 0; scale < kScales; ++scale) {
        File& file = files_[static_cast<size_t>(scale)];
        file.samples = static_cast<size_t>(settings.scale_width(analysis, scale)) *
                       static_cast<size_t>(settings.scale_height(analysis, scale));
        // The sizes in the names are those without cambi_high_res_speedup, as libvmaf has them.
        file.path = std::filesystem::path(folder) / format("cambi_heatmap_scale_%d_%dx%d_16b.gray", scale,
                                                           ((analysis.width - 1) >> scale) + 1,
                                                           ((analysis.height - 1) >> scale) + 1);
        file.descriptor = ::open(file.path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
        if (file.descriptor < 0) return failed(file, errno);
        if (flock(file.descriptor, LOCK_EX | LOCK_NB) != 0)
            return invalid("cambi: heatmaps_path: " + file.path +
                           " is being written already: one folder takes the heat maps of one distorted input");
        if (ftruncate(file.descriptor, 0) != 0) return failed(file, errno);
    }
    return {};
}

Status HeatMapFiles::write(int64_t frame, std::span<const uint64_t> words) {
    for (const File& file : files_) {
        std::vector<uint16_t> samples(file.samples);
        for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<uint16_t>(words[i / 4] >> (16 * (i % 4)));
        words = words.subspan((file.samples + 3) / 4);
        const auto* bytes = reinterpret_cast<const char*>(samples.data());
        const size_t size = samples.size() * sizeof(uint16_t);
        for (size_t done = 0; done < size;) {
            const auto at = static_cast<off_t>(static_cast<size_t>(frame) * size + done);
            const ssize_t written = pwrite(file.descriptor, bytes + done, size - done, at);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return failed(file, written < 0 ? errno : ENOSPC);
            done += static_cast<size_t>(written);
        }
    }
    return {};
}

Status HeatMapFiles::failed(const File& file, int error) {
    return {QC_ERROR_IO,
            "cambi: heatmaps_path: cannot write " + file.path + ": " + std::generic_category().message(error)};
}

} // namespace qc::cambi
