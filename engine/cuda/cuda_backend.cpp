// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA backend: slots of batches in flight, one captured graph per batch shape.
//
// A slot is one batch: its description (where the pictures lie), its accumulators, its upload buffers. Slots go round:
// filling -> in flight -> free. All slots share one compute stream, so batches run in order and share one scratch area;
// uploads of software frames run ahead on a stream of their own.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>

#include "api/backend.hpp"
#include "api/picture.hpp"
#include "cuda/context.hpp"
#include "cuda/program.hpp"
#include "cuda/row_copier.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc {
namespace {

using namespace cuda;

constexpr size_t kAlignment = 256;
/// Metrics of one batch that run side by side, beside those of few blocks. One alone leaves the GPU idle between its
/// kernels; with many, what else wants the GPU (a decoder's surfaces) waits for all of them (docs/performance.md).
constexpr size_t kBranches = 4;
constexpr size_t kMaxGraphs = 64;
constexpr size_t kRowAlignment = 64; ///< of uploaded rows

size_t align_up(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Hands out aligned pieces of a buffer that is sized by a first pass with no base.
class Carver {
public:
    size_t take(size_t bytes) {
        const size_t offset = used_;
        used_ += align_up(bytes);
        return offset;
    }
    size_t used() const { return used_; }

private:
    size_t used_ = 0;
};

/// How the raw samples of one input lie in an upload buffer: planes one after the other, rows padded.
struct UploadLayout {
    std::array<size_t, 3> offset{};
    std::array<uint32_t, 3> pitch_bytes{};
    std::array<int, 3> row_bytes{}, rows{};
    int planes = 0;
    size_t bytes = 0;
};

UploadLayout upload_layout(const qc_format& format, const FrameGeometry& geometry, bool chroma) {
    UploadLayout layout;
    Carver carver;
    const int sample_bytes = format.container_bits / 8;
    layout.planes = !chroma || geometry.plane_count() == 1 ? 1 : stored_planes(format);
    for (int p = 0; p < layout.planes; ++p) {
        layout.row_bytes[p] = geometry.stored_width(p) * plane_source(format, p).step * sample_bytes;
        layout.rows[p] = geometry.stored_height(p);
        const auto row_bytes = static_cast<size_t>(layout.row_bytes[p]);
        layout.pitch_bytes[p] = static_cast<uint32_t>((row_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment);
        layout.offset[p] = carver.take(static_cast<size_t>(layout.pitch_bytes[p]) * layout.rows[p]);
    }
    layout.bytes = carver.used();
    return layout;
}

/// Byte offsets of the arrays in a slot's description, the same on host and device.
struct DescriptionLayout {
    size_t references = 0, evaluated_references = 0, pairs = 0, evaluated_pairs = 0, kept_planes = 0, jobs = 0,
           bytes = 0;
};

/// How many entries of each array of a description are in use. Launch shapes, and so graphs, depend on nothing else.
struct BatchShape {
    int references = 0, evaluated_references = 0, pairs = 0, evaluated_pairs = 0, jobs = 0;
    auto operator<=>(const BatchShape&) const = default; // NOLINT(modernize-use-nullptr): of the default's inside
};

/// What a history ring remembers.
struct RingSource {
    int picture = 0, plane = 0;   ///< picture 0 is the reference
    uint16_t step = 1, shift = 0; ///< of the kept samples
};

/// An instantiated graph and what it launches.
struct Graph {
    CUgraphExec exec = nullptr;
    int64_t kernels = 0;
};

struct FrameInSlot {
    int64_t index = 0;
    std::vector<bool> present;
    void (*release)(void*) = nullptr;
    void* opaque = nullptr;
};

struct Slot {
    PinnedBuffer description_host;
    DeviceBuffer description;
    DeviceBuffer accumulators;
    PinnedBuffer accumulators_host;
    DeviceBuffer upload, converted;
    PinnedBuffer staging;
    Event done;
    std::map<BatchShape, Graph> graphs;

    std::vector<FrameInSlot> frames;
    std::vector<CUstream> producers; ///< streams whose work the batch must wait for
    BatchShape shape;
    bool uploaded = false;
    bool in_flight = false;
};

class CudaBackend final : public Backend {
public:
    explicit CudaBackend(const BackendSetup& setup) : setup_(setup), config_(*setup.config) {}
    ~CudaBackend() override;

    Status create(const Driver& driver);

    Status submit(FrameInput input) override;
    Status poll(bool wait, FrameResult* result, bool* ready) override;
    void forget_earlier_frames() override {
        std::fill(was_present_.begin(), was_present_.end(), decltype(was_present_)::value_type{});
    }
    void collect() override;
    void drain() override;
    qc_backend kind() const override { return QC_BACKEND_CUDA; }
    std::string description() const override;
    void add_stats(qc_stats* stats) const override;

private:
    int renditions() const { return config_.renditions; }
    const qc_format& format_of(int picture) const {
        return picture == 0 ? config_.reference : config_.distorted[picture - 1];
    }

    Status prepare_metrics();
    Status create_branches();
    Status allocate_slots();
    Status allocate_slot(Slot& slot);
    Status allocate_scratch();
    Status allocate_history();
    DescriptionLayout description_layout() const;

    Status add_frame(Slot& slot, FrameInput& input);
    void place_picture(Slot& slot, int frame, int picture, const qc_picture& source, DevicePicture* target);
    size_t upload_offset(int frame, int picture) const;
    Status upload_frame(Slot& slot, int frame, const FrameInput& input);
    DevicePicture uploaded_picture(const Slot& slot, int frame, int picture) const;
    Status ensure_upload_buffers(Slot& slot);
    void convert_picture(Slot& slot, int frame, int picture, const DevicePicture& raw, DevicePicture* target);
    DevicePicture raw_view(const qc_format& format, const void* const* planes, const uint32_t* pitches) const;
    int history_of(int picture) const { return picture == 0 ? setup_.history : setup_.distorted_history; }
    void add_ring(int picture, int plane);
    int ring_index(int picture, int plane) const;
    DevicePlane history_plane(const Slot& slot, int frame, int ring, int lag) const;
    void remember_planes(Slot& slot, int frame, const std::vector<DevicePicture>& pictures);

    Status dispatch();
    Status wait_for_inputs(Slot& slot);
    Status enqueue_batch(Slot& slot, int64_t* kernels);
    Status enqueue_metrics(Slot& slot, int64_t* kernels);
    Status graph_for(Slot& slot, Graph* graph);
    Status retire_oldest(bool wait, bool* retired);
    void read_results(Slot& slot);
    void release_frames(Slot& slot);
    Status fail(Status status);

    const BackendSetup& setup_;
    const qc_config& config_;
    std::unique_ptr<Context> context_;
    std::unique_ptr<Program> common_;
    std::vector<std::unique_ptr<Program>> programs_;
    LoadedKernel<Convert::Arguments> convert_;
    LoadedKernel<KeepHistory::Arguments> keep_history_;
    std::unique_ptr<Stream> stream_, upload_stream_;
    std::vector<Stream> branches_;
    std::vector<Event> joins_; ///< per branch
    struct Placement {
        size_t instance, branch;
    };
    std::vector<Placement> order_; ///< in which the instances that compute are enqueued
    Event fork_, uploaded_;

    DescriptionLayout layout_;
    std::vector<size_t> accumulator_offset_; ///< byte offset of each instance's array [frames x renditions][words]
    size_t accumulator_bytes_ = 0;
    std::vector<UploadLayout> upload_layout_; ///< per input picture: the reference, then the renditions
    std::vector<bool> converts_;              ///< per input picture: lifted to 16 bits at the session's depth first
    UploadLayout converted_layout_;           ///< planar 16-bit picture
    size_t upload_bytes_per_frame_ = 0;
    std::unique_ptr<RowCopier> copier_; ///< of software frames
    std::vector<RowCopy> row_copies_;   ///< of one frame; capacity stays
    DeviceBuffer scratch_;
    std::vector<size_t> scratch_offset_;
    DeviceBuffer history_;
    HistoryRings rings_{};
    std::vector<RingSource> ring_sources_;                   ///< per ring
    std::vector<std::array<bool, kMaxHistory>> was_present_; ///< per ring: [k]: k + 1 frames before the next one

    int frames_per_batch_ = 1;
    std::vector<Slot> slots_;
    size_t filling_ = 0;           ///< slot that takes the next frame
    std::deque<size_t> in_flight_; ///< slots, oldest first
    std::deque<FrameResult> finished_;
    int64_t batches_ = 0;
    Status failure_;
};

// ---- creation -------------------------------------------------------------------------------------------------------

Status CudaBackend::create(const Driver& driver) {
    QC_RETURN_IF_ERROR(Context::create(driver, config_.cuda_context, config_.device, &context_));
    stream_ = std::make_unique<Stream>();
    upload_stream_ = std::make_unique<Stream>();
    QC_RETURN_IF_ERROR(stream_->create(*context_));
    QC_RETURN_IF_ERROR(upload_stream_->create(*context_));
    QC_RETURN_IF_ERROR(fork_.create(*context_));
    QC_RETURN_IF_ERROR(uploaded_.create(*context_));
    QC_RETURN_IF_ERROR(create_branches());
    frames_per_batch_ = std::max(1, config_.batch / renditions());
    QC_RETURN_IF_ERROR(prepare_metrics());
    QC_RETURN_IF_ERROR(allocate_scratch());
    QC_RETURN_IF_ERROR(allocate_history());
    return allocate_slots();
}

/// Instances of few blocks share the first branch, and begin; the others take turns on the rest.
Status CudaBackend::create_branches() {
    std::vector<size_t> few, many;
    for (size_t i = 0; i < setup_.scorers.size(); ++i)
        if (setup_.layout->computes(i)) (setup_.plan->instances[i].descriptor->few_blocks ? few : many).push_back(i);
    const size_t before = few.empty() ? 0 : 1;
    const size_t count = before + std::min(kBranches, many.size());
    branches_.reserve(count);
    joins_.reserve(count);
    for (size_t b = 0; b < count; ++b) {
        const auto priority = b < before ? Stream::Priority::kHigh : Stream::Priority::kLow;
        QC_RETURN_IF_ERROR(branches_.emplace_back().create(*context_, priority));
        QC_RETURN_IF_ERROR(joins_.emplace_back().create(*context_));
    }
    for (const size_t i : few) order_.push_back({i, 0});
    size_t turn = before;
    for (const size_t i : many) {
        order_.push_back({i, turn});
        if (++turn == count) turn = before;
    }
    return {};
}

Status CudaBackend::prepare_metrics() {
    common_ = std::make_unique<Program>(*context_);
    QC_RETURN_IF_ERROR(common_->load("ingest"));
    QC_RETURN_IF_ERROR(common_->find(kernels::qc_convert, &convert_));
    QC_RETURN_IF_ERROR(common_->find(kernels::qc_keep_history, &keep_history_));
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        if (!setup_.layout->computes(i)) continue;
        programs_.push_back(std::make_unique<Program>(*context_));
        QC_RETURN_IF_ERROR(programs_.back()->load(setup_.plan->instances[i].descriptor->name));
        QC_RETURN_IF_ERROR(setup_.scorers[i]->prepare(*programs_.back()));
    }
    return {};
}

Status CudaBackend::allocate_scratch() {
    // Instances run side by side, so each has scratch of its own; batches run one after the other and share it.
    Carver carver;
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        const bool per_pair = setup_.plan->instances[i].descriptor->scope == Scope::kPair;
        const int count = frames_per_batch_ * (per_pair ? renditions() : 1);
        const bool computes = setup_.layout->computes(i);
        scratch_offset_.push_back(carver.take(computes ? setup_.scorers[i]->scratch_bytes(count) : 0));
    }
    return scratch_.allocate(*context_, carver.used(), "scratch of the metrics");
}

/// Describes the ring of one plane of an input; its memory comes later.
void CudaBackend::add_ring(int picture, int plane) {
    const FrameGeometry& geometry = setup_.geometry;
    const qc_format& format = format_of(picture);
    const bool converted = needs_conversion(format, geometry);
    RingSource source{picture, plane};
    source.step = converted ? uint16_t{1} : static_cast<uint16_t>(plane_source(format, plane).step);
    source.shift = converted ? uint16_t{0} : static_cast<uint16_t>(format.shift);
    HistoryRing& ring = rings_.ring[rings_.count++];
    ring.depth = history_of(picture);
    ring.row_bytes =
        static_cast<int32_t>(((geometry.plane_width(plane) - 1) * source.step + 1) * geometry.sample_bytes());
    ring.pitch_bytes = static_cast<uint32_t>(align_up(static_cast<size_t>(ring.row_bytes)));
    ring.height = geometry.plane_height(plane);
    ring_sources_.push_back(source);
}

Status CudaBackend::allocate_history() {
    for (int picture = 0; picture <= renditions(); ++picture)
        if (history_of(picture) > 0) add_ring(picture, 0);
    for (int plane = 1; plane < 3 && setup_.chroma_history; ++plane) add_ring(0, plane);
    Carver carver;
    const auto take = [&](const HistoryRing& ring) {
        return carver.take(static_cast<size_t>(ring.pitch_bytes) * static_cast<size_t>(ring.height));
    };
    std::vector<size_t> offsets;
    for (int r = 0; r < rings_.count; ++r)
        for (int k = 0; k < rings_.ring[r].depth; ++k) offsets.push_back(take(rings_.ring[r]));
    if (offsets.empty()) return {};
    QC_RETURN_IF_ERROR(history_.allocate(*context_, carver.used(), "planes of earlier frames"));
    size_t used = 0;
    for (int r = 0; r < rings_.count; ++r)
        for (int k = 0; k < rings_.ring[r].depth; ++k) rings_.ring[r].plane[k] = history_.as<void>(offsets[used++]);
    was_present_.resize(static_cast<size_t>(rings_.count));
    return {};
}

/// Precondition: the plane is remembered.
int CudaBackend::ring_index(int picture, int plane) const {
    const auto found = std::find_if(ring_sources_.begin(), ring_sources_.end(), [&](const RingSource& source) {
        return source.picture == picture && source.plane == plane;
    });
    return static_cast<int>(found - ring_sources_.begin());
}

DescriptionLayout CudaBackend::description_layout() const {
    const size_t frames = static_cast<size_t>(frames_per_batch_);
    const size_t pairs = frames * renditions();
    DescriptionLayout layout;
    Carver carver;
    layout.references = carver.take(frames * sizeof(DeviceReference));
    layout.evaluated_references = carver.take(frames * sizeof(DeviceReference));
    layout.pairs = carver.take(pairs * sizeof(DevicePair));
    layout.evaluated_pairs = carver.take(pairs * sizeof(DevicePair));
    layout.kept_planes = carver.take(frames * static_cast<size_t>(rings_.count) * sizeof(DevicePlane));
    const size_t converting = static_cast<size_t>(std::count(converts_.begin(), converts_.end(), true));
    layout.jobs = carver.take(frames * converting * 3 * sizeof(ConvertJob));
    layout.bytes = carver.used();
    return layout;
}

Status CudaBackend::allocate_slots() {
    for (int picture = 0; picture <= renditions(); ++picture) {
        const qc_format& format = format_of(picture);
        upload_layout_.push_back(upload_layout(format, setup_.geometry, setup_.needs_chroma));
        upload_bytes_per_frame_ += upload_layout_.back().bytes;
        converts_.push_back(needs_conversion(format, setup_.geometry));
    }
    qc_format lifted{};
    lifted.chroma = QC_CHROMA_444; // planar; sizes come from the geometry
    lifted.container_bits = 16;
    converted_layout_ = upload_layout(lifted, setup_.geometry, setup_.needs_chroma);
    layout_ = description_layout();
    Carver carver;
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        const bool per_pair = setup_.plan->instances[i].descriptor->scope == Scope::kPair;
        const size_t rows =
            setup_.layout->computes(i) ? static_cast<size_t>(frames_per_batch_) * (per_pair ? renditions() : 1) : 0;
        accumulator_offset_.push_back(carver.take(rows * setup_.layout->words(i) * sizeof(uint64_t)));
    }
    accumulator_bytes_ = carver.used();
    slots_.resize(static_cast<size_t>(config_.slots));
    for (Slot& slot : slots_) QC_RETURN_IF_ERROR(allocate_slot(slot));
    return {};
}

