// SPDX-License-Identifier: BSD-2-Clause-Patent
// On its way out: tests/support/geometry.hpp has it.
#pragma once

#include "tests/support/geometry.hpp"
