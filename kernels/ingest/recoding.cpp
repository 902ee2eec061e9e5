// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/recoding.hpp"

#include <cmath>

namespace qc {
namespace {

/// Shares of red and blue in luma.
struct LumaShares {
    double red, blue;
};

LumaShares shares_of(int matrix) {
    switch (matrix) {
    case 4: // FCC
        return {0.30, 0.11};
    case 5: // BT.470BG and SMPTE 170M: BT.601
    case 6:
        return {0.299, 0.114};
    case 7: // SMPTE 240M
        return {0.212, 0.087};
    case 9: // BT.2020
        return {0.2627, 0.0593};
    default:
        return {0.2126, 0.0722};
    }
}

/// Samples of luma, or of red, green and blue: black, and how far white is from it. Of chroma: zero, and how far its
/// extremes are apart.
struct Codes {
    int zero, span;
};

Codes luma_codes(const Coding& coding) {
    const int step = 1 << (coding.depth - 8);
    return coding.full ? Codes{0, (1 << coding.depth) - 1} : Codes{16 * step, 219 * step};
}

Codes chroma_codes(const Coding& coding) {
    const int step = 1 << (coding.depth - 8);
    return {128 * step, coding.full ? (1 << coding.depth) - 1 : 224 * step};
}

constexpr int kPlaneBits = 20, kMixBits = 16, kWideBits = 22, kToRgbBits = 20;
constexpr int kDeepestNarrow = 10;

/// Makes a recoding plane by plane.
class Maker {
public:
    Maker(const Coding& from, const Coding& to, int planes) : from_(from), to_(to) {
        made_.kind = from.rgb == to.rgb ? kRecodePlanes : to.rgb ? kRecodeToRgb : kRecodeToYuv;
        made_.target_planes = planes;
        made_.source_planes = from.rgb || from.has_chroma ? 3 : 1;
        if (made_.kind == kRecodePlanes) made_.source_planes = planes;
        made_.brightest = (1 << to.depth) - 1;
        const bool is_narrow = from.depth <= kDeepestNarrow && to.depth <= kDeepestNarrow && !to_rgb();
        made_.is_narrow = is_narrow ? 1 : 0;
        bits_ = to_rgb() ? kToRgbBits : !is_narrow ? kWideBits : made_.kind == kRecodePlanes ? kPlaneBits : kMixBits;
    }

    Recoding make() {
        for (int p = 0; p < made_.target_planes; ++p) {
            made_.shift[p] = bits_;
            if (made_.kind == kRecodePlanes)
                map_plane(p);
            else if (to_rgb())
                mix_rgb(p);
            else if (p == 0)
                mix_luma();
            else
                mix_chroma(p);
        }
        made_.shrink_across = shrink_axis(to_.halved_across, to_.chroma_location, kAcross);
        made_.shrink_down = shrink_axis(to_.halved_down, to_.chroma_location, kDown);
        made_.grow_across = grow_axis(from_.halved_across, from_.chroma_location, kAcross);
        made_.grow_down = grow_axis(from_.halved_down, from_.chroma_location, kDown);
        return made_;
    }

private:
    enum Direction { kAcross, kDown };
    /// Where chroma lies beside the luma samples that share it: with the first, between them, with the second.
    enum Site { kFirst, kBetween, kSecond };

    bool to_rgb() const { return to_.rgb && !from_.rgb; }
    int32_t rounded(double weight) const { return static_cast<int32_t>(std::llround(std::ldexp(weight, bits_))); }
    int64_t half(int p) const { return int64_t{1} << (made_.shift[p] - 1); }
    static int64_t scaled(int value, int bits) { return static_cast<int64_t>(value) * (int64_t{1} << bits); }

    void map_plane(int p) {
        const bool is_chroma = p > 0 && !from_.rgb;
        const Codes source = is_chroma ? chroma_codes(from_) : luma_codes(from_);
        const Codes target = is_chroma ? chroma_codes(to_) : luma_codes(to_);
        if (from_.full && to_.full) return deepen_plane(p, is_chroma);
        const int32_t weight = rounded(static_cast<double>(target.span) / static_cast<double>(source.span));
        made_.weight[p][p] = weight;
        made_.offset[p] = scaled(target.zero, bits_) - int64_t{weight} * source.zero + half(p);
    }

    /// Full range stays full range. Bits are repeated below, so the largest sample is the largest again; of chroma,
    /// whose middle has to stay the middle, they are 0.
    void deepen_plane(int p, bool is_chroma) {
        const int shift = to_.depth - from_.depth;
        const double repeated = is_chroma ? 0.0 : std::ldexp(1.0, shift - from_.depth);
        made_.weight[p][p] = rounded(std::ldexp(1.0, shift) + repeated); // exact, and so nothing is rounded
    }

