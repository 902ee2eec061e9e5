// SPDX-License-Identifier: BSD-2-Clause-Patent
// Stands in for the CUDA backend where the build found no CUDA compiler.
#include "api/backend.hpp"

namespace qc {

Status create_cuda_backend(const BackendSetup&, std::unique_ptr<Backend>*) {
    return {QC_ERROR_NO_DEVICE, "this build has no CUDA backend (it was built without nvcc)"};
}

} // namespace qc
