// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/record/format.hpp"

#include <cstring>

namespace qc::run {

namespace {

/// Calls `visit` with each number of a configuration that is recorded. One list for both directions.
template <class Format, class Visit>
void visit_format(Format& format, const Visit& visit) {
    const auto each = [&](auto&... numbers) { (visit(numbers), ...); };
    each(format.width, format.height, format.chroma, format.depth, format.shift, format.container_bits);
    each(format.semi_planar, format.rgb, format.pixel_step);
    for (auto& offset : format.sample_offset) visit(offset);
    auto& colour = format.colour;
    each(colour.matrix, colour.range, colour.primaries, colour.transfer, colour.chroma_location, format.big_endian);
}

template <class Config, class Visit>
void visit_config(Config& config, const Visit& visit) {
    const auto each = [&](auto&... numbers) { (visit(numbers), ...); };
    each(config.renditions, config.bitdepth, config.scaling, config.scoring_width, config.scoring_height);
    each(config.watch_contents, config.roi_x, config.roi_y, config.roi_width, config.roi_height, config.convert);
    visit_format(config.reference, visit);
    for (int k = 0; k < config.renditions && k < QC_MAX_RENDITIONS; ++k) visit_format(config.distorted[k], visit);
}

} // namespace

std::vector<int64_t> words_of(std::string_view text) {
    std::vector<int64_t> words(text.size() / sizeof(int64_t) + 1);
    std::memcpy(words.data(), text.data(), text.size());
    return words;
}

std::string text_of(std::span<const int64_t> words) {
    const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
    return std::string(bytes.substr(0, bytes.find('\0')));
}

std::vector<int64_t> words_of(const qc_config& config) {
    std::vector<int64_t> words;
    visit_config(config, [&](const auto& number) { words.push_back(static_cast<int64_t>(number)); });
    return words;
}

bool read_config(std::span<const int64_t> words, qc_config* config) {
    size_t next = 0;
    visit_config(*config, [&](auto& number) {
        number = static_cast<std::remove_reference_t<decltype(number)>>(next < words.size() ? words[next] : 0);
        ++next;
    });
    return next == words.size() && config->renditions >= 1 && config->renditions <= QC_MAX_RENDITIONS;
}

} // namespace qc::run
