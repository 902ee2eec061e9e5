// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/hand_over.hpp"

#include <algorithm>

namespace qc::cuda {
namespace {

constexpr uint64_t pieces(size_t bytes) {
    return bytes / sizeof(CopiedBytes);
}

} // namespace

Status HandOver::find_kernel(DeviceProgram& ingest) {
    return ingest.find(kernels::qc_hand_over, &kernel_);
}

Status HandOver::enqueue_description(const Slot& slot, Lane& lane) const {
    const Description& description = slot.description;
    return enqueue({description.host_memory<CopiedBytes>(), description.device_memory<CopiedBytes>(),
                    pieces(description.bytes()), slot.accumulators.as<CopiedBytes>(), pieces(accumulator_bytes_)},
                   lane);
}

Status HandOver::enqueue_accumulators(const Slot& slot, Lane& lane) const {
    return enqueue({slot.accumulators.as<CopiedBytes>(), slot.accumulators_host.as<CopiedBytes>(),
                    pieces(accumulator_bytes_), nullptr, 0},
                   lane);
}

Status HandOver::enqueue(const CopyAndZero::Arguments& arguments, Lane& lane) const {
    const uint64_t most = std::max(arguments.count, arguments.zeroed_count);
    if (most == 0) return {};
    const auto threads = static_cast<uint64_t>(CopyAndZero::kThreads);
    return lane.launch(kernel_, Dim3{static_cast<unsigned>((most + threads - 1) / threads)}, arguments);
}

} // namespace qc::cuda
