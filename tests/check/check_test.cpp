// SPDX-License-Identifier: BSD-2-Clause-Patent
// CUDA against the CPU reference, bit for bit (or within the bound that a metric declares), for every metric of the
// registry: layouts, sizes, contents, batches, slots. A metric gets all of this by being in the list of
// kernels/meson.build. Without a GPU every test is skipped, saying why.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "api/picture.hpp"
#include "contract/signature.hpp"
#include "plan/metric_registry.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/runs.hpp"

#ifdef QC_WITH_CUDA
#include "cuda/context.hpp"
#endif

namespace qc::test {
namespace {

class Check : public testing::TestWithParam<const MetricDescriptor*> {
protected:
    void SetUp() override {
        if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    }

    std::string metric() const { return unambiguous_name(*GetParam()); }

    /// Whether the metric accepts this geometry; a refusal is the metric's right, and tested elsewhere.
    bool accepts(const qc_config& config) const {
        ScorePlan plan;
        FrameGeometry geometry;
        std::string chroma_conflict;
        return session_geometry(config, &geometry, &chroma_conflict).ok() &&
               test::plan_of_config(config, registered_metrics(), &geometry, &plan).ok();
    }

    /// Scores the same stream on both backends and compares.
    void compare(qc_config config, Content content, int frames, const std::string& what, int padding_bytes = 0) {
        const std::string name = metric();
        config.metrics = name.c_str();
        if (!accepts(config)) return;
        ++compared_;
        const Stream stream = make_stream(config, content, frames, padding_bytes);
        config.backend = QC_BACKEND_CPU;
        const RunResult cpu = run(config, stream);
        config.backend = QC_BACKEND_CUDA;
        expect_agreement(cpu, run(config, stream), GetParam()->backend_bound, name + " " + what);
    }

    /// Side of the smallest square that the metric accepts.
    int smallest_size(const Layout& layout) const {
        const std::string name = metric();
        for (int side = 1; side < 1024; ++side) {
            qc_config config = config_for(layout, side, side, name.c_str(), QC_BACKEND_CPU);
            if (accepts(config)) return side;
        }
        return 1;
    }

    /// A size, enlarged to what the metric accepts.
    qc_config fitting_config(const Layout& layout, int width, int height) const {
        const std::string name = metric();
        const qc_config config = config_for(layout, width, height, name.c_str(), QC_BACKEND_CPU);
        const int least = accepts(config) ? 1 : smallest_size(layout);
        return config_for(layout, std::max(width, least), std::max(height, least), nullptr, QC_BACKEND_CPU);
    }

    void TearDown() override {
        if (IsSkipped() || !cuda_absence().empty()) return;
        EXPECT_GT(compared_, 0) << "nothing was compared";
    }

    int compared_ = 0;
};

TEST_P(Check, EveryLayout) {
    for (const Layout& layout : kAllLayouts)
        compare(fitting_config(layout, 219, 163), Content::kNatural, 3, layout.name, 6);
    for (const Layout& layout : kRgbLayouts)
        compare(fitting_config(layout, 219, 163), Content::kNatural, 3, layout.name, 6);
}

TEST_P(Check, EveryContent) {
    for (const char* name : {"yuv420p", "yuv420p10le", "yuv420p12le", "yuv420p16le"})
        for (const Content content : kAllContents)
            compare(fitting_config(layout_named(name), 223, 181), content, 3,
                    std::string(name) + " " + name_of(content));
}

/// Sizes from the smallest that the metric accepts, or from 1 on.
TEST_P(Check, EverySmallWidth) {
    for (const char* layout : {"yuv420p", "yuv420p10le"}) {
        const int smallest = smallest_size(layout_named(layout));
        for (int i = 0; i < 96; ++i) {
            const int width = smallest + i, height = std::max(37, smallest) + i % 5;
            compare(config_for(layout_named(layout), width, height, nullptr, QC_BACKEND_CPU), Content::kNatural, 2,
                    layout + format(" %dx%d", width, height), i % 7);
        }
    }
}

TEST_P(Check, EverySmallHeight) {
    for (const char* layout : {"yuv420p", "yuv420p10le"}) {
        const int smallest = smallest_size(layout_named(layout));
        for (int i = 0; i < 96; ++i) {
            const int width = std::max(39, smallest) + i % 6, height = smallest + i;
            compare(config_for(layout_named(layout), width, height, nullptr, QC_BACKEND_CPU), Content::kNoise, 2,
                    layout + format(" %dx%d", width, height));
        }
    }
}

TEST_P(Check, LargerSizes) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{640, 360}, {853, 481}, {1920, 1080}, {1283, 719}})
        for (const char* name : {"nv12", "p010le"})
            compare(fitting_config(layout_named(name), width, height), Content::kNatural, 2,
                    std::string(name) + format(" %dx%d", width, height), width % 3);
}

