// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/self_test.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "api/picture.hpp"
#include "api/session.hpp"

namespace qc {
namespace {

constexpr int kFrames = 3;                    ///< enough for every metric's look at earlier frames
constexpr int kSides[] = {64, 128, 256, 512}; ///< the first that all that is asked for accepts

/// The session's, of planar pictures with a side of this, one rendition, and as little at once as possible.
qc_config small_config(const qc_config& asked, int side, qc_backend backend) {
    qc_config config = asked;
    for (qc_format* format : {&config.reference, &config.distorted[0]}) {
        *format = unpacked_format(*format);
        format->width = format->height = side;
    }
    config.scoring_width = config.scoring_height = 0;
    if (config.scaling != QC_SCALING_NONE) config.distorted[0].width = side / 3 * 2; // scaling is tested too
    config.renditions = config.n_subsample = config.n_threads = 1;
    config.map_rendition = config.weights = 0;
    config.batch = kFrames;
    config.slots = backend == QC_BACKEND_CPU ? 1 : 2;
    config.latency_first = 0;
    config.selftest = 0;
    config.watch_contents = 0;
    config.roi_x = config.roi_y = config.roi_width = config.roi_height = 0;
    config.backend = backend;
    config.log = nullptr;
    return config;
}

/// A picture that is the same wherever it is made: slopes, edges and noise, which the distorted one has more of.
class KnownPicture {
public:
    KnownPicture(const qc_format& format, int frame, bool distorted) {
        const int planes = format.chroma == QC_CHROMA_400 ? 1 : 3;
        const size_t bytes = static_cast<size_t>(format.container_bits) / 8;
        for (int p = 0; p < planes; ++p) {
            const auto [width, height] = stored_extent(format, p);
            std::vector<uint8_t>& plane = planes_[static_cast<size_t>(p)];
            plane.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * bytes);
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    const auto code = static_cast<uint16_t>(code_at(x, y, p, frame, distorted) << (format.depth - 8));
                    std::memcpy(plane.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + x) * bytes, &code,
                                bytes);
                }
            view_.plane[p] = plane.data();
            view_.pitch_bytes[p] = static_cast<ptrdiff_t>(width) * static_cast<ptrdiff_t>(bytes);
        }
        view_.memory = QC_MEMORY_HOST;
    }
    const qc_picture& view() const { return view_; }

private:
    static uint32_t code_at(int x, int y, int plane, int frame, bool distorted) {
        uint32_t noise = static_cast<uint32_t>(x) * 73856093u ^ static_cast<uint32_t>(y) * 19349663u ^
                         static_cast<uint32_t>(frame * 4 + plane) * 83492791u;
        noise = (noise ^ noise >> 13) * 0x5bd1e995u;
        const auto slope = static_cast<uint32_t>(x + y / 2 + 5 * frame + 40 * plane);
        // One half has broad steps, which some metrics look for; the other edges and noise.
        if (y % 32 < 16) return 60 + slope / (distorted ? 12 : 4) * (distorted ? 3 : 1);
        const uint32_t edge = (x + 2 * frame) / 16 % 2 != y / 16 % 2 ? 70 : 0;
        return 16 + (slope + edge + (noise >> 24) % (distorted ? 40 : 12)) % 220;
    }

    std::array<std::vector<uint8_t>, 3> planes_;
    qc_picture view_{};
};

/// A session that has scored the known pictures, and all that it found.
struct Run {
    std::unique_ptr<Session> session;
    std::vector<std::vector<uint64_t>> accumulators; ///< of each frame
    std::vector<double> values;                      ///< [frame][column]
    std::vector<unsigned char> present;              ///< likewise
};

Status score(const ScoreRequest& request, const qc_config& config, Run* result) {
    QC_RETURN_IF_ERROR(Session::create(request, config, &result->session));
    Session* const session = result->session.get();
    session->on_result = [result](const FrameResult& frame) { result->accumulators.push_back(frame.accumulators); };
    for (int frame = 0; frame < kFrames; ++frame) {
        const KnownPicture reference(config.reference, frame, false), distorted(config.distorted[0], frame, true);
        qc_frame pictures{};
        pictures.reference = reference.view();
        pictures.distorted[0] = distorted.view();
        QC_RETURN_IF_ERROR(session->submit(pictures));
    }
    QC_RETURN_IF_ERROR(session->flush());
    const size_t columns = session->plan().columns.size();
    qc_row row{};
    while (session->receive(true, &row) == QC_OK) {
        result->values.insert(result->values.end(), row.value, row.value + columns);
        result->present.insert(result->present.end(), row.present, row.present + columns);
    }
    return session->failure();
}

/// Whether both found the same sums; of metrics that are exact.
bool same_accumulators(const Run& cpu, const Run& cuda, size_t instance) {
    const AccumulatorLayout& layout = cpu.session->layout();
    const size_t first = layout.offset(instance, 0);
    for (size_t frame = 0; frame < cpu.accumulators.size(); ++frame)
        if (std::memcmp(cpu.accumulators[frame].data() + first, cuda.accumulators[frame].data() + first,
                        layout.words(instance) * sizeof(uint64_t)) != 0)
            return false;
    return true;
}

/// Whether both found scores that are near enough.
bool near_scores(const Run& cpu, const Run& cuda, const MetricInstance& instance) {
    const BackendBound& bound = instance.descriptor->backend_bound;
    const size_t columns = cpu.session->plan().columns.size();
    for (const int column : instance.column)
        for (size_t at = static_cast<size_t>(column); column >= 0 && at < cpu.values.size(); at += columns) {
            const double expected = cpu.values[at], actual = cuda.values[at];
            if (cpu.present[at] == 0 || expected == actual) continue;
            if (!(std::abs(expected - actual) <= bound.absolute + bound.relative * std::abs(expected))) return false;
        }
    return true;
}

Status compare(const Run& cpu, const Run& cuda) {
    const ScorePlan& plan = cpu.session->plan();
    const std::string& device = cuda.session->description();
    if (cpu.present != cuda.present || cpu.accumulators.size() != cuda.accumulators.size())
        return {QC_ERROR_DEVICE, "selftest: scores are missing on " + device};
    for (size_t i = 0; i < plan.instances.size(); ++i) {
        const MetricDescriptor& metric = *plan.instances[i].descriptor;
        const bool right =
            metric.backend_bound.exact() ? same_accumulators(cpu, cuda, i) : near_scores(cpu, cuda, plan.instances[i]);
        if (right) continue;
        return {QC_ERROR_DEVICE, format("selftest: %s of known pictures is not what it should be; this GPU or its "
                                        "driver computes wrongly (%s): use another one, or backend=cpu",
                                        std::string(metric.name).c_str(), device.c_str())};
    }
    return {};
}

} // namespace

Status self_test(const ScoreRequest& request, const qc_config& config) {
    Status status;
    for (const int side : kSides) {
        const qc_config small = small_config(config, side, QC_BACKEND_CPU);
        status = Session::check(request, small);
        if (!status.ok()) continue;
        Run cpu, cuda;
        QC_RETURN_IF_ERROR(score(request, small, &cpu));
        QC_RETURN_IF_ERROR(score(request, small_config(config, side, QC_BACKEND_CUDA), &cuda));
        return compare(cpu, cuda);
    }
    return {status.code(), "selftest: no picture of up to 512x512 fits: " + status.text()};
}

} // namespace qc
