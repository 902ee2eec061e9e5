// SPDX-License-Identifier: BSD-2-Clause-Patent
// Models that need no file. Figures by Netflix, Inc. (see NOTICE), kept in engine/models in a form of our own.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "models/model.hpp"

namespace qc {

/// Names in a fixed order; the first is the default.
std::span<const std::string_view> builtin_model_names();

/// What metrics=all scores beside the metrics where `model` is not given, as entries of that option.
std::span<const std::string_view> models_of_all();

/// The v1 model for pictures of this size, which are looked at from where their lines are just not seen: three picture
/// heights away up to about 1080 lines (3d0h), one and a half above (1d5h_2160); its high-frame-rate twin from 50
/// frames/s up. frame_rate 0: unknown, taken as lower.
std::string_view automatic_model_name(int width, int height, double frame_rate);

/// @return QC_ERROR_INVALID for an unknown name, listing the known ones
Status load_builtin_model(std::string_view name, std::shared_ptr<const Model>* model);

} // namespace qc