/// Values of an option that are worth trying, as users write them.
std::vector<std::string> values_to_try(const OptionSpec& spec) {
    if (auto words = words_to_try(spec)) return *words;
    std::vector<std::string> values;
    for (const double value : {spec.minimum, spec.maximum, (spec.minimum + spec.maximum) / 2, 0.5 * spec.default_value,
                               1.5 * spec.default_value}) {
        if (value < spec.minimum || value > spec.maximum) continue;
        values.push_back(spec.type == OptionType::kInt ? format("%.0f", std::floor(value)) : format("%g", value));
    }
    return values;
}

/// One option after the other, at its ends and between; what the metric refuses is left out.
TEST_P(Check, EveryOption) {
    if (GetParam()->options.empty()) GTEST_SKIP() << metric() << " has no options";
    for (const OptionSpec& spec : GetParam()->options)
        for (const std::string& value : values_to_try(spec)) {
            const std::string options = metric() + "." + std::string(spec.name) + "=" + value;
            for (const char* layout : {"yuv420p10le", "nv12"}) {
                // Earlier chroma is kept as it lies in memory: interleaved in the second of these.
                if (std::string_view(layout) == "nv12" && GetParam()->needs_chroma_history == nullptr) continue;
                qc_config config = fitting_config(layout_named(layout), 403, 334);
                config.options = options.c_str();
                compare(config, Content::kNatural, 3, std::string(layout) + " " + options);
            }
        }
}

/// Resizing takes a way of its own for each method: pairs of options that only mean something together.
TEST_P(Check, Resizing) {
    const std::string prefix = metric() == "float_vif" ? "vif" : metric().starts_with("speed_") ? "speed" : "";
    if (prefix.empty()) GTEST_SKIP() << metric() << " does not resize";
    for (const char* layout : {"nv12", "p010le"})
        for (const char* factor : {"0.5", "0.6", "1.3"})
            for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos4"}) {
                const std::string stem = metric() + "." + prefix + "_prescale";
                const std::string options = format("%s=%s|%s_method=%s", stem.c_str(), factor, stem.c_str(), method);
                qc_config config = fitting_config(layout_named(layout), 853, 662);
                config.options = options.c_str();
                compare(config, Content::kNatural, 2, options);
            }
}

TEST_P(Check, BitDepth) {
    for (const char* layout : {"yuv420p", "nv12"}) {
        qc_config config = fitting_config(layout_named(layout), 403, 334);
        config.bitdepth = 10;
        compare(config, Content::kNatural, 5, std::string("bitdepth=10, ") + layout, 2);
    }
}

TEST_P(Check, MixedDepthsAndLayouts) {
    const std::vector<std::pair<const char*, const char*>> mixes{{"yuv420p", "yuv420p10le"},
                                                                 {"p010le", "nv12"},
                                                                 {"nv12", "yuv420p"},
                                                                 {"yuv420p16le", "p010le"},
                                                                 {"p010le", "yuv420p10le"}};
    for (const auto& [reference, distorted] : mixes) {
        qc_config config = fitting_config(layout_named(reference), 219, 163);
        config.distorted[0] = format_of(layout_named(distorted), config.reference.width, config.reference.height);
        compare(config, Content::kNatural, 5, std::string(reference) + " / " + distorted, 2);
    }
}