Status CudaBackend::allocate_slot(Slot& slot) {
    QC_RETURN_IF_ERROR(slot.description_host.allocate(*context_, layout_.bytes, "batch descriptions"));
    std::memset(slot.description_host.as<void>(), 0, layout_.bytes);
    QC_RETURN_IF_ERROR(slot.description.allocate(*context_, layout_.bytes, "batch descriptions"));
    QC_RETURN_IF_ERROR(slot.accumulators.allocate(*context_, accumulator_bytes_, "accumulators"));
    QC_RETURN_IF_ERROR(slot.accumulators_host.allocate(*context_, accumulator_bytes_, "accumulators"));
    const size_t converting = static_cast<size_t>(std::count(converts_.begin(), converts_.end(), true));
    QC_RETURN_IF_ERROR(slot.converted.allocate(*context_, converted_layout_.bytes * converting * frames_per_batch_,
                                               "pictures lifted to 16 bits"));
    slot.frames.reserve(static_cast<size_t>(frames_per_batch_));
    return slot.done.create(*context_);
}

CudaBackend::~CudaBackend() {
    drain();
    if (context_ == nullptr) return;
    ContextGuard guard(*context_);
    for (Slot& slot : slots_)
        for (auto& [shape, graph] : slot.graphs) context_->driver().cuGraphExecDestroy(graph.exec);
}

