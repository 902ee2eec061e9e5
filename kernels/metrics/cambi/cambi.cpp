// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI: descriptor, what follows from the options, and the way from accumulators to scores.
#include "metrics/cambi/cambi.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "metrics/cambi/cambi_plan.hpp"

namespace qc::cambi {
namespace {

enum Option : size_t {
    kMaxValue,
    kEncodeWidth,
    kEncodeHeight,
    kEncodeDepth,
    kSourceWidth,
    kSourceHeight,
    kWindowSize,
    kTopK,
    kCambiTopK,
    kVisibilityThreshold,
    kVisibleLuminance,
    kMaxLogContrast,
    kHeatMapsPath,
    kFullReference,
    kTransferFunction,
    kCambiTransferFunction,
    kHighResolutionSpeedup
};

constexpr double kDefaultTopK = 0.6;
constexpr std::string_view kTransferFunctions[] = {"bt1886", "pq"};
constexpr int kBt1886 = 0;

constexpr OptionSpec kOptions[] = {
    {"cambi_max_val", "cmxv", OptionType::kDouble, 1000.0, 0.0, 1000.0, "upper limit of every score"},
    {"enc_width", "encw", OptionType::kInt, 0, 180, 7680,
     "width at which the video was encoded; with enc_height, and not above the picture's"},
    {"enc_height", "ench", OptionType::kInt, 0, 150, 7680,
     "height at which the video was encoded; with enc_width, and not above the picture's"},
    {"enc_bitdepth", "encbd", OptionType::kInt, 0, 6, 16,
     "bit depth at which the video was encoded, the picture's if not given; below 10 dithering is filtered out"},
    {"src_width", "srcw", OptionType::kInt, 0, 320, 7680,
     "full_ref: width at which the reference is analysed; with src_height"},
    {"src_height", "srch", OptionType::kInt, 0, 200, 4320,
     "full_ref: height at which the reference is analysed; with src_width"},
    {"window_size", "ws", OptionType::kInt, 65, 15, 127, "side of the window at 3840x2160; scales with the picture"},
    {"topk", "topk", OptionType::kDouble, kDefaultTopK, 0.0001, 1.0, "share of the pixels that is pooled"},
    {"cambi_topk", "ctpk", OptionType::kDouble, kDefaultTopK, 0.0001, 1.0,
     "share of the pixels that is pooled, unless topk is given"},
    {"tvi_threshold", "tvit", OptionType::kDouble, 0.019, 0.0001, 1.0,
     "smallest visible step of luminance, relative to the luminance"},
    {"cambi_vis_lum_threshold", "vlt", OptionType::kDouble, 0.0, 0.0, 300.0,
     "luminance in cd/m2 below which banding cannot be seen"},
    {"max_log_contrast", "mlc", OptionType::kInt, 2, 0, 5, "log2 of the largest luma step that is looked for"},
    {"heatmaps_path", "", OptionType::kText, 0, 0, 0, "folder for maps of the distorted picture's banding, by scale"},
    {"full_ref", "", OptionType::kBool, 0, 0, 1, "also score the reference, and what the distorted picture adds"},
    {"eotf", "eotf", OptionType::kChoice, kBt1886, 0, 1, "transfer function, unless cambi_eotf is given",
     kTransferFunctions},
    {"cambi_eotf", "ceot", OptionType::kChoice, kBt1886, 0, 1, "transfer function of the display", kTransferFunctions},
    {"cambi_high_res_speedup", "hrs", OptionType::kInt, 0, 0, 2160,
     "1080, 1440 or 2160: pictures of that size or above are analysed at half the size"},
};

bool has_full_reference(const OptionValues& options, const FrameGeometry&) {
    return options.flag(kFullReference);
}

enum Output : int { kScore, kSourceScore, kAddedScore };

constexpr OutputSpec kOutputs[] = {
    {.name = "Cambi_feature_cambi_score", .alias = "cambi"},
    {.name = "cambi_source", .alias = "cambi_source", .enabled = has_full_reference, .plain_name = true},
    {.name = "cambi_full_reference",
     .alias = "cambi_full_reference",
     .enabled = has_full_reference,
     .plain_name = true},
};

// ---- luminance ------------------------------------------------------------------------------------------------------

/// Video range of 10-bit luma, assumed whatever the stream says.
constexpr int kBlack = 64, kWhite = 940;

/// Luminance in cd/m2 of a display that shows a 10-bit sample.
class Display {
public:
    explicit Display(int transfer_function) : is_bt1886_(transfer_function == kBt1886) {}

