// SPDX-License-Identifier: BSD-2-Clause-Patent
// Conditions as typed: those of a command's end (--fail-if) and those of a run (alert=). A limit is a number, and a
// refusal is one line.
#include <cmath>

#include "logs/summary.hpp"
#include "quality_cuda_run/live.h"
#include "tests/fuzz/input.hpp"
#include "words/failure.hpp"

namespace {

const qc::cli::Json& log_with_scores() {
    static const qc::cli::Json log = qc::cli::Json::parse(
        R"({"complete": true, "pooled_metrics": {"vmaf": {"mean": 90.5, "min": 10, "p5": 40}, "psnr_y": {"mean": null}}})");
    return log;
}

void check_gate(const std::string& text) {
    try {
        const qc::cli::Condition condition = qc::cli::parse_condition(text);
        QC_FUZZ_CHECK(std::isfinite(condition.limit), text);
        QC_FUZZ_CHECK(!condition.score.empty() && !condition.relation.empty(), text);
        static_cast<void>(qc::cli::judge(condition, log_with_scores(), "x"));
    } catch (const qc::cli::Failure& refused) {
        QC_FUZZ_CHECK(*refused.what() != 0); // say() makes a line of it
    }
}

void check_alerts(const std::string& text) {
    const qcr_sink silent{};
    const qcr_names names{{"main", "reference"}, 2};
    qcr_live_options options{};
    options.alerts = text.c_str();
    options.names = &names;
    qcr_live* live = nullptr;
    QC_FUZZ_CHECK(qcr_live_create(&silent, &live) == QC_OK);
    const char* const scores[] = {"vmaf", "psnr_y"};
    if (qcr_live_configure(live, &options) != QC_OK || qcr_live_name_scores(live, scores, 1, 2) != QC_OK)
        QC_FUZZ_CHECK(qc::fuzz::is_one_line(qcr_live_error(live)), qcr_live_error(live));
    qcr_live_destroy(live);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    qc::fuzz::Input input(data, size);
    while (!input.empty()) {
        const std::string text = input.line();
        if (text.find('\0') != std::string::npos) continue; // no argument has one
        if (text.find('\r') != std::string::npos) continue; // is_one_line() of what was typed with one
        check_gate(text);
        check_alerts(text);
    }
    return 0;
}
