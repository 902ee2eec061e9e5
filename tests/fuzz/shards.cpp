// SPDX-License-Identifier: BSD-2-Clause-Patent
// Plans of strangers: each is refused, or every shard is a part of a title that has the title's inputs.
#include "parts/plan.hpp"

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/scratch.hpp"
#include "words/failure.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string path = qc::fuzz::scratch("plan");
    qc::fuzz::write_file(path, {reinterpret_cast<const char*>(data), size});
    static_cast<void>(qc::cli::is_plan(path));
    try {
        const qc::cli::Plan plan = qc::cli::read_plan(path);
        QC_FUZZ_CHECK(!plan.titles.empty() && !plan.shards.empty());
        for (size_t i = 0; i < plan.shards.size(); ++i) {
            const qc::cli::Title& title = plan.titles.at(plan.shards[i].title);
            const qc::cli::Part& part = title.parts.at(plan.shards[i].part);
            QC_FUZZ_CHECK(part.inputs.size() == title.inputs.size() && title.openings.size() == title.inputs.size());
            static_cast<void>(qc::cli::seal_of(plan, i, 0));
        }
    } catch (const qc::cli::Failure& refused) {
        QC_FUZZ_CHECK(*refused.what() != 0); // say() makes a line of it
    }
    return 0;
}
