// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a session asks of a backend: take frames in, give accumulators back, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/map.hpp"
#include "api/picture.hpp"
#include "api/region.hpp"
#include "contract/metric.hpp"
#include "ingest/recoding.hpp"
#include "plan/score_plan.hpp"
#include "quality_cuda_run/engine.h"

namespace qc {

/// Where each instance's accumulators lie among the words of one frame, the same for every frame of a session:
/// a reference-scope instance has one block of words, a pair-scope instance one block per rendition. Instances that
/// share a stage lie in the block of the one that computes it.
class AccumulatorLayout {
public:
    AccumulatorLayout(const ScorePlan& plan, std::span<const std::unique_ptr<Scorer>> scorers, int renditions);
    /// The same for a backend that runs only some of the instances: words of the others stay 0.
    AccumulatorLayout only(const std::vector<bool>& instances) const;

    size_t frame_words() const { return frame_words_; }
    /// Whether the backend has to run this instance; otherwise another one fills its block.
    bool computes(size_t instance) const {
        return blocks_[instance].computed_by == instance && !blocks_[instance].is_others;
    }
    size_t words(size_t instance) const { return blocks_[instance].words; }
    /// First word of the block; rendition is ignored for reference-scope instances.
    size_t offset(size_t instance, int rendition) const {
        const Block& block = blocks_[instance];
        return block.offset + static_cast<size_t>(rendition) * block.rendition_words;
    }

private:
    struct Block {
        size_t offset = 0, words = 0;
        size_t rendition_words = 0; ///< from one rendition's block to the next; 0 for reference-scope instances
        size_t computed_by = 0;     ///< instance
        bool is_others = false;     ///< another backend runs it
    };
    std::vector<Block> blocks_;
    size_t frame_words_ = 0;
};

/// The caller's word that a frame's pictures stay as they are; its release function is called exactly once, whatever
/// becomes of the frame.
class PictureHold {
public:
    PictureHold() = default;
    PictureHold(void (*release)(void*), void* opaque) : release_(release), opaque_(opaque) {}
    PictureHold(PictureHold&& other) noexcept
        : release_(std::exchange(other.release_, nullptr)), opaque_(other.opaque_) {}
    PictureHold& operator=(PictureHold&& other) noexcept {
        end();
        release_ = std::exchange(other.release_, nullptr);
        opaque_ = other.opaque_;
        return *this;
    }
    ~PictureHold() { end(); }

    bool is_wanted() const { return release_ != nullptr; }
    /// The pictures may be overwritten from here on.
    void end() {
        if (auto* const release = std::exchange(release_, nullptr); release != nullptr) release(opaque_);
    }

private:
    void (*release_)(void*) = nullptr;
    void* opaque_ = nullptr;
};

/// One frame on its way in.
struct FrameInput {
    int64_t index = 0;
    qc_picture reference{};
    std::vector<qc_picture> distorted; ///< one per rendition; plane[0] null: absent
    std::vector<bool> present;         ///< per rendition
    qc_picture weights{};              ///< plane[0] null: there are none
    qc_picture map{};                  ///< to be painted; plane[0] null: none is wanted
    std::vector<uint64_t> measured;    ///< in the place of pictures, for the backend that reads none
    PictureHold hold;

    /// Of an input: 0 is the reference, the renditions follow, and behind them the weights.
    const qc_picture& picture(int input) const {
        if (static_cast<size_t>(input) > distorted.size()) return weights;
        return input == 0 ? reference : distorted[static_cast<size_t>(input - 1)];
    }
};

/// False for absent pictures.
inline bool is_in_host_memory(const qc_picture& picture) {
    return picture.plane[0] != nullptr && picture.memory == QC_MEMORY_HOST;
}

/// One frame on its way out. Blocks of instances that were not evaluated hold zeros.
struct FrameResult {
    int64_t index = 0;
    std::vector<bool> present; ///< per rendition
    std::vector<uint64_t> accumulators;
};

/// Everything a backend needs to know of its session. Outlives the backend.
struct BackendSetup {
    /// Where a region is scored.
    struct Cut {
        Region region;
        FrameGeometry picture;          ///< that the region lies in
        std::vector<qc_format> formats; ///< per input: of the region, or, where scaling makes it, of the whole picture
    };

    /// Pictures whose samples are recoded before anything else is done with them.
    struct Recoded {
        qc_format source; ///< as they are handed over, cut to the region or whole as format_of() is
        Recoding recoding;
    };

    const qc_config* config =
        nullptr;            ///< defaults resolved; strings not needed. Its formats are those of recoded pictures
    FrameGeometry geometry; ///< of what is scored
    std::optional<Cut> cut;
    std::vector<std::optional<Recoded>> recoded; ///< per input, where it is; empty: of none
    qc_format weights{};                         ///< bytes, one for each luma sample of what is scored
    const ScorePlan* plan = nullptr;
    std::span<const std::unique_ptr<Scorer>> scorers; ///< one per instance, shared by all renditions
    const AccumulatorLayout* layout = nullptr;
    bool needs_chroma = false;
    int history = 0;             ///< most earlier reference frames any instance looks back at
    int distorted_history = 0;   ///< most earlier distorted frames
    bool chroma_history = false; ///< whether any instance looks back at the reference's chroma too
    std::optional<MapSetup> map; ///< where one is drawn
    int earlier_pairs = 0;       ///< most earlier pairs whose whole pictures any instance looks back at

