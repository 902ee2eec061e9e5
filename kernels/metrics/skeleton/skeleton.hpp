// SPDX-License-Identifier: BSD-2-Clause-Patent
// The metric to clone: mean absolute difference of luma. It is built and tested like every other, but not shipped.
#pragma once

#include "contract/metric.hpp"

namespace qc::skeleton {

const MetricDescriptor& descriptor();

} // namespace qc::skeleton
