// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_cpu.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "device/borders.hpp"
#include "metrics/cvvdp/cvvdp_pooling.hpp"
#include "metrics/cvvdp/cvvdp_weights.hpp"

namespace qc::cvvdp {
namespace {

// ---- pyramid --------------------------------------------------------------------------------------------------------

Image reduce_rows(const Image& from) {
    Image to({from.width, (from.height + 1) / 2});
    for (int y = 0; y < to.height; ++y) {
        const double* row[5];
        for (int d = -2; d <= 2; ++d) row[d + 2] = from.row(mirror_with_edges(2 * y + d, from.height));
        double* const target = to.row(y);
        for (int x = 0; x < from.width; ++x)
            target[x] = kReduceTap[2] * (row[0][x] + row[4][x]) + kReduceTap[1] * (row[1][x] + row[3][x]) +
                        kReduceTap[0] * row[2][x];
    }
    return to;
}

/// A row of the smaller level. @param width samples of the larger one
void reduce_row(const double* row, int width, const LastColumn& border, double* to) {
    const int last = (width + 1) / 2 - 1;
    const auto sample = [&](int at) { return row[at < 0 ? -1 - at : at]; };
    to[0] =
        kReduceTap[2] * (sample(-2) + sample(2)) + kReduceTap[1] * (sample(-1) + sample(1)) + kReduceTap[0] * sample(0);
    for (int x = 1; x < last; ++x) {
        const double* const at = row + 2 * x;
        to[x] = kReduceTap[2] * (at[-2] + at[2]) + kReduceTap[1] * (at[-1] + at[1]) + kReduceTap[0] * at[0];
    }
    to[last] = border.last * row[width - 1] + border.before * row[width - 2];
    for (int at = 2 * last - 2; at < width; ++at) to[last] += kReduceTap[std::abs(at - 2 * last)] * row[at];
}

Image reduce(const Image& from, bool fixed_border) {
    const Image rows = reduce_rows(from);
    const LastColumn border = last_column({from.width, from.height}, fixed_border);
    Image to({(from.width + 1) / 2, rows.height});
    for (int y = 0; y < to.height; ++y) reduce_row(rows.row(y), from.width, border, to.row(y));
    return to;
}

/// Row y of an image that is expanded downwards.
void expand_down(const Image& from, int y, double* to) {
    const int half = y / 2;
    const double *const here = from.row(half), *const after = from.row(std::min(half + 1, from.height - 1)),
                        *const before = from.row(std::max(half - 1, 0));
    if (y % 2 != 0)
        for (int x = 0; x < from.width; ++x) to[x] = 0.5 * here[x] + 0.5 * after[x];
    else
        for (int x = 0; x < from.width; ++x) to[x] = 0.1 * before[x] + 0.8 * here[x] + 0.1 * after[x];
}

/// A row of n samples, expanded to `width`. @param samples has room for a sample before and one behind
void expand_across(double* samples, int n, int width, double* to) {
    samples[-1] = samples[0];
    samples[n] = samples[n - 1];
    for (int i = 0; i < width / 2; ++i) {
        to[2 * i] = 0.1 * samples[i - 1] + 0.8 * samples[i] + 0.1 * samples[i + 1];
        to[2 * i + 1] = 0.5 * samples[i] + 0.5 * samples[i + 1];
    }
    if (width % 2 != 0) to[width - 1] = 0.1 * samples[n - 2] + 0.8 * samples[n - 1] + 0.1 * samples[n];
}

Image expand(const Image& from, LevelSize size) {
    Image to(size);
    std::vector<double> line(static_cast<size_t>(from.width) + 2);
    for (int y = 0; y < size.height; ++y) {
        expand_down(from, y, line.data() + 1);
        expand_across(line.data() + 1, from.width, size.width, to.row(y));
    }
    return to;
}

// ---- bands ----------------------------------------------------------------------------------------------------------

/// How sensitive a channel is on a background, from its row of the table.
class Background {
public:
    explicit Background(double luminance) {
        const double first = std::log10(0.005);
        const double at = (std::log10(luminance) - first) / (4.0 - first) * (kCsfLuminances - 1);
        const double inside = std::clamp(at, 0.0, kCsfLuminances - 1.0);
        index_ = static_cast<size_t>(inside);
        part_ = inside - static_cast<double>(index_);
    }
    double sensitivity(const std::array<double, kCsfLuminances>& row) const {
        const double next = row[std::min<size_t>(index_ + 1, kCsfLuminances - 1)];
        constexpr double kOctaves = 3.321928094887362348; // log2 of 10
        return std::exp2(kOctaves * ((1.0 - part_) * row[index_] + part_ * next + kSensitivityDecibels / 20.0));
    }

private:
    size_t index_ = 0;
    double part_ = 0.0;
};

/// A row's samples blurred downwards.
void blur_down(const Image& from, int y, double* to) {
    static const std::array<double, kBlurRadius + 1> taps = blur_taps();
    const double* row[2 * kBlurRadius + 1];
    for (int d = -kBlurRadius; d <= kBlurRadius; ++d)
        row[kBlurRadius + d] = from.row(mirror_without_edges(y + d, from.height));
    for (int x = 0; x < from.width; ++x) {
        double sum = taps[0] * row[kBlurRadius][x];
        for (int d = 1; d <= kBlurRadius; ++d)
            sum += taps[static_cast<size_t>(d)] * (row[kBlurRadius - d][x] + row[kBlurRadius + d][x]);
        to[x] = sum;
    }
}

/// A row's samples blurred along it. @param samples has room for a margin on either side
void blur_across(double* samples, int n, double* to) {
    static const std::array<double, kBlurRadius + 1> taps = blur_taps();
    for (int d = 1; d <= kBlurRadius; ++d) {
        samples[-d] = samples[d];
        samples[n - 1 + d] = samples[n - 1 - d];
    }
    for (int x = 0; x < n; ++x) {
        double sum = taps[0] * samples[x];
        for (int d = 1; d <= kBlurRadius; ++d) sum += taps[static_cast<size_t>(d)] * (samples[x - d] + samples[x + d]);
        to[x] = sum;
    }
}

void blur(Image* image) {
    if (image->width <= kUnblurredSide || image->height <= kUnblurredSide) return;
    Image blurred({image->width, image->height});
    std::vector<double> line(static_cast<size_t>(image->width) + 2 * kBlurRadius);
    for (int y = 0; y < image->height; ++y) {
        blur_down(*image, y, line.data() + kBlurRadius);
        blur_across(line.data() + kBlurRadius, image->width, blurred.row(y));
    }
    *image = std::move(blurred);
}

/// What a band leaves of the pictures' difference, and of what masks it.
struct Band {
    Channels difference; ///< |T - R|
    Channels masker;     ///< min(|T|, |R|), then blurred
};

/// Contrasts of both sides, weighed. @param reference, distorted this level; coarse_ the next one, expanded
Band weigh(const Plan& plan, int k, const Channels& reference, const Channels& distorted,
           const Channels& coarse_reference, const Channels& coarse_distorted) {
    const LevelSize size = plan.level[static_cast<size_t>(k)];
    const double detail = k == 0 ? 1.0 : kDetailFactor;
    const auto contrast = [&](double sample, double coarse, double background) {
        return std::min((sample - coarse) / background, kLargestContrast) * detail;
    };
    Band band;
    for (size_t c = 0; c < kChannels; ++c) band.difference[c] = band.masker[c] = Image(size);
    const size_t samples = band.masker[0].samples.size();
    for (size_t i = 0; i < samples; ++i) {
        const double light_r = std::max(coarse_reference[0].samples[i], kSmallestBackground);
        const double light_t = std::max(coarse_distorted[0].samples[i], kSmallestBackground);
        const Background background(light_r);
        for (size_t c = 0; c < kChannels; ++c) {
            const double weight = background.sensitivity(plan.sensitivity[static_cast<size_t>(k)][c]) * kGain[c];
            const double r = weight * contrast(reference[c].samples[i], coarse_reference[c].samples[i], light_r);
            const double t = weight * contrast(distorted[c].samples[i], coarse_distorted[c].samples[i], light_t);
            band.difference[c].samples[i] = std::abs(t - r);
            band.masker[c].samples[i] = std::min(std::abs(t), std::abs(r));
        }
    }
    return band;
}

/// Sums of P(D, 2) over a band, by channel.
class BandSums {
public:
    /// @param weights of the band's places; null: each counts once
    explicit BandSums(const Image* weights) : weights_(weights) {}

