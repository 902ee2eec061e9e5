// SPDX-License-Identifier: BSD-2-Clause-Patent
// For metrics that make one struct, Settings, of geometry and options. Beside it, in its namespace, stands
//
//     Status settle(const FrameGeometry&, const OptionValues&, Settings*)   // refuses in one clear line
#pragma once

#include "contract/options.hpp"
#include "contract/status.hpp"
#include "contract/types.hpp"

namespace qc {

/// MetricDescriptor::validate of such a metric, if it has nothing else to refuse.
template <class Settings>
Status validate_settings(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    return settle(geometry, options, &settings);
}

/// Precondition: qc::validate() succeeded.
template <class Settings>
Settings settled(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    static_cast<void>(settle(geometry, options, &settings));
    return settings;
}

} // namespace qc
