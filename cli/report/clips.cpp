// SPDX-License-Identifier: BSD-2-Clause-Patent
// The encode itself is not copied: a copy begins at a key frame only, and few browsers play HEVC, or 4:2:2. Both videos
// are decoded, cut to the frames that were compared, brought to the reference's size, as pictures are, and encoded
// again so well that it does not show.
#include "report/clips.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include "ffmpeg/runs.hpp"
#include "ffmpeg/said.hpp"
#include "process/process.hpp"
#include "process/progress.hpp"
#include "results/outputs.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

namespace fs = std::filesystem;

constexpr double kAroundSeconds = 1.5; ///< before and after the worst frame
constexpr double kUsualRate = 25;      ///< frames a second, where none is known

/// What browsers play, the one that is quickest first.
struct Encoder {
    const char* name;
    std::vector<std::string> options;
};

const Encoder* find_encoder(const Tools& tools) {
    static const Encoder kEncoders[] = {
        {"libx264", {"-preset", "veryfast", "-crf", "18", "-g", "12"}},
        {"libvpx-vp9", {"-crf", "22", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6", "-g", "12"}},
        {"libsvtav1", {"-preset", "8", "-crf", "22", "-g", "12"}},
    };
    const std::string known = run({{tools.ffmpeg, "-hide_banner", "-v", "error", "-encoders"}, {}}).output;
    for (const Encoder& each : kEncoders)
        if (known.find(std::string(" ") + each.name + " ") != std::string::npos) return &each;
    return nullptr;
}

/// Frames of one file, the first and the last.
struct Range {
    Place first, last;
    size_t count() const { return last.index - first.index + 1; }
};

Range range_of(const std::vector<Place>& places, size_t begin, size_t end) {
    const auto earlier = [](const Place& a, const Place& b) { return a.index < b.index; };
    const auto [first, last] = std::minmax_element(places.begin() + static_cast<ptrdiff_t>(begin),
                                                   places.begin() + static_cast<ptrdiff_t>(end), earlier);
    return {*first, *last};
}

std::string trimmed(const Range& range) {
    if (range.first.pts && range.last.pts)
        return "trim=start_pts=" + std::to_string(*range.first.pts) + ":end_pts=" + std::to_string(*range.last.pts + 1);
    return "trim=start_frame=" + std::to_string(range.first.index) +
           ":end_frame=" + std::to_string(range.last.index + 1);
}

/// A clip that is being cut.
struct Cut {
    WorstScene* scene = nullptr;
    Clip clip;
    std::string reference, distorted; ///< temporary files
    Command command;
};

/// @throws Failure
Cut cut_of(const Tools& tools, const Encoder& encoder, const Encode& encode, const PairPlaces& places, Files* files,
           const std::string& name, WorstScene* scene) {
    if (!places.why_not.empty()) throw Failure(places.why_not);
    const double rate = encode.log.frame_rate() > 0 ? encode.log.frame_rate() : kUsualRate;
    const auto around = static_cast<size_t>(std::ceil(kAroundSeconds * rate));
    const size_t begin = scene->worst_frame - std::min(around, scene->worst_frame),
                 end = std::min(scene->worst_frame + around, encode.log.frames.size());
    const Range own = range_of(places.distorted, begin, end), partner = range_of(places.reference, begin, end);
    // Frames that are partners lie one upon the other, whatever their times are, unless one was used twice or not at
    // all.
    const bool is_one_to_one = own.count() == end - begin && partner.count() == end - begin;
    const std::string times = is_one_to_one ? "setpts=N/(" + fixed(rate, 6) + "*TB)" : "setpts=PTS-STARTPTS";
    const int width = std::max(2, scene->width / 2 * 2), height = std::max(2, scene->height / 2 * 2);
    const std::string rest = "," + times + ",scale=" + std::to_string(width) + ":" + std::to_string(height) +
                             ":flags=bicubic+accurate_rnd,format=yuv420p";
    const Opening &distorted = files->input(encode.distorted).opening,
                  &reference = files->input(encode.reference).opening;
    Cut cut{scene, {"", "", false, encode.log.frames[begin], is_one_to_one ? rate : 0}, name + "r", name + "d", {}};
    std::vector<std::string>& arguments = cut.command.arguments;
    arguments = {tools.ffmpeg, "-nostdin", "-hide_banner", "-nostats", "-v", "error", "-y"};
    add_input(encode.distorted, distorted, own.first.seek, &arguments);
    add_input(encode.reference, reference, partner.first.seek, &arguments);
    arguments.insert(arguments.end(), {"-filter_complex", pad_of(0, distorted) + trimmed(own) + rest + "[d];" +
                                                              pad_of(1, reference) + trimmed(partner) + rest + "[r]"});
    for (const std::string pad : {"d", "r"}) {
        arguments.insert(arguments.end(), {"-map", "[" + pad + "]", "-fps_mode", "passthrough", "-c:v", encoder.name});
        arguments.insert(arguments.end(), encoder.options.begin(), encoder.options.end());
        arguments.insert(arguments.end(), {"-movflags", "+faststart", "-f", "mp4", name + pad});
    }
    return cut;
}

/// As a page beside it asks for it.
std::string address_of(const std::string& folder, const std::string& name) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    std::string text;
    for (const char c : folder) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = (byte | 32U) >= 'a' && (byte | 32U) <= 'z';
        if (is_plain || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.')
            text += c;
        else
            text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return text + "/" + name;
}

/// Puts clips where the page links to: report.html has them in report.clips.
class ClipFolder {
public:
    ClipFolder(const std::string& page, const std::vector<Encode>& encodes)
        : path_(fs::path(page).replace_extension(".clips")) {
        for (const Encode& each : encodes)
            for (const std::string& path : {each.distorted, each.main, each.reference})
                if (!path.empty()) outputs_.reads(path, "a video");
    }
    std::string keep(const std::string& from, size_t encode, int64_t frame, const char* which) {
        std::error_code error;
        fs::create_directories(path_, error);
        const std::string name = std::to_string(encode) + "_" + std::to_string(frame) + "_" + which + ".mp4";
        outputs_.writes((path_ / name).string(), "a clip");
        write_whole((path_ / name).string(), read_whole(from));
        return address_of(path_.filename().string(), name);
    }

private:
    fs::path path_;
    Outputs outputs_;
};

} // namespace

std::string take_clips(const Tools& tools, const ReportOptions& options, const std::vector<Encode>& encodes,
                       const std::vector<PairPlaces>& places, Files* files, std::vector<WorstScene>* scenes) {
    const Encoder* const encoder = find_encoder(tools);
    if (encoder == nullptr)
        return "this ffmpeg has no encoder whose video browsers play (libx264, libvpx-vp9 or libsvtav1)";
    const TemporaryFolder folder;
    std::vector<Cut> cuts;
    std::vector<Command> commands;
    std::set<std::string> reasons;
    for (WorstScene& scene : *scenes) {
        if (!scene.is_full_size || !scene.picture) continue;
        const std::string name = folder.file("clip" + std::to_string(cuts.size()));
        cuts.push_back(cut_of(tools, *encoder, encodes[scene.encode], places[scene.encode], files, name, &scene));
        commands.push_back(cuts.back().command);
    }
    Tally tally("clips", cuts.size(), !options.is_quiet);
    const auto done = [&](size_t) {
        tally.add();
        return std::string();
    };
    const auto outcomes = run_side_by_side(commands, std::max(1U, std::thread::hardware_concurrency()),
                                           [](size_t, const std::string&) {}, {.goes_on = true, .check = done});
    ClipFolder linked(options.output, encodes);
    for (size_t i = 0; i < cuts.size(); ++i) {
        end_if_interrupted();
        Cut& cut = cuts[i];
        const Encode& encode = encodes[cut.scene->encode];
        if (!outcomes[i].ok()) {
            reasons.insert(encode.label + ": " + reason_of(outcomes[i]));
            continue;
        }
        const int64_t frame = encode.log.frames[cut.scene->worst_frame];
        cut.clip.is_linked = options.clips == "link";
        const auto take = [&](const std::string& file, const char* which) {
            return cut.clip.is_linked ? linked.keep(file, cut.scene->encode, frame, which) : read_whole(file);
        };
        cut.clip.reference = take(cut.reference, "reference");
        cut.clip.distorted = take(cut.distorted, "distorted");
        cut.scene->clip = std::move(cut.clip);
    }
    std::string why;
    for (const std::string& each : reasons) why += (why.empty() ? "" : "; ") + each;
    return why;
}

} // namespace qc::cli
