// SPDX-License-Identifier: BSD-2-Clause-Patent
// The metrics that this build contains.
#pragma once

#include <span>
#include <string_view>

#include "contract/metric.hpp"

namespace qc {

/// Every metric of the build, in a fixed order. The descriptors live as long as the library.
std::span<const MetricDescriptor* const> registered_metrics();

/// What the watch of the contents has computed, as a metric without scores. Not among the others.
const MetricDescriptor& signature_metric();

/// A map without a metric: how far the pictures are apart, place by place. Not among the others either.
const MetricDescriptor& difference_metric();

/// @return null if no metric has this name (exact match)
const MetricDescriptor* find_metric(std::string_view name);

} // namespace qc
