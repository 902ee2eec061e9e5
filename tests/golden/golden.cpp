// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/golden/golden.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/support/geometry.hpp"

#if defined(QC_WITH_PNG)
#include <png.h>
#endif

namespace qc::golden {
namespace {

/// Bytes of a file, unpacked where its name ends in ".xz"; empty if that fails.
std::vector<uint8_t> read_bytes(const std::filesystem::path& path) {
    std::vector<uint8_t> bytes;
    if (path.extension() != ".xz") {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        return bytes;
    }
    FILE* pipe = popen(("xz -dc '" + path.string() + "'").c_str(), "r");
    if (pipe == nullptr) return bytes;
    std::vector<uint8_t> part(1 << 20);
    size_t got = 0;
    while ((got = fread(part.data(), 1, part.size(), pipe)) > 0)
        bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    if (pclose(pipe) != 0) bytes.clear();
    return bytes;
}

/// Views of all pictures of a file; none if its size is not that of the clip.
std::vector<HostPicture> views_of(const Clip& clip, const std::vector<uint8_t>& bytes) {
    const FrameGeometry geometry = clip.geometry();
    const ptrdiff_t sample_bytes = clip.depth == 8 ? 1 : 2;
    std::vector<HostPicture> pictures(static_cast<size_t>(clip.frames));
    size_t offset = 0;
    for (HostPicture& picture : pictures)
        for (int p = 0; p < (clip.chroma == QC_CHROMA_400 ? 1 : 3); ++p) {
            const ptrdiff_t pitch = sample_bytes * geometry.stored_width(p);
            picture.plane[p] = {bytes.data() + offset, {pitch}, geometry.plane_width(p), geometry.plane_height(p)};
            offset += static_cast<size_t>(pitch * geometry.stored_height(p));
        }
    EXPECT_EQ(offset, bytes.size()) << clip.name << " has another size";
    if (offset != bytes.size()) pictures.clear();
    return pictures;
}

} // namespace

std::filesystem::path shared_folder() {
    std::vector<std::filesystem::path> candidates;
    if (const char* wish = std::getenv("QC_SHARED")) candidates.emplace_back(wish);
    candidates.push_back(std::filesystem::path(QC_SOURCE_ROOT) / ".." / "shared");
    for (const auto& candidate : candidates)
        if (std::filesystem::exists(candidate / "golden" / "manifest.json")) return candidate;
    return {};
}

std::filesystem::path folder() {
    const std::filesystem::path shared = shared_folder();
    return shared.empty() ? shared : shared / "golden";
}

const char* missing() {
    return shared_folder().empty() ? "SKIPPED: no golden folder in QC_SHARED or in ../shared beside the repository"
                                   : nullptr;
}

const char* missing_clips() {
    static const bool can_unpack = std::system("xz --version >/dev/null 2>&1") == 0;
    return can_unpack ? missing() : "SKIPPED: the clips cannot be unpacked; is xz installed?";
}

const char* missing_png() {
#if defined(QC_WITH_PNG)
    return missing();
#else
    return "SKIPPED: built without libpng";
#endif
}

Json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    Json json = Json::parse(file, nullptr, false);
    return json.is_discarded() ? Json() : json;
}

const Json& member(const Json& object, const std::string& key) {
    static const Json null;
    const auto found = object.find(key);
    return found == object.end() ? null : *found;
}

double value_of(const Json& value) {
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

const Json* recorded_frames(const Json& file, const std::string& clip) {
    for (const Json& entry : file.at("clips"))
        if (entry.at("clip") == clip) return &entry.at("frames");
    return nullptr;
}

const Json& frames_of(const Json& score) {
    return member(score, score.contains("scalar") ? "scalar" : "values");
}

FrameGeometry Clip::geometry() const {
    return test::geometry_of(width, height, depth, chroma);
}

qc_format Clip::format() const {
    qc_format format{};
    format.width = width;
    format.height = height;
    format.depth = depth;
    format.container_bits = depth == 8 ? 8 : 16;
    format.chroma = chroma;
    return format;
}

Json Clip::runs() const {
    return member(read_json(folder() / "libvmaf" / (name + ".json")), "runs");
}

qc_chroma chroma_of(const std::string& pixel_format) {
    const auto has = [&](const char* word) { return pixel_format.find(word) != std::string::npos; };
    return has("gray") ? QC_CHROMA_400 : has("444") ? QC_CHROMA_444 : has("422") ? QC_CHROMA_422 : QC_CHROMA_420;
}

std::vector<Clip> clips() {
    std::vector<Clip> list;
    const Json manifest = read_json(folder() / "manifest.json");
    for (const Json& entry : member(manifest, "clips")) {
        const auto file = [&](const char* key) {
            return folder() / "clips" / (entry.at(key).get<std::string>() + ".xz");
        };
        list.push_back({.name = entry.at("name"),
                        .reference_file = file("ref"),
                        .distorted_file = file("dis"),
                        .width = entry.at("width"),
                        .height = entry.at("height"),
                        .depth = entry.at("bit_depth"),
                        .frames = entry.at("frames"),
                        .chroma = chroma_of(entry.at("pix_fmt"))});
    }
    return list;
}

std::vector<Clip> sampled_clips() {
    const char* const level = std::getenv("QC_TEST_LEVEL");
    std::vector<Clip> all = clips();
    if (level == nullptr || std::string(level) == "all") return all;
    std::vector<Clip> sample;
    for (size_t i = 0; i < all.size(); i += 3) sample.push_back(std::move(all[i]));
    return sample;
}

ClipPictures::ClipPictures(const Clip& clip)
    : bytes_{read_bytes(clip.reference_file), read_bytes(clip.distorted_file)}, reference_(views_of(clip, bytes_[0])),
      distorted_(views_of(clip, bytes_[1])) {
    if (distorted_.empty()) reference_.clear();
}

qc_picture engine_view(const HostPicture& picture) {
    qc_picture view{};
    for (int p = 0; p < 3; ++p) {
        view.plane[p] = picture.plane[p].data;
        view.pitch_bytes[p] = picture.plane[p].pitch.bytes;
    }
    return view;
}

HostPicture RgbPicture::view() const {
    HostPicture picture;
    for (int p = 0; p < 3; ++p) picture.plane[p] = {planes[p].data(), {width}, width, height};
    return picture;
}

FrameGeometry RgbPicture::geometry() const {
    FrameGeometry geometry;
    geometry.width = geometry.chroma_width = geometry.stored_chroma_width = width;
    geometry.height = geometry.chroma_height = geometry.stored_chroma_height = height;
    geometry.rgb = true;
    return geometry;
}

std::optional<RgbPicture> read_png(const std::filesystem::path& path) {
#if defined(QC_WITH_PNG)
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return std::nullopt;
    image.format = PNG_FORMAT_RGB;
    std::vector<uint8_t> packed(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, packed.data(), 0, nullptr) == 0) return std::nullopt;
    RgbPicture picture;
    picture.width = static_cast<int>(image.width);
    picture.height = static_cast<int>(image.height);
    constexpr size_t kPlaneOfComponent[] = {2, 0, 1};
    for (size_t i = 0; i < packed.size(); ++i) picture.planes[kPlaneOfComponent[i % 3]].push_back(packed[i]);
    return picture;
#else
    (void)path;
    return std::nullopt;
#endif
}

} // namespace qc::golden
