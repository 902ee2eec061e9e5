// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/branches.hpp"

#include <algorithm>

namespace qc::cuda {
namespace {

/// Metrics of one batch that run side by side, beside those of few blocks. One alone leaves the GPU idle between its
/// kernels; with many, what else wants the GPU (a decoder's surfaces) waits for all of them
/// (docs/design/performance.md).
constexpr size_t kMostBranches = 4;
/// Where a metric takes long, batches of so few pairs leave much of the GPU idle beside it. Kernels of so many pairs
/// fill the GPU except for their last blocks: two branches fill what these leave.
constexpr int kFewPairs = 2, kManyPairs = 9;
constexpr size_t kBranchesOfFewPairs = 6, kBranchesOfManyPairs = 2;

} // namespace

Branches::Branches(const BackendSetup& setup) {
    const int pairs = setup.config->batch;
    std::vector<size_t> few, many;
    bool takes_long = false;
    for (size_t i = 0; i < setup.scorers.size(); ++i) {
        if (!setup.layout->computes(i)) continue;
        const MetricDescriptor& metric = *setup.plan->instances[i].descriptor;
        (metric.few_blocks ? few : many).push_back(i);
        takes_long = takes_long || metric.takes_long;
    }
    is_crowded_ = takes_long && many.size() >= kMostBranches && pairs >= kManyPairs;
    const size_t most = takes_long && pairs <= kFewPairs ? kBranchesOfFewPairs
                        : is_crowded_                    ? kBranchesOfManyPairs
                                                         : kMostBranches;
    const size_t before = few.empty() ? 0 : 1;
    const size_t count = before + std::min(most, many.size());
    branches_.assign(count, Lane::Priority::kLow);
    if (before > 0) branches_.front() = Lane::Priority::kHigh;
    for (const size_t i : few) order_.push_back({i, 0});
    size_t turn = before;
    for (const size_t i : many) {
        order_.push_back({i, turn});
        if (++turn == count) turn = before;
    }
}

Status Branches::run(Lane& lane, const Enqueue& enqueue) const {
    std::vector<Lane> lanes;
    for (const Lane::Priority priority : branches_) {
        lanes.push_back(lane.fork(priority));
        if (is_crowded_) lanes.back().crowd();
    }
    for (const Placement& placement : order_) QC_RETURN_IF_ERROR(enqueue(placement.instance, lanes[placement.branch]));
    for (const Lane& branch : lanes) lane.join(branch);
    return {};
}

} // namespace qc::cuda
