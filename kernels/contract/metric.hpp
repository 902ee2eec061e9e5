// SPDX-License-Identifier: BSD-2-Clause-Patent
// The contract between a metric and the engine. A metric folder provides one MetricDescriptor; everything else (filter
// options, metadata keys, log columns, CPU-against-CUDA checks, docs table, benchmark axes) follows from it.
//
// A metric turns pictures into *accumulators*: a fixed number of 64-bit words per pair (or per reference), integer sums
// or bit-cast doubles summed in a fixed order. Both backends fill the same words with the same bits; finalise() turns
// them into scores in double precision on the host, once, for both.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contract/device.hpp"
#include "contract/map.hpp"
#include "contract/options.hpp"
#include "contract/status.hpp"
#include "contract/timeline.hpp"
#include "contract/types.hpp"

namespace qc {

/// What one evaluation of a metric belongs to.
enum class Scope {
    kPair,     ///< a reference and one distorted picture
    kReference ///< the reference alone: computed once, whatever the number of distorted pictures; may look back in time
};

/// One score a metric can write.
struct OutputSpec {
    std::string_view name;  ///< name under which models ask for it, e.g. "VMAF_integer_feature_adm2_score"
    std::string_view alias; ///< name in the log, and the stem that options are appended to, e.g. "integer_adm2"
    /// Whether this instance writes it (debug outputs, chroma planes ...); null: always.
    bool (*enabled)(const OptionValues&, const FrameGeometry&) = nullptr;
    /// Options never show in this output's name, even where the metric's names are templated.
    bool plain_name = false;
};

/// Receives scores. `output` is an index into MetricDescriptor::outputs. A score may be written for an earlier frame
/// than the one being finalised (motion2), but every enabled output exactly once per evaluated frame, by flush() at the
/// latest.
class ScoreSink {
public:
    virtual ~ScoreSink() = default;
    virtual void put(int64_t frame, int output, double value) = 0;
    /// The frame's weights are all 0 where this metric looks: the rendition has no scores for the frame, of any
    /// metric.
    virtual void leave_out(int64_t frame) { (void)frame; }
};

/// Receives stream-level values (e.g. apsnr_y) after flush().
class AggregateSink {
public:
    virtual ~AggregateSink() = default;
    virtual void put(std::string_view name, double value) = 0;
};

/// One thing that a reader of the scores has to know beside the options, e.g. {"transfer", "bt1886 (assumed)"}.
struct Convention {
    std::string key, value;
};

/// How far a metric's scores on CUDA may be from those of the CPU backend: |difference| <= absolute + relative *
/// |score|. Zero, the rule: the same bits. On one backend the bits are the same on every run, whatever the bound.
struct BackendBound {
    double absolute = 0.0, relative = 0.0;
    bool exact() const { return absolute == 0.0 && relative == 0.0; }
};

/// Fills the accumulators of one configured instance of a metric. Geometry and options are fixed at construction. A
/// session has one per instance, whatever the number of renditions and threads: after prepare() nothing changes it.
class Scorer {
public:
    virtual ~Scorer() = default;

    /// 64-bit words per pair (Scope::kPair) or per reference (Scope::kReference). They are zero before each evaluation.
    virtual size_t accumulator_words() const = 0;

    // ---- CPU backend: the readable reference, oracle of the tests ---------------------------------------------------
    // Called concurrently from several threads for different frames, hence const and without shared mutable state.
    // Scratch: local vectors, or Workspaces (contract/workspaces.hpp). Only the one that matches the scope is called.
    // What takes long may be shared with idle threads (contract/helpers.hpp), as long as no score depends on it.
    virtual void score(const HostPair&, std::span<uint64_t> accumulators) const { (void)accumulators; }
    virtual void score(const HostReference&, std::span<uint64_t> accumulators) const { (void)accumulators; }
    /// What the engine calls for pairs: metrics that declare earlier_pairs override this one.
    virtual void score(const HostPair& pair, HostPast past, std::span<uint64_t> accumulators) const {
        (void)past;
        score(pair, accumulators);
    }

    // ---- CUDA backend -----------------------------------------------------------------------------------------------
    /// Scratch device memory for a batch of `count` evaluations; a pure function of geometry and options. The engine
    /// hands it over 256-byte aligned. Its content is undefined before each batch.
    virtual size_t scratch_bytes(int count) const {
        (void)count;
        return 0;
    }
    /// Looks up kernels and uploads tables; once, before any enqueue.
    virtual Status prepare(DeviceProgram& program) = 0;
    /// Enqueues all kernels for one batch. They become nodes of a graph, which runs for many batches: nothing but
    /// launches and zero() through `queue`; no allocation, no synchronisation.
    virtual Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
        (void)batch;
        (void)queue;
        return {};
    }
    /// What the engine calls: metrics that declare earlier_pairs override this one.
    virtual Status enqueue(const DeviceBatch& batch, const DeviceTimeline& timeline, DeviceQueue& queue) const {
        (void)timeline;
        return enqueue(batch, queue);
    }