// ---- taking frames in -----------------------------------------------------------------------------------------------

Status CudaBackend::submit(FrameInput input) {
    Status status = failure_;
    if (status.ok()) {
        // Back-pressure: the slot to fill may still be in flight.
        if (slots_[filling_].in_flight) {
            bool retired = false;
            status = retire_oldest(true, &retired);
        }
        if (status.ok()) status = add_frame(slots_[filling_], input);
    }
    if (!status.ok()) {
        if (input.release != nullptr) input.release(input.opaque);
        return fail(std::move(status));
    }
    const bool full = static_cast<int>(slots_[filling_].frames.size()) == frames_per_batch_;
    bool idle = in_flight_.empty();
    if (!full && !idle && config_.latency_first != 0) {
        const ContextGuard guard(*context_);
        idle = context_->driver().cuEventQuery(slots_[in_flight_.back()].done.handle()) == CUDA_SUCCESS;
    }
    if (full || (idle && config_.latency_first != 0)) return dispatch();
    return {};
}

/// Adds the frame to the slot's batch. On success the slot owns the frame's release.
Status CudaBackend::add_frame(Slot& slot, FrameInput& input) {
    const ContextGuard guard(*context_);
    const int frame = static_cast<int>(slot.frames.size());
    char* description = slot.description_host.as<char>();
    auto* references = reinterpret_cast<DeviceReference*>(description + layout_.references);
    auto* evaluated_references = reinterpret_cast<DeviceReference*>(description + layout_.evaluated_references);
    auto* pairs = reinterpret_cast<DevicePair*>(description + layout_.pairs);
    auto* evaluated_pairs = reinterpret_cast<DevicePair*>(description + layout_.evaluated_pairs);
    const bool evaluated = input.index % config_.n_subsample == 0;

    QC_RETURN_IF_ERROR(upload_frame(slot, frame, input));
    DeviceReference reference{};
    place_picture(slot, frame, 0, input.reference, &reference.current);
    reference.output = static_cast<uint32_t>(frame);
    for (int lag = 1; lag <= setup_.history; ++lag) {
        reference.history[lag - 1] = history_plane(slot, frame, ring_index(0, 0), lag);
        for (int p = 1; p < 3 && setup_.chroma_history; ++p)
            reference.chroma_history[lag - 1][p - 1] = history_plane(slot, frame, ring_index(0, p), lag);
    }
    std::vector<DevicePicture> pictures(static_cast<size_t>(renditions()) + 1);
    pictures[0] = reference.current;
    references[slot.shape.references++] = reference;
    if (evaluated) evaluated_references[slot.shape.evaluated_references++] = reference;

    FrameInSlot entry{input.index, std::vector<bool>(static_cast<size_t>(renditions())), nullptr, nullptr};
    bool borrowed = input.reference.memory == QC_MEMORY_CUDA;
    for (int r = 0; r < renditions(); ++r) {
        const qc_picture& picture = input.distorted[r];
        if (picture.plane[0] == nullptr) continue;
        entry.present[r] = true;
        borrowed = borrowed || picture.memory == QC_MEMORY_CUDA;
        DevicePair pair{};
        pair.reference = reference.current;
        pair.output = static_cast<uint32_t>(frame * renditions() + r);
        std::copy(std::begin(reference.history), std::end(reference.history), std::begin(pair.reference_history));
        for (int lag = 1; lag <= setup_.distorted_history; ++lag)
            pair.distorted_history[lag - 1] = history_plane(slot, frame, ring_index(r + 1, 0), lag);
        place_picture(slot, frame, r + 1, picture, &pair.distorted);
        pictures[static_cast<size_t>(r) + 1] = pair.distorted;
        pairs[slot.shape.pairs++] = pair;
        if (evaluated) evaluated_pairs[slot.shape.evaluated_pairs++] = pair;
    }
    remember_planes(slot, frame, pictures);
    if (borrowed) {
        entry.release = input.release;
        entry.opaque = input.opaque;
    } else if (input.release != nullptr) {
        input.release(input.opaque); // host pictures were copied to staging memory
    }
    slot.frames.push_back(std::move(entry));
    return {};
}

