// SPDX-License-Identifier: BSD-2-Clause-Patent
// Metrics of one batch beside each other: lanes that fork from the batch's and join it again. Knows the plan's order;
// not what a metric launches.
#pragma once

#include <functional>
#include <vector>

#include "api/backend.hpp"
#include "cuda/lane.hpp"

namespace qc::cuda {

/// The lanes that the instances of a session share, and the order in which their work is added.
class Branches {
public:
    /// Instances of few blocks share the first branch, of high priority, and begin; the others take turns on the rest.
    explicit Branches(const BackendSetup& setup);

    /// Adds one instance's work to a lane.
    using Enqueue = std::function<Status(size_t instance, Lane& branch)>;

    /// Forks from the lane, calls `enqueue` for every instance that computes, and joins: what is added to the lane
    /// afterwards comes behind all of them.
    /// @return the first failure
    Status run(Lane& lane, const Enqueue& enqueue) const;

private:
    struct Placement {
        size_t instance, branch;
    };
    std::vector<Lane::Priority> branches_;
    std::vector<Placement> order_; ///< in which the instances are added
    bool is_crowded_ = false;
};

} // namespace qc::cuda
