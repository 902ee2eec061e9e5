// SPDX-License-Identifier: BSD-2-Clause-Patent
// Two sizes in, with the shape of their samples; the cause and the remedy out.
#include "run/plan/shapes.hpp"

#include <string>

#include <gtest/gtest.h>

namespace qc::run {
namespace {

TEST(Shapes, Advice) {
    static const struct {
        const char* what;
        Shape distorted, reference;
        const char* advice;
    } kCases[] = {
        {"a rung of a ladder", {1280, 720, 1}, {1920, 1080, 1}, ""},
        {"samples that are no squares", {720, 576, 64 / 45.0}, {1024, 576, 1}, ""},
        {"turned",
         {1080, 1920, 1},
         {1920, 1080, 1},
         "one of them is turned by 90 degrees: [0:v]transpose=1[d];[d][1:v]quality_cuda, or transpose=2 the other way "
         "round"},
        {"turned and scaled",
         {360, 640, 1},
         {1920, 1080, 1},
         "one of them is turned by 90 degrees: [0:v]transpose=1[d];[d][1:v]quality_cuda=scale=bicubic, or transpose=2 "
         "the other way round"},
        {"tagged wrongly",
         {640, 360, 4 / 3.0},
         {1280, 720, 1},
         "only their sample aspect ratios differ: if they show the same, "
         "[0:v]setsar=1.000000[d];[d][1:v]quality_cuda=scale=bicubic"},
        {"1088 rows",
         {1920, 1080, 1},
         {1920, 1088, 1},
         "8 rows fill the coder's last blocks: [1:v]crop=1920:1080:0:0[r];[0:v][r]quality_cuda"},
        {"of the distorted video",
         {1920, 1088, 1},
         {1920, 1080, 1},
         "8 rows fill the coder's last blocks: [0:v]crop=1920:1080:0:0[d];[d][1:v]quality_cuda"},
        {"cropped by its container",
         {1920, 1080, 1},
         {1888, 1062, 1},
         "a container may cut off their borders: give -apply_cropping codec before each -i; if it does not, the "
         "smaller one is scaled: quality_cuda=scale=bicubic"},
        {"a letterboxed reference",
         {320, 136, 1},
         {320, 180, 1},
         "the reference may have black bars above and below: [1:v]crop=320:136[r];[0:v][r]quality_cuda"},
        {"a letterboxed encode",
         {1920, 1080, 1},
         {1920, 800, 1},
         "the distorted video may have black bars above and below: [0:v]crop=1920:800[d];[d][1:v]quality_cuda"},
        {"pillars",
         {1440, 1080, 1},
         {1920, 1080, 1},
         "the samples of the distorted video may be no squares, though nothing tags them: "
         "[0:v]setsar=1.333333[d];[d][1:v]quality_cuda=scale=bicubic; or the reference may have black bars at its left "
         "and right: [1:v]crop=1440:1080[r];[0:v][r]quality_cuda"},
        {"pillars of no known size",
         {480, 360, 1},
         {640, 360, 1},
         "the reference may have black bars at its left and right: [1:v]crop=480:360[r];[0:v][r]quality_cuda"},
        {"bars, and scaled",
         {1280, 534, 1},
         {1920, 1080, 1},
         "the reference may have black bars above and below: [1:v]crop=1920:800[r];[0:v][r]quality_cuda=scale=bicubic"},
        {"samples that nobody tagged",
         {720, 480, 1},
         {1280, 720, 1},
         "the samples of the distorted video may be no squares, though nothing tags them: "
         "[0:v]setsar=1.185185[d];[d][1:v]quality_cuda=scale=bicubic"},
    };
    for (const auto& of : kCases) {
        SCOPED_TRACE(of.what);
        EXPECT_EQ(shape_advice(0, of.distorted, of.reference, false), of.advice);
    }
    EXPECT_EQ(
        shape_advice(2, {320, 136, 1}, {320, 180, 1}, true),
        "the reference may have black bars above and below: [1:v]crop=320:136[r];[2:v][r]quality_cuda=scale=bicubic");
}

} // namespace
} // namespace qc::run
