// SPDX-License-Identifier: BSD-2-Clause-Patent
// Metrics of one batch beside each other: side streams that fork from the compute stream and join it again. Knows
// streams and the plan's order; not what a metric launches.
#pragma once

#include <functional>
#include <vector>

#include "api/backend.hpp"
#include "cuda/context.hpp"

namespace qc::cuda {

/// The streams that the instances of a session share, and the order in which they are enqueued. Owns streams and
/// events.
class Branches {
public:
    /// Instances of few blocks share the first branch, of high priority, and begin; the others take turns on the rest.
    Status create(Context& context, const BackendSetup& setup);

    size_t count() const { return branches_.size(); }
    /// Null where create() failed before it.
    CUstream stream(size_t branch) const { return branches_[branch].stream.handle(); }

    /// Enqueues one instance on a branch.
    using Enqueue = std::function<Status(size_t instance, CUstream branch)>;

    /// Forks from the stream, calls `enqueue` for every instance that computes, and joins: what is enqueued on the
    /// stream afterwards waits for all of them. May be captured. The context is current.
    /// @return the first failure; the branches are not joined then
    Status run(const Driver& driver, CUstream stream, const Enqueue& enqueue) const;

private:
    struct Branch {
        Stream stream;
        Event end;
    };
    struct Placement {
        size_t instance, branch;
    };
    Event fork_;
    std::vector<Branch> branches_;
    std::vector<Placement> order_; ///< in which the instances are enqueued
};

} // namespace qc::cuda
