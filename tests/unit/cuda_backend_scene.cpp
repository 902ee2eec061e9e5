// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/unit/cuda_backend_scene.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "api/picture.hpp"
#include "cuda/backend.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::test {
namespace {

constexpr size_t kWords = sizeof(ProbeWords) / sizeof(uint64_t);
constexpr int kWidth = 34, kHeight = 18;

FrameGeometry geometry; ///< of the scene that runs: kernels have no other way to it

// ---- what probes see ------------------------------------------------------------------------------------------------

/// The sample that all of a plane has.
uint64_t code_of(const DevicePlane& plane, int width, int height) {
    if (plane.data == nullptr) return kAbsent;
    const auto sample = [&](int x, int y) -> uint64_t {
        const auto* row = static_cast<const char*>(plane.data) + static_cast<size_t>(y) * plane.pitch_bytes;
        const size_t at = static_cast<size_t>(x) * plane.step;
        if (geometry.sample == SampleType::kU8) return reinterpret_cast<const uint8_t*>(row)[at];
        return static_cast<uint64_t>(reinterpret_cast<const uint16_t*>(row)[at] >> plane.shift);
    };
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            if (sample(x, y) != sample(0, 0)) return kMixed;
    return sample(0, 0) >> (geometry.depth - 8);
}

uint64_t luma_code(const DevicePlane& plane) {
    return code_of(plane, geometry.width, geometry.height);
}

/// The luma that Cb and Cr both tell.
uint64_t chroma_code(const DevicePlane& first, const DevicePlane& second) {
    if (first.data == nullptr && second.data == nullptr) return kAbsent;
    const uint64_t one = code_of(first, geometry.stored_chroma_width, geometry.stored_chroma_height);
    const uint64_t other = code_of(second, geometry.stored_chroma_width, geometry.stored_chroma_height);
    return one + 1 == other ? one - 1 : kMixed;
}

uint64_t picture_code(const DevicePicture& picture) {
    const uint64_t luma = luma_code(picture.plane[0]);
    const uint64_t chroma = chroma_code(picture.plane[1], picture.plane[2]);
    return chroma == kAbsent || chroma == luma ? luma : kMixed;
}

ProbeWords look_at(const DevicePair& pair) {
    return {picture_code(pair.reference),
            picture_code(pair.distorted),
            {luma_code(pair.reference_history[0]), luma_code(pair.reference_history[1])},
            luma_code(pair.distorted_history[0]),
            kAbsent,
            pair.behind_first};
}

ProbeWords look_at(const DeviceReference& reference) {
    return {picture_code(reference.current),
            kAbsent,
            {luma_code(reference.history[0]), luma_code(reference.history[1])},
            kAbsent,
            chroma_code(reference.chroma_history[0][0], reference.chroma_history[0][1]),
            0};
}

// ---- kernels --------------------------------------------------------------------------------------------------------

template <typename T>
T argument(void** arguments, int index) {
    return *static_cast<const T*>(arguments[index]);
}

template <typename Evaluated>
struct ProbeArguments {
    const Evaluated* evaluated;
    uint64_t* accumulators;
};
constexpr KernelIdentifier<ProbeArguments<DevicePair>> kProbePairs{"probe_pairs", 32, 0};
constexpr KernelIdentifier<ProbeArguments<DeviceReference>> kProbeReferences{"probe_references", 32, 0};

/// Adds to the accumulators, which are zero before: an evaluation that runs twice, or on another's row, shows.
template <typename Evaluated>
std::function<void()> run_probe(Dim3 grid, void** arguments) {
    const auto [evaluated, accumulators] = argument<ProbeArguments<Evaluated>>(arguments, 0);
    return [=, evaluated = evaluated, accumulators = accumulators] {
        for (unsigned i = 0; i < grid.z; ++i) {
            std::array<uint64_t, kWords> words{};
            const ProbeWords seen = look_at(evaluated[i]);
            std::memcpy(words.data(), &seen, sizeof(seen));
            for (size_t w = 0; w < kWords; ++w) accumulators[evaluated[i].output * kWords + w] += words[w];
        }
    };
}

void convert(const ConvertJob& job) {
    for (int y = 0; y < job.height; ++y)
        for (int x = 0; x < job.width; ++x) {
            const auto* row = static_cast<const uint8_t*>(job.source) + static_cast<size_t>(y) * job.source_pitch_bytes;
            auto* target = static_cast<char*>(job.target) + static_cast<size_t>(y) * job.target_pitch_bytes;
            reinterpret_cast<uint16_t*>(target)[x] =
                static_cast<uint16_t>(read_sample(job.samples, row, x) << job.shift_left);
        }
}

std::function<void()> run_convert(Dim3 grid, void** arguments) {
    const auto* jobs = argument<Convert::Arguments>(arguments, 0).jobs;
    return [=] { std::for_each(jobs, jobs + grid.z, convert); };
}

void keep_history(const DevicePlane* planes, int frames, const HistoryRings& rings) {
    for (int r = 0; r < rings.count; ++r) {
        const HistoryRing& ring = rings.ring[r];
        for (int k = ring.depth - 1; k >= 0; --k) {
            const int frame = frames - 1 - k;
            DevicePlane source{};
            if (frame >= 0)
                source = planes[frame * rings.count + r];
            else
                source = {ring.plane[k - frames], ring.pitch_bytes, 1, 0};
            for (int y = 0; source.data != nullptr && y < ring.height; ++y)
                std::memcpy(static_cast<char*>(ring.plane[k]) + static_cast<size_t>(y) * ring.pitch_bytes,
                            static_cast<const char*>(source.data) + static_cast<size_t>(y) * source.pitch_bytes,
                            static_cast<size_t>(ring.row_bytes));
        }
    }
}

std::function<void()> run_keep_history(Dim3, void** arguments) {
    const auto given = argument<KeepHistory::Arguments>(arguments, 0);
    return [=] { keep_history(given.planes, given.frames, given.rings); };
}

std::function<void()> run_hand_over(Dim3, void** arguments) {
    const auto given = argument<CopyAndZero::Arguments>(arguments, 0);
    return [=] {
        std::copy_n(given.source, given.count, given.target);
        std::fill_n(given.zeroed, given.zeroed_count, CopiedBytes{});
    };
}

// ---- metrics --------------------------------------------------------------------------------------------------------

class PairProbe final : public Scorer {
public:
    PairProbe(const FrameGeometry&, const OptionValues&) {}
    size_t accumulator_words() const override { return kWords; }
    size_t scratch_bytes(int count) const override { return static_cast<size_t>(count) * 100; }
    Status prepare(DeviceProgram& program) override { return program.find(kProbePairs, &kernel_); }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        return queue.launch(kernel_, Dim3{1, 1, static_cast<unsigned>(batch.count)}, {batch.pairs, batch.accumulators});
    }

private:
    LoadedKernel<ProbeArguments<DevicePair>> kernel_;
};

