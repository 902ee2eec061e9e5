// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/slot.hpp"

namespace qc::cuda {

Status Slot::allocate(Context& context, const SlotSizes& sizes) {
    QC_RETURN_IF_ERROR(description.allocate(context, sizes.description));
    QC_RETURN_IF_ERROR(accumulators.allocate(context, sizes.accumulator_bytes, "accumulators"));
    QC_RETURN_IF_ERROR(accumulators_host.allocate(context, sizes.accumulator_bytes, "accumulators"));
    QC_RETURN_IF_ERROR(converted.allocate(context, sizes.converted_bytes, "pictures lifted to 16 bits or scaled"));
    QC_RETURN_IF_ERROR(map_pictures.allocate(context, sizes.map_bytes, "pictures of maps"));
    QC_RETURN_IF_ERROR(map_pictures_host.allocate(context, sizes.map_bytes, "pictures of maps"));
    frames.reserve(sizes.frames);
    return done.create(context);
}

void Slot::release_frames() {
    frames.clear(); // ends the holds on their pictures
    producers.clear();
    shape = BatchShape{};
    uploaded = false;
    in_flight = false;
}

} // namespace qc::cuda
