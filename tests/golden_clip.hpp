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
#include <sstream>
#include <string>
#include <vector>

namespace qc::golden {

/// The golden folder, or an empty path.
inline std::filesystem::path folder() {
    namespace fs = std::filesystem;
    std::vector<fs::path> candidates;
    if (const char* shared = std::getenv("QC_SHARED")) candidates.push_back(fs::path(shared) / "golden");
    // This file is <repository>/tests/golden_clip.hpp.
    const fs::path repository = fs::path(__FILE__).parent_path().parent_path();
    candidates.push_back(repository / ".." / "shared" / "golden");
    for (const fs::path& candidate : candidates) {
        if (fs::exists(candidate / "manifest.json")) return candidate;
    }
    return {};
}

// ---- JSON, as far as the golden files need it -----------------------------------------------------------------------

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

class JsonReader {
public:
    explicit JsonReader(const std::string& text) : at_(text.c_str()) {}

    Json read() {
        skip_space();
        Json json;
        if (*at_ == '{') {
            json.kind = Json::kObject;
            read_list('}', [&] {
                const std::string key = read_string();
                skip_space();
                at_++; // colon
                json.object[key] = read();
            });
        } else if (*at_ == '[') {
            json.kind = Json::kArray;
            read_list(']', [&] { json.array.push_back(read()); });
        } else if (*at_ == '"') {
            json.kind = Json::kString;
            json.string = read_string();
        } else if (*at_ == 't' || *at_ == 'f' || *at_ == 'n') {
            json.kind = *at_ == 'n' ? Json::kNull : Json::kBool;
            json.number = *at_ == 't' ? 1 : 0;
            at_ += *at_ == 'f' ? 5 : 4;
        } else {
            char* end = nullptr;
            json.kind = Json::kNumber;
            json.number = std::strtod(at_, &end);
            at_ = end == at_ ? at_ + 1 : end;
        }
        return json;
    }

private:
    void skip_space() {
        while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') at_++;
    }
    template <typename Item>
    void read_list(char close, Item item) {
        at_++;
        for (skip_space(); *at_ != close && *at_ != '\0'; skip_space()) {
            if (*at_ == ',') at_++;
            skip_space();
            item();
        }
        if (*at_ == close) at_++;
    }
    std::string read_string() {
        std::string text;
        at_++;
        while (*at_ != '"' && *at_ != '\0') {
            if (*at_ == '\\' && at_[1] != '\0') at_++;
            text += *at_++;
        }
        if (*at_ == '"') at_++;
        return text;
    }

    const char* at_;
};

inline Json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string content = text.str();
    return JsonReader(content).read();
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