    void add(size_t channel, size_t place, double difference) {
        const double weight = weights_ != nullptr ? weights_->samples[place] : 1.0;
        sums_[channel] += weight * (difference * (difference + 2.0 * kOffset)); // P(D, 2)
    }
    const std::array<double, kChannels>& of_channels() const { return sums_; }
    /// To a frame's sums.
    void keep(const Plan& plan, int band, std::span<double> to) const {
        for (int c = 0; c < kChannels; ++c)
            to[static_cast<size_t>(word_of(c, band, plan.bands))] = sums_[static_cast<size_t>(c)];
        if (weights_ != nullptr)
            to[static_cast<size_t>(word_of(kChannels, band, plan.bands))] =
                std::accumulate(weights_->samples.begin(), weights_->samples.end(), 0.0);
    }

private:
    const Image* weights_;
    std::array<double, kChannels> sums_{};
};

/// @param drawn null, or takes each D
BandSums pool(Band band, Channels* drawn, const Image* weights) {
    static const double masker_factor = std::pow(10.0, kMaskerLog10), largest = std::pow(10.0, kLargestLog10);
    static const auto weight = [] {
        std::array<std::array<double, kChannels>, kChannels> weights{};
        for (size_t i = 0; i < kChannels; ++i)
            for (size_t c = 0; c < kChannels; ++c) weights[i][c] = std::exp2(kCrossMasking[i][c]);
        return weights;
    }();
    // P(x, p) with its second term made once.
    static const auto zero = [] {
        std::array<double, kChannels> zeros{};
        for (size_t c = 0; c < kChannels; ++c) zeros[c] = std::pow(kOffset, kMaskerPower[c]);
        return zeros;
    }();
    static const double difference_zero = std::pow(kOffset, kMaskingPower);
    for (Image& masker : band.masker) blur(&masker);
    BandSums sums(weights);
    for (size_t i = 0; i < band.masker[0].samples.size(); ++i) {
        std::array<double, kChannels> masker{};
        for (size_t c = 0; c < kChannels; ++c)
            masker[c] = std::pow(band.masker[c].samples[i] * masker_factor + kOffset, kMaskerPower[c]) - zero[c];
        for (size_t c = 0; c < kChannels; ++c) {
            double masking = 0.0;
            for (size_t m = 0; m < kChannels; ++m) masking += masker[m] * weight[m][c];
            const double power = std::pow(band.difference[c].samples[i] + kOffset, kMaskingPower) - difference_zero;
            const double seen = power / (1.0 + masking);
            const double difference = largest * seen / (largest + seen);
            sums.add(c, i, difference);
            if (drawn != nullptr) (*drawn)[c].samples[i] = difference;
        }
    }
    return sums;
}

double mean_light(const Image& image) {
    double sum = 0.0;
    for (const double sample : image.samples) sum += std::max(sample, kSmallestBackground);
    return sum / static_cast<double>(image.samples.size());
}

BandSums sum_baseband(const Plan& plan, const Channels& reference, const Channels& distorted, Channels* drawn,
                      const Image* weights) {
    const double light_r = mean_light(reference[0]), light_t = mean_light(distorted[0]);
    const Background background(light_r);
    BandSums sums(weights);
    for (size_t c = 0; c < kChannels; ++c) {
        const double weight = background.sensitivity(plan.sensitivity[static_cast<size_t>(plan.baseband())][c]);
        for (size_t i = 0; i < reference[c].samples.size(); ++i) {
            const double t = std::min(distorted[c].samples[i] / light_t, kLargestContrast);
            const double r = std::min(reference[c].samples[i] / light_r, kLargestContrast);
            const double difference = std::abs(t - r) * weight;
            sums.add(c, i, difference);
            if (drawn != nullptr) (*drawn)[c].samples[i] = difference;
        }
    }
    return sums;
}

// ---- map ------------------------------------------------------------------------------------------------------------

/// A band's differences of all channels in one, as the score weighs them.
Image join_channels(const Plan& plan, int band, const Channels& difference) {
    Image joined(plan.level[static_cast<size_t>(band)]);
    // The factor that made contrasts of the inner bands larger must not make them larger in the sum of bands.
    const double scale = band == 0 || band == plan.baseband() ? 1.0 : 1.0 / kDetailFactor;
    for (size_t i = 0; i < joined.samples.size(); ++i) {
        double sum = 0.0;
        for (size_t c = 0; c < kChannels; ++c) {
            const double weight = kChannelWeight[c] * (band == plan.baseband() ? kBasebandWeight[c] : 1.0);
            sum += offset_power(difference[c].samples[i] * weight, 4.0);
        }
        joined.samples[i] = scale * offset_power(sum, 0.25);
    }
    return joined;
}

/// All bands at the size of the finest. @param bands what join_channels() made of each
Image add_bands(const Plan& plan, std::vector<Image> bands) {
    Image sum = std::move(bands.back());
    for (int k = plan.baseband() - 1; k >= 0; --k) {
        const auto band = static_cast<size_t>(k);
        sum = expand(sum, plan.level[band]);
        for (size_t i = 0; i < sum.samples.size(); ++i) sum.samples[i] += bands[band].samples[i];
    }
    return sum;
}

/// Of the places of all levels with weights.
std::vector<Image> level_weights(const Plan& plan, const HostPlane& sample_weights) {
    const WeightReader reader(sample_weights);
    std::vector<Image> levels;
    for (int k = 0; k < plan.bands; ++k) {
        Image level(plan.level[static_cast<size_t>(k)]);
        for (int y = 0; y < level.height; ++y)
            for (int x = 0; x < level.width; ++x)
                level.row(y)[x] = k == 0 ? static_cast<double>(reader.at(x, y)) / kFullWeight
                                         : halved_weight<double>(x, y, levels.back().width, levels.back().height,
                                                                 [&](int u, int v) { return levels.back().row(v)[u]; });
        levels.push_back(std::move(level));
    }
    return levels;
}

} // namespace

std::array<double, kChannels> pool_baseband(const Plan& plan, const Channels& reference, const Channels& distorted,
                                            Channels* drawn) {
    return sum_baseband(plan, reference, distorted, drawn, nullptr).of_channels();
}

void score_frame(const Plan& plan, bool fixed_border, Channels reference, Channels distorted, std::span<double> sums,
                 Image* map, std::span<const Image> weights) {
    std::vector<Image> drawn;
    Channels difference;
    const auto begin_band = [&](int band) -> Channels* {
        if (map == nullptr) return nullptr;
        for (Image& image : difference) image = Image(plan.level[static_cast<size_t>(band)]);
        return &difference;
    };
    const auto end_band = [&](int band) {
        if (map != nullptr) drawn.push_back(join_channels(plan, band, difference));
    };
    const auto weights_of = [&](int band) { return weights.empty() ? nullptr : &weights[static_cast<size_t>(band)]; };
    for (int k = 0; k < plan.baseband(); ++k) {
        Channels coarse[2], wide[2];
        for (size_t c = 0; c < kChannels; ++c) {
            coarse[0][c] = reduce(reference[c], fixed_border);
            coarse[1][c] = reduce(distorted[c], fixed_border);
            for (size_t side = 0; side < 2; ++side)
                wide[side][c] = expand(coarse[side][c], plan.level[static_cast<size_t>(k)]);
        }
        pool(weigh(plan, k, reference, distorted, wide[0], wide[1]), begin_band(k), weights_of(k)).keep(plan, k, sums);
        end_band(k);
        reference = std::move(coarse[0]);
        distorted = std::move(coarse[1]);
    }
    sum_baseband(plan, reference, distorted, begin_band(plan.baseband()), weights_of(plan.baseband()))
        .keep(plan, plan.baseband(), sums);
    end_band(plan.baseband());
    if (map == nullptr) return;
    *map = add_bands(plan, std::move(drawn));
    for (double& value : map->samples) value = 1.0 - jod_of(value) / 10.0;
}

CpuReference::CpuReference(const FrameGeometry& geometry, const Settings& settings)
    : geometry_(geometry), settings_(settings), plan_(make_plan(geometry, settings)),
      curve_(settings), reader_{ColourReader(geometry, settings, curve_, 0),
                                ColourReader(geometry, settings, curve_, 1)},
      time_(settings) {}

Channels CpuReference::filtered(std::span<const HostPicture* const> frames, int side,
                                std::span<const FrameWeights> weights) const {
    Channels channels;
    for (Image& image : channels) image = Image({geometry_.width, geometry_.height});
    Image colours[kColours];
    for (Image& image : colours) image = Image({geometry_.width, 1});
    for (size_t f = 0; f < frames.size(); ++f) {
        if (is_nothing(weights[f])) continue;
        for (int y = 0; y < geometry_.height; ++y) {
            reader_[side].read_row(*frames[f], y, {colours[0].row(0), colours[1].row(0), colours[2].row(0)});
            for (size_t c = 0; c < kChannels; ++c) {
                const double* const from = colours[c % kColours].row(0);
                double* const to = channels[c].row(y);
                for (int x = 0; x < geometry_.width; ++x) to[x] += weights[f][c] * from[x];
            }
        }
    }
    return channels;
}

void CpuReference::score_target(const Frames& frames, const Target& target, std::span<double> sums, Image* map,
                                std::span<const Image> weights) const {
    const auto shares = time_.weights_of(target, frames.count());
    score_frame(plan_, settings_.fixed_border, filtered(frames.side[0], 0, shares), filtered(frames.side[1], 1, shares),
                sums, map, weights);
}

void CpuReference::score(const HostPair& pair, HostPast past, std::span<uint64_t> sums) const {
    const Frames frames = time_.frames_of(pair, past);
    std::vector<double> values(static_cast<size_t>(plan_.words()));
    std::vector<Image> weights;
    if (plan_.has_weights) weights = level_weights(plan_, pair.weights);
    for (int slot = 0; slot < time_.targets().slots(); ++slot) {
        const Target target = time_.targets().target(frames.count() - 1, slot);
        if (target.target < 0) continue;
        score_target(frames, target, values, nullptr, weights);
        for (size_t i = 0; i < values.size(); ++i)
            sums[static_cast<size_t>(slot) * values.size() + i] = std::bit_cast<uint64_t>(values[i]);
    }
}

void CpuReference::draw(const HostPair& pair, HostPast past, Plane<float> values) const {
    const Frames frames = time_.frames_of(pair, past);
    const Target target = time_.targets().target(frames.count() - 1, 0);
    Image map({geometry_.width, geometry_.height});
    std::vector<double> sums(static_cast<size_t>(plan_.words()));
    if (target.target >= 0) score_target(frames, target, sums, &map, {});
    for (int y = 0; y < map.height; ++y)
        std::transform(map.row(y), map.row(y) + map.width, values.row(y),
                       [](double value) { return static_cast<float>(value); });
}

} // namespace qc::cvvdp
