// SPDX-License-Identifier: BSD-2-Clause-Patent
// Launch shapes of floating-point ADM: numbers only. They are those of integer ADM, except for the strips: running sums
// take a block along the whole row.
#pragma once

#include "families/detail_loss/detail_loss_tuning.hpp"

namespace qc::float_adm::tuning {

using namespace detail_loss::tuning; // tiles

} // namespace qc::float_adm::tuning
