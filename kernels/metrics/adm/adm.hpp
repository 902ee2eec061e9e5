// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer ADM (libvmaf's extractor "adm"): detail loss (adm2, and per scale), additive impairment (aim) and their blend
// (adm3) of the luma plane.
//
//   pictures       luma only; 8 to 16 bits; at least 33x33
//   options        those of libvmaf's "adm"; a display and distance below 3 heights of 1080 lines is refused, and so
//                  is a display that csf modes 2 and 3 have no table for
//   accumulators   4 levels x 9 words: h, v, d of the detail numerator, of the denominator, of the impairment
//                  numerator; rows are rounded when complete, so the words do not depend on any order of summation;
//                  with weights the sum of the scored coefficients' weights of each level follows
//   map            detail lost or masked at each place of scale 0, or of 1 without it; see draw_cpu() in adm_cpu.hpp
//   determinism    bit-equal on every device, for every batch size
#pragma once

#include "contract/metric.hpp"

namespace qc::adm {

const MetricDescriptor& descriptor();

} // namespace qc::adm
