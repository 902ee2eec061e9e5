// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/row_copier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace qc::cuda {
namespace {

struct Rectangle {
    size_t row_bytes, rows;
    ptrdiff_t source_pitch, target_pitch;
};

char sample(size_t plane, size_t x, size_t y) {
    return static_cast<char>((plane * 31 + x * 7 + y * 13 + x * y) & 0x7f);
}

/// Copies planes of these shapes and looks at every byte of the target, those between the rows too.
void check(RowCopier& copier, const std::vector<Rectangle>& shapes) {
    constexpr char kUntouched = '\xee';
    std::vector<std::vector<char>> sources, targets;
    std::vector<RowCopy> copies;
    for (size_t p = 0; p < shapes.size(); ++p) {
        const Rectangle& shape = shapes[p];
        const auto pitch = static_cast<size_t>(std::abs(shape.source_pitch));
        std::vector<char>& source = sources.emplace_back(pitch * shape.rows);
        targets.emplace_back(static_cast<size_t>(shape.target_pitch) * shape.rows, kUntouched);
        char* first = shape.source_pitch < 0 ? source.data() + pitch * (shape.rows - 1) : source.data();
        for (size_t y = 0; y < shape.rows; ++y)
            for (size_t x = 0; x < shape.row_bytes; ++x)
                first[static_cast<ptrdiff_t>(y) * shape.source_pitch + static_cast<ptrdiff_t>(x)] = sample(p, x, y);
        copies.push_back({first, targets[p].data(), shape.source_pitch, shape.target_pitch, shape.row_bytes,
                          static_cast<int>(shape.rows)});
    }
    copier.copy(copies);
    for (size_t p = 0; p < shapes.size(); ++p) {
        const auto pitch = static_cast<size_t>(shapes[p].target_pitch);
        for (size_t y = 0; y < shapes[p].rows; ++y)
            for (size_t x = 0; x < pitch; ++x)
                ASSERT_EQ(targets[p][y * pitch + x], x < shapes[p].row_bytes ? sample(p, x, y) : kUntouched)
                    << "plane " << p << ", byte " << x << " of row " << y;
    }
}

TEST(RowCopier, EveryRowOfEveryPlane) {
    for (const int threads : {1, 2, 5}) {
        RowCopier copier(threads);
        EXPECT_EQ(copier.threads(), threads);
        for (int repetition = 0; repetition < 50; ++repetition)
            check(copier, {{1920, 1080, 1984, 1920}, {1920, 540, 1920, 1920}, {33, 7, 40, 64}, {1, 1, 1, 64}});
    }
}

TEST(RowCopier, RowsThatRunUpwardsAndRowsLargerThanAPiece) {
    RowCopier copier(3);
    check(copier, {{640, 480, -704, 640}, {300000, 3, 300000, 300032}, {500000, 2, -500001, 500000}});
}

TEST(RowCopier, NoWordBeyondTheLargest) {
    RowCopier copier(3);
    constexpr size_t kWords = 1003, kRows = 5; // rows of which only some begin where vectors may
    std::vector<uint16_t> source(kWords * kRows);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint16_t>(i * 40503u);
    for (const uint16_t largest : {uint16_t{1023}, uint16_t{4095}, uint16_t{0x7fff}, RowCopy::kAnyWord}) {
        std::vector<uint16_t> target(source.size());
        constexpr auto kPitch = static_cast<ptrdiff_t>(kWords * sizeof(uint16_t));
        const RowCopy plane{reinterpret_cast<const char*>(source.data()),
                            reinterpret_cast<char*>(target.data()),
                            kPitch,
                            kPitch,
                            kWords * sizeof(uint16_t),
                            kRows,
                            largest};
        copier.copy({&plane, 1});
        for (size_t i = 0; i < source.size(); ++i) ASSERT_EQ(target[i], std::min(source[i], largest)) << i;
    }
}

TEST(RowCopier, NothingToDo) {
    RowCopier copier(2);
    copier.copy({});
    check(copier, {{16, 1, 16, 16}});
}

} // namespace
} // namespace qc::cuda
