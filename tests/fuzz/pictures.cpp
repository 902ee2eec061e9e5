// SPDX-License-Identifier: BSD-2-Clause-Patent
// Geometry and pictures: every size, layout, depth and pitch that a session accepts, scaled or not, is scored without
// reading a byte outside the pictures, whatever their samples hold; what it does not accept is refused with one line.
#include <cmath>
#include <iterator>
#include <vector>

#include "tests/fuzz/exact_picture.hpp"

namespace {

using qc::fuzz::ExactPicture;
using qc::fuzz::Input;

constexpr int kLargestSide = 200;     // large enough for every metric's smallest picture
constexpr int kLargestQuickSide = 48; // of most pictures: twenty of them in the time of a large one

int any_side(Input& input) {
    const int largest = input.rarely(8) ? kLargestSide : kLargestQuickSide;
    return 1 + input.choose(largest);
}

/// All components in one plane, where this subsampling has that.
void pack(qc_format& format, Input& input) {
    constexpr int kGray = 2, kPairs = 4;
    if (format.chroma == QC_CHROMA_444)
        format.pixel_step = input.rarely(3) ? 1 : 3 + input.choose(2);
    else if (format.chroma == QC_CHROMA_400 || format.chroma == QC_CHROMA_422)
        format.pixel_step = format.chroma == QC_CHROMA_400 ? kGray : kPairs;
    else
        return;
    format.semi_planar = 0;
    const bool is_word = format.pixel_step == 1;
    if (is_word) {
        format.container_bits = 32;
        format.shift = 0;
    }
    for (int& offset : format.sample_offset) offset = input.choose(is_word ? 33 - format.depth : format.pixel_step);
}

/// A layout that exists, mostly.
qc_format any_format(Input& input, int width, int height) {
    constexpr int kDepths[] = {8, 8, 10, 12, 16, 9, 14};
    qc_format format{};
    format.width = width;
    format.height = height;
    format.depth = kDepths[input.choose(std::size(kDepths))];
    format.container_bits = format.depth == 8 ? 8 : 16;
    format.shift = format.container_bits > format.depth ? input.choose(format.container_bits - format.depth + 1) : 0;
    format.chroma = static_cast<qc_chroma>(input.choose(QC_CHROMA_440 + 1));
    format.semi_planar = input.rarely(3) ? 1 + input.choose(2) : 0;
    if (format.container_bits == 16) format.big_endian = input.rarely(3) ? 1 : 0;
    if (input.rarely(4)) {
        format.rgb = 1;
        format.chroma = QC_CHROMA_444;
        format.semi_planar = 0;
    }
    if (input.rarely(3)) pack(format, input);
    for (int* tag : {&format.colour.matrix, &format.colour.range, &format.colour.primaries, &format.colour.transfer,
                     &format.colour.chroma_location})
        *tag = input.rarely(4) ? input.choose(24) : 0;
    return format;
}

/// One field of any value: most are refused.
void spoil(qc_format& format, Input& input) {
    int* const fields[] = {&format.width,         &format.height,          &format.depth,
                           &format.shift,         &format.container_bits,  &format.semi_planar,
                           &format.rgb,           &format.pixel_step,      &format.sample_offset[0],
                           &format.colour.matrix, &format.colour.transfer, &format.big_endian,
                           &format.reserved[0]};
    *fields[input.choose(std::size(fields))] = input.any<int>();
}

/// Distorted pictures of another size, and now and then both sides scaled; sizes that differ too much are refused.
void scale(qc_config& config, Input& input) {
    config.scaling = static_cast<qc_scaling>(input.choose(QC_SCALING_COUNT));
    config.distorted[0].width = any_side(input);
    config.distorted[0].height = any_side(input);
    if (!input.rarely(3)) return;
    config.scoring_width = any_side(input);
    config.scoring_height = any_side(input);
}

/// Whether memory for these pictures is worth having: a spoilt format may be a large one that is good.
bool is_small(const qc_format& format) {
    return format.width <= kLargestSide && format.height <= kLargestSide;
}

const char* any_metric(Input& input) {
    int count = 0;
    while (qc_metric_name(count) != nullptr) ++count;
    const int index = input.choose(count + 1);
    return index < count ? qc_metric_name(index) : "vmaf";
}

void submit(qc_session* session, const qc_config& config, Input& input, bool* accepted) {
    int released = 0;
    const ExactPicture reference(config.reference, input);
    std::vector<ExactPicture> distorted;
    qc_frame frame{};
    frame.reference = reference.view();
    for (int r = 0; r < config.renditions; ++r) {
        distorted.emplace_back(config.distorted[r], input);
        if (!input.rarely(8)) frame.distorted[r] = distorted.back().view();
    }
    frame.release = [](void* count) { ++*static_cast<int*>(count); };
    frame.opaque = &released;
    const qc_status status = qc_session_submit(session, &frame);
    QC_FUZZ_CHECK(released == 1, "pictures in host memory are free when the call returns");
    QC_FUZZ_CHECK(status == QC_OK || qc::fuzz::is_one_line(qc_session_error(session)));
    *accepted = status == QC_OK;
}

void check_row(const qc_session* session, const qc_config& config, const qc_row& row) {
    const int cells = qc_session_feature_count(session) * config.renditions;
    for (int i = 0; i < cells; ++i) QC_FUZZ_CHECK(row.present[i] <= 1);
}

void score(qc_session* session, const qc_config& config, Input& input) {
    int64_t accepted = 0, received = 0;
    for (int frames = 1 + (input.rarely(3) ? 2 : 0); frames > 0; --frames) {
        bool is_accepted = false;
        submit(session, config, input, &is_accepted);
        accepted += is_accepted ? 1 : 0;
    }
    QC_FUZZ_CHECK(qc_session_flush(session) == QC_OK, qc_session_error(session));
    qc_row row{};
    for (qc_status status = QC_OK; (status = qc_session_receive(session, 1, &row)) != QC_END; ++received) {
        QC_FUZZ_CHECK(status == QC_OK && row.frame == received, qc_session_error(session));
        check_row(session, config, row);
    }
    QC_FUZZ_CHECK(received == accepted, "a row for every frame");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    qc_config config{};
    config.struct_size = sizeof(config);
    config.backend = QC_BACKEND_CPU;
    config.n_threads = 1;
    config.metrics = any_metric(input);
    const int width = any_side(input), height = any_side(input);
    config.renditions = 1 + (input.rarely(4) ? input.choose(3) : 0);
    config.bitdepth = input.rarely(4) ? 10 : 0;
    config.frame_rate = input.rarely(8) ? input.any<double>() : 25.0;
    config.reference = any_format(input, width, height);
    for (qc_format& distorted : config.distorted) distorted = config.reference;
    if (input.rarely(3)) config.distorted[0] = any_format(input, width, height);
    if (input.rarely(8)) spoil(config.reference, input);
    if (input.rarely(3)) scale(config, input);

    qc_session* session = nullptr;
    qc_error error{};
    const qc_status status = qc_session_create(&config, &session, &error);
    QC_FUZZ_CHECK((status == QC_OK) == (session != nullptr), error.text);
    QC_FUZZ_CHECK(status == QC_OK || qc::fuzz::is_one_line(error.text), error.text);
    if (session != nullptr && is_small(config.reference)) score(session, config, input);
    qc_session_destroy(session);
    return 0;
}
