// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work of a batch as nodes of a graph that is being made: one after the other in a lane, lanes side by side.
//
// Nodes are added one by one, not captured from a stream: while any stream of a context captures, whatever synchronises
// the context fails, and fails the capture. The context is FFmpeg's, and its decoders do that when they end.
#pragma once

#include <vector>

#include "contract/device.hpp"
#include "cuda/context.hpp"

namespace qc::cuda {

/// Adds nodes to a graph, each behind the one before it; counts the kernels among them. Does not own the graph. The
/// context is current in all of it.
class Lane final : public DeviceQueue {
public:
    /// Waiting blocks of kernels of high priority go before those of others; of low priority are FFmpeg's streams too.
    enum class Priority { kLow, kHigh };

    Lane(Context& context, CUgraph graph) : context_(context), graph_(graph) {}

    Status launch_raw(const Kernel& kernel, Dim3 grid, Dim3 block, void** arguments) override;
    Status zero(void* device_address, size_t bytes) override;
    Status side_by_side(int pieces, const AddPiece& add) override;
    int worthwhile_pieces(int most) const override { return is_crowded_ ? 1 : most; }
    /// To page-locked memory. The addresses are kept: what lies there is read when the graph runs.
    Status copy_to_host(void* target, CUdeviceptr source, size_t bytes);

    /// A lane that begins behind what this one has so far.
    Lane fork(Priority priority) const;
    /// As many others run beside this one as can be of use.
    void crowd() { is_crowded_ = true; }
    /// What is added from now on comes behind all of the other lane too. Its kernels count as this lane's.
    void join(const Lane& other);

    int64_t launches() const { return launches_; }

private:
    void append(CUgraphNode node) { latest_.assign(1, node); }

    Context& context_;
    CUgraph graph_;
    std::vector<CUgraphNode> latest_; ///< what the next node comes behind
    Priority priority_ = Priority::kLow;
    bool is_crowded_ = false;
    int64_t launches_ = 0;
};

} // namespace qc::cuda