DevicePicture CudaBackend::raw_view(const qc_format& format, const void* const* planes, const uint32_t* pitches) const {
    DevicePicture view{};
    const int count = setup_.needs_chroma ? setup_.geometry.plane_count() : 1;
    for (int p = 0; p < count; ++p) {
        const PlaneSource from = plane_source(format, p);
        view.plane[p] =
            DevicePlane{static_cast<const char*>(planes[from.plane]) + from.first_bytes, pitches[from.plane],
                        static_cast<uint16_t>(from.step), static_cast<uint16_t>(format.shift)};
    }
    return view;
}

void CudaBackend::place_picture(Slot& slot, int frame, int picture, const qc_picture& source, DevicePicture* target) {
    const qc_format& format = format_of(picture);
    DevicePicture raw{};
    if (source.memory == QC_MEMORY_HOST) {
        raw = uploaded_picture(slot, frame, picture);
    } else {
        std::array<uint32_t, 3> pitches{};
        for (int p = 0; p < 3; ++p) pitches[p] = static_cast<uint32_t>(source.pitch_bytes[p]);
        raw = raw_view(format, source.plane, pitches.data());
        const CUstream producer =
            source.cuda_stream != nullptr ? static_cast<CUstream>(source.cuda_stream) : CU_STREAM_LEGACY;
        if (std::find(slot.producers.begin(), slot.producers.end(), producer) == slot.producers.end())
            slot.producers.push_back(producer);
    }
    if (converts_[picture])
        convert_picture(slot, frame, picture, raw, target);
    else
        *target = raw;
}

