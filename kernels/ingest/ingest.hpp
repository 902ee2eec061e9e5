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

/// How the samples of a component lie, where eight of them are loaded at once.
enum RecodeOrder : uint8_t {
    kScattered,    ///< they are not: each is read by itself
    kSideBySide,   ///< from a multiple of eight samples on, and so are rows
    kFirstOfPair,  ///< every other one, from a multiple of eight pairs on, and so are rows
    kSecondOfPair, ///< likewise, behind another component's
    kInPixels      ///< beside those of the other components: RecodeJob::pixels
};

/// A component whose samples are recoded, as it lies in memory.
struct RecodeSource {
    const uint8_t* data; ///< its first sample
    uint32_t pitch_bytes;
    int32_t columns, rows; ///< once samples are repeated
    SampleSource samples;
    uint8_t repeat_across, repeat_down; ///< as in ConvertJob
    uint8_t order;                      ///< RecodeOrder
    uint8_t reserved;
};

/// A plane that is made of them, at a multiple of 16 bytes, and so are its rows.
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
    int32_t pixel_bytes;   ///< where all components lie in pixels: 3, 4, 6 or 8; 0: otherwise
    const uint8_t* pixels; ///< of kInPixels the first of them, at a multiple of 16 bytes, and so are rows
};

/// The kernels that recode. Each leaves the jobs of the others.
enum RecodeWork : int32_t {
    kMapNarrow, ///< planes by themselves; sums are of 32 bits
    kMapWide,
    kYuvOfBytes, ///< sums are of 32 bits, and so are those of words
    kYuvOfWords,
    kYuvWide,
    kRgbOfBytes,
    kRgbOfWords,
    kRecodeWorks ///< how many there are
};

/// Which of them does a job.
QC_HD RecodeWork work_of(const RecodeJob& job) {
    const bool is_narrow = job.recoding.is_narrow != 0, has_bytes = job.source[0].samples.bytes == 1;
    switch (job.recoding.kind) {
    case kRecodePlanes:
        return is_narrow ? kMapNarrow : kMapWide;
    case kRecodeToYuv:
        return !is_narrow ? kYuvWide : has_bytes ? kYuvOfBytes : kYuvOfWords;
    default:
        return has_bytes ? kRgbOfBytes : kRgbOfWords;
    }
}

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

} // namespace qc