/// Distorted pictures of other sizes, and both sides scaled.
TEST_P(Check, ScaledPictures) {
    const std::vector<std::pair<const char*, const char*>> mixes{
        {"yuv420p", "nv12"}, {"p010le", "yuv420p"}, {"yuv444p16le", "yuv444p16le"}, {"yuv422p10le", "p210le"}};
    for (const auto& [reference, distorted] : mixes)
        for (const qc_scaling scaling : {QC_SCALING_BICUBIC, QC_SCALING_LANCZOS, QC_SCALING_BILINEAR, QC_SCALING_AREA})
            for (const auto& [width, height] : std::vector<std::pair<int, int>>{{213, 120}, {639, 501}, {320, 61}}) {
                qc_config config = fitting_config(layout_named(reference), 331, 263);
                config.distorted[0] = format_of(layout_named(distorted), width, height);
                config.scaling = scaling;
                compare(config, Content::kNatural, 3, format("%s %dx%d, scaling %d", distorted, width, height, scaling),
                        2);
                config.scoring_width = config.reference.width + 57;
                config.scoring_height = config.reference.height + 21;
                compare(config, Content::kNatural, 2, format("both to another size, scaling %d", scaling));
            }
}

/// The map, and that the kernels that draw it score as those that do not.
TEST_P(Check, Maps) {
    if (GetParam()->map == nullptr) GTEST_SKIP() << metric() << " has no map";
    const std::string name(GetParam()->name);
    for (const char* layout : {"yuv420p", "nv12", "p010le", "yuv420p16le"})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{264, 167}, {853, 481}}) {
            qc_config config = fitting_config(layout_named(layout), width, height);
            const std::string scored = metric();
            config.metrics = scored.c_str();
            const Stream stream = make_stream(config, Content::kNatural, 3, 2);
            config.backend = QC_BACKEND_CUDA;
            const RunResult plain = run(config, stream);
            config.maps = name.c_str();
            // Of gray pictures the samples are the map's own; others are painted from them.
            config.map_layout = width == 264 ? QC_MAP_LAYOUT_GRAY : QC_MAP_LAYOUT_NV12;
            const RunResult cuda = run(config, stream);
            expect_same_bits(plain, cuda, name + " with its map");
            expect_same_maps(cuda, run(config, stream), 0, name + " again");
            config.backend = QC_BACKEND_CPU;
            // What is not exact lies within a level of the scale, unless its values are far apart themselves.
            expect_same_maps(run(config, stream), cuda, GetParam()->backend_bound.exact() ? 0 : 2, name + layout);
            ++compared_;
        }
}

/// Weights for every frame of a stream, each with others.
std::vector<std::vector<uint8_t>> masks_for(const qc_config& config, size_t frames) {
    std::vector<std::vector<uint8_t>> masks(frames);
    for (size_t f = 0; f < frames; ++f)
        for (int y = 0; y < config.reference.height; ++y)
            for (int x = 0; x < config.reference.width; ++x) {
                const int stripe = (x / 5 + y / 3 + static_cast<int>(f)) % 4;
                const int varied = (31 * x + 57 * y + static_cast<int>(11 * f)) % 256;
                masks[f].push_back(static_cast<uint8_t>(stripe == 0 ? 0 : stripe == 1 ? 255 : varied));
            }
    return masks;
}

TEST_P(Check, MaskSample) {
    if (!GetParam()->accepts_weights) GTEST_SKIP() << metric() << " has no score under a mask";
    for (const char* layout : {"yuv420p", "nv12", "p010le", "yuv422p10le", "yuv444p16le"})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{147, 83}, {264, 167}}) {
            const std::string name = metric();
            qc_config config = fitting_config(layout_named(layout), width, height);
            config.metrics = name.c_str();
            config.weights = 1;
            if (!accepts(config)) continue;
            config.renditions = 2;
            config.distorted[1] = config.distorted[0];
            Stream stream = make_stream(config, Content::kNatural, 3, 2);
            stream.masks = masks_for(config, 3);
            stream.masks[1].assign(stream.masks[1].size(), 0);
            const RunResult cpu = run(config, stream);
            config.backend = QC_BACKEND_CUDA;
            const RunResult cuda = run(config, stream);
            expect_agreement(cpu, cuda, GetParam()->backend_bound, name + layout);
            EXPECT_EQ(cpu.weightless, (std::vector<int64_t>{0, 3, 0}));
            EXPECT_EQ(cuda.weightless, cpu.weightless);
            ++compared_;
        }
}

