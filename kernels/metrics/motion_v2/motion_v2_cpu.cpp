// SPDX-License-Identifier: BSD-2-Clause-Patent
// motion_v2 on the CPU is motion on the CPU: motion/motion_cpu.cpp.
#include "metrics/motion_v2/motion_v2.hpp"
