// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/graph.hpp"

#include "contract/caught.hpp"

namespace qc::cuda {
namespace {

constexpr size_t kMaxGraphs = 64;

Status capture(const Driver& driver, CUstream stream, const GraphCache::Enqueue& enqueue, Graph* graph) {
    QC_CUDA(driver, cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    Status status = caught([&] { return enqueue(&graph->kernels); });
    CUgraph captured = nullptr;
    const CUresult ended = driver.cuStreamEndCapture(stream, &captured); // after a failure too: the stream is used on
    CUresult made = CUDA_SUCCESS;
    if (status.ok() && ended == CUDA_SUCCESS) made = driver.cuGraphInstantiate(&graph->exec, captured, 0);
    if (captured != nullptr) driver.cuGraphDestroy(captured);
    QC_RETURN_IF_ERROR(std::move(status));
    QC_RETURN_IF_ERROR(check(driver, ended, "cuStreamEndCapture"));
    return check(driver, made, "cuGraphInstantiate");
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
    const auto place = graphs_.emplace(shape, Graph{}).first; // first: there may be no memory for it
    Status status = caught([&] { return capture(context.driver(), stream, enqueue, &place->second); });
    if (status.ok()) {
        context_ = &context;
        *graph = place->second;
    } else {
        graphs_.erase(place);
    }
    return status;
}

} // namespace qc::cuda