/// Two halves of a batch side by side, if they are worth it, then all of it again.
class PiecesProbe final : public Scorer {
public:
    PiecesProbe(const FrameGeometry&, const OptionValues&) {}
    size_t accumulator_words() const override { return kWords; }
    Status prepare(DeviceProgram& program) override { return program.find(kProbePairs, &kernel_); }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const auto add = [&](int first, int end, DeviceQueue& to) {
            return to.launch(kernel_, Dim3{1, 1, static_cast<unsigned>(end - first)},
                             {batch.pairs + first, batch.accumulators});
        };
        const int pieces = queue.worthwhile_pieces(2);
        const auto part = [&](int piece, DeviceQueue& own) {
            return add(batch.count * piece / pieces, batch.count * (piece + 1) / pieces, own);
        };
        QC_RETURN_IF_ERROR(queue.side_by_side(pieces, part));
        return add(0, batch.count, queue);
    }

private:
    LoadedKernel<ProbeArguments<DevicePair>> kernel_;
};

class ReferenceProbe final : public Scorer {
public:
    ReferenceProbe(const FrameGeometry&, const OptionValues&) {}
    size_t accumulator_words() const override { return kWords; }
    Status prepare(DeviceProgram& program) override { return program.find(kProbeReferences, &kernel_); }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        return queue.launch(kernel_, Dim3{1, 1, static_cast<unsigned>(batch.count)},
                            {batch.references, batch.accumulators});
    }

private:
    LoadedKernel<ProbeArguments<DeviceReference>> kernel_;
};

bool always(const OptionValues&) {
    return true;
}

/// They use the kernels' file of the example metric, which nobody loads.
MetricDescriptor make_probe(Scope scope) {
    MetricDescriptor descriptor;
    descriptor.name = "skeleton";
    descriptor.scope = scope;
    descriptor.create_scorer = scope == Scope::kPair ? make_scorer<PairProbe> : make_scorer<ReferenceProbe>;
    return descriptor;
}

std::map<Kind, MetricDescriptor> make_probes() {
    std::map<Kind, MetricDescriptor> probes;
    for (const Kind kind : {Kind::kPair, Kind::kPairBlocks, Kind::kPairEveryFrame, Kind::kDistortedHistory})
        probes[kind] = make_probe(Scope::kPair);
    probes[Kind::kPairPieces] = make_probe(Scope::kPair);
    probes[Kind::kPairPieces].create_scorer = make_scorer<PiecesProbe>;
    probes[Kind::kPairPieces].takes_long = true;
    for (const Kind kind : {Kind::kReference, Kind::kReferenceChroma}) probes[kind] = make_probe(Scope::kReference);
    for (const Kind kind : {Kind::kPairEveryFrame, Kind::kReference, Kind::kReferenceChroma, Kind::kDistortedHistory})
        probes[kind].every_frame = true;
    probes[Kind::kPairBlocks].few_blocks = true;
    probes[Kind::kPairEveryFrame].needs_chroma = true;
    probes[Kind::kReference].history = 2;
    probes[Kind::kReferenceChroma].history = 1;
    probes[Kind::kReferenceChroma].needs_chroma_history = always;
    probes[Kind::kDistortedHistory].history = 1;
    probes[Kind::kDistortedHistory].distorted_history = 1;
    return probes;
}

} // namespace

