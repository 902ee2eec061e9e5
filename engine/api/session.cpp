// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/session.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "api/picture.hpp"
#include "api/scaling.hpp"
#include "api/self_test.hpp"
#include "api/session_config.hpp"
#include "contract/caught.hpp"
#include "plan/metric_registry.hpp"

namespace qc {

/// Puts the scores of one instance into one rendition's table, or into all for the reference's scores.
class Session::RenditionSink final : public ScoreSink, public AggregateSink {
public:
    RenditionSink(Session& session, size_t instance, int rendition, bool all)
        : session_(session), instance_(static_cast<int>(instance)), first_(all ? 0 : rendition),
          last_(all ? session.renditions() - 1 : rendition), start_(session.start_of(instance)) {}

    void put(int64_t frame, int output, double value) override {
        for (int r = first_; r <= last_; ++r)
            session_.tables_[static_cast<size_t>(r)]->put(start_ + frame, instance_, output, value);
    }
    void leave_out(int64_t frame) override {
        for (int r = first_; r <= last_; ++r) session_.tables_[static_cast<size_t>(r)]->leave_out(start_ + frame);
    }
    void put(std::string_view name, double value) override {
        for (int r = first_; r <= last_; ++r)
            session_.tables_[static_cast<size_t>(r)]->set_aggregate(std::string(name), value);
    }

private:
    Session& session_;
    int instance_, first_, last_;
    int64_t start_; ///< the frame that the metric takes for number 0
};

AccumulatorLayout::AccumulatorLayout(const ScorePlan& plan, std::span<const std::unique_ptr<Scorer>> scorers,
                                     int renditions)
    : blocks_(scorers.size()) {
    for (size_t i = 0; i < scorers.size(); ++i) {
        Block& block = blocks_[i];
        block.words = scorers[i]->accumulator_words();
        block.computed_by = plan.computed_by(i);
        if (block.computed_by != i) continue;
        block.offset = frame_words_;
        const bool per_rendition = plan.instances[i].descriptor->scope == Scope::kPair;
        block.rendition_words = per_rendition ? block.words : 0;
        frame_words_ += block.words * static_cast<size_t>(per_rendition ? renditions : 1);
    }
    for (Block& block : blocks_) {
        block.offset = blocks_[block.computed_by].offset;
        block.rendition_words = blocks_[block.computed_by].rendition_words;
    }
}

AccumulatorLayout AccumulatorLayout::only(const std::vector<bool>& instances) const {
    AccumulatorLayout some = *this;
    for (size_t i = 0; i < some.blocks_.size(); ++i) some.blocks_[i].is_others = !instances[i];
    return some;
}

// ---- creation -------------------------------------------------------------------------------------------------------

Session::Session(const qc_config& config) : config_(config) {
    config_.metrics = config_.model = config_.feature = config_.options = nullptr;
    resolve_common_defaults(&config_);
    asked_ = config_;
}

Session::~Session() {
    if (backend_ != nullptr) backend_->drain();
}

Status Session::check(const ScoreRequest& request, const qc_config& config) {
    Session made(config);
    made.config_.log = nullptr;
    return made.plan_scores(request);
}

Status Session::create(const qc_config& config, std::unique_ptr<Session>* session) {
    ScoreRequest request;
    QC_RETURN_IF_ERROR(parse_request(config, registered_metrics(), &request));
    return create(request, config, session);
}

Status Session::create(const ScoreRequest& request, const qc_config& config, std::unique_ptr<Session>* session) {
    std::unique_ptr<Session> made(new Session(config));
    QC_RETURN_IF_ERROR(made->plan_scores(request));
    QC_RETURN_IF_ERROR(made->make_scorers());
    QC_RETURN_IF_ERROR(made->choose_backend());
    if (config.selftest != 0 && !made->only_watches() && made->backend_->kind() == QC_BACKEND_CUDA)
        QC_RETURN_IF_ERROR(self_test(request, config));
    for (int r = 0; r < made->renditions(); ++r) {
        made->tables_.emplace_back();
        QC_RETURN_IF_ERROR(ScoreTable::create(made->plan_, &made->tables_.back()));
    }
    if (const Status spool = ScoreSpool::check_folder(); !spool.ok())
        made->log(QC_LOG_WARNING, spool.text() + ": scores stay in memory; TMPDIR chooses another folder");
    const size_t cells = made->plan_.columns.size() * static_cast<size_t>(made->renditions());
    made->row_values_.resize(cells);
    made->row_present_.resize(cells);
    made->row_fetched_.resize(static_cast<size_t>(made->renditions()));
    made->description_ = made->backend_->description();
    made->device_ = made->backend_->device();
    made->driver_ = made->backend_->driver();
    made->first_backend_ = made->backend_->kind();
    *session = std::move(made);
    return {};
}

void Session::log(qc_log_level level, const std::string& text) const {
    if (config_.log != nullptr) config_.log(config_.log_opaque, level, text.c_str());
}

Status Session::plan_scores(const ScoreRequest& request) {
    if (is_imported()) return plan_import(request);
    QC_RETURN_IF_ERROR(views_.open(config_));
    const ScoreRequest nothing;
    QC_RETURN_IF_ERROR(build_score_plan(only_watches() ? nothing : request, &views_.geometry(), &plan_,
                                        views_.chroma_conflict(),
                                        PictureSize{views_.picture().width, views_.picture().height}, views_.rgb()));
    const MetricDescriptor* const map = only_watches() ? nullptr : request.map;
    views_.keep_seen(plan_, map);
    geometry_ = views_.geometry();
    if (map != nullptr) QC_RETURN_IF_ERROR(draw_map(*map));
    tell_plan();
    QC_RETURN_IF_ERROR(views_.check(plan_));
    if (config_.watch_contents != 0) QC_RETURN_IF_ERROR(watch_contents());
    if (const Region& region = views_.region(); !region.is_everything())
        log(QC_LOG_INFO, "a region is scored, " + region_text(region) +
                             format(" of %dx%d", views_.picture().width, views_.picture().height));
    for (const PictureViews::Note& note : views_.notes()) log(note.warns ? QC_LOG_WARNING : QC_LOG_INFO, note.text);
    return {};
}

void Session::tell_plan() const {
    for (const std::string& warning : plan_.warnings) log(QC_LOG_WARNING, one_line(warning));
    for (const std::string& note : plan_.notes) log(QC_LOG_INFO, note);
}

Status Session::draw_map(const MetricDescriptor& metric) {
    QC_RETURN_IF_ERROR(plan_map(metric, views_.geometry_for(metric), config_, &plan_, &map_.emplace()));
    const double white = config_.map_white > 0.0 ? config_.map_white : metric.map->white;
    log(QC_LOG_INFO, format("maps of %s show %s: black is 0, white %g", std::string(metric.name).c_str(),
                            std::string(metric.map->what).c_str(), white));
    return {};
}

/// One more instance, without columns, so that rows, logs and scores know nothing of it; nobody finalises it either.
Status Session::watch_contents() {
    const MetricDescriptor& signature = signature_metric();
    const OptionValues options(signature.options);
    if (Status fits = validate(signature, views_.geometry_for(signature), options); !fits.ok()) {
        if (only_watches()) return unsupported("the contents cannot be watched: " + fits.text());
        log(QC_LOG_INFO, "the contents of the pictures are not watched: " + fits.text());
        return {};
    }
    contents_.emplace(views_.geometry_for(signature), config_.renditions, plan_.instances.size());
    plan_.instances.push_back({&signature, options, {}, {}});
    return {};
}

Status Session::make_scorers() {
    if (is_imported()) {
        layout_ = std::make_unique<AccumulatorLayout>(plan_, scorers_, config_.renditions);
        return {};
    }
    for (const MetricInstance& instance : plan_.instances) {
        const MetricDescriptor& descriptor = *instance.descriptor;
        const FrameGeometry geometry = views_.geometry_for(descriptor);
        scorers_.push_back(create_scorer(descriptor, geometry, instance.options));
        if (map_ && map_->instance + 1 == scorers_.size()) scorers_.back()->draw_maps();
        for (const std::string& warning : scorers_.back()->warnings())
            log(QC_LOG_WARNING, std::string(descriptor.name) + ": " + warning);
        const int count = descriptor.scope == Scope::kReference ? 1 : config_.renditions;
        auto& finalisers = finalisers_.emplace_back();
        for (int r = 0; r < count; ++r) finalisers.push_back(create_finaliser(descriptor, geometry, instance.options));
    }
    layout_ = std::make_unique<AccumulatorLayout>(plan_, scorers_, config_.renditions);
    views_.set_up(plan_, scorers_, *layout_, map_);
    return {};
}

Status Session::choose_backend() {
    const qc_backend wish = config_.backend;
    if (wish == QC_BACKEND_RECORDED || is_imported()) {
        backend_ = create_recorded_backend(wish);
        return {};
    }
    if (wish != QC_BACKEND_CPU) {
        const Status status = open_cuda();
        if (status.ok()) return {};
        const bool may_fall_back =
            wish == QC_BACKEND_AUTO && config_.cuda_context == nullptr && status.code() == QC_ERROR_NO_DEVICE;
        if (!may_fall_back) {
            const char* name = wish == QC_BACKEND_CUDA ? "backend=cuda: " : "";
            return {status.code(), name + status.text()};
        }
        // The same for every session of a process, and what backend=auto was meant for: said once.
        static std::atomic<bool> was_said = false;
        log(was_said.exchange(true) ? QC_LOG_DEBUG : QC_LOG_INFO, "scoring on the CPU: " + status.text());
    }
    return open_cpu();
}

Status Session::open_cpu() {
    config_ = asked_;
    resolve_cpu_defaults(std::thread::hardware_concurrency(), &config_);
    return views_.open_backend(create_cpu_backend, config_, &backend_);
}

/// Opens the CUDA backend; when memory is short and the user left the sizes to us, tries once more with the least.
Status Session::open_cuda() {
    const bool sizes_are_ours = config_.batch == 0 && config_.slots == 0;
    resolve_cuda_defaults(std::thread::hardware_concurrency(), &config_);
    Status status = views_.open_backend(create_cuda_backend, config_, &backend_);
    if (status.code() == QC_ERROR_NO_MEMORY && sizes_are_ours) {
        log(QC_LOG_WARNING, status.text() + "; trying again with one frame per batch");
        config_.batch = config_.renditions;
        config_.slots = 2;
        status = views_.open_backend(create_cuda_backend, config_, &backend_);
    }
    if (status.ok()) return {};
    config_ = asked_;
    if (status.code() == QC_ERROR_NO_MEMORY)
        return {status.code(), status.text() + "; lower the number of frames in flight (batch, slots, async_depth)"};
    return status;
}

// ---- frames ---------------------------------------------------------------------------------------------------------

Status Session::submit(const qc_frame& frame) {
    PictureHold hold(frame.release, frame.opaque);
    QC_RETURN_IF_ERROR(failure_);
    QC_RETURN_IF_ERROR(check_frame(frame));
    FrameInput input;
    input.map = frame.map;
    if (geometry_.has_weights) input.weights = frame.weights;
    input.reference = views_.handed_picture(frame.reference, 0);
    for (int r = 0; r < config_.renditions; ++r)
        input.distorted.push_back(views_.handed_picture(frame.distorted[r], r + 1));
    input.hold = std::move(hold);
    for (const qc_picture& picture : input.distorted) input.present.push_back(picture.plane[0] != nullptr);
    return enter(std::move(input));
}

Status Session::submit_measured(uint32_t renditions, std::span<const uint64_t> words) {
    QC_RETURN_IF_ERROR(failure_);
    if (flushed_) return invalid("a frame was submitted after the flush");
    if (backend_->kind() != QC_BACKEND_RECORDED)
        return invalid("measured frames are for sessions of the backend that is called recorded");
    if (words.size() != layout_->frame_words())
        return invalid(
            format("a measured frame has %zu words: %zu are accepted", words.size(), layout_->frame_words()));
    if (renditions >> config_.renditions != 0)
        return invalid(format("renditions=%#x: there are %d", static_cast<unsigned>(renditions), config_.renditions));
    FrameInput input;
    input.measured.assign(words.begin(), words.end());
    for (int r = 0; r < config_.renditions; ++r) input.present.push_back((renditions >> r & 1U) != 0);
    return enter(std::move(input));
}

Status Session::enter(FrameInput input) {
    if (submitted_ == 0) first_submit_ = std::chrono::steady_clock::now();
    input.index = submitted_;
    for (int r = 0; r < config_.renditions; ++r)
        tables_[static_cast<size_t>(r)]->begin_frame(submitted_, input.present[static_cast<size_t>(r)]);
    Status status = backend_->submit(std::move(input));
    if (!status.ok()) return fail_backend(std::move(status));
    ++submitted_;
    bool any = false;
    return take_results(false, &any);
}

Status Session::listen(qc_measured_callback callback, void* opaque) {
    if (submitted_ != 0) return invalid("whoever listens to what is measured has to come before the first frame");
    on_result = [callback, opaque](const FrameResult& result) {
        callback(opaque, result.index, result.accumulators.data(), static_cast<int64_t>(result.accumulators.size()));
    };
    return {};
}

Status Session::check_frame(const qc_frame& frame) const {
    if (flushed_) return invalid("a frame was submitted after the flush");
    if (backend_->kind() == QC_BACKEND_RECORDED)
        return invalid("the backend that is called recorded takes measured frames, no pictures");
    if (is_imported()) return invalid("the backend that is called imported takes scores, no pictures");
    for (const int64_t word : frame.reserved)
        if (word != 0) return invalid("a frame's reserved words are not 0");
    QC_RETURN_IF_ERROR(check_pictures(frame));
    if (frame.map.plane[0] != nullptr) QC_RETURN_IF_ERROR(check_map(frame.map));
    return check_weights(frame.weights, geometry_, only_watches());
}

/// Whether the pictures of a frame can be read as their formats say.
Status Session::check_pictures(const qc_frame& frame) const {
    if (frame.reference.plane[0] == nullptr) return invalid("a frame was submitted without its reference");
    QC_RETURN_IF_ERROR(check_picture(frame.reference, config_.reference, views_.reads_chroma(0), "the reference"));
    for (int r = 0; r < QC_MAX_RENDITIONS; ++r) {
        if (frame.distorted[r].plane[0] == nullptr) continue;
        if (r >= config_.renditions)
            return invalid(
                format("a frame has a picture of rendition %d: 0..%d is accepted", r, config_.renditions - 1));
        QC_RETURN_IF_ERROR(
            check_picture(frame.distorted[r], config_.distorted[r], views_.reads_chroma(r + 1), "a distorted picture"));
    }
    return {};
}

/// Whether the map can be painted there.
Status Session::check_map(const qc_picture& picture) const {
    if (!map_) return invalid("a map's picture was submitted, but the configuration names no map");
    return check_map_picture(picture, map_->paint, backend_->kind() == QC_BACKEND_CUDA ? map_->memory : QC_MEMORY_HOST);
}

/// Finalises what the backend has finished; with wait, at least the oldest frame in flight.
Status Session::take_results(bool wait, bool* any) {
    *any = false;
    for (;;) {
        FrameResult result;
        bool ready = false;
        Status status = backend_->poll(wait && !*any, &result, &ready);
        if (!status.ok()) return fail_backend(std::move(status));
        if (!ready) return {};
        *any = true;
        Status finalised = finalise(result);
        if (!finalised.ok()) return fail(std::move(finalised));
        QC_RETURN_IF_ERROR(check_tables());
    }
}

Status Session::check_tables() {
    for (const auto& table : tables_)
        if (!table->status().ok()) return fail(table->status());
    return {};
}

Status Session::finalise(const FrameResult& result) {
    if (on_result) on_result(result);
    for (const size_t i : plan_.reading_order) {
        const MetricInstance& instance = plan_.instances[i];
        if (!is_evaluated(instance, result.index, config_.n_subsample)) continue;
        const bool all = instance.descriptor->scope == Scope::kReference;
        for (size_t r = 0; r < finalisers_[i].size(); ++r) {
            if (!all && !result.present[r]) continue;
            RenditionSink sink(*this, i, static_cast<int>(r), all);
            const uint64_t* words = &result.accumulators[layout_->offset(i, static_cast<int>(r))];
            finalisers_[i][r]->finalise(result.index - start_of(i), {words, layout_->words(i)}, sink);
            QC_RETURN_IF_ERROR(finalisers_[i][r]->trouble());
        }
    }
    if (contents_) contents_->add(result, *layout_);
    last_result_ = std::chrono::steady_clock::now();
    finalised_ = result.index + 1;
    if (!stretch_ends_.empty() && stretch_ends_.front() == finalised_) {
        stretch_ends_.pop_front();
        end_stretch();
    }
    return {};
}

// ---- stretches ------------------------------------------------------------------------------------------------------
// A pause in the pairs cuts the stream into stretches. To a metric that looks back each of them is a stream of its own:
// the backend hides the pictures before it, and a new instance counts its frames from 0. The others notice nothing.

namespace {

bool looks_back(const MetricDescriptor& metric) {
    return metric.history > 0 || metric.distorted_history > 0 || metric.earlier_pairs != nullptr;
}

} // namespace

int64_t Session::start_of(size_t instance) const {
    return looks_back(*plan_.instances[instance].descriptor) ? stretch_start_ : 0;
}

Status Session::begin_stretch() {
    if (!failure_.ok() || flushed_ || is_imported()) return failure_;
    const int64_t last = stretch_ends_.empty() ? stretch_start_ : stretch_ends_.back();
    if (submitted_ == last) return {};
    backend_->forget_earlier_frames();
    stretch_ends_.push_back(submitted_);
    if (finalised_ == submitted_) {
        stretch_ends_.pop_front();
        end_stretch();
    }
    return {};
}

void Session::end_stretch() {
    flush_metrics(true);
    for (size_t i = 0; i < finalisers_.size(); ++i) {
        const MetricDescriptor& descriptor = *plan_.instances[i].descriptor;
        if (!looks_back(descriptor)) continue;
        for (auto& finaliser : finalisers_[i])
            finaliser = create_finaliser(descriptor, views_.geometry_for(descriptor), plan_.instances[i].options);
    }
    stretch_start_ = finalised_;
    if (contents_) contents_->pause();
}

Status Session::flush() {
    if (flushed_) return failure_;
    bool any = true;
    while (any && failure_.ok()) static_cast<void>(take_results(true, &any));
    flushed_ = true;
    if (failure_.ok())
        if (Status status = caught([this] { flush_metrics(false); }); !status.ok())
            static_cast<void>(fail(std::move(status)));
    if (contents_)
        if (Status status = caught([this] { contents_->finish(); }); !status.ok())
            static_cast<void>(fail(std::move(status)));
    for (const auto& table : tables_) {
        if (is_imported()) table->give_up_missing();
        table->close();
    }
    static_cast<void>(check_tables()); // rows that waited for the end
    return failure_;
}

Status Session::truncate(int64_t frames) {
    if (frames < 0) return invalid(format("frames=%lld: 0 and more are accepted", static_cast<long long>(frames)));
    if (!flushed_) return invalid("frames can be forgotten behind the flush only");
    for (const auto& table : tables_) QC_RETURN_IF_ERROR(table->truncate(frames));
    return {};
}

/// The last instances of a stretch, or at the end of the stream all of them with their stream-level values.
void Session::flush_metrics(bool looking_back_only) {
    if (is_imported()) return; // they have measured nothing
    for (const size_t i : plan_.reading_order) {
        const MetricDescriptor& descriptor = *plan_.instances[i].descriptor;
        if (looking_back_only && !looks_back(descriptor)) continue;
        const bool all = descriptor.scope == Scope::kReference;
        for (size_t r = 0; r < finalisers_[i].size(); ++r) {
            RenditionSink sink(*this, i, static_cast<int>(r), all);
            finalisers_[i][r]->flush(finalised_ - start_of(i), sink);
            if (!looking_back_only) finalisers_[i][r]->aggregates(sink);
        }
    }
}

qc_status Session::receive(bool wait, qc_row* row) {
    if (next_row(row)) return QC_OK;
    bool any = failure_.ok() && !flushed_;
    while (any) {
        if (!take_results(wait, &any).ok()) any = false;
        if (next_row(row)) return QC_OK;
        if (!wait) break;
    }
    static_cast<void>(check_tables()); // rows that cannot be read back
    if (!failure_.ok()) return failure_.code();
    return flushed_ ? QC_END : QC_AGAIN;
}

Status Session::await(int rendition, int64_t frame) {
    bool any = frame < submitted_;
    while (any && frame >= table(rendition).final_frames() && failure_.ok() && !flushed_)
        QC_RETURN_IF_ERROR(take_results(true, &any));
    return {};
}

Status Session::score(int rendition, int feature, int64_t frame, double* value, qc_status* code) const {
    if (frame < 0) return invalid(format("frame=%lld: 0 and more is accepted", static_cast<long long>(frame)));
    double found = 0.0;
    QC_RETURN_IF_ERROR(table(rendition).score(feature, frame, &found));
    if (frame >= table(rendition).final_frames()) {
        *code = flushed_ ? QC_END : QC_AGAIN;
        return failure_;
    }
    *value = found;
    return {};
}

/// Gathers the next row from all renditions' tables.
bool Session::next_row(qc_row* row) {
    // Rows of frames that are not scored wait for no score, except for their map, which the backend has painted then.
    if (map_ && received_ >= finalised_) return false;
    const size_t columns = plan_.columns.size();
    for (size_t r = 0; r < tables_.size(); ++r) {
        if (row_fetched_[r]) continue;
        int64_t frame = 0; // the same for all: rows become final in order, and every table has one for every frame
        const double* values = nullptr;
        const unsigned char* present = nullptr;
        bool left_out = false;
        if (!tables_[r]->next_final(&frame, &values, &present, &left_out)) return false;
        row_weightless_ |= int64_t{left_out} << r;
        std::copy_n(values, columns, row_values_.data() + r * columns); // there may be no column
        std::copy_n(present, columns, row_present_.data() + r * columns);
        row_fetched_[r] = true;
    }
    std::fill(row_fetched_.begin(), row_fetched_.end(), false);
    row->frame = received_;
    ++received_;
    row->value = row_values_.data();
    row->present = row_present_.data();
    row->weightless = std::exchange(row_weightless_, 0);
    return true;
}

/// Another backend can go on from here.
Status Session::fail_backend(Status status) {
    backend_failed_ = backend_failed_ || failure_.ok();
    return fail(std::move(status));
}

Status Session::continue_on_cpu() {
    if (failure_.ok()) return invalid("the session has not failed: it goes on as it is");
    if (!backend_failed_ || flushed_ || backend_->kind() != QC_BACKEND_CUDA) return failure_;
    backend_->drain();
    backend_->add_stats(&former_stats_);
    former_stats_.device_bytes = former_stats_.pinned_bytes = 0;
    QC_RETURN_IF_ERROR(open_cpu());
    abandon_unfinished();
    description_ +=
        format("; from frame %lld on: %s", static_cast<long long>(submitted_), backend_->description().c_str());
    failure_ = {};
    return {};
}

/// What the backend has not given back will not come. The metrics that look back end and begin, as in a pause.
void Session::abandon_unfinished() {
    end_stretch();
    stretch_ends_.clear();
    stretch_start_ = finalised_ = submitted_;
    for (const auto& table : tables_) table->abandon(submitted_);
}

Status Session::fail(Status status) {
    if (failure_.ok()) {
        failure_ = std::move(status);
        log(QC_LOG_ERROR, failure_.text());
    }
    return failure_;
}

} // namespace qc
