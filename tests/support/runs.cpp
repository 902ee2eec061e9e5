// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/support/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plan/metric_registry.hpp"

#ifdef QC_WITH_CUDA
#include "cuda/context.hpp"
#endif

namespace qc::test {
namespace {

/// A map is looked at when its frame's row comes: from then on its memory may serve something else.
void take_rows(Session& session, std::vector<MapPicture>* maps, RunResult* result) {
    const size_t cells = session.plan().columns.size() * static_cast<size_t>(session.renditions());
    qc_row row{};
    while (session.receive(false, &row) == QC_OK) {
        result->values.emplace_back(row.value, row.value + cells);
        result->present.emplace_back(row.present, row.present + cells);
        result->weightless.push_back(row.weightless);
        if (!maps->empty()) result->maps.push_back((*maps)[static_cast<size_t>(row.frame)].samples());
    }
}

Status submit_all(Session& session, const Stream& stream, const PlacePicture& place, std::vector<MapPicture>* maps,
                  RunResult* result) {
    for (size_t f = 0; f < stream.reference.size(); ++f) {
        const auto picture = [&](const TestPicture& source) { return place ? place(source) : source.view(); };
        std::vector<qc_picture> distorted;
        for (const auto& rendition : stream.distorted) distorted.push_back(picture(rendition[f]));
        if (std::find(stream.pauses.begin(), stream.pauses.end(), f) != stream.pauses.end())
            QC_RETURN_IF_ERROR(session.begin_stretch());
        qc_frame frame = frame_of(picture(stream.reference[f]), distorted);
        if (!maps->empty()) frame.map = (*maps)[f].view();
        if (!stream.masks.empty()) frame.weights.plane[0] = stream.masks[f].data();
        frame.weights.pitch_bytes[0] = session.geometry().width;
        QC_RETURN_IF_ERROR(session.submit(frame));
        take_rows(session, maps, result);
    }
    QC_RETURN_IF_ERROR(session.flush());
    take_rows(session, maps, result);
    return {};
}

} // namespace

MapPicture::MapPicture(qc_map_layout layout, int width, int height) {
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    const int pitches[3] = {width, layout == QC_MAP_LAYOUT_NV12 ? 2 * columns : columns, columns};
    const int planes = layout == QC_MAP_LAYOUT_GRAY ? 1 : layout == QC_MAP_LAYOUT_NV12 ? 2 : 3;
    size_t offsets[4] = {};
    for (int p = 0; p < planes; ++p)
        offsets[p + 1] = offsets[p] + static_cast<size_t>(pitches[p]) * static_cast<size_t>(p == 0 ? height : rows);
    samples_.assign(offsets[planes], 7);
    for (int p = 0; p < planes; ++p) {
        view_.plane[p] = samples_.data() + offsets[p];
        view_.pitch_bytes[p] = pitches[p];
    }
}

Stream make_stream(const qc_config& config, Content content, int frames, int padding_bytes) {
    Stream stream;
    const int renditions = std::max(1, config.renditions);
    stream.distorted.resize(static_cast<size_t>(renditions));
    for (int f = 0; f < frames; ++f) {
        const auto seed = static_cast<unsigned>(f + 1);
        stream.reference.emplace_back(config.reference, content, false, seed, padding_bytes);
        for (int r = 0; r < renditions; ++r)
            stream.distorted[static_cast<size_t>(r)].emplace_back(config.distorted[r], content, true,
                                                                  seed + static_cast<unsigned>(r) * 100, padding_bytes);
    }
    return stream;
}

RunResult run(const qc_config& config, const Stream& stream, const PlacePicture& place) {
    RunResult result;
    std::unique_ptr<Session> session;
    result.status = Session::create(config, &session);
    if (!result.status.ok()) return result;
    session->on_result = [&](const FrameResult& frame) { result.accumulators.push_back(frame.accumulators); };
    for (const ScoreColumn& column : session->plan().columns) result.names.push_back(column.name);
    std::vector<MapPicture> maps;
    for (size_t f = 0; config.maps != nullptr && f < stream.reference.size(); ++f)
        maps.emplace_back(config.map_layout, session->geometry().width, session->geometry().height);
    result.status = submit_all(*session, stream, place, &maps, &result);
    result.stats.struct_size = sizeof(qc_stats);
    session->fill_stats(&result.stats);
    result.description = session->description();
    return result;
}

qc_config config_for(const Layout& layout, int width, int height, const char* metrics, qc_backend backend) {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.reference = format_of(layout, width, height);
    config.distorted[0] = config.reference;
    config.metrics = metrics;
    config.backend = backend;
    config.n_threads = 2;
    return config;
}

std::optional<std::vector<std::string>> words_to_try(const OptionSpec& option) {
    switch (option.type) {
    case OptionType::kBool:
        return std::vector<std::string>{option.default_value != 0.0 ? "false" : "true"};
    case OptionType::kChoice:
        return std::vector<std::string>{option.choices.begin(), option.choices.end()};
    case OptionType::kText:
        return std::vector<std::string>{};
    default:
        return std::nullopt;
    }
}

std::string unambiguous_name(const MetricDescriptor& metric) {
    for (const MetricDescriptor* other : registered_metrics())
        if (other != &metric && other->short_name == metric.name) return std::string(metric.short_name);
    return std::string(metric.name);
}

#ifdef QC_WITH_CUDA
/// Keeps the primary context alive between sessions: making it anew takes longer than most tests.
static void hold_primary_context() {
    static std::unique_ptr<cuda::Context> held;
    const cuda::Driver* driver = nullptr;
    if (cuda::load_driver(&driver).ok()) static_cast<void>(cuda::Context::create(*driver, nullptr, 0, &held).ok());
}
#endif

const std::string& cuda_absence() {
    static const std::string absence = [] {
#ifdef QC_WITH_CUDA
        hold_primary_context();
#endif
        std::unique_ptr<Session> session;
        const qc_config config = config_for(layout_named("gray"), 64, 64, "skeleton", QC_BACKEND_CUDA);
        return Session::create(config, &session).text();
    }();
    return absence;
}

void expect_same_bits(const RunResult& expected, const RunResult& actual, const std::string& what) {
    ASSERT_TRUE(expected.status.ok()) << what << ": " << expected.status.text();
    ASSERT_TRUE(actual.status.ok()) << what << ": " << actual.status.text();
    ASSERT_FALSE(expected.values.empty()) << what << ": nothing was scored";
    ASSERT_EQ(expected.accumulators.size(), actual.accumulators.size()) << what;
    for (size_t f = 0; f < expected.accumulators.size(); ++f) {
        ASSERT_EQ(expected.accumulators[f].size(), actual.accumulators[f].size()) << what << ", frame " << f;
        for (size_t w = 0; w < expected.accumulators[f].size(); ++w)
            ASSERT_EQ(expected.accumulators[f][w], actual.accumulators[f][w])
                << what << ", frame " << f << ", word " << w;
    }
    ASSERT_EQ(expected.values.size(), actual.values.size()) << what;
    for (size_t f = 0; f < expected.values.size(); ++f) {
        ASSERT_EQ(expected.present[f], actual.present[f]) << what << ", frame " << f;
        for (size_t c = 0; c < expected.values[f].size(); ++c)
            ASSERT_EQ(std::memcmp(&expected.values[f][c], &actual.values[f][c], sizeof(double)), 0)
                << what << ", frame " << f << ", " << expected.names[c % expected.names.size()] << ": "
                << expected.values[f][c] << " / " << actual.values[f][c];
    }
}

void expect_same_maps(const RunResult& expected, const RunResult& actual, int tolerance, const std::string& what) {
    ASSERT_EQ(expected.maps.size(), actual.maps.size()) << what;
    for (size_t f = 0; f < expected.maps.size(); ++f) {
        ASSERT_EQ(expected.maps[f].size(), actual.maps[f].size()) << what << ", frame " << f;
        for (size_t i = 0; i < expected.maps[f].size(); ++i)
            ASSERT_LE(std::abs(int{expected.maps[f][i]} - int{actual.maps[f][i]}), tolerance)
                << what << ", frame " << f << ", sample " << i << ": " << int{expected.maps[f][i]} << " / "
                << int{actual.maps[f][i]};
    }
}

void expect_agreement(const RunResult& cpu, const RunResult& cuda, const BackendBound& bound, const std::string& what) {
    if (bound.exact()) {
        expect_same_bits(cpu, cuda, what);
        return;
    }
    ASSERT_TRUE(cpu.status.ok()) << what << ": " << cpu.status.text();
    ASSERT_TRUE(cuda.status.ok()) << what << ": " << cuda.status.text();
    ASSERT_FALSE(cpu.values.empty()) << what << ": nothing was scored";
    ASSERT_EQ(cpu.present, cuda.present) << what;
    ASSERT_EQ(cpu.values.size(), cuda.values.size()) << what;
    for (size_t f = 0; f < cpu.values.size(); ++f)
        for (size_t c = 0; c < cpu.values[f].size(); ++c) {
            if (cpu.present[f][c] == 0) continue;
            const double expected = cpu.values[f][c], actual = cuda.values[f][c];
            if (expected == actual) continue; // infinities among them
            ASSERT_LE(std::abs(expected - actual), bound.absolute + bound.relative * std::abs(expected))
                << what << ", frame " << f << ", " << cpu.names[c % cpu.names.size()] << ": " << expected << " / "
                << actual;
        }
}

} // namespace qc::test
