// SPDX-License-Identifier: BSD-2-Clause-Patent
// quality_bench --selftest: whether this GPU computes what it should, metric by metric.
#pragma once

#include <string>
#include <vector>

namespace qc::bench {

struct DeviceCheck {
    std::vector<std::string> metrics; ///< each as in qc_config, "all" among them
    std::vector<std::string> layouts;
    std::string model;   ///< for "vmaf"; empty: the default
    std::string options; ///< as in qc_config
};

/// The model that goes with these metrics: null unless "vmaf" is among them and a model is wanted.
const char* model_for(const std::string& metrics, const std::string& model);

/// Scores the engine's known pictures (api/self_test.hpp) with every metric and every model for itself, then with all
/// of an entry at once, and prints a line for each.
/// @return the exit status: 0 if all that the pictures' layouts allow was right, and that was something
int check_device(const DeviceCheck& check);

} // namespace qc::bench
