// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/branches.hpp"

#include <algorithm>

namespace qc::cuda {
namespace {

/// Metrics of one batch that run side by side, beside those of few blocks. One alone leaves the GPU idle between its
/// kernels; with many, what else wants the GPU (a decoder's surfaces) waits for all of them (docs/performance.md).
constexpr size_t kMostBranches = 4;

} // namespace

Status Branches::create(Context& context, const BackendSetup& setup) {
    QC_RETURN_IF_ERROR(fork_.create(context));
    std::vector<size_t> few, many;
    for (size_t i = 0; i < setup.scorers.size(); ++i)
        if (setup.layout->computes(i)) (setup.plan->instances[i].descriptor->few_blocks ? few : many).push_back(i);
    const size_t before = few.empty() ? 0 : 1;
    const size_t count = before + std::min(kMostBranches, many.size());
    branches_.reserve(count);
    for (size_t b = 0; b < count; ++b) {
        Branch& branch = branches_.emplace_back();
        const auto priority = b < before ? Stream::Priority::kHigh : Stream::Priority::kLow;
        QC_RETURN_IF_ERROR(branch.stream.create(context, priority));
        QC_RETURN_IF_ERROR(branch.end.create(context));
    }
    for (const size_t i : few) order_.push_back({i, 0});
    size_t turn = before;
    for (const size_t i : many) {
        order_.push_back({i, turn});
        if (++turn == count) turn = before;
    }
    return {};
}

Status Branches::run(const Driver& driver, CUstream stream, const Enqueue& enqueue) const {
    QC_CUDA(driver, cuEventRecord, fork_.handle(), stream);
    for (const Branch& branch : branches_)
        QC_CUDA(driver, cuStreamWaitEvent, branch.stream.handle(), fork_.handle(), 0);
    for (const Placement& placement : order_)
        QC_RETURN_IF_ERROR(enqueue(placement.instance, branches_[placement.branch].stream.handle()));
    for (const Branch& branch : branches_) {
        QC_CUDA(driver, cuEventRecord, branch.end.handle(), branch.stream.handle());
        QC_CUDA(driver, cuStreamWaitEvent, stream, branch.end.handle(), 0);
    }
    return {};
}

} // namespace qc::cuda
