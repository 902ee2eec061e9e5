// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/intake.hpp"

#include <algorithm>

namespace qc::cuda {

Intake::Intake(Context& context, const BackendSetup& setup, int frames, const Converter& converter, History& history,
               Timeline& timeline, const Maps& maps)
    : context_(context), setup_(setup), converter_(converter), history_(history), timeline_(timeline), maps_(maps),
      uploader_(context, setup, frames) {}

Status Intake::create() {
    QC_RETURN_IF_ERROR(uploader_.create_stream());
    return ready_.create(context_);
}

/// The batch waits for what a stream holds that works on a picture in device memory.
void Intake::await_producer(Slot& slot, const qc_picture& picture) {
    const CUstream producer =
        picture.cuda_stream != nullptr ? static_cast<CUstream>(picture.cuda_stream) : CU_STREAM_LEGACY;
    if (std::find(slot.producers.begin(), slot.producers.end(), producer) == slot.producers.end())
        slot.producers.push_back(producer);
}

/// Where the device finds a picture or its weights as it was handed over.
DevicePicture Intake::find(Slot& slot, int frame, int input, const qc_picture& source) {
    if (source.memory == QC_MEMORY_HOST) return uploader_.picture(slot.upload, frame, input);
    std::array<uint32_t, 3> pitch_bytes{};
    for (int p = 0; p < 3; ++p) pitch_bytes[p] = static_cast<uint32_t>(source.pitch_bytes[p]);
    await_producer(slot, source);
    return picture_view(setup_.source_format_of(input), setup_.source_planes_read(input), std::to_array(source.plane),
                        pitch_bytes);
}

/// Where the kernels find a picture, wherever it is now.
DevicePicture Intake::place(Slot& slot, int frame, int input, const qc_picture& source) {
    const DevicePicture raw = find(slot, frame, input, source);
    if (!converter_.converts(input)) return raw;
    return converter_.add_jobs(raw, frame, input, slot.converted, slot.description, &slot.shape);
}

DeviceReference Intake::add_reference(Slot& slot, int frame, const FrameInput& input, const DevicePlane& weights,
                                      bool evaluated) {
    const Description& description = slot.description;
    DeviceReference reference{};
    reference.current = place(slot, frame, 0, input.reference);
    reference.weights = weights;
    reference.output = static_cast<uint32_t>(frame);
    history_.look_back(description.host(&DescriptionLayout::kept_planes), frame, &reference);
    description.host(&DescriptionLayout::references)[slot.shape.references++] = reference;
    if (evaluated)
        description.host(&DescriptionLayout::evaluated_references)[slot.shape.evaluated_references++] = reference;
    return reference;
}

/// The latest reference has the pairs that were added since.
void Intake::end_pairs(const Slot& slot) {
    const BatchShape& shape = slot.shape;
    slot.description.host(&DescriptionLayout::first_pairs)[shape.references] = static_cast<uint32_t>(shape.pairs);
    slot.description.host(&DescriptionLayout::evaluated_first_pairs)[shape.evaluated_references] =
        static_cast<uint32_t>(shape.evaluated_pairs);
}

/// @return the distorted picture
DevicePicture Intake::add_pair(Slot& slot, int frame, int rendition, const qc_picture& source,
                               const DeviceReference& reference, bool evaluated) {
    const Description& description = slot.description;
    const int input = rendition + 1;
    DevicePair pair{};
    pair.reference = reference.current;
    pair.distorted = place(slot, frame, input, source);
    pair.weights = reference.weights;
    std::copy(std::begin(reference.history), std::end(reference.history), std::begin(pair.reference_history));
    history_.look_back(description.host(&DescriptionLayout::kept_planes), frame, input, &pair);
    pair.output = static_cast<uint32_t>(frame * setup_.config->renditions + rendition);
    pair.behind_first = static_cast<uint32_t>(slot.shape.pairs) -
                        description.host(&DescriptionLayout::first_pairs)[slot.shape.references - 1];
    description.host(&DescriptionLayout::pairs)[slot.shape.pairs++] = pair;
    if (evaluated) description.host(&DescriptionLayout::evaluated_pairs)[slot.shape.evaluated_pairs++] = pair;
    return pair.distorted;
}

Status Intake::add(Slot& slot, FrameInput& input) {
    const ContextGuard guard(context_);
    const int frame = static_cast<int>(slot.frames.size());
    const int renditions = setup_.config->renditions;
    const bool evaluated = input.index % setup_.config->n_subsample == 0;
    QC_RETURN_IF_ERROR(uploader_.upload(input, frame, &slot.upload, &slot.uploaded));

    bool borrowed = input.reference.memory == QC_MEMORY_CUDA;
    DevicePlane weights{};
    if (input.weights.plane[0] != nullptr) {
        weights = find(slot, frame, setup_.inputs(), input.weights).plane[0];
        borrowed = borrowed || input.weights.memory == QC_MEMORY_CUDA;
    }
    pictures_.assign(static_cast<size_t>(setup_.inputs()), DevicePicture{});
    const DeviceReference reference = add_reference(slot, frame, input, weights, evaluated);
    pictures_[0] = reference.current;
    FrameInSlot entry{input.index, std::vector<bool>(static_cast<size_t>(renditions)), {}, input.map};
    for (int r = 0; r < renditions; ++r) {
        const qc_picture& picture = input.distorted[static_cast<size_t>(r)];
        if (picture.plane[0] == nullptr) continue;
        entry.present[static_cast<size_t>(r)] = true;
        borrowed = borrowed || picture.memory == QC_MEMORY_CUDA;
        pictures_[static_cast<size_t>(r) + 1] = add_pair(slot, frame, r, picture, reference, evaluated);
    }
    end_pairs(slot);
    history_.remember(pictures_, frame, slot.description.host(&DescriptionLayout::kept_planes));
    timeline_.add(pictures_, frame, slot.description);
    maps_.add(input, frame, slot);
    if (input.map.plane[0] != nullptr && input.map.memory == QC_MEMORY_CUDA) await_producer(slot, input.map);
    if (borrowed) entry.hold = std::move(input.hold);
    input.hold.end(); // host pictures were copied to staging memory
    slot.frames.push_back(std::move(entry));
    return {};
}

Status Intake::let_wait(CUstream stream, const Slot& slot) const {
    const Driver& driver = context_.driver();
    std::vector<CUstream> sources = slot.producers;
    if (slot.uploaded) sources.push_back(upload_stream());
    for (CUstream source : sources) {
        QC_CUDA(driver, cuEventRecord, ready_.handle(), source);
        QC_CUDA(driver, cuStreamWaitEvent, stream, ready_.handle(), 0);
    }
    return {};
}

} // namespace qc::cuda
