// SPDX-License-Identifier: BSD-2-Clause-Patent
// Planes of earlier frames that metrics look back at. Knows memory (context.hpp) and the kernel that moves the rings on
// (ingest/ingest_kernels.hpp); no slot.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "api/backend.hpp"
#include "contract/device.hpp"
#include "cuda/context.hpp"
#include "ingest/ingest_kernels.hpp"

namespace qc::cuda {

/// Rings of planes on the device, one for each plane that somebody looks back at: the reference's luma, the renditions'
/// lumas, the reference's Cb and Cr.
///
/// A frame's earlier planes lie in its own batch, as far back as that goes, and then in the rings, which hold the last
/// planes of the batch before. Batches run one after the other, and each moves the rings on at its end. So the rings'
/// memory exists once, whatever the number of slots. Owns that memory; the planes of a batch ("kept planes",
/// [frame][ring]) are listed in its description.
class History {
public:
    /// @param setup outlives the history
    explicit History(const BackendSetup& setup);

    /// Once, before enqueue(). @param ingest the engine's own kernels
    Status find_kernel(DeviceProgram& ingest) { return ingest.find(kernels::qc_keep_history, &kernel_); }
    /// @return QC_ERROR_NO_MEMORY
    Status allocate(Context& context);

    /// May be 0: nobody looks back.
    int rings() const { return rings_.count; }

    /// Fills in what a frame sees of those before it.
    /// @param frame number within the batch; @param kept of the batch, complete for the frames before
    void look_back(const DevicePlane* kept, int frame, DeviceReference* reference) const;
    /// The same for the distorted side of a pair. @param input of the rendition
    void look_back(const DevicePlane* kept, int frame, int input, DevicePair* pair) const;
    /// Lists a frame's planes for those after it. @param inputs the frame's pictures; plane data null: absent
    void remember(std::span<const DevicePicture> inputs, int frame, DevicePlane* kept);
    /// The next frame has none before it.
    void forget() { std::fill(was_present_.begin(), was_present_.end(), decltype(was_present_)::value_type{}); }

    /// Enqueues the rings' move past a batch. @param kept on the device; @param frames of the batch
    Status enqueue(const DevicePlane* kept, int frames, DeviceQueue& queue) const;

private:
    /// What a ring remembers.
    struct Source {
        int input = 0, plane = 0;
        uint16_t step = 1, shift = 0; ///< of the kept samples
    };

    int depth_of(int input) const { return input == 0 ? setup_.history : setup_.distorted_history; }
    void add_ring(int input, int plane);
    int ring_of(int input, int plane) const;
    DevicePlane plane(const DevicePlane* kept, int frame, int ring, int lag) const;

    const BackendSetup& setup_;
    LoadedKernel<KeepHistory::Arguments> kernel_;
    DeviceBuffer memory_;
    HistoryRings rings_{};
    std::vector<Source> sources_;                            ///< per ring
    std::vector<std::array<bool, kMaxHistory>> was_present_; ///< per ring: [k]: k + 1 frames before the next one
};

} // namespace qc::cuda
