// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "models/model_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "files/sha256.hpp"
#include "text/message.hpp"
#include "text/number.hpp"

namespace qc {

namespace {

constexpr size_t kMaxJsonDepth = 16;
constexpr size_t kMaxJsonValues = 1'000'000;
constexpr int kMaxKnots = 10;
constexpr int kMaxSupportVectors = 1'000'000;

/// A JSON value that keeps the text of numbers: option values depend on it.
struct JsonValue {
    enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

    Kind kind = Kind::kNull;
    bool flag = false;
    std::string text;                ///< of a string or a number
    std::vector<JsonValue> elements; ///< of an array, or the values of an object
    std::vector<std::string> keys;   ///< of an object

    bool is(Kind wanted) const { return kind == wanted; }
    bool is_null() const { return kind == Kind::kNull; }

    /// The last member of that name, as readers that overwrite have it.
    const JsonValue* find(std::string_view key) const {
        for (size_t i = keys.size(); i > 0; --i)
            if (keys[i - 1] == key) return &elements[i - 1];
        return nullptr;
    }
};

/// Builds a JsonValue from the parser's events. Refuses what is too deep or too large.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit TreeBuilder(JsonValue* root) : root_(root) {}

    const std::string& error() const { return error_; }

    bool null() override { return add(JsonValue::Kind::kNull) != nullptr; }
    bool boolean(bool value) override {
        JsonValue* added = add(JsonValue::Kind::kBool);
        if (added) added->flag = value;
        return added != nullptr;
    }
    bool number_integer(number_integer_t value) override {
        return add_text(JsonValue::Kind::kNumber, std::to_string(value));
    }
    bool number_unsigned(number_unsigned_t value) override {
        return add_text(JsonValue::Kind::kNumber, std::to_string(value));
    }
    bool number_float(number_float_t, const string_t& literal) override {
        std::string text = literal;
        // The parser hands over the literal with the locale's decimal point.
        for (char& c : text)
            if (std::strchr("0123456789+-eE", c) == nullptr) c = '.';
        return add_text(JsonValue::Kind::kNumber, std::move(text));
    }
    bool string(string_t& value) override { return add_text(JsonValue::Kind::kString, value); }
    bool binary(binary_t&) override { return refuse("binary data is not expected"); }
    bool start_object(std::size_t) override { return open(JsonValue::Kind::kObject); }
    bool start_array(std::size_t) override { return open(JsonValue::Kind::kArray); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        open_.back()->keys.push_back(value);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        return refuse("not valid JSON, near byte " + std::to_string(position));
    }

private:
    JsonValue* add(JsonValue::Kind kind) {
        if (++values_ > kMaxJsonValues) {
            refuse("more than " + std::to_string(kMaxJsonValues) + " JSON values");
            return nullptr;
        }
        JsonValue* added = open_.empty() ? root_ : &open_.back()->elements.emplace_back();
        added->kind = kind;
        return added;
    }
    bool add_text(JsonValue::Kind kind, std::string text) {
        JsonValue* added = add(kind);
        if (added) added->text = std::move(text);
        return added != nullptr;
    }
    bool open(JsonValue::Kind kind) {
        if (open_.size() >= kMaxJsonDepth)
            return refuse("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
        JsonValue* added = add(kind);
        if (added) open_.push_back(added); // stays valid: its siblings are added only after it was closed
        return added != nullptr;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    bool refuse(std::string reason) {
        if (error_.empty()) error_ = std::move(reason);
        return false;
    }

    JsonValue* root_;
    std::vector<JsonValue*> open_;
    size_t values_ = 0;
    std::string error_;
};

Status parse_tree(std::string_view json, JsonValue* root) {
    TreeBuilder builder(root);
    if (nlohmann::json::sax_parse(json.begin(), json.end(), &builder)) return {};
    return invalid(builder.error().empty() ? "not valid JSON" : builder.error());
}

Status read_number(const JsonValue& value, std::string_view what, double* number) {
    const std::optional<double> parsed =
        value.is(JsonValue::Kind::kNumber) ? parse_double(value.text) : std::optional<double>();
    if (!parsed) return invalid(std::string(what) + " must be a number");
    *number = *parsed;
    return {};
}

Status read_numbers(const JsonValue* value, std::string_view key, size_t count, std::vector<double>* numbers) {
    const std::string what(key);
    if (value == nullptr) return invalid("\"" + what + "\" is missing");
    if (!value->is(JsonValue::Kind::kArray) || value->elements.size() != count)
        return invalid("\"" + what + "\" must be an array of " + std::to_string(count) + " numbers");
    numbers->resize(count);
    for (size_t i = 0; i < count; ++i)
        QC_RETURN_IF_ERROR(
            read_number(value->elements[i], "\"" + what + "\"[" + std::to_string(i) + "]", &(*numbers)[i]));
    return {};
}

Status read_string(const JsonValue& model, std::string_view key, const std::string** text) {
    const JsonValue* value = model.find(key);
    if (value == nullptr) return invalid("\"" + std::string(key) + "\" is missing");
    if (!value->is(JsonValue::Kind::kString)) return invalid("\"" + std::string(key) + "\" must be a string");
    *text = &value->text;
    return {};
}

Status read_option(const std::string& name, const JsonValue& value, ModelOption* option) {
    option->name = name;
    switch (value.kind) {
    case JsonValue::Kind::kNumber:
        option->text = normalised_number(value.text);
        return {};
    case JsonValue::Kind::kBool:
        option->text = value.flag ? "true" : "false";
        return {};
    case JsonValue::Kind::kString:
        option->text = value.text;
        return {};
    default:
        return invalid("option " + in_quotes(name) +
                       " in \"feature_opts_dicts\" must be a number, true, false or a string");
    }
}

Status read_features(const JsonValue& model, std::vector<ModelFeature>* features) {
    const JsonValue* names = model.find("feature_names");
    if (names == nullptr) return invalid("\"feature_names\" is missing");
    if (!names->is(JsonValue::Kind::kArray) || names->elements.empty() || names->elements.size() > kMaxModelFeatures)
        return invalid(format("\"feature_names\" must be an array of 1 to %zu strings", kMaxModelFeatures));
    for (const JsonValue& name : names->elements) {
        if (!name.is(JsonValue::Kind::kString) || name.text.empty())
            return invalid("\"feature_names\" must hold strings only");
        features->push_back({name.text, {}});
    }

    const JsonValue* options = model.find("feature_opts_dicts");
    if (options == nullptr) return {};
    if (!options->is(JsonValue::Kind::kArray) || options->elements.size() != features->size())
        return invalid(
            format("\"feature_opts_dicts\" must be an array of %zu objects, one per feature", features->size()));
    for (size_t i = 0; i < features->size(); ++i) {
        const JsonValue& entry = options->elements[i];
        if (!entry.is(JsonValue::Kind::kObject)) return invalid("\"feature_opts_dicts\" must hold objects only");
        for (size_t k = 0; k < entry.keys.size(); ++k) {
            ModelOption option;
            QC_RETURN_IF_ERROR(read_option(entry.keys[k], entry.elements[k], &option));
            (*features)[i].options.push_back(std::move(option));
        }
    }
    return {};
}

Status read_normalisation(const JsonValue& model, size_t feature_count, Predictor* predictor) {
    const std::string* norm_type = nullptr;
    QC_RETURN_IF_ERROR(read_string(model, "norm_type", &norm_type));
    if (*norm_type == "none") return {};
    if (*norm_type != "linear_rescale")
        return invalid("\"norm_type\" is " + in_quotes(*norm_type) + ", known are \"linear_rescale\" and \"none\"");
    predictor->rescale = true;
    QC_RETURN_IF_ERROR(read_numbers(model.find("slopes"), "slopes", feature_count + 1, &predictor->slopes));
    QC_RETURN_IF_ERROR(read_numbers(model.find("intercepts"), "intercepts", feature_count + 1, &predictor->intercepts));
    if (predictor->slopes[0] == 0.0) return invalid("\"slopes\"[0] must not be 0");
    return {};
}

Status read_clip(const JsonValue& model, Predictor* predictor) {
    const JsonValue* clip = model.find("score_clip");
    if (clip == nullptr) return {};
    std::vector<double> bounds;
    QC_RETURN_IF_ERROR(read_numbers(clip, "score_clip", 2, &bounds));
    if (bounds[0] > bounds[1]) return invalid("\"score_clip\" must give the smaller bound first");
    predictor->clip_enabled = true;
    predictor->clip_min = bounds[0];
    predictor->clip_max = bounds[1];
    return {};
}

Status read_coefficient(const JsonValue& transform, std::string_view key, std::optional<double>* coefficient) {
    const JsonValue* value = transform.find(key);
    if (value == nullptr) return {};
    double number = 0.0;
    QC_RETURN_IF_ERROR(read_number(*value, "\"" + std::string(key) + "\" in \"score_transform\"", &number));
    *coefficient = number;
    return {};
}

/// The format wants the word "true" as a string here; other strings mean no.
Status read_word(const JsonValue& transform, std::string_view key, bool* flag) {
    const JsonValue* value = transform.find(key);
    if (value == nullptr) return {};
    if (!value->is(JsonValue::Kind::kString))
        return invalid("\"" + std::string(key) + "\" in \"score_transform\" must be the string \"true\" or left out");
    *flag = value->text == "true";
    return {};
}

Status read_knots(const JsonValue& transform, std::vector<ScoreTransform::Knot>* knots) {
    const JsonValue* value = transform.find("knots");
    if (value == nullptr) return {};
    if (!value->is(JsonValue::Kind::kArray) || value->elements.size() > kMaxKnots)
        return invalid(
            format("\"knots\" in \"score_transform\" must be an array of at most %d [x, y] pairs", kMaxKnots));
    for (const JsonValue& pair : value->elements) {
        std::vector<double> xy;
        QC_RETURN_IF_ERROR(read_numbers(&pair, "knots", 2, &xy));
        if (!knots->empty() && !(knots->back().x < xy[0] && knots->back().y <= xy[1]))
            return invalid("\"knots\" in \"score_transform\" must rise in x and must not fall in y");
        knots->push_back({xy[0], xy[1]});
    }
    return {};
}

Status read_transform(const JsonValue& model, Predictor* predictor) {
    const JsonValue* value = model.find("score_transform");
    if (value == nullptr) return {};
    if (!value->is(JsonValue::Kind::kObject)) return invalid("\"score_transform\" must be an object");
    ScoreTransform transform;
    QC_RETURN_IF_ERROR(read_coefficient(*value, "p0", &transform.p0));
    QC_RETURN_IF_ERROR(read_coefficient(*value, "p1", &transform.p1));
    QC_RETURN_IF_ERROR(read_coefficient(*value, "p2", &transform.p2));
    QC_RETURN_IF_ERROR(read_knots(*value, &transform.knots));
    QC_RETURN_IF_ERROR(read_word(*value, "out_lte_in", &transform.out_lte_in));
    QC_RETURN_IF_ERROR(read_word(*value, "out_gte_in", &transform.out_gte_in));
    if (const JsonValue* enabled = value->find("enabled")) {
        if (!enabled->is(JsonValue::Kind::kBool))
            return invalid("\"enabled\" in \"score_transform\" must be true or false");
        predictor->transform_enabled = enabled->flag;
    }
    predictor->transform = std::move(transform);
    return {};
}

/// Index of the one feature whose name contains the word.
Status find_one_feature(std::span<const ModelFeature> features, std::string_view word, int* index) {
    *index = -1;
    for (size_t i = 0; i < features.size(); ++i) {
        if (features[i].name.find(word) == std::string::npos) continue;
        if (*index >= 0)
            return invalid("\"chroma_correction_parameter\" needs exactly one " + std::string(word) + " feature");
        *index = static_cast<int>(i);
    }
    if (*index < 0) return invalid("\"chroma_correction_parameter\" needs a " + std::string(word) + " feature");
    return {};
}

Status read_chroma_correction(const JsonValue& model, std::span<const ModelFeature> features, Predictor* predictor) {
    const JsonValue* value = model.find("chroma_correction_parameter");
    if (value == nullptr) return {};
    QC_RETURN_IF_ERROR(read_number(*value, "\"chroma_correction_parameter\"", &predictor->chroma_correction));
    if (predictor->chroma_correction == 0.0) return {};
    QC_RETURN_IF_ERROR(find_one_feature(features, "speed_chroma", &predictor->chroma_feature));
    return find_one_feature(features, "adm3", &predictor->adm3_feature);
}

Status read_predictor(const JsonValue& file_object, std::vector<ModelFeature>* features, Predictor* predictor) {
    const JsonValue* model = file_object.find("model_dict");
    if (model == nullptr || !model->is(JsonValue::Kind::kObject)) return invalid("\"model_dict\" must be an object");
    const std::string* model_type = nullptr;
    QC_RETURN_IF_ERROR(read_string(*model, "model_type", &model_type));
    if (*model_type != "LIBSVMNUSVR" && *model_type != "BOOTSTRAP_LIBSVMNUSVR" &&
        *model_type != "RESIDUEBOOTSTRAP_LIBSVMNUSVR") {
        return invalid("\"model_type\" is " + in_quotes(*model_type) +
                       ", known are LIBSVMNUSVR, BOOTSTRAP_LIBSVMNUSVR and RESIDUEBOOTSTRAP_LIBSVMNUSVR");
    }
    QC_RETURN_IF_ERROR(read_features(*model, features));
    QC_RETURN_IF_ERROR(read_normalisation(*model, features->size(), predictor));
    QC_RETURN_IF_ERROR(read_clip(*model, predictor));
    QC_RETURN_IF_ERROR(read_transform(*model, predictor));
    QC_RETURN_IF_ERROR(read_chroma_correction(*model, *features, predictor));
    const std::string* svm_text = nullptr;
    QC_RETURN_IF_ERROR(read_string(*model, "model", &svm_text));
    return parse_libsvm(*svm_text, static_cast<int>(features->size()), &predictor->svm);
}

bool same_features(std::span<const ModelFeature> a, std::span<const ModelFeature> b) {
    const auto same_option = [](const ModelOption& x, const ModelOption& y) {
        return x.name == y.name && x.text == y.text;
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const ModelFeature& x, const ModelFeature& y) {
        return x.name == y.name &&
               std::equal(x.options.begin(), x.options.end(), y.options.begin(), y.options.end(), same_option);
    });
}

/// Members have the keys "0", "1", "2" ... in this order; other keys are none of our business.
Status read_collection(const JsonValue& root, std::vector<ModelFeature>* features, std::vector<Predictor>* members) {
    for (size_t i = 0; i < root.keys.size(); ++i) {
        const std::string wanted = std::to_string(members->size());
        if (root.keys[i] != wanted) continue;
        if (members->size() == kMaxModelMembers)
            return invalid(format("a collection may have %zu members at most", kMaxModelMembers));
        std::vector<ModelFeature> member_features;
        Predictor member;
        const Status status = read_predictor(root.elements[i], &member_features, &member);
        if (!status.ok()) return invalid("member \"" + wanted + "\": " + status.text());
        if (members->empty()) {
            *features = std::move(member_features);
        } else if (!same_features(*features, member_features)) {
            return invalid("member \"" + wanted + "\": its features differ from those of member \"0\"");
        }
        members->push_back(std::move(member));
    }
    if (members->empty()) return invalid("neither a model (\"model_dict\") nor a collection (\"0\", \"1\", ...)");
    if (members->size() == 1) return invalid("a collection needs a member \"1\" beside \"0\"");
    return {};
}

Status parse_model(std::string_view json, std::shared_ptr<const Model>* model) {
    JsonValue root;
    QC_RETURN_IF_ERROR(parse_tree(json, &root));
    if (!root.is(JsonValue::Kind::kObject)) return invalid("a model file must hold a JSON object");
    std::vector<ModelFeature> features;
    std::vector<Predictor> members;
    if (root.find("model_dict") != nullptr) {
        members.emplace_back();
        QC_RETURN_IF_ERROR(read_predictor(root, &features, &members.front()));
    } else {
        QC_RETURN_IF_ERROR(read_collection(root, &features, &members));
    }
    *model = std::make_shared<const Model>(std::move(features), std::move(members), sha256_of(json));
    return {};
}

// ---- libsvm's text -------------------------------------------------------------------------------------------------

/// Words of a text, line by line.
class LineReader {
public:
    explicit LineReader(std::string_view text) : rest_(text) {}