    void mix_luma() {
        const auto [red, blue] = shares_of(to_.matrix);
        const Codes source = luma_codes(from_), target = luma_codes(to_);
        const double ratio = static_cast<double>(target.span) / static_cast<double>(source.span);
        const int32_t all = rounded(ratio), of_red = rounded(ratio * red), of_blue = rounded(ratio * blue);
        set(0, all - of_red - of_blue, of_blue, of_red);
        made_.offset[0] = scaled(target.zero, bits_) - int64_t{all} * source.zero + half(0);
    }

    void mix_chroma(int p) {
        const auto [red, blue] = shares_of(to_.matrix);
        const double ratio = static_cast<double>(chroma_codes(to_).span) / static_cast<double>(luma_codes(from_).span);
        const double own = p == 1 ? blue : red, other = p == 1 ? red : blue;
        const int32_t of_own = rounded(0.5 * ratio), of_other = rounded(-0.5 * ratio * other / (1.0 - own));
        const int32_t of_green = -of_own - of_other; // so gray has no colour
        set(p, of_green, p == 1 ? of_own : of_other, p == 1 ? of_other : of_own);
        made_.shift[p] = bits_ + kShrinkBits;
        made_.offset[p] = scaled(chroma_codes(to_).zero, made_.shift[p]) + half(p);
    }

    /// Planes of the target: green, blue, red.
    void mix_rgb(int p) {
        const auto [red, blue] = shares_of(from_.matrix);
        const double green = 1.0 - red - blue;
        const Codes source = luma_codes(from_), target = luma_codes(to_), chroma = chroma_codes(from_);
        const double luma_ratio = static_cast<double>(target.span) / static_cast<double>(source.span);
        const double ratio = static_cast<double>(target.span) / static_cast<double>(chroma.span);
        double cb = 0.0, cr = 0.0;
        if (p == 0) {
            cb = -2.0 * blue * (1.0 - blue) / green;
            cr = -2.0 * red * (1.0 - red) / green;
        } else if (p == 1) {
            cb = 2.0 * (1.0 - blue);
        } else {
            cr = 2.0 * (1.0 - red);
        }
        const bool coloured = made_.source_planes > 1;
        set(p, rounded(luma_ratio), coloured ? rounded(cb * ratio) : 0, coloured ? rounded(cr * ratio) : 0);
        const int32_t* const weight = made_.weight[p];
        made_.shift[p] = bits_ + kGrowBits;
        made_.offset[p] = half(p) + scaled(target.zero, made_.shift[p]) -
                          scaled(1, kGrowBits) * (int64_t{weight[0]} * source.zero +
                                                  (int64_t{weight[1]} + int64_t{weight[2]}) * chroma.zero);
    }

    void set(int p, int32_t first, int32_t second, int32_t third) {
        made_.weight[p][0] = first;
        made_.weight[p][1] = second;
        made_.weight[p][2] = third;
    }

    /// By qc_colour's chroma locations; not known: left.
    static Site site(int location, Direction direction) {
        enum { kLeft = 1, kCentre, kTopLeft, kTop, kBottomLeft, kBottom };
        if (direction == kAcross)
            return location == kCentre || location == kTop || location == kBottom ? kBetween : kFirst;
        if (location == kTopLeft || location == kTop) return kFirst;
        return location == kBottomLeft || location == kBottom ? kSecond : kBetween;
    }

    static ShrinkAxis shrink_axis(bool halved, int location, Direction direction) {
        if (!halved) return {1, 0, {4, 0, 0}};
        switch (site(location, direction)) {
        case kFirst:
            return {2, -1, {1, 2, 1}};
        case kSecond:
            return {2, 0, {1, 2, 1}};
        default:
            return {2, 0, {2, 2, 0}};
        }
    }

    static GrowAxis grow_axis(bool halved, int location, Direction direction) {
        if (!halved) return {0, 0};
        return {1, static_cast<int32_t>(site(location, direction))};
    }

    const Coding &from_, &to_;
    int bits_ = 0;
    Recoding made_{};
};

} // namespace

bool knows_matrix(int code) {
    return code == 1 || (code >= 4 && code <= 7) || code == 9;
}

bool needs_recoding(const Coding& from, const Coding& to) {
    if (from.rgb != to.rgb || from.full != to.full) return true;
    return from.full && from.depth != to.depth;
}

Recoding make_recoding(const Coding& from, const Coding& to, int planes) {
    return Maker(from, to, planes).make();
}

} // namespace qc
