// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/joined_backend.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

namespace qc {
namespace {

/// A hold that several share: it ends with the last of them.
class SharedHold {
public:
    /// @return as many as are wanted; empty ones where nobody waits for the pictures
    static std::vector<PictureHold> split(PictureHold hold, size_t parts) {
        std::vector<PictureHold> made(parts);
        if (!hold.is_wanted()) return made;
        auto* const shared = new SharedHold(std::move(hold), parts);
        for (PictureHold& part : made) part = PictureHold(release, shared);
        return made;
    }

private:
    SharedHold(PictureHold hold, size_t parts) : hold_(std::move(hold)), left_(parts) {}
    static void release(void* opaque) {
        auto* const shared = static_cast<SharedHold*>(opaque);
        if (--shared->left_ == 0) delete shared;
    }

    PictureHold hold_;
    std::atomic<size_t> left_;
};

class JoinedBackend final : public Backend {
public:
    JoinedBackend(std::vector<std::unique_ptr<Backend>> backends, std::vector<const BackendSetup*> setups)
        : backends_(std::move(backends)), setups_(std::move(setups)), results_(backends_.size()) {}

    Status submit(FrameInput input) override {
        std::vector<PictureHold> holds = SharedHold::split(std::move(input.hold), backends_.size());
        for (size_t b = 0; b < backends_.size(); ++b) {
            FrameInput part;
            part.index = input.index;
            part.reference = input.reference;
            part.distorted = input.distorted;
            part.present = input.present;
            part.weights = input.weights;
            if (setups_[b]->map) part.map = input.map;
            part.hold = std::move(holds[b]);
            QC_RETURN_IF_ERROR(backends_[b]->submit(std::move(part)));
        }
        return {};
    }

    Status poll(bool wait, FrameResult* result, bool* ready) override {
        *ready = false;
        for (size_t b = 0; b < backends_.size(); ++b) {
            if (!results_[b].empty()) continue;
            FrameResult own;
            bool is_there = false;
            QC_RETURN_IF_ERROR(backends_[b]->poll(wait, &own, &is_there));
            if (is_there) results_[b].push_back(std::move(own));
        }
        if (std::any_of(results_.begin(), results_.end(), [](const auto& queue) { return queue.empty(); })) return {};
        *result = std::move(results_[0].front());
        for (size_t b = 1; b < backends_.size(); ++b) add_words(results_[b].front(), *result);
        for (auto& queue : results_) queue.pop_front();
        *ready = true;
        return {};
    }

    void forget_earlier_frames() override {
        for (const auto& backend : backends_) backend->forget_earlier_frames();
    }
    void collect() override {
        for (const auto& backend : backends_) backend->collect();
    }
    void drain() override {
        for (const auto& backend : backends_) backend->drain();
    }
    qc_backend kind() const override { return backends_[0]->kind(); }
    std::string description() const override {
        std::string text;
        for (const auto& backend : backends_)
            text += (text.empty() ? "" : "; for metrics of RGB: ") + backend->description();
        return text;
    }
    std::string device() const override { return backends_[0]->device(); }
    std::string driver() const override { return backends_[0]->driver(); }
    void add_stats(qc_stats* stats) const override {
        for (const auto& backend : backends_) backend->add_stats(stats);
    }

private:
    /// No word is filled by two of them: the others leave it 0.
    static void add_words(const FrameResult& from, FrameResult& to) {
        for (size_t word = 0; word < from.accumulators.size(); ++word) to.accumulators[word] |= from.accumulators[word];
    }

    std::vector<std::unique_ptr<Backend>> backends_;
    const std::vector<const BackendSetup*> setups_;
    std::vector<std::deque<FrameResult>> results_; ///< per backend, of frames that another one has not finished
};

} // namespace

std::unique_ptr<Backend> join_backends(std::vector<std::unique_ptr<Backend>> backends,
                                       std::vector<const BackendSetup*> setups) {
    return std::make_unique<JoinedBackend>(std::move(backends), std::move(setups));
}

} // namespace qc
