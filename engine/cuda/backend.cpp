// SPDX-License-Identifier: BSD-2-Clause-Patent
// The way of a batch: its slot is filled (intake), it is dispatched on the compute stream as one graph (conversion,
// metrics on their branches, history, read-back), and retired. All slots share that stream, so batches run in order and
// share scratch memory and history; uploads of software frames run ahead on a stream of their own.
#include "cuda/backend.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <vector>

#include "cuda/branches.hpp"
#include "cuda/context.hpp"
#include "cuda/conversion.hpp"
#include "cuda/hand_over.hpp"
#include "cuda/history.hpp"
#include "cuda/intake.hpp"
#include "cuda/maps.hpp"
#include "cuda/metric_work.hpp"
#include "cuda/program.hpp"
#include "cuda/results.hpp"
#include "cuda/slot.hpp"
#include "cuda/timeline.hpp"

namespace qc::cuda {
namespace {

/// Decides when a batch leaves and when it is waited for; everything else is done by its parts. Used by one thread.
class CudaBackend final : public Backend {
public:
    CudaBackend(const BackendSetup& setup, std::unique_ptr<Context> context);
    ~CudaBackend() override { CudaBackend::drain(); }

    Status create();

    Status submit(FrameInput input) override;
    Status poll(bool wait, FrameResult* result, bool* ready) override;
    void forget_earlier_frames() override {
        history_.forget();
        timeline_.forget();
    }
    void collect() override;
    void drain() override;
    qc_backend kind() const override { return QC_BACKEND_CUDA; }
    std::string description() const override;
    std::string device() const override { return context_->device_name(); }
    std::string driver() const override { return context_->driver_version(); }
    void add_stats(qc_stats* stats) const override;

private:
    /// Whether retire() may wait for the device.
    enum class Wait { kNo, kYes };

    bool is_time_to_dispatch() const;
    Status dispatch();
    Status launch(const Slot& slot, const Graph& graph);
    Status enqueue_batch(const Slot& slot, Lane& lane) const;
    void wait_for(CUstream stream) const;
    bool retire(Wait wait);
    Status await_oldest(Wait wait, bool* done) const;
    Status ask_oldest(bool* done) const;
    Status fail(Status status);

    const BackendSetup& setup_;
    const qc_config& config_;
    std::unique_ptr<Context> context_; ///< first: everything below lives in it
    const int frames_per_batch_;
    Program ingest_; ///< the engine's own kernels
    Converter converter_;
    History history_;
    Timeline timeline_;
    Results results_;
    HandOver hand_over_;
    Maps maps_;
    Branches branches_;
    MetricWork metrics_;
    Intake intake_;
    Stream stream_; ///< all batches run on it, one after the other
    std::vector<Slot> slots_;

