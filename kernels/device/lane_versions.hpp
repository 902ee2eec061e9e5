// SPDX-License-Identifier: BSD-2-Clause-Patent
// Passes over vectors of 16-bit words, once for each instruction set. No header like others: a source includes it once,
// with QC_LANE_PASSES naming the file that has the passes, and finds them in the namespaces avx2 and avx512. The file
// sees a type Lanes (device/word_lanes.hpp).
#if QC_HAS_WORD_LANES
QC_BEGIN_LANES(QC_AVX2_LANES)
namespace avx2 {
using Lanes = device::Avx2Words;
#include QC_LANE_PASSES
} // namespace avx2
QC_END_LANES

QC_BEGIN_LANES(QC_AVX512_LANES)
namespace avx512 {
using Lanes = device::Avx512Words;
#include QC_LANE_PASSES
} // namespace avx512
QC_END_LANES
#endif
#undef QC_LANE_PASSES
