// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C API without a session: what there is to ask for, and how it is called.
#include "api/format_names.hpp"
#include "api/picture.hpp"
#include "contract/caught.hpp"
#include "models/builtin_models.hpp"
#include "plan/metric_registry.hpp"
#include "plan/request.hpp"
#include "quality_cuda.h"
#include "report/log_writer.hpp"
#include "scores/pooling.hpp"

#ifndef QC_VERSION
#error "QC_VERSION comes from the build"
#endif

namespace {

/// nullptr beyond the last.
const qc::MetricDescriptor* metric_at(int index) {
    const auto metrics = qc::registered_metrics();
    return index >= 0 && static_cast<size_t>(index) < metrics.size() ? metrics[static_cast<size_t>(index)] : nullptr;
}

/// Of those that have a map; nullptr beyond the last.
const qc::MetricDescriptor* map_at(int index) {
    static const auto mapped = qc::mapped_metrics(qc::registered_metrics());
    return index >= 0 && static_cast<size_t>(index) < mapped.size() ? mapped[static_cast<size_t>(index)] : nullptr;
}

qc_option_type type_of(qc::OptionType type) {
    switch (type) {
    case qc::OptionType::kBool:
        return QC_OPTION_BOOL;
    case qc::OptionType::kInt:
        return QC_OPTION_INT;
    case qc::OptionType::kDouble:
        return QC_OPTION_DOUBLE;
    case qc::OptionType::kChoice:
        return QC_OPTION_CHOICE;
    case qc::OptionType::kText:
        break;
    }
    return QC_OPTION_TEXT;
}

} // namespace

int qc_abi_version(void) {
    return QC_ABI_VERSION;
}
const char* qc_version(void) {
    return QC_VERSION;
}

const char* qc_metric_name(int index) {
    const qc::MetricDescriptor* const metric = metric_at(index);
    return metric != nullptr ? metric->name.data() : nullptr;
}

const char* qc_metric_summary(int index) {
    const qc::MetricDescriptor* const metric = metric_at(index);
    return metric != nullptr ? metric->summary.data() : nullptr;
}

const char* qc_metric_short_name(int index) {
    const qc::MetricDescriptor* const metric = metric_at(index);
    if (metric == nullptr) return nullptr;
    return metric->short_name.empty() ? "" : metric->short_name.data();
}

qc_status qc_metric_option(int metric, int index, qc_option* option) {
    const qc::MetricDescriptor* const descriptor = metric_at(metric);
    if (descriptor == nullptr || index < 0 || option == nullptr) return QC_ERROR_INVALID;
    if (static_cast<size_t>(index) >= descriptor->options.size()) return QC_END;
    const qc::OptionSpec& spec = descriptor->options[static_cast<size_t>(index)];
    *option = {.name = spec.name.data(),
               .help = spec.help.data(),
               .alias = spec.in_name() ? spec.alias.data() : "",
               .type = type_of(spec.type),
               .choices = static_cast<int>(spec.choices.size()),
               .minimum = spec.minimum,
               .maximum = spec.maximum,
               .default_value = spec.default_value,
               .reserved = {}};
    if (spec.type == qc::OptionType::kChoice || spec.type == qc::OptionType::kText)
        option->minimum = option->maximum = 0.0;
    return QC_OK;
}

const char* qc_metric_option_choice(int metric, int option, int index) {
    const qc::MetricDescriptor* const descriptor = metric_at(metric);
    if (descriptor == nullptr || option < 0 || static_cast<size_t>(option) >= descriptor->options.size())
        return nullptr;
    const auto& choices = descriptor->options[static_cast<size_t>(option)].choices;
    return index >= 0 && static_cast<size_t>(index) < choices.size() ? choices[static_cast<size_t>(index)].data()
                                                                     : nullptr;
}

const char* qc_map_name(int index) {
    const qc::MetricDescriptor* const metric = map_at(index);
    return metric != nullptr ? metric->name.data() : nullptr;
}

const char* qc_map_unit(int index) {
    const qc::MetricDescriptor* const metric = map_at(index);
    return metric != nullptr ? metric->map->what.data() : nullptr;
}

double qc_map_white(int index) {
    const qc::MetricDescriptor* const metric = map_at(index);
    return metric != nullptr ? metric->map->white : 0.0;
}

const char* qc_model_name(int index) {
    const auto names = qc::builtin_model_names();
    return index >= 0 && static_cast<size_t>(index) < names.size() ? names[static_cast<size_t>(index)].data() : nullptr;
}

qc_status qc_pool_parse(const char* text, qc_pool* pool) {
    const auto parsed = text != nullptr ? qc::parse_pool(text) : std::nullopt;
    if (!parsed || pool == nullptr) return QC_ERROR_INVALID;
    *pool = *parsed;
    return QC_OK;
}

const char* qc_pool_name(qc_pool pool) {
    return qc::pool_name(pool);
}

qc_status qc_format_from_name(const char* name, int width, int height, qc_format* format) {
    if (name == nullptr || format == nullptr) return QC_ERROR_INVALID;
    qc_format found{};
    if (!qc::find_format(name, &found)) return QC_ERROR_UNSUPPORTED;
    found.width = width;
    found.height = height;
    *format = found;
    return QC_OK;
}

const char* qc_format_name(const qc_format* format) {
    return format != nullptr ? qc::name_of_format(*format) : nullptr;
}

qc_status qc_format_plane(const qc_format* format, int plane, int64_t* row_bytes, int* rows) {
    if (format == nullptr || plane < 0) return QC_ERROR_INVALID;
    const qc::Status status = qc::caught([&] { return qc::check_format(*format, ""); });
    if (!status.ok()) return status.code();
    if (plane >= qc::stored_planes(*format)) return QC_END;
    const qc::StoredPlane stored = qc::stored_plane(*format, plane);
    if (row_bytes != nullptr) *row_bytes = stored.row_bytes;
    if (rows != nullptr) *rows = stored.rows;
    return QC_OK;
}

qc_status qc_log_format_parse(const char* text, qc_log_format* format) {
    const auto parsed = text != nullptr ? qc::parse_log_format(text) : std::nullopt;
    if (!parsed || format == nullptr) return QC_ERROR_INVALID;
    *format = *parsed;
    return QC_OK;
}
