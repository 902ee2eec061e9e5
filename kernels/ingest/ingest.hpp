// SPDX-License-Identifier: BSD-2-Clause-Patent
// The engine's own kernels: unpacking pictures and lifting them to the session's depth, scaling them, keeping the
// planes that later frames look back at.
#pragma once

#include "contract/types.hpp"
#include "ingest/recoding.hpp"
#include "ingest/sample_source.hpp"
#include "ingest/scaling.hpp"
#include "quality_cuda/types.h"

namespace qc {

/// One component whose samples metrics can't read in place: they become a plane of their own, at the session's depth
/// or, for a scaler, at their own: target = sample << shift_left.
struct ConvertJob {
    const void* source; ///< the component's first sample
    void* target;
    uint32_t source_pitch_bytes, target_pitch_bytes;
    int32_t width, height; ///< of the target
    SampleSource samples;
    uint8_t shift_left;
    uint8_t target_bytes;               ///< 1 or 2
    uint8_t repeat_across, repeat_down; ///< each sample becomes so many, as powers of two
    uint32_t reserved;
};

/// A component whose samples are recoded, as it lies in memory.
struct RecodeSource {
    const uint8_t* data; ///< its first sample
    uint32_t pitch_bytes;
    int32_t columns, rows; ///< once samples are repeated
    SampleSource samples;
    uint8_t repeat_across, repeat_down; ///< as in ConvertJob
    uint16_t is_plain; ///< 1: samples are what lies there, one beside the other, at multiples of four of them
};

/// A plane that is made of them, at a multiple of 8 bytes, and so are its rows.
struct RecodeTarget {
    void* data;
    uint32_t pitch_bytes;
    int32_t columns, rows;
};

/// One picture whose samples are recoded.
struct RecodeJob {
    RecodeSource source[3];
    RecodeTarget target[3];
    Recoding recoding;
    int32_t target_bytes;  ///< of a sample: 1 or 2
    int32_t pixel_bytes;   ///< 3 or 4: pixels of bytes side by side, at multiples of four of them; 0: otherwise
    const uint8_t* pixels; ///< the first of them
};

/// One plane that is scaled.
struct ScalePlane {
    DevicePlane source; ///< its shift is that of the job's arithmetic
    void* target;       ///< planar, at a multiple of 8 bytes, and so are its rows
    uint32_t target_pitch_bytes;
    int32_t width, height; ///< of the target
    ScaleAxis across, down;
};

/// One picture that is scaled, to samples of 8 bits, or of 16 whatever the source's are.
struct ScaleJob {
    ScalePlane plane[3];
    ScaleMath math;
    int32_t planes;
    int32_t tile_height;    ///< target rows that a block makes at once
    uint16_t source_bytes;  ///< of a container: 1 or 2
    uint16_t target_bytes;  ///< of a sample: 1 or 2
    uint16_t short_middles; ///< 1: they fit 16-bit words
    uint16_t reserved;
};

/// Of the kernels that scale.
struct ScaleArguments {
    const ScaleJob* jobs;
};

/// Earlier planes of one input: its luma, or Cb or Cr, in the container its pictures are scored in.
struct HistoryRing {
    void* plane[kMaxHistory]; ///< plane[k]: k + 1 frames before the next batch's first frame
    int32_t depth;            ///< planes in use, 1..kMaxHistory
    uint32_t pitch_bytes;
    int32_t row_bytes; ///< from a row's first sample to its last
    int32_t height;
};

/// The rings of all planes whose past some metric wants.
struct HistoryRings {
    HistoryRing ring[1 + QC_MAX_RENDITIONS + 2]; ///< lumas, then the reference's chroma
    int32_t count;
};

/// One plane of a picture that later frames look back at whole: copied to a planar one.
struct KeepJob {
    DevicePlane source; ///< data null: nothing is copied
    void* target;
    uint32_t target_pitch_bytes;
    int32_t width, height; ///< samples
    int32_t sample_bytes;
};

constexpr int kIngestBlock = 256;

/// Luma samples that a thread recodes: four beside each other in two rows.
constexpr int kRecodeColumns = 4, kRecodeRows = 2;

} // namespace qc
