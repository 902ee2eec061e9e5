// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/timeline.hpp"

#include <algorithm>

#include "api/picture.hpp"
#include "cuda/carver.hpp"

namespace qc::cuda {

Timeline::Timeline(const BackendSetup& setup, int frames)
    : setup_(setup), depth_(setup.earlier_pairs), frames_(frames), geometry_(setup.geometry),
      past_(static_cast<size_t>(setup.config->renditions)) {
    Carver carver;
    for (int p = 0; p < setup_.planes_read(); ++p) {
        const size_t row_bytes = static_cast<size_t>(geometry_.stored_width(p)) * geometry_.sample_bytes();
        pitch_bytes_[p] = static_cast<uint32_t>(align_up(row_bytes, 64));
        plane_offset_[p] = carver.take(pitch_bytes_[p] * static_cast<size_t>(geometry_.stored_height(p)));
    }
    picture_bytes_ = carver.used();
}

Status Timeline::allocate(Context& context) {
    if (depth_ == 0) return {};
    const size_t pictures = static_cast<size_t>(setup_.inputs()) * static_cast<size_t>(depth_);
    return memory_.allocate(context, pictures * picture_bytes_, "pictures of earlier frames");
}

/// Where a ring has, or will have, a frame of the session.
DevicePicture Timeline::kept(int input, int64_t frame) const {
    const qc_format& format = setup_.format_of(input);
    const bool converted = setup_.needs_conversion(input);
    const size_t place = static_cast<size_t>(input) * static_cast<size_t>(depth_) + static_cast<size_t>(frame % depth_);
    DevicePicture picture{};
    for (int p = 0; p < setup_.planes_read(); ++p)
        picture.plane[p] = {memory_.as<void>(place * picture_bytes_ + plane_offset_[p]), pitch_bytes_[p], 1,
                            static_cast<uint16_t>(converted ? 0 : format.shift)};
    return picture;
}

void Timeline::add(std::span<const DevicePicture> inputs, int frame, const Description& description) {
    if (depth_ == 0) return;
    DevicePicture* const places = description.host(&DescriptionLayout::timeline);
    uint32_t* const pasts = description.host(&DescriptionLayout::pasts);
    KeepJob* const jobs = description.host(&DescriptionLayout::keep_jobs);
    const int planes = setup_.planes_read(), row = depth_ + frames_;
    const auto job = [&](int f, int input, int p) -> KeepJob& {
        return jobs[(f * setup_.inputs() + input) * planes + p];
    };
    for (int input = 0; input < setup_.inputs(); ++input) {
        const DevicePicture& picture = inputs[static_cast<size_t>(input)];
        for (int back = 1; frame == 0 && back <= depth_ && back <= next_frame_; ++back)
            places[input * row + depth_ - back] = kept(input, next_frame_ - back);
        places[input * row + depth_ + frame] = picture;
        const DevicePicture target = kept(input, next_frame_);
        for (int p = 0; p < planes; ++p) {
            job(frame, input, p) = {picture.plane[p],
                                    const_cast<void*>(target.plane[p].data),
                                    target.plane[p].pitch_bytes,
                                    geometry_.stored_width(p),
                                    geometry_.stored_height(p),
                                    static_cast<int32_t>(geometry_.sample_bytes())};
            if (frame >= depth_) job(frame - depth_, input, p).source.data = nullptr; // it would lie in the same place
        }
        if (input == 0) continue;
        int& past = past_[static_cast<size_t>(input - 1)];
        pasts[(input - 1) * frames_ + frame] = static_cast<uint32_t>(past);
        past = picture.plane[0].data == nullptr ? 0 : std::min(past + 1, depth_);
    }
    ++next_frame_;
}

Status Timeline::enqueue(const Description& description, int frames, DeviceQueue& queue) const {
    if (depth_ == 0) return {};
    const auto jobs = static_cast<unsigned>(frames * setup_.inputs() * setup_.planes_read());
    return queue.launch(kernel_, Dim3{blocks_for(geometry_.height, KeepPictures::kRows), jobs},
                        KeepPictures::Arguments{description.device(&DescriptionLayout::keep_jobs)});
}

DeviceTimeline Timeline::device(const Description& description) const {
    return {description.device(&DescriptionLayout::timeline), description.device(&DescriptionLayout::pasts), depth_,
            frames_, setup_.config->renditions};
}

} // namespace qc::cuda
