// SPDX-License-Identifier: BSD-2-Clause-Patent
// Logs of strangers, in any layout: they are refused, or hold as many scores as frames, in ascending order.
#include "logs/logs.hpp"

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/scratch.hpp"
#include "words/failure.hpp"

namespace {

void check(const qc::cli::ScoreLog& log) {
    for (size_t i = 1; i < log.frames.size(); ++i) QC_FUZZ_CHECK(log.frames[i - 1] < log.frames[i]);
    for (const qc::cli::Scores& each : log.scores) {
        QC_FUZZ_CHECK(each.values.size() == log.frames.size(), each.name);
        for (const char* pool : {"mean", "p5", "min"}) static_cast<void>(log.pooled(each.name, pool));
    }
    QC_FUZZ_CHECK(log.times.empty() || log.times.size() == log.frames.size());
    QC_FUZZ_CHECK(log.frame_rate() >= 0);
    for (const std::string& name : qc::cli::headline_scores(log)) QC_FUZZ_CHECK(log.find(name) != nullptr, name);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string path = qc::fuzz::scratch("scores");
    qc::fuzz::write_file(path, {reinterpret_cast<const char*>(data), size});
    try {
        const auto logs = qc::cli::read_log(path);
        QC_FUZZ_CHECK(!logs.empty());
        for (const auto& log : logs) check(log);
    } catch (const qc::cli::Failure& refused) {
        QC_FUZZ_CHECK(*refused.what() != 0); // say() makes a line of it
    }
    return 0;
}
