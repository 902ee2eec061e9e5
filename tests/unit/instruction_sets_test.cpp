// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which versions of CPU code this build has. Every version gives the same scores, so a test that goes through all
// versions there are passes with none of them too: what a compiler leaves out is said here.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "device/cpu_clones.hpp"
#include "device/cpu_versions.hpp"
#include "device/row_vector.hpp"
#include "device/word_lanes.hpp"

namespace qc::device {
namespace {

#define QC_TEXT_OF(...) #__VA_ARGS__
#define QC_TEXT(...) QC_TEXT_OF(__VA_ARGS__)

TEST(InstructionSets, Clones) {
    constexpr std::string_view kAttribute = QC_TEXT(QC_CPU_CLONES);
    if (kAttribute.empty())
        GTEST_SKIP()
            << "not in this build: versions by the loader (cpu_clones.hpp), so CPU functions of most metrics run in "
               "their version for any processor";
    EXPECT_NE(kAttribute.find("arch=x86-64-v3"), std::string_view::npos) << kAttribute;
}

TEST(InstructionSets, WordLanes) {
    if (!QC_HAS_WORD_LANES)
        GTEST_SKIP() << "not in this build: vectors of 16-bit words (word_lanes.hpp), so squared errors, motion, VIF "
                        "and ADM run "
                        "in plain loops";
    const auto all = all_word_lanes();
    EXPECT_EQ(all.front(), WordLanes::kNone);
    EXPECT_EQ(all.back(), best_word_lanes());
}

TEST(InstructionSets, TablesInRegisters) {
    using Words = RowVector<int16_t, AnyCpu>; // a register has as many as the table
    const int16_t table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    Words::Type at, found;
    for (int i = 0; i < Words::kLanes; ++i) at[i] = static_cast<int16_t>(7 - i);
    Words::look_up(table, at, &found);
    for (int i = 0; i < Words::kLanes; ++i) EXPECT_EQ(found[i], table[(7 - i) % 8]);
#if defined(__clang__)
    GTEST_SKIP()
        << "not in this build: tables in registers (row_vector.hpp, cvvdp_cpu_band.cpp); memory is read instead";
#endif
}

template <typename Cpu>
QC_INLINE_HELPER void tell_width_on(int* bytes) {
    *bytes = Cpu::kVectorBytes;
}
QC_CPU_VERSIONS(tell_width, (int* bytes), (bytes))

TEST(InstructionSets, Versions) {
    int bytes = 0;
    tell_width(&bytes);
#if defined(__x86_64__)
    EXPECT_EQ(bytes, has_avx512() ? 64 : has_avx2() ? 32 : 16);
#else
    EXPECT_EQ(bytes, 16);
    GTEST_SKIP() << "not in this build: versions by a branch (cpu_versions.hpp), which are for x86-64";
#endif
}

} // namespace
} // namespace qc::device
