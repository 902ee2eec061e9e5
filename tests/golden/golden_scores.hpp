// SPDX-License-Identifier: BSD-2-Clause-Patent
// Holds a metric's CPU reference against libvmaf's scores of all golden clips. Test code only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contract/metric.hpp"
#include "tests/golden/golden.hpp"

namespace qc::golden {

/// Where the options are read that a golden score was made with.
enum class OptionsFrom {
    kItems, ///< what a run says it registered; the run has to have exactly the metric's scores
    kNames  ///< scores' names ("vif_scale0_egl_1"), in runs of models too; debug is on where the metric has it
};

/// What a metric's refusal of a clip or an option has to mean.
enum class Refusals {
    kAny,       ///< nothing
    kUndefined, ///< that the reference gives no score, or zeros, which is what empty sums leave
    kSame       ///< that the reference gives no score; and what it refused is refused
};

/// What a comparison has of its own.
struct ScoreRules {
    const MetricDescriptor& metric;
    OptionsFrom options_from = OptionsFrom::kItems;
    int least = 1; ///< values that have to be compared, and
    /// runs, and option suffixes of names (kNames), of which at least one value has to be
    std::vector<std::string> required{};
    /// How far scores may be apart; 0: every bit. Infinities have to be equal.
    double tolerance = 0.0;
    double (*tolerance_of)(const OptionValues&) = nullptr; ///< where it depends on the options
    /// Whether the reference has one answer only; null: always.
    bool (*settled)(const Clip&, const OptionValues&) = nullptr;
    bool unstable = true;   ///< also what the reference computes from memory that it never wrote
    bool subsampled = true; ///< also runs that leave out frames
    Refusals refusals = Refusals::kAny;
    int least_refused = 0;                        ///< items that the reference refused, and we (kSame)
    bool (*refused_alone)(const Clip&) = nullptr; ///< exceptions from that; null: none
};

/// Compares all values of all runs of all clips. Skips the test where the golden folder is missing.
void expect_golden_scores(const ScoreRules& rules);

/// Reads "_ks_0.5_psm_bilinear_urd" into options. False if it is not made of the metric's options.
bool read_suffix(const MetricDescriptor& metric, std::string_view suffix, OptionValues* options);

/// Value of an option by its name.
double option_number(const OptionValues& options, std::string_view name);

/// The same number, infinities and NaN among them.
bool same_value(double a, double b);

/// Compares values of one kind, and counts.
class Tally {
public:
    /// Fails the test if they are farther apart than allowed.
    void compare(double actual, double expected, double tolerance, const std::string& what);
    void print(const std::string& what) const;
    int compared() const { return compared_; }

private:
    int compared_ = 0, different_ = 0;
    double largest_ = 0.0; ///< difference
};

} // namespace qc::golden
