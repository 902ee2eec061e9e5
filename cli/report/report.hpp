// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a report is made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/rates.hpp"
#include "compare/scenes.hpp"
#include "ffmpeg/probe.hpp"
#include "logs/scores.hpp"
#include "results/provenance.hpp"
#include "words/failure.hpp"

namespace qc::cli {

struct ReportOptions {
    std::vector<std::string> logs;
    std::string output, csv, png;
    std::string plan, reference;
    std::vector<std::string> distorted;             ///< files, in the order of the encodes
    std::vector<std::string> commands;              ///< that made the logs, one each
    std::string labels, ladders, titles, bit_rates; ///< joined by commas, as typed
    std::string metric;                             ///< that the report begins with; empty: the log's first
    int thumbnails = 4;                             ///< scenes of each encode that are shown in pictures
    bool compare = false;
    bool is_quiet = false;
    std::string ffmpeg;
    ComparisonOptions comparison;
};

/// Of a line in a plot, each a number from 0 on.
struct Style {
    size_t colour = 0, dash = 0;
};

/// One distorted video and its scores.
struct Encode {
    ScoreLog log;
    size_t log_index = 0; ///< which LOG of the command line it came with
    size_t rendition = 0, renditions = 1;
    std::string label;
    std::string distorted, main, reference; ///< files; empty: not to be had. `main` decides about the pairs
    SourceFile source, reference_source;    ///< as the run's record has them; without a path: it has none
    std::string why_no_file;                ///< why one of the record's files is not to be had
    Provenance provenance;
    std::string why_no_provenance; ///< empty: it is known
    double bit_rate = 0;           ///< bit/s; 0: not known
    std::string bit_rate_source;
    std::string size; ///< "1920x1080"; empty: not known
    Scenes scenes;
    Style style;
    Scores rates;                   ///< Mbit/s of each frame; empty: not known
    std::vector<double> key_frames; ///< among the log's
};

/// Encodes of one title that belong to one curve.
struct Ladder {
    std::string name;
    size_t title = 0;
    std::vector<size_t> encodes;
    Style style;
};

struct Picture {
    std::string reference, distorted, difference; ///< JPEG
};

/// A scene that is worth a look.
struct WorstScene {
    size_t encode = 0;
    Scene scene;
    double mean = 0, lowest = 0; ///< of the report's score; `lowest`: of the worst frame
    size_t worst_frame = 0;      ///< place in the log's list
    std::optional<Picture> picture;
};

/// BD-rate of a ladder against the first one of its title.
struct LadderDifference {
    size_t ladder = 0;
    std::string base, score;
    RateDifference difference;
    std::optional<Interval> interval; ///< per cent
    const char* drawn = "scenes";     ///< for the interval; or blocks of time
};

/// BD-rate of ladders of one name, on average over titles.
struct AverageDifference {
    std::string ladder, base, score;
    double percent = 0;
    size_t titles = 0;
};

struct ComparedPair {
    size_t a = 0, b = 0; ///< encodes
    Comparison comparison;
    std::string refusal, what_differs; ///< why there is none, as a line and without the logs' names; empty: there is
};

struct Report {
    std::vector<Encode> encodes;
    std::vector<Ladder> ladders;
    std::vector<std::string> titles; ///< by their references; one that is not known has no name
    std::string score;               ///< that the report begins with
    double confidence = 95;          ///< per cent
    std::vector<WorstScene> worst;
    std::vector<LadderDifference> differences;
    std::vector<AverageDifference> averages;
    std::vector<ComparedPair> comparisons;
    std::vector<std::string> notes; ///< for people
    std::string why_no_pictures;    ///< empty: there are some for every encode
};

/// The command. @throws Failure
ExitCode report(const ReportOptions& options);

} // namespace qc::cli
