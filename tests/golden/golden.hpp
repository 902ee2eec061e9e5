// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads the shared folder with golden scores and clips, where it is there: $QC_SHARED, or <repository>/../shared. Test
// code only.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "contract/types.hpp"
#include "quality_cuda.h"

namespace qc::golden {

/// Folder with reference data that is not part of the repository; empty if there is none.
std::filesystem::path shared_folder();
/// Its part "golden"; empty if there is none.
std::filesystem::path folder();

/// Why a test with golden data cannot run here, for GTEST_SKIP(); null if it can.
const char* missing();
const char* missing_clips(); ///< the same for a test that reads clips,
const char* missing_png();   ///< or PNG files

// ---- scores ---------------------------------------------------------------------------------------------------------

using Json = nlohmann::json;

/// Null if the file is missing or broken.
Json read_json(const std::filesystem::path& path);
/// Null where the object has no such member.
const Json& member(const Json& object, const std::string& key);
/// A number; the words "inf" and "-inf" stand for what JSON cannot write. NaN for all others.
double value_of(const Json& value);
/// The frames that an entry of `file`, among its "clips", has of a clip; null if it has none.
const Json* recorded_frames(const Json& file, const std::string& clip);
/// A score's values, one per frame, null where it was left out. What plain code gave counts before vector code.
const Json& frames_of(const Json& score);

// ---- clips ----------------------------------------------------------------------------------------------------------

/// A clip in two raw planar files, or the same packed by xz. Chroma sizes are rounded up in files.
struct Clip {
    std::string name;
    std::filesystem::path reference_file, distorted_file;
    int width = 0, height = 0, depth = 8, frames = 1;
    qc_chroma chroma = QC_CHROMA_400;

    FrameGeometry geometry() const;
    qc_format format() const;
    /// Golden scores of libvmaf, by run.
    Json runs() const;
};

/// All clips of the manifest.
std::vector<Clip> clips();
/// The same for slow tests: where QC_TEST_LEVEL asks for less than "all", every third.
std::vector<Clip> sampled_clips();
/// The layout that a format name of FFmpeg says: "yuv420p10le".
qc_chroma chroma_of(const std::string& pixel_format);

/// Both files of a clip in memory. Fails the test if they cannot be read; there are no pictures then.
class ClipPictures {
public:
    explicit ClipPictures(const Clip& clip);

    bool ok() const { return !reference_.empty(); }
    std::span<const HostPicture> reference() const { return reference_; }
    std::span<const HostPicture> distorted() const { return distorted_; }

private:
    std::array<std::vector<uint8_t>, 2> bytes_;
    std::vector<HostPicture> reference_, distorted_;
};

/// A picture as the engine is given it.
qc_picture engine_view(const HostPicture& picture);

// ---- PNG ------------------------------------------------------------------------------------------------------------

/// An 8-bit picture with the planes G, B, R.
struct RgbPicture {
    int width = 0, height = 0;
    std::vector<uint8_t> planes[3];

    HostPicture view() const; ///< valid as long as this object
    FrameGeometry geometry() const;
};

/// The codes of an 8-bit file, whatever its colour tags say; nothing if it cannot be read.
std::optional<RgbPicture> read_png(const std::filesystem::path& path);

} // namespace qc::golden
