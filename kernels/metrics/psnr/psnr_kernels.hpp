// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR on the GPU: sums of squared errors of luma, or of all planes.
#pragma once

#include "families/sse/sse_kernels.hpp"
#include "families/sse/sse_weighted_kernels.hpp"

namespace qc::psnr {

// Samples of 8 bits, of up to 12, of 16.
#define QC_PSNR_KERNELS(KERNEL)                                                                                        \
    KERNEL(psnr_sse_u8, sse::SumTile<uint8_t, uint32_t>)                                                               \
    KERNEL(psnr_sse_u16, sse::SumTile<uint16_t, uint32_t>)                                                             \
    KERNEL(psnr_sse_u16_full, sse::SumTile<uint16_t, uint64_t>)                                                        \
    QC_SSE_WEIGHTED_KERNELS(KERNEL)
QC_DECLARE_KERNELS(QC_PSNR_KERNELS)

} // namespace qc::psnr
