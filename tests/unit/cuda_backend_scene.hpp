// SPDX-License-Identifier: BSD-2-Clause-Patent
// A CUDA backend on the recording driver, with metrics that tell which pictures their kernels were given.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/backend.hpp"
#include "tests/device/recording_driver.hpp"
#include "tests/support/pictures.hpp"

namespace qc::test {

/// What a probe writes per evaluation: the code of each picture that it was given, kAbsent or kMixed.
struct ProbeWords {
    uint64_t reference, distorted; ///< distorted: kAbsent in reference scope
    uint64_t earlier_reference[2]; ///< by their luma, one and two frames before
    uint64_t earlier_distorted;    ///< by its luma, one frame before
    uint64_t earlier_chroma;       ///< the reference one frame before, by its chroma
    uint64_t behind_first;         ///< of a pair
    bool operator==(const ProbeWords&) const = default;
};
constexpr uint64_t kAbsent = 1u << 20; ///< no picture
constexpr uint64_t kMixed = 1u << 21;  ///< samples that are not those of one picture

/// Metrics that look at pictures in one way each.
enum class Kind {
    kPair,             ///< pairs
    kPairBlocks,       ///< pairs, few_blocks
    kPairPieces,       ///< pairs, in pieces side by side, takes_long
    kPairEveryFrame,   ///< pairs with chroma, every frame whatever n_subsample
    kReference,        ///< references and the two before them, every frame
    kReferenceChroma,  ///< references and all planes of the one before, every frame
    kDistortedHistory, ///< pairs and the pair before, every frame
};
const MetricDescriptor& probe(Kind kind);

/// A picture of one code, 1..253: luma `code`, Cb one more, Cr two more, all times four at 10 bits. Code 0: absent.
class FlatPicture {
public:
    FlatPicture(const qc_format& format, int code, qc_memory memory, void* producer = nullptr);
    const qc_picture& view() const { return view_; }

private:
    std::optional<TestPicture> picture_;
    qc_picture view_{};
};

/// A small picture's: "yuv420p", "nv12", "yuv420p10" or "p010".
qc_format flat_format(const std::string& name);

/// A driver, a backend and the frames that it was given. One at a time.
class Scene {
public:
    /// @param config formats, renditions, batch, slots and n_threads are set
    Scene(const qc_config& config, const std::vector<Kind>& metrics);
    ~Scene();

    Status create();
    Backend& backend() { return *backend_; }
    RecordingDriver& driver() { return driver_; }

    /// Submits the next frame, by the codes of its pictures.
    Status submit(int reference, const std::vector<int>& distorted, qc_memory memory = QC_MEMORY_HOST,
                  void* producer = nullptr);
    /// @return whether there was a finished frame
    bool poll(bool wait, FrameResult* result, Status* status = nullptr);
    ProbeWords words(const FrameResult& result, size_t metric, int rendition) const;

    /// By frame, how often its release was called.
    const std::vector<int>& released() const { return released_; }
    /// Work that was under way on the device when a frame was released last.
    size_t unfinished_at_release(size_t frame) const { return unfinished_[frame]; }
    qc_stats stats() const;
    /// Destroys the backend. @return the calls that took
    std::vector<std::string> close();

private:
    struct Release {
        Scene* scene;
        int frame;
    };

    qc_config config_;
    ScorePlan plan_;
    std::vector<std::unique_ptr<Scorer>> scorers_;
    std::unique_ptr<AccumulatorLayout> layout_;
    BackendSetup setup_;
    RecordingDriver driver_;
    std::deque<FlatPicture> pictures_; ///< kept, so that a late read shows
    int submitted_ = 0;
    std::vector<int> released_;
    std::vector<size_t> unfinished_; ///< see unfinished_at_release()
    std::vector<std::unique_ptr<Release>> releases_;
    std::unique_ptr<Backend> backend_; ///< last: uses everything above
};

} // namespace qc::test