/// Few and small, but every path of the kernels: what compute-sanitizer runs over.
TEST_P(Check, SanitizerSample) {
    for (const char* name : {"yuv420p", "nv12", "p010le", "yuv444p16le"})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{70, 45}, {147, 83}, {264, 167}})
            compare(fitting_config(layout_named(name), width, height), Content::kNatural, 3,
                    std::string(name) + format(" %dx%d", width, height), 2);
    // Pairs enough for kernels that few are not worth.
    for (const char* name : {"nv12", "p010le"})
        compare(fitting_config(layout_named(name), 70, 45), Content::kNatural, 6, std::string(name) + ", more frames",
                2);
    if (GetParam()->map == nullptr) return;
    const std::string map(GetParam()->name);
    for (const char* name : {"nv12", "p010le"}) {
        qc_config config = fitting_config(layout_named(name), 147, 83);
        config.maps = map.c_str();
        for (const qc_map_layout layout : {QC_MAP_LAYOUT_GRAY, QC_MAP_LAYOUT_YUV420P}) {
            config.map_layout = layout;
            compare(config, Content::kNatural, 3, std::string(name) + " with a map", 2);
        }
    }
}

/// Ladders, of which some kernels score all pictures of a reference together.
TEST_P(Check, LadderSample) {
    struct Case {
        const char* layout;
        int width, height, renditions, padding_bytes;
    };
    for (const auto& [layout, width, height, renditions, padding_bytes] :
         {Case{"nv12", 147, 83, 7, 2}, Case{"nv12", 264, 40, 3, 0}, Case{"p010le", 147, 83, 3, 2}}) {
        qc_config config = fitting_config(layout_named(layout), width, height);
        config.renditions = renditions;
        for (int r = 1; r < renditions; ++r) config.distorted[r] = config.distorted[0];
        config.batch = 2 * renditions;
        compare(config, Content::kNatural, 3, format("%s %dx%d, renditions %d", layout, width, height, renditions),
                padding_bytes);
    }
}

/// Any batch size, slot count and hurry gives the same bits, and so does a second run.
TEST_P(Check, BatchesAndSlots) {
    const std::string name = metric();
    qc_config config = fitting_config(layout_named("yuv420p"), 219, 161);
    config.metrics = name.c_str();
    if (!accepts(config)) GTEST_SKIP() << name << " does not accept 219x161";
    const Stream stream = make_stream(config, Content::kNatural, 23);
    const RunResult cpu = run(config, stream);
    config.backend = QC_BACKEND_CUDA;
    const RunResult first = run(config, stream);
    expect_agreement(cpu, first, GetParam()->backend_bound, name);
    for (const int batch : {1, 2, 3, 5, 16, 64})
        for (const int slots : {1, 2, 4})
            for (const int hurry : {0, 1}) {
                config.batch = batch;
                config.slots = slots;
                config.latency_first = hurry;
                const std::string what = name + format(" batch %d, slots %d, latency_first %d", batch, slots, hurry);
                expect_same_bits(first, run(config, stream), what);
                expect_same_bits(first, run(config, stream), what + ", again");
                compared_ += 2;
            }
}

/// Pauses at the beginning, within and at the end of batches: no backend looks back across one.
TEST_P(Check, Pauses) {
    const std::string name = metric();
    qc_config config = fitting_config(layout_named("yuv420p"), 219, 161);
    config.metrics = name.c_str();
    if (!accepts(config)) GTEST_SKIP() << name << " does not accept 219x161";
    Stream stream = make_stream(config, Content::kNatural, 15);
    stream.pauses = {1, 4, 6, 7, 12};
    const RunResult cpu = run(config, stream);
    config.backend = QC_BACKEND_CUDA;
    for (const int batch : {1, 4, 16}) {
        config.batch = batch;
        expect_agreement(cpu, run(config, stream), GetParam()->backend_bound, name + format(", batch %d", batch));
        ++compared_;
    }
}

TEST_P(Check, SubsamplingAndRenditions) {
    for (const int n : {1, 2, 3, 7})
        for (const int renditions : {1, 3}) {
            qc_config config = fitting_config(layout_named("yuv422p10le"), 218, 88);
            config.n_subsample = n;
            config.renditions = renditions;
            for (int r = 1; r < renditions; ++r) config.distorted[r] = config.distorted[0];
            config.batch = 4;
            compare(config, Content::kNatural, 11, format("n_subsample %d, renditions %d", n, renditions));
        }
}

