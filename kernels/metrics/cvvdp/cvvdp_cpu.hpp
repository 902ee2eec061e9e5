// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU reference: all of the metric in double precision.
#pragma once

#include <span>
#include <vector>

#include "metrics/cvvdp/cvvdp_colour.hpp"
#include "metrics/cvvdp/cvvdp_cpu_frames.hpp"

namespace qc::cvvdp {

/// A plane of a level, without padding.
struct Image {
    int width = 0, height = 0;
    std::vector<double> samples;

    Image() = default;
    explicit Image(LevelSize size)
        : width(size.width), height(size.height), samples(static_cast<size_t>(size.width) * size.height) {}
    double* row(int y) { return &samples[static_cast<size_t>(y) * static_cast<size_t>(width)]; }
    const double* row(int y) const { return &samples[static_cast<size_t>(y) * static_cast<size_t>(width)]; }
};

/// One side's channels at one level.
using Channels = std::array<Image, kChannels>;

/// The readable reference, and what draws maps. Thread-safe.
class CpuReference {
public:
    CpuReference(const FrameGeometry& geometry, const Settings& settings);

    /// @param sums of P(D, 2) for every slot, channel and band, as bits; those of slots without a target stay
    void score(const HostPair& pair, HostPast past, std::span<uint64_t> sums) const;
    /// Of slot 0's target: at each sample 1 - JOD / 10. 0 everywhere if the slot has none yet.
    void draw(const HostPair& pair, HostPast past, Plane<float> values) const;

private:
    void score_target(const Frames& frames, const Target& target, std::span<double> sums, Image* map,
                      std::span<const Image> weights) const;
    Channels filtered(std::span<const HostPicture* const> frames, int side,
                      std::span<const FrameWeights> weights) const;

    const FrameGeometry geometry_;
    const Settings settings_;
    const Plan plan_;
    const LightCurve curve_;
    const ColourReader reader_[2]; ///< of the reference, of the distorted
    const TemporalPlan time_;
};

/// Of one frame: [channel][band]. @param reference, distorted level 0; what is in them is lost
/// @param map null, or takes at each sample how many tenths of a JOD's scale are lost there: 1 - JOD / 10
/// @param weights of the places of each level, 1 whole; empty: all are
void score_frame(const Plan& plan, bool fixed_border, Channels reference, Channels distorted, std::span<double> sums,
                 Image* map = nullptr, std::span<const Image> weights = {});

/// Sums of P(D, 2) over the baseband, by channel. @param drawn null, or takes each D
std::array<double, kChannels> pool_baseband(const Plan& plan, const Channels& reference, const Channels& distorted,
                                            Channels* drawn);

} // namespace qc::cvvdp
