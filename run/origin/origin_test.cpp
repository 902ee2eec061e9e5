// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/origin/origin.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

const std::string kOne = R"({"engine": "0.1.0", "device": "H100"})",
                  kOther = R"({"engine": "0.1.0", "device": "H200"})";

TEST(Origin, PartsOfOneBuildAndDeviceHaveOne) {
    EXPECT_EQ(joined_origin(std::vector<std::string>{kOne}), kOne);
    EXPECT_EQ(joined_origin(std::vector<std::string>{kOne, kOne, kOne}), kOne);
    EXPECT_EQ(joined_origin({}), "");
}

TEST(Origin, PartsThatDifferAreListedOnce) {
    const std::string joined = joined_origin(std::vector<std::string>{kOne, kOther, kOne, kOther});
    EXPECT_EQ(joined, R"({"engine": "0.1.0", "device": "H100", "others": [)" + kOther + "]}");
}

} // namespace
} // namespace qc::run