    double luminance(int sample) const {
        const double signal = (std::clamp(sample, kBlack, kWhite) - kBlack) / static_cast<double>(kWhite - kBlack);
        return is_bt1886_ ? bt1886(signal) : pq(signal);
    }

private:
    /// ITU-R BT.1886, annex 1.
    static double bt1886(double signal) {
        constexpr double kGamma = 2.4, kPeak = 300.0, kLowest = 0.01;
        const double range = std::pow(kPeak, 1.0 / kGamma) - std::pow(kLowest, 1.0 / kGamma);
        const double gain = std::pow(range, kGamma);
        const double lift = std::pow(kLowest, 1.0 / kGamma) / range;
        return gain * std::pow(std::max(signal + lift, 0.0), kGamma);
    }

    /// SMPTE ST 2084.
    static double pq(double signal) {
        constexpr double kM1 = 0.1593017578125, kM2 = 78.84375;
        constexpr double kC1 = 0.8359375, kC2 = 18.8515625, kC3 = 18.6875;
        const double power = std::pow(signal, 1.0 / kM2);
        return 10000.0 * std::pow(std::max(power - kC1, 0.0) / (kC2 - kC3 * power), 1.0 / kM1);
    }

    bool is_bt1886_;
};

/// The largest sample from which a step of `difference` codes is visible; 0 if there is none, kLargestSample - 1 if all
/// steps are.
int brightest_visible(const Display& display, int difference, double threshold) {
    const auto visible = [&](int sample) {
        const double luminance = display.luminance(sample);
        return display.luminance(sample + difference) - luminance > threshold * luminance;
    };
    int foot = kBlack, head = kWhite - difference - 1;
    if (!visible(foot)) return 0;
    if (!visible(foot + 1)) return foot;
    if (visible(head)) return visible(head + 1) ? kLargestSample - 1 : head;
    // Steps are visible at the foot and not at the head: somewhere in between they stop to be.
    for (;;) {
        const int middle = foot + (head - foot) / 2;
        if (!visible(middle)) {
            head = middle;
        } else if (visible(middle + 1)) {
            foot = middle;
        } else {
            return middle;
        }
    }
}

// ---- sizes ----------------------------------------------------------------------------------------------------------

/// The window scales with the picture; at 3840x2160 it has the size given.
int window_for(int window_size, int width, int height, bool half_size) {
    constexpr int kSixteenth = (3840 + 2160) / 16;
    int window = window_size * (width + height) / kSixteenth / 16;
    if (half_size) window = (window + 1) / 2;
    return window | 1;
}

/// Nearest sample of the picture for each one of the analysis. Positions are added up in single precision, and the
/// errors of that are part of the definition.
std::vector<uint16_t> nearest_samples(int picture_size, int size) {
    std::vector<uint16_t> nearest(static_cast<size_t>(size));
    const float ratio = static_cast<float>(picture_size) / static_cast<float>(size);
    auto position = static_cast<float>(static_cast<double>(ratio / 2) - 0.5);
    for (uint16_t& index : nearest) {
        // Truncation after adding one half is what the definition says.
        const int rounded =
            picture_size == size
                ? static_cast<int>(&index - nearest.data())
                : static_cast<int>(static_cast<double>(position) + 0.5); // NOLINT(bugprone-incorrect-roundings)
        index = static_cast<uint16_t>(std::clamp(rounded, 0, picture_size - 1));
        position += ratio;
    }
    return nearest;
}

Analysis make_analysis(const FrameGeometry& geometry, int width, int height, int window) {
    Analysis analysis;
    analysis.width = width;
    analysis.height = height;
    analysis.window = window;
    analysis.mask_limit = mask_limit(width, height);
    analysis.columns = nearest_samples(geometry.width, width);
    analysis.rows = nearest_samples(geometry.height, height);
    analysis.resampled = width != geometry.width || height != geometry.height;
    return analysis;
}

struct Size {
    int width, height;
};

/// A size of which one side is not given is the picture's.
Size size_or_picture(const OptionValues& options, Option width, Option height, const FrameGeometry& geometry) {
    const Size size{options.integer(width), options.integer(height)};
    return size.width == 0 || size.height == 0 ? Size{geometry.width, geometry.height} : size;
}

bool is_half_size(int speedup, Size encode) {
    const int pixels = encode.width * encode.height;
    return (speedup == 1080 && pixels >= 1920 * 1080) || (speedup == 1440 && pixels >= 2560 * 1440) ||
           (speedup == 2160 && pixels >= 3840 * 2160);
}

Status check_sizes(Size encode, Size source) {
    constexpr int kSmallest = 216;
    if (encode.width < kSmallest && encode.height < kSmallest)
        return invalid(format("cambi: %dx%d is too small, width or height must be at least %d (enc_width, enc_height, "
                              "by default the picture's size)",
                              encode.width, encode.height, kSmallest));
    if (source.width < kSmallest && source.height < kSmallest)
        return invalid(format("cambi: a reference of %dx%d is too small, width or height must be at least %d "
                              "(src_width, src_height, by default the picture's size)",
                              source.width, source.height, kSmallest));
    if ((source.width > encode.width && source.height < encode.height) ||
        (source.width < encode.width && source.height > encode.height))
        return invalid(format("cambi: the encode size (enc_width x enc_height) %dx%d and the source size (src_width x "
                              "src_height) %dx%d contradict each other: one is wider, the other higher",
                              encode.width, encode.height, source.width, source.height));
    return {};
}

Status check_window(const char* picture, Size size, int window) {
    if (window <= kMaxWindow) return {};
    return invalid(format("cambi: the window of the %s, %dx%d, would be %d, at most %d is defined; set a smaller "
                          "window_size, or cambi_high_res_speedup",
                          picture, size.width, size.height, window, kMaxWindow));
}

// ---- heat maps ------------------------------------------------------------------------------------------------------

Status make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path, error) && !error)
        error = std::make_error_code(std::errc::not_a_directory);
    if (error)
        return {QC_ERROR_IO, "cambi: heatmaps_path: cannot make the folder \"" + path + "\": " + error.message()};
    return {};
}

