// SPDX-License-Identifier: BSD-2-Clause-Patent
// Records that somebody changed: a sound one is made once, and each input edits it. Whatever comes of that, it is read
// without fault, and a merge ends with a line for each failure.
#include <algorithm>
#include <deque>
#include <vector>

#include "quality_cuda_run/merge.h"
#include "quality_cuda_run/record.h"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/scratch.hpp"

namespace {

constexpr int kSide = 16, kFrames = 8;

qc_config config_of_record() {
    qc_config config{};
    config.struct_size = sizeof(config);
    QC_FUZZ_CHECK(qc_format_from_name("yuv420p", kSide, kSide, &config.reference) == QC_OK);
    config.distorted[0] = config.reference;
    config.renditions = 1;
    config.metrics = "psnr";
    config.backend = QC_BACKEND_CPU;
    config.n_threads = 1;
    config.frame_rate = 25;
    return config;
}

void record_inputs(qcr_record* record) {
    for (int i = 0; i < 2; ++i) {
        const qcr_recorded_input facts = {kSide, kSide, 0, "yuv420p", 1, 25, 25, 1, 1, 1};
        QC_FUZZ_CHECK(qcr_record_input(record, i, &facts) == QC_OK);
    }
}

void record_pair(qcr_record* record, qc_session* session, int n) {
    static std::deque<std::vector<uint8_t>> samples; // the session reads them when it has time
    qc_frame frame{};
    for (int i = 0; i < 2; ++i) {
        qcr_recorded_frame facts{};
        facts.pts = n;
        facts.width = facts.height = kSide;
        facts.format_name = "yuv420p";
        facts.facts.matrix = facts.facts.primaries = facts.facts.transfer = 2;
        QC_FUZZ_CHECK(qcr_record_frame(record, i, &facts) == QC_OK);
        samples.emplace_back(static_cast<size_t>(kSide) * kSide * 3 / 2, static_cast<uint8_t>(40 + 5 * n + i));
        qc_picture& picture = i == 0 ? frame.distorted[0] : frame.reference;
        for (int plane = 0; plane < 3; ++plane) {
            picture.plane[plane] = samples.back().data();
            picture.pitch_bytes[plane] = plane == 0 ? kSide : kSide / 2;
        }
    }
    const int64_t pts[QCR_MAX_VIDEOS] = {n, n};
    QC_FUZZ_CHECK(qcr_record_pair(record, n, 1, pts) == QC_OK);
    QC_FUZZ_CHECK(qc_session_submit(session, &frame) == QC_OK);
}

/// @return its bytes
std::string sound_record() {
    const std::string path = qc::fuzz::scratch("sound");
    const qc_config config = config_of_record();
    qc_session* session = nullptr;
    qc_error error{};
    QC_FUZZ_CHECK(qc_session_create(&config, &session, &error) == QC_OK, error.text);
    qcr_record* record = qcr_record_create(path.c_str(), 2);
    record_inputs(record);
    QC_FUZZ_CHECK(qcr_record_said(record, QCR_LEVEL_WARNING, "a warning") == QC_OK);
    QC_FUZZ_CHECK(qcr_record_session(record, session, &config) == QC_OK);
    for (int n = 0; n < kFrames; ++n) record_pair(record, session, n);
    qc_session_flush(session);
    for (int i = 0; i < 2; ++i) QC_FUZZ_CHECK(qcr_record_end(record, i, -5, kFrames) == QC_OK);
    QC_FUZZ_CHECK(qcr_record_finish(record, 25, 0.02, 1) == QC_OK);
    qcr_record_destroy(record);
    qc_session_destroy(session);
    const qcr_seal seal{1, 2};
    QC_FUZZ_CHECK(qcr_record_seal(path.c_str(), "complaints", "ffmpeg", &seal) == QC_OK);
    QC_FUZZ_CHECK(qcr_record_has_seal(path.c_str(), &seal) == 1);
    const std::string bytes = qc::fuzz::read_file(path);
    unlink(path.c_str());
    return bytes;
}

/// Words of the record: the places where numbers begin.
void edit(qc::fuzz::Input& input, std::string* bytes) {
    const size_t at = bytes->empty() ? 0 : input.any<uint16_t>() * size_t{4} % bytes->size();
    switch (input.choose(5)) {
    case 0:
        (*bytes)[at] = static_cast<char>(input.byte());
        break;
    case 1: {
        const auto word = input.any<int64_t>();
        bytes->replace(at, std::min(sizeof(word), bytes->size() - at), reinterpret_cast<const char*>(&word),
                       std::min(sizeof(word), bytes->size() - at));
        break;
    }
    case 2:
        bytes->erase(at, input.any<uint16_t>());
        break;
    case 3:
        bytes->insert(at, bytes->substr(at, size_t{8} * input.byte()));
        break;
    default:
        bytes->resize(at);
    }
}

void merge(const std::string& path) {
    static const std::string log = qc::fuzz::scratch("merged");
    int errors = 0;
    qcr_part part{};
    part.path = path.c_str();
    qcr_merge_config config{};
    config.parts = &part;
    config.part_count = 1;
    config.renditions = 1;
    config.metrics = "psnr";
    config.log_path = log.c_str();
    config.log_fmt = "json";
    config.sink = {[](void* opaque, qcr_level level, const char*) {
                       if (level == QCR_LEVEL_ERROR) ++*static_cast<int*>(opaque);
                   },
                   &errors};
    const qcr_merged merged = qcr_merge(&config);
    QC_FUZZ_CHECK(merged == QCR_MERGED || errors > 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string sound = sound_record(), path = qc::fuzz::scratch("record");
    qc::fuzz::Input input(data, size);
    std::string bytes = sound;
    for (int edits = 0; edits < 6 && !input.empty() && !bytes.empty(); ++edits) edit(input, &bytes);
    qc::fuzz::write_file(path, bytes);
    const qcr_seal seal{1, 2};
    if (qcr_record_has_seal(path.c_str(), &seal) != 0) QC_FUZZ_CHECK(bytes == sound, "a seal of another record");
    double rate = 0, tolerance = 0;
    static_cast<void>(qcr_record_rate(path.c_str(), &rate, &tolerance));
    qcr_record_free(qcr_record_command(path.c_str()));
    qcr_record_free(qcr_record_complaints(path.c_str()));
    merge(path);
    return 0;
}
