// SPDX-License-Identifier: BSD-2-Clause-Patent
// The backend of sessions whose frames were measured by others: accumulators come in, and go out as they are.
#include <deque>

#include "api/backend.hpp"

namespace qc {

namespace {

class RecordedBackend final : public Backend {
public:
    Status submit(FrameInput input) override {
        results_.push_back({input.index, std::move(input.present), std::move(input.measured)});
        ++frames_;
        return {};
    }
    Status poll(bool /*wait*/, FrameResult* result, bool* ready) override {
        *ready = !results_.empty();
        if (!*ready) return {};
        *result = std::move(results_.front());
        results_.pop_front();
        return {};
    }
    // What was measured behind a pause knows of no earlier frames already.
    void forget_earlier_frames() override {}
    void collect() override {}
    void drain() override {}
    qc_backend kind() const override { return QC_BACKEND_RECORDED; }
    std::string description() const override { return "recorded"; }
    void add_stats(qc_stats* stats) const override { stats->batches += frames_; }

private:
    std::deque<FrameResult> results_;
    int64_t frames_ = 0;
};

} // namespace

std::unique_ptr<Backend> create_recorded_backend() {
    return std::make_unique<RecordedBackend>();
}

} // namespace qc
