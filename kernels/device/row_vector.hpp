// SPDX-License-Identifier: BSD-2-Clause-Patent
// Neighbouring samples of a row as one value, where compilers do not find by themselves what belongs together. They
// are 64 bytes on every machine, which smaller registers hold in parts: arithmetic is that of single samples.
#pragma once

#include "device/cpu_clones.hpp"

namespace qc::device {

template <typename Sample>
struct RowVector {
    static constexpr int kBytes = 64, kLanes = kBytes / static_cast<int>(sizeof(Sample));
    typedef Sample Type __attribute__((vector_size(kBytes), aligned(sizeof(Sample)), may_alias));

    QC_INLINE_HELPER static const Type& at(const Sample* row) { return *reinterpret_cast<const Type*>(row); }
    QC_INLINE_HELPER static Type& at(Sample* row) { return *reinterpret_cast<Type*>(row); }
};

} // namespace qc::device
