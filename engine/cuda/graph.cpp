// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/graph.hpp"

#include "contract/caught.hpp"

namespace qc::cuda {
namespace {

constexpr size_t kMaxGraphs = 64;

Status make(Context& context, const GraphCache::Fill& fill, Graph* made) {
    const Driver& driver = context.driver();
    CUgraph graph = nullptr;
    QC_CUDA(driver, cuGraphCreate, &graph, 0);
    Lane lane(context, graph);
    Status status = caught([&] { return fill(lane); });
    if (status.ok()) status = check(driver, driver.cuGraphInstantiate(&made->exec, graph, 0), "cuGraphInstantiate");
    made->kernels = lane.launches();
    driver.cuGraphDestroy(graph);
    return status;
}

} // namespace

void GraphCache::forget() {
    if (graphs_.empty()) return;
    const ContextGuard guard(*context_);
    for (auto& [shape, graph] : graphs_) context_->driver().cuGraphExecDestroy(graph.exec);
    graphs_.clear();
}

Status GraphCache::find_or_make(Context& context, const BatchShape& shape, const Fill& fill, Graph* graph) {
    const auto found = graphs_.find(shape);
    if (found != graphs_.end()) {
        *graph = found->second;
        return {};
    }
    if (graphs_.size() >= kMaxGraphs) forget();
    const auto place = graphs_.emplace(shape, Graph{}).first; // first: there may be no memory for it
    Status status = make(context, fill, &place->second);
    if (status.ok()) {
        context_ = &context;
        *graph = place->second;
    } else {
        graphs_.erase(place);
    }
    return status;
}

} // namespace qc::cuda
