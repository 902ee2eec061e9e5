// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tools/bench/device_check.hpp"

#include <chrono>
#include <cstdio>
#include <memory>

#include "quality_cuda.h"

#ifdef QC_WITH_CUDA
#include "api/self_test.hpp"
#include "cuda/context.hpp"
#include "plan/metric_registry.hpp"
#include "plan/request.hpp"
#include "tests/support/pictures.hpp"
#endif

namespace qc::bench {

const char* model_for(const std::string& metrics, const std::string& model) {
    return metrics.find("vmaf") != std::string::npos && !model.empty() ? model.c_str() : nullptr;
}

#ifdef QC_WITH_CUDA
namespace {

constexpr int kWidth = 1920, kHeight = 1080; ///< of the session that is thought of; the known pictures are smaller

/// Some of what was asked for.
struct Part {
    std::string name;
    ScoreRequest request;
};

/// Every metric and every model for itself, so that a failure says which; then all, which run side by side.
std::vector<Part> parts_of(const std::string& entry, const ScoreRequest& whole) {
    ScoreRequest none = whole;
    none.metrics.clear();
    none.models.clear();
    none.several = false;
    std::vector<Part> parts;
    for (const MetricRequest& metric : whole.metrics) {
        parts.push_back({std::string(metric.metric->name), none});
        parts.back().request.metrics = {metric};
    }
    for (const ModelRequest& model : whole.models) {
        parts.push_back({model.name + " (" + (model.automatic ? "auto" : model.source()) + ")", none});
        parts.back().request.models = {model};
    }
    if (parts.size() > 1) parts.push_back({entry + ", at once", whole});
    return parts;
}

class Checker {
public:
    explicit Checker(cuda::Context& context) : context_(context) {}

    Status check(const DeviceCheck& wanted, const std::string& entry, const std::string& layout) {
        qc_config config{};
        config.struct_size = sizeof(config);
        config.reference = config.distorted[0] = format_of(test::layout_named(layout), kWidth, kHeight);
        config.metrics = entry.c_str();
        config.model = model_for(entry, wanted.model);
        config.options = wanted.options.empty() ? nullptr : wanted.options.c_str();
        config.backend = QC_BACKEND_CUDA;
        config.cuda_context = context_.handle();
        ScoreRequest whole;
        QC_RETURN_IF_ERROR(parse_request(config, registered_metrics(), &whole));
        for (const Part& part : parts_of(entry, whole)) {
            const auto start = std::chrono::steady_clock::now();
            const Status status = self_test(part.request, config);
            const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
            print(part.name, layout, status, time.count());
        }
        return {};
    }

    int conclude() const {
        std::printf("%d right, %d wrong, %d failed, %d not for this layout: %s\n", right_, wrong_, failed_, refused_,
                    context_.device_name().c_str());
        return right_ > 0 && wrong_ == 0 && failed_ == 0 ? 0 : 1;
    }

private:
    void print(const std::string& name, const std::string& layout, const Status& status, double milliseconds) {
        const char* outcome = "ok";
        if (status.ok()) {
            ++right_;
        } else if (status.code() == QC_ERROR_UNSUPPORTED) {
            ++refused_;
            outcome = "refused";
        } else if (status.code() == QC_ERROR_DEVICE && status.text().rfind("selftest: ", 0) == 0) {
            ++wrong_;
            outcome = "WRONG";
        } else {
            ++failed_;
            outcome = "FAILED";
        }
        std::printf("%-34s %-12s %-8s %8.1f ms%s%s\n", name.c_str(), layout.c_str(), outcome, milliseconds,
                    status.ok() ? "" : "  ", status.ok() ? "" : status.text().c_str());
        std::fflush(stdout);
    }

    cuda::Context& context_;
    int right_ = 0, wrong_ = 0, failed_ = 0, refused_ = 0;
};

Status check_all(const DeviceCheck& check, int* exit_status) {
    const cuda::Driver* driver = nullptr;
    std::unique_ptr<cuda::Context> context;
    QC_RETURN_IF_ERROR(cuda::load_driver(&driver));
    QC_RETURN_IF_ERROR(cuda::Context::create(*driver, nullptr, 0, &context));
    Checker checker(*context);
    for (const std::string& layout : check.layouts)
        for (const std::string& entry : check.metrics) QC_RETURN_IF_ERROR(checker.check(check, entry, layout));
    *exit_status = checker.conclude();
    return {};
}

} // namespace

int check_device(const DeviceCheck& check) {
    int exit_status = 1;
    const Status status = check_all(check, &exit_status);
    if (!status.ok()) std::fprintf(stderr, "quality_bench: --selftest: %s\n", status.text().c_str());
    return exit_status;
}

#else

int check_device(const DeviceCheck&) {
    std::fprintf(stderr, "quality_bench: --selftest: this build has no CUDA backend\n");
    return 1;
}

#endif

} // namespace qc::bench
