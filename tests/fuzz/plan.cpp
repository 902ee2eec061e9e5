// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the CUDA backend plans for any metrics, batches, slots, formats and breaks, on the stand-in driver: the scores
// of the CPU backend. And one call of the driver that fails: the rows before it are those scores, and everything is
// given back.
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <cuda.h>

#include "plan/metric_registry.hpp"
#include "tests/device/stand_in_client.hpp"
#include "tests/fuzz/exact_picture.hpp"

namespace {

using qc::fuzz::ExactPicture;
using qc::fuzz::Input;
using qc::test::stand_in::Orders;

constexpr int kMostFrames = 8;

const qc::test::StandIn& driver() {
    static const qc::test::StandIn stand_in;
    QC_FUZZ_CHECK(stand_in.is_there(), "the stand-in driver is not in LD_LIBRARY_PATH");
    return stand_in;
}

std::string any_metrics(Input& input) {
    const auto metrics = qc::registered_metrics();
    std::string text;
    for (int count = 1 + input.choose(3); count > 0; --count) {
        const auto choice = static_cast<size_t>(input.choose(static_cast<int>(metrics.size()) + 3));
        text += text.empty() ? "" : "|";
        text += choice < metrics.size() ? metrics[choice]->name : "vmaf";
    }
    return text;
}

qc_format any_format(Input& input, int width, int height) {
    constexpr std::array kDepths{8, 8, 10, 12, 16};
    qc_format format{};
    format.width = width;
    format.height = height;
    format.depth = kDepths[static_cast<size_t>(input.choose(kDepths.size()))];
    format.container_bits = format.depth == 8 ? 8 : 16;
    format.shift = format.container_bits > format.depth && input.flag() ? format.container_bits - format.depth : 0;
    format.chroma = input.rarely(4) ? QC_CHROMA_444 : QC_CHROMA_420;
    format.semi_planar = input.rarely(3) ? 1 : 0;
    return format;
}

struct Plan {
    explicit Plan(Input& input) : metrics(any_metrics(input)) {
        constexpr int kSides[] = {32, 36, 37, 40, 48, 52, 61, 180}; // 180: enough for every metric
        const int width = kSides[input.choose(std::size(kSides))], height = kSides[input.choose(std::size(kSides))];
        config.struct_size = sizeof(config);
        config.metrics = metrics.c_str();
        config.skip_unsupported = 1;
        config.n_threads = 1;
        config.renditions = 1 + input.choose(3);
        config.batch = input.choose(9);
        config.slots = input.choose(4);
        config.latency_first = input.rarely(4) ? 1 : 0;
        config.n_subsample = input.rarely(4) ? 1 + input.choose(3) : 0;
        config.frame_rate = 25.0;
        config.reference = any_format(input, width, height);
        for (qc_format& format : config.distorted) format = config.reference;
        if (input.flag()) config.distorted[0] = any_format(input, width, height);
        orders.seed = input.byte();
        if (input.rarely(3)) {
            constexpr CUresult kResults[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE,
                                             CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ECC_UNCORRECTABLE};
            orders.fail_at = 1 + input.any<uint16_t>() % 1500;
            orders.result = kResults[input.choose(std::size(kResults))];
            orders.lost = input.flag();
        }
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    std::string metrics;
    qc_config config{};
    Orders orders{};
};

struct Row {
    std::vector<double> value;
    std::vector<uint8_t> present;
};

/// One session, fed with what is left of the input.
class Run {
public:
    Run(qc_config config, qc_backend backend, Input input) : config_(config) {
        config_.backend = backend;
        qc_error error{};
        status_ = qc_session_create(&config_, &session_, &error);
        error_ = error.text;
        if (session_ == nullptr) return;
        name_columns();
        for (int frame = 0; frame < kMostFrames && !input.empty() && status_ == QC_OK; ++frame) feed(input);
        if (status_ == QC_OK) status_ = qc_session_flush(session_);
        const qc_status end = receive(1);
        if (status_ == QC_OK && end != QC_END) status_ = end;
        if (status_ < 0) error_ = qc_session_error(session_);
    }
    ~Run() {
        qc_session_destroy(session_);
        QC_FUZZ_CHECK(released_ == submitted_, "every picture is released once");
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    qc_status status() const { return status_; }
    const std::string& error() const { return error_; }
    const std::vector<Row>& rows() const { return rows_; }
    const std::string& column(size_t index) const { return names_[index % names_.size()]; }

private:
    void name_columns() {
        for (int i = 0; i < qc_session_feature_count(session_); ++i) {
            qc_feature feature{};
            QC_FUZZ_CHECK(qc_session_feature(session_, i, &feature) == QC_OK);
            names_.emplace_back(feature.name);
        }
    }

    void feed(Input& input) {
        if (input.rarely(6)) status_ = qc_session_break(session_);
        if (status_ != QC_OK) return;
        const ExactPicture reference(config_.reference, input);
        std::vector<ExactPicture> distorted;
        qc_frame frame{};
        frame.reference = reference.view();
        for (int r = 0; r < config_.renditions; ++r) {
            distorted.emplace_back(config_.distorted[r], input);
            if (r == 0 || !input.rarely(6)) frame.distorted[r] = distorted.back().view();
        }
        frame.release = [](void* count) { ++*static_cast<int*>(count); };
        frame.opaque = &released_;
        ++submitted_;
        status_ = qc_session_submit(session_, &frame);
        if (status_ == QC_OK && input.flag()) receive(0);
    }

    qc_status receive(int wait) {
        qc_row row{};
        qc_status status = QC_OK;
        while ((status = qc_session_receive(session_, wait, &row)) == QC_OK) {
            const size_t cells = names_.size() * static_cast<size_t>(config_.renditions);
            rows_.push_back({{row.value, row.value + cells}, {row.present, row.present + cells}});
        }
        return status;
    }

    qc_config config_;
    qc_session* session_ = nullptr;
    qc_status status_ = QC_OK;
    std::string error_;
    std::vector<std::string> names_;
    std::vector<Row> rows_;
    int submitted_ = 0, released_ = 0;
};

/// How far a column of the CUDA backend may be from the CPU's: what the metric says of itself.
qc::BackendBound bound_of(std::string_view column) {
    const qc::MetricDescriptor* longest = nullptr; // "ssimulacra2" begins with "ssim", which is another
    for (const qc::MetricDescriptor* metric : qc::registered_metrics())
        if (column.starts_with(metric->name) && (longest == nullptr || metric->name.size() > longest->name.size()))
            longest = metric;
    return longest != nullptr ? longest->backend_bound : qc::BackendBound{};
}

bool agree(double cpu, double cuda, const qc::BackendBound& bound) {
    if (std::memcmp(&cpu, &cuda, sizeof(cpu)) == 0) return true;
    return !bound.exact() && (cpu == cuda || std::abs(cpu - cuda) <= bound.absolute + bound.relative * std::abs(cpu));
}

void check_rows(const Run& cpu, const Run& cuda) {
    QC_FUZZ_CHECK(cuda.rows().size() <= cpu.rows().size());
    for (size_t frame = 0; frame < cuda.rows().size(); ++frame) {
        const Row &expected = cpu.rows()[frame], &actual = cuda.rows()[frame];
        QC_FUZZ_CHECK(expected.present == actual.present, "frame " + std::to_string(frame));
        for (size_t i = 0; i < expected.value.size(); ++i)
            QC_FUZZ_CHECK(expected.present[i] == 0 ||
                              agree(expected.value[i], actual.value[i], bound_of(cpu.column(i))),
                          cpu.column(i) + " of frame " + std::to_string(frame) + ": " +
                              std::to_string(expected.value[i]) + ", CUDA " + std::to_string(actual.value[i]));
    }
}

void check_driver(const Orders& orders) {
    const auto state = driver().state();
    QC_FUZZ_CHECK(state.broken_rules[0] == '\0', state.broken_rules);
    const bool keeps_one = state.failed_call != nullptr && !orders.lost && qc::test::gives_back(state.failed_call);
    QC_FUZZ_CHECK(state.objects_held <= (keeps_one ? 1 : 0), std::to_string(state.objects_held));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const Plan plan(input);
    const Run cpu(plan.config, QC_BACKEND_CPU, input);
    driver().give(plan.orders);
    {
        const Run cuda(plan.config, QC_BACKEND_CUDA, input);
        const bool fails = driver().state().failed_call != nullptr;
        QC_FUZZ_CHECK(fails || cuda.status() == cpu.status(), cuda.error());
        QC_FUZZ_CHECK(cuda.status() != QC_OK || cuda.rows().size() == cpu.rows().size(), "rows are missing");
        QC_FUZZ_CHECK(cuda.status() >= 0 || qc::fuzz::is_one_line(cuda.error()), cuda.error());
        if (cpu.status() == QC_OK) check_rows(cpu, cuda);
    }
    check_driver(plan.orders);
    driver().give({}); // forgets what a failed call kept
    return 0;
}
