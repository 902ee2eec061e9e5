// SPDX-License-Identifier: BSD-2-Clause-Patent
// quality_bench: the engine alone. Frames lie ready (on the device for CUDA) in a rotating set larger than the L2
// cache; what is timed is submit to score. See docs/design/performance.md for how to read the table.
#include <getopt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "api/scaling.hpp"
#include "quality_cuda_run/engine.h"
#include "tests/support/pictures.hpp"
#include "tools/bench/device_check.hpp"

#ifdef QC_WITH_CUDA
#include "cuda/context.hpp"
#endif

namespace {

using qc::test::Content;
using qc::test::TestPicture;

struct Options {
    std::vector<std::string> metrics; ///< empty: "vmaf", or "all" for the self-test
    std::vector<std::string> sizes{"1920x1080"};
    std::vector<std::string> layouts{"nv12"};
    std::vector<int> batches{16};
    int slots = 3;
    int threads = 0;
    int repetitions = 7;
    double seconds = 0.5; ///< per repetition, about
    bool from_host = false;
    bool watch = false;    ///< the contents too
    std::string map;       ///< whose map is drawn; empty: none
    bool selftest = false; ///< in place of measuring
    qc_backend backend = QC_BACKEND_AUTO;
    std::string json_path;
    std::string reference_path, distorted_path; ///< raw frames of the layout and size; empty: generated ones
    std::string model;                          ///< for "vmaf"; empty: the default
    std::string metric_options;                 ///< as in qc_config
    std::string distorted_size;                 ///< of what is scaled to the size; empty: nothing is
    qc_scaling scaling = QC_SCALING_BICUBIC;
    int renditions = 1; ///< distorted pictures for each reference
};

struct Case {
    std::string metrics, layout;
    int width, height, batch;
};

struct Result {
    Case setting;
    std::string description;
    std::vector<double> us_per_pair; ///< one per repetition
    double launches_per_pair, input_bytes_per_pair, result_bytes_per_pair;
    double device_mib;
    int64_t pairs_per_repetition;

