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

/// Columns of a row: first to end - 1.
struct Columns {
    int first, end;
    int count() const { return end - first; }
};

/// distorted - reference, in place of the former.
void subtract(const float* reference, int width, float* distorted);

/// A row of the next level without its border on the right. @param rows five of this level
void reduce_down(const float* const* rows, int width, float* to);
/// @param width of the larger level  @param columns of the smaller one
void reduce_across(const float* row, int width, const LastColumn& border, const Columns& columns, float* to);

/// A row between three or two of the coarser level, then along it. @param samples has room for one on both sides
/// @param width of the larger level  @param columns of it, the first one even, the last one odd or the row's
void expand_down(const float* before, const float* here, const float* after, bool odd, int width, float* to);
void expand_across(float* samples, int width, const Columns& columns, float* to);

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
           float* mask);

/// A row of masks blurred downwards, then along it. @param rows 2 kBlurRadius + 1
/// @param samples has room for a margin on both sides  @param to the first of the columns
void blur_down(const float* const* rows, int width, float* to);
void blur_across(float* samples, int width, const Columns& columns, float* to);

/// Sums of P(D, 2) of a row, by channel. Work on the rows in place.
void pool(float* const* difference, float* const* mask, int width, double* sums);

} // namespace qc::cvvdp::rows
