// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA backend on a given driver. create_cuda_backend() (api/backend.hpp) is the same with the machine's own.
#pragma once

#include <memory>

#include "api/backend.hpp"
#include "cuda/driver.hpp"

namespace qc::cuda {

/// @param driver, setup outlive the backend
/// @return QC_ERROR_NO_DEVICE, QC_ERROR_NO_MEMORY, QC_ERROR_DEVICE; everything is given back then
Status create_backend(const Driver& driver, const BackendSetup& setup, std::unique_ptr<Backend>* backend);

} // namespace qc::cuda
