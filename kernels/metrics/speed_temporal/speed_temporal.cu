// SPDX-License-Identifier: BSD-2-Clause-Patent
// SpEED in time on the GPU: entry points.
#include "families/speed/speed_kernels.cuh"

QC_SPEED_KERNELS(DifferenceSource)
