// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options of a metric: declared once in its descriptor, parsed and validated in one place (engine/option_parser.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qc {

enum class OptionType {
    kBool,
    kInt,
    kDouble,
    kChoice, ///< one of `choices`; its value is the index
    kText    ///< free text, e.g. a path; never part of a name
};

/// Declaration of one option, in libvmaf's names.
struct OptionSpec {
    std::string_view name;  ///< "adm_enhn_gain_limit"
    std::string_view alias; ///< "egl": the form used in score names; empty if names never show the option
    OptionType type;
    double default_value;
    double minimum, maximum; ///< inclusive
    std::string_view help;
    std::span<const std::string_view> choices = {}; ///< kChoice only: the words accepted, default_value is an index

    bool in_name() const { return !alias.empty(); }
};

/// Values of a metric's options, in the order of its OptionSpec list. Bools are 0 or 1, choices an index; texts are
/// kept beside the numbers.
class OptionValues {
public:
    explicit OptionValues(std::span<const OptionSpec> specs) : specs_(specs) {
        for (const OptionSpec& spec : specs) values_.push_back(spec.default_value);
        texts_.resize(specs.size());
    }

    std::span<const OptionSpec> specs() const { return specs_; }
    double number(size_t index) const { return values_[index]; }
    int integer(size_t index) const { return static_cast<int>(values_[index]); }
    bool flag(size_t index) const { return values_[index] != 0.0; }
    const std::string& text(size_t index) const { return texts_[index]; }
    void set(size_t index, double value) { values_[index] = value; }
    void set_text(size_t index, std::string text) { texts_[index] = std::move(text); }
    bool is_default(size_t index) const { return values_[index] == specs_[index].default_value; }

private:
    std::span<const OptionSpec> specs_;
    std::vector<double> values_;
    std::vector<std::string> texts_;
};

} // namespace qc