    // ---- maps -------------------------------------------------------------------------------------------------------
    /// Of metrics whose descriptor has a map: one is wanted of each pair, beside the accumulators. Comes before
    /// everything else; scratch_bytes(), prepare() and enqueue() then reckon with it, and DeviceBatch::map says where
    /// the values go. A session without maps runs the kernels that it would run if there were none.
    void draw_maps() { draws_maps_ = true; }
    /// The CPU backend's map of a pair, in the shape of MapSpec::shape. As score() is, called from several threads.
    virtual void draw(const HostPair& pair, HostPast past, Plane<float> values) const {
        (void)pair;
        (void)past;
        (void)values;
    }

    // ---- what to tell the user --------------------------------------------------------------------------------------
    /// Written into the head of logs, under the metric's name.
    virtual std::vector<Convention> conventions() const { return {}; }
    /// Told once when the session opens, a line each: what was assumed, what looks wrong.
    virtual std::vector<std::string> warnings() const { return {}; }

protected:
    bool draws_maps() const { return draws_maps_; }

private:
    bool draws_maps_ = false;
};

/// Turns the accumulators of one stream into scores, in double precision on the host, the same for both backends. A
/// session has one per instance and rendition (one in all for Scope::kReference), and a new one after each pause if the
/// metric looks back.
class Finaliser {
public:
    virtual ~Finaliser() = default;

    /// Called once per evaluated frame, in frame order. Keeps what it needs for later frames.
    virtual void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) = 0;
    /// The stream ended after `frames` frames (evaluated or not).
    virtual void flush(int64_t frames, ScoreSink& sink) {
        (void)frames;
        (void)sink;
    }
    virtual void aggregates(AggregateSink& sink) const { (void)sink; }
    /// Asked after each finalise(): a failure (a file that cannot be written) ends the session.
    virtual Status trouble() const { return {}; }
};

/// One score of a whole stream, made of the scores that its frames have in one output: so it holds across pauses and
/// parts, and of however many frames count in the end.
struct StreamScoreSpec {
    std::string_view name;                  ///< among the aggregates
    std::string_view title;                 ///< of the line that ends a run: "title score: value"
    int output = 0;                         ///< of the frames
    double (*term)(double score) = nullptr; ///< what a frame adds to the sum
    double (*total)(double sum_of_terms, int64_t frames) = nullptr; ///< frames: at least 1
};

inline MapShape map_of_samples(const FrameGeometry& geometry, const OptionValues& /*options*/) {
    return {geometry.width, geometry.height};
}

/// What a metric can show of where a picture is bad (contract/map.hpp).
struct MapSpec {
    std::string_view what; ///< what a value is, e.g. "1 - ssim"
    double white = 1.0;    ///< the value that is painted white, or hottest; 0 is black
    /// Precondition: qc::validate() succeeded. Never null; a value for each sample, unless something else is said.
    MapShape (*shape)(const FrameGeometry&, const OptionValues&) = map_of_samples;
    /// Its kernels mark each tile of DeviceMap that is blank, and each that is not. Its values are those of samples.
    bool marks_blanks = false;
};

/// Luma samples.
struct PictureSize {
    int width = 1, height = 1;
};

