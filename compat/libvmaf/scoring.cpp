// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <limits>
#include <utility>

#include <quality_cuda_run/engine.h>

#include "context.hpp"
#include "log.hpp"

namespace compat {
namespace {

constexpr int kBatch = 16; ///< pairs of one launch on the GPU

void release(void* pair) {
    delete static_cast<Pair*>(pair);
}

std::string text_of(const PictureShape& shape) {
    return std::to_string(shape.w) + "x" + std::to_string(shape.h) + ", " + std::to_string(shape.bpc) +
           " bits, pixel format " + std::to_string(shape.pix_fmt);
}

} // namespace

Pair::Pair(const VmafPicture& its_ref, const VmafPicture& its_dist, std::atomic<int64_t>* count)
    : ref(its_ref), dist(its_dist), held(count) {
    add_reference(ref);
    add_reference(dist);
    ++*held;
}

Pair::~Pair() {
    --*held;
    drop_reference(&ref);
    drop_reference(&dist);
}

void Scoring::close() {
    qc_session_destroy(std::exchange(session_, nullptr));
    pending_ = nullptr;
}

double Scoring::fps() const {
    const double seconds = std::chrono::duration<double>(last_ - began_).count();
    return has_begun() ? static_cast<double>(indices_.size()) / seconds : std::numeric_limits<double>::quiet_NaN();
}

int Scoring::check_pair(const ScoreRequest& request, const VmafPicture& ref, const VmafPicture& dist,
                        unsigned index) const {
    const PictureShape shape = shape_of(ref);
    if (flushed_) return refused("a picture comes behind the flush");
    if (failure_ != QC_OK) return errno_of(failure_);
    if (ref.ref == nullptr || dist.ref == nullptr) return refused("a picture is empty");
    if (!(shape == shape_of(dist)))
        return refused("the reference (" + text_of(shape) + ") and the distorted picture (" + text_of(shape_of(dist)) +
                       ") differ");
    const bool on_device = ref.ref->place == Place::kDevice;
    if (on_device != (dist.ref->place == Place::kDevice) || (first_ && on_device != (place_ == Place::kDevice)))
        return refused("some pictures lie in device memory, others do not");
    if (first_ && !(*first_ == shape))
        return refused("a picture (" + text_of(shape) + ") differs from the first one (" + text_of(*first_) + ")");
    const bool is_next = index == indices_.size();
    if (!is_next && (strays_.contains(index) || (index < indices_.size() && indices_[index] == index)))
        return refused("there was a picture of index " + std::to_string(index));
    if (!is_next && (request.looks_back() || config_.n_subsample > 1))
        return refused("index " + std::to_string(index) + " comes where " + std::to_string(indices_.size()) +
                       " has its place: features that look at the picture before, and n_subsample, take no gaps");
    return 0;
}

qc_config Scoring::session_config(ScoreRequest& request, qc_backend backend) const {
    qc_config config{};
    config.struct_size = sizeof(config);
    config.reference = config.distorted[0] = format_of(*first_, place_);
    request.fill(&config);
    config.n_subsample =
        static_cast<int>(std::clamp(config_.n_subsample, 1u, static_cast<unsigned>(std::numeric_limits<int>::max())));
    config.backend = backend;
    config.log = say_for_engine;
    if (backend == QC_BACKEND_CUDA) {
        config.cuda_context = device_ != nullptr ? device_->context() : nullptr;
        config.batch = kBatch;
    } else {
        config.n_threads = static_cast<int>(std::clamp(config_.n_threads, 1u, 1024u));
        config.hold_pictures = 1;
    }
    return config;
}

int Scoring::read(ScoreRequest& request, const VmafPicture& ref, const VmafPicture& dist, unsigned index) {
    if (const int error = check_pair(request, ref, dist, index); error != 0) return error;
    if (!first_) {
        first_ = shape_of(ref);
        place_ = ref.ref->place;
        qc_error error{};
        const qc_config config = session_config(request, QC_BACKEND_CPU);
        const qc_status status = request.is_empty() ? QC_OK : qc_config_check(&config, &error);
        if (status != QC_OK) first_ = std::nullopt;
        if (status != QC_OK) return failed(status, error.text);
        began_ = last_ = std::chrono::steady_clock::now();
    }
    indices_.reserve(indices_.size() + 1);
    if (index != indices_.size()) strays_.emplace(index, indices_.size());
    int error = 0;
    if (!request.is_empty()) {
        auto pair = std::make_unique<Pair>(ref, dist, &held_);
        if (place_ != Place::kDevice) {
            extend_chroma(pair->ref);
            extend_chroma(pair->dist);
        }
        if (indices_.empty())
            pending_ = std::move(pair);
        else if (session_ == nullptr)
            error = start(request, false);
        if (error == 0 && pair != nullptr) error = submit(std::move(pair));
    }
    if (error != 0) {
        strays_.erase(index);
        return error;
    }
    indices_.push_back(index);
    collect();
    return 0;
}

/// Without a wish the GPU is taken where there is one, except for a single pair: a context on it takes longer than
/// that.
int Scoring::start(ScoreRequest& request, bool is_small) {
    const bool must_be_cuda = wish_ == Wish::kCuda || place_ == Place::kDevice;
    const bool may_be_cuda = must_be_cuda || device_ != nullptr || (wish_ == Wish::kAuto && !is_small);
    qc_error error{};
    qc_status status = QC_ERROR_NO_DEVICE;
    if (may_be_cuda) status = open(request, QC_BACKEND_CUDA, &error);
    if (!must_be_cuda && status != QC_OK) {
        if (status != QC_ERROR_NO_DEVICE) say(VMAF_LOG_LEVEL_WARNING, std::string(error.text) + ": the CPU goes on");
        status = open(request, QC_BACKEND_CPU, &error);
    }
    if (status != QC_OK) return failed(failure_ = status, error.text);
    say(VMAF_LOG_LEVEL_DEBUG, qc_session_description(session_));
    return pending_ != nullptr ? submit(std::move(pending_)) : 0;
}

qc_status Scoring::open(ScoreRequest& request, qc_backend backend, qc_error* error) {
    const qc_config config = session_config(request, backend);
    return qc_session_create(&config, &session_, error);
}

void Scoring::order_columns() {
    qc_feature feature{};
    for (int i = 0; qc_session_feature(session_, i, &feature) == QC_OK; ++i)
        names_.emplace_back(feature.is_model != 0 ? "" : feature.name);
    int column = 0;
    for (int place = 0; qc_session_report_feature(session_, 0, place, &column) == QC_OK; ++place)
        if (const auto at = static_cast<size_t>(column); !names_[at].empty()) column_order_.push_back(at);
}

int Scoring::submit(std::unique_ptr<Pair> pair) {
    qc_frame frame{};
    frame.reference = view_of(pair->ref, place_);
    frame.distorted[0] = view_of(pair->dist, place_);
    frame.release = release;
    frame.opaque = pair.release(); // gone by the release, whatever becomes of the call
    const qc_status status = qc_session_submit(session_, &frame);
    return status == QC_OK ? 0 : failed(status, qc_session_error(session_));
}

qc_status Scoring::receive(int wait) {
    if (session_ == nullptr) return QC_AGAIN;
    qc_row row{};
    const qc_status status = qc_session_receive(session_, wait, &row);
    if (status < QC_OK && failure_ == QC_OK) static_cast<void>(failed(failure_ = status, qc_session_error(session_)));
    if (status != QC_OK) return status;
    if (names_.empty()) order_columns(); // with the first row it is settled
    const unsigned index = indices_[received_++];
    for (const size_t column : column_order_)
        if (row.present[column] != 0 && !scores_.add(names_[column], index, row.value[column]))
            say(VMAF_LOG_LEVEL_WARNING,
                names_[column] + " of index " + std::to_string(index) + " was imported: that score stays");
    last_ = std::chrono::steady_clock::now();
    return status;
}

void Scoring::collect() {
    while (receive(0) == QC_OK) {
    }
    qc_session_collect(session_);
}

void Scoring::reach(ScoreRequest& request, unsigned index) {
    if (pending_ != nullptr && start(request, false) != 0) return;
    collect();
    const auto stray = strays_.find(index);
    const size_t position = stray != strays_.end() ? stray->second : index;
    if (position >= indices_.size() || indices_[position] != index) return;
    while (received_ <= position && receive(1) == QC_OK) {
    }
}

bool Scoring::wait_for_a_pair() {
    if (session_ == nullptr || held_ == 0) return false;
    const int64_t before = held_;
    const bool came = receive(1) == QC_OK;
    qc_session_collect(session_);
    return came || held_ < before;
}

int Scoring::flush(ScoreRequest& request) {
    if (flushed_) return refused("the flush comes twice");
    if (!first_) return refused("the flush comes before the first picture");
    flushed_ = true;
    if (pending_ != nullptr)
        if (const int error = start(request, true); error != 0) return error;
    if (session_ == nullptr) return errno_of(failure_);
    qc_status status = qc_session_flush(session_);
    if (status < QC_OK && failure_ == QC_OK) static_cast<void>(failed(failure_ = status, qc_session_error(session_)));
    while ((status = receive(1)) == QC_OK) {
    }
    const char* name = nullptr;
    double value = 0;
    for (int i = 0; qc_session_aggregate(session_, 0, i, &name, &value) == QC_OK; ++i)
        scores_.add_aggregate(name, value);
    return errno_of(failure_);
}

} // namespace compat