    size_t filling_ = 0;           ///< slot that takes the next frame
    std::deque<size_t> in_flight_; ///< slots, oldest first
    std::deque<FrameResult> finished_;
    int64_t batches_ = 0;
    Status failure_; ///< the first one; nothing is submitted or retired after it
};

// ---- creation -------------------------------------------------------------------------------------------------------

CudaBackend::CudaBackend(const BackendSetup& setup, std::unique_ptr<Context> context)
    : setup_(setup), config_(*setup.config), context_(std::move(context)),
      frames_per_batch_(std::max(1, config_.batch / config_.renditions)), ingest_(*context_), converter_(setup),
      history_(setup), timeline_(setup, frames_per_batch_), results_(setup, frames_per_batch_),
      hand_over_(results_.bytes()), maps_(setup, frames_per_batch_), branches_(setup),
      metrics_(*context_, setup, frames_per_batch_, results_, timeline_, maps_),
      intake_(*context_, setup, frames_per_batch_, converter_, history_, timeline_, maps_),
      slots_(static_cast<size_t>(config_.slots)) {}

Status CudaBackend::create() {
    QC_RETURN_IF_ERROR(stream_.create(*context_));
    QC_RETURN_IF_ERROR(intake_.create());
    QC_RETURN_IF_ERROR(ingest_.load("ingest"));
    QC_RETURN_IF_ERROR(hand_over_.find_kernel(ingest_));
    QC_RETURN_IF_ERROR(converter_.prepare(ingest_));
    QC_RETURN_IF_ERROR(history_.find_kernel(ingest_));
    QC_RETURN_IF_ERROR(timeline_.find_kernel(ingest_));
    QC_RETURN_IF_ERROR(maps_.find_kernel(ingest_));
    QC_RETURN_IF_ERROR(metrics_.load());
    QC_RETURN_IF_ERROR(metrics_.allocate_scratch());
    QC_RETURN_IF_ERROR(history_.allocate(*context_));
    QC_RETURN_IF_ERROR(timeline_.allocate(*context_));
    QC_RETURN_IF_ERROR(maps_.allocate(*context_));
    const SlotSizes sizes{{frames_per_batch_, config_.renditions, history_.rings(), converter_.lifted_inputs(),
                           converter_.scaled_inputs(), timeline_.depth(), maps_.exist() ? 1 : 0,
                           converter_.recoded_inputs()},
                          results_.bytes(),
                          converter_.frame_bytes() * static_cast<size_t>(frames_per_batch_),
                          maps_.picture_bytes() * static_cast<size_t>(frames_per_batch_),
                          static_cast<size_t>(frames_per_batch_)};
    for (Slot& slot : slots_) QC_RETURN_IF_ERROR(slot.allocate(*context_, sizes));
    return {};
}

// ---- taking frames in -----------------------------------------------------------------------------------------------

Status CudaBackend::submit(FrameInput input) {
    Slot& slot = slots_[filling_];
    if (slot.in_flight) retire(Wait::kYes); // back-pressure: it is the oldest
    Status status = failure_;
    if (status.ok()) status = intake_.add(slot, input);
    if (!status.ok()) return fail(std::move(status));
    return is_time_to_dispatch() ? dispatch() : Status();
}

/// A batch leaves when it is full, or, if latency goes first, when the GPU has nothing else to do.
bool CudaBackend::is_time_to_dispatch() const {
    if (static_cast<int>(slots_[filling_].frames.size()) == frames_per_batch_) return true;
    if (config_.latency_first == 0) return false;
    if (in_flight_.empty()) return true;
    const ContextGuard guard(*context_);
    return context_->driver().cuEventQuery(slots_[in_flight_.back()].done.handle()) == CUDA_SUCCESS;
}

// ---- running batches ------------------------------------------------------------------------------------------------

/// Sends off the batch that is being filled, if it has a frame.
Status CudaBackend::dispatch() {
    Slot& slot = slots_[filling_];
    if (slot.frames.empty()) return {};
    const ContextGuard guard(*context_);
    const auto fill = [&](Lane& lane) { return enqueue_batch(slot, lane); };
    Graph graph;
    Status status = intake_.let_wait(stream_.handle(), slot);
    if (status.ok()) status = slot.graphs.find_or_make(*context_, slot.shape, fill, &graph);
    if (status.ok()) status = launch(slot, graph);
    if (!status.ok()) return fail(std::move(status));
    slot.in_flight = true;
    in_flight_.push_back(filling_);
    filling_ = (filling_ + 1) % slots_.size();
    ++batches_;
    return {};
}

Status CudaBackend::launch(const Slot& slot, const Graph& graph) {
    const Driver& driver = context_->driver();
    Counters& counters = context_->counters;
    QC_CUDA(driver, cuGraphLaunch, graph.exec, stream_.handle());
    ++counters.graph_launches;
    counters.kernel_launches += graph.kernels;
    counters.control_bytes_to_device += static_cast<int64_t>(slot.description.bytes());
    counters.result_bytes_to_host += static_cast<int64_t>(results_.bytes() + maps_.bytes_down(slot));
    QC_CUDA(driver, cuEventRecord, slot.done.handle(), stream_.handle());
    return {};
}

/// All that the device does for a batch, in a graph.
Status CudaBackend::enqueue_batch(const Slot& slot, Lane& lane) const {
    QC_RETURN_IF_ERROR(hand_over_.enqueue_description(slot, lane));
    QC_RETURN_IF_ERROR(converter_.enqueue(slot.description, slot.shape, lane));
    QC_RETURN_IF_ERROR(maps_.clear(slot, lane));
    QC_RETURN_IF_ERROR(
        branches_.run(lane, [&](size_t instance, Lane& branch) { return metrics_.enqueue(instance, slot, branch); }));
    QC_RETURN_IF_ERROR(hand_over_.enqueue_accumulators(slot, lane));
    QC_RETURN_IF_ERROR(maps_.enqueue(slot, lane));
    QC_RETURN_IF_ERROR(maps_.copy_down(slot, lane));
    QC_RETURN_IF_ERROR(
        history_.enqueue(slot.description.device(&DescriptionLayout::kept_planes), slot.shape.references, lane));
    return timeline_.enqueue(slot.description, slot.shape.references, lane);
}

// ---- results --------------------------------------------------------------------------------------------------------

/// Ends the oldest batch in flight, if it is done or may be waited for: reads its results, releases its frames, frees
/// its slot. The only place where batches end (drain() abandons them).
/// @return whether one was ended; a failure is kept in failure_, after which none is
bool CudaBackend::retire(Wait wait) {
    if (!failure_.ok() || in_flight_.empty()) return false;
    const ContextGuard guard(*context_);
    bool done = false;
    Status status = await_oldest(wait, &done);
    if (!status.ok()) static_cast<void>(fail(std::move(status)));
    if (!done) return false;
    Slot& slot = slots_[in_flight_.front()];
    in_flight_.pop_front();
    results_.read(slot, &finished_);
    maps_.deliver(slot);
    slot.release_frames();
    return true;
}

/// A thread that sleeps until a batch is done wakes some tens of microseconds late. Whoever waits for the only batch
/// under way waits for its scores, and has the GPU idle meanwhile: for so long it asks again and again instead.
constexpr auto kLookOn = std::chrono::microseconds(500);

Status CudaBackend::await_oldest(Wait wait, bool* done) const {
    if (wait == Wait::kNo) return ask_oldest(done);
    if (in_flight_.size() == 1) {
        const auto start = std::chrono::steady_clock::now();
        do {
            QC_RETURN_IF_ERROR(ask_oldest(done));
            if (*done) return {};
        } while (std::chrono::steady_clock::now() - start < kLookOn);
    }
    QC_CUDA(context_->driver(), cuEventSynchronize, slots_[in_flight_.front()].done.handle());
    *done = true;
    return {};
}

/// Whether the oldest batch in flight is done.
Status CudaBackend::ask_oldest(bool* done) const {
    const Driver& driver = context_->driver();
    const CUresult result = driver.cuEventQuery(slots_[in_flight_.front()].done.handle());
    *done = result == CUDA_SUCCESS;
    return result == CUDA_ERROR_NOT_READY ? Status() : check(driver, result, "cuEventQuery");
}

Status CudaBackend::poll(bool wait, FrameResult* result, bool* ready) {
    *ready = false;
    if (finished_.empty() && !retire(Wait::kNo) && wait && failure_.ok()) {
        if (in_flight_.empty()) static_cast<void>(dispatch());
        retire(Wait::kYes);
    }
    if (finished_.empty()) return failure_;
    *result = std::move(finished_.front());
    finished_.pop_front();
    *ready = true;
    return {};
}

void CudaBackend::collect() {
    while (retire(Wait::kNo)) {
    }
}

void CudaBackend::drain() {
    const ContextGuard guard(*context_);
    wait_for(stream_.handle());
    wait_for(intake_.upload_stream());
    for (Slot& slot : slots_) slot.release_frames();
    in_flight_.clear();
}

/// Of a failure nobody would make anything: what a broken context ran has ended.
void CudaBackend::wait_for(CUstream stream) const {
    if (stream != nullptr) context_->driver().cuStreamSynchronize(stream);
}

Status CudaBackend::fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
    return failure_;
}

std::string CudaBackend::description() const {
    return format("CUDA on %s: batches of %d frames x %d renditions, %d in flight, %.1f MiB of device memory",
                  context_->device_name().c_str(), frames_per_batch_, config_.renditions, config_.slots,
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

Status create_backend(const Driver& driver, const BackendSetup& setup, std::unique_ptr<Backend>* backend) {
    std::unique_ptr<Context> context;
    QC_RETURN_IF_ERROR(Context::create(driver, setup.config->cuda_context, setup.config->device, &context));
    auto made = std::make_unique<CudaBackend>(setup, std::move(context));
    QC_RETURN_IF_ERROR(made->create());
    *backend = std::move(made);
    return {};
}

} // namespace qc::cuda

namespace qc {

Status create_cuda_backend(const BackendSetup& setup, std::unique_ptr<Backend>* backend) {
    const cuda::Driver* driver = nullptr;
    QC_RETURN_IF_ERROR(cuda::load_driver(&driver));
    return cuda::create_backend(*driver, setup, backend);
}

} // namespace qc