#ifdef QC_WITH_CUDA
/// Puts pictures into device memory as decoders do, at addresses and pitches that are only aligned to a sample.
class DevicePictures {
public:
    Status create() {
        const cuda::Driver* driver = nullptr;
        QC_RETURN_IF_ERROR(cuda::load_driver(&driver));
        return cuda::Context::create(*driver, nullptr, 0, &context_);
    }
    cuda::Context& context() { return *context_; }

    qc_picture place(const TestPicture& source, int offset_bytes) {
        const cuda::ContextGuard guard(*context_);
        qc_picture picture = source.view();
        picture.memory = QC_MEMORY_CUDA;
        for (int p = 0; p < source.planes(); ++p) {
            cuda::DeviceBuffer& buffer = buffers_.emplace_back();
            const auto& bytes = source.bytes(p);
            if (!buffer.allocate(*context_, bytes.size() + static_cast<size_t>(offset_bytes), "test pictures").ok())
                return {};
            const CUdeviceptr address = buffer.address() + static_cast<CUdeviceptr>(offset_bytes);
            context_->driver().cuMemcpyHtoDAsync(address, bytes.data(), bytes.size(), CU_STREAM_LEGACY);
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver hands out addresses as integers
            picture.plane[p] = reinterpret_cast<const void*>(address);
        }
        return picture;
    }

private:
    std::unique_ptr<cuda::Context> context_;
    std::deque<cuda::DeviceBuffer> buffers_;
};

TEST_P(Check, DevicePicturesInPlace) {
    const std::string name = metric();
    for (const char* layout : {"nv12", "p010le", "yuv444p16le", "yuv420p"}) {
        for (const int offset : {0, 2, 16}) {
            qc_config config = fitting_config(layout_named(layout), 231, 169);
            config.metrics = name.c_str();
            if (!accepts(config)) continue;
            const Stream stream = make_stream(config, Content::kNatural, 5, offset == 16 ? 25 : 2);
            const RunResult cpu = run(config, stream);
            DevicePictures device;
            ASSERT_TRUE(device.create().ok());
            config.backend = QC_BACKEND_CUDA;
            config.cuda_context = device.context().handle();
            const RunResult cuda =
                run(config, stream, [&](const TestPicture& picture) { return device.place(picture, offset); });
            expect_agreement(cpu, cuda, GetParam()->backend_bound,
                             name + " on the device, " + layout + format(", offset %d", offset));
            EXPECT_EQ(cuda.stats.pixel_bytes_to_device, 0);
            ++compared_;
        }
    }
}

/// Pictures in device memory are released once each: when the rows have been received, or with the session.
TEST(CheckEngine, DevicePicturesAreReleasedOnce) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    constexpr int kFrames = 5;
    qc_config config = config_for(layout_named("nv12"), 320, 180, "psnr", QC_BACKEND_CUDA);
    config.batch = 2;
    const Stream stream = make_stream(config, Content::kNatural, kFrames);
    DevicePictures device;
    ASSERT_TRUE(device.create().ok());
    config.cuda_context = device.context().handle();
    for (const bool flushed : {true, false}) {
        int releases = 0;
        qc_session* session = nullptr;
        ASSERT_EQ(qc_session_create(&config, &session, nullptr), QC_OK);
        for (size_t f = 0; f < kFrames; ++f) {
            const qc_picture reference = device.place(stream.reference[f], 0),
                             distorted = device.place(stream.distorted[0][f], 0);
            const auto count = [](void* calls) { ++*static_cast<int*>(calls); };
            const qc_frame frame = frame_of(reference, {distorted}, count, &releases);
            ASSERT_EQ(qc_session_submit(session, &frame), QC_OK);
        }
        EXPECT_LT(releases, kFrames) << "the last frame waits for its batch to be full";
        if (flushed) {
            EXPECT_EQ(qc_session_flush(session), QC_OK);
            EXPECT_EQ(releases, kFrames);
        }
        qc_session_destroy(session);
        EXPECT_EQ(releases, kFrames);
    }
}
#endif

INSTANTIATE_TEST_SUITE_P(Metrics, Check, testing::ValuesIn(registered_metrics().begin(), registered_metrics().end()),
                         [](const auto& info) { return std::string(info.param->name); });

/// What the watch of the contents sees is no score, and its kernel none of a metric in the list.
class CheckContents : public testing::Test {
protected:
    void SetUp() override {
        if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    }

