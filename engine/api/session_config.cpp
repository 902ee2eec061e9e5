// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/session_config.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

#include "api/int_field.hpp"
#include "api/picture.hpp"

namespace qc {
namespace {

constexpr int kMaxDevice = 1024, kMaxThreads = 1024, kMaxBatch = 64;
constexpr int kSlotsPerThread = 2;
constexpr int kMaxSlots = kSlotsPerThread * kMaxThreads;
constexpr int kDefaultBatch = 16, kDefaultSlots = 3;
constexpr int kMaxDefaultCopyThreads = 4; // more do not fill the bus faster
constexpr int kBitDepths[] = {0, 10};

constexpr IntField kFields[] = {
    {"renditions", offsetof(qc_config, renditions), 0, QC_MAX_RENDITIONS},
    {"bitdepth", offsetof(qc_config, bitdepth), 0, 0, kBitDepths},
    {"stats_format", offsetof(qc_config, stats_format), QC_STATS_FORMAT_NONE, QC_STATS_FORMAT_COUNT - 1},
    {"n_subsample", offsetof(qc_config, n_subsample), 0, INT_MAX},
    {"skip_unsupported", offsetof(qc_config, skip_unsupported), 0, 1},
    {"backend", offsetof(qc_config, backend), QC_BACKEND_AUTO, QC_BACKEND_IMPORTED},
    {"device", offsetof(qc_config, device), 0, kMaxDevice},
    {"n_threads", offsetof(qc_config, n_threads), 0, kMaxThreads},
    {"batch", offsetof(qc_config, batch), 0, kMaxBatch},
    {"slots", offsetof(qc_config, slots), 0, kMaxSlots},
    {"latency_first", offsetof(qc_config, latency_first), 0, 1},
    {"selftest", offsetof(qc_config, selftest), 0, 1},
    {"scaling", offsetof(qc_config, scaling), QC_SCALING_NONE, QC_SCALING_COUNT - 1},
    {"scoring_width", offsetof(qc_config, scoring_width), 0, kMaxSide},
    {"scoring_height", offsetof(qc_config, scoring_height), 0, kMaxSide},
    {"roi_x", offsetof(qc_config, roi_x), 0, kMaxSide},
    {"roi_y", offsetof(qc_config, roi_y), 0, kMaxSide},
    {"roi_width", offsetof(qc_config, roi_width), 0, kMaxSide},
    {"roi_height", offsetof(qc_config, roi_height), 0, kMaxSide},
    {"watch_contents", offsetof(qc_config, watch_contents), 0, 2},
    {"map_rendition", offsetof(qc_config, map_rendition), 0, QC_MAX_RENDITIONS - 1},
    {"map_layout", offsetof(qc_config, map_layout), QC_MAP_LAYOUT_GRAY, QC_MAP_LAYOUT_COUNT - 1},
    {"map_colours", offsetof(qc_config, map_colours), QC_MAP_COLOURS_GRAY, QC_MAP_COLOURS_COUNT - 1},
    {"map_memory", offsetof(qc_config, map_memory), QC_MEMORY_HOST, QC_MEMORY_CUDA},
    {"weights", offsetof(qc_config, weights), 0, 1},
    {"hold_pictures", offsetof(qc_config, hold_pictures), 0, 1},
    {"convert", offsetof(qc_config, convert), QC_CONVERT_AUTO, QC_CONVERT_COUNT - 1},
};

// ---- structs of other versions --------------------------------------------------------------------------------------

constexpr size_t kSizeStep = alignof(qc_config);
constexpr size_t kLargestSize = 65536; ///< of any struct there will be; a larger number was never set
/// A configuration that ends earlier could not even say what the pictures are.
constexpr size_t kSmallestConfig = offsetof(qc_config, frame_rate);
constexpr size_t kSmallestStats = offsetof(qc_stats, frames_submitted);

// Without padding at the end a larger struct never begins its new fields in bytes that an older caller left undefined.
static_assert(offsetof(qc_config, convert) + sizeof(int) == sizeof(qc_config));
static_assert(offsetof(qc_stats, pinned_bytes) + sizeof(size_t) == sizeof(qc_stats));
static_assert(alignof(qc_stats) == kSizeStep && kSmallestConfig % kSizeStep == 0);

Status check_size(const char* name, size_t size, size_t smallest) {
    if (size >= smallest && size <= kLargestSize && size % kSizeStep == 0) return {};
    return invalid(format("%s.struct_size=%zu: %zu..%zu in steps of %zu is accepted; set it to sizeof(%s)", name, size,
                          smallest, kLargestSize, kSizeStep, name));
}

Status check_scoring_size(const qc_config& config) {
    const int width = config.scoring_width, height = config.scoring_height;
    if ((width == 0) != (height == 0))
        return invalid(format("scoring_width=%d, scoring_height=%d: both or neither is accepted", width, height));
    if (width == 0 || config.scaling != QC_SCALING_NONE) return {};
    return invalid(format("scoring_width=%d, scoring_height=%d: 0 is accepted without scaling", width, height));
}

Status check_map(const qc_config& config) {
    if (!std::isfinite(config.map_white) || config.map_white < 0.0)
        return invalid(format("map_white=%g: a number that is not negative is accepted", config.map_white));
    if (config.map_rendition >= std::max(config.renditions, 1))
        return not_accepted("map_rendition", config.map_rendition, format("0..%d", std::max(config.renditions, 1) - 1));
    if (config.map_colours == QC_MAP_COLOURS_HEAT && config.map_layout == QC_MAP_LAYOUT_GRAY)
        return invalid("map_colours=1: a map_layout with chroma is accepted, 1 or 2");
    return {};
}

} // namespace

Status read_config(const qc_config& caller, qc_config* config) {
    const size_t size = caller.struct_size;
    QC_RETURN_IF_ERROR(check_size("qc_config", size, kSmallestConfig));
    const char* bytes = reinterpret_cast<const char*>(&caller);
    for (size_t i = sizeof(qc_config); i < size; ++i)
        if (bytes[i] != 0)
            return invalid(format("qc_config.struct_size=%zu: byte %zu is not 0; this library knows the first %zu and "
                                  "is older than its caller: leave out what is new, or update the library",
                                  size, i, sizeof(qc_config)));
    *config = qc_config{};
    std::memcpy(config, bytes, std::min(size, sizeof(qc_config)));
    config->struct_size = sizeof(qc_config);
    QC_RETURN_IF_ERROR(check_fields(config, kFields, ""));
    if (!std::isfinite(config->frame_rate) || config->frame_rate < 0.0)
        return invalid(format("frame_rate=%g: a number that is not negative is accepted", config->frame_rate));
    QC_RETURN_IF_ERROR(check_map(*config));
    return check_scoring_size(*config);
}

Status write_stats(const qc_stats& stats, qc_stats* caller) {
    const size_t size = caller->struct_size;
    QC_RETURN_IF_ERROR(check_size("qc_stats", size, kSmallestStats));
    char* bytes = reinterpret_cast<char*>(caller);
    const size_t known = std::min(size, sizeof(qc_stats));
    std::memcpy(bytes, &stats, known);
    std::fill(bytes + known, bytes + size, char{0});
    caller->struct_size = size;
    return {};
}

// ---- defaults -------------------------------------------------------------------------------------------------------

void resolve_common_defaults(qc_config* config) {
    if (config->renditions == 0) config->renditions = 1;
    if (config->n_subsample == 0) config->n_subsample = 1;
}

void resolve_cpu_defaults(unsigned cores, qc_config* config) {
    if (config->n_threads == 0) config->n_threads = static_cast<int>(std::clamp(cores, 1u, unsigned{kMaxThreads}));
    if (config->slots == 0) config->slots = kSlotsPerThread * config->n_threads;
}

void resolve_cuda_defaults(unsigned cores, qc_config* config) {
    if (config->batch == 0) config->batch = std::max(kDefaultBatch, config->renditions);
    if (config->slots == 0) config->slots = kDefaultSlots;
    if (config->n_threads == 0) // half of the cores: whoever makes software frames needs some too
        config->n_threads = std::clamp(static_cast<int>(cores / 2), 1, kMaxDefaultCopyThreads);
}

} // namespace qc
