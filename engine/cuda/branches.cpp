// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/branches.hpp"

#include <algorithm>

namespace qc::cuda {
namespace {

/// Metrics of one batch that run side by side, beside those of few blocks. One alone leaves the GPU idle between its
/// kernels; with many, what else wants the GPU (a decoder's surfaces) waits for all of them (docs/performance.md).
constexpr size_t kMostBranches = 4;
/// Batches of so few pairs leave more of the GPU idle, and are soon done with.
constexpr size_t kMostBranchesOfFew = 6;
constexpr int kFewPairs = 2;
/// Kernels of more pairs fill the GPU but for their last blocks, and as many branches fill what these leave.
constexpr int kManyPairs = 9;

size_t most_branches(const BackendSetup& setup) {
    return setup.config->batch <= kFewPairs ? kMostBranchesOfFew : kMostBranches;
}

} // namespace

Branches::Branches(const BackendSetup& setup) {
    std::vector<size_t> few, many;
    for (size_t i = 0; i < setup.scorers.size(); ++i)
        if (setup.layout->computes(i)) (setup.plan->instances[i].descriptor->few_blocks ? few : many).push_back(i);
    const size_t before = few.empty() ? 0 : 1;
    const size_t count = before + std::min(most_branches(setup), many.size());
    is_crowded_ = many.size() >= kMostBranches && setup.config->batch >= kManyPairs;
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
