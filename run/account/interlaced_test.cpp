// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which inputs are interlaced, and how fast they are, in; what to type, out.
#include "run/account/interlaced.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

constexpr qcr_names kThree = {{"main", "reference", "main1"}, 3};

std::string advice(const std::vector<Fields>& inputs) {
    return deinterlacing_advice(kThree, inputs);
}

TEST(Interlaced, AProgressiveEncodeOfAnInterlacedMaster) {
    const std::string text = "deinterlace reference alone, [1:v]bwdif=mode=send_frame[r];[0:v][r]quality_cuda, or, if "
                             "both fields of each frame show one moment, call it progressive, "
                             "[1:v]setfield=prog[r];[0:v][r]quality_cuda";
    EXPECT_EQ(advice({{false, 25}, {true, 25}}), text);
    EXPECT_EQ(advice({{false, 25}, {true, 24}}), text);
    EXPECT_EQ(advice({{false, 0}, {true, 25}}), text); // too few frames to know
    EXPECT_EQ(advice({{false, 25}, {true, 0}}), text);
    EXPECT_EQ(advice({{false, 12.5}, {true, 25}}), text);
}

TEST(Interlaced, AFrameForEachField) {
    EXPECT_EQ(advice({{false, 50}, {true, 25}}),
              "deinterlace reference alone, [1:v]bwdif=mode=send_field[r];[0:v][r]quality_cuda");
    EXPECT_EQ(advice({{true, 29.97}, {false, 59.94}}),
              "deinterlace main alone, [0:v]bwdif=mode=send_field[d];[d][1:v]quality_cuda");
}

TEST(Interlaced, BothAlike) {
    EXPECT_EQ(advice({{true, 25}, {true, 25}}),
              "put the same deinterlacer before all inputs, "
              "[0:v]bwdif=mode=send_field[d];[1:v]bwdif=mode=send_field[r];[d][r]quality_cuda");
}

TEST(Interlaced, AProgressiveMasterThatWasOnlyCodedSo) {
    EXPECT_EQ(advice({{true, 25}, {false, 25}}),
              "made of this reference, main has no fields of different moments: call it progressive, "
              "[0:v]setfield=prog[d];[d][1:v]quality_cuda, or, if it was made of another video that has, deinterlace "
              "it, [0:v]bwdif=mode=send_frame[d];[d][1:v]quality_cuda");
}

TEST(Interlaced, Ladders) {
    EXPECT_EQ(advice({{true, 25}, {true, 25}, {false, 50}}),
              "deinterlace main, reference alone, [0:v]bwdif=mode=send_field[d];[1:v]bwdif=mode=send_field[r];"
              "[d][r][2:v]quality_cuda=renditions=2");
    EXPECT_EQ(advice({{false, 25}, {true, 25}, {true, 25}}),
              "deinterlace reference, main1 alone, [1:v]bwdif=mode=send_frame[r];[2:v]bwdif=mode=send_frame[d1];"
              "[0:v][r][d1]quality_cuda=renditions=2, or, if both fields of each frame show one moment, call it "
              "progressive, [1:v]setfield=prog[r];[2:v]setfield=prog[d1];[0:v][r][d1]quality_cuda=renditions=2");
}

} // namespace
} // namespace qc::run
