// SPDX-License-Identifier: BSD-2-Clause-Patent
// Picture formats: checking them, and the geometry a session scores in.
#pragma once

#include <string>

#include "api/sample_layout.hpp"
#include "contract/status.hpp"
#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc {

/// Longest side of a picture, in luma samples.
constexpr int kMaxSide = 32768;

/// Whether a format describes pictures that exist. @param prefix of the fields' names in messages, "reference."
Status check_format(const qc_format& format, const std::string& prefix);

/// Checks the formats of all inputs against each other and finds the geometry the metrics see: the reference's size
/// or the one that config.scoring_width asks for, the largest depth among them and config.bitdepth, the colour tags of
/// the reference and of the first distorted input.
/// @param chroma_conflict how the subsampling of an input differs from the reference's, and what helps, for a message;
///        empty if none does. The geometry has no chroma planes then
Status session_geometry(const qc_config& config, FrameGeometry* geometry, std::string* chroma_conflict);

/// Whether a picture can be read as its format says: memory, pointers and pitches of the planes that are needed.
/// @param input what it is, for the message
Status check_picture(const qc_picture& picture, const qc_format& picture_format, bool needs_chroma, const char* input);

/// Of the weights of a session's frames.
qc_format weights_format(const FrameGeometry& geometry);

/// Whether there are weights where they are expected, and none elsewhere.
/// @param only_watches nothing is scored, so that none are needed
Status check_weights(const qc_picture& weights, const FrameGeometry& geometry, bool only_watches);

/// Whether all distorted inputs have the same colour tags, once the reference has told what theirs leave open.
bool colours_agree(const qc_config& config);

/// Whether pictures of this format have another size than the scored one.
bool is_scaled(const qc_format& format, const FrameGeometry& geometry);

} // namespace qc