/// The heat maps of one rendition: a raw file per scale, frame after frame.
class HeatMapFiles {
public:
    HeatMapFiles() = default;
    ~HeatMapFiles() {
        for (const File& file : files_)
            if (file.descriptor >= 0) close(file.descriptor);
    }
    HeatMapFiles(const HeatMapFiles&) = delete;
    HeatMapFiles& operator=(const HeatMapFiles&) = delete;

    bool is_open() const { return files_[0].descriptor >= 0; }

    /// Makes the files, or empties them. Refuses to share them with another rendition or session.
    Status open(const Settings& settings, const std::string& folder) {
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

    Status write(int64_t frame, std::span<const uint64_t> words) {
        for (const File& file : files_) {
            std::vector<uint16_t> samples(file.samples);
            for (size_t i = 0; i < samples.size(); ++i)
                samples[i] = static_cast<uint16_t>(words[i / 4] >> (16 * (i % 4)));
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

private:
    struct File {
        std::string path;
        size_t samples = 0; ///< of a frame
        int descriptor = -1;
    };

    static Status failed(const File& file, int error) {
        return {QC_ERROR_IO,
                "cambi: heatmaps_path: cannot write " + file.path + ": " + std::generic_category().message(error)};
    }

    std::array<File, kScales> files_;
};

// ---- metric ---------------------------------------------------------------------------------------------------------

class Cambi final : public Metric {
public:
    Cambi(const FrameGeometry& geometry, Settings settings, std::string heat_map_folder)
        : geometry_(geometry), settings_(std::move(settings)), heat_map_folder_(std::move(heat_map_folder)) {}

    size_t accumulator_words() const override { return heat_map_offset() + heat_map_size(); }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_picture(geometry_, settings_, settings_.distorted, pair.distorted.plane[0],
                      accumulators.first(kWordsPerPicture), accumulators.subspan(heat_map_offset(), heat_map_size()));
        if (settings_.full_reference)
            score_picture(geometry_, settings_, settings_.reference, pair.reference.plane[0],
                          accumulators.subspan(kWordsPerPicture, kWordsPerPicture), {});
    }

    size_t scratch_bytes(int count) const override;
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double score = picture_score(settings_.distorted, accumulators.first(kWordsPerPicture));
        sink.put(frame, kScore, std::min(score, settings_.max_value));
        if (settings_.full_reference) {
            const double source =
                picture_score(settings_.reference, accumulators.subspan(kWordsPerPicture, kWordsPerPicture));
            sink.put(frame, kSourceScore, std::min(source, settings_.max_value));
            sink.put(frame, kAddedScore, std::min(std::max(0.0, score - source), settings_.max_value));
        }
        if (heat_map_folder_.empty() || !trouble_.ok()) return;
        if (!heat_maps_.is_open()) trouble_ = heat_maps_.open(settings_, heat_map_folder_);
        if (trouble_.ok()) trouble_ = heat_maps_.write(frame, accumulators.subspan(heat_map_offset(), heat_map_size()));
    }
    Status trouble() const override { return trouble_; }

private:
    size_t heat_map_offset() const { return kWordsPerPicture * (settings_.full_reference ? 2 : 1); }
    size_t heat_map_size() const {
        size_t words = 0;
        if (heat_map_folder_.empty()) return words;
        for (int scale = 0; scale < kScales; ++scale)
            words += heat_map_words(settings_.scale_width(settings_.distorted, scale),
                                    settings_.scale_height(settings_.distorted, scale));
        return words;
    }

    /// Means of the largest c-values by scale, weighted 16, 8, 4, 2 and 1, over the area of the window.
    double picture_score(const Analysis& analysis, std::span<const uint64_t> sums) const {
        double score = 0.0;
        for (int scale = 0; scale < kScales; ++scale) {
            const auto sum = static_cast<double>(sums[static_cast<size_t>(scale * kWordsPerScale + kPooledSum)]);
            const auto pixels = static_cast<double>(settings_.pooled_pixels(analysis, scale));
            score += (16 >> scale) * (sum / static_cast<double>(1 << kFractionBits) / pixels);
        }
        return score / static_cast<double>(analysis.window * analysis.window);
    }

    /// What the device keeps for one of the two pictures.
    struct PictureKernels {
        CountKernel counting{};
        Kernel count;
        int groups_per_pass = 0;
        const uint16_t *columns = nullptr, *rows = nullptr; ///< null: as they are
    };
    Status prepare_picture(DeviceProgram& program, const Analysis& analysis, PictureKernels* kernels) const;
    Status enqueue_picture(const DeviceBatch& batch, DeviceQueue& queue, bool reference) const;
    CountTask count_task(const DeviceBatch& batch, const Pyramid& pyramid, const ScratchLayout& layout,
                         bool reference) const;
    Status enqueue_selection(const DeviceBatch& batch, DeviceQueue& queue, const PictureKernels& kernels,
                             const Analysis& analysis, CountTask task, unsigned tiles) const;

    const FrameGeometry geometry_;
    const Settings settings_;
    const std::string heat_map_folder_; ///< empty: no heat maps
    HeatMapFiles heat_maps_;
    Status trouble_;

    PictureKernels distorted_, reference_;
    Kernel image_, scale_, select_begin_, select_high_, select_low_;
    const float* reciprocals_ = nullptr; ///< device address
};

// ---- CUDA -----------------------------------------------------------------------------------------------------------

size_t Cambi::scratch_bytes(int count) const {
    // The two pictures are worked on one after the other, in the same memory.
    const size_t distorted = plan_scratch(settings_, settings_.distorted, count).bytes;
    if (!settings_.full_reference) return distorted;
    return std::max(distorted, plan_scratch(settings_, settings_.reference, count).bytes);
}

Status Cambi::prepare(DeviceProgram& program) {
    const bool bytes = geometry_.sample == SampleType::kU8;
    const char* const image = settings_.half_size ? bytes ? "cambi_half_image_u8" : "cambi_half_image_u16"
                              : bytes             ? "cambi_image_u8"
                                                  : "cambi_image_u16";
    QC_RETURN_IF_ERROR(program.find(image, 0, &image_));
    QC_RETURN_IF_ERROR(program.find("cambi_scale", 0, &scale_));
    QC_RETURN_IF_ERROR(program.find("cambi_select_begin", 0, &select_begin_));
    QC_RETURN_IF_ERROR(program.find("cambi_select_high", 0, &select_high_));
    QC_RETURN_IF_ERROR(program.find("cambi_select_low", 0, &select_low_));
    const void* table = nullptr;
    QC_RETURN_IF_ERROR(program.upload(reciprocals().data(), reciprocals().size_bytes(), &table));
    reciprocals_ = static_cast<const float*>(table);
    QC_RETURN_IF_ERROR(prepare_picture(program, settings_.distorted, &distorted_));
    return settings_.full_reference ? prepare_picture(program, settings_.reference, &reference_) : Status();
}

Status Cambi::prepare_picture(DeviceProgram& program, const Analysis& analysis, PictureKernels* kernels) const {
    kernels->counting = choose_count_kernel(settings_.differences, analysis.window);
    Status status;
    for (const int groups : tuning::kGroupsPerPass) {
        kernels->groups_per_pass = groups;
        status = program.find(kernels->counting.name, kernels->counting.shared_bytes(groups), &kernels->count);
        if (status.ok()) break; // otherwise the device may have too little shared memory
    }
    QC_RETURN_IF_ERROR(status);
    if (!analysis.resampled) return {};
    const void *columns = nullptr, *rows = nullptr;
    QC_RETURN_IF_ERROR(program.upload(analysis.columns.data(), analysis.columns.size() * sizeof(uint16_t), &columns));
    QC_RETURN_IF_ERROR(program.upload(analysis.rows.data(), analysis.rows.size() * sizeof(uint16_t), &rows));
    kernels->columns = static_cast<const uint16_t*>(columns);
    kernels->rows = static_cast<const uint16_t*>(rows);
    return {};
}

Status Cambi::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    if (settings_.nothing_visible()) return {};
    QC_RETURN_IF_ERROR(enqueue_picture(batch, queue, false));
    return settings_.full_reference ? enqueue_picture(batch, queue, true) : Status();
}