    static void compare(qc_config config, const std::string& what) {
        config.watch_contents = 1;
        config.n_subsample = 2; // every picture is watched all the same
        config.batch = 3;
        const Stream stream = make_stream(config, Content::kNatural, 4, 2);
        const RunResult cpu = run(config, stream);
        ASSERT_TRUE(cpu.status.ok()) << what << ": " << cpu.status.text();
        ASSERT_FALSE(cpu.accumulators.empty()) << what;
        EXPECT_GE(cpu.accumulators.back().size(), static_cast<size_t>(kSignatureWords * config.renditions)) << what;
        config.backend = QC_BACKEND_CUDA;
        expect_same_bits(cpu, run(config, stream), what);
    }
};

TEST_F(CheckContents, SanitizerSample) {
    for (const char* name : {"yuv420p", "nv12", "p010le", "yuv444p16le"})
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{{8, 8}, {70, 45}, {147, 301}}) {
            qc_config config = config_for(layout_named(name), width, height, "float_moment", QC_BACKEND_CPU);
            config.renditions = 2;
            config.distorted[1] = format_of(layout_named("nv12"), width, height);
            compare(config, name + format(" %dx%d", width, height));
        }
}

TEST_F(CheckContents, LargerSizes) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{853, 481}, {1920, 1080}, {1283, 719}, {3840, 2160}})
        for (const char* name : {"nv12", "p010le"})
            compare(config_for(layout_named(name), width, height, "float_moment", QC_BACKEND_CPU),
                    name + format(" %dx%d", width, height));
}

/// Metrics that sum squared errors launch their kernel once, whoever comes first and whatever frames are left out.
TEST(CheckEngine, SharedStagesRunOnce) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    for (const int n_subsample : {1, 3})
        for (const int renditions : {1, 2}) {
            const auto result_of = [&](const char* metrics, qc_backend backend) {
                qc_config config = config_for(layout_named("nv12"), 320, 180, metrics, backend);
                config.n_subsample = n_subsample;
                config.renditions = renditions;
                for (int r = 1; r < renditions; ++r) config.distorted[r] = config.distorted[0];
                config.batch = 4;
                return run(config, make_stream(config, Content::kNatural, 11));
            };
            const int64_t launches = result_of("psnr", QC_BACKEND_CUDA).stats.kernel_launches;
            EXPECT_GT(launches, 0);
            for (const char* metrics : {"psnr+float_psnr", "float_psnr+psnr"}) {
                const RunResult cuda = result_of(metrics, QC_BACKEND_CUDA);
                expect_same_bits(result_of(metrics, QC_BACKEND_CPU), cuda, metrics);
                EXPECT_EQ(cuda.stats.kernel_launches, launches) << metrics;
            }
        }
}

/// Memory is taken when the session opens and when the first software frame comes; never while frames flow.
TEST(CheckEngine, SteadyStateTakesNothing) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    const auto stats_after = [](int frames) {
        qc_config config = config_for(layout_named("yuv420p"), 320, 180, "vmaf|psnr", QC_BACKEND_CUDA);
        config.batch = 4;
        const RunResult result = run(config, make_stream(config, Content::kNatural, frames));
        EXPECT_TRUE(result.status.ok()) << result.status.text();
        return result.stats;
    };
    const qc_stats few = stats_after(16), many = stats_after(64);
    EXPECT_EQ(few.device_allocations, many.device_allocations);
    EXPECT_EQ(few.device_bytes, many.device_bytes);
    const qc_format format = format_of(layout_named("yuv420p"), 320, 180);
    EXPECT_GE(few.pixel_bytes_to_device, static_cast<int64_t>(16 * 2 * TestPicture::packed_bytes(format)));
    EXPECT_EQ(many.pixel_bytes_to_device, 4 * few.pixel_bytes_to_device) << "each picture goes up once";
    EXPECT_EQ(many.batches, 16);
    EXPECT_EQ(many.graph_launches, 16);
    // What the comparisons above would not see: counters that nobody raises.
    EXPECT_GT(few.device_allocations, 0);
    EXPECT_GT(few.device_bytes, 0u);
    EXPECT_GT(many.pixel_bytes_to_device, few.pixel_bytes_to_device);
    EXPECT_GT(many.result_bytes_to_host, 0);
    ASSERT_GT(many.batches, 0);
    EXPECT_LT(many.result_bytes_to_host / many.batches, 64 * 1024);
}

} // namespace
} // namespace qc::test
