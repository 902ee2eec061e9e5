// SPDX-License-Identifier: BSD-2-Clause-Patent
// What tools/embed-models makes of the files in engine/models.
#pragma once

#include <cstddef>

namespace qc {

struct EmbeddedModel {
    const char* name;
    const char* text; ///< compact form (see tools/convert-model) without comments
};

extern const EmbeddedModel kEmbeddedModels[];
extern const size_t kEmbeddedModelCount;

} // namespace qc
