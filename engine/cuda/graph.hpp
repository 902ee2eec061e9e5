// SPDX-License-Identifier: BSD-2-Clause-Patent
// Graphs: a batch is launched as one, and one whose shape was run before costs nothing but that. Knows shapes; not what
// a batch consists of.
#pragma once

#include <functional>
#include <map>

#include "cuda/context.hpp"
#include "cuda/description.hpp"
#include "cuda/lane.hpp"

namespace qc::cuda {

/// An instantiated graph and how many kernels it launches. A view: its cache owns it.
struct Graph {
    CUgraphExec exec = nullptr;
    int64_t kernels = 0;
};

/// The graphs of one slot, by the shape of the batch: they hold the addresses of the slot's buffers, so those must not
/// change, and must outlive the cache. No graph may run when one is asked for, or when the cache is destroyed.
class GraphCache {
public:
    GraphCache() = default;
    ~GraphCache() { forget(); }
    GraphCache(const GraphCache&) = delete;
    GraphCache& operator=(const GraphCache&) = delete;

    /// Adds the work of a batch to a lane.
    using Fill = std::function<Status(Lane& lane)>;

    /// The graph for a batch of this shape; made of what `fill` adds when the shape comes up first. A slot with too
    /// many different shapes forgets those from before. The context is current.
    /// @return what fill() returned, or QC_ERROR_DEVICE, QC_ERROR_NO_MEMORY
    Status find_or_make(Context& context, const BatchShape& shape, const Fill& fill, Graph* graph);

private:
    void forget();

    Context* context_ = nullptr; ///< of the graphs, if there are any
    std::map<BatchShape, Graph> graphs_;
};

} // namespace qc::cuda
