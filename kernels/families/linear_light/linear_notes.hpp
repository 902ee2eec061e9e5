// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is told about colours: what was known, what was assumed, what looks wrong.
#pragma once

#include <string>
#include <vector>

#include "contract/metric.hpp"
#include "families/linear_light/linear_settings.hpp"

namespace qc::linear_light {

bool is_hdr(const Colours& colours);

/// One line per property that matters, e.g. {"matrix", "bt709 (tagged)"}, then chroma's filter and the gamut.
void add_conventions(const LightSettings& settings, const FrameGeometry& geometry, std::vector<Convention>* list);

/// What was assumed, and where the inputs differ.
std::vector<std::string> colour_warnings(const LightSettings& settings);

/// Options that were set and change nothing for such pictures.
void add_idle_options(const LightSettings& settings, const FrameGeometry& geometry, std::vector<std::string>* list);

} // namespace qc::linear_light
