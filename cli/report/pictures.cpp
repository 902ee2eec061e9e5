// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of the worst frames, taken with ffmpeg from the files that were scored.
#include "report/pictures.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include "ffmpeg/runs.hpp"
#include "ffmpeg/said.hpp"
#include "process/process.hpp"
#include "process/progress.hpp"
#include "report/pairs.hpp"
#include "report/picture_cache.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

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

Size size_of(const Input& input) {
    const Size size{input.facts.width, input.facts.height};
    if (size.width <= 0 || size.height <= 0 || size.width > kLargestSide || size.height > kLargestSide)
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

/// The end of a graph: a picture of that width at most, as JPEG has it.
std::string jpeg_of(const Size& size, int most) {
    const int width = std::min(most, size.width), height = std::max(1, size.height * width / size.width);
    return "scale=" + std::to_string(width) + ":" + std::to_string(height) +
           ":flags=area+accurate_rnd+full_chroma_int:out_range=full,format=yuvj444p";
}

/// @param is_full_size the reference and the distorted picture are; the difference is small all the same
std::string graph_of(const Openings& openings, const Place& distorted, const Place& reference, const Size& size,
                     bool is_full_size) {
    const std::string small = jpeg_of(size, kWidth), shown = is_full_size ? jpeg_of(size, size.width) : small,
                      more = kMore;
    return frames_of(pad_of(0, openings.distorted), distorted, size) + "[d][da];" +
           frames_of(pad_of(1, openings.reference), reference, size) + "[r][ra];" +
           "[da][ra]blend=all_mode=difference,lutrgb=r=" + more + ":g=" + more + ":b=" + more + "," + small +
           "[x];[d]" + shown + "[do];[r]" + shown + "[ro]";
}

/// A picture that is being taken.
struct Shot {
    WorstScene* scene = nullptr;
    std::string key, name; ///< in the cache, and how its files' names begin
    Command command;
};

constexpr const char* kPads[] = {"ro", "do", "x"};

Command command_of(const Tools& tools, const Encode& encode, const Openings& openings, const Place& distorted,
                   const Place& reference, const std::string& graph, const std::string& name) {
    Command command{{tools.ffmpeg, "-nostdin", "-hide_banner", "-nostats", "-v", "error", "-y"}, {}};
    std::vector<std::string>& arguments = command.arguments;
    add_input(encode.distorted, openings.distorted, distorted.seek, &arguments);
    add_input(encode.reference, openings.reference, reference.seek, &arguments);
    arguments.insert(arguments.end(), {"-filter_complex", graph});
    for (const std::string pad : kPads)
        arguments.insert(arguments.end(), {"-map", "[" + pad + "]", "-frames:v", "1", "-c:v", "mjpeg", "-q:v", "4",
                                           "-f", "image2pipe", name + pad});
    return command;
}

/// @throws Failure
Shot shot_of(const Tools& tools, const Encode& encode, const PairPlaces& places, Files* files, const std::string& name,
             WorstScene* scene) {
    if (!places.why_not.empty()) throw Failure(places.why_not);
    const Input &distorted = files->input(encode.distorted), &reference = files->input(encode.reference);
    const Openings openings{distorted.opening, reference.opening};
    const Place &own = places.distorted[scene->worst_frame], &partner = places.reference[scene->worst_frame];
    const Size size = size_of(reference);
    scene->width = size.width;
    scene->height = size.height;
    const std::string graph = graph_of(openings, own, partner, size, scene->is_full_size);
    return {scene,
            PictureCache::key_of(graph + " " + fixed(own.seek, 6) + " " + fixed(partner.seek, 6), encode.distorted,
                                 encode.reference),
            name, command_of(tools, encode, openings, own, partner, graph, name)};
}

Picture picture_of(const Shot& shot, const Outcome& outcome) {
    if (!outcome.ok()) throw Failure(reason_of(outcome));
    Picture picture;
    std::string* const bytes[] = {&picture.reference, &picture.distorted, &picture.difference};
    for (size_t k = 0; k < std::size(kPads); ++k) {
        *bytes[k] = read_whole(shot.name + kPads[k]);
        if (bytes[k]->empty()) throw Failure("ffmpeg found no frame there");
    }
    return picture;
}

} // namespace

std::string take_pictures(const Tools& tools, const std::vector<Encode>& encodes, const std::vector<PairPlaces>& places,
                          Files* files, std::vector<WorstScene>* scenes, bool is_quiet) {
    heed_signals(); // from here on something temporary has to go
    const TemporaryFolder folder;
    const PictureCache cache;
    Tally tally("pictures", scenes->size(), !is_quiet);
    std::vector<Shot> shots;
    std::vector<Command> commands;
    std::set<std::string> reasons;
    const auto attempt = [&](const WorstScene& scene, const std::function<void()>& act) {
        try {
            act();
        } catch (const Failure& failure) {
            if (was_interrupted()) throw;
            reasons.insert(encodes[scene.encode].label + ": " + failure.what());
        }
    };
    for (WorstScene& scene : *scenes)
        attempt(scene, [&] {
            Shot shot = shot_of(tools, encodes[scene.encode], places[scene.encode], files,
                                folder.file(std::to_string(shots.size())), &scene);
            scene.picture = cache.find(shot.key);
            if (scene.picture) return tally.add();
            commands.push_back(shot.command);
            shots.push_back(std::move(shot));
        });
    const auto done = [&](size_t) {
        tally.add();
        return std::string();
    };
    const auto outcomes = run_side_by_side(commands, std::max(1U, std::thread::hardware_concurrency()),
                                           [](size_t, const std::string&) {}, {.goes_on = true, .check = done});
    for (size_t i = 0; i < shots.size(); ++i)
        attempt(*shots[i].scene, [&] {
            shots[i].scene->picture = picture_of(shots[i], outcomes[i]);
            cache.keep(shots[i].key, *shots[i].scene->picture);
        });
    std::string why;
    for (const std::string& each : reasons) why += (why.empty() ? "" : "; ") + each;
    return why;
}

} // namespace qc::cli
