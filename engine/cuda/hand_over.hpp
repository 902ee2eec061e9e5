// SPDX-License-Identifier: BSD-2-Clause-Patent
// The first and the last kernel of a batch: its description goes to the device, where the accumulators begin at 0, and
// the accumulators come back. Knows slots; not what is in either.
#pragma once

#include "cuda/lane.hpp"
#include "cuda/slot.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

class HandOver {
public:
    /// @param accumulator_bytes of a slot, a multiple of 16
    explicit HandOver(size_t accumulator_bytes) : accumulator_bytes_(accumulator_bytes) {}

    Status find_kernel(DeviceProgram& ingest);
    Status enqueue_description(const Slot& slot, Lane& lane) const;
    Status enqueue_accumulators(const Slot& slot, Lane& lane) const;

private:
    Status enqueue(const CopyAndZero::Arguments& arguments, Lane& lane) const;

    const size_t accumulator_bytes_;
    LoadedKernel<CopyAndZero::Arguments> kernel_;
};

} // namespace qc::cuda
