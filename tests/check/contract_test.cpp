// SPDX-License-Identifier: BSD-2-Clause-Patent
// What every metric of the registry owes the engine (contract/metric.hpp), on the CPU backend: names, options, sizes,
// one score per frame and output, the same bits again. A metric gets all of this by being in the list of
// kernels/meson.build.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "api/picture.hpp"
#include "plan/metric_registry.hpp"
#include "plan/request.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

constexpr int kFrames = 4;

class Contract : public testing::TestWithParam<const MetricDescriptor*> {
protected:
    const MetricDescriptor& metric() const { return *GetParam(); }
    OptionValues defaults() const { return OptionValues(metric().options); }

    FrameGeometry geometry_of(const Layout& layout, int width, int height) const {
        FrameGeometry geometry;
        std::string chroma_conflict;
        const qc_config config = config_for(layout, width, height, nullptr, QC_BACKEND_CPU);
        const Status status = session_geometry(config, &geometry, &chroma_conflict);
        EXPECT_TRUE(status.ok()) << status.text();
        return geometry;
    }

    /// Side of the smallest square picture with scores; 0: there is none with this layout.
    int smallest_side(const Layout& layout) const {
        constexpr int kLargest = 1024;
        for (int side = 1; side <= kLargest; ++side)
            if (validate(metric(), geometry_of(layout, side, side), defaults()).ok()) return side;
        return 0;
    }

    qc_config small_config() const {
        const int side = std::max(smallest_side(layout_named("yuv420p")), 24);
        return config_for(layout_named("yuv420p"), side, side, nullptr, QC_BACKEND_CPU);
    }

    RunResult score(qc_config config, const Stream& stream) const {
        const std::string name = unambiguous_name(metric());
        config.metrics = name.c_str();
        return run(config, stream);
    }
};

TEST_P(Contract, DescriptorIsWhole) {
    EXPECT_FALSE(metric().name.empty());
    EXPECT_FALSE(metric().summary.empty());
    EXPECT_NE(metric().summary.back(), '.');
    ASSERT_FALSE(metric().outputs.empty());
    EXPECT_TRUE(metric().create_scorer != nullptr && metric().create_finaliser != nullptr);
    std::set<std::string_view> names;
    for (const OutputSpec& output : metric().outputs) {
        EXPECT_FALSE(output.name.empty());
        EXPECT_TRUE(names.insert(output.alias).second) << output.alias;
    }
    for (const MetricDescriptor* other : registered_metrics()) {
        if (other == &metric()) continue;
        EXPECT_NE(other->name, metric().name);
    }
}

/// Of metrics that have a map.
class ContractOfMaps : public Contract {};

/// A map's values lie over the picture: every sample has one, and none lies beyond.
TEST_P(ContractOfMaps, LiesOverThePicture) {
    EXPECT_FALSE(metric().map->what.empty());
    EXPECT_GT(metric().map->white, 0.0);
    EXPECT_EQ(metric().scope, Scope::kPair);
    for (const int width : {219, 640, 1921}) {
        const FrameGeometry geometry = geometry_of(layout_named("yuv420p"), width, width - 40);
        if (!validate(metric(), geometry, defaults()).ok()) continue;
        const MapShape shape = metric().map->shape(geometry, defaults());
        EXPECT_GE(shape.step, 1);
        EXPECT_GT(std::min(shape.width, shape.height), 0);
        EXPECT_LT(shape.left + shape.step * (shape.width - 1), geometry.width + shape.step);
        EXPECT_LT(shape.top + shape.step * (shape.height - 1), geometry.height + shape.step);
    }
}

TEST_P(Contract, DefaultsAreAmongWhatOptionsAccept) {
    std::set<std::string_view> names;
    for (const OptionSpec& option : metric().options) {
        EXPECT_TRUE(names.insert(option.name).second) << option.name;
        EXPECT_FALSE(option.help.empty()) << option.name;
        if (option.type == OptionType::kText) continue;
        // Some numbers default to one below the range, which means "not given".
        const bool choice = option.type == OptionType::kChoice, flag = option.type == OptionType::kBool;
        const double most = choice ? static_cast<double>(option.choices.size()) - 1 : option.maximum;
        EXPECT_LE(option.default_value, most) << option.name;
        EXPECT_FALSE((choice || flag) && option.default_value < 0.0) << option.name;
        EXPECT_LE(option.minimum, option.maximum) << option.name;
    }
}

