// SPDX-License-Identifier: BSD-2-Clause-Patent
// Motion on the GPU: entry points.
#include "families/motion/motion_kernels.cuh"
