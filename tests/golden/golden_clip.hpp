// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads the frozen scores and clips of the shared golden folder, where it is there: <repository>/../shared/golden, or
// $QC_SHARED/golden. Test code only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace qc::golden {

/// The golden folder, or an empty path.
inline std::filesystem::path folder() {
    namespace fs = std::filesystem;
    std::vector<fs::path> candidates;
    if (const char* shared = std::getenv("QC_SHARED")) candidates.push_back(fs::path(shared) / "golden");
    // This file is <repository>/tests/golden/golden_clip.hpp.
    const fs::path repository = fs::path(__FILE__).parent_path().parent_path().parent_path();
    candidates.push_back(repository / ".." / "shared" / "golden");
    for (const fs::path& candidate : candidates) {
        if (fs::exists(candidate / "manifest.json")) return candidate;
    }
    return {};
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

/// A value of a golden file. Asking for what is not there gives a null, so that a test fails where it compares.
struct Json {
    enum Kind { kNull, kBool, kNumber, kString, kArray, kObject } kind = kNull;
    double number = 0;
    std::string string;
    std::vector<Json> array;
    std::map<std::string, Json> object;

    bool has(const std::string& key) const { return object.count(key) > 0; }
    const Json& operator[](const std::string& key) const {
        static const Json kMissing;
        const auto found = object.find(key);
        return found == object.end() ? kMissing : found->second;
    }
    /// Numbers; the words "nan", "inf" and "-inf" stand for what JSON cannot write.
    double value() const {
        if (kind == kNumber) return number;
        if (string == "inf") return std::numeric_limits<double>::infinity();
        if (string == "-inf") return -std::numeric_limits<double>::infinity();
        return std::numeric_limits<double>::quiet_NaN();
    }
};

inline Json converted(const nlohmann::json& source) {
    Json json;
    if (source.is_object()) {
        json.kind = Json::kObject;
        for (const auto& [key, value] : source.items()) json.object[key] = converted(value);
    } else if (source.is_array()) {
        json.kind = Json::kArray;
        for (const nlohmann::json& value : source) json.array.push_back(converted(value));
    } else if (source.is_string()) {
        json.kind = Json::kString;
        json.string = source.get<std::string>();
    } else if (source.is_boolean()) {
        json.kind = Json::kBool;
        json.number = source.get<bool>() ? 1 : 0;
    } else if (source.is_number()) {
        json.kind = Json::kNumber;
        json.number = source.get<double>();
    }
    return json;
}

/// Null if the file is missing or broken.
inline Json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return converted(nlohmann::json::parse(file, nullptr, false));
}

// ---- clips ----------------------------------------------------------------------------------------------------------

/// A clip of the manifest.
struct Clip {
    std::string name, format, reference_file, distorted_file;
    int width = 0, height = 0, depth = 8, frames = 0;

    size_t sample_bytes() const { return depth > 8 ? 2 : 1; }
    /// Size of a chroma plane in the file: rounded up.
    int chroma_width() const {
        if (format.find("gray") != std::string::npos) return 0;
        return format.find("444") != std::string::npos ? width : (width + 1) / 2;
    }
    int chroma_height() const {
        if (format.find("gray") != std::string::npos) return 0;
        return format.find("420") != std::string::npos ? (height + 1) / 2 : height;
    }
    size_t frame_bytes() const {
        return sample_bytes() *
               (static_cast<size_t>(width) * height + 2 * static_cast<size_t>(chroma_width()) * chroma_height());
    }
};

inline std::vector<Clip> clips(const std::filesystem::path& golden) {
    std::vector<Clip> list;
    const Json manifest = read_json(golden / "manifest.json");
    for (const Json& entry : manifest["clips"].array) {
        Clip clip;
        clip.name = entry["name"].string;
        clip.format = entry["pix_fmt"].string;
        clip.reference_file = entry["ref"].string;
        clip.distorted_file = entry["dis"].string;
        clip.width = static_cast<int>(entry["width"].number);
        clip.height = static_cast<int>(entry["height"].number);
        clip.depth = static_cast<int>(entry["bit_depth"].number);
        clip.frames = static_cast<int>(entry["frames"].number);
        list.push_back(clip);
    }
    return list;
}

/// Unpacks one file of a clip with the xz tool; empty if that fails.
inline std::vector<uint8_t> unpack(const std::filesystem::path& golden, const std::string& file) {
    const std::string command = "xz -dc '" + (golden / "clips" / (file + ".xz")).string() + "'";
    std::vector<uint8_t> bytes;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return bytes;
    std::vector<uint8_t> part(1 << 20);
    size_t got = 0;
    while ((got = fread(part.data(), 1, part.size(), pipe)) > 0) {
        bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    }
    if (pclose(pipe) != 0) bytes.clear();
    return bytes;
}

} // namespace qc::golden
