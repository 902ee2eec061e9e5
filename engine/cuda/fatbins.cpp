// SPDX-License-Identifier: BSD-2-Clause-Patent
// Compiled once for the library and once, with the skeleton metric in the list, for the tests.
#include "cuda/program.hpp"

// Written by kernels/meson.build: QC_METRIC(name) for each metric folder. The symbols come from tools/embed.py.
#define QC_METRIC(name) extern "C" const unsigned char qc_fatbin_##name[];
QC_METRIC(ingest)
QC_METRIC(signature)
QC_METRIC(difference)
#include QC_METRIC_LIST
#undef QC_METRIC

namespace qc::cuda {

const void* find_fatbin(std::string_view name) {
#define QC_METRIC(entry)                                                                                               \
    if (name == #entry) return qc_fatbin_##entry;
    QC_METRIC(ingest)
    QC_METRIC(signature)
    QC_METRIC(difference)
#include QC_METRIC_LIST
#undef QC_METRIC
    return nullptr;
}

} // namespace qc::cuda