    /// The reference and the renditions.
    int inputs() const { return config->renditions + 1; }
    /// All that a frame can have to be read: the inputs, and the weights where there are any, number inputs().
    int readable() const { return inputs() + (geometry.has_weights ? 1 : 0); }
    /// Null where samples stand for what is scored.
    const Recoded* recoded_of(int input) const {
        const auto i = static_cast<size_t>(input);
        return i < recoded.size() && recoded[i] ? &*recoded[i] : nullptr;
    }
    /// Of the pictures as they are handed to the backend.
    const qc_format& source_format_of(int input) const {
        const Recoded* const before = recoded_of(input);
        return before != nullptr ? before->source : format_of(input);
    }
    /// Of the pictures once they are recoded.
    const qc_format& format_of(int input) const {
        if (input == inputs()) return weights;
        return cut ? cut->formats[static_cast<size_t>(input)] : whole_format_of(input);
    }
    const qc_format& whole_format_of(int input) const {
        return input == 0 ? config->reference : config->distorted[input - 1];
    }
    /// Of the scored picture, which the region lies in where there is one.
    const FrameGeometry& picture() const { return cut ? cut->picture : geometry; }
    bool is_scaled(int input) const { return qc::is_scaled(whole_format_of(input), picture()); }
    /// What the scaler gets of an input that is scaled: as it is handed over, or unpacked before.
    qc_format scaled_format(int input) const {
        return is_read_in_place(format_of(input)) ? format_of(input) : unpacked_format(format_of(input));
    }
    /// Whether metrics cannot read an input's pictures as they are: their samples must be unpacked, lifted to the
    /// session's depth, or scaled.
    bool needs_conversion(int input) const {
        return is_scaled(input) || !is_read_in_place(format_of(input)) || format_of(input).depth != geometry.depth;
    }
    /// How many planes of a picture somebody reads.
    int planes_read() const { return needs_chroma ? geometry.plane_count() : 1; }
    int planes_read(int input) const { return input == inputs() ? 1 : planes_read(); }
    /// Of a picture as it is handed over.
    int source_planes_read(int input) const {
        const Recoded* const before = recoded_of(input);
        return before != nullptr ? before->recoding.source_planes : planes_read(input);
    }
    bool draws(size_t instance) const { return map && map->instance == instance; }
    /// How often an instance is evaluated per frame: once, or for each rendition.
    size_t evaluations(size_t instance) const {
        const bool per_rendition = plan->instances[instance].descriptor->scope == Scope::kPair;
        return per_rendition ? static_cast<size_t>(config->renditions) : 1;
    }
};

/// Whether an instance is evaluated for a frame, given the session's n_subsample.
inline bool is_evaluated(const MetricInstance& instance, int64_t frame, int n_subsample) {
    return evaluates_every_frame(*instance.descriptor, instance.options) || frame % n_subsample == 0;
}

/// Whether a frame has a map: of frames without one the picture is black.
inline bool has_map(const BackendSetup& setup, const FrameInput& frame) {
    return frame.present[static_cast<size_t>(setup.map->rendition)] &&
           is_evaluated(setup.plan->instances[setup.map->instance], frame.index, setup.config->n_subsample);
}

class Backend {
public:
    virtual ~Backend() = default;

    /// Takes a frame, and its hold until the pictures have been read; blocks only while every slot is busy.
    virtual Status submit(FrameInput input) = 0;
    /// Hands out the next frame in order. wait: block until the oldest submitted frame is done (false is then returned
    /// in `ready` only if nothing is in flight).
    virtual Status poll(bool wait, FrameResult* result, bool* ready) = 0;
    /// The next frame has no earlier ones: metrics find none in its history.
    virtual void forget_earlier_frames() = 0;
    /// Calls the releases of frames whose pictures are no longer read; never blocks.
    virtual void collect() = 0;
    /// Waits for all work and calls every release that is outstanding. After a failure too.
    virtual void drain() = 0;

    virtual qc_backend kind() const = 0;
    virtual std::string description() const = 0;
    /// What computes, and the driver's version ("13.0"); both empty where there is no such thing.
    virtual std::string device() const { return ""; }
    virtual std::string driver() const { return ""; }
    /// Adds what this backend counted.
    virtual void add_stats(qc_stats* stats) const = 0;
};

Status create_cpu_backend(const BackendSetup& setup, std::unique_ptr<Backend>* backend);

/// @return QC_ERROR_NO_DEVICE if there is no driver, no GPU or no CUDA in this build (the text says which)
Status create_cuda_backend(const BackendSetup& setup, std::unique_ptr<Backend>* backend);

/// Hands on what other sessions measured; of QC_BACKEND_IMPORTED, nothing. @param kind one of the two
std::unique_ptr<Backend> create_recorded_backend(qc_backend kind);

} // namespace qc
