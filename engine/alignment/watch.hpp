// SPDX-License-Identifier: BSD-2-Clause-Patent
// Watches whether the pictures that are compared show the same: signatures of both in, findings out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "alignment/course.hpp"
#include "alignment/levels.hpp"
#include "alignment/likeness.hpp"
#include "alignment/offset_path.hpp"
#include "alignment/signature.hpp"
#include "quality_cuda_run/engine.h"

namespace qc {

/// One rendition's. Looks at what it is given in order, with memory for some seconds, and holds nothing up: findings
/// come when they are beyond doubt, a few seconds behind what they tell of.
class AlignmentWatch {
public:
    /// @param is_square of the pictures
    explicit AlignmentWatch(bool is_square = false) : likeness_(is_square) {}

    void add(int64_t frame, const Signature& reference, const Signature& distorted);
    /// What follows does not follow the last frame in time.
    void pause();
    /// Nothing follows.
    void finish();

    /// Whether most pictures look like those that they are paired with, or with what was found.
    bool fits() const { return course_.fits(); }
    /// What was found elsewhere, unless it is known otherwise why the pictures do not fit.
    void report_segment(int64_t offset);

    const std::vector<qc_finding>& findings() const { return course_.findings(); }
    int64_t frames() const { return frames_; }

private:
    struct Pair {
        int64_t frame = 0;
        Signature reference, distorted;
        float reference_moved = 0.0F; ///< distance from the one before
        float distorted_moved = 0.0F;
    };

    static constexpr int64_t kHistory = 2 * (kLargestOffset + OffsetPath::kLag);

    const Pair& pair(int64_t number) const { return pairs_[static_cast<size_t>(number % kHistory)]; }
    bool is_still(int64_t number) const;
    void judge(int64_t number);
    void settle(int64_t number, int offset);
    void end_stretch();
    void tell(const std::optional<qc_finding>& finding);
    void tell_levels();
    void tell_apart();

    OffsetPath path_{0};
    OffsetCourse course_;
    Levels levels_;
    bool has_told_levels_ = false;
    Likeness likeness_;
    std::optional<qc_finding> apart_; ///< held: an offset or another rate may explain it
    int64_t frames_ = 0;
    int64_t first_ = 0;   ///< of the stretch, as all numbers: of pairs since the beginning
    int64_t next_ = 0;    ///< pair to come
    int64_t judged_ = 0;  ///< pairs that path_ knows
    int64_t settled_ = 0; ///< pairs that course_ knows
    std::array<Pair, kHistory> pairs_;
    std::array<OffsetDistances, kHistory> distances_; ///< of the pairs that are judged
};

} // namespace qc