/// One rule for pictures that are too small: QC_ERROR_INVALID, and a line that names the metric and both sizes.
TEST_P(Contract, TooSmallPicturesAreRefusedInOneWay) {
    int refused = 0;
    for (const Layout& layout : kAllLayouts) {
        const int side = smallest_side(layout);
        if (side <= 1) continue;
        for (const auto& [width, height] :
             {std::pair{side - 1, side}, {side, side - 1}, {side - 1, side - 1}, {1, 1}}) {
            const FrameGeometry geometry = geometry_of(layout, width, height);
            const Status status = validate(metric(), geometry, defaults());
            if (status.ok()) continue; // one long side is enough for this metric
            const bool no_chroma = metric().requires_chroma && geometry.plane_count() == 1;
            EXPECT_EQ(status.code(), no_chroma ? QC_ERROR_UNSUPPORTED : QC_ERROR_INVALID) << status.text();
            EXPECT_TRUE(status.text().starts_with(metric().name)) << status.text();
            EXPECT_NE(status.text().find(format("%dx%d", width, height)), std::string::npos) << status.text();
            ++refused;
        }
    }
    const PictureSize smallest = smallest_picture(metric(), geometry_of(layout_named("yuv420p"), 640, 480), defaults());
    if (smallest.width > 1 || smallest.height > 1) {
        EXPECT_GT(refused, 0);
    }
}

TEST_P(Contract, SmallestPictureIsTheSmallest) {
    const FrameGeometry large = geometry_of(layout_named("yuv420p"), 640, 480);
    const PictureSize smallest = smallest_picture(metric(), large, defaults());
    ASSERT_GE(smallest.width, 1);
    ASSERT_GE(smallest.height, 1);
    const auto accepts = [&](int width, int height) {
        return validate(metric(), geometry_of(layout_named("yuv420p"), width, height), defaults()).ok();
    };
    EXPECT_FALSE(smallest.width > 1 && accepts(smallest.width - 1, smallest.height));
    EXPECT_FALSE(smallest.height > 1 && accepts(smallest.width, smallest.height - 1));
}

/// At the smallest size of every layout: a score for each frame and enabled output, none for the others, twice the
/// same.
TEST_P(Contract, EveryFrameHasEveryScore) {
    int scored = 0;
    std::vector<Layout> layouts = kAllLayouts;
    if (metric().accepts_rgb) layouts.insert(layouts.end(), kRgbLayouts.begin(), kRgbLayouts.end());
    for (const Layout& layout : layouts) {
        const int side = smallest_side(layout);
        if (side == 0) continue;
        const qc_config config = config_for(layout, side + 1, side + 2, nullptr, QC_BACKEND_CPU);
        const Stream stream = make_stream(config, Content::kNatural, kFrames, 3);
        const RunResult first = score(config, stream);
        expect_same_bits(first, score(config, stream), layout.name);
        ASSERT_EQ(first.values.size(), static_cast<size_t>(kFrames)) << layout.name;
        ASSERT_FALSE(first.names.empty()) << layout.name;
        for (const auto& row : first.present) EXPECT_EQ(std::count(row.begin(), row.end(), 0), 0) << layout.name;
        ++scored;
    }
    EXPECT_GT(scored, 0);
}

/// Depths that other programs have no pictures of: scores are near those of the same samples, shifted to the next one.
TEST_P(Contract, NineAndFourteenBitsScoreLikeTheNextDepth) {
    for (const auto& [name, next] : {std::pair("yuv420p9le", "yuv420p10le"), std::pair("yuv420p14le", "yuv420p16le")})
        for (const Content content : {Content::kNatural, Content::kBinaryNoise}) {
            const Layout &layout = layout_named(name), &wider = layout_named(next);
            const int side = std::max(smallest_side(layout), 40), shift = wider.depth - layout.depth;
            if (smallest_side(layout) == 0) continue; // it says so
            const qc_config config = config_for(layout, side, side, nullptr, QC_BACKEND_CPU);
            const Stream stream = make_stream(config, content, kFrames);
            const qc_config shifted_config = config_for(wider, side, side, nullptr, QC_BACKEND_CPU);
            const auto shifted = [&](const TestPicture& picture) {
                return TestPicture(shifted_config.reference, [&](int component, int x, int y) {
                    const uint8_t* at =
                        &picture.bytes(component)[static_cast<size_t>(y * picture.pitch_bytes(component))];
                    return static_cast<uint32_t>(at[2 * x] + 256 * at[2 * x + 1]) << shift;
                });
            };
            Stream other;
            other.distorted.resize(1);
            for (size_t f = 0; f < stream.reference.size(); ++f) {
                other.reference.push_back(shifted(stream.reference[f]));
                other.distorted[0].push_back(shifted(stream.distorted[0][f]));
            }
            const RunResult own = score(config, stream), expected = score(shifted_config, other);
            ASSERT_TRUE(own.status.ok() && expected.status.ok()) << own.status.text() << expected.status.text();
            ASSERT_EQ(own.values.size(), expected.values.size());
            for (size_t f = 0; f < own.values.size(); ++f)
                for (size_t i = 0; i < own.values[f].size(); ++i) {
                    const double value = own.values[f][i], wanted = expected.values[f][i];
                    if (std::isnan(value) && std::isnan(wanted)) continue;
                    if (std::abs(value * (1 << shift) - wanted) < 0.02 * std::abs(wanted)) continue; // it is in codes
                    EXPECT_NEAR(value, wanted, 0.02 * std::max(1.0, std::abs(wanted)))
                        << name << " " << name_of(content) << " " << own.names[i] << " frame " << f;
                }
        }
}

