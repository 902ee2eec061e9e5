// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "models/builtin_models.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "files/sha256.hpp"
#include "models/embedded_model.hpp"
#include "text/message.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"

namespace qc {

namespace {

constexpr std::string_view kNames[] = {
    "vmaf_v0.6.1",
    "vmaf_v0.6.1neg",
    "vmaf_4k_v0.6.1",
    "vmaf_4k_v0.6.1neg",
    "vmaf_b_v0.6.3",
    "vmaf_float_v0.6.1",
    "vmaf_float_v0.6.1neg",
    "vmaf_float_4k_v0.6.1",
    "vmaf_float_b_v0.6.3",
    "vmaf_v1.0.16_3d0h",
    "vmaf_v1.0.16_5d0h",
    "vmaf_v1.0.16_3d0h_2160",
    "vmaf_v1.0.16_1d5h_2160",
    "vmaf_v1.0.16_hfr_3d0h",
    "vmaf_v1.0.16_hfr_5d0h",
    "vmaf_v1.0.16_hfr_3d0h_2160",
    "vmaf_v1.0.16_hfr_1d5h_2160",
};

const EmbeddedModel* find_embedded(std::string_view name) {
    for (size_t i = 0; i < kEmbeddedModelCount; ++i)
        if (name == kEmbeddedModels[i].name) return &kEmbeddedModels[i];
    return nullptr;
}

/// The words of one statement.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line) {}

    std::string_view next() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        const std::string_view word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(word.size());
        return word;
    }
    std::optional<double> number() { return parse_double(next()); }
    bool numbers(size_t count, std::vector<double>* values) {
        for (size_t i = 0; i < count; ++i) {
            const std::optional<double> value = number();
            if (!value) return false;
            values->push_back(*value);
        }
        return true;
    }

private:
    std::string_view rest_;
};

/// Reads the compact form, statement by statement.
class CompactReader {
public:
    std::vector<ModelFeature> features;
    std::vector<Predictor> members;
    Sha256 checksum; ///< of the text, and of the one that it builds on

