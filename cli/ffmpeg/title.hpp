// SPDX-License-Identifier: BSD-2-Clause-Patent
// A title: a reference with its distorted videos, what to score, and the parts it is divided into. What a plan holds,
// and what one `score` works on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ffmpeg/probe.hpp"

namespace qc::cli {

/// Options of the filter that make a score what it is: the same for all parts and for the merge.
struct Wish {
    std::string metrics, model, feature, opts, scale, roi, on_unsupported, backend;
    std::string scale_to, bitdepth, align, sync, range, convert, crop, eof_action, film_grain, container_crop;
    int n_subsample = 1;
    double max_dt = 0;
    bool allows_unpaired = false;
    double start = 0, duration = 0; ///< seconds of the title that are scored; duration 0: to its end
    int64_t frames = 0;             ///< of the first distorted video that are scored; 0: all

    bool is_cut() const { return start > 0 || duration > 0 || frames > 0; }
};

/// What a run over the whole title reads of an input, as an option of FFmpeg's filter trim each; empty: all.
struct Window {
    std::string start, end;
    double seek = -1; ///< seconds for -ss; below 0: from the beginning
};

/// What a part decodes of one input, in its time stamps as the filter sees them.
struct Stretch {
    int64_t from = 0;  ///< the first stamp that is the part's own
    int64_t start = 0; ///< frames before it, which tell what came before, begin here
    int64_t end = 0;   ///< behind the last one that may be a partner
    double seek = -1;  ///< seconds for -ss; below 0: from the beginning
};

struct Part {
    std::vector<Stretch> inputs; ///< in the filter's order: the first distorted video, the reference, the others
    bool is_first = true, is_last = true; ///< nothing is cut off before, behind
    int64_t frames = 0;                   ///< that it decodes of the first distorted video, 0: not known
};

struct Title {
    std::vector<std::string> inputs; ///< paths, in the filter's order
    std::vector<Opening> openings;   ///< one for each
    std::vector<Window> windows;     ///< one for each
    std::string log;
    Wish wish;
    std::vector<StreamFacts> facts;        ///< one for each, as of `score`; in no plan
    std::string times;                     ///< a file for a line with the times of each pair; empty: none; in no plan
    bool decodes_on_gpu = false;           ///< the machine's business, and in no plan
    double frame_rate = -1, tolerance = 0; ///< that parts go by; below 0: there is one part, which finds out
    std::vector<Part> parts;
    std::string why_one_part; ///< what is to be said of that
};

/// What every part needs of the pairs before it, in frames of the first distorted video: a gap of eight that is none
/// yet, the pairs that metrics look back at, and some that the part before it has scored too.
constexpr int64_t kLeadFrames = 16;
/// The same of a title: cvvdp filters over an eighth of a second, rounded up, twice over.
int64_t lead_frames(const Title& title);

/// Sets a title's windows, and leaves to the inputs what lies in them: from then on it is the title.
void cut(std::vector<Input>* inputs, Title* title);

/// An option that only a run that sees all pictures in their order can follow, as it was typed; empty: there is none.
std::string whole_option(const Wish& wish);

/// Why scores as they are wished for are those of one run alone; empty: they are not.
std::string why_undivided(const Title& title);

/// Divides a title into at most `wanted` parts.
/// @param shortest frames of a part; at least twice the lead
void divide(const std::vector<Input>& inputs, size_t wanted, int64_t shortest, Title* title);

/// Seconds for -ss from which on the frame at `start` is decoded as from the beginning; below 0: from the beginning.
double seek_for(const Input& input, int64_t start);

void to_json(nlohmann::json& json, const Title& title);
void from_json(const nlohmann::json& json, Title& title);

} // namespace qc::cli
