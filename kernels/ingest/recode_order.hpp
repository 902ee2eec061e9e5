// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the samples of pictures that are recoded on the device lie, and whether eight of them can be loaded at once.
#pragma once

#include "ingest/ingest.hpp"

namespace qc {

/// Bytes of the pixels that hold all components of a picture, where kernels know such pixels; otherwise 0. Wants no
/// addresses yet.
int pixel_bytes_of(const RecodeJob& job);

/// Finds out the order of a job's sources, and where pixels begin.
void find_order(RecodeJob* job);

} // namespace qc
