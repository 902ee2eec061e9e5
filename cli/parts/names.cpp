// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which scores a run will have: found out by scoring a small picture.
#include <cstdint>
#include <iterator>
#include <vector>

#include <quality_cuda.h>

#include "parts/commands.hpp"

namespace qc::cli {

namespace {

constexpr int kSide = 192; ///< of a picture that no metric finds too small

const char* text_or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

/// A picture of 4:2:0 that differs from another shade of it everywhere.
std::vector<uint8_t> picture_of(int shade) {
    std::vector<uint8_t> samples(static_cast<size_t>(kSide) * kSide * 3 / 2);
    for (size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<uint8_t>(64 + (i % kSide + i / kSide * static_cast<size_t>(shade)) % 128);
    return samples;
}

qc_picture shown(const std::vector<uint8_t>& samples) {
    qc_picture picture{};
    const size_t places[] = {0, size_t{kSide} * kSide, size_t{kSide} * kSide * 5 / 4};
    for (size_t plane = 0; plane < std::size(places); ++plane) {
        picture.plane[plane] = samples.data() + places[plane];
        picture.pitch_bytes[plane] = plane == 0 ? kSide : kSide / 2;
    }
    return picture;
}

} // namespace

Names names_of_scores(const Wish& wish) {
    Names names;
    qc_config config{};
    config.struct_size = sizeof(config);
    if (qc_format_from_name("yuv420p", kSide, kSide, &config.reference) != QC_OK) return names;
    config.distorted[0] = config.reference;
    config.renditions = 1;
    config.metrics = text_or_null(wish.metrics);
    config.model = text_or_null(wish.model);
    config.feature = text_or_null(wish.feature);
    config.options = text_or_null(wish.opts);
    config.skip_unsupported = 1;
    config.backend = QC_BACKEND_CPU;
    config.n_threads = 1;
    const std::vector<uint8_t> reference = picture_of(3), distorted = picture_of(5);
    qc_frame frame{};
    frame.reference = shown(reference);
    frame.distorted[0] = shown(distorted);
    qc_error error{};
    qc_session* session = nullptr;
    if (qc_session_create(&config, &session, &error) != QC_OK) return names; // the run will say why
    qc_feature feature{};
    for (int i = 0; qc_session_feature(session, i, &feature) == QC_OK; ++i) names.pooled.emplace_back(feature.name);
    qc_session_destroy(session);
    qc_scores* scores = nullptr;
    if (qc_score(&config, &frame, &scores, &error) != QC_OK) return {};
    const char* name = nullptr;
    for (int i = static_cast<int>(names.pooled.size()); (name = qc_scores_name(scores, i)) != nullptr; ++i)
        names.whole.emplace_back(name);
    qc_scores_destroy(scores);
    return names;
}

} // namespace qc::cli
