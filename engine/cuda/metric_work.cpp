// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/metric_work.hpp"

#include "cuda/carver.hpp"

namespace qc::cuda {

Status MetricWork::load() {
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        if (!setup_.layout->computes(i)) continue;
        programs_.push_back(std::make_unique<Program>(context_));
        QC_RETURN_IF_ERROR(programs_.back()->load(setup_.plan->instances[i].descriptor->name));
        QC_RETURN_IF_ERROR(setup_.scorers[i]->prepare(*programs_.back()));
    }
    return {};
}

Status MetricWork::allocate_scratch() {
    Carver carver;
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        const int count = frames_ * static_cast<int>(setup_.evaluations(i));
        const bool computes = setup_.layout->computes(i);
        scratch_offsets_.push_back(carver.take(computes ? setup_.scorers[i]->scratch_bytes(count) : 0));
    }
    return scratch_.allocate(context_, carver.used(), "scratch of the metrics");
}

/// What the instance has to look at, and where it puts what it finds.
DeviceBatch MetricWork::batch_of(size_t instance, const Slot& slot) const {
    const MetricDescriptor& descriptor = *setup_.plan->instances[instance].descriptor;
    const Description& description = slot.description;
    const BatchShape& shape = slot.shape;
    const bool pairs = descriptor.scope == Scope::kPair;
    DeviceBatch batch;
    if (evaluates_every_frame(descriptor, setup_.plan->instances[instance].options)) {
        batch.references = description.device(&DescriptionLayout::references);
        batch.pairs = description.device(&DescriptionLayout::pairs);
        batch.first_pair = description.device(&DescriptionLayout::first_pairs);
        batch.groups = shape.references;
        batch.count = pairs ? shape.pairs : shape.references;
    } else {
        batch.references = description.device(&DescriptionLayout::evaluated_references);
        batch.pairs = description.device(&DescriptionLayout::evaluated_pairs);
        batch.first_pair = description.device(&DescriptionLayout::evaluated_first_pairs);
        batch.groups = shape.evaluated_references;
        batch.count = pairs ? shape.evaluated_pairs : shape.evaluated_references;
    }
    batch.accumulators = slot.accumulators.as<uint64_t>(results_.offset(instance));
    batch.scratch = scratch_.as<void>(scratch_offsets_[instance]);
    if (setup_.draws(instance)) batch.map = maps_.device(slot);
    return batch;
}

Status MetricWork::enqueue(size_t instance, const Slot& slot, DeviceQueue& queue) const {
    const DeviceBatch batch = batch_of(instance, slot);
    if (batch.count == 0) return {};
    return setup_.scorers[instance]->enqueue(batch, timeline_.device(slot.description), queue);
}

} // namespace qc::cuda
