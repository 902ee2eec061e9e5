// SPDX-License-Identifier: BSD-2-Clause-Patent
// metric_table: what docs/reference/metrics.md says of each metric's options and scores, straight from the descriptors;
// with
// --json what scripts need to know of the metrics, so that none keeps a list of its own.
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "api/picture.hpp"
#include "plan/metric_registry.hpp"
#include "text/number.hpp"

namespace {

using namespace qc;

std::string range_of(const OptionSpec& option) {
    switch (option.type) {
    case OptionType::kBool:
        return "true, false";
    case OptionType::kChoice: {
        std::string words;
        for (const std::string_view choice : option.choices) words += (words.empty() ? "" : ", ") + std::string(choice);
        return words;
    }
    case OptionType::kText:
        return "text";
    default:
        return general_text(option.minimum) + " to " + general_text(option.maximum);
    }
}

std::string default_of(const OptionSpec& option) {
    switch (option.type) {
    case OptionType::kBool:
        return option.default_value != 0.0 ? "true" : "false";
    case OptionType::kChoice:
        return std::string(option.choices[static_cast<size_t>(option.default_value)]);
    case OptionType::kText:
        return "";
    default:
        return general_text(option.default_value);
    }
}

/// A paragraph of the names, wrapped; long lists are cut. Scores that need an option or chroma are marked.
void print_scores(const MetricDescriptor& metric) {
    constexpr size_t kWidth = 110, kMostNames = 40, kNamesOfLongList = 8;
    const size_t total = metric.outputs.size(), listed = total > kMostNames ? kNamesOfLongList : total;
    std::string line = "Scores:";
    for (const OutputSpec& output : metric.outputs.first(listed)) {
        const std::string word = " `" + std::string(output.alias) + "`" + (output.enabled != nullptr ? "\\*" : "");
        if (line.size() + word.size() > kWidth) {
            std::printf("%s\n", line.c_str());
            line = word.substr(1);
        } else {
            line += word;
        }
    }
    if (listed < total) line += " and " + std::to_string(total - listed) + " more";
    std::printf("%s\n\n", line.c_str());
}

void print_metric(const MetricDescriptor& metric) {
    std::printf("### %s\n\n%s.\n\n", std::string(metric.name).c_str(), std::string(metric.summary).c_str());
    if (!metric.short_name.empty())
        std::printf("`metrics` takes it as `%s` too.\n\n", std::string(metric.short_name).c_str());
    print_scores(metric);
    if (metric.options.empty()) return;
    std::printf("| option | in names | default | accepted | meaning |\n|---|---|---|---|---|\n");
    for (const OptionSpec& option : metric.options)
        std::printf("| `%s` | %s | %s | %s | %s |\n", std::string(option.name).c_str(),
                    option.in_name() ? ("`" + std::string(option.alias) + "`").c_str() : "", default_of(option).c_str(),
                    range_of(option).c_str(), std::string(option.help).c_str());
    std::printf("\n");
}

/// Side of the smallest square picture of 8 bits that the metric accepts with its default options; 0: none does.
int smallest_side(const MetricDescriptor& metric, qc_chroma chroma) {
    constexpr int kLargestSide = 1024;
    for (int side = 1; side <= kLargestSide; ++side) {
        qc_config config{};
        config.struct_size = sizeof(config);
        config.reference.width = config.reference.height = side;
        config.reference.chroma = chroma;
        config.reference.depth = config.reference.container_bits = 8;
        config.distorted[0] = config.reference;
        FrameGeometry geometry;
        std::string chroma_conflict;
        if (!session_geometry(config, &geometry, &chroma_conflict).ok()) continue;
        if (validate(metric, geometry, OptionValues(metric.options)).ok()) return side;
    }
    return 0;
}

/// One line for each metric, in the registry's order.
void print_json() {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const MetricDescriptor* metric : registered_metrics()) {
        if (metric->is_example) continue;
        nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
        for (const OutputSpec& output : metric->outputs) outputs.push_back(output.alias);
        list.push_back({{"name", metric->name},
                        {"short_name", metric->short_name},
                        {"smallest_side",
                         {{"4:0:0", smallest_side(*metric, QC_CHROMA_400)},
                          {"4:2:0", smallest_side(*metric, QC_CHROMA_420)},
                          {"4:2:2", smallest_side(*metric, QC_CHROMA_422)},
                          {"4:4:4", smallest_side(*metric, QC_CHROMA_444)}}},
                        {"cuda_bound",
                         {{"absolute", metric->backend_bound.absolute}, {"relative", metric->backend_bound.relative}}},
                        {"outputs", outputs}});
    }
    std::printf("%s\n", list.dump(1).c_str());
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
        try {
            print_json();
        } catch (const std::exception& error) { // of the JSON library
            std::fprintf(stderr, "metric_table: %s\n", error.what());
            return 1;
        }
        return 0;
    }
    for (const MetricDescriptor* metric : registered_metrics())
        if (!metric->is_example) print_metric(*metric);
    return 0;
}
