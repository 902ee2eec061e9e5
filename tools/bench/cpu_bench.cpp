// SPDX-License-Identifier: BSD-2-Clause-Patent
// cpu_bench: the CPU reference of every metric, one evaluation on one thread.
#include <benchmark/benchmark.h>

#include <string>

#include "api/picture.hpp"
#include "cpu/host_picture.hpp"
#include "plan/metric_registry.hpp"
#include "tests/support/pictures.hpp"

namespace {

using namespace qc;

void score_once(benchmark::State& state, const MetricDescriptor* descriptor, const char* layout_name, int width,
                int height) {
    qc_config config{};
    config.renditions = 1;
    config.reference = config.distorted[0] = test::format_of(test::layout_named(layout_name), width, height);
    FrameGeometry geometry;
    std::string chroma_conflict;
    const OptionValues options(descriptor->options);
    if (!session_geometry(config, &geometry, &chroma_conflict).ok() || !validate(*descriptor, geometry, options).ok()) {
        state.SkipWithError("this geometry is not accepted");
        return;
    }
    const test::TestPicture reference(config.reference, test::Content::kNatural, false, 1);
    const test::TestPicture distorted(config.reference, test::Content::kNatural, true, 1);
    const auto pool = std::make_shared<cpu::PicturePool>(geometry, descriptor->needs_chroma);
    const auto r = pool->take_in(reference.view(), config.reference),
               d = pool->take_in(distorted.view(), config.reference);
    const auto metric = create_scorer(*descriptor, geometry, options);
    std::vector<uint64_t> accumulators(metric->accumulator_words());
    HostReference with_history;
    with_history.current = *r;
    HostPair pair{*r, *d};
    // What changed since is the difference of the two pictures.
    for (int k = 0; k < descriptor->history; ++k) with_history.history[k] = pair.reference_history[k] = d->plane[0];
    for (int k = 0; k < descriptor->distorted_history; ++k) pair.distorted_history[k] = r->plane[0];
    const std::vector<EarlierPair> past(static_cast<size_t>(earlier_pairs(*descriptor, geometry, options)),
                                        EarlierPair{r.get(), d.get()});
    for (auto unused : state) {
        static_cast<void>(unused);
        std::fill(accumulators.begin(), accumulators.end(), 0);
        if (descriptor->scope == Scope::kReference)
            metric->score(with_history, accumulators);
        else
            metric->score(pair, past, accumulators);
        benchmark::DoNotOptimize(accumulators.data());
    }
    state.counters["fps"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

} // namespace

int main(int argc, char** argv) {
    for (const MetricDescriptor* descriptor : registered_metrics())
        for (const char* layout : {"yuv420p", "yuv420p10le"})
            for (const auto& [width, height] : {std::pair{1920, 1080}, std::pair{640, 360}}) {
                const std::string name = std::string(descriptor->name) + "/" + layout + format("/%dx%d", width, height);
                benchmark::RegisterBenchmark(name.c_str(), [=, width = width,
                                                            height = height](benchmark::State& state) {
                    score_once(state, descriptor, layout, width, height);
                })->Unit(benchmark::kMillisecond);
            }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
