// SPDX-License-Identifier: BSD-2-Clause-Patent
// What an emulated kernel did wrong fails the test that ran it.
#include <gtest/gtest.h>

#include "tests/device/emulated_block.hpp"

namespace qc::test {

void report_failure(const std::string& what) {
    ADD_FAILURE() << what;
}

} // namespace qc::test
