// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which GPUs there are, and how many parts each of them serves well.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qc::cli {

/// The GPUs to use, as CUDA_VISIBLE_DEVICES names them: those that were asked for, otherwise those of
/// CUDA_VISIBLE_DEVICES, otherwise all whose device files this process may open. Empty: there is none.
/// @param wish numbers or names joined by commas; empty: nothing was asked for
/// @throws Failure if `wish` is no such list, or names what is not there
std::vector<std::string> find_gpus(const std::string& wish);

/// Parts that decode on one GPU at a time. @param videos of a part, each of which takes a decoder
size_t parts_of_gpu(size_t videos);

} // namespace qc::cli
