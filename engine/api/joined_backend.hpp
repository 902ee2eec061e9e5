// SPDX-License-Identifier: BSD-2-Clause-Patent
// Several backends as one, for sessions whose metrics see their pictures in several ways: each takes every frame, and
// fills the accumulators of its own instances.
#pragma once

#include <memory>
#include <vector>

#include "api/backend.hpp"

namespace qc {

/// @param setups of the backends, which outlive the result
std::unique_ptr<Backend> join_backends(std::vector<std::unique_ptr<Backend>> backends,
                                       std::vector<const BackendSetup*> setups);

} // namespace qc
