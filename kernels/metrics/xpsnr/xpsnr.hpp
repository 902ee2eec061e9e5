// SPDX-License-Identifier: BSD-2-Clause-Patent
/// XPSNR: PSNR whose squared errors are weighted, block by block, by how visible they are, which is the less the busier
/// the reference's luma is in space and time (Helmrich et al., "XPSNR: a low-complexity extension of the perceptually
/// weighted peak signal-to-noise ratio for high-resolution video quality assessment", ICASSP 2020). Defined as FFmpeg's
/// filter "xpsnr" (7.1 and newer) computes it.
///
/// | property      |                                                                                                |
/// |---------------|------------------------------------------------------------------------------------------------|
/// | reads         | all samples of all planes, luma of two earlier reference frames; of RGB, G stands for luma     |
/// | depth, layout | 8 to 16 bits, any layout                                                                       |
/// | smallest size | 1 x 1; below about 2025 samples blocks vanish and all weights are 1; a picture too small to    |
/// |               | have chroma samples gives luma only                                                            |
/// | accumulators  | per block (about 510, whatever the size): activities in space and time, squared error of each  |
/// |               | plane; weights and weighted sums are made of them on the host                                  |
/// | with weights  | more words per block: the squared error of each plane by its samples' weights, and their sum   |
/// | determinism   | integer sums: the same bits on every run, device and backend                                   |
/// | in time       | history begins with black: the first frames count as busy                                      |
/// | aggregates    | axpsnr_*: of all frames, by the mean of the square roots; axpsnr_min: the lowest of them       |
///
/// Not copied from FFmpeg, where it reads outside the picture or drops a sum (pictures larger than 2048x1152 with a
/// last column of blocks at most 14 wide, or of odd size): all cells count, the edge sample repeats itself in space,
/// and only samples inside the picture count in time.
#pragma once

#include <array>
#include <vector>

#include "contract/metric.hpp"
#include "metrics/xpsnr/xpsnr_plan.hpp"

namespace qc::xpsnr {

const MetricDescriptor& descriptor();

/// CPU reference: fills the words of all blocks. Thread-safe.
void score_cpu(const BlockPlan& plan, bool second_order, SampleType sample, const HostPair& pair,
               std::span<uint64_t> accumulators);

/// Weighted squared error of each plane, rounded to an integer.
using WeightedErrors = std::array<uint64_t, 3>;

/// Makes weighted errors of pictures' words.
class Weighting {
public:
    explicit Weighting(const BlockPlan& plan);
    /// With weights those of a picture that is everywhere as it is, in the mean, by its weights.
    /// Precondition: no plane lacks weight.
    WeightedErrors errors(std::span<const uint64_t> accumulators);
    /// Whether the weights leave nothing of some plane.
    bool lacks_weight(std::span<const uint64_t> accumulators) const;

private:
    /// Samples of a block that activities are measured on; 0 where there is none and the weight is 1.
    struct Areas {
        double space, time;
    };
    void smooth();
    /// Of a plane's samples; without weights 1.
    double mean_weight(std::span<const uint64_t> accumulators, int plane) const;

    const BlockPlan plan_;
    double scale_; ///< of all weights: a picture of average activity has an XPSNR near its PSNR
    double floor_; ///< of activities
    std::vector<Areas> areas_;
    std::vector<double> weights_; ///< of the picture at hand
};

} // namespace qc::xpsnr