Status CudaBackend::ensure_upload_buffers(Slot& slot) {
    if (copier_ == nullptr) copier_ = std::make_unique<RowCopier>(config_.n_threads);
    if (slot.upload.bytes() != 0) return {};
    const size_t bytes = upload_bytes_per_frame_ * frames_per_batch_;
    QC_RETURN_IF_ERROR(slot.upload.allocate(*context_, bytes, "uploads of software frames"));
    return slot.staging.allocate(*context_, bytes, "uploads of software frames");
}

size_t CudaBackend::upload_offset(int frame, int picture) const {
    size_t offset = upload_bytes_per_frame_ * frame;
    for (int p = 0; p < picture; ++p) offset += upload_layout_[p].bytes;
    return offset;
}

/// Copies the frame's pictures that lie in host memory to the device; neighbours travel together.
Status CudaBackend::upload_frame(Slot& slot, int frame, const FrameInput& input) {
    row_copies_.clear();
    std::vector<std::pair<size_t, size_t>> runs; // begin, end
    for (int picture = 0; picture <= renditions(); ++picture) {
        const qc_picture& source = picture == 0 ? input.reference : input.distorted[picture - 1];
        if (source.plane[0] == nullptr || source.memory != QC_MEMORY_HOST) continue;
        QC_RETURN_IF_ERROR(ensure_upload_buffers(slot));
        const UploadLayout& layout = upload_layout_[picture];
        const size_t base = upload_offset(frame, picture);
        for (int p = 0; p < layout.planes; ++p)
            row_copies_.push_back({static_cast<const char*>(source.plane[p]),
                                   slot.staging.as<char>(base + layout.offset[p]), source.pitch_bytes[p],
                                   static_cast<ptrdiff_t>(layout.pitch_bytes[p]),
                                   static_cast<size_t>(layout.row_bytes[p]), layout.rows[p]});
        if (!runs.empty() && runs.back().second == base)
            runs.back().second += layout.bytes;
        else
            runs.emplace_back(base, base + layout.bytes);
    }
    if (row_copies_.empty()) return {};
    copier_->copy(row_copies_);
    for (const auto& [begin, end] : runs) {
        QC_CUDA(context_->driver(), cuMemcpyHtoDAsync, slot.upload.address() + begin, slot.staging.as<char>(begin),
                end - begin, upload_stream_->handle());
        context_->counters.pixel_bytes_to_device += static_cast<int64_t>(end - begin);
    }
    slot.uploaded = true;
    return {};
}

