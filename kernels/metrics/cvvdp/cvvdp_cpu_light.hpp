// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of one input's filtered channels at full size: from the codes of all frames under the filters, in one pass.
#pragma once

#include "metrics/cvvdp/cvvdp_colour.hpp"
#include "metrics/cvvdp/cvvdp_cpu_frames.hpp"

namespace qc::cvvdp {

/// How much of a frame is in each filtered channel, in single precision.
struct RowWeights {
    float of[kChannels];
};

/// From codes to channels for displays with sRGB's curve, in single precision: constants of one input.
struct LightConstants {
    float luma_scale, luma_offset, lowest_chroma, highest_chroma, chroma_scale, chroma_offset;
    float red_cr, green_cb, green_cr, blue_cb;
    float opponent[kColours][3]; ///< of relative light
    float darkest; ///< signal; as good as 0, which compilers would make a case of its own, were they to know it
};

/// One input's rows of a target. Thread-safe, but for what lies in Scratch.
class FilteredRows {
public:
    /// What a thread works in.
    struct Scratch {
        std::vector<float> stored, wide[2];                     ///< of chroma
        std::vector<double> colours[kColours], sums[kChannels]; ///< for other curves
    };

    /// @param input 0: the reference, 1: the distorted
    FilteredRows(const FrameGeometry& geometry, const Settings& settings, const LightCurve& curve, int input);

    int width() const { return geometry_.width; }
    /// @param weights of all frames  @param target [channel], rows of the picture's width
    void read(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
              Scratch& scratch, float* const* target) const;

private:
    template <typename Sample>
    void add_frame(const HostPicture& picture, const FrameWeights& weights, int y, Scratch& scratch,
                   float* const* target) const;
    template <typename Sample>
    const float* chroma(const HostPicture& picture, int plane, int y, Scratch& scratch) const;
    void read_any(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
                  Scratch& scratch, float* const* target) const;

    const FrameGeometry geometry_;
    const ColourReader reader_;
    LightConstants constants_{};
    double dark_[kColours]{}; ///< what black adds to each colour
    const bool has_srgb_curve_;
};

} // namespace qc::cvvdp