    bool next_line(std::string_view* line) {
        while (!rest_.empty()) {
            const size_t end = std::min(rest_.find('\n'), rest_.size());
            *line = rest_.substr(0, end);
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            if (line->find_first_not_of(" \t\r") != std::string_view::npos) return true;
        }
        return false;
    }

    static bool next_word(std::string_view* line, std::string_view* word) {
        const size_t begin = line->find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return false;
        line->remove_prefix(begin);
        const size_t end = std::min(line->find_first_of(" \t\r"), line->size());
        *word = line->substr(0, end);
        line->remove_prefix(end);
        return true;
    }

private:
    std::string_view rest_;
};

struct SvmHeader {
    bool has_type = false, has_kernel = false;
    std::optional<double> gamma, rho, total_sv;
};

Status read_svm_header_line(std::string_view key, std::string_view value, SvmHeader* header) {
    const auto need = [&](bool good, const char* accepted) {
        return good ? Status()
                    : invalid("support vector text: " + in_quotes(std::string(key) + " " + std::string(value)) +
                              " is not accepted, " + accepted);
    };
    const std::optional<double> number = parse_double(value);
    if (key == "svm_type") {
        header->has_type = true;
        return need(value == "nu_svr", "only nu_svr is known");
    }
    if (key == "kernel_type") {
        header->has_kernel = true;
        return need(value == "rbf", "only rbf is known");
    }
    if (key == "gamma") {
        header->gamma = number;
        return need(number.has_value(), "it must be a number");
    }
    if (key == "rho") {
        header->rho = number;
        return need(number.has_value(), "it must be a number");
    }
    if (key == "total_sv") {
        header->total_sv = number;
        return need(number && *number >= 1 && *number <= kMaxSupportVectors &&
                        *number == static_cast<double>(static_cast<int>(*number)),
                    "it must be a count");
    }
    // Of other kinds of machines; without meaning for this one.
    for (const char* ignored : {"nr_class", "degree", "coef0", "label", "probA", "probB", "nr_sv"})
        if (key == ignored) return {};
    return invalid("support vector text: unknown line " + in_quotes(key));
}

/// "coefficient index:value index:value ...", indices from 1, ascending; what is missing is 0.
Status read_support_vector(std::string_view line, size_t row, SupportVectorMachine* svm) {
    const auto bad = [&](std::string_view word) {
        return invalid("support vector " + std::to_string(row + 1) + ": " + in_quotes(word) + " is not understood");
    };
    std::string_view word;
    if (!LineReader::next_word(&line, &word)) return bad(line);
    const std::optional<double> coefficient = parse_double(word);
    if (!coefficient) return bad(word);
    svm->coefficients.push_back(*coefficient);

    const size_t offset = svm->vectors.size();
    svm->vectors.resize(offset + static_cast<size_t>(svm->dimensions), 0.0);
    int last_index = 0;
    while (LineReader::next_word(&line, &word)) {
        const size_t colon = word.find(':');
        if (colon == std::string_view::npos) return bad(word);
        const std::optional<double> index = parse_double(word.substr(0, colon));
        const std::optional<double> value = parse_double(word.substr(colon + 1));
        if (!index || !value || *index <= last_index || *index > svm->dimensions ||
            *index != static_cast<double>(static_cast<int>(*index)))
            return bad(word);
        last_index = static_cast<int>(*index);
        svm->vectors[offset + static_cast<size_t>(last_index) - 1] = *value;
    }
    return {};
}

// ---- files ----------------------------------------------------------------------------------------------------------

Status read_file(const std::string& path, std::string* content) {
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    const auto io_error = [&](const char* reason) {
        return Status(QC_ERROR_IO, "cannot read model file " + in_quotes(path) + ": " + reason);
    };
    if (!file) return io_error(std::strerror(errno));
    char block[1 << 16];
    while (true) {
        errno = 0;
        const size_t count = std::fread(block, 1, sizeof(block), file.get());
        content->append(block, count);
        if (content->size() > kMaxModelBytes)
            return io_error(format("it is larger than %zu MiB", kMaxModelBytes >> 20).c_str());
        if (count < sizeof(block)) break;
    }
    if (std::ferror(file.get())) return io_error(errno != 0 ? std::strerror(errno) : "read error");
    return {};
}

} // namespace

Status parse_libsvm(std::string_view text, int dimensions, SupportVectorMachine* svm) {
    LineReader reader(text);
    SvmHeader header;
    std::string_view line, key, value;
    bool found_vectors = false;
    while (!found_vectors && reader.next_line(&line)) {
        LineReader::next_word(&line, &key);
        found_vectors = key == "SV";
        value = {};
        LineReader::next_word(&line, &value);
        if (!found_vectors) QC_RETURN_IF_ERROR(read_svm_header_line(key, value, &header));
    }
    if (!found_vectors) return invalid("support vector text: the line \"SV\" is missing");
    if (!header.has_type || !header.has_kernel || !header.gamma || !header.rho || !header.total_sv)
        return invalid("support vector text: svm_type, kernel_type, gamma, rho and total_sv must come before \"SV\"");

    svm->dimensions = dimensions;
    svm->gamma = *header.gamma;
    svm->rho = *header.rho;
    const size_t wanted = static_cast<size_t>(*header.total_sv);
    while (reader.next_line(&line)) {
        if (svm->coefficients.size() == wanted)
            return invalid(format("support vector text: more than the %zu vectors of total_sv", wanted));
        QC_RETURN_IF_ERROR(read_support_vector(line, svm->coefficients.size(), svm));
    }
    if (svm->coefficients.size() != wanted)
        return invalid(format("support vector text: %zu vectors, total_sv says %zu", svm->coefficients.size(), wanted));
    return {};
}

Status parse_model_json(std::string_view json, std::string_view name, std::shared_ptr<const Model>* model) {
    Status status;
    try {
        status = parse_model(json, model);
    } catch (const std::bad_alloc&) {
        return {QC_ERROR_NO_MEMORY, "model file " + in_quotes(name) + ": out of memory"};
    }
    return status.ok() ? status : Status(status.code(), "model file " + in_quotes(name) + ": " + status.text());
}

constexpr std::string_view kOldEndings[] = {".pkl", ".pkl.model"};

bool is_old_model_file(std::string_view path) {
    return std::any_of(std::begin(kOldEndings), std::end(kOldEndings),
                       [&](std::string_view ending) { return path.ends_with(ending); });
}

Status load_model_file(const std::string& path, std::shared_ptr<const Model>* model) {
    std::string content;
    Status status = read_file(path, &content);
    if (status.ok()) status = parse_model_json(content, path, model);
    if (status.ok() || !is_old_model_file(path)) return status;
    const std::string stem = path.substr(0, path.rfind(".pkl"));
    return {status.code(),
            "model file " + in_quotes(path) +
                ": pickled models of libvmaf before version 2 are not read; use the same model as JSON, " +
                in_quotes(stem + ".json") + ", or a built-in one by its name"};
}

} // namespace qc