Status Cambi::enqueue_picture(const DeviceBatch& batch, DeviceQueue& queue, bool reference) const {
    const Analysis& analysis = reference ? settings_.reference : settings_.distorted;
    const PictureKernels& kernels = reference ? reference_ : distorted_;
    const auto pictures = static_cast<unsigned>(batch.count);
    auto* const scratch = static_cast<unsigned char*>(batch.scratch);
    const ScratchLayout layout = plan_scratch(settings_, analysis, batch.count);
    Pyramid pyramid = plan_pyramid(settings_, analysis, batch.count);
    pyramid.samples = reinterpret_cast<uint16_t*>(scratch + layout.samples);
    pyramid.occupied = reinterpret_cast<uint32_t*>(scratch + layout.occupied);

    ImageTask image{};
    image.pairs = batch.pairs;
    image.pyramid = pyramid;
    image.columns = kernels.columns;
    image.rows = kernels.rows;
    image.width = analysis.width;
    image.height = analysis.height;
    image.depth = geometry_.depth;
    image.mask_limit = analysis.mask_limit;
    image.walk = image_walk(batch.count);
    image.use_reference = reference;
    image.anti_dither = settings_.anti_dither;
    const Dim3 image_grid{blocks_for(image.width, kUsefulColumns),
                          blocks_for(image.height, image.walk * tuning::kImageWarps), pictures};
    QC_RETURN_IF_ERROR(queue.launch(image_, image_grid, Dim3{tuning::kImageWarps * kLanes}, image));

    for (int s = 1; s < kScales; ++s) {
        const PyramidTask task{pyramid, s, tuning::kPyramidWalk};
        const Dim3 grid{blocks_for(pyramid.scale[s].width, kUsefulColumns),
                        blocks_for(pyramid.scale[s].height, task.walk * tuning::kPyramidWarps), pictures};
        QC_RETURN_IF_ERROR(queue.launch(scale_, grid, Dim3{tuning::kPyramidWarps * kLanes}, task));
    }

    CountTask task = count_task(batch, pyramid, layout, reference);
    const unsigned tiles = plan_tiles(kernels.counting, task.reach, batch.count, &task);
    QC_RETURN_IF_ERROR(queue.launch(kernels.count, Dim3{tiles, 1, pictures},
                                    Dim3{static_cast<unsigned>(kernels.counting.threads)}, task));
    if (!may_select(settings_, analysis)) return {};
    return enqueue_selection(batch, queue, kernels, analysis, task, tiles);
}

