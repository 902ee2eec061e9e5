// SPDX-License-Identifier: BSD-2-Clause-Patent
// From a request to what is computed: which metrics with which options, which models, and the columns that their scores
// fill. The same for every rendition of a session. Names no metric.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contract/metric.hpp"
#include "models/model.hpp"
#include "plan/request.hpp"
#include "quality_cuda.h"

namespace qc {

/// One score of a row.
struct ScoreColumn {
    std::string name;        ///< in logs
    std::string stored_name; ///< what models ask for; equals name for models
    std::string key;         ///< metadata key: the name in lower case
    bool is_model = false;
};

/// One configured metric. Requests of the same metric whose names would be equal share an instance.
struct MetricInstance {
    const MetricDescriptor* descriptor = nullptr;
    OptionValues options;
    std::vector<int> column; ///< per output of the descriptor; -1: this instance does not write it
    std::string stage;       ///< what its accumulators hold; empty: shared with nobody
};

/// Whether it reads the chroma of earlier frames.
inline bool needs_chroma_history(const MetricInstance& instance) {
    return instance.descriptor->needs_chroma_history != nullptr &&
           instance.descriptor->needs_chroma_history(instance.options);
}

/// One model (or collection) and where it reads and writes in a row.
struct ModelUse {
    std::string name;   ///< "vmaf", or what the user calls it
    std::string source; ///< built-in name or path of the file
    std::shared_ptr<const Model> model;
    std::vector<int> inputs;  ///< column of each of the model's features
    std::vector<int> outputs; ///< column of each of the model's outputs
};

/// The columns that lines in the style of another tool are made of.
struct StatsColumns {
    qc_stats_format format = QC_STATS_FORMAT_NONE;
    std::vector<int> columns; ///< per plane
};

/// A score of the whole stream, made of one column.
struct StreamScore {
    std::string name;  ///< among the aggregates
    std::string title; ///< in the line that ends a run
    int column = 0;
    const StreamScoreSpec* spec = nullptr;
};

/// Columns: scores of instances[0], instances[1] ..., then outputs of models[0], models[1] ...
struct ScorePlan {
    std::vector<MetricInstance> instances;
    std::vector<ScoreColumn> columns;
    std::vector<ModelUse> models;
    StatsColumns stats;
    std::vector<StreamScore> stream_scores;
    std::vector<size_t> reading_order; ///< instances as libvmaf would come to them: the models' first, in their order
    int n_subsample = 1;
    std::vector<std::string> warnings; ///< things to tell the user once, one line each
    std::vector<std::string> notes;    ///< likewise, of less weight: choices made for the user

    /// The instance whose accumulators this one's are the first words of (MetricDescriptor::stage); often itself, and
    /// always one that is computed by itself.
    size_t computed_by(size_t instance) const;
};

/// Pictures that some metrics see in the place of the others': those that are RGB.
struct RgbPictures {
    FrameGeometry geometry;
    bool for_colour_only = false; ///< for metrics that read colours by their tags; otherwise for all that take RGB

    bool suit(const MetricDescriptor& metric) const {
        return metric.accepts_rgb && (metric.uses_colour || !for_colour_only);
    }
};

/// For scores that are computed elsewhere: only what models read keeps its column, and there are no stream scores.
void keep_model_inputs(ScorePlan* plan);

/// Makes the plan of a request.
///
/// Instances are made in the order: `feature`, `metrics` (but "vmaf"), features of the models, so that what the user
/// spelt out comes first. As in libvmaf a later request whose score names equal an earlier one's is served by it,
/// whatever its options that do not show in names.
///
/// With skip_unsupported, metrics that refuse the geometry are left out with a warning, and so are models that need
/// them; nothing left is an error.
///
/// The model "auto" is a built-in one that fits size and frame rate of the geometry; a note says which.
///
/// @param geometry null: only what needs no picture size: outputs count as for a large picture. Otherwise each metric's
///        validate() is asked too, and disabled outputs get no column.
/// @param chroma_conflict how the inputs' chroma subsampling differs, empty if it does not: what reads chroma refuses
/// such
///        pictures (whose geometry has no chroma planes), the others have their scores
/// @param rgb null: all metrics see the same pictures
/// @param picture size of the whole pictures where the geometry is that of a region: whoever watches sees all of it
/// @return QC_ERROR_INVALID with one line that names the option, the value and what is accepted; or what validate()
///         returned
Status build_score_plan(const ScoreRequest& request, const FrameGeometry* geometry, ScorePlan* plan,
                        const std::string& chroma_conflict = {}, std::optional<PictureSize> picture = {},
                        const RgbPictures* rgb = nullptr);

} // namespace qc
