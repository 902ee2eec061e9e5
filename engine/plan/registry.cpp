// SPDX-License-Identifier: BSD-2-Clause-Patent
// Compiled once for the library and once, with the skeleton metric in the list, for the tests.
#include "plan/metric_registry.hpp"

#include <array>

// Written by kernels/meson.build: QC_METRIC(name) for each metric folder.
#define QC_METRIC(name)                                                                                                \
    namespace qc::name {                                                                                               \
    const MetricDescriptor& descriptor();                                                                              \
    }
#include QC_METRIC_LIST
#undef QC_METRIC

namespace qc {

namespace signature {
const MetricDescriptor& descriptor();
}
namespace difference {
const MetricDescriptor& descriptor();
}

const MetricDescriptor& signature_metric() {
    return signature::descriptor();
}

const MetricDescriptor& difference_metric() {
    return difference::descriptor();
}

std::span<const MetricDescriptor* const> registered_metrics() {
#define QC_METRIC(name) &name::descriptor(),
    static const std::array kMetrics{
#include QC_METRIC_LIST
    };
#undef QC_METRIC
    return kMetrics;
}

const MetricDescriptor* find_metric(std::string_view name) {
    for (const MetricDescriptor* metric : registered_metrics())
        if (metric->name == name) return metric;
    return nullptr;
}

} // namespace qc