CountTask Cambi::count_task(const DeviceBatch& batch, const Pyramid& pyramid, const ScratchLayout& layout,
                            bool reference) const {
    CountTask task{};
    task.pyramid = pyramid;
    task.reach = (reference ? settings_.reference : settings_.distorted).reach();
    task.groups_per_pass = (reference ? reference_ : distorted_).groups_per_pass;
    task.first = settings_.first;
    task.last = settings_.last;
    std::copy(settings_.brightest.begin(), settings_.brightest.end(), task.brightest);
    task.dark_limit = settings_.dark_limit;
    task.reciprocals = reciprocals_;
    task.pairs = batch.pairs;
    task.accumulators = batch.accumulators;
    task.words_per_pair = accumulator_words();
    task.first_word = reference ? kWordsPerPicture : 0;
    task.selections = reinterpret_cast<Selection*>(static_cast<unsigned char*>(batch.scratch) + layout.selections);
    if (reference || heat_map_folder_.empty()) return task;
    task.full_heat = settings_.full_heat();
    task.heat_maps = 1;
    size_t word = heat_map_offset();
    for (int s = 0; s < kScales; ++s) {
        task.heat_map_word[s] = word;
        word += heat_map_words(pyramid.scale[s].width, pyramid.scale[s].height);
    }
    return task;
}

