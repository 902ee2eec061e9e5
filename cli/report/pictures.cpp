// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of the worst frames, taken with ffmpeg from the files that were scored.
#include "report/pictures.hpp"

#include <cstdio>
#include <map>
#include <set>

#include "ffmpeg/runs.hpp"
#include "ffmpeg/said.hpp"
#include "process/process.hpp"
#include "report/pairs.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr int kWidth = 480;            ///< of a picture in the page
constexpr int kLargestSide = 16384;    ///< of the reference
constexpr const char* kMore = "val*4"; ///< differences are small: kAmplified in the page's text

struct Size {
    int width = 0, height = 0;
};

/// Of the files that pictures are taken from.
struct Openings {
    const Opening &distorted, &reference;
};

Size size_of(const Tools& tools, const std::string& path, const Opening& opening) {
    const Outcome outcome = run(
        {{tools.ffprobe, "-v", "error", "-select_streams", opening.stream < 0 ? "V:0" : std::to_string(opening.stream),
          "-show_entries", "stream=width,height", "-of", "csv=print_section=0", "-i", name_for_ffmpeg(path)},
         {}});
    Size size;
    if (std::sscanf(outcome.output.c_str(), "%d,%d", &size.width, &size.height) != 2 || size.width <= 0 ||
        size.height <= 0 || size.width > kLargestSide || size.height > kLargestSide)
        throw Failure("its reference's size is not known");
    return size;
}

/// From an input's pad to pictures of the reference's size.
std::string frames_of(const std::string& pad, const Place& place, const Size& size) {
    const std::string pick = place.pts ? "trim=start_pts=" + std::to_string(*place.pts)
                                       : "select=eq(n\\," + std::to_string(place.index) + ")";
    return pad + pick + ",setpts=PTS-STARTPTS,scale=" + std::to_string(size.width) + ":" + std::to_string(size.height) +
           ":flags=bicubic+accurate_rnd+full_chroma_int,format=gbrp,split";
}

std::string graph_of(const Openings& openings, const Place& distorted, const Place& reference, const Size& size) {
    const int width = std::min(kWidth, size.width), height = std::max(1, size.height * width / size.width);
    const std::string small = "scale=" + std::to_string(width) + ":" + std::to_string(height) +
                              ":flags=area+accurate_rnd+full_chroma_int:out_range=full,format=yuvj444p";
    const std::string more = kMore;
    return frames_of(pad_of(0, openings.distorted), distorted, size) + "[d][da];" +
           frames_of(pad_of(1, openings.reference), reference, size) + "[r][ra];" +
           "[da][ra]blend=all_mode=difference,lutrgb=r=" + more + ":g=" + more + ":b=" + more + "," + small +
           "[x];[d]" + small + "[do];[r]" + small + "[ro]";
}

Picture take_picture(const Tools& tools, const Encode& encode, const Openings& openings, const Place& distorted,
                     const Place& reference, const TemporaryFolder& folder) {
    const Size size = size_of(tools, encode.reference, openings.reference);
    std::vector<std::string> arguments = {tools.ffmpeg, "-nostdin", "-hide_banner", "-nostats", "-v", "error", "-y"};
    add_input(encode.distorted, openings.distorted, distorted.seek, &arguments);
    add_input(encode.reference, openings.reference, reference.seek, &arguments);
    arguments.insert(arguments.end(), {"-filter_complex", graph_of(openings, distorted, reference, size)});
    Picture picture;
    const std::pair<const char*, std::string*> outputs[] = {
        {"ro", &picture.reference}, {"do", &picture.distorted}, {"x", &picture.difference}};
    for (const auto& [pad, bytes] : outputs)
        arguments.insert(arguments.end(), {"-map", std::string("[") + pad + "]", "-frames:v", "1", "-c:v", "mjpeg",
                                           "-q:v", "4", "-f", "image2pipe", folder.file(pad)});
    const Outcome outcome = run({arguments, {}});
    if (!outcome.ok()) throw Failure(reason_of(outcome));
    for (const auto& [pad, bytes] : outputs) {
        *bytes = read_whole(folder.file(pad));
        if (bytes->empty()) throw Failure("ffmpeg found no frame there");
    }
    return picture;
}

} // namespace

std::string take_pictures(const Tools& tools, const std::vector<Encode>& encodes, std::vector<WorstScene>* scenes) {
    heed_signals(); // from here on something temporary has to go
    const TemporaryFolder folder;
    Files files(tools);
    std::map<size_t, PairPlaces> pairs;
    std::set<std::string> reasons;
    for (WorstScene& scene : *scenes) {
        const Encode& encode = encodes[scene.encode];
        if (pairs.count(scene.encode) == 0) pairs[scene.encode] = pair_places(encode, &files);
        const PairPlaces& places = pairs[scene.encode];
        const size_t frame = scene.worst_frame;
        try {
            if (!places.why_not.empty()) throw Failure(places.why_not);
            const Openings openings{files.input(encode.distorted).opening, files.input(encode.reference).opening};
            scene.picture =
                take_picture(tools, encode, openings, places.distorted[frame], places.reference[frame], folder);
        } catch (const Failure& failure) {
            if (was_interrupted()) throw;
            reasons.insert(encode.label + ": " + failure.what());
        }
    }
    std::string why;
    for (const std::string& each : reasons) why += (why.empty() ? "" : "; ") + each;
    return why;
}

} // namespace qc::cli
