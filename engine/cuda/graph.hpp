// SPDX-License-Identifier: BSD-2-Clause-Patent
// Captured graphs: a batch of a shape that was run before costs one launch. Knows streams and shapes; not what is
// captured.
#pragma once

#include <functional>
#include <map>

#include "cuda/context.hpp"
#include "cuda/description.hpp"

namespace qc::cuda {

/// An instantiated graph and how many kernels it launches. A view: its cache owns it.
struct Graph {
    CUgraphExec exec = nullptr; ///< null: launch them one by one
    int64_t kernels = 0;
};

/// The graphs of one slot, by the shape of the batch: they hold the addresses of the slot's buffers, so those must not
/// change, and must outlive the cache. The graphs must not run any more when the cache is destroyed.
class GraphCache {
public:
    GraphCache() = default;
    ~GraphCache();
    GraphCache(const GraphCache&) = delete;
    GraphCache& operator=(const GraphCache&) = delete;

    /// Enqueues a batch on the stream and adds up its kernels.
    using Enqueue = std::function<Status(int64_t* kernels)>;

    /// The graph that runs what `enqueue` enqueues for a batch of this shape; captured when the shape comes up first.
    /// A slot with too many different shapes gets no more: `graph->exec` is null then. The context is current.
    /// @return what enqueue() returned, or QC_ERROR_DEVICE, QC_ERROR_NO_MEMORY
    Status find_or_capture(Context& context, CUstream stream, const BatchShape& shape, const Enqueue& enqueue,
                           Graph* graph);

private:
    Context* context_ = nullptr; ///< of the graphs, if there are any
    std::map<BatchShape, Graph> graphs_;
};

} // namespace qc::cuda
