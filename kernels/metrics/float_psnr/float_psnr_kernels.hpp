// SPDX-License-Identifier: BSD-2-Clause-Patent
// float_psnr on the GPU, where nothing else sums luma's squared errors.
#pragma once

#include "families/sse/sse_kernels.hpp"
#include "families/sse/sse_weighted_kernels.hpp"

namespace qc::float_psnr {

// Samples of 8 bits, of up to 12, of 16.
#define QC_FLOAT_PSNR_KERNELS(KERNEL)                                                                                  \
    KERNEL(float_psnr_u8, sse::SumLumaTile<uint8_t, uint32_t, sse::Square::kExact>)                                    \
    KERNEL(float_psnr_u16, sse::SumLumaTile<uint16_t, uint32_t, sse::Square::kExact>)                                  \
    KERNEL(float_psnr_u16_rounded, sse::SumLumaTile<uint16_t, uint64_t, sse::Square::kRounded>)                        \
    QC_SSE_WEIGHTED_KERNELS(KERNEL)                                                                                    \
    KERNEL(float_psnr_weighted_rounded, sse::SumWeighted<uint16_t, sse::Square::kRounded>)
QC_DECLARE_KERNELS(QC_FLOAT_PSNR_KERNELS)

} // namespace qc::float_psnr