    bool read(std::string_view text) {
        checksum.add(text);
        while (!text.empty()) {
            const size_t end = std::min(text.find('\n'), text.size());
            if (!statement(text.substr(0, end))) return false;
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return !features.empty() && !members.empty();
    }

private:
    bool statement(std::string_view line) {
        Words words(line);
        const std::string_view key = words.next();
        if (key == "feature") return feature(words);
        if (key == "base") return read_base(words.next());
        if (key == "vector") return words.numbers(features.size(), &vectors_);
        if (key == "member") {
            members.emplace_back();
            members.back().rescale = true;
            members.back().svm.dimensions = static_cast<int>(features.size());
            return true;
        }
        return !members.empty() && member_statement(key, words, members.back());
    }

    /// Takes over the members of another model of as many features. One level deep: a base has none itself.
    bool read_base(std::string_view name) {
        const EmbeddedModel* embedded = find_embedded(name);
        if (embedded == nullptr || !members.empty()) return false;
        CompactReader base;
        if (std::string_view(embedded->text).find("\nbase ") != std::string_view::npos || !base.read(embedded->text))
            return false;
        if (base.features.size() != features.size()) return false;
        checksum.add(embedded->text);
        members = std::move(base.members);
        return true;
    }

    bool feature(Words& words) {
        ModelFeature added{std::string(words.next()), {}};
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
            const size_t equals = word.find('=');
            if (equals == std::string_view::npos) return false;
            added.options.push_back({std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
        }
        features.push_back(std::move(added));
        return true;
    }

    bool member_statement(std::string_view key, Words& words, Predictor& member) {
        if (key == "slopes") return words.numbers(features.size() + 1, &member.slopes);
        if (key == "intercepts") return words.numbers(features.size() + 1, &member.intercepts);
        if (key == "support") return support(words, member.svm);
        if (key == "clip") {
            std::vector<double> bounds;
            member.clip_enabled = words.numbers(2, &bounds);
            if (member.clip_enabled) member.clip_min = bounds[0], member.clip_max = bounds[1];
            return member.clip_enabled;
        }
        if (key == "polynomial") {
            std::vector<double> p;
            if (!words.numbers(3, &p)) return false;
            member.transform = ScoreTransform{p[0], p[1], p[2], {}, false, false};
            return true;
        }
        if (key == "chroma_correction") {
            const std::optional<double> value = words.number();
            member.chroma_feature = feature_index("speed_chroma");
            member.adm3_feature = feature_index("adm3");
            if (!value || member.chroma_feature < 0 || member.adm3_feature < 0) return false;
            member.chroma_correction = *value;
            return true;
        }
        if (key == "gamma" || key == "rho") {
            const std::optional<double> value = words.number();
            if (value) (key == "gamma" ? member.svm.gamma : member.svm.rho) = *value;
            return value.has_value();
        }
        if (!member.transform) return false;
        if (key == "not_below_input") return member.transform->out_gte_in = true;
        if (key == "not_above_input") return member.transform->out_lte_in = true;
        if (key == "transform_on") return member.transform_enabled = true;
        return false;
    }

    int feature_index(std::string_view word) const {
        const auto found = std::find_if(features.begin(), features.end(), [&](const ModelFeature& feature) {
            return feature.name.find(word) != std::string::npos;
        });
        return found == features.end() ? -1 : static_cast<int>(found - features.begin());
    }

    bool support(Words& words, SupportVectorMachine& svm) {
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
            const std::optional<double> index = parse_double(word), coefficient = words.number();
            if (!index || !coefficient) return false;
            const size_t offset = static_cast<size_t>(*index) * features.size();
            if (*index < 0 || offset + features.size() > vectors_.size()) return false;
            svm.coefficients.push_back(*coefficient);
            const auto vector = vectors_.begin() + static_cast<ptrdiff_t>(offset);
            svm.vectors.insert(svm.vectors.end(), vector, vector + svm.dimensions);
        }
        return true;
    }

    std::vector<double> vectors_; ///< [index][feature]
};

Status broken(std::string_view name) {
    return {QC_ERROR_INTERNAL, "built-in model " + std::string(name) + " cannot be read"};
}

} // namespace

std::span<const std::string_view> builtin_model_names() {
    return kNames;
}

std::span<const std::string_view> models_of_all() {
    static constexpr std::string_view kEntries[] = {"version=vmaf_v0.6.1", "version=auto:name=vmaf_v1"};
    return kEntries;
}

std::string_view automatic_model_name(int width, int height, double frame_rate) {
    // Half way, on a scale of ratios, between 1920x1080 and 3840x2160, whichever way round the picture stands.
    constexpr double kLongSide = 2715.3, kShortSide = 1527.4;
    constexpr double kHighFrameRate = 50.0;
    const bool large = std::max(width, height) > kLongSide || std::min(width, height) > kShortSide;
    if (frame_rate >= kHighFrameRate) return large ? "vmaf_v1.0.16_hfr_1d5h_2160" : "vmaf_v1.0.16_hfr_3d0h";
    return large ? "vmaf_v1.0.16_1d5h_2160" : "vmaf_v1.0.16_3d0h";
}

Status load_builtin_model(std::string_view name, std::shared_ptr<const Model>* model) {
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
        const std::vector<std::string> known(std::begin(kNames), std::end(kNames));
        std::string meant = suggestion(std::string(name), known);
        if (meant.empty()) meant = suggestion("vmaf_" + std::string(name), known); // v0.6.1ng
        if (meant.empty()) meant = ", built in are " + joined(known) + "; other models are loaded with path=FILE.json";
        return invalid("unknown model " + in_quotes(name) + meant);
    }
    const EmbeddedModel* embedded = find_embedded(name);
    CompactReader reader;
    if (embedded == nullptr || !reader.read(embedded->text)) return broken(name);
    *model =
        std::make_shared<const Model>(std::move(reader.features), std::move(reader.members), reader.checksum.finish());
    return {};
}

} // namespace qc