TEST_P(Contract, RgbIsAcceptedOrRefusedAsDeclared) {
    for (const Layout& layout : kRgbLayouts) {
        const Status status = validate(metric(), geometry_of(layout, 640, 480), defaults());
        EXPECT_EQ(status.code(), metric().accepts_rgb ? QC_OK : QC_ERROR_UNSUPPORTED) << status.text();
    }
}

/// Rows of skipped frames are empty; the others' scores stay, but where a metric looks back at frames that are skipped.
TEST_P(Contract, SubsamplingKeepsTheScoresOfTheOthers) {
    qc_config config = small_config();
    const Stream stream = make_stream(config, Content::kNatural, kFrames);
    const RunResult all = score(config, stream);
    config.n_subsample = 2;
    const RunResult some = score(config, stream);
    ASSERT_EQ(some.values.size(), all.values.size());
    for (size_t frame = 0; frame < all.values.size(); ++frame)
        for (size_t column = 0; column < all.names.size(); ++column) {
            const bool expected = frame % 2 == 0;
            EXPECT_EQ(some.present[frame][column] != 0, expected) << all.names[column] << " of frame " << frame;
            const bool looks_back = metric().history > 0 || metric().distorted_history > 0;
            if (!expected || (looks_back && !metric().every_frame)) continue;
            EXPECT_EQ(some.values[frame][column], all.values[frame][column]) << all.names[column];
        }
}

/// A second rendition changes nothing of the first one's scores, and a pause makes two streams of one.
TEST_P(Contract, RenditionsAndPausesAreStreamsOfTheirOwn) {
    qc_config config = small_config();
    const Stream alone = make_stream(config, Content::kNatural, kFrames);
    const RunResult single = score(config, alone);
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    const RunResult both = score(config, make_stream(config, Content::kNatural, kFrames));
    ASSERT_TRUE(both.status.ok()) << both.status.text();
    ASSERT_EQ(both.values.size(), single.values.size());
    for (size_t frame = 0; frame < single.values.size(); ++frame)
        for (size_t column = 0; column < single.names.size(); ++column)
            EXPECT_EQ(both.values[frame][column], single.values[frame][column]) << single.names[column];

    config.renditions = 1;
    Stream twice = alone;
    twice.reference.insert(twice.reference.end(), alone.reference.begin(), alone.reference.end());
    twice.distorted[0].insert(twice.distorted[0].end(), alone.distorted[0].begin(), alone.distorted[0].end());
    twice.pauses = {static_cast<size_t>(kFrames)};
    const RunResult paused = score(config, twice);
    ASSERT_TRUE(paused.status.ok()) << paused.status.text();
    ASSERT_EQ(paused.values.size(), 2 * single.values.size());
    for (size_t frame = 0; frame < paused.values.size(); ++frame)
        EXPECT_EQ(paused.values[frame], single.values[frame % kFrames]) << "frame " << frame;
}

/// With one frame under way most threads are idle, and take parts of it; with one thread there is nobody to.
TEST_P(Contract, ThreadsThatHelpChangeNoScore) {
    const int side = smallest_side(layout_named("yuv420p"));
    qc_config config =
        config_for(layout_named("yuv420p"), std::max(side, 70), std::max(side, 150), nullptr, QC_BACKEND_CPU);
    const Stream stream = make_stream(config, Content::kNatural, kFrames);
    config.n_threads = 1;
    const RunResult alone = score(config, stream);
    ASSERT_TRUE(alone.status.ok()) << alone.status.text();
    config.n_threads = 7;
    config.slots = 1;
    const RunResult helped = score(config, stream);
    ASSERT_TRUE(helped.status.ok()) << helped.status.text();
    EXPECT_EQ(helped.accumulators, alone.accumulators);
}

std::string name_of_case(const testing::TestParamInfo<const MetricDescriptor*>& info) {
    return std::string(info.param->name);
}

const auto kMetrics = registered_metrics();
INSTANTIATE_TEST_SUITE_P(Metrics, Contract, testing::ValuesIn(kMetrics.begin(), kMetrics.end()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Metrics, ContractOfMaps, testing::ValuesIn(mapped_metrics(registered_metrics())),
                         name_of_case);

} // namespace
} // namespace qc::test