/// Where upload_frame() put a picture.
DevicePicture CudaBackend::uploaded_picture(const Slot& slot, int frame, int picture) const {
    const UploadLayout& layout = upload_layout_[picture];
    std::array<const void*, 3> planes{};
    for (int p = 0; p < layout.planes; ++p)
        planes[p] = slot.upload.as<const char>(upload_offset(frame, picture) + layout.offset[p]);
    return raw_view(format_of(picture), planes.data(), layout.pitch_bytes.data());
}

void CudaBackend::convert_picture(Slot& slot, int frame, int picture, const DevicePicture& raw, DevicePicture* target) {
    const qc_format& format = format_of(picture);
    const size_t converting = static_cast<size_t>(std::count(converts_.begin(), converts_.end(), true));
    const size_t before = static_cast<size_t>(std::count(converts_.begin(), converts_.begin() + picture, true));
    const size_t base = converted_layout_.bytes * (frame * converting + before);
    auto* jobs = slot.description_host.as<ConvertJob>(layout_.jobs);
    *target = DevicePicture{};
    for (int p = 0; p < converted_layout_.planes; ++p) {
        auto* data = slot.converted.as<uint16_t>(base + converted_layout_.offset[p]);
        ConvertJob job{};
        job.source = raw.plane[p].data;
        job.target = data;
        job.source_pitch_bytes = raw.plane[p].pitch_bytes;
        job.target_pitch_bytes = converted_layout_.pitch_bytes[p];
        job.width = setup_.geometry.stored_width(p);
        job.height = setup_.geometry.stored_height(p);
        job.step = raw.plane[p].step;
        job.source_bytes = static_cast<uint16_t>(format.container_bits / 8);
        job.shift_right = static_cast<uint16_t>(format.shift);
        job.shift_left = static_cast<uint16_t>(setup_.geometry.depth - format.depth);
        jobs[slot.shape.jobs++] = job;
        target->plane[p] = DevicePlane{data, converted_layout_.pitch_bytes[p], 1, 0};
    }
}

/// What a ring remembers of `lag` frames before the one that is number `frame` of the slot's batch.
DevicePlane CudaBackend::history_plane(const Slot& slot, int frame, int ring, int lag) const {
    if (!was_present_[static_cast<size_t>(ring)][static_cast<size_t>(lag - 1)]) return DevicePlane{};
    if (frame >= lag)
        return slot.description_host.as<const DevicePlane>(layout_.kept_planes)[(frame - lag) * rings_.count + ring];
    const RingSource& source = ring_sources_[static_cast<size_t>(ring)];
    const HistoryRing& kept = rings_.ring[ring];
    return DevicePlane{kept.plane[lag - frame - 1], kept.pitch_bytes, source.step, source.shift};
}

/// Notes a frame's planes for the rings; data null: absent.
void CudaBackend::remember_planes(Slot& slot, int frame, const std::vector<DevicePicture>& pictures) {
    auto* const noted = slot.description_host.as<DevicePlane>(layout_.kept_planes) + frame * rings_.count;
    for (size_t ring = 0; ring < ring_sources_.size(); ++ring) {
        const RingSource& source = ring_sources_[ring];
        noted[ring] = pictures[static_cast<size_t>(source.picture)].plane[source.plane];
        auto& present = was_present_[ring];
        std::copy_backward(present.begin(), present.end() - 1, present.end());
        present[0] = noted[ring].data != nullptr;
    }
}

// ---- running batches ------------------------------------------------------------------------------------------------

Status CudaBackend::dispatch() {
    Slot& slot = slots_[filling_];
    if (slot.frames.empty()) return {};
    const ContextGuard guard(*context_);
    Status status = wait_for_inputs(slot);
    Graph graph;
    if (status.ok()) status = graph_for(slot, &graph);
    if (status.ok()) {
        const Driver& driver = context_->driver();
        if (graph.exec != nullptr) {
            status = check(driver, driver.cuGraphLaunch(graph.exec, stream_->handle()), "cuGraphLaunch");
            ++context_->counters.graph_launches;
        } else {
            status = enqueue_batch(slot, &graph.kernels);
        }
        context_->counters.kernel_launches += graph.kernels;
        context_->counters.control_bytes_to_device += static_cast<int64_t>(layout_.bytes);
        context_->counters.result_bytes_to_host += static_cast<int64_t>(accumulator_bytes_);
        if (status.ok())
            status = check(driver, driver.cuEventRecord(slot.done.handle(), stream_->handle()), "cuEventRecord");
    }
    if (!status.ok()) return fail(std::move(status));
    slot.in_flight = true;
    in_flight_.push_back(filling_);
    filling_ = (filling_ + 1) % slots_.size();
    ++batches_;
    return {};
}

