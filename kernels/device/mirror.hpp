// SPDX-License-Identifier: BSD-2-Clause-Patent
// A border rule under its former name.
#pragma once

#include "device/borders.hpp"

namespace qc {

QC_HD int mirror(int i, int size) {
    return nearest_inside(mirror_with_last_edge(i, size), size);
}

} // namespace qc
