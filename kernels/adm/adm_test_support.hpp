// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures and instances for the tests of integer ADM.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adm/adm.hpp"
#include "adm/adm_cpu.hpp"
#include "adm/adm_plan.hpp"

namespace qc::adm {

using Words = std::vector<uint64_t>;

// ---- pictures -------------------------------------------------------------------------------------------------------

/// A luma plane with samples of 8 or 16 bits and a pitch that is no multiple of anything.
struct Picture {
    int width, height, depth;
    std::vector<uint8_t> bytes;

    Picture(int w, int h, int d) : width(w), height(h), depth(d), bytes(static_cast<size_t>(pitch()) * h) {}
    int sample_bytes() const { return depth > 8 ? 2 : 1; }
    int pitch() const { return (width + 3) * sample_bytes(); }
    int maximum() const { return (1 << depth) - 1; }
    void set(int x, int y, int value) {
        uint8_t* at = bytes.data() + static_cast<size_t>(y) * pitch() + static_cast<size_t>(x) * sample_bytes();
        const uint16_t word = static_cast<uint16_t>(value);
        std::memcpy(at, &word, sample_bytes());
    }
    int get(int x, int y) const {
        const uint8_t* at = bytes.data() + static_cast<size_t>(y) * pitch() + static_cast<size_t>(x) * sample_bytes();
        uint16_t word = 0;
        std::memcpy(&word, at, sample_bytes());
        return word;
    }
    template <typename Function>
    static Picture make(int w, int h, int d, Function value) {
        Picture picture(w, h, d);
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) picture.set(x, y, std::clamp<int>(value(x, y), 0, picture.maximum()));
        }
        return picture;
    }
    HostPicture view() const {
        HostPicture host;
        host.plane[0] = {bytes.data(), BytePitch{pitch()}, width, height};
        return host;
    }
    FrameGeometry geometry() const {
        FrameGeometry geometry;
        geometry.width = width;
        geometry.height = height;
        geometry.depth = depth;
        geometry.sample = depth > 8 ? SampleType::kU16 : SampleType::kU8;
        return geometry;
    }
};

struct Pair {
    Picture reference, distorted;
    HostPair view() const { return {reference.view(), distorted.view()}; }
};

inline uint32_t hash(uint32_t x, uint32_t y, uint32_t salt) {
    uint32_t h = x * 73856093u ^ y * 19349663u ^ salt * 83492791u;
    h ^= h >> 13;
    h *= 0x5bd1e995u;
    return h ^ h >> 15;
}

/// Edges, ramps, noise; the distorted picture blurs here, enhances there, adds noise elsewhere.
inline Pair textured(int width, int height, int depth, uint32_t salt) {
    const int up = depth - 8;
    const auto base = [=](int x, int y) {
        const int ramp = (3 * x + 2 * y) / 5 % 120, block = ((x / 7) ^ (y / 9)) % 2 * 50;
        return 40 + ramp + block + static_cast<int>(hash(x, y, salt) % 17);
    };
    const auto changed = [=](int x, int y) {
        const int value = base(x, y);
        switch ((x / 24 + y / 16) % 4) {
        case 0:
            return (value + base(x + 1, y) + base(x, y + 1) + base(x + 1, y + 1)) / 4;
        case 1:
            return (value - 128) * 5 / 4 + 128;
        case 2:
            return value / 12 * 12 + static_cast<int>(hash(x, y, salt + 1) % 5);
        default:
            return value;
        }
    };
    const auto fine = [=](int x, int y) {
        return up == 0 ? 0 : static_cast<int>(hash(x, y, 99) >> 8 & ((1 << up) - 1));
    };
    return {Picture::make(width, height, depth, [=](int x, int y) { return (base(x, y) << up) + fine(x, y); }),
            Picture::make(width, height, depth, [=](int x, int y) { return (changed(x, y) << up) + fine(y, x); })};
}

/// Every sample either end of the range, at random; most of the distorted ones inverted.
inline Pair binary_noise(int width, int height, int depth, uint32_t salt) {
    const int top = (1 << depth) - 1;
    const auto bit = [=](int x, int y) { return (hash(x, y, salt) & 1) != 0; };
    return {Picture::make(width, height, depth, [=](int x, int y) { return bit(x, y) ? top : 0; }),
            Picture::make(width, height, depth,
                          [=](int x, int y) { return bit(x, y) != ((hash(x, y, salt + 1) & 3) == 0) ? 0 : top; })};
}

/// Independent noise over the full range.
inline Pair full_noise(int width, int height, int depth, uint32_t salt) {
    const int top = (1 << depth) - 1;
    return {Picture::make(width, height, depth, [=](int x, int y) { return hash(x, y, salt) & top; }),
            Picture::make(width, height, depth, [=](int x, int y) { return hash(x, y, salt + 7) & top; })};
}

/// Squares of full swing; the distorted picture has them shifted.
inline Pair checkerboard(int width, int height, int depth, int square) {
    const int top = (1 << depth) - 1;
    const auto board = [=](int x, int y) { return ((x / square) ^ (y / square)) & 1 ? top : 0; };
    return {Picture::make(width, height, depth, board),
            Picture::make(width, height, depth, [=](int x, int y) { return board(x + square / 2 + 1, y); })};
}

inline Pair flat(int width, int height, int depth, int reference, int distorted) {
    return {Picture::make(width, height, depth, [=](int, int) { return reference; }),
            Picture::make(width, height, depth, [=](int, int) { return distorted; })};
}

// ---- instances ------------------------------------------------------------------------------------------------------

using Assignments = std::map<std::string, double>;

inline OptionValues with_options(const Assignments& assignments) {
    OptionValues values(descriptor().options);
    for (const auto& [name, value] : assignments) {
        bool known = false;
        for (size_t i = 0; i < values.specs().size(); i++) {
            if (values.specs()[i].name != name) continue;
            values.set(i, value);
            known = true;
        }
        EXPECT_TRUE(known) << name;
    }
    return values;
}

class ScoreMap : public ScoreSink {
public:
    void put(int64_t, int output, double value) override {
        EXPECT_EQ(scores.count(output), 0u) << "written twice";
        scores[output] = value;
    }
    double at(const std::string& alias) const {
        const auto outputs = descriptor().outputs;
        for (size_t i = 0; i < outputs.size(); i++) {
            if (outputs[i].alias == alias && scores.count(static_cast<int>(i))) return scores.at(static_cast<int>(i));
        }
        ADD_FAILURE() << alias << " was not written";
        return 0;
    }
    std::map<int, double> scores;
};

inline ScoreMap score(const Pair& pair, const Assignments& assignments) {
    const OptionValues options = with_options(assignments);
    const FrameGeometry geometry = pair.reference.geometry();
    const Status status = descriptor().validate(geometry, options);
    EXPECT_TRUE(status.ok()) << status.text();
    const std::unique_ptr<Metric> metric = descriptor().create(geometry, options);
    Words words(metric->accumulator_words());
    metric->score(pair.view(), words);
    ScoreMap sink;
    metric->finalise(0, words, sink);
    return sink;
}

inline Plan plan_of(const Pair& pair, const Settings& settings) {
    return make_plan(pair.reference.geometry(), settings);
}

inline Words cpu_words(const Plan& plan, const Pair& pair) {
    Words words(kWords);
    score_cpu(plan, pair.reference.geometry().sample, pair.view(), words);
    return words;
}

} // namespace qc::adm
