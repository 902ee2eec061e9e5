// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU backend: every metric of every frame is one task, spread over threads, and idle threads take parts of it;
// results leave in order.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "api/backend.hpp"
#include "api/scaling.hpp"
#include "contract/caught.hpp"
#include "cpu/host_picture.hpp"
#include "cpu/thread_pool.hpp"

namespace qc {
namespace {

using PicturePtr = cpu::PicturePool::Picture;
using Weights = std::shared_ptr<const std::vector<uint8_t>>; ///< row after row

/// What later frames look back at; pictures that nobody wants are not kept.
struct EarlierFrame {
    PicturePtr reference;
    std::vector<PicturePtr> distorted; ///< null where the picture was absent
};

/// A frame in flight. Tasks write disjoint blocks of result.accumulators.
struct FrameWork {
    FrameResult result;
    PicturePtr reference;
    std::vector<PicturePtr> distorted;
    Weights weights;                   ///< null: there are none
    qc_picture map{};                  ///< to be painted; plane[0] null: none is wanted
    std::vector<EarlierFrame> history; ///< history[k]: k + 1 frames earlier; shorter at the start of the stream
    int unfinished = 0;                ///< tasks; guarded by the backend's mutex, and so is
    Status failure;                    ///< the first of a task
};

/// @param wanted whether its samples are read
HostPlane luma_of(const PicturePtr& picture, bool wanted, Helpers* helpers) {
    if (picture == nullptr) return {};
    if (wanted) picture->make(1, helpers);
    return picture->plane[0];
}

class CpuBackend final : public Backend {
public:
    explicit CpuBackend(const BackendSetup& setup)
        : setup_(setup), config_(*setup.config),
          pictures_(std::make_shared<cpu::PicturePool>(setup.geometry, setup.needs_chroma)),
          scalings_(input_scalings(setup)), pool_(config_.n_threads) {}

    Status submit(FrameInput input) override;
    Status poll(bool wait, FrameResult* result, bool* ready) override;
    void forget_earlier_frames() override { recent_.clear(); }
    void collect() override { pictures_->end_holds(); }
    void drain() override;
    qc_backend kind() const override { return QC_BACKEND_CPU; }
    std::string description() const override {
        return format("CPU: %d threads, %d frames in flight", pool_.size(), config_.slots);
    }
    void add_stats(qc_stats* stats) const override { stats->batches += frames_; }

private:
    struct Task {
        size_t instance;
        int rendition; ///< -1: reference scope
    };

    Status take_in(const FrameInput& input, const cpu::PicturePool::Hold& hold, FrameWork* work);
    PicturePtr picture_of(const FrameInput& frame, int input, const cpu::PicturePool::Hold& hold) const;
    Weights copy_of_weights(const qc_picture& picture) const;
    HostPlane weights_of(const FrameWork& work) const;
    std::vector<Task> tasks_of(const FrameWork& work) const;
    void run(const Task& task, FrameWork& work) const;
    void draw_map(const HostPair& pair, HostPast past, const FrameWork& work) const;
    void paint_map(const FrameWork& work, const uint8_t* levels) const;
    std::vector<EarlierPair> past_of(const FrameWork& work, size_t rendition, size_t wanted) const;
    HostReference reference_of(const MetricInstance& instance, const FrameWork& work) const;
    HostPair pair_of(const MetricInstance& instance, const FrameWork& work, size_t rendition) const;
    void add_task(const Task& task, const std::shared_ptr<FrameWork>& work);
    void finish_task(FrameWork& work, const Status& failure);
    void remember(const FrameWork& work);
    Status take_result(bool wait, FrameResult* result, bool* ready);

