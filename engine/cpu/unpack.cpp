// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/unpack.hpp"

#include <cstring>

#include "ingest/unpack_rows.hpp"

namespace qc::cpu {
namespace {

template <typename Target>
void unpack(const ComponentRows& source, int shift_left, const Plane<Target>& target) {
    const auto [across, down] = source.repeated;
    for (int y = 0; y < target.height; ++y) {
        Target* const row = target.row(y);
        if (y >> down != (y - 1) >> down || y == 0) {
            const int stored = (target.width + (1 << across) - 1) >> across;
            unpack_row(source.data + (y >> down) * source.pitch_bytes, source.samples, shift_left, stored, row);
            for (int x = target.width - 1; across > 0 && x > 0; --x) row[x] = row[x >> across];
        } else {
            std::memcpy(row, target.row(y - 1), static_cast<size_t>(target.width) * sizeof(Target));
        }
    }
}

} // namespace

ComponentRows component_rows(const qc_picture& picture, const qc_format& format, int component) {
    const PlaneSource from = plane_source(format, component);
    return {static_cast<const uint8_t*>(picture.plane[from.plane]) + from.first_bytes, picture.pitch_bytes[from.plane],
            sample_source(format, component), repetition(format, component)};
}

void unpack_plane(const ComponentRows& source, int shift_left, const Plane<uint8_t>& target) {
    unpack(source, shift_left, target);
}

void unpack_plane(const ComponentRows& source, int shift_left, const Plane<uint16_t>& target) {
    unpack(source, shift_left, target);
}

} // namespace qc::cpu
