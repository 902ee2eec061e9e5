// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "models/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "ranks/deviation.hpp"

namespace qc {

namespace {

/// Ascending, with NaN behind everything: a strict weak order whatever the scores are.
bool score_less(double a, double b) {
    return a < b || (std::isnan(b) && !std::isnan(a));
}

/// Linear between the two neighbours of rank percent * (n - 1) / 100. Unlike the percentiles of pooling, equal
/// neighbours go through the same arithmetic as others: the reference's last bit.
double percentile(std::span<const double> sorted, double percent) {
    const double rank = percent * static_cast<double>(sorted.size() - 1) / 100.0;
    const double low = std::floor(rank);
    const double high = std::ceil(rank);
    const double at_low = sorted[static_cast<size_t>(low)];
    if (low == high) return at_low;
    return at_low * (high - rank) + sorted[static_cast<size_t>(high)] * (rank - low);
}

std::string member_name(std::string_view base, size_t member) {
    return format("%.*s_%04zu", static_cast<int>(base.size()), base.data(), member);
}

double interpolate(const ScoreTransform::Knot& left, const ScoreTransform::Knot& right, double x) {
    if (left.y == right.y) return left.y;
    if (left.x == 0.0) {
        const double slope = (right.y - left.y) / right.x;
        return slope * x + left.y;
    }
    const double slope = (right.y - left.y) / (right.x - left.x);
    const double offset = left.y - left.x * slope;
    return slope * x + offset;
}

/// The first and the last segment continue to infinity; at a shared knot the later segment decides.
double piecewise_linear(std::span<const ScoreTransform::Knot> knots, double x) {
    if (knots.size() < 2) return x;
    double y = x;
    for (size_t i = 0; i + 1 < knots.size(); ++i) {
        const bool inside = x >= knots[i].x && x <= knots[i + 1].x;
        const bool before_first = i == 0 && x < knots[i].x;
        const bool behind_last = i + 2 == knots.size() && x > knots[i + 1].x;
        if (inside || before_first || behind_last) y = interpolate(knots[i], knots[i + 1], x);
    }
    return y;
}

bool same_normalisation(const Predictor& a, const Predictor& b) {
    return a.rescale == b.rescale && a.slopes == b.slopes && a.intercepts == b.intercepts &&
           a.chroma_correction == b.chroma_correction && a.chroma_feature == b.chroma_feature &&
           a.adm3_feature == b.adm3_feature && a.svm.gamma == b.svm.gamma && a.svm.dimensions == b.svm.dimensions;
}

} // namespace

double rbf_kernel(std::span<const double> x, std::span<const double> vector, double gamma) {
    double squared_distance = 0.0;
    for (size_t i = 0; i < vector.size(); ++i) {
        const double difference = x[i] - vector[i];
        squared_distance += difference * difference;
    }
    return std::exp(-gamma * squared_distance);
}

double SupportVectorMachine::predict(std::span<const double> x) const {
    double y = 0.0;
    for (size_t i = 0; i < coefficients.size(); ++i) y += coefficients[i] * rbf_kernel(x, vector(i), gamma);
    return y - rho;
}

double ScoreTransform::apply(double score) const {
    double y = score;
    if (p0 || p1 || p2) {
        y = 0.0;
        if (p0) y += *p0;
        if (p1) y += *p1 * score;
        if (p2) y += (*p2 * score) * score;
    }
    y = piecewise_linear(knots, y);
    if (out_lte_in && y > score) y = score;
    if (out_gte_in && y < score) y = score;
    return y;
}

void Predictor::normalise(std::span<const double> features, std::span<double> x) const {
    for (size_t i = 0; i < features.size(); ++i)
        x[i] = rescale ? slopes[i + 1] * features[i] + intercepts[i + 1] : features[i];

    if (chroma_correction != 0.0) {
        const size_t c = static_cast<size_t>(chroma_feature), a = static_cast<size_t>(adm3_feature);
        const double chroma_slope = rescale ? slopes[c + 1] : 1.0, chroma_intercept = rescale ? intercepts[c + 1] : 0.0;
        const double adm3_slope = rescale ? slopes[a + 1] : 1.0, adm3_intercept = rescale ? intercepts[a + 1] : 0.0;
        // The scores are taken back from x: the rounding of both ways is part of the result.
        const double chroma = (x[c] - chroma_intercept) / chroma_slope;
        const double adm3 = (x[a] - adm3_intercept) / adm3_slope;
        if (chroma == 0.0) x[c] = chroma_slope * ((-chroma_correction * adm3) + chroma_correction) + chroma_intercept;
    }
}

double Predictor::raw(std::span<const double> features) const {
    std::array<double, kMaxModelFeatures> storage;
    const std::span<double> x(storage.data(), features.size());
    normalise(features, x);
    return denormalise(svm.predict(x));
}

double Predictor::finish(double raw_score) const {
    double y = raw_score;
    if (transform && transform_enabled) y = transform->apply(y);
    if (clip_enabled) {
        // Comparisons, not fmin/fmax: NaN stays NaN.
        if (y < clip_min) y = clip_min;
        if (y > clip_max) y = clip_max;
    }
    return y;
}

std::optional<std::pair<double, double>> Model::score_range() const {
    const Predictor& first = members_.front();
    if (!first.clip_enabled) return std::nullopt;
    return std::pair{first.clip_min, first.clip_max};
}

std::vector<std::string> Model::output_names(std::string_view base) const {
    std::vector<std::string> names{std::string(base)};
    if (!is_collection()) return names;
    for (size_t member = 1; member < members_.size(); ++member) names.push_back(member_name(base, member));
    for (const char* suffix : {"_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi"})
        names.push_back(std::string(base) + suffix);
    return names;
}

Model::Model(std::vector<ModelFeature> features, std::vector<Predictor> members, std::string checksum)
    : features_(std::move(features)), members_(std::move(members)), checksum_(std::move(checksum)) {
    if (is_collection()) share_kernels();
}

void Model::share_kernels() {
    const Predictor& first = members_.front();
    for (const Predictor& member : members_)
        if (!same_normalisation(member, first)) return;

    shared_.emplace();
    std::map<std::vector<double>, uint32_t> known;
    for (const Predictor& member : members_) {
        std::vector<uint32_t>& indices = shared_->indices.emplace_back();
        for (size_t i = 0; i < member.svm.coefficients.size(); ++i) {
            const std::span<const double> vector = member.svm.vector(i);
            const auto [at, is_new] = known.emplace(std::vector<double>(vector.begin(), vector.end()), known.size());
            if (is_new) shared_->vectors.insert(shared_->vectors.end(), vector.begin(), vector.end());
            indices.push_back(at->second);
        }
    }
}

void Model::raw_scores(std::span<const double> features, std::span<double> raw) const {
    if (!shared_) {
        for (size_t k = 0; k < members_.size(); ++k) raw[k] = members_[k].raw(features);
        return;
    }
    std::array<double, kMaxModelFeatures> storage;
    const std::span<double> x(storage.data(), features.size());
    members_[0].normalise(features, x);

    std::vector<double> kernels(shared_->vectors.size() / x.size());
    for (size_t i = 0; i < kernels.size(); ++i)
        kernels[i] = rbf_kernel(x, {shared_->vectors.data() + i * x.size(), x.size()}, members_[0].svm.gamma);
    for (size_t k = 0; k < members_.size(); ++k) {
        const SupportVectorMachine& svm = members_[k].svm;
        const std::vector<uint32_t>& indices = shared_->indices[k];
        double y = 0.0;
        for (size_t i = 0; i < indices.size(); ++i) y += svm.coefficients[i] * kernels[indices[i]];
        raw[k] = members_[k].denormalise(y - svm.rho);
    }
}

void Model::evaluate(std::span<const double> features, std::span<double> outputs) const {
    if (!is_collection()) {
        outputs[0] = members_[0].predict(features);
        return;
    }
    std::array<double, kMaxModelMembers> storage;
    const std::span<double> raw(storage.data(), members_.size());
    raw_scores(features, raw);
    for (size_t k = 0; k < members_.size(); ++k) outputs[k] = members_[k].finish(raw[k]);
    summarise(members_[1], raw.subspan(1), outputs.subspan(members_.size())); // members_[0] has no vote
}

/// Sorts raw.
void Model::summarise(const Predictor& first, std::span<double> raw, std::span<double> summary) {
    const Deviation deviation(raw);
    std::sort(raw.begin(), raw.end(), score_less);

    // Transform and clip of the first ensemble member stand for all. The deviation is scaled by their slope at the
    // mean.
    const double delta = 0.01;
    const double slope = (first.finish(deviation.mean + delta) - first.finish(deviation.mean - delta)) / (2.0 * delta);
    summary[0] = first.finish(deviation.mean);
    summary[1] = deviation.standard * slope;
    summary[2] = first.finish(percentile(raw, 2.5));
    summary[3] = first.finish(percentile(raw, 97.5));
}

std::shared_ptr<const Model> Model::with_flags(const ModelFlags& flags) const {
    std::vector<Predictor> members = members_;
    for (Predictor& member : members) {
        if (flags.enable_transform && member.transform) member.transform_enabled = true;
        if (flags.disable_clip) member.clip_enabled = false;
    }
    return std::make_shared<const Model>(features_, std::move(members), checksum_);
}

} // namespace qc