    const BackendSetup& setup_;
    const qc_config& config_;
    std::shared_ptr<cpu::PicturePool> pictures_;
    const std::vector<std::optional<InputScaling>> scalings_; ///< per input, where it is scaled
    std::deque<EarlierFrame> recent_;                         ///< newest first
    std::mutex mutex_;
    std::condition_variable finished_;
    std::deque<std::shared_ptr<FrameWork>> in_flight_; ///< oldest first
    int64_t frames_ = 0;
    mutable cpu::ThreadPool pool_; ///< last: its threads use everything above; tasks, which are const, share their work
};

Status CpuBackend::take_in(const FrameInput& input, const cpu::PicturePool::Hold& hold, FrameWork* work) {
    bool on_device = input.reference.memory != QC_MEMORY_HOST;
    for (const qc_picture& picture : input.distorted)
        on_device = on_device || (picture.plane[0] != nullptr && picture.memory != QC_MEMORY_HOST);
    on_device = on_device || (input.weights.plane[0] != nullptr && input.weights.memory != QC_MEMORY_HOST);
    if (on_device)
        return invalid(
            "backend=cpu cannot read pictures in GPU memory: download them first (hwdownload), or use backend=cuda");
    work->reference = picture_of(input, 0, hold);
    if (input.weights.plane[0] != nullptr) work->weights = copy_of_weights(input.weights);
    for (int r = 0; r < config_.renditions; ++r) {
        const bool present = input.distorted[static_cast<size_t>(r)].plane[0] != nullptr;
        work->result.present.push_back(present);
        work->distorted.push_back(present ? picture_of(input, r + 1, hold) : nullptr);
    }
    return {};
}

PicturePtr CpuBackend::picture_of(const FrameInput& frame, int input, const cpu::PicturePool::Hold& hold) const {
    const auto& scaling = scalings_[static_cast<size_t>(input)];
    return pictures_->take_in(frame.picture(input), setup_.format_of(input), scaling ? &*scaling : nullptr, hold,
                              setup_.recoded_of(input));
}

Weights CpuBackend::copy_of_weights(const qc_picture& picture) const {
    const auto width = static_cast<size_t>(setup_.geometry.width), height = static_cast<size_t>(setup_.geometry.height);
    std::vector<uint8_t> weights(width * height);
    for (size_t y = 0; y < height; ++y)
        std::memcpy(weights.data() + y * width,
                    static_cast<const uint8_t*>(picture.plane[0]) + static_cast<ptrdiff_t>(y) * picture.pitch_bytes[0],
                    width);
    return std::make_shared<const std::vector<uint8_t>>(std::move(weights));
}

HostPlane CpuBackend::weights_of(const FrameWork& work) const {
    if (work.weights == nullptr) return {};
    return {work.weights->data(), {setup_.geometry.width}, setup_.geometry.width, setup_.geometry.height};
}

void CpuBackend::remember(const FrameWork& work) {
    const auto references = static_cast<size_t>(std::max(setup_.history, setup_.earlier_pairs));
    const auto distorted = static_cast<size_t>(std::max(setup_.distorted_history, setup_.earlier_pairs));
    recent_.push_front({work.reference, work.distorted});
    if (recent_.size() > references) recent_[references].reference.reset();
    if (recent_.size() > distorted) recent_[distorted].distorted.clear();
    if (recent_.size() > std::max(references, distorted)) recent_.pop_back();
}

std::vector<CpuBackend::Task> CpuBackend::tasks_of(const FrameWork& work) const {
    std::vector<Task> tasks;
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        if (!setup_.layout->computes(i)) continue;
        const MetricInstance& instance = setup_.plan->instances[i];
        if (!is_evaluated(instance, work.result.index, config_.n_subsample)) continue;
        if (instance.descriptor->scope == Scope::kReference) {
            tasks.push_back({i, -1});
            continue;
        }
        for (int r = 0; r < config_.renditions; ++r)
            if (work.result.present[static_cast<size_t>(r)]) tasks.push_back({i, r});
    }
    return tasks;
}

Status CpuBackend::submit(FrameInput input) {
    auto work = std::make_shared<FrameWork>();
    work->result.index = input.index;
    const bool may_hold = config_.hold_pictures != 0 && input.hold.is_wanted();
    auto hold = may_hold ? pictures_->share(std::move(input.hold)) : nullptr;
    Status status = take_in(input, hold, work.get());
    input.hold.end();
    hold.reset();
    pictures_->end_holds();
    QC_RETURN_IF_ERROR(std::move(status));
    work->result.accumulators.resize(setup_.layout->frame_words());
    work->history.assign(recent_.begin(), recent_.end());
    work->map = input.map;
    if (work->map.plane[0] != nullptr && !has_map(setup_, input)) paint_map(*work, nullptr);
    remember(*work);

    const std::vector<Task> tasks = tasks_of(*work);
    work->unfinished = static_cast<int>(tasks.size());
    {
        std::unique_lock lock(mutex_);
        const auto all_busy = [this] {
            const auto busy = std::count_if(in_flight_.begin(), in_flight_.end(),
                                            [](const auto& frame) { return frame->unfinished > 0; });
            return busy >= config_.slots;
        };
        finished_.wait(lock, [&] { return !all_busy(); });
        in_flight_.push_back(work);
    }
    ++frames_;
    for (const Task& task : tasks) add_task(task, work);
    return {};
}

/// A thread of the pool has nobody to throw to. A task that cannot be added counts as one that failed: the frame must
/// end.
void CpuBackend::add_task(const Task& task, const std::shared_ptr<FrameWork>& work) {
    const Status added =
        caught([&] { pool_.add([this, task, work] { finish_task(*work, caught([&] { run(task, *work); })); }); });
    if (!added.ok()) finish_task(*work, added);
}

/// How many planes of a picture an instance reads.
int planes_of(const MetricInstance& instance) {
    return instance.descriptor->needs_chroma || needs_chroma_history(instance) ? 3 : 1;
}

HostReference CpuBackend::reference_of(const MetricInstance& instance, const FrameWork& work) const {
    HostReference reference;
    work.reference->make(planes_of(instance), &pool_);
    reference.current = *work.reference;
    reference.weights = weights_of(work);
    const bool wants_chroma = needs_chroma_history(instance);
    for (size_t k = 0; k < std::min<size_t>(work.history.size(), kMaxHistory); ++k) {
        const auto& earlier = work.history[k].reference;
        reference.history[k] = luma_of(earlier, static_cast<int>(k) < instance.descriptor->history, &pool_);
        if (!wants_chroma || earlier == nullptr) continue;
        earlier->make(3, &pool_);
        reference.chroma_history[k][0] = earlier->plane[1];
        reference.chroma_history[k][1] = earlier->plane[2];
    }
    return reference;
}

HostPair CpuBackend::pair_of(const MetricInstance& instance, const FrameWork& work, size_t rendition) const {
    work.reference->make(planes_of(instance), &pool_);
    work.distorted[rendition]->make(planes_of(instance), &pool_);
    HostPair pair{*work.reference, *work.distorted[rendition]};
    pair.weights = weights_of(work);
    pair.helpers = &pool_;
    for (size_t k = 0; k < std::min<size_t>(work.history.size(), kMaxHistory); ++k) {
        const EarlierFrame& earlier = work.history[k];
        const int back = static_cast<int>(k);
        pair.reference_history[k] = luma_of(earlier.reference, back < instance.descriptor->history, &pool_);
        if (!earlier.distorted.empty())
            pair.distorted_history[k] =
                luma_of(earlier.distorted[rendition], back < instance.descriptor->distorted_history, &pool_);
    }
    return pair;
}

void CpuBackend::run(const Task& task, FrameWork& work) const {
    const Scorer& scorer = *setup_.scorers[task.instance];
    const MetricInstance& instance = setup_.plan->instances[task.instance];
    const size_t offset = setup_.layout->offset(task.instance, std::max(task.rendition, 0));
    const std::span<uint64_t> accumulators(work.result.accumulators.data() + offset,
                                           setup_.layout->words(task.instance));
    if (task.rendition < 0) return scorer.score(reference_of(instance, work), accumulators);
    const size_t rendition = static_cast<size_t>(task.rendition);
    const HostPair pair = pair_of(instance, work, rendition);
    const int wanted = earlier_pairs(*instance.descriptor, setup_.geometry, instance.options);
    const std::vector<EarlierPair> past = past_of(work, rendition, static_cast<size_t>(wanted));
    scorer.score(pair, past, accumulators);
    const bool is_shown = work.map.plane[0] != nullptr && setup_.draws(task.instance);
    if (is_shown && task.rendition == setup_.map->rendition) draw_map(pair, past, work);
}

void CpuBackend::draw_map(const HostPair& pair, HostPast past, const FrameWork& work) const {
    const MapShape& shape = setup_.map->paint.shape;
    std::vector<float> values(static_cast<size_t>(shape.width) * static_cast<size_t>(shape.height));
    setup_.scorers[setup_.map->instance]->draw(pair, past, {values.data(), {shape.width}, shape.width, shape.height});
    std::vector<uint8_t> levels(values.size());
    std::transform(values.begin(), values.end(), levels.begin(),
                   [&](float value) { return static_cast<uint8_t>(map_level(value, setup_.map->paint.scale)); });
    paint_map(work, levels.data());
}

/// @param levels null: there are none, and the picture becomes black
void CpuBackend::paint_map(const FrameWork& work, const uint8_t* levels) const {
    const MapPaint& paint = setup_.map->paint;
    const MapJob job = map_job(work.map, levels != nullptr);
    const Plane<const uint8_t> plane{levels, {paint.shape.width}, paint.shape.width, paint.shape.height};
    for (int y = 0; y < paint.height; y += 2)
        for (int x = 0; x < paint.width; x += kPaintColumns) paint_run(paint, job, plane, x, y, levels == nullptr);
}

/// As many earlier pairs as are wanted, and there without a gap.
std::vector<EarlierPair> CpuBackend::past_of(const FrameWork& work, size_t rendition, size_t wanted) const {
    std::vector<EarlierPair> past;
    for (const EarlierFrame& earlier : work.history) {
        if (past.size() == wanted || earlier.reference == nullptr || earlier.distorted.empty() ||
            earlier.distorted[rendition] == nullptr)
            break;
        for (const PicturePtr& picture : {earlier.reference, earlier.distorted[rendition]}) picture->make(3, &pool_);
        past.push_back({earlier.reference.get(), earlier.distorted[rendition].get()});
    }
    return past;
}

void CpuBackend::finish_task(FrameWork& work, const Status& failure) {
    const std::lock_guard lock(mutex_);
    if (work.failure.ok()) work.failure = failure;
    if (--work.unfinished > 0) return;
    work.reference.reset();
    work.distorted.clear();
    work.weights.reset();
    work.history.clear();
    finished_.notify_all();
}

Status CpuBackend::poll(bool wait, FrameResult* result, bool* ready) {
    Status status = take_result(wait, result, ready);
    pictures_->end_holds();
    return status;
}

Status CpuBackend::take_result(bool wait, FrameResult* result, bool* ready) {
    std::unique_lock lock(mutex_);
    *ready = false;
    if (in_flight_.empty()) return {};
    FrameWork& oldest = *in_flight_.front();
    if (wait) finished_.wait(lock, [&] { return oldest.unfinished == 0; });
    if (oldest.unfinished > 0) return {};
    QC_RETURN_IF_ERROR(oldest.failure);
    *result = std::move(oldest.result);
    in_flight_.pop_front();
    *ready = true;
    return {};
}

void CpuBackend::drain() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] {
        return std::all_of(in_flight_.begin(), in_flight_.end(),
                           [](const auto& work) { return work->unfinished == 0; });
    });
}

} // namespace

Status create_cpu_backend(const BackendSetup& setup, std::unique_ptr<Backend>* backend) {
    *backend = std::make_unique<CpuBackend>(setup);
    return {};
}

} // namespace qc
