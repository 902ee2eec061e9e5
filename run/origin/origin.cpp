// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/origin/origin.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

#include "quality_cuda_run/origin.h"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

static_assert(std::string_view(QCR_VERSION) == QC_VERSION);

namespace {

struct Program {
    std::mutex lock;
    std::string filter, ffmpeg;
};

Program& this_program() {
    static Program program;
    return program;
}

std::string text_or_null(const std::string& text) {
    return text.empty() ? "null" : json_string(text);
}

const char* name_of(qc_backend backend) {
    return backend == QC_BACKEND_CUDA ? "cuda" : backend == QC_BACKEND_CPU ? "cpu" : "";
}

} // namespace

std::string origin_json(const qc_session* session) {
    Program& program = this_program();
    const std::scoped_lock held(program.lock);
    return "{\"engine\": " + json_string(qc_version()) + ", \"commit\": " + json_string(qc_commit()) +
           ", \"filter\": " + text_or_null(program.filter) + ", \"ffmpeg\": " + text_or_null(program.ffmpeg) +
           ", \"backend\": " + text_or_null(name_of(qc_session_first_backend(session))) +
           ", \"device\": " + text_or_null(qc_session_device(session)) +
           ", \"driver\": " + text_or_null(qc_session_driver(session)) + "}";
}

std::string joined_origin(std::span<const std::string> origins) {
    std::vector<std::string> others;
    for (const std::string& each : origins)
        if (each != origins.front() && std::ranges::find(others, each) == others.end()) others.push_back(each);
    if (others.empty()) return origins.empty() ? "" : origins.front();
    std::string list;
    for (const std::string& each : others) list += (list.empty() ? "" : ", ") + each;
    return origins.front().substr(0, origins.front().size() - 1) + ", \"others\": [" + list + "]}";
}

std::string model_checksums_json(const qc_session* session) {
    std::string text;
    const char *name = nullptr, *checksum = nullptr;
    for (int i = 0; qc_session_model(session, i, &name, &checksum) == QC_OK; ++i)
        text += (text.empty() ? "{" : ", ") + json_string(name) + ": " + json_string(checksum);
    return text.empty() ? text : text + "}";
}

} // namespace qc::run

void qcr_name_program(const char* filter, const char* ffmpeg) {
    using namespace qc::run;
    if_possible([&] {
        Program& program = this_program();
        const std::scoped_lock held(program.lock);
        if (!program.filter.empty()) return;
        program.filter = filter;
        program.ffmpeg = ffmpeg;
    });
}
