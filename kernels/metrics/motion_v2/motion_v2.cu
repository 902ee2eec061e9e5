// SPDX-License-Identifier: BSD-2-Clause-Patent
// motion_v2 on the GPU: motion's kernels.
#include "families/motion/motion_kernels.cuh"
