// SPDX-License-Identifier: BSD-2-Clause-Patent
// What this machine can do: each of the things that a score needs is looked at, and tried.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include <quality_cuda.h>

#include "ffmpeg/graph_text.hpp"
#include "ffmpeg/probe.hpp"
#include "logs/logs.hpp"
#include "logs/summary.hpp"
#include "logs/table.hpp"
#include "parts/commands.hpp"
#include "parts/test_picture.hpp"
#include "process/gpus.hpp"
#include "process/process.hpp"
#include "results/results.hpp"
#include "words/json_text.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

enum class State { kGood, kAbsent, kBroken };

/// A line of the answer.
struct Examined {
    std::string what;
    State state = State::kGood;
    std::string text;
};

constexpr const char* kCodecs[] = {"h264", "hevc", "av1", "vp9"};

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

std::vector<std::string> words_in(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

bool has_word(const std::string& text, const std::string& word) {
    const std::vector<std::string> words = words_in(text);
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// "580.65.06", of the kernel's module; empty: there is none.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line;
    std::getline(file, line);
    for (const std::string& word : words_in(line))
        if (word.size() > 2 && word.find_first_not_of("0123456789.") == std::string::npos) return word;
    return "";
}

// ---- the library

/// The scores of a picture that differs from its reference, by one backend.
struct Tried {
    std::vector<double> scores;
    double psnr = NAN;
    std::string where; ///< "CUDA on NVIDIA H100"
    std::string error; ///< empty: it works
};

Tried try_backend(qc_backend backend) {
    Tried tried;
    qc_error error{};
    qc_config config = test_config();
    config.metrics = "vmaf+psnr";
    config.backend = backend;
    qc_session* session = nullptr;
    if (qc_session_create(&config, &session, &error) != QC_OK) {
        tried.error = error.text;
        return tried;
    }
    tried.where = backend_of({{"engine", qc_session_description(session)}});
    qc_session_destroy(session);
    const TestPair pair;
    qc_scores* scores = nullptr;
    if (qc_score(&config, &pair.frame, &scores, &error) != QC_OK) {
        tried.error = error.text;
        return tried;
    }
    for (int i = 0; qc_scores_name(scores, i) != nullptr; ++i) tried.scores.push_back(qc_scores_value(scores, i));
    qc_scores_find(scores, "psnr_y", &tried.psnr);
    qc_scores_destroy(scores);
    return tried;
}

/// One of the scores is known beforehand, for whatever is broken seldom gives no number.
Examined examine_cpu(const Tried& tried) {
    const std::string threads = std::to_string(std::thread::hardware_concurrency()) + " threads";
    if (!tried.error.empty()) return {"CPU", State::kBroken, tried.error};
    if (!(std::fabs(tried.psnr - kTestPsnr) <= 5e-7))
        return {"CPU", State::kBroken,
                "a test picture has a PSNR of " + fixed(tried.psnr, 6) + ", and not " + fixed(kTestPsnr, 6)};
    return {"CPU", State::kGood, threads + "; the test picture has the score that it should have"};
}

Examined examine_gpu(const std::vector<std::string>& gpus, const Tried& gpu, const Tried& cpu) {
    if (!gpu.error.empty()) {
        // A machine without a GPU is whole; one whose GPU cannot be used is not.
        return {"GPU", gpus.empty() ? State::kAbsent : State::kBroken,
                gpus.empty() ? "none: " + gpu.error : std::to_string(gpus.size()) + ", but " + gpu.error};
    }
    const std::string name = gpu.where + (gpus.size() > 1 ? " and " + std::to_string(gpus.size() - 1) + " more" : "");
    if (gpu.scores != cpu.scores)
        return {"GPU", State::kBroken, name + ": the test picture has other scores than on the CPU"};
    return {"GPU", State::kGood, name + "; the test picture has the CPU's scores, to the last bit"};
}

// ---- ffmpeg

Examined examine_filter(const Tools& tools, double psnr) {
    const TemporaryFolder folder;
    const std::string reference = folder.file("reference.y4m"), distorted = folder.file("distorted.y4m"),
                      log = folder.file("log.json");
    const TestPair pair;
    write_whole(reference, pair.as_y4m(pair.reference));
    write_whole(distorted, pair.as_y4m(pair.distorted));
    const Outcome outcome =
        run({{tools.ffmpeg, "-hide_banner", "-nostdin", "-v", "error", "-i", distorted, "-i", reference, "-lavfi",
              ("quality_cuda=psnr:backend=cpu:log_path=" + GraphText::value(log)).text(), "-f", "null", "-"},
             {}});
    if (!outcome.ok()) return {"filter", State::kBroken, first_line(outcome.message)};
    const double scored = pooled_of(read_head(log), "psnr_y", "mean");
    if (!(std::fabs(scored - psnr) <= 1e-6))
        return {"filter", State::kBroken,
                "a test video has a PSNR of " + fixed(scored, 6) + ", and not " + fixed(psnr, 6)};
    return {"filter", State::kGood,
            std::string("quality_cuda; the test video has the score that it should have") +
                (tools.is_threaded ? "" : " (this FFmpeg does one thing after the other: 7 and later are faster)")};
}

/// Which of the usual codecs the program decodes.
Examined examine_decoders(const Tools& tools) {
    const std::string list = run({{tools.ffmpeg, "-hide_banner", "-v", "error", "-decoders"}, {}}).output;
    std::string known, missing;
    for (const char* codec : kCodecs) {
        const bool is_known = has_word(list, codec) || has_word(list, std::string("lib") + codec) ||
                              (std::string_view(codec) == "av1" && has_word(list, "libdav1d"));
        std::string& text = is_known ? known : missing;
        text += (text.empty() ? "" : " ") + std::string(codec);
    }
    return {"decoders", known.empty() ? State::kBroken : State::kGood,
            (known.empty() ? "none of the usual ones" : known) + (missing.empty() ? "" : "; without " + missing)};
}

Examined examine_gpu_decoders(const Tools& tools, bool has_gpu) {
    if (!has_gpu) return {"GPU decoders", State::kAbsent, "none: the CPU decodes"};
    const bool has = has_word(run({{tools.ffmpeg, "-hide_banner", "-v", "error", "-hwaccels"}, {}}).output, "cuda");
    return {"GPU decoders", has ? State::kGood : State::kAbsent,
            has ? "cuda" : "none: this ffmpeg was built without them, and the CPU decodes"};
}

void examine_ffmpeg(const Options& options, double psnr, bool has_gpu, std::vector<Examined>* findings) {
    Tools tools;
    try {
        tools = find_tools(options.ffmpeg);
    } catch (const Interrupted&) {
        throw;
    } catch (const Failure& failure) {
        findings->push_back({"ffmpeg", State::kBroken, failure.what()});
        return;
    }
    const std::vector<std::string> version = words_in(first_line(run({{tools.ffmpeg, "-version"}, {}}).output));
    findings->push_back({"ffmpeg", State::kGood, tools.ffmpeg + (version.size() > 2 ? ", " + version[2] : "")});
    const Outcome probe = run({{tools.ffprobe, "-version"}, {}});
    findings->push_back(
        {"ffprobe", probe.ok() ? State::kGood : State::kBroken,
         tools.ffprobe + (probe.ok() ? "" : " cannot be started; it lies beside ffmpeg, or on the PATH")});
    findings->push_back(examine_filter(tools, psnr));
    findings->push_back(examine_decoders(tools));
    findings->push_back(examine_gpu_decoders(tools, has_gpu));
}

const char* word_of(State state) {
    return state == State::kGood ? "ok" : state == State::kAbsent ? "-" : "FAILED";
}

} // namespace

