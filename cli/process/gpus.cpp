// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "process/gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <unistd.h>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// Streams that keep a GPU's decoders busy: the largest ones have seven, and one stream more than decoders fills the
/// gaps in which the others wait for the host. Measured on an H200: titles of HEVC in four parts are faster than in
/// seven (docs/design/performance.md). A GPU with fewer decoders loses nothing by it but memory.
constexpr size_t kStreamsOfGpu = 8;

constexpr std::string_view kDevice = "nvidia";

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= 4 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_name(std::string_view text) {
    return text.starts_with("GPU-") || text.starts_with("MIG-");
}

/// By the driver's files: a container or a batch system shows those that it has granted, whatever their numbers are.
size_t count_device_files() {
    size_t count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kDevice) && is_number(std::string_view(name).substr(kDevice.size())) &&
            access(entry.path().c_str(), R_OK | W_OK) == 0)
            ++count;
    }
    return count;
}

std::vector<std::string> entries_of(const std::string& list) {
    std::vector<std::string> entries;
    std::istringstream text(list);
    for (std::string entry; std::getline(text, entry, ',');) entries.push_back(entry);
    return entries;
}

bool is_there(const std::string& entry, size_t count) {
    return is_name(entry) || (is_number(entry) && static_cast<size_t>(std::atoi(entry.c_str())) < count);
}

/// CUDA takes the entries up to the first one that it does not know.
std::vector<std::string> up_to_unknown(std::vector<std::string> entries, size_t count) {
    entries.erase(std::find_if(entries.begin(), entries.end(),
                               [count](const std::string& each) { return !is_there(each, count); }),
                  entries.end());
    return entries;
}

} // namespace

std::vector<std::string> find_gpus(const std::string& wish) {
    const size_t count = count_device_files();
    if (!wish.empty()) {
        std::vector<std::string> entries = entries_of(wish);
        for (size_t i = 0; i < entries.size(); ++i)
            if (!(is_number(entries[i]) || is_name(entries[i])) ||
                std::find(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i), entries[i]) !=
                    entries.begin() + static_cast<std::ptrdiff_t>(i))
                throw Failure("--gpus=" + wish +
                                  ": different numbers or names (GPU-..., MIG-...) of GPUs are accepted, "
                                  "joined by commas, e.g. 0,2",
                              kMisused);
        if (count == 0) throw Failure("--gpus=" + wish + ": this machine has no NVIDIA GPU", kMisused);
        for (const std::string& entry : entries)
            if (!is_there(entry, count))
                throw Failure("--gpus=" + wish + ": this machine has GPU 0" +
                                  (count > 1 ? " to " + std::to_string(count - 1) : " alone"),
                              kMisused);
        return entries;
    }
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr)
        return count == 0 ? std::vector<std::string>{} : up_to_unknown(entries_of(visible), count);
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i) all.push_back(std::to_string(i));
    return all;
}

size_t parts_of_gpu(size_t videos) {
    return std::max<size_t>(1, kStreamsOfGpu / std::max<size_t>(videos, 1));
}

} // namespace qc::cli
