// SPDX-License-Identifier: BSD-2-Clause-Patent
// The strings and numbers of a configuration, as a request and held against pictures: accepted, or refused with one
// line. The first four lines of an input are metrics, model, feature and options; numbers follow.
#include <iterator>

#include "quality_cuda_run/engine.h"
#include "tests/fuzz/input.hpp"

namespace {

using qc::fuzz::Input;

/// A name with a slash could be any file or device of this machine; what a model file may hold is another target's.
bool names_a_path(const std::string& model) {
    return model.find('/') != std::string::npos;
}

qc_format pictures(Input& input) {
    constexpr int kDepths[] = {8, 10, 12, 16}, kSizes[] = {1, 16, 33, 176, 1080, 2160, 32768};
    qc_format format{};
    format.width = kSizes[input.choose(std::size(kSizes))];
    format.height = kSizes[input.choose(std::size(kSizes))];
    format.chroma = static_cast<qc_chroma>(input.choose(4));
    format.depth = kDepths[input.choose(std::size(kDepths))];
    format.container_bits = format.depth == 8 ? 8 : 16;
    format.rgb = format.chroma == QC_CHROMA_444 && input.flag() ? 1 : 0;
    return format;
}

void check_failure(qc_status status, const qc_error& error) {
    if (status == QC_OK) return;
    QC_FUZZ_CHECK(status == QC_ERROR_INVALID || status == QC_ERROR_UNSUPPORTED || status == QC_ERROR_IO, error.text);
    QC_FUZZ_CHECK(qc::fuzz::is_one_line(error.text), error.text);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const std::string metrics = input.line(), model = input.line(), feature = input.line(), options = input.line();
    if (names_a_path(model)) return -1;
    const auto text_or_null = [](const std::string& text) { return text == "0" ? nullptr : text.c_str(); };
    qc_config config{};
    config.struct_size = sizeof(config);
    config.metrics = text_or_null(metrics);
    config.model = text_or_null(model);
    config.feature = text_or_null(feature);
    config.options = text_or_null(options);
    config.stats_format = static_cast<qc_stats_format>(input.choose(QC_STATS_FORMAT_COUNT + 1));
    config.renditions = input.choose(QC_MAX_RENDITIONS + 2);
    config.skip_unsupported = input.choose(3);
    config.n_subsample = input.rarely(4) ? input.any<int>() : 0;
    config.frame_rate = input.rarely(4) ? input.any<double>() : 25.0;
    config.reference = pictures(input);
    for (qc_format& distorted : config.distorted) distorted = config.reference;

    qc_request* request = nullptr;
    qc_error error{};
    const qc_status status = qc_request_create(&config, &request, &error);
    QC_FUZZ_CHECK((status == QC_OK) == (request != nullptr), error.text);
    check_failure(status, error);
    if (request != nullptr) check_failure(qc_request_check(request, &config, &error), error);
    static_cast<void>(qc_request_accepts_rgb(request));
    static_cast<void>(qc_request_takes_long(request));
    qc_request_destroy(request);
    return 0;
}
