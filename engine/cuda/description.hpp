// SPDX-License-Identifier: BSD-2-Clause-Patent
// What tells the kernels of one batch where its pictures lie. Knows memory (context.hpp) and the arrays that kernels
// read (contract/types.hpp, ingest/ingest.hpp); not who fills them.
#pragma once

#include <compare>

#include "contract/types.hpp"
#include "cuda/context.hpp"
#include "ingest/ingest.hpp"
#include "ingest/map_paint.hpp"

namespace qc::cuda {

/// How many entries of each array of a description are in use. Launch shapes, and so graphs, depend on nothing else.
struct BatchShape {
    int references = 0, evaluated_references = 0, pairs = 0, evaluated_pairs = 0, jobs = 0, scale_jobs = 0,
        recode_jobs = 0;
    auto operator<=>(const BatchShape&) const = default; // NOLINT(modernize-use-nullptr): of the default's inside
};

/// An array of T in a description.
template <typename T>
struct DescriptionArray {
    size_t offset = 0; ///< bytes, the same on host and device
};

/// The arrays of a description. "Evaluated" are the frames that n_subsample keeps.
struct DescriptionLayout {
    DescriptionArray<DeviceReference> references, evaluated_references;
    DescriptionArray<DevicePair> pairs, evaluated_pairs;
    DescriptionArray<uint32_t> first_pairs, evaluated_first_pairs; ///< of each reference, and where the last one's end
    DescriptionArray<DevicePlane> kept_planes;                     ///< [frame][ring], see History
    DescriptionArray<DevicePicture> timeline;                      ///< [input][place], see DeviceTimeline
    DescriptionArray<uint32_t> pasts;                              ///< [rendition][frame]
    DescriptionArray<KeepJob> keep_jobs;                           ///< [frame][input][plane], see Timeline
    DescriptionArray<ConvertJob> jobs;
    DescriptionArray<ScaleJob> scale_jobs;
    DescriptionArray<RecodeJob> recode_jobs;
    DescriptionArray<MapJob> map_jobs; ///< [frame], see Maps
    size_t bytes = 0;

    DescriptionLayout() = default;
    /// @param frames in a batch at most; @param rings of the history; @param lifted, scaled pictures per frame at most
    /// @param earlier_pairs of the timeline; 0: there is none; @param maps pictures of maps per frame: 0 or 1
    /// @param recoded as lifted
    DescriptionLayout(int frames, int renditions, int rings, int lifted, int scaled, int earlier_pairs = 0,
                      int maps = 0, int recoded = 0);
};

/// A description, written by the host in page-locked memory and read by kernels from its copy on the device (see
/// HandOver). Its addresses stay, so that graphs may hold them. The host must not write while copies or kernels of a
/// batch may run.
class Description {
public:
    /// Zeroed. @return QC_ERROR_NO_MEMORY
    Status allocate(Context& context, const DescriptionLayout& layout);

    template <typename T>
    T* host(DescriptionArray<T> DescriptionLayout::*array) const {
        return host_.as<T>((layout_.*array).offset);
    }
    template <typename T>
    const T* device(DescriptionArray<T> DescriptionLayout::*array) const {
        return device_.as<const T>((layout_.*array).offset);
    }
    /// Of all arrays, a multiple of 16.
    size_t bytes() const { return layout_.bytes; }
    template <typename T>
    const T* host_memory() const {
        return host_.as<const T>();
    }
    template <typename T>
    T* device_memory() const {
        return device_.as<T>();
    }

private:
    DescriptionLayout layout_;
    PinnedBuffer host_;
    DeviceBuffer device_;
};

} // namespace qc::cuda
