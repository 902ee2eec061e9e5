// SPDX-License-Identifier: BSD-2-Clause-Patent
/// Mean CIEDE2000 colour difference of all pixels, on a scale of decibels: 45 - 20 log10(mean). Equals libvmaf 3.2.0's
/// extractor "ciede" to the last bit on the CPU; on CUDA within the descriptor's backend_bound.
///
/// | property      |                                                                                           |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | reads         | all planes; limited range and the matrix of BT.709 are taken for granted, as in libvmaf   |
/// | depth, layout | 8, 10, 12 or 16 bits; 4:2:0, 4:2:2 and 4:4:4; 4:0:0 is refused                            |
/// | smallest size | one chroma sample: 2 x 2 for 4:2:0, 2 x 1 for 4:2:2, 1 x 1 for 4:4:4                      |
/// | chroma        | repeated for the luma samples it covers; a last odd column or row repeats the sample      |
/// |               | before it. libvmaf reads outside its planes there, and takes wrong samples for 4:2:2, so  |
/// |               | these cases have no score to be equal to                                                  |
/// | accumulators  | one word: the sum of the colour differences of all pixels, a double                       |
/// | weights       | a pixel counts by its weight; the second word is the sum of the weights                   |
/// | determinism   | sums of a fixed order: the same bits on every run, batch size and device of a backend     |
/// | scores        | plus infinity for identical pictures; below 0 for very different ones                     |
#pragma once

#include "contract/metric.hpp"
#include "metrics/ciede/ciede_math.hpp"

namespace qc::ciede {

const MetricDescriptor& descriptor();

// ---- CPU reference: the formula as libvmaf computes it, with the C library's functions

/// Colour of a sample triple of `depth` bits.
Lab reference_lab(const Sample& sample, int depth);

/// CIEDE2000 with libvmaf's weights and roundings.
float reference_difference(const Lab& reference, const Lab& distorted);

/// Sum of the colour differences of all pixels, in raster order. Thread-safe.
double score_cpu(const FrameGeometry& geometry, const HostPair& pair);

// ---- the same bits, row by row, vectorised: what the CPU backend runs

/// Pixels that are evaluated together.
constexpr int kRowBlock = 128;

/// Codes of one row, those of chroma repeated for the pixels they cover; whole blocks of them.
struct CodeRows {
    const uint16_t* plane[3];
};

/// What reference_difference() finds in the pixels' reference_lab(), in every bit. Thread-safe.
/// @param blocks of kRowBlock pixels, in the rows and in `differences`
/// @return how many pixels the reference itself was asked for
int difference_row(const CodeRows& reference, const CodeRows& distorted, int blocks, int depth, float* differences);

/// As score_cpu(). Thread-safe.
double score_cpu_rows(const FrameGeometry& geometry, const HostPair& pair);

/// The same under the pair's weights. @param words kWeightedWords
void score_weighted_cpu(const FrameGeometry& geometry, const HostPair& pair, std::span<uint64_t> words);

} // namespace qc::ciede
