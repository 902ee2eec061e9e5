// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where the samples of pictures lie in memory: planar, side by side in pairs, packed into pixels or words. Pure
// arithmetic over formats that were checked (api/picture.hpp).
#pragma once

#include <cstddef>

#include "contract/types.hpp"
#include "ingest/sample_source.hpp"
#include "quality_cuda.h"

namespace qc {

/// Where the samples of one component (luma, Cb, Cr or G, B, R) begin, and how far they are apart.
struct PlaneSource {
    int plane = 0;          ///< of qc_picture
    int step = 1;           ///< distance of samples, in containers
    size_t first_bytes = 0; ///< of the first sample
};
PlaneSource plane_source(const qc_format& format, int component);

/// How they are read from there.
SampleSource sample_source(const qc_format& format, int component);

/// Columns and rows of the samples of one component that a picture holds: of chroma with fewer samples than luma,
/// rounded up. Precondition: it has that component.
struct PlaneExtent {
    int columns, rows;
};
PlaneExtent stored_extent(const qc_format& format, int component);

/// How many planes hold the samples of a picture.
int stored_planes(const qc_format& format);

/// One of these planes as it lies in memory.
struct StoredPlane {
    ptrdiff_t row_bytes; ///< from a row's first byte to its last
    int rows;
};
StoredPlane stored_plane(const qc_format& format, int plane);

/// Luma samples that share one of a plane's, as powers of two.
struct Subsampling {
    int across, down;
};
Subsampling chroma_subsampling(qc_chroma chroma);
/// What the corner of a picture that is cut out must be a multiple of, for all its planes.
Subsampling cut_raster(const qc_format& format);
/// Bytes from the first sample of a stored plane to those of a luma sample at the raster. @param pitch_bytes of the
/// plane
ptrdiff_t offset_bytes(const qc_format& format, int plane, int x, int y, ptrdiff_t pitch_bytes);

/// The subsampling that pictures are scored with: chroma of 4:1:0, 4:1:1 and 4:4:0 becomes 4:2:0, 4:2:2 and 4:4:4 by
/// repeating each sample, which leaves every mean over samples as it is.
qc_chroma scored_chroma(qc_chroma chroma);
/// How often that repeats the samples of a component, as powers of two.
Subsampling repetition(const qc_format& format, int component);

/// Whether metrics and scalers can read such pictures where they lie: planar, semi-planar with Cb first or packed RGB,
/// with little-endian words of up to 16 bits and chroma as it is scored.
bool is_read_in_place(const qc_format& format);
/// What pictures become that are not: planar, with their own depth and size.
qc_format unpacked_format(qc_format format);

} // namespace qc
