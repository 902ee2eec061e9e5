// SPDX-License-Identifier: BSD-2-Clause-Patent
// Mean and deviation of values that are all at hand.
#pragma once

#include <cmath>
#include <span>

namespace qc {

struct Deviation {
    double mean;
    double standard; ///< of the population

    /// Summed in the order given. @param values not empty
    explicit Deviation(std::span<const double> values) {
        const double n = static_cast<double>(values.size());
        double sum = 0.0;
        for (double value : values) sum += value;
        mean = sum / n;
        double squares = 0.0;
        for (double value : values) squares += (value - mean) * (value - mean);
        standard = std::sqrt(squares / n);
    }
};

} // namespace qc
