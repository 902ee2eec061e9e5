// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/picture_views.hpp"

#include <algorithm>

#include "api/joined_backend.hpp"
#include "api/picture.hpp"
#include "api/scaling.hpp"

namespace qc {
namespace {

/// An input's format in a configuration.
qc_format& format_in(qc_config* config, size_t input) {
    return input == 0 ? config->reference : config->distorted[input - 1];
}
const qc_format& format_in(const qc_config& config, size_t input) {
    return input == 0 ? config.reference : config.distorted[input - 1];
}

bool has_conversion(const PictureView& view) {
    return std::any_of(view.begin(), view.end(), [](const InputConversion& each) { return each.is_needed; });
}

LoggedCoding logged_coding(const qc_format& picture, const Coding& coding) {
    const char* name = qc_format_name(&picture);
    return {name != nullptr ? name : "", coding.full ? "full" : "limited", coding.rgb ? "" : matrix_text(coding.matrix),
            coding.depth};
}

} // namespace

// ---- what they become -----------------------------------------------------------------------------------------------

Status PictureViews::open(const qc_config& config) {
    config_ = &config;
    QC_RETURN_IF_ERROR(check_formats(config));
    ConversionPlan plan;
    QC_RETURN_IF_ERROR(plan_conversions(config, &plan));
    QC_RETURN_IF_ERROR(add_view(std::move(plan.main)));
    QC_RETURN_IF_ERROR(find_region(views_[0].config, views_[0].picture, &region_));
    if (!plan.rgb.empty()) {
        QC_RETURN_IF_ERROR(add_view(std::move(plan.rgb)));
        rgb_.emplace();
        rgb_->for_colour_only = plan.is_mixed;
    }
    for (ViewOfPictures& view : views_) {
        view.geometry = region_.is_everything() ? view.picture : cut_out(region_, view.picture);
        view.geometry.has_weights = config.weights != 0 && config.watch_contents != 2;
    }
    if (rgb_) rgb_->geometry = views_[1].geometry;
    return {};
}

Status PictureViews::add_view(PictureView conversions) {
    ViewOfPictures& view = views_.emplace_back();
    view.config = *config_;
    for (size_t input = 0; input < conversions.size(); ++input)
        format_in(&view.config, input) = converted_format(format_in(*config_, input), conversions[input]);
    view.conversions = std::move(conversions);
    std::string conflict;
    QC_RETURN_IF_ERROR(session_geometry(view.config, &view.picture, &conflict));
    if (views_.size() == 1) chroma_conflict_ = conflict;
    return {};
}

FrameGeometry PictureViews::geometry_for(const MetricDescriptor& metric) const {
    FrameGeometry geometry = views_[view_of(metric)].geometry;
    geometry.has_weights = geometry.has_weights && metric.accepts_weights;
    return geometry;
}

void PictureViews::keep_seen(const ScorePlan& plan, const MetricDescriptor* map) {
    if (views_.size() == 1) return;
    bool seen[2]{};
    for (const MetricInstance& instance : plan.instances) seen[view_of(*instance.descriptor)] = true;
    if (map != nullptr) seen[view_of(*map)] = true;
    // Whoever only watches sees what costs least.
    if (!seen[0] && !seen[1]) seen[rgb_->for_colour_only ? 0 : 1] = true;
    if (!seen[1]) rgb_.reset();
    if (!seen[1]) views_.pop_back();
    if (!seen[0]) views_.pop_front();
}

Status PictureViews::check(const ScorePlan& plan) const {
    for (const ViewOfPictures& view : views_)
        for (size_t input = 0; input < view.conversions.size() && config_->convert == QC_CONVERT_ERROR; ++input) {
            if (!view.conversions[input].is_needed) continue;
            return invalid(format("convert=error: %s would be converted %s: convert it first, or use convert=auto",
                                  input_text(*config_, static_cast<int>(input)).c_str(),
                                  conversion_text(format_in(*config_, input), view.conversions[input]).c_str()));
        }
    for (const MetricInstance& instance : plan.instances) {
        const MetricDescriptor& metric = *instance.descriptor;
        if (!metric.uses_colour || colours_agree(views_[view_of(metric)].config)) continue;
        return unsupported(
            format("%s: the distorted inputs are tagged with different colour spaces, ranges, transfers or "
                   "chroma locations: score them one by one, or tag them alike (setparams)",
                   std::string(metric.name).c_str()));
    }
    return {};
}

bool PictureViews::reads_chroma(int input) const {
    return std::any_of(views_.begin(), views_.end(), [&](const ViewOfPictures& view) {
        const InputConversion& conversion = view.conversions[static_cast<size_t>(input)];
        return view.needs_chroma || conversion.from.rgb != conversion.to.rgb;
    });
}

// ---- what is told ---------------------------------------------------------------------------------------------------

std::vector<PictureViews::Note> PictureViews::notes() const {
    std::vector<Note> notes;
    for (const ViewOfPictures& view : views_)
        for (size_t input = 0; input < view.conversions.size(); ++input) {
            const InputConversion& conversion = view.conversions[input];
            if (!conversion.is_needed) continue;
            std::string text = input_text(*config_, static_cast<int>(input)) + " is converted " +
                               conversion_text(format_in(*config_, input), conversion);
            if (views_.size() > 1 && conversion.to.rgb) text += ", for metrics of RGB";
            if (conversion.assumes_matrix)
                text += "; a wrong matrix costs points: if it is another one, tag the YUV input before "
                        "(setparams=colorspace=bt709)";
            notes.push_back({std::move(text), conversion.assumes_matrix});
        }
    const ViewOfPictures& view = views_.front();
    for (size_t input = 0; input < view.conversions.size(); ++input) {
        const qc_format& picture = format_in(view.config, input);
        if (is_scaled(picture, view.picture))
            notes.push_back({input_text(*config_, static_cast<int>(input)) +
                                 format(" is scaled from %dx%d to %dx%d, %s", picture.width, picture.height,
                                        view.picture.width, view.picture.height, scaling_name(config_->scaling)),
                             false});
        if (input == 0 || view.conversions[0].is_needed || view.conversions[input].is_needed) continue;
        if (picture.depth != view.config.reference.depth)
            notes.push_back({format("inputs of %d and %d bits: both are scored at %d bits (samples shifted left)",
                                    picture.depth, view.config.reference.depth, view.geometry.depth),
                             false});
        else if (config_->bitdepth > picture.depth)
            notes.push_back({format("bitdepth=%d: inputs of %d bits are scored at %d bits (samples shifted left)",
                                    config_->bitdepth, picture.depth, view.geometry.depth),
                             false});
    }
    return notes;
}

std::vector<LoggedConversion> PictureViews::logged(int rendition) const {
    std::vector<LoggedConversion> list;
    for (const ViewOfPictures& view : views_)
        for (const size_t input : {size_t{0}, static_cast<size_t>(rendition) + 1}) {
            const InputConversion& conversion = view.conversions[input];
            if (!conversion.is_needed) continue;
            list.push_back({input == 0 ? "reference" : "distorted", conversion.to.rgb ? "rgb" : "luma and chroma",
                            logged_coding(format_in(*config_, input), conversion.from),
                            logged_coding(format_in(view.config, input), conversion.to)});
        }
    return list;
}

// ---- backends -------------------------------------------------------------------------------------------------------

void PictureViews::find_needs(const ScorePlan& plan) {
    for (const MetricInstance& instance : plan.instances) {
        ViewOfPictures& view = views_[view_of(*instance.descriptor)];
        const bool reads_chroma = instance.descriptor->needs_chroma || needs_chroma_history(instance);
        view.needs_chroma = view.needs_chroma || (reads_chroma && view.geometry.plane_count() > 1);
        BackendSetup& setup = view.setup;
        setup.history = std::max(setup.history, instance.descriptor->history);
        setup.distorted_history = std::max(setup.distorted_history, instance.descriptor->distorted_history);
        setup.chroma_history = setup.chroma_history || needs_chroma_history(instance);
        setup.earlier_pairs =
            std::max(setup.earlier_pairs, earlier_pairs(*instance.descriptor, view.geometry, instance.options));
    }
}

void PictureViews::set_up(const ScorePlan& plan, std::span<const std::unique_ptr<Scorer>> scorers,
                          const AccumulatorLayout& layout, const std::optional<MapSetup>& map) {
    find_needs(plan);
    for (size_t v = 0; v < views_.size(); ++v) {
        ViewOfPictures& view = views_[v];
        std::vector<bool> seen_by;
        for (const MetricInstance& instance : plan.instances) seen_by.push_back(view_of(*instance.descriptor) == v);
        view.layout = std::make_unique<AccumulatorLayout>(layout.only(seen_by));
        view.setup.config = &view.config;
        view.setup.geometry = view.geometry;
        view.setup.weights = weights_format(view.geometry);
        view.setup.plan = &plan;
        view.setup.scorers = scorers;
        view.setup.layout = view.layout.get();
        view.setup.needs_chroma = view.needs_chroma;
        if (map && seen_by[map->instance]) view.setup.map = map;
        cut_region(&view);
    }
}

/// From here on backends see the region as if it were all, and converted pictures as if they had come so.
void PictureViews::cut_region(ViewOfPictures* view) const {
    BackendSetup& setup = view->setup;
    const auto cut_format = [&](const qc_format& whole) {
        return region_.is_everything() || is_scaled(whole, view->picture) ? whole : cut_out(region_, whole);
    };
    if (!region_.is_everything()) {
        setup.cut.emplace(BackendSetup::Cut{region_, view->picture, {}});
        for (int input = 0; input < setup.inputs(); ++input)
            setup.cut->formats.push_back(cut_format(setup.whole_format_of(input)));
    }
    if (!has_conversion(view->conversions)) return;
    for (size_t input = 0; input < view->conversions.size(); ++input) {
        const InputConversion& conversion = view->conversions[input];
        auto& recoded = setup.recoded.emplace_back();
        if (conversion.is_needed)
            recoded = BackendSetup::Recoded{cut_format(format_in(*config_, input)),
                                            make_recoding(conversion.from, conversion.to, setup.planes_read())};
    }
}

int PictureViews::history() const {
    int most = 0;
    for (const ViewOfPictures& view : views_)
        most = std::max({most, view.setup.history, view.setup.distorted_history, view.setup.earlier_pairs});
    return most;
}

qc_picture PictureViews::handed_picture(const qc_picture& picture, int input) const {
    const BackendSetup& setup = views_.front().setup;
    if (!setup.cut || setup.is_scaled(input) || picture.plane[0] == nullptr) return picture;
    return cut_out(region_, format_in(*config_, static_cast<size_t>(input)), picture);
}

Status PictureViews::open_backend(Create create, const qc_config& config, std::unique_ptr<Backend>* backend) {
    std::vector<std::unique_ptr<Backend>> made;
    std::vector<const BackendSetup*> setups;
    for (ViewOfPictures& view : views_) {
        qc_config resolved = config;
        for (int input = 0; input < view.setup.inputs(); ++input)
            format_in(&resolved, static_cast<size_t>(input)) = view.setup.whole_format_of(input);
        view.config = resolved;
        QC_RETURN_IF_ERROR(create(view.setup, &made.emplace_back()));
        setups.push_back(&view.setup);
    }
    *backend = made.size() == 1 ? std::move(made.front()) : join_backends(std::move(made), setups);
    return {};
}

} // namespace qc
