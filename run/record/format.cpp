// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/record/format.hpp"

#include <cstring>

namespace qc::run {

namespace {

/// Calls `visit` with each number of a configuration that is recorded. One list for both directions.
template <class Format, class Visit>
void visit_format(Format& format, const Visit& visit) {
    visit(format.width);
    visit(format.height);
    visit(format.chroma);
    visit(format.depth);
    visit(format.shift);
    visit(format.container_bits);
    visit(format.semi_planar);
    visit(format.rgb);
    visit(format.pixel_step);
    for (auto& offset : format.sample_offset) visit(offset);
    visit(format.colour.matrix);
    visit(format.colour.range);
    visit(format.colour.primaries);
    visit(format.colour.transfer);
    visit(format.colour.chroma_location);
    visit(format.big_endian);
}

template <class Config, class Visit>
void visit_config(Config& config, const Visit& visit) {
    visit(config.renditions);
    visit(config.bitdepth);
    visit(config.scaling);
    visit(config.scoring_width);
    visit(config.scoring_height);
    visit(config.watch_contents);
    visit(config.roi_x);
    visit(config.roi_y);
    visit(config.roi_width);
    visit(config.roi_height);
    visit(config.convert);
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
