// SPDX-License-Identifier: BSD-2-Clause-Patent
// Types that host and device share: pitches, plane views, sample types. Compiles with and without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define QC_HD __host__ __device__ __forceinline__
#else
#define QC_HD inline __attribute__((always_inline))
#endif

namespace qc {

/// Distance from row to row in bytes. A type of its own, so that it cannot be mixed up with a distance in samples.
struct BytePitch {
    ptrdiff_t bytes = 0;
};

/// Distance from row to row in samples of type T.
template <typename T>
struct ElementPitch {
    ptrdiff_t elements = 0;

    QC_HD static ElementPitch from_bytes(BytePitch pitch) {
        return ElementPitch{pitch.bytes / static_cast<ptrdiff_t>(sizeof(T))};
    }
};

/// A rectangle of samples. Does not own them.
template <typename T>
struct Plane {
    T* data = nullptr;
    ElementPitch<T> pitch{};
    int width = 0, height = 0;

    QC_HD T* row(int y) const { return data + static_cast<ptrdiff_t>(y) * pitch.elements; }
    QC_HD T& at(int x, int y) const { return row(y)[x]; }
};

enum class SampleType : uint8_t { kU8 = 0, kU16 = 1 };

/// Colour tags of an input: code points of ITU-T H.273, 0 where unknown. See qc_colour.
struct ColourTags {
    int matrix = 0, range = 0, primaries = 0, transfer = 0, chroma_location = 0;
    bool operator==(const ColourTags&) const = default;
};

/// What every picture of a session looks like once the engine has taken it in.
struct FrameGeometry {
    int width = 0, height = 0; ///< luma
    int chroma_width = 0,
        chroma_height = 0;               ///< rounded down; 0 for 4:0:0 (and for 1-sample wide or high halved planes)
    int depth = 8;                       ///< 8, 10, 12 or 16: the largest depth among the inputs
    SampleType sample = SampleType::kU8; ///< kU8 if depth is 8, otherwise kU16

    /// Chroma planes as they are stored, rounded up: what lies beyond chroma_width and chroma_height may be read too.
    int stored_chroma_width = 0, stored_chroma_height = 0;
    bool rgb = false;        ///< planes are G, B, R; only metrics that accept it see such pictures
    double frame_rate = 0.0; ///< nominal, of the distorted input; 0: unknown
    ColourTags reference_colour{}, distorted_colour{}; ///< for metrics that declare uses_colour
    /// Pairs come with weights of their samples (the user's mask); only metrics that accept them see such pairs.
    bool has_weights = false;

    int plane_count() const { return chroma_width > 0 && chroma_height > 0 ? 3 : 1; }
    int plane_width(int plane) const { return plane == 0 ? width : chroma_width; }
    int plane_height(int plane) const { return plane == 0 ? height : chroma_height; }
    int stored_width(int plane) const { return plane == 0 ? width : stored_chroma_width; }
    int stored_height(int plane) const { return plane == 0 ? height : stored_chroma_height; }
    size_t sample_bytes() const { return sample == SampleType::kU8 ? 1 : 2; }
};

// ---- device views: read in place, whatever the surface's layout -----------------------------------------------------

/// One plane of a picture on the device. A sample is row[x * step] >> shift.
/// Alignment: data is aligned to sizeof(sample); pitch is a multiple of it. Wide loads must check more themselves.
struct DevicePlane {
    const void* data;
    uint32_t pitch_bytes;
    uint16_t step;  ///< 1; 2 for the chroma of semi-planar pictures (data of Cr then starts one sample later); 3 or 4
                    ///< for packed RGB
    uint16_t shift; ///< right shift that brings a container to the session's depth: 0, 4 or 6
};

struct DevicePicture {
    DevicePlane plane[3];
};

/// How many earlier frames a metric may look back at.
constexpr int kMaxHistory = 2;

/// One reference / distorted pair of a batch, with the luma of the frames before it. history[k]: k + 1 frames earlier;
/// data null at the start of the stream, where that picture was absent, and beyond what the metrics declare.
struct DevicePair {
    DevicePicture reference, distorted;
    DevicePlane reference_history[kMaxHistory], distorted_history[kMaxHistory];
    DevicePlane weights; ///< the weight of each luma sample, a byte: 255 whole, 0 none; data null where there are none
    uint32_t output;     ///< row of the accumulators this pair writes
    uint32_t behind_first; ///< pairs before it that have the same reference
};

/// One reference picture of a batch, with the luma of the frames before it.
struct DeviceReference {
    DevicePicture current;
    DevicePlane
        history[kMaxHistory]; ///< history[k]: luma of k + 1 frames earlier; data null at the start of the stream
    DevicePlane chroma_history[kMaxHistory][2]; ///< Cb and Cr likewise, if an instance needs them
    DevicePlane weights;                        ///< as DevicePair::weights: all pairs of a reference have the same
    uint32_t output;
    uint32_t reserved;
};

// ---- host views -----------------------------------------------------------------------------------------------------

/// One plane on the host: planar, samples of the session's type at the session's depth. width and height are those of
/// FrameGeometry::plane_width; as much as stored_width says is there.
struct HostPlane {
    const void* data = nullptr;
    BytePitch pitch{};
    int width = 0, height = 0;

    template <typename T>
    Plane<const T> as() const {
        return {static_cast<const T*>(data), ElementPitch<const T>{pitch.bytes / static_cast<ptrdiff_t>(sizeof(T))},
                width, height};
    }
};

struct HostPicture {
    HostPlane plane[3];
};

class Helpers; // contract/helpers.hpp

struct HostPair {
    HostPicture reference, distorted;
    HostPlane reference_history[kMaxHistory]{}, distorted_history[kMaxHistory]{}; ///< as in DevicePair
    HostPlane weights{};                                                          ///< as in DevicePair
    Helpers* helpers = nullptr;                                                   ///< null: there are none
};

struct HostReference {
    HostPicture current;
    HostPlane history[kMaxHistory];           ///< as DeviceReference::history
    HostPlane chroma_history[kMaxHistory][2]; ///< as DeviceReference::chroma_history
    HostPlane weights{};                      ///< as in DeviceReference
};

} // namespace qc
