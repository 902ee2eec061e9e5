// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "parts/test_picture.hpp"

#include <iterator>

namespace qc::cli {

namespace {

constexpr int kSide = 320; ///< of a picture that no metric, and no built-in model, finds too small

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

TestPair::TestPair() : reference(picture_of(3)), distorted(picture_of(5)) {
    frame.reference = shown(reference);
    frame.distorted[0] = shown(distorted);
}

std::string TestPair::as_y4m(const std::vector<uint8_t>& samples) {
    const std::string side = std::to_string(kSide);
    return "YUV4MPEG2 W" + side + " H" + side + " F25:1 Ip A1:1 C420jpeg\nFRAME\n" +
           std::string(samples.begin(), samples.end());
}

qc_config test_config() {
    qc_config config{};
    config.struct_size = sizeof(config);
    if (qc_format_from_name("yuv420p", kSide, kSide, &config.reference) != QC_OK) return config;
    config.distorted[0] = config.reference;
    config.renditions = 1;
    config.backend = QC_BACKEND_CPU;
    config.n_threads = 1;
    return config;
}

} // namespace qc::cli
