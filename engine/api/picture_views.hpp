// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pictures of a session as its metrics see them: one view, or two where RGB is scored by metrics of luma and chroma
// and by metrics of RGB. Each view has formats, a geometry and a backend's setup of its own.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/backend.hpp"
#include "api/conversion_plan.hpp"
#include "api/region.hpp"
#include "plan/score_plan.hpp"
#include "report/log_writer.hpp"

namespace qc {

/// One of them.
struct ViewOfPictures {
    PictureView conversions;
    qc_config config{};     ///< of the session, with the formats of converted pictures
    FrameGeometry picture;  ///< that is scored, or that the region lies in
    FrameGeometry geometry; ///< of what is scored
    bool needs_chroma = false;
    std::unique_ptr<AccumulatorLayout> layout; ///< of the instances that see this view
    BackendSetup setup;
};

class PictureViews {
public:
    /// Decides what becomes of the pictures. @param config outlives the views
    Status open(const qc_config& config);
    /// How a difference of the inputs' chroma hinders metrics, for a message; empty if there is none.
    const std::string& chroma_conflict() const { return chroma_conflict_; }
    const Region& region() const { return region_; }
    /// The first view's: where there is one of luma and chroma, that.
    const FrameGeometry& geometry() const { return views_.front().geometry; }
    const FrameGeometry& picture() const { return views_.front().picture; }
    const qc_config& config() const { return views_.front().config; }
    /// Null where all metrics see the same pictures.
    const RgbPictures* rgb() const { return rgb_ ? &*rgb_ : nullptr; }
    /// Of what a metric sees. Those that know no weights see none: they only draw or watch.
    FrameGeometry geometry_for(const MetricDescriptor& metric) const;

    /// Leaves the views that somebody sees. @param map whose map is drawn, or null
    void keep_seen(const ScorePlan& plan, const MetricDescriptor* map);
    /// @return QC_ERROR_INVALID if something is to be converted and convert=error; QC_ERROR_UNSUPPORTED if an instance
    ///         reads colours that differ among the renditions
    Status check(const ScorePlan& plan) const;
    /// Whether a view needs the chroma of an input's pictures as they are handed over.
    bool reads_chroma(int input) const;

    /// Tells backends what they have to know. All arguments outlive the views.
    void set_up(const ScorePlan& plan, std::span<const std::unique_ptr<Scorer>> scorers,
                const AccumulatorLayout& layout, const std::optional<MapSetup>& map);
    /// Most earlier pairs that any instance looks back at.
    int history() const;
    /// What a backend is handed of a picture.
    qc_picture handed_picture(const qc_picture& picture, int input) const;

    using Create = Status (*)(const BackendSetup& setup, std::unique_ptr<Backend>* backend);
    /// A backend for all views. @param config the session's, with the backend's defaults
    Status open_backend(Create create, const qc_config& config, std::unique_ptr<Backend>* backend);

    /// A line for each conversion, and whether it is one to be warned of.
    struct Note {
        std::string text;
        bool warns = false;
    };
    std::vector<Note> notes() const;
    /// Of the reference and a rendition, for a log.
    std::vector<LoggedConversion> logged(int rendition) const;

private:
    bool is_seen_as_rgb(const MetricDescriptor& metric) const { return rgb_ && rgb_->suit(metric); }
    size_t view_of(const MetricDescriptor& metric) const { return views_.size() > 1 && is_seen_as_rgb(metric) ? 1 : 0; }
    Status add_view(PictureView conversions);
    void cut_region(ViewOfPictures* view) const;
    void find_needs(const ScorePlan& plan);

    const qc_config* config_ = nullptr;
    std::deque<ViewOfPictures> views_; ///< luma and chroma, or RGB, or both; their addresses stay
    std::optional<RgbPictures> rgb_;
    std::string chroma_conflict_;
    Region region_;
};

} // namespace qc
