// SPDX-License-Identifier: BSD-2-Clause-Patent
// The backend of sessions whose frames were measured by others: accumulators come in, and go out as they are.
#include <deque>

#include "api/backend.hpp"

namespace qc {

namespace {

class RecordedBackend final : public Backend {
public:
    explicit RecordedBackend(qc_backend kind) : kind_(kind) {}

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
    qc_backend kind() const override { return kind_; }
    std::string description() const override { return kind_ == QC_BACKEND_RECORDED ? "recorded" : "imported"; }
    void add_stats(qc_stats* stats) const override { stats->batches += frames_; }

private:
    const qc_backend kind_;
    std::deque<FrameResult> results_;
    int64_t frames_ = 0;
};

} // namespace

std::unique_ptr<Backend> create_recorded_backend(qc_backend kind) {
    return std::make_unique<RecordedBackend>(kind);
}

} // namespace qc