/// Where more c-values are not 0 than are pooled, which is rare, the tiles are walked twice more.
Status Cambi::enqueue_selection(const DeviceBatch& batch, DeviceQueue& queue, const PictureKernels& kernels,
                                const Analysis& analysis, CountTask task, unsigned tiles) const {
    SelectTask select{};
    select.count = task;
    for (int s = 0; s < kScales; ++s) select.pooled[s] = settings_.pooled_pixels(analysis, s);
    const auto pictures = static_cast<unsigned>(batch.count);
    const Dim3 scales{kScales, pictures}, select_block{tuning::kSelectThreads};
    const Dim3 grid{tiles, 1, pictures}, block{static_cast<unsigned>(kernels.counting.threads)};
    QC_RETURN_IF_ERROR(queue.launch(select_begin_, scales, select_block, select));
    task.purpose = Purpose::kHighDigits;
    QC_RETURN_IF_ERROR(queue.launch(kernels.count, grid, block, task));
    QC_RETURN_IF_ERROR(queue.launch(select_high_, scales, select_block, select));
    task.purpose = Purpose::kLowDigits;
    QC_RETURN_IF_ERROR(queue.launch(kernels.count, grid, block, task));
    return queue.launch(select_low_, scales, select_block, select);
}

// ---- descriptor -----------------------------------------------------------------------------------------------------

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    if (geometry.depth < 8 || geometry.depth > 16)
        return unsupported(format("cambi: %d bits per sample, 8 to 16 are supported", geometry.depth));
    Settings settings;
    QC_RETURN_IF_ERROR(make_settings(geometry, options, &settings));
    return options.text(kHeatMapsPath).empty() ? Status() : make_folder(options.text(kHeatMapsPath));
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    static_cast<void>(make_settings(geometry, options, &settings)); // succeeded before, in validate()
    return std::make_unique<Cambi>(geometry, std::move(settings), options.text(kHeatMapsPath));
}

} // namespace

