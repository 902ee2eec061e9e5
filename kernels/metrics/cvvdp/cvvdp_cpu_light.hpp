// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of one input's filtered channels at full size: from the codes of all frames under the filters, in one pass.
#pragma once

#include <type_traits>

#include "device/row_store.hpp"
#include "metrics/cvvdp/cvvdp_colour.hpp"
#include "metrics/cvvdp/cvvdp_cpu_frames.hpp"

namespace qc::cvvdp {

/// How much of a frame is in each filtered channel, in single precision.
struct RowWeights {
    float of[kChannels];
};

/// From codes to colours for displays with sRGB's curve, in single precision: constants of one input. What the curve
/// takes the power of, (signal + 0.055) / 1.055, is made of codes at once, and colours are as many times too small as
/// `scale` says, which the filters' weights make good.
struct LightConstants {
    float luma_scale, luma_offset; ///< of luma, or of R, G and B
    float darkest, brightest;      ///< what 0 and 1 come to
    int lowest_chroma, grey, highest_chroma;
    float red_cr, green_cb, green_cr, blue_cb; ///< of sixteen times a code
    float opponent[kColours][2];               ///< of relative red and green light; of blue it is 1
    double scale[kColours];
};

/// Sixteen times a chroma code, grey being 0: a whole number in any case.
template <typename Sample>
using WideChroma = std::conditional_t<sizeof(Sample) == 1, int16_t, float>;

/// A row of a frame's codes, and for colour chroma at the places of luma, as WideChroma has it.
template <typename Sample>
struct CodeRow {
    const Sample* plane[3];
    const WideChroma<Sample>* chroma[2];
};

/// Columns whose colours of all frames fit into a core's first cache.
constexpr int kRunColumns = 256;

/// One input's rows of a target. Thread-safe, except for what lies in Scratch.
class FilteredRows {
public:
    template <typename Sample>
    struct FrameRows {
        device::RowStore<WideChroma<Sample>> stored, wide; ///< of chroma; wide: [Cb or Cr][frame]
        std::vector<CodeRow<Sample>> rows;
    };
    /// What a thread works in.
    struct Scratch {
        FrameRows<uint8_t> bytes;
        FrameRows<uint16_t> words;
        std::vector<RowWeights> weights;                        ///< of the frames that count
        device::RowMemory<float> run;                           ///< [frame][colour][column]
        std::vector<double> colours[kColours], sums[kChannels]; ///< for other curves
    };

    /// @param input 0: the reference, 1: the distorted
    FilteredRows(const FrameGeometry& geometry, const Settings& settings, const LightCurve& curve, int input);

    int width() const { return geometry_.width; }
    /// @param weights of all frames  @param target [channel], rows of the picture, with a margin
    void read(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
              Scratch& scratch, float* const* target) const;

private:
    template <typename Sample>
    void read_codes(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
                    FrameRows<Sample>& codes, Scratch& scratch, float* const* target) const;
    template <typename Sample>
    CodeRow<Sample> codes_of(const HostPicture& picture, int y, FrameRows<Sample>& codes, int frame) const;
    template <typename Sample>
    const WideChroma<Sample>* chroma(const HostPicture& picture, int plane, int y, FrameRows<Sample>& codes,
                                     int frame) const;
    template <typename Sample>
    void convert_run(const CodeRow<Sample>& row, int first, int width, float* colours) const;
    RowWeights dark_of(std::span<const FrameWeights> weights) const;
    void read_any(std::span<const HostPicture* const> frames, std::span<const FrameWeights> weights, int y,
                  Scratch& scratch, float* const* target) const;

    const FrameGeometry geometry_;
    const ColourReader reader_;
    LightConstants constants_{};
    double dark_[kColours]{}; ///< what black adds to each colour of a frame
    const bool has_srgb_curve_;
};

} // namespace qc::cvvdp
