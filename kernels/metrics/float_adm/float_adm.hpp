// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point ADM (libvmaf's extractor "float_adm"): detail loss (adm2, and per scale), additive impairment (aim)
// and their blend (adm3) of the luma plane.
//
//   pictures       luma only; 8, 10, 12 or 16 bits; at least 17x17
//   options        those of libvmaf's "float_adm"
//   accumulators   4 levels x 9 words: h, v, d of the detail numerator, of the denominator, of the impairment
//                  numerator; each a double that holds a single-precision sum along the rows, then over the rows
//   determinism    sums have the order of libvmaf's: the same bits on every device, for every batch size
//   equals         libvmaf 3.2.0 on an Intel CPU, whose estimate of reciprocals (RCPSS) is part of the definition
#pragma once

#include "contract/metric.hpp"

namespace qc::float_adm {

const MetricDescriptor& descriptor();

} // namespace qc::float_adm
