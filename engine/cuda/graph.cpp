// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/graph.hpp"

namespace qc::cuda {
namespace {

constexpr size_t kMaxGraphs = 64;

Status capture(const Driver& driver, CUstream stream, const GraphCache::Enqueue& enqueue, Graph* graph) {
    QC_CUDA(driver, cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    Status status = enqueue(&graph->kernels);
    CUgraph captured = nullptr;
    const CUresult ended = driver.cuStreamEndCapture(stream, &captured); // after a failure too: the stream is used on
    if (status.ok()) status = check(driver, ended, "cuStreamEndCapture");
    if (status.ok()) status = check(driver, driver.cuGraphInstantiate(&graph->exec, captured, 0), "cuGraphInstantiate");
    if (captured != nullptr) driver.cuGraphDestroy(captured);
    return status;
}

} // namespace

GraphCache::~GraphCache() {
    if (graphs_.empty()) return;
    const ContextGuard guard(*context_);
    for (auto& [shape, graph] : graphs_) context_->driver().cuGraphExecDestroy(graph.exec);
}

Status GraphCache::find_or_capture(Context& context, CUstream stream, const BatchShape& shape, const Enqueue& enqueue,
                                   Graph* graph) {
    *graph = {};
    const auto found = graphs_.find(shape);
    if (found != graphs_.end()) {
        *graph = found->second;
        return {};
    }
    if (graphs_.size() >= kMaxGraphs) return {};
    Graph made;
    QC_RETURN_IF_ERROR(capture(context.driver(), stream, enqueue, &made));
    context_ = &context;
    graphs_.emplace(shape, made);
    *graph = made;
    return {};
}

} // namespace qc::cuda