    double median() const {
        std::vector<double> sorted = us_per_pair;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
    double minimum() const { return *std::min_element(us_per_pair.begin(), us_per_pair.end()); }
    double maximum() const { return *std::max_element(us_per_pair.begin(), us_per_pair.end()); }
};

[[noreturn]] void die(const std::string& text) {
    std::fprintf(stderr, "quality_bench: %s\n", text.c_str());
    std::exit(1);
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

void print_help() {
    std::puts(
        "usage: quality_bench [options]        lists are joined by commas; every combination is measured\n"
        "  -m, --metrics LIST      what to score; within an entry join by '|' or '+' (default vmaf)\n"
        "  -M, --model NAME        the model that \"vmaf\" means (default vmaf_v0.6.1)\n"
        "  -o, --options TEXT      options of the metrics: METRIC.OPTION=VALUE|...\n"
        "  -s, --size LIST         WIDTHxHEIGHT (default 1920x1080)\n"
        "  -x, --distorted-size S  WIDTHxHEIGHT of the distorted pictures, which are scaled then\n"
        "  -X, --scaling NAME      with that: bicubic, lanczos, bilinear or area (default bicubic)\n"
        "  -c, --renditions N      distorted pictures for each reference; what is printed for a pair is for all "
        "(default 1)\n"
        "  -R, --reference FILE    raw frames in place of generated ones (one size and layout only)\n"
        "  -D, --distorted FILE    likewise\n"
        "  -l, --layout LIST       pixel formats: nv12, yuv420p, p010le, ... (default nv12)\n"
        "  -b, --batch LIST        pairs per batch (default 16)\n"
        "  -n, --slots N           batches in flight (default 3)\n"
        "  -t, --threads N         of the CPU backend (default: one per core)\n"
        "  -r, --repetitions N     (default 7)\n"
        "  -d, --seconds S         about, per repetition (default 0.5)\n"
        "  -u, --from-host         frames in host memory: uploads are timed too\n"
        "  -k, --backend NAME      auto, cuda or cpu (default auto)\n"
        "  -j, --json FILE         the results as JSON too\n"
        "  -w, --watch             watch the contents too, as the filter does\n"
        "  -g, --map NAME          draw this map too, gray, to the device (with -u to the host)\n"
        "  -S, --selftest          measure nothing: score small known pictures on the GPU and on the CPU, for\n"
        "                          every metric (-m; default all), model and layout, and print ok or WRONG and the\n"
        "                          time; the exit status is 1 if the GPU computes wrongly");
}

qc_backend parse_backend(const std::string& name) {
    if (name == "auto") return QC_BACKEND_AUTO;
    if (name == "cuda") return QC_BACKEND_CUDA;
    if (name == "cpu") return QC_BACKEND_CPU;
    die("--backend " + name + ": auto, cuda or cpu is accepted");
}

qc_scaling parse_scaling(const std::string& name) {
    for (int scaling = QC_SCALING_BICUBIC; scaling < QC_SCALING_COUNT; ++scaling)
        if (name == qc::scaling_name(static_cast<qc_scaling>(scaling))) return static_cast<qc_scaling>(scaling);
    die("--scaling " + name + ": bicubic, lanczos, bilinear or area is accepted");
}

int parse_renditions(const std::string& text) {
    const int renditions = std::atoi(text.c_str());
    if (renditions >= 1 && renditions <= QC_MAX_RENDITIONS) return renditions;
    die("--renditions " + text + ": 1 to " + std::to_string(QC_MAX_RENDITIONS) + " is accepted");
}

constexpr option kLong[] = {{"metrics", 1, nullptr, 'm'},     {"size", 1, nullptr, 's'},
                            {"layout", 1, nullptr, 'l'},      {"batch", 1, nullptr, 'b'},
                            {"slots", 1, nullptr, 'n'},       {"threads", 1, nullptr, 't'},
                            {"repetitions", 1, nullptr, 'r'}, {"seconds", 1, nullptr, 'd'},
                            {"from-host", 0, nullptr, 'u'},   {"backend", 1, nullptr, 'k'},
                            {"json", 1, nullptr, 'j'},        {"options", 1, nullptr, 'o'},
                            {"model", 1, nullptr, 'M'},       {"reference", 1, nullptr, 'R'},
                            {"distorted", 1, nullptr, 'D'},   {"distorted-size", 1, nullptr, 'x'},
                            {"scaling", 1, nullptr, 'X'},     {"help", 0, nullptr, 'h'},
                            {"selftest", 0, nullptr, 'S'},    {"renditions", 1, nullptr, 'c'},
                            {"watch", 0, nullptr, 'w'},       {"map", 1, nullptr, 'g'},
                            {nullptr, 0, nullptr, 0}};

Options parse(int argc, char** argv) {
    Options options;
    for (int c; (c = getopt_long(argc, argv, "m:M:o:R:D:s:l:b:n:t:r:d:uk:j:hSwx:X:c:g:", kLong, nullptr)) != -1;) {
        switch (c) {
        case 'm':
            options.metrics = split(optarg);
            break;
        case 'R':
            options.reference_path = optarg;
            break;
        case 'D':
            options.distorted_path = optarg;
            break;
        case 'M':
            options.model = optarg;
            break;
        case 'o':
            options.metric_options = optarg;
            break;
        case 's':
            options.sizes = split(optarg);
            break;
        case 'l':
            options.layouts = split(optarg);
            break;
        case 'b':
            options.batches.clear();
            for (const std::string& batch : split(optarg)) options.batches.push_back(std::atoi(batch.c_str()));
            break;
        case 'n':
            options.slots = std::atoi(optarg);
            break;
        case 't':
            options.threads = std::atoi(optarg);
            break;
        case 'r':
            options.repetitions = std::max(1, std::atoi(optarg));
            break;
        case 'd':
            options.seconds = std::atof(optarg);
            break;
        case 'u':
            options.from_host = true;
            break;
        case 'w':
            options.watch = true;
            break;
        case 'S':
            options.selftest = true;
            break;
        case 'g':
            options.map = optarg;
            break;
        case 'x':
            options.distorted_size = optarg;
            break;
        case 'X':
            options.scaling = parse_scaling(optarg);
            break;
        case 'c':
            options.renditions = parse_renditions(optarg);
            break;
        case 'k':
            options.backend = parse_backend(optarg);
            break;
        case 'j':
            options.json_path = optarg;
            break;
        default:
            print_help();
            std::exit(c == 'h' ? 0 : 1);
        }
    }
    if (options.metrics.empty()) options.metrics = {options.selftest ? "all" : "vmaf"};
    return options;
}

/// Pairs that lie ready: a few distinct ones, repeated in memory until the set is larger than any L2 cache.
class PairSet {
public:
    PairSet(const Options& options, const qc_format& format, const qc_format& distorted_format, bool on_device) {
        constexpr size_t kDeviceBytes = size_t{256} << 20;
        if (options.reference_path.empty()) {
            for (unsigned i = 0; i < 4; ++i) {
                references_.emplace_back(format, Content::kNatural, false, i + 1);
                distorted_.emplace_back(distorted_format, Content::kNatural, true, i + 1);
            }
        } else {
            read_frames(options.reference_path, format, &references_);
            read_frames(options.distorted_path, distorted_format, &distorted_);
            if (references_.size() != distorted_.size())
                die("--reference and --distorted have different numbers of frames");
        }
        const size_t distinct = references_.size();
        for (int p = 0; p < references_[0].planes(); ++p)
            bytes_per_pair_ += references_[0].bytes(p).size() + distorted_[0].bytes(p).size();
        if (!on_device) {
            for (size_t i = 0; i < distinct; ++i) pairs_.push_back({references_[i].view(), distorted_[i].view()});
            return;
        }
#ifdef QC_WITH_CUDA
        const qc::cuda::Driver* driver = nullptr;
        require(qc::cuda::load_driver(&driver));
        require(qc::cuda::Context::create(*driver, nullptr, 0, &context_));
        const size_t count =
            std::max<size_t>(2 * distinct, (kDeviceBytes / bytes_per_pair_ + distinct - 1) / distinct * distinct);
        for (size_t i = 0; i < count; ++i)
            pairs_.push_back({on_device_copy(references_[i % distinct]), on_device_copy(distorted_[i % distinct])});
        const qc::cuda::ContextGuard guard(*context_);
        context_->driver().cuStreamSynchronize(CU_STREAM_LEGACY);
#else
        (void)kDeviceBytes;
#endif
    }

    struct Pair {
        qc_picture reference, distorted;
    };
    const Pair& at(size_t index) const {
        return pairs_[index % pairs_.size()];
    }
    const qc_format& format(bool distorted) const {
        return (distorted ? distorted_ : references_)[0].format();
    }
    size_t bytes_per_pair() const {
        return bytes_per_pair_;
    }

    /// What maps are painted on, one picture after the other: as many as can be under way.
    void make_maps(int width, int height) {
        constexpr size_t kMaps = 256;
#ifdef QC_WITH_CUDA
        if (context_ != nullptr) {
            const size_t pitch = (static_cast<size_t>(width) + 255) / 256 * 256;
            const qc::cuda::ContextGuard guard(*context_);
            for (size_t i = 0; i < kMaps; ++i) {
                qc::cuda::DeviceBuffer& buffer = buffers_.emplace_back();
                require(buffer.allocate(*context_, pitch * static_cast<size_t>(height), "benchmark maps"));
                qc_picture& map = maps_.emplace_back();
                map.plane[0] = buffer.as<const void>();
                map.pitch_bytes[0] = static_cast<ptrdiff_t>(pitch);
                map.memory = QC_MEMORY_CUDA;
            }
            return;
        }
#endif
        map_samples_.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * kMaps);
        for (size_t i = 0; i < kMaps; ++i) {
            qc_picture& map = maps_.emplace_back();
            map.plane[0] = map_samples_.data() + i * (map_samples_.size() / kMaps);
            map.pitch_bytes[0] = width;
        }
    }
    /// No picture if there are none.
    qc_picture map(size_t index) const {
        return maps_.empty() ? qc_picture{} : maps_[index % maps_.size()];
    }

    void* context() const {
#ifdef QC_WITH_CUDA
        return context_ != nullptr ? context_->handle() : nullptr;
#else
        return nullptr;
#endif
    }

private:
    /// At most 16 frames.
    static void read_frames(const std::string& path, const qc_format& format, std::vector<TestPicture>* frames) {
        std::ifstream file(path, std::ios::binary);
        std::vector<char> packed(TestPicture::packed_bytes(format));
        while (frames->size() < 16 && file.read(packed.data(), static_cast<std::streamsize>(packed.size())))
            frames->emplace_back(format, reinterpret_cast<const uint8_t*>(packed.data()));
        if (frames->empty()) die(path + ": holds no whole frame of this size and layout");
    }

#ifdef QC_WITH_CUDA
    static void require(const qc::Status& status) {
        if (!status.ok()) die(status.text());
    }

    /// Rows padded to 256 bytes, as decoders deliver them.
    qc_picture on_device_copy(const TestPicture& source) {
        const qc::cuda::ContextGuard guard(*context_);
        qc_picture picture = source.view();
        picture.memory = QC_MEMORY_CUDA;
        for (int p = 0; p < source.planes(); ++p) {
            const auto row = static_cast<size_t>(source.pitch_bytes(p));
            const size_t pitch = (row + 255) / 256 * 256, rows = source.bytes(p).size() / row;
            std::vector<uint8_t> padded(pitch * rows);
            for (size_t y = 0; y < rows; ++y) std::memcpy(&padded[y * pitch], &source.bytes(p)[y * row], row);
            qc::cuda::DeviceBuffer& buffer = buffers_.emplace_back();
            require(buffer.allocate(*context_, padded.size(), "benchmark pictures"));
            context_->driver().cuMemcpyHtoDAsync(buffer.address(), padded.data(), padded.size(), CU_STREAM_LEGACY);
            context_->driver().cuStreamSynchronize(CU_STREAM_LEGACY);
            picture.plane[p] = buffer.as<const void>();
            picture.pitch_bytes[p] = static_cast<ptrdiff_t>(pitch);
        }
        return picture;
    }

    std::unique_ptr<qc::cuda::Context> context_;
    std::vector<qc::cuda::DeviceBuffer> buffers_;
#endif
    std::vector<TestPicture> references_, distorted_;
    std::vector<qc_picture> maps_;
    std::vector<uint8_t> map_samples_;
    std::vector<Pair> pairs_;
    size_t bytes_per_pair_ = 0;
};

class Bench {
public:
    Bench(const Options& options, const Case& setting, const PairSet& set) : options_(options), set_(set) {
        qc_config config{};
        config.struct_size = sizeof(config);
        config.reference = set.format(false);
        config.renditions = options.renditions;
        for (int k = 0; k < options.renditions; ++k) config.distorted[k] = set.format(true);
        config.scaling = options.distorted_size.empty() ? QC_SCALING_NONE : options.scaling;
        config.metrics = setting.metrics.c_str();
        config.model = qc::bench::model_for(setting.metrics, options.model);
        config.options = options.metric_options.empty() ? nullptr : options.metric_options.c_str();
        config.backend = options.backend;
        config.cuda_context = set.context();
        config.batch = setting.batch;
        config.watch_contents = options.watch ? 1 : 0;
        config.maps = options.map.empty() ? nullptr : options.map.c_str();
        config.map_memory = set.context() != nullptr ? QC_MEMORY_CUDA : QC_MEMORY_HOST;
        config.n_threads = options.threads;
        config.slots = options.slots;
        config.hold_pictures = 1;
        config.log = [](void*, qc_log_level level, const char* text) {
            if (level <= QC_LOG_WARNING) std::fprintf(stderr, "quality_bench: %s\n", text);
        };
        if (config.backend == QC_BACKEND_CPU || (config.backend == QC_BACKEND_AUTO && config.cuda_context == nullptr))
            config.slots = 0;
        qc_error error{};
        if (qc_session_create(&config, &session_, &error) != QC_OK) die(error.text);
    }
    ~Bench() { qc_session_destroy(session_); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    Result measure(const Case& setting) {
        int64_t pairs = 2 * setting.batch;
        double seconds = score(pairs);
        while (seconds < options_.seconds / 4) {
            pairs = std::max(pairs + setting.batch, static_cast<int64_t>(static_cast<double>(pairs) * 1.7));
            seconds = score(pairs);
        }
        pairs = std::max<int64_t>(setting.batch,
                                  static_cast<int64_t>(static_cast<double>(pairs) * options_.seconds / seconds));
        pairs = (pairs + setting.batch - 1) / setting.batch * setting.batch;

        Result result{};
        result.setting = setting;
        result.description = qc_session_description(session_);
        result.pairs_per_repetition = pairs;
        const qc_stats before = stats();
        for (int r = 0; r < options_.repetitions; ++r)
            result.us_per_pair.push_back(score(pairs) * 1e6 / static_cast<double>(pairs));
        const qc_stats after = stats();
        const double scored = static_cast<double>(pairs) * options_.repetitions;
        result.launches_per_pair = static_cast<double>(after.kernel_launches - before.kernel_launches) / scored;
        result.result_bytes_per_pair =
            static_cast<double>(after.result_bytes_to_host - before.result_bytes_to_host) / scored;
        result.input_bytes_per_pair = static_cast<double>(set_.bytes_per_pair());
        result.device_mib = static_cast<double>(after.device_bytes) / (1024.0 * 1024.0);
        return result;
    }

private:
    /// Seconds from the first submit to the last score.
    double score(int64_t pairs) {
        const auto start = std::chrono::steady_clock::now();
        for (int64_t i = 0; i < pairs; ++i, ++next_) {
            qc_frame frame{};
            frame.reference = set_.at(next_).reference;
            for (int k = 0; k < options_.renditions; ++k)
                frame.distorted[k] = set_.at(next_ + static_cast<size_t>(k)).distorted;
            frame.map = set_.map(next_);
            frame.release = stay;
            if (qc_session_submit(session_, &frame) != QC_OK) die(qc_session_error(session_));
            drain_rows(0);
        }
        drain_rows(1);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    /// The pictures are never overwritten.
    static void stay(void*) {}

    void drain_rows(int wait) {
        qc_row row{};
        qc_status status = QC_OK;
        while ((status = qc_session_receive(session_, wait, &row)) == QC_OK) {
        }
        if (status != QC_AGAIN) die(qc_session_error(session_));
    }

    qc_stats stats() const {
        qc_stats stats{};
        stats.struct_size = sizeof(stats);
        qc_session_stats(session_, &stats);
        return stats;
    }

    const Options& options_;
    const PairSet& set_;
    qc_session* session_ = nullptr;
    size_t next_ = 0;
};

void print_row(const Result& r) {
    const double median = r.median();
    std::printf("%-24s %-12s %4dx%-4d %5d %10.2f %10.2f %10.2f %11.0f %9.2f %10.0f %9.1f\n", r.setting.metrics.c_str(),
                r.setting.layout.c_str(), r.setting.width, r.setting.height, r.setting.batch, median, r.minimum(),
                r.maximum(), 1e6 / median, r.launches_per_pair, r.input_bytes_per_pair, r.device_mib);
    std::fflush(stdout);
}

void write_json(const std::string& path, const std::vector<Result>& results) {
    std::ofstream out(path);
    out << "[\n";
    for (size_t i = 0; i < results.size(); ++i) {
        const Result& r = results[i];
        out << "  {\"metrics\": \"" << r.setting.metrics << "\", \"layout\": \"" << r.setting.layout
            << "\", \"width\": " << r.setting.width << ", \"height\": " << r.setting.height
            << ", \"batch\": " << r.setting.batch << ", \"backend\": \"" << r.description
            << "\", \"pairs_per_repetition\": " << r.pairs_per_repetition << ", \"us_per_pair_median\": " << r.median()
            << ", \"us_per_pair_min\": " << r.minimum() << ", \"us_per_pair_max\": " << r.maximum()
            << ", \"pairs_per_second\": " << 1e6 / r.median() << ", \"launches_per_pair\": " << r.launches_per_pair
            << ", \"input_bytes_per_pair\": " << r.input_bytes_per_pair
            << ", \"result_bytes_per_pair\": " << r.result_bytes_per_pair << ", \"device_mib\": " << r.device_mib
            << ", \"us_per_pair\": [";
        for (size_t k = 0; k < r.us_per_pair.size(); ++k) out << (k == 0 ? "" : ", ") << r.us_per_pair[k];
        out << "]}" << (i + 1 < results.size() ? "," : "") << "\n";
    }
    out << "]\n";
    if (!out) die("--json " + path + ": cannot be written");
}

bool cuda_is_usable(const Options& options) {
#ifdef QC_WITH_CUDA
    if (options.backend == QC_BACKEND_CPU) return false;
    const qc::cuda::Driver* driver = nullptr;
    const qc::Status status = qc::cuda::load_driver(&driver);
    if (status.ok()) return true;
    if (options.backend == QC_BACKEND_CUDA) die("--backend cuda: " + status.text());
    std::fprintf(stderr, "quality_bench: measuring the CPU backend: %s\n", status.text().c_str());
#else
    if (options.backend == QC_BACKEND_CUDA) die("--backend cuda: this build has no CUDA backend");
#endif
    return false;
}

std::pair<int, int> parse_size(const char* option, const std::string& text) {
    int width = 0, height = 0;
    if (std::sscanf(text.c_str(), "%dx%d", &width, &height) != 2)
        die(option + (" " + text) + ": WIDTHxHEIGHT is accepted");
    return {width, height};
}

qc_format distorted_format(const Options& options, const qc_format& reference) {
    qc_format format = reference;
    if (!options.distorted_size.empty())
        std::tie(format.width, format.height) = parse_size("--distorted-size", options.distorted_size);
    return format;
}

} // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    if (options.selftest) {
        if (options.backend == QC_BACKEND_CPU) die("--backend cpu: --selftest asks the GPU; auto or cuda is accepted");
        if (!options.json_path.empty()) die("--json " + options.json_path + ": --selftest writes no file");
        return qc::bench::check_device({options.metrics, options.layouts, options.model, options.metric_options});
    }
    const bool on_device = cuda_is_usable(options) && !options.from_host;
    std::vector<Result> results;
    std::printf("%-24s %-12s %9s %5s %10s %10s %10s %11s %9s %10s %9s\n", "metrics", "layout", "size", "batch",
                "us/pair", "min", "max", "pairs/s", "launches", "bytes in", "GPU MiB");
    std::string description;
    for (const std::string& size : options.sizes)
        for (const std::string& layout : options.layouts) {
            const auto [width, height] = parse_size("--size", size);
            const qc_format format = format_of(qc::test::layout_named(layout), width, height);
            PairSet set(options, format, distorted_format(options, format), on_device);
            if (!options.map.empty()) set.make_maps(width, height);
            for (const std::string& metrics : options.metrics)
                for (const int batch : options.batches) {
                    const Case setting{metrics, layout, width, height, batch};
                    Bench bench(options, setting, set);
                    results.push_back(bench.measure(setting));
                    print_row(results.back());
                    description = results.back().description;
                }
        }
    std::printf("us/pair is the median of %d repetitions of about %.1f s; %s frames; last session: %s\n",
                options.repetitions, options.seconds, on_device ? "device" : "host", description.c_str());
    if (!options.json_path.empty()) write_json(options.json_path, results);
    return 0;
}
