// SPDX-License-Identifier: BSD-2-Clause-Patent
// A small pair of pictures that any metric can score, to find out what a library does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <quality_cuda.h>

namespace qc::cli {

struct TestPair {
    TestPair();
    TestPair(const TestPair&) = delete;
    TestPair& operator=(const TestPair&) = delete;

    std::vector<uint8_t> reference, distorted; ///< 4:2:0
    qc_frame frame{};                          ///< points to them

    /// One of them as a video of one frame.
    static std::string as_y4m(const std::vector<uint8_t>& samples);
};

/// psnr_y of the pair
inline constexpr double kTestPsnr = 13.775353919112;

/// A session on the CPU for it, of one thread; metrics are still to be named. renditions is 0: there can be none.
qc_config test_config();

} // namespace qc::cli