uint64_t Settings::pooled_pixels(const Analysis& analysis, int scale) const {
    const auto pixels =
        static_cast<uint64_t>(scale_width(analysis, scale)) * static_cast<uint64_t>(scale_height(analysis, scale));
    return std::clamp<uint64_t>(static_cast<uint64_t>(top_k * static_cast<double>(pixels)), 1, pixels);
}

float Settings::full_heat() const {
    const int floored = contrast_weight(differences) * distorted.window * distorted.window / 4;
    return static_cast<float>(floored);
}

Status make_settings(const FrameGeometry& geometry, const OptionValues& options, Settings* settings) {
    Size encode = size_or_picture(options, kEncodeWidth, kEncodeHeight, geometry);
    if (encode.width > geometry.width || encode.height > geometry.height) encode = {geometry.width, geometry.height};
    const Size source = size_or_picture(options, kSourceWidth, kSourceHeight, geometry);
    QC_RETURN_IF_ERROR(check_sizes(encode, source));
    settings->half_size = is_half_size(options.integer(kHighResolutionSpeedup), encode);
    const int window_size = options.integer(kWindowSize);
    const int window = window_for(window_size, encode.width, encode.height, settings->half_size);
    const int source_window = window_for(window_size, source.width, source.height, settings->half_size);
    QC_RETURN_IF_ERROR(check_window("distorted picture", encode, window));
    QC_RETURN_IF_ERROR(check_window("reference", source, source_window));
    settings->distorted = make_analysis(geometry, encode.width, encode.height, window);
    settings->reference = make_analysis(geometry, source.width, source.height, source_window);
    settings->full_reference = options.flag(kFullReference);

    const int encode_depth = options.integer(kEncodeDepth) == 0 ? geometry.depth : options.integer(kEncodeDepth);
    settings->anti_dither = encode_depth < kDepth;
    settings->top_k = options.number(kTopK) != kDefaultTopK ? options.number(kTopK) : options.number(kCambiTopK);
    settings->max_value = options.number(kMaxValue);

    const int transfer_function = options.integer(kCambiTransferFunction) != kBt1886
                                      ? options.integer(kCambiTransferFunction)
                                      : options.integer(kTransferFunction);
    const Display display(transfer_function);
    settings->differences = 1 << options.integer(kMaxLogContrast);
    for (int d = 1; d <= settings->differences; ++d)
        settings->brightest[static_cast<size_t>(d)] =
            brightest_visible(display, d, options.number(kVisibilityThreshold));

    const double visible_luminance = options.number(kVisibleLuminance);
    int dark_limit = kBlack;
    while (dark_limit <= kWhite && display.luminance(dark_limit) < visible_luminance) ++dark_limit;
    if (dark_limit > kWhite)
        return invalid(format("cambi: cambi_vis_lum_threshold is %g cd/m2, but the brightest sample shows %g",
                              visible_luminance, display.luminance(kWhite)));
    settings->dark_limit = dark_limit == kBlack ? 0 : dark_limit;

    settings->first = std::max(settings->dark_limit - 2 * settings->differences + 1, 0);
    settings->last = *std::max_element(settings->brightest.begin(), settings->brightest.end());
    return {};
}

std::span<const float> reciprocals() {
    // libvmaf's table was printed with nine digits, which are not always those of the nearest single-precision number.
    static const auto kTable = [] {
        std::array<float, kMaxWindow * kMaxWindow + 1> table{};
        char text[32];
        for (size_t i = 1; i < table.size(); ++i) {
            std::snprintf(text, sizeof text, "%.9g", 1.0 / static_cast<double>(i));
            table[i] = std::strtof(text, nullptr);
        }
        return table;
    }();
    return kTable;
}

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "cambi",
        .summary = "visibility of banding (false contours)",
        .scope = Scope::kPair,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::cambi