const MetricDescriptor& probe(Kind kind) {
    static const std::map<Kind, MetricDescriptor> probes = make_probes();
    return probes.at(kind);
}

// ---- pictures -------------------------------------------------------------------------------------------------------

qc_format flat_format(const std::string& name) {
    qc_format format{};
    format.width = kWidth;
    format.height = kHeight;
    format.chroma = QC_CHROMA_420;
    const bool deep = name == "p010" || name == "yuv420p10";
    format.depth = deep ? 10 : 8;
    format.container_bits = deep ? 16 : 8;
    format.shift = name == "p010" ? 6 : 0;
    format.semi_planar = name == "p010" || name == "nv12" ? 1 : 0;
    return format;
}

FlatPicture::FlatPicture(const qc_format& format, int code, qc_memory memory, void* producer) {
    if (code == 0) return;
    const auto code_at = [&](int plane, int, int) { return static_cast<uint32_t>(code + plane) << (format.depth - 8); };
    view_ = picture_.emplace(format, code_at, 2 * kWidth).view();
    view_.memory = memory;
    view_.cuda_stream = producer;
}

// ---- scenes ---------------------------------------------------------------------------------------------------------

Scene::Scene(const qc_config& config, const std::vector<Kind>& metrics) : config_(config) {
    std::string chroma_conflict;
    static_cast<void>(session_geometry(config_, &setup_.geometry, &chroma_conflict));
    geometry = setup_.geometry;
    for (const Kind kind : metrics) {
        const MetricDescriptor& descriptor = probe(kind);
        plan_.instances.push_back({&descriptor, OptionValues({}), {}, {}});
        scorers_.push_back(create_scorer(descriptor, setup_.geometry, plan_.instances.back().options));
        setup_.needs_chroma = setup_.needs_chroma || descriptor.needs_chroma;
        setup_.history = std::max(setup_.history, descriptor.history);
        setup_.distorted_history = std::max(setup_.distorted_history, descriptor.distorted_history);
        setup_.chroma_history = setup_.chroma_history || needs_chroma_history(plan_.instances.back());
    }
    setup_.needs_chroma = setup_.needs_chroma || setup_.chroma_history;
    layout_ = std::make_unique<AccumulatorLayout>(plan_, scorers_, config_.renditions);
    setup_.config = &config_;
    setup_.plan = &plan_;
    setup_.scorers = scorers_;
    setup_.layout = layout_.get();
    driver_.define_kernel("probe_pairs", run_probe<DevicePair>);
    driver_.define_kernel("probe_references", run_probe<DeviceReference>);
    driver_.define_kernel("qc_hand_over", run_hand_over);
    driver_.define_kernel("qc_convert", run_convert);
    driver_.define_kernel("qc_keep_history", run_keep_history);
}

Scene::~Scene() {
    if (backend_ != nullptr) backend_->drain();
}

Status Scene::create() {
    return cuda::create_backend(driver_.table(), setup_, &backend_);
}

Status Scene::submit(int reference, const std::vector<int>& distorted, qc_memory memory, void* producer) {
    FrameInput input;
    input.index = submitted_;
    pictures_.emplace_back(config_.reference, reference, memory, producer);
    input.reference = pictures_.back().view();
    for (size_t r = 0; r < distorted.size(); ++r) {
        pictures_.emplace_back(config_.distorted[r], distorted[r], memory, producer);
        input.distorted.push_back(pictures_.back().view());
    }
    released_.push_back(0);
    unfinished_.push_back(0);
    releases_.push_back(std::make_unique<Release>(Release{this, submitted_++}));
    const auto count = [](void* opaque) {
        const auto* release = static_cast<const Release*>(opaque);
        const auto frame = static_cast<size_t>(release->frame);
        ++release->scene->released_[frame];
        release->scene->unfinished_[frame] = release->scene->driver_.unfinished();
    };
    input.hold = PictureHold(count, releases_.back().get());
    return backend_->submit(std::move(input));
}

bool Scene::poll(bool wait, FrameResult* result, Status* status) {
    bool ready = false;
    const Status polled = backend_->poll(wait, result, &ready);
    if (status != nullptr) *status = polled;
    return ready;
}

ProbeWords Scene::words(const FrameResult& result, size_t metric, int rendition) const {
    ProbeWords words{};
    std::memcpy(&words, &result.accumulators[layout_->offset(metric, rendition)], sizeof(words));
    return words;
}

qc_stats Scene::stats() const {
    qc_stats stats{};
    backend_->add_stats(&stats);
    return stats;
}

std::vector<std::string> Scene::close() {
    driver_.take_calls();
    backend_.reset();
    return driver_.take_calls();
}

} // namespace qc::test
