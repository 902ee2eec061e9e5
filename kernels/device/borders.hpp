// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which sample stands beyond the borders of a row or column of n samples: the rules that libvmaf's filters follow. Each
// reflects once: positions further out than the row is long need nearest_inside() if they are read at all.
#pragma once

#include "contract/types.hpp"

namespace qc {

/// The mirror stands on the last sample, which is not repeated: -1 is 1, n is n - 2.
QC_HD int mirror_without_edges(int i, int n) {
    return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
}

/// The mirror stands behind the last sample, which is repeated: -1 is 0, n is n - 1.
QC_HD int mirror_with_edges(int i, int n) {
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

/// The first sample is not repeated, the last one is: -1 is 1, n is n - 1.
QC_HD int mirror_with_last_edge(int i, int n) {
    i = i < 0 ? -i : i;
    return i >= n ? 2 * n - 1 - i : i;
}

/// Some sample for positions whose value nobody uses: of tiles that reach far beyond the picture.
QC_HD int nearest_inside(int i, int n) {
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

/// mirror_with_last_edge() for positions however far out.
QC_HD int mirror_with_last_edge_inside(int i, int n) {
    return nearest_inside(mirror_with_last_edge(i, n), n);
}

} // namespace qc