/// Everything the engine, the tests and the documentation know about a metric.
struct MetricDescriptor {
    std::string_view name;    ///< libvmaf's extractor name: "vif"
    std::string_view summary; ///< one line for help texts
    /// What `metrics` and `options` accept beside the name, FFmpeg's usual word: "ssim" for float_ssim. Empty: nothing.
    /// Metrics may share one: it then means all of them. It goes before another metric's name, which then needs one
    /// too.
    std::string_view short_name{};
    /// An example for developers: built for the tests, never part of metrics=all.
    bool is_example = false;
    Scope scope = Scope::kPair;
    /// Luma of this many earlier reference frames is needed, at most kMaxHistory.
    int history = 0;
    /// Whether an instance needs the chroma of those frames as well (Scope::kReference only); null: none does. It then
    /// needs chroma, whatever needs_chroma says.
    bool (*needs_chroma_history)(const OptionValues&) = nullptr;
    /// Luma of this many earlier frames of the distorted picture is needed (Scope::kPair only), at most kMaxHistory.
    int distorted_history = 0;
    /// All planes of this many earlier pairs are needed (Scope::kPair only), at most kMaxEarlierPairs; null: of none.
    /// Goes with needs_chroma.
    int (*earlier_pairs)(const FrameGeometry&, const OptionValues&) = nullptr;
    /// Evaluated for every frame even when n_subsample skips frames.
    bool every_frame = false;
    /// Whether that holds with these options only; null: it does not.
    bool (*every_frame_with)(const OptionValues&) = nullptr;
    bool needs_chroma = false;
    /// Reads the geometry's colour tags: sessions whose renditions are tagged differently are refused.
    bool uses_colour = false;
    /// Takes pictures whose planes are G, B, R as well (FrameGeometry::rgb).
    bool accepts_rgb = false;
    /// Scores samples by their weights (FrameGeometry::has_weights), which pairs and references carry.
    bool accepts_weights = false;
    BackendBound backend_bound{};
    /// Its kernels are few thread blocks that run for long. The CUDA backend begins with it, and the other metrics fill
    /// the GPU beside it.
    bool few_blocks = false;
    /// On a GPU it takes a fifth or more of the time that decoding a pair takes: front ends hold more frames then, and
    /// the CUDA backend lays the other metrics out beside it.
    bool takes_long = false;
    /// Score names carry a suffix made of the non-default options that have an alias.
    bool templated_names = false;
    std::span<const OptionSpec> options;
    std::span<const OutputSpec> outputs;
    std::span<const StreamScoreSpec> stream_scores{};
    /// Has no scores for pictures without chroma planes.
    bool requires_chroma = false;
    int largest_depth = 16; ///< bits per sample
    /// The smallest picture that has scores, where it is the same whatever the options and the chroma subsampling.
    PictureSize smallest{};
    /// Where it is not; null: `smallest`.
    PictureSize (*smallest_picture)(const FrameGeometry&, const OptionValues&) = nullptr;
    /// Refuses what only this metric knows to be undefined (combinations of options, sizes that no minimum describes),
    /// in one clear line that begins with the metric's name. Has no effects. Null: nothing more to refuse.
    Status (*validate)(const FrameGeometry&, const OptionValues&) = nullptr;
    /// Precondition of both: qc::validate() succeeded. Never null.
    std::unique_ptr<Scorer> (*create_scorer)(const FrameGeometry&, const OptionValues&) = nullptr;
    std::unique_ptr<Finaliser> (*create_finaliser)(const FrameGeometry&, const OptionValues&) = nullptr;
    /// Names what the accumulators hold, e.g. "sse". Instances of a session that give the same name, of this metric or
    /// of another, fill their accumulators with the same words, and those of "sse+chroma" begin with those of "sse":
    /// one of them computes the words, all finalise from them. Null, or an empty name: shared with nobody. Scope and
    /// both histories of those that share must be equal. So whatever changes a word has to show in the name.
    std::string (*stage)(const FrameGeometry&, const OptionValues&) = nullptr;
    /// Null: it has no map. Scope::kPair only.
    const MapSpec* map = nullptr;
};

/// Whether a metric has scores for such pictures with these options: what holds for every metric (planes, depth, size),
/// then its own validate().
/// @return QC_ERROR_UNSUPPORTED for planes or depths that it does not take, QC_ERROR_INVALID for pictures that are too
///         small and for options that contradict each other or the pictures
Status validate(const MetricDescriptor& metric, const FrameGeometry& geometry, const OptionValues& options);

inline PictureSize smallest_picture(const MetricDescriptor& metric, const FrameGeometry& geometry,
                                    const OptionValues& options) {
    return metric.smallest_picture != nullptr ? metric.smallest_picture(geometry, options) : metric.smallest;
}

inline int earlier_pairs(const MetricDescriptor& metric, const FrameGeometry& geometry, const OptionValues& options) {
    return metric.earlier_pairs != nullptr ? metric.earlier_pairs(geometry, options) : 0;
}

inline bool evaluates_every_frame(const MetricDescriptor& metric, const OptionValues& options) {
    return metric.every_frame || (metric.every_frame_with != nullptr && metric.every_frame_with(options));
}

inline std::unique_ptr<Scorer> create_scorer(const MetricDescriptor& metric, const FrameGeometry& geometry,
                                             const OptionValues& options) {
    return metric.create_scorer(geometry, options);
}

inline std::unique_ptr<Finaliser> create_finaliser(const MetricDescriptor& metric, const FrameGeometry& geometry,
                                                   const OptionValues& options) {
    return metric.create_finaliser(geometry, options);
}

/// For descriptors: makes a scorer or finaliser that is constructed from geometry and options.
template <class Made, class Base>
std::unique_ptr<Base> make(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<Made>(geometry, options);
}
template <class Made>
constexpr auto make_scorer = make<Made, Scorer>;
template <class Made>
constexpr auto make_finaliser = make<Made, Finaliser>;

} // namespace qc
