// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures whose samples are recoded: which samples a thread makes. Each warp goes down a piece of 256 columns, eight
// of them a thread. Blocks copy what the job says to shared memory first, so that they wait for it once.
#pragma once

#include "device/kernel_list.hpp"
#include "ingest/recode_planes.hpp"
#include "ingest/recode_to_rgb.hpp"
#include "ingest/recode_to_yuv.hpp"

namespace qc {

struct RecodeArguments {
    const RecodeJob* jobs;
};

namespace recode {

constexpr int kWarpColumns = kStrip * device::kWarpSize, kWarps = kIngestBlock / device::kWarpSize;

/// Rows that a warp makes: enough for what it waits for once to be worth it.
QC_HD constexpr int rows_of_warp(RecodeWork work) {
    return work == kRgbOfBytes || work == kRgbOfWords ? 16 : 8;
}
QC_HD constexpr int rows_of_block(RecodeWork work) {
    return rows_of_warp(work) * kWarps;
}

/// Bounds the registers of a thread.
constexpr int least_blocks(RecodeWork work) {
    return work == kMapNarrow ? 4 : work == kMapWide || work == kYuvOfBytes ? 3 : 2;
}

QC_HD int pieces(int count, int size) {
    return (count + size - 1) / size;
}

/// What a warp makes of a picture: all planes, or, where each is recoded by itself, one.
struct Piece {
    int plane, x, first, end; ///< rows
};

QC_HD bool has_planes_apart(const RecodeJob& job) {
    return job.recoding.kind == kRecodePlanes && job.pixel_bytes == 0;
}

/// Blocks across, and down: of planes apart chroma lies below luma, Cr beside Cb where there is room.
QC_HD int chroma_begins_at(const RecodeJob& job, int rows) {
    return pieces(job.target[0].rows, rows);
}
QC_HD bool has_chroma_abreast(const RecodeJob& job, int blocks_across) {
    return 2 * pieces(job.target[1].columns, kWarpColumns) <= blocks_across;
}

/// Rows of blocks that a picture takes in a grid so wide.
QC_HD int blocks_down(const RecodeJob& job, int blocks_across) {
    const int rows = rows_of_block(work_of(job)), luma = chroma_begins_at(job, rows);
    if (!has_planes_apart(job) || job.recoding.target_planes == 1) return luma;
    return luma + (has_chroma_abreast(job, blocks_across) ? 1 : 2) * pieces(job.target[1].rows, rows);
}
QC_HD int blocks_across(const RecodeJob& job) {
    return pieces(job.target[0].columns, kWarpColumns);
}

template <RecodeWork kWork, class Block>
QC_HD Piece piece_of(Block& block, const RecodeJob& job) {
    constexpr int kRows = rows_of_block(kWork);
    int plane = 0, across = block.x(), down = block.y();
    const int begin = chroma_begins_at(job, kRows);
    if (has_planes_apart(job) && down >= begin) {
        const int columns = pieces(job.target[1].columns, kWarpColumns), rows = pieces(job.target[1].rows, kRows);
        down -= begin;
        const bool is_abreast = has_chroma_abreast(job, block.grid_x());
        const bool is_second = is_abreast ? across >= columns : down >= rows;
        if (is_second && is_abreast) across -= columns;
        if (is_second && !is_abreast) down -= rows;
        plane = is_second ? 2 : 1;
    }
    Piece piece{plane, across * kWarpColumns + block.lane() * kStrip,
                (down * kWarps + block.warp()) * rows_of_warp(kWork), 0};
    const int end = piece.first + rows_of_warp(kWork), rows = job.target[plane].rows;
    piece.end = end < rows ? end : rows;
    if (plane >= job.recoding.target_planes) piece.end = 0;
    return piece;
}

/// Whether the strips of a picture can be loaded at once.
QC_HD bool has_strips(const RecodeJob& job) {
    bool has = true;
    QC_UNROLL for (int q = 0; q < 3; ++q) has =
        has && (q >= job.recoding.source_planes || job.source[q].order != kScattered);
    return has;
}

template <typename Sum>
QC_HD void map(const RecodeJob& job, const Piece& piece, int behind, bool is_whole) {
    const bool is_apart = has_planes_apart(job);
    if (is_whole && !is_apart && has_strips(job)) return map_pixels<Sum>(job, piece.x, piece.first, piece.end);
    if (is_whole && is_apart && job.source[piece.plane].order != kScattered)
        return map_plane<Sum>(job, piece.plane, piece.x, piece.first, piece.end);
    const int last = is_apart ? piece.plane : job.recoding.target_planes - 1;
    QC_NO_UNROLL for (int p = piece.plane; p <= last; ++p) Cells<Sum>{job}.map(p, piece.x, behind, piece.first,
                                                                               piece.end);
}

template <typename Sum, int kBytes>
QC_HD void make_yuv(const RecodeJob& job, const Piece& piece, int behind, bool is_whole) {
    if (is_whole && has_strips(job)) return make_yuv<Sum, kBytes>(job, piece.x, piece.first, piece.end);
    Cells<Sum>{job}.make_yuv(piece.x, behind, piece.first, piece.end);
}

template <int kBytes>
QC_HD void make_rgb(const RecodeJob& job, const Piece& piece, int behind, bool is_whole) {
    const bool has_chroma = job.recoding.source_planes > 1 && job.recoding.target_planes > 1;
    const bool is_usual = job.recoding.grow_across.halved != 0 || job.recoding.grow_down.halved == 0;
    if (is_whole && has_chroma && is_usual && has_strips(job))
        return make_rgb<kBytes>(job, piece.x, piece.first, piece.end);
    Cells<int64_t>{job}.make_rgb(piece.x, behind, piece.first, piece.end);
}

} // namespace recode

/// Does its jobs, and leaves the others. grid: (blocks_across(), blocks_down(), jobs)
template <RecodeWork kWork>
struct Recode : device::KernelOf<RecodeArguments, kIngestBlock, recode::least_blocks(kWork)> {
    template <class Block>
    QC_HD static void run(Block& block, const RecodeArguments& arguments) {
        RecodeJob& job = device::shared<RecodeJob>(block);
        constexpr int kWords = sizeof(RecodeJob) / sizeof(uint32_t);
        static_assert(kWords <= kIngestBlock && sizeof(RecodeJob) % sizeof(uint32_t) == 0);
        if (block.thread() < kWords)
            reinterpret_cast<uint32_t*>(&job)[block.thread()] =
                reinterpret_cast<const uint32_t*>(arguments.jobs + block.z())[block.thread()];
        block.sync();
        if (work_of(job) != kWork) return;
        const recode::Piece piece = recode::piece_of<kWork>(block, job);
        const int columns = job.target[piece.plane].columns;
        if (piece.first >= piece.end || piece.x >= columns) return;
        const bool is_whole = piece.x + recode::kStrip <= columns;
        const int behind = is_whole ? piece.x + recode::kStrip : columns;
        if constexpr (kWork == kMapNarrow) recode::map<int32_t>(job, piece, behind, is_whole);
        if constexpr (kWork == kMapWide) recode::map<int64_t>(job, piece, behind, is_whole);
        if constexpr (kWork == kYuvOfBytes) recode::make_yuv<int32_t, 1>(job, piece, behind, is_whole);
        if constexpr (kWork == kYuvOfWords) recode::make_yuv<int32_t, 2>(job, piece, behind, is_whole);
        if constexpr (kWork == kRgbOfBytes) recode::make_rgb<1>(job, piece, behind, is_whole);
        if constexpr (kWork == kRgbOfWords) recode::make_rgb<2>(job, piece, behind, is_whole);
        if constexpr (kWork == kYuvWide) {
            if (job.source[0].samples.bytes == 1)
                recode::make_yuv<int64_t, 1>(job, piece, behind, is_whole);
            else
                recode::make_yuv<int64_t, 2>(job, piece, behind, is_whole);
        }
    }
};

} // namespace qc
