// SPDX-License-Identifier: BSD-2-Clause-Patent
/// The extractor "motion_v2" that a fork of libvmaf has: the arithmetic and the rules over time of "motion"
/// (families/motion has both), other names of the scores, no debug score and no five-frame window. In a session with
/// "motion" the sums are computed once.
#pragma once

#include "contract/metric.hpp"

namespace qc::motion_v2 {

const MetricDescriptor& descriptor();

} // namespace qc::motion_v2
