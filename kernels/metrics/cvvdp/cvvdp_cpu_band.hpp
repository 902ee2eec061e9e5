// SPDX-License-Identifier: BSD-2-Clause-Patent
// Row functions of the fast CPU version: pyramid, contrast, masking, in single precision. Compiled for several
// instruction sets, the same bits from each.
#pragma once

#include "device/row_powers.hpp"
#include "metrics/cvvdp/cvvdp_plan.hpp"

namespace qc::cvvdp::rows {

/// log2 of how sensitive each channel is at the nodes of luminance, with all factors on contrast.
struct Sensitivity {
    float node[kChannels][kCsfLuminances + 1]; ///< the last one stands twice
};
Sensitivity sensitivity_of(const Plan& plan, int band);

/// distorted - reference, in place of the former.
void subtract(const float* reference, int width, float* distorted);

/// A row of the next level without its border on the right. @param rows five of this level
void reduce_down(const float* const* rows, int width, float* to);
/// @param width of the larger level
void reduce_across(const float* row, int width, const LastColumn& border, float* to);

/// A row between three or two of the coarser level, then along it. @param samples has room for one on both sides
void expand_down(const float* before, const float* here, const float* after, bool odd, int width, float* to);
void expand_across(float* samples, int width, float* to);

/// What the background is, of one row.
struct BackgroundRow {
    float *inverse_r, *inverse_t; ///< 1 / luminance, of the reference, of the distorted
    float* change;                ///< of luminance
    float* part;                  ///< between this node of luminance and the next
    int32_t* node;
};
/// @param light, change achromatic rows of the coarser level, expanded: the reference's, distorted minus reference
void find_background(const float* light, const float* change, int width, const BackgroundRow& to);

/// Rows of a channel: the level and the coarser one, expanded, of the reference and of distorted minus reference.
struct ChannelRows {
    const float *fine, *wide, *fine_change, *wide_change;
};
/// Contrasts of both sides: their difference and what masks it.
void weigh(const ChannelRows& rows, const BackgroundRow& background, const float* nodes, int width, float* difference,
           float* masker);

/// Two rows of maskers, one below the other, blurred downwards: most of what they are made of is the same.
/// @param rows 2 kBlurRadius + 2, of which a single row leaves out the last  @param to_second null: there is none
void blur_down(const float* const* rows, int width, float* to_first, float* to_second);
/// Then along it. @param samples has room for a margin on both sides
void blur_across(float* samples, int width, float* to);

/// Sums of P(D, 2) of a row, by channel. Work on the rows in place.
void pool(float* const* difference, float* const* masker, int width, double* sums);

} // namespace qc::cvvdp::rows
