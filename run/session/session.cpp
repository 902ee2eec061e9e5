// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/session.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "run/text/guard.hpp"
#include "run/text/text.hpp"

/// Keys, and pointers to them.
struct qcr_score_texts {
    std::vector<std::string> key;
    std::vector<const char*> keys, names;
};

namespace qc::run {
namespace {

// Distorted frames held while they are scored: two batches of four, or of six with a metric that takes long.
constexpr int kDepth = 8, kDepthOfLong = 12;
constexpr int kMostPairsAtOnce = 64;

/// A ladder's frames are several pairs each, and its batches long enough.
int gpu_depth(const qc_request* request, int renditions) {
    return renditions == 1 && qc_request_takes_long(request) != 0 ? kDepthOfLong : kDepth;
}

/// The CPU backend works on several frames at once: enough of them to keep its threads busy.
int cpu_depth(int threads) {
    return std::clamp(2 * threads, 8, 64);
}

void leave_gpu(qcr_scoring& scoring, const std::string& failure, const qcr_sink& sink) {
    scoring.left_gpu = 1;
    std::snprintf(scoring.gpu_failure, sizeof(scoring.gpu_failure), "%s", failure.c_str());
    say(sink, QCR_LEVEL_WARNING,
        formatted("scoring on the GPU failed: %s; on_error=cpu: the CPU backend goes on", failure.c_str()));
}

qc_status open_on_cpu(qcr_scoring& scoring, const qc_request* request, qc_config& config, qc_error* error) {
    config.backend = QC_BACKEND_CPU;
    config.cuda_context = nullptr;
    config.batch = config.slots = 0;
    return qc_request_open(request, &config, &scoring.session, error);
}

qc_status open(qcr_scoring& scoring, const qc_request* request, qc_config& config, const qcr_scoring_rules& rules,
               const qcr_sink& sink, qc_error* error) {
    scoring.depth = rules.depth != 0 ? rules.depth : gpu_depth(request, config.renditions);
    // Frames come as fast as they are decoded: half of those held make a batch, so that two can be under way.
    config.batch = std::clamp((scoring.depth + 1) / 2 * config.renditions, 1, kMostPairsAtOnce);
    config.latency_first = 1;
    qc_status status = qc_request_open(request, &config, &scoring.session, error);
    if (status == QC_ERROR_NO_MEMORY && config.batch > config.renditions && rules.depth == 0) {
        say(sink, QCR_LEVEL_WARNING, formatted("%s; trying again with fewer frames at once", error->text));
        scoring.depth = std::min(scoring.depth, 2);
        config.batch = config.renditions;
        config.slots = 2;
        status = qc_request_open(request, &config, &scoring.session, error);
    }
    if (qcr_is_of_device(status) != 0 && rules.may_leave_gpu != 0) {
        leave_gpu(scoring, error->text, sink);
        status = open_on_cpu(scoring, request, config, error);
    }
    if (status != QC_OK && rules.is_for_log != 0) status = open_on_cpu(scoring, request, config, error);
    return status;
}

std::unique_ptr<qcr_score_texts> texts_of(const qc_session* session, int renditions, const std::string& prefix) {
    auto texts = std::make_unique<qcr_score_texts>();
    qc_feature feature{};
    for (int k = 0; k < renditions; k++)
        for (int f = 0; qc_session_feature(session, f, &feature) == QC_OK; f++)
            texts->key.push_back(prefix + (k != 0 ? formatted("%d.", k) : "") + feature.key);
    for (const std::string& key : texts->key) {
        texts->keys.push_back(key.c_str());
        texts->names.push_back(key.c_str() + prefix.size());
    }
    return texts;
}

void describe(qcr_scoring& scoring, int renditions, const qcr_scoring_rules& rules, const qcr_sink& sink) {
    const bool is_cpu = qc_session_backend(scoring.session) == QC_BACKEND_CPU;
    if (rules.depth == 0 && is_cpu) scoring.depth = cpu_depth(rules.threads);
    scoring.most_under_way = is_cpu ? std::min(scoring.depth, 2 * rules.threads) : scoring.depth;
    say(sink, QCR_LEVEL_VERBOSE,
        formatted("%s; up to %d distorted frames are held", qc_session_description(scoring.session), scoring.depth));
    scoring.features = qc_session_feature_count(scoring.session);
    scoring.texts = texts_of(scoring.session, renditions, rules.key_prefix).release();
    scoring.keys = scoring.texts->keys.data();
    scoring.names = scoring.texts->names.data();
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qc_status qcr_open_scoring(qcr_scoring* scoring, const qc_request* request, qc_config* config,
                           const qcr_scoring_rules* rules, const qcr_sink* sink, qc_error* error) {
    qc_status opened = QC_OK;
    const qc_status status = guarded([&] {
        opened = open(*scoring, request, *config, *rules, *sink, error);
        if (opened == QC_OK) describe(*scoring, config->renditions, *rules, *sink);
    });
    if (status != QC_OK) std::snprintf(error->text, sizeof(error->text), "out of memory");
    return status != QC_OK ? status : opened;
}

qc_status qcr_recover_scoring(qcr_scoring* scoring, qc_status status, const qcr_scoring_rules* rules,
                              const qcr_sink* sink, qc_error* error) {
    std::snprintf(error->text, sizeof(error->text), "%s", qc_session_error(scoring->session));
    if (rules->may_leave_gpu != 0 && qc_session_continue_on_cpu(scoring->session) == QC_OK) {
        if_possible(
            [&] { leave_gpu(*scoring, std::string(error->text).substr(0, sizeof(scoring->gpu_failure) - 1), *sink); });
        return QC_OK;
    }
    std::snprintf(error->text, sizeof(error->text), "%s", qc_session_error(scoring->session));
    return status;
}

int64_t qcr_frames_taken(const qcr_scoring* scoring) {
    qc_stats stats{};
    stats.struct_size = sizeof(stats);
    return qc_session_stats(scoring->session, &stats) == QC_OK ? stats.frames_submitted : 0;
}

void qcr_close_scoring(qcr_scoring* scoring) {
    qc_session_destroy(scoring->session);
    scoring->session = nullptr;
    delete scoring->texts;
    scoring->texts = nullptr;
    scoring->keys = scoring->names = nullptr;
    scoring->features = 0;
}

int qcr_is_of_device(qc_status status) {
    return status == QC_ERROR_NO_DEVICE || status == QC_ERROR_NO_MEMORY || status == QC_ERROR_DEVICE ? 1 : 0;
}

qc_status qcr_open_watch(const qc_request* request, qc_config* config, int is_on_gpu, qc_session** session,
                         qc_error* error) {
    config->watch_contents = 2;
    config->batch = config->renditions;
    config->slots = 2;
    config->latency_first = 1;
    config->log = nullptr;
    if (is_on_gpu == 0) { // that little is not worth a GPU
        config->backend = QC_BACKEND_CPU;
        config->cuda_context = nullptr;
        config->slots = 0;
    }
    return qc_request_open(request, config, session, error);
}