/// Makes the compute stream wait for the uploads and for the producers of surfaces (decoders work asynchronously too).
Status CudaBackend::wait_for_inputs(Slot& slot) {
    const Driver& driver = context_->driver();
    std::vector<CUstream> streams = slot.producers;
    if (slot.uploaded) streams.push_back(upload_stream_->handle());
    for (CUstream stream : streams) {
        QC_CUDA(driver, cuEventRecord, uploaded_.handle(), stream);
        QC_CUDA(driver, cuStreamWaitEvent, stream_->handle(), uploaded_.handle(), 0);
    }
    return {};
}

/// The graph that runs a batch of the slot's shape; captured when the shape comes up first.
Status CudaBackend::graph_for(Slot& slot, Graph* graph) {
    const auto found = slot.graphs.find(slot.shape);
    if (found != slot.graphs.end()) {
        *graph = found->second;
        return {};
    }
    if (slot.graphs.size() >= kMaxGraphs) return {}; // launched one by one
    const Driver& driver = context_->driver();
    QC_CUDA(driver, cuStreamBeginCapture, stream_->handle(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    Graph made;
    Status status = enqueue_batch(slot, &made.kernels);
    CUgraph captured = nullptr;
    const CUresult ended = driver.cuStreamEndCapture(stream_->handle(), &captured);
    if (status.ok()) status = check(driver, ended, "cuStreamEndCapture");
    if (status.ok()) status = check(driver, driver.cuGraphInstantiate(&made.exec, captured, 0), "cuGraphInstantiate");
    if (captured != nullptr) driver.cuGraphDestroy(captured);
    QC_RETURN_IF_ERROR(std::move(status));
    slot.graphs.emplace(slot.shape, made);
    *graph = made;
    return {};
}

Status CudaBackend::enqueue_batch(Slot& slot, int64_t* kernels) {
    const Driver& driver = context_->driver();
    const CUstream stream = stream_->handle();
    Queue queue(*context_, stream);
    QC_CUDA(driver, cuMemcpyHtoDAsync, slot.description.address(), slot.description_host.as<void>(), layout_.bytes,
            stream);
    QC_RETURN_IF_ERROR(queue.zero(slot.accumulators.as<void>(), accumulator_bytes_));
    if (slot.shape.jobs > 0) {
        const Dim3 grid{blocks_for(setup_.geometry.width, 4 * kIngestBlock),
                        static_cast<unsigned>(setup_.geometry.height), static_cast<unsigned>(slot.shape.jobs)};
        QC_RETURN_IF_ERROR(
            queue.launch(convert_, grid, Convert::Arguments{slot.description.as<const ConvertJob>(layout_.jobs)}));
    }
    QC_RETURN_IF_ERROR(enqueue_metrics(slot, kernels));
    if (rings_.count > 0) {
        const Dim3 grid{static_cast<unsigned>(setup_.geometry.height), static_cast<unsigned>(rings_.count)};
        QC_RETURN_IF_ERROR(
            queue.launch(keep_history_, grid,
                         KeepHistory::Arguments{slot.description.as<const DevicePlane>(layout_.kept_planes),
                                                slot.shape.references, rings_}));
    }
    QC_CUDA(driver, cuMemcpyDtoHAsync, slot.accumulators_host.as<void>(), slot.accumulators.address(),
            accumulator_bytes_, stream);
    *kernels += queue.launches();
    return {};
}

/// Forks into branches, one instance after the other on each, and joins them again.
Status CudaBackend::enqueue_metrics(Slot& slot, int64_t* kernels) {
    const Driver& driver = context_->driver();
    QC_CUDA(driver, cuEventRecord, fork_.handle(), stream_->handle());
    for (Stream& branch : branches_) QC_CUDA(driver, cuStreamWaitEvent, branch.handle(), fork_.handle(), 0);
    for (const auto& [i, branch] : order_) {
        const MetricDescriptor& descriptor = *setup_.plan->instances[i].descriptor;
        const BatchShape& shape = slot.shape;
        DeviceBatch batch;
        const bool all = descriptor.every_frame;
        batch.references =
            slot.description.as<const DeviceReference>(all ? layout_.references : layout_.evaluated_references);
        batch.pairs = slot.description.as<const DevicePair>(all ? layout_.pairs : layout_.evaluated_pairs);
        batch.count = descriptor.scope == Scope::kPair ? (all ? shape.pairs : shape.evaluated_pairs)
                                                       : (all ? shape.references : shape.evaluated_references);
        batch.accumulators = slot.accumulators.as<uint64_t>(accumulator_offset_[i]);
        batch.scratch = scratch_.as<void>(scratch_offset_[i]);
        if (batch.count == 0) continue;
        Queue queue(*context_, branches_[branch].handle());
        QC_RETURN_IF_ERROR(setup_.scorers[i]->enqueue(batch, queue));
        *kernels += queue.launches();
    }
    for (size_t b = 0; b < branches_.size(); ++b) {
        QC_CUDA(driver, cuEventRecord, joins_[b].handle(), branches_[b].handle());
        QC_CUDA(driver, cuStreamWaitEvent, stream_->handle(), joins_[b].handle(), 0);
    }
    return {};
}

// ---- results --------------------------------------------------------------------------------------------------------

Status CudaBackend::retire_oldest(bool wait, bool* retired) {
    *retired = false;
    if (in_flight_.empty()) return {};
    Slot& slot = slots_[in_flight_.front()];
    const Driver& driver = context_->driver();
    const ContextGuard guard(*context_);
    if (wait) {
        QC_CUDA(driver, cuEventSynchronize, slot.done.handle());
    } else {
        const CUresult result = driver.cuEventQuery(slot.done.handle());
        if (result == CUDA_ERROR_NOT_READY) return {};
        QC_RETURN_IF_ERROR(check(driver, result, "a batch"));
    }
    in_flight_.pop_front();
    read_results(slot);
    release_frames(slot);
    *retired = true;
    return {};
}

void CudaBackend::read_results(Slot& slot) {
    for (size_t f = 0; f < slot.frames.size(); ++f) {
        FrameResult result;
        result.index = slot.frames[f].index;
        result.present = slot.frames[f].present;
        result.accumulators.resize(setup_.layout->frame_words());
        for (size_t i = 0; i < setup_.scorers.size(); ++i) {
            if (!setup_.layout->computes(i)) continue;
            const size_t words = setup_.layout->words(i);
            const auto* array = slot.accumulators_host.as<const uint64_t>(accumulator_offset_[i]);
            const bool per_pair = setup_.plan->instances[i].descriptor->scope == Scope::kPair;
            const size_t rows = per_pair ? static_cast<size_t>(renditions()) : 1;
            std::copy_n(array + f * rows * words, rows * words, &result.accumulators[setup_.layout->offset(i, 0)]);
        }
        finished_.push_back(std::move(result));
    }
}

void CudaBackend::release_frames(Slot& slot) {
    for (FrameInSlot& frame : slot.frames)
        if (frame.release != nullptr) frame.release(frame.opaque);
    slot.frames.clear();
    slot.producers.clear();
    slot.shape = BatchShape{};
    slot.uploaded = false;
    slot.in_flight = false;
}

Status CudaBackend::poll(bool wait, FrameResult* result, bool* ready) {
    *ready = false;
    if (finished_.empty() && failure_.ok()) {
        bool retired = false;
        Status status = retire_oldest(false, &retired);
        if (status.ok() && !retired && wait) {
            if (in_flight_.empty()) status = dispatch();
            if (status.ok()) status = retire_oldest(true, &retired);
        }
        if (!status.ok()) return fail(std::move(status));
    }
    if (finished_.empty()) return failure_;
    *result = std::move(finished_.front());
    finished_.pop_front();
    *ready = true;
    return {};
}

void CudaBackend::collect() {
    bool retired = failure_.ok();
    while (retired) {
        Status status = retire_oldest(false, &retired);
        if (!status.ok()) {
            static_cast<void>(fail(std::move(status)));
            return;
        }
    }
}

void CudaBackend::drain() {
    if (context_ == nullptr) return;
    const ContextGuard guard(*context_);
    if (stream_ != nullptr && stream_->handle() != nullptr) context_->driver().cuStreamSynchronize(stream_->handle());
    if (upload_stream_ != nullptr && upload_stream_->handle() != nullptr)
        context_->driver().cuStreamSynchronize(upload_stream_->handle());
    for (Slot& slot : slots_) release_frames(slot);
    in_flight_.clear();
}

Status CudaBackend::fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
    return failure_;
}

std::string CudaBackend::description() const {
    return format("CUDA on %s: batches of %d frames x %d renditions, %d in flight, %.1f MiB of device memory",
                  context_->device_name().c_str(), frames_per_batch_, renditions(), config_.slots,
                  static_cast<double>(context_->counters.device_bytes) / (1024.0 * 1024.0));
}

void CudaBackend::add_stats(qc_stats* stats) const {
    const Counters& counters = context_->counters;
    stats->batches += batches_;
    stats->pixel_bytes_to_device += counters.pixel_bytes_to_device;
    stats->control_bytes_to_device += counters.control_bytes_to_device;
    stats->result_bytes_to_host += counters.result_bytes_to_host;
    stats->kernel_launches += counters.kernel_launches;
    stats->graph_launches += counters.graph_launches;
    stats->device_allocations += counters.device_allocations;
    stats->device_bytes += static_cast<size_t>(counters.device_bytes);
    stats->pinned_bytes += static_cast<size_t>(counters.pinned_bytes);
}

} // namespace

Status create_cuda_backend(const BackendSetup& setup, std::unique_ptr<Backend>* backend) {
    const Driver* driver = nullptr;
    QC_RETURN_IF_ERROR(load_driver(&driver));
    auto made = std::make_unique<CudaBackend>(setup);
    QC_RETURN_IF_ERROR(made->create(*driver));
    *backend = std::move(made);
    return {};
}

} // namespace qc