ExitCode examine(const Options& options) {
    std::vector<Examined> findings{{"quality-cuda",
                                    std::string_view(QC_VERSION) == qc_version() ? State::kGood : State::kBroken,
                                    std::string(QC_VERSION) + ", library " + qc_version()}};
    const std::vector<std::string> gpus = find_gpus(options.gpus);
    const std::string driver = driver_version();
    const Tried cpu = try_backend(QC_BACKEND_CPU), gpu = try_backend(QC_BACKEND_CUDA);
    findings.push_back(
        {"driver", driver.empty() ? State::kAbsent : State::kGood, driver.empty() ? "none of NVIDIA" : driver});
    findings.push_back(examine_gpu(gpus, gpu, cpu));
    findings.push_back(examine_cpu(cpu));
    size_t models = 0, metrics = 0;
    while (qc_model_name(static_cast<int>(models)) != nullptr) ++models;
    while (qc_metric_name(static_cast<int>(metrics)) != nullptr) ++metrics;
    findings.push_back({"models", models > 0 && metrics > 0 ? State::kGood : State::kBroken,
                        std::to_string(models) + " of VMAF, and " + std::to_string(metrics) + " metrics"});
    examine_ffmpeg(options, cpu.psnr, gpu.error.empty(), &findings);
    bool works = true;
    Json list = Json::array();
    std::string text;
    for (const Examined& each : findings) {
        works = works && each.state != State::kBroken;
        list.push_back({{"what", each.what}, {"state", word_of(each.state)}, {"text", each.text}});
        std::string line = each.what;
        line.resize(14, ' ');
        line += word_of(each.state);
        line.resize(22, ' ');
        text += line + each.text + "\n";
    }
    if (options.as_json)
        print_whole(DataText(json_text(Json({{"works", works}, {"findings", list}}), 2) + "\n"));
    else
        print_whole(TerminalText(text));
    return works ? kDone : kFailed;
}

} // namespace qc::cli
