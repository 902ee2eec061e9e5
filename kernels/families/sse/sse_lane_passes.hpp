// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared errors of bytes over vectors. No header like others: sse_cpu.cpp includes it once for each instruction set,
// into a namespace that has a type Lanes (device/word_lanes.hpp).

using Vector = Lanes::Vector;

/// Of the first columns of a row. @return how many they are
inline int sum_bytes(const uint8_t* reference, const uint8_t* distorted, int width, uint64_t* total) {
    constexpr int kBytes = 2 * Lanes::kWords;
    constexpr int kRun = 8192; // vectors: a lane adds four squares of up to 255 of each, which 32 bits hold
    // Nothing takes as long here as memory. Processors fetch ahead by themselves, but not from the next page.
    constexpr int kAhead = 2048; // bytes
    const auto* const a = reinterpret_cast<const uint16_t*>(reference);
    const auto* const b = reinterpret_cast<const uint16_t*>(distorted);
    int x = 0;
    while (x + kBytes <= width) {
        Vector even = Lanes::zero(), odd = Lanes::zero();
        for (int run = 0; run < kRun && x + kBytes <= width; ++run, x += kBytes) {
            __builtin_prefetch(reference + x + kAhead);
            __builtin_prefetch(distorted + x + kAhead);
            const Vector errors = Lanes::distance_of_bytes(Lanes::load(a + x / 2), Lanes::load(b + x / 2));
            const Vector of_even = Lanes::even_bytes(errors), of_odd = Lanes::odd_bytes(errors);
            even = Lanes::add_pairs(even, of_even, of_even);
            odd = Lanes::add_pairs(odd, of_odd, of_odd);
        }
        uint32_t of_lanes[Lanes::kWords / 2];
        Lanes::store(of_lanes, Lanes::add(even, odd));
        for (const uint32_t lane : of_lanes) *total += lane;
    }
    return x;
}
