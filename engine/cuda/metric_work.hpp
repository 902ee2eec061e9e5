// SPDX-License-Identifier: BSD-2-Clause-Patent
// The metrics' side of a batch: their kernels, tables and scratch memory. Knows slots, programs and scorers; not on
// which lane, and in which order, they run.
#pragma once

#include <memory>
#include <vector>

#include "api/backend.hpp"
#include "cuda/context.hpp"
#include "cuda/maps.hpp"
#include "cuda/program.hpp"
#include "cuda/results.hpp"
#include "cuda/slot.hpp"
#include "cuda/timeline.hpp"

namespace qc::cuda {

/// Enqueues instances. Owns their programs and their scratch memory: instances run side by side, so each has scratch of
/// its own; batches run one after the other and share it.
class MetricWork {
public:
    /// All arguments outlive the object. @param frames of a batch at most
    MetricWork(Context& context, const BackendSetup& setup, int frames, const Results& results,
               const Timeline& timeline, const Maps& maps)
        : context_(context), setup_(setup), frames_(frames), results_(results), timeline_(timeline), maps_(maps) {}

    /// Loads the kernels of every instance that computes, and has it prepare itself.
    Status load();
    /// @return QC_ERROR_NO_MEMORY
    Status allocate_scratch();

    /// Adds one instance's work for the slot's batch; nothing if the batch has nothing for it.
    Status enqueue(size_t instance, const Slot& slot, DeviceQueue& queue) const;

private:
    DeviceBatch batch_of(size_t instance, const Slot& slot) const;

    Context& context_;
    const BackendSetup& setup_;
    const int frames_;
    const Results& results_;
    const Timeline& timeline_;
    const Maps& maps_;
    std::vector<std::unique_ptr<Program>> programs_; ///< of the instances that compute
    DeviceBuffer scratch_;
    std::vector<size_t> scratch_offsets_; ///< per instance
};

} // namespace qc::cuda
