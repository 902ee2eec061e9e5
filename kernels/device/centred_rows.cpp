// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/centred_rows.hpp"

#include "device/cpu_clones.hpp"

namespace qc::device {
namespace {

template <typename T>
QC_INLINE_HELPER void centre(const T* samples, int width, const CentredLuma& luma, float* to) {
    const CentredLuma centred = luma;
    for (int x = 0; x < width; ++x) to[x] = centred(samples[x]);
}

QC_CPU_CLONES void centre_bytes(const uint8_t* samples, int width, const CentredLuma& luma, float* __restrict to) {
    centre(samples, width, luma, to);
}

QC_CPU_CLONES void centre_words(const uint16_t* samples, int width, const CentredLuma& luma, float* __restrict to) {
    centre(samples, width, luma, to);
}

} // namespace

void centre_row(const uint8_t* samples, int width, const CentredLuma& luma, float* to) {
    centre_bytes(samples, width, luma, to);
}

void centre_row(const uint16_t* samples, int width, const CentredLuma& luma, float* to) {
    centre_words(samples, width, luma, to);
}

void CentredSource::read(int y, float* to) const {
    if (bytes_)
        centre_row(plane_.as<uint8_t>().row(y), width_, luma_, to);
    else
        centre_row(plane_.as<uint16_t>().row(y), width_, luma_, to);
}

} // namespace qc::device
