// SPDX-License-Identifier: BSD-2-Clause-Patent
// A CPU implementation with helpers of any number. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "contract/types.hpp"
#include "cpu/thread_pool.hpp"

namespace qc::test {

/// Runs begin and end anywhere, and what they have around them is made again by each: the words are the same.
/// @param score (pair, words) @param words of a pair
template <typename Score>
void expect_same_bits_from_any_threads(HostPair pair, size_t words, const Score& score) {
    std::vector<uint64_t> alone(words), shared(words);
    score(pair, alone);
    for (const int threads : {2, 3, 8}) {
        cpu::ThreadPool pool(threads);
        pair.helpers = &pool;
        score(pair, shared);
        EXPECT_EQ(alone, shared) << threads << " threads";
    }
}

} // namespace qc::test
