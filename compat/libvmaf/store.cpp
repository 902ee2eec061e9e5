// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "store.hpp"

#include <algorithm>

namespace compat {

bool ScoreStore::add(const std::string& name, unsigned index, double value) {
    auto column = by_name_.find(name);
    if (column == by_name_.end()) {
        names_.reserve(names_.size() + 1); // so that what follows cannot fail half way
        std::string copy = name;
        column = by_name_.try_emplace(name).first;
        names_.push_back(std::move(copy));
    }
    std::unique_ptr<Chunk>& chunk = column->second[index / kChunk];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    if (chunk->present[index % kChunk]) return false;
    chunk->value[index % kChunk] = value;
    chunk->present[index % kChunk] = true;
    if (const auto told = listeners_.find(name); told != listeners_.end())
        for (const Listener& listener : told->second) listener(index, value);
    return true;
}

std::optional<double> ScoreStore::find(const std::string& name, unsigned index) const {
    const auto column = by_name_.find(name);
    if (column == by_name_.end()) return std::nullopt;
    const auto chunk = column->second.find(index / kChunk);
    if (chunk == column->second.end() || chunk->second == nullptr || !chunk->second->present[index % kChunk])
        return std::nullopt;
    return chunk->second->value[index % kChunk];
}

std::optional<double> ScoreStore::pooled(const std::string& name, VmafPoolingMethod method, unsigned low, unsigned high,
                                         unsigned every) const {
    double sum = 0, reciprocals = 0, least = 0, most = 0;
    int64_t count = 0;
    for (uint64_t index = low; index <= high; ++index) { // wider than high, which may be the last there is
        if (index % every != 0) continue;
        const std::optional<double> value = find(name, static_cast<unsigned>(index));
        if (!value) return std::nullopt;
        least = count == 0 ? *value : std::min(least, *value);
        most = count == 0 ? *value : std::max(most, *value);
        sum += *value;
        reciprocals += 1.0 / (*value + 1.0);
        ++count;
    }
    if (count == 0) return std::nullopt;
    switch (method) {
    case VMAF_POOL_METHOD_MIN:
        return least;
    case VMAF_POOL_METHOD_MAX:
        return most;
    case VMAF_POOL_METHOD_MEAN:
        return sum / static_cast<double>(count);
    case VMAF_POOL_METHOD_HARMONIC_MEAN:
        return static_cast<double>(count) / reciprocals - 1.0;
    default:
        return std::nullopt;
    }
}

std::vector<unsigned> ScoreStore::indices() const {
    std::map<unsigned, std::bitset<kChunk>> present;
    for (const auto& [name, column] : by_name_)
        for (const auto& [number, chunk] : column)
            if (chunk != nullptr) present[number] |= chunk->present;
    std::vector<unsigned> all;
    for (const auto& [number, bits] : present)
        for (unsigned i = 0; i < kChunk; ++i)
            if (bits[i]) all.push_back(number * kChunk + i);
    return all;
}

} // namespace compat
