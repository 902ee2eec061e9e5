// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/recode_order.hpp"

#include <algorithm>

namespace qc {
namespace {

/// How the samples of a component lie that are in no pixels.
RecodeOrder order_of(const RecodeSource& source) {
    const SampleSource& samples = source.samples;
    if (samples.bytes > 2 || samples.swapped != 0 || source.repeat_across != 0 || source.repeat_down != 0)
        return kScattered;
    if (samples.bytes == 1 && (samples.shift != 0 || samples.largest != 0xff)) return kScattered;
    const int step = samples.step_bytes / samples.bytes;
    if (step > 2) return kScattered;
    const uintptr_t wide = samples.bytes == 1 && step == 1 ? 8 : 16; // bytes that are loaded at once
    const uintptr_t offset = reinterpret_cast<uintptr_t>(source.data) % wide;
    if (source.pitch_bytes % wide != 0) return kScattered;
    if (offset == 0) return step == 1 ? kSideBySide : kFirstOfPair;
    return step == 2 && offset == samples.bytes ? kSecondOfPair : kScattered;
}

/// Finds the first pixel, where all of them can be loaded by eight.
bool find_pixels(RecodeJob* job) {
    constexpr uintptr_t kWide = 16;
    const uint8_t* begin = std::min({job->source[0].data, job->source[1].data, job->source[2].data});
    if (job->pixel_bytes % 4 == 0) // what is unused may come first
        begin -= reinterpret_cast<uintptr_t>(begin) % static_cast<uintptr_t>(job->pixel_bytes);
    for (const RecodeSource& source : job->source)
        if (source.data - begin >= job->pixel_bytes || source.pitch_bytes != job->source[0].pitch_bytes) return false;
    job->pixels = begin;
    return (reinterpret_cast<uintptr_t>(begin) | job->source[0].pitch_bytes) % kWide == 0;
}

} // namespace

int pixel_bytes_of(const RecodeJob& job) {
    const SampleSource& first = job.source[0].samples;
    for (const RecodeSource& source : job.source) {
        const bool is_repeated = source.repeat_across != 0 || source.repeat_down != 0;
        if (is_repeated || source.samples.step_bytes != first.step_bytes || source.columns != job.source[0].columns ||
            source.rows != job.source[0].rows)
            return 0;
    }
    if (job.recoding.source_planes != 3 || first.swapped != 0) return 0;
    switch (first.step_bytes) {
    case 3:
        return first.bytes == 1 ? 3 : 0;
    case 4:
        return first.bytes == 1 || first.bytes == 4 ? 4 : 0;
    case 6:
    case 8:
        return first.bytes == 2 ? first.step_bytes : 0;
    default:
        return 0;
    }
}

void find_order(RecodeJob* job) {
    for (int q = 0; q < job->recoding.source_planes; ++q) job->source[q].order = order_of(job->source[q]);
    if (job->pixel_bytes == 0) return;
    const RecodeOrder order = find_pixels(job) ? kInPixels : kScattered;
    for (RecodeSource& source : job->source) source.order = order;
}

} // namespace qc
