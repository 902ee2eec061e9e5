// SPDX-License-Identifier: BSD-2-Clause-Patent
// VMAF models: a nu-SVR with RBF kernel over normalised feature scores, alone or as a bootstrap collection that also
// tells how sure it is. Everything is double precision in the order written here: the last bit is part of the contract.
//
// Z. Li et al., "Toward a practical perceptual video quality metric", 2016; C.-C. Chang, C.-J. Lin, "LIBSVM: a library
// for support vector machines", 2011; C. Bampis, Z. Li, A. Bovik, "SpatioTemporal feature integration and model fusion
// for full reference video quality assessment", 2018.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/status.hpp"

namespace qc {

constexpr size_t kMaxModelFeatures = 64;
constexpr size_t kMaxModelMembers = 256; ///< of a collection

/// An option as a model asks for it; the text is already what libvmaf makes of it (numbers normalised, true, false).
struct ModelOption {
    std::string name;
    std::string text;
};

/// One input of a model.
struct ModelFeature {
    std::string name; ///< base name, e.g. "VMAF_integer_feature_adm2_score"
    std::vector<ModelOption> options;
};

/// nu-SVR with a radial basis function kernel.
struct SupportVectorMachine {
    double gamma = 0.0;
    double rho = 0.0;
    int dimensions = 0;
    std::vector<double> coefficients; ///< one per support vector, in file order
    std::vector<double> vectors;      ///< [coefficients.size()][dimensions]

    double predict(std::span<const double> x) const;
    std::span<const double> vector(size_t index) const {
        return {vectors.data() + index * static_cast<size_t>(dimensions), static_cast<size_t>(dimensions)};
    }
};

/// exp(-gamma |x - vector|^2), summed in the order of the dimensions.
double rbf_kernel(std::span<const double> x, std::span<const double> vector, double gamma);

/// Maps a score in training units to the printed one; each part is optional.
struct ScoreTransform {
    struct Knot {
        double x, y;
    };
    std::optional<double> p0, p1, p2; ///< p0 + p1 y + p2 y^2
    std::vector<Knot> knots;          ///< then piecewise linear; x rises strictly, y does not fall
    bool out_lte_in = false;          ///< then never above the untransformed score
    bool out_gte_in = false;          ///< then never below it

    double apply(double score) const;
};

/// One trained regression: what a model file calls a model, and a collection holds many of.
struct Predictor {
    bool rescale = false;           ///< norm_type "linear_rescale": slopes and intercepts are set
    std::vector<double> slopes;     ///< [0] output, [1 + i] feature i
    std::vector<double> intercepts; ///< likewise
    SupportVectorMachine svm;
    std::optional<ScoreTransform> transform;
    bool transform_enabled = false;
    bool clip_enabled = false;
    double clip_min = 0.0, clip_max = 0.0;
    /// What a SpEED chroma score of exactly 0 is replaced by: this times (1 - adm3). 0: nothing is replaced.
    double chroma_correction = 0.0;
    int chroma_feature = -1, adm3_feature = -1; ///< indices into the features, where chroma_correction is not 0

    /// Score in training units: no transform, no clip.
    double raw(std::span<const double> features) const;
    /// Its first step: what the machine sees. @param x as many as features
    void normalise(std::span<const double> features, std::span<double> x) const;
    /// Its last step.
    double denormalise(double y) const { return rescale ? (y - intercepts[0]) / slopes[0] : y; }
    /// Transform and clip of a raw score, as enabled.
    double finish(double raw_score) const;
    double predict(std::span<const double> features) const { return finish(raw(features)); }
};

/// User's wishes that change a model.
struct ModelFlags {
    bool enable_transform = false;
    bool disable_clip = false;
};

/// A model as users name it. Immutable once loaded; may be shared between threads.
class Model {
public:
    /// members.size() > 1: a bootstrap collection; members[0] was trained on all data, the rest form the ensemble.
    /// At least one feature and one member, at most kMaxModelFeatures and kMaxModelMembers.
    Model(std::vector<ModelFeature> features, std::vector<Predictor> members, std::string checksum = "");

    std::span<const ModelFeature> features() const { return features_; }
    std::span<const Predictor> members() const { return members_; }
    /// SHA-256 of the bytes that it was made of; empty: of none.
    const std::string& checksum() const { return checksum_; }
    bool is_collection() const { return members_.size() > 1; }

    /// Smallest and largest score, of the model or a collection's first member; none if it does not clip.
    std::optional<std::pair<double, double>> score_range() const;

    /// 1, or for a collection of N + 1 members 1 + N + 4.
    size_t output_count() const { return is_collection() ? members_.size() + 4 : 1; }
    /// "vmaf"; for a collection then "vmaf_0001" ..., "vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo",
    /// "vmaf_ci_p95_hi".
    std::vector<std::string> output_names(std::string_view base) const;
    /// @param features one per features(); @param outputs output_count() values, in the order of output_names()
    void evaluate(std::span<const double> features, std::span<double> outputs) const;

    /// The same model with the flags applied.
    std::shared_ptr<const Model> with_flags(const ModelFlags& flags) const;

private:
    /// Members of a collection draw their support vectors from the same training pictures: vmaf_b_v0.6.3 has 4435, of
    /// which 251 differ. Each kernel is then computed once for all members; the sums and so the scores stay the same.
    struct SharedKernels {
        std::vector<double> vectors;                ///< the different ones, [index][dimension]
        std::vector<std::vector<uint32_t>> indices; ///< per member, per support vector
    };

    void share_kernels();
    /// Predictor::raw() of every member.
    void raw_scores(std::span<const double> features, std::span<double> raw) const;
    static void summarise(const Predictor& first, std::span<double> raw, std::span<double> summary);

    std::vector<ModelFeature> features_;
    std::vector<Predictor> members_;
    std::string checksum_;
    std::optional<SharedKernels> shared_; ///< where all members normalise alike
};

} // namespace qc
