// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/packets.hpp"

#include <algorithm>
#include <cmath>

namespace qc::cli {

namespace {

void add_packets(const PairPlaces& places, const Input& input, Encode* encode) {
    const double rate = encode->log.frame_rate();
    if (!(rate > 0) || !input.why_whole.empty() || input.bytes.size() != input.pts.size()) return;
    std::vector<int64_t> keys;
    for (const KeyFrame& each : input.key_frames) keys.push_back(each.pts);
    encode->rates.values.assign(encode->log.frames.size(), NAN);
    for (size_t i = 0; i < places.distorted.size(); ++i) {
        const Place& place = places.distorted[i];
        if (!place.pts || place.index >= input.bytes.size()) continue;
        encode->rates.values[i] = 8 * static_cast<double>(input.bytes[place.index]) * rate / 1e6;
        if (std::binary_search(keys.begin(), keys.end(), *place.pts))
            encode->key_frames.push_back(static_cast<double>(encode->log.frames[i]));
    }
}

} // namespace

void add_packets(const std::vector<PairPlaces>& places, Files* files, std::vector<Encode>* encodes) {
    for (size_t i = 0; i < encodes->size(); ++i)
        if (places[i].why_not.empty()) add_packets(places[i], files->input((*encodes)[i].distorted), &(*encodes)[i]);
}

} // namespace qc::cli
