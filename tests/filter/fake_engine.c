/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * A stand-in for libquality_cuda with the same C API and soname, for tests of the filter that must provoke what a
 * healthy engine never does: failures at a chosen frame, slow scores, scores that become final late.
 *
 * "mad" is the mean absolute luma difference scaled to 8 bits, "vmaf" is 100 - mad, "lag" is the frame number;
 * all are exact for the tests' clips, none is a quality metric.
 *
 * Environment:
 *   QC_FAKE_CREATE_STATUS=s   qc_session_create fails with status s (e.g. -4)
 *   QC_FAKE_FAIL_AT=n         submitting frame n fails, and every later one
 *   QC_FAKE_FAIL_STATUS=s     status of that failure, default -5
 *   QC_FAKE_LAG=n             row i is final when frame i + n was submitted or the session flushed, default 1
 *   QC_FAKE_DELAY_US=n        computing a row takes so long
 *   QC_FAKE_ROW_US=n          a row is ready so long after it was submitted and the one before was ready: nobody waits
 *                             for that but who asks to
 *   QC_FAKE_SLOW_ROWS=n       only the first n rows take so long
 *   QC_FAKE_LOG_STATUS=s      writing the log fails with status s
 *   QC_FAKE_START_AFTER=n     so many frames are wanted before the offset of the start is called unknown, default 0
 *   QC_FAKE_ABI=n             what qc_abi_version answers
 *   QC_FAKE_RGB=1             RGB pictures are accepted; "mad" is then that of all three colours
 *
 * It logs the colour tags that a session is created with.
 */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quality_cuda_run/engine.h"

enum { FEATURE_VMAF, FEATURE_MAD, FEATURE_LAG, FEATURE_COUNT };

static const char* const feature_names[FEATURE_COUNT] = {"vmaf", "mad", "lag"};

struct qc_session {
    qc_config config;
    qc_status failed;
    char error[256];
    int64_t submitted, received;
    int64_t settled; /* rows before the last break are final */
    int flushed;
    double* value; /* [row][rendition][feature] */
    unsigned char* present;
    int64_t* ready_at; /* microseconds, by row */
    int64_t capacity;
};

static long env_number(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static qc_status report(qc_error* error, qc_status status, const char* format, ...) {
    va_list arguments;
    if (error) {
        va_start(arguments, format);
        vsnprintf(error->text, sizeof(error->text), format, arguments);
        va_end(arguments);
    }
    return status;
}

static int renditions(const qc_session* session) {
    return session->config.renditions ? session->config.renditions : 1;
}

static size_t row_size(const qc_session* session) {
    return (size_t)renditions(session) * FEATURE_COUNT;
}

int qc_abi_version(void) {
    return (int)env_number("QC_FAKE_ABI", QC_ABI_VERSION);
}

const char* qc_version(void) {
    return "0.0.0-fake";
}

const char* qc_metric_name(int index) {
    return index == 0 ? "vmaf" : index == 1 ? "psnr" : NULL;
}

const char* qc_metric_summary(int index) {
    return index < 2 ? "a stand-in" : NULL;
}

const char* qc_metric_short_name(int index) {
    return index < 2 ? "" : NULL;
}

const char* qc_model_name(int index) {
    return index == 0 ? "vmaf_v0.6.1" : NULL;
}

static const char* const pool_names[QC_POOL_COUNT] = {
    "mean", "harmonic_mean", "min", "max", "p1", "p5", "p10", "p50", "stddev",
};

qc_status qc_pool_parse(const char* text, qc_pool* pool) {
    for (int i = 0; i < QC_POOL_COUNT; i++) {
        if (!strcmp(text, pool_names[i])) {
            *pool = (qc_pool)i;
            return QC_OK;
        }
    }
    return QC_ERROR_INVALID;
}

const char* qc_pool_name(qc_pool pool) {
    return pool_names[pool];
}

qc_status qc_log_format_parse(const char* text, qc_log_format* format) {
    *format = QC_LOG_FORMAT_JSON;
    return strcmp(text, "json") ? QC_ERROR_INVALID : QC_OK;
}

qc_status qc_stats_format_parse(const char* text, qc_stats_format* format) {
    *format = QC_STATS_FORMAT_PSNR;
    return strcmp(text, "psnr") ? QC_ERROR_INVALID : QC_OK;
}

qc_status qc_session_stats_line(const qc_session* session, const qc_row* row, char* text, size_t size) {
    (void)session;
    snprintf(text, size, "fake line %lld", (long long)row->frame);
    return QC_OK;
}

struct qc_request {
    int nothing;
};

int qc_request_accepts_rgb(const qc_request* request) {
    return request != NULL && env_number("QC_FAKE_RGB", 0) != 0;
}

int qc_request_takes_long(const qc_request* request) {
    (void)request;
    return 0;
}

qc_status qc_request_create(const qc_config* config, qc_request** request, qc_error* error) {
    char* list = strdup(config->metrics ? config->metrics : "vmaf");
    qc_status status = QC_OK;
    for (char *state = NULL, *name = strtok_r(list, "|+", &state); name; name = strtok_r(NULL, "|+", &state)) {
        if (strcmp(name, "vmaf") && strcmp(name, "psnr"))
            status = report(error, QC_ERROR_INVALID, "unknown metric '%s'; known: vmaf, psnr", name);
    }
    free(list);
    *request = status == QC_OK ? calloc(1, sizeof(**request)) : NULL;
    return status;
}

void qc_request_destroy(qc_request* request) {
    free(request);
}

qc_status qc_request_check(const qc_request* request, const qc_config* config, qc_error* error) {
    (void)request;
    (void)config;
    (void)error;
    return QC_OK;
}

qc_status qc_request_open(const qc_request* request, const qc_config* config, qc_session** out, qc_error* error) {
    const qc_status wanted = (qc_status)env_number("QC_FAKE_CREATE_STATUS", QC_OK);
    qc_session* session;
    (void)request;
    if (wanted != QC_OK) return report(error, wanted, "fake engine: forced failure %d of the session", (int)wanted);
    if (config->backend == QC_BACKEND_CUDA) return report(error, QC_ERROR_NO_DEVICE, "fake engine: no GPU");
    session = calloc(1, sizeof(*session));
    session->config = *config;
    *out = session;
    if (config->log) {
        const qc_colour *a = &config->distorted[0].colour, *b = &config->reference.colour;
        char text[256];
        config->log(config->log_opaque, QC_LOG_INFO, "fake engine created");
        snprintf(text, sizeof(text), "colours %d/%d/%d/%d/%d against %d/%d/%d/%d/%d", a->matrix, a->range, a->primaries,
                 a->transfer, a->chroma_location, b->matrix, b->range, b->primaries, b->transfer, b->chroma_location);
        config->log(config->log_opaque, QC_LOG_INFO, text);
    }
    return QC_OK;
}

void qc_session_destroy(qc_session* session) {
    if (!session) return;
    free(session->value);
    free(session->present);
    free(session->ready_at);
    free(session);
}

const char* qc_session_description(const qc_session* session) {
    (void)session;
    return "fake engine";
}

qc_backend qc_session_backend(const qc_session* session) {
    (void)session;
    return QC_BACKEND_CPU;
}

qc_backend qc_session_first_backend(const qc_session* session) {
    return qc_session_backend(session);
}

const char* qc_session_device(const qc_session* session) {
    (void)session;
    return "";
}

const char* qc_session_driver(const qc_session* session) {
    return qc_session_device(session);
}

qc_status qc_session_model(const qc_session* session, int index, const char** name, const char** checksum) {
    (void)session, (void)index, (void)name, (void)checksum;
    return QC_END;
}

const char* qc_session_error(const qc_session* session) {
    return session->error;
}

int qc_session_feature_count(const qc_session* session) {
    (void)session;
    return FEATURE_COUNT;
}

qc_status qc_session_feature(const qc_session* session, int index, qc_feature* feature) {
    (void)session;
    if (index < 0 || index >= FEATURE_COUNT) return QC_ERROR_INVALID;
    feature->name = feature->key = feature_names[index];
    feature->is_model = index == FEATURE_VMAF;
    return QC_OK;
}

/* Value of component i (luma; green, blue, red) on the 8-bit scale. */
static double sample(const qc_picture* picture, const qc_format* format, int i, int x, int y) {
    const int packed = format->pixel_step != 0;
    const char* row = (const char*)picture->plane[packed ? 0 : i] + y * picture->pitch_bytes[packed ? 0 : i];
    const int at = packed ? x * format->pixel_step + format->sample_offset[i] : x;
    const int raw = format->container_bits == 8 ? ((const uint8_t*)row)[at] : ((const uint16_t*)row)[at];
    return (raw >> format->shift) / (double)(1 << (format->depth - 8));
}

static double mean_difference(const qc_session* session, const qc_picture* reference, const qc_picture* distorted,
                              const qc_format* format) {
    const qc_format* reference_format = &session->config.reference;
    const int components = format->rgb ? 3 : 1;
    double sum = 0.0;
    for (int i = 0; i < components; i++)
        for (int y = 0; y < format->height; y++)
            for (int x = 0; x < format->width; x++)
                sum += fabs(sample(reference, reference_format, i, x, y) - sample(distorted, format, i, x, y));
    return sum / ((double)format->width * format->height * components);
}

static void reserve_row(qc_session* session) {
    if (session->submitted < session->capacity) return;
    session->capacity = session->capacity ? session->capacity * 2 : 64;
    session->value = realloc(session->value, session->capacity * row_size(session) * sizeof(double));
    session->present = realloc(session->present, session->capacity * row_size(session));
    session->ready_at = realloc(session->ready_at, session->capacity * sizeof(*session->ready_at));
}

static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000 + now.tv_nsec / 1000;
}

/* A row is begun when the one before is ready. */
static int64_t ready_time(const qc_session* session) {
    const int64_t row = session->submitted, now = now_us();
    const int64_t before = row ? session->ready_at[row - 1] : now;
    const long cost = row < env_number("QC_FAKE_SLOW_ROWS", LONG_MAX) ? env_number("QC_FAKE_ROW_US", 0) : 0;
    return (before > now ? before : now) + cost;
}

static void score(qc_session* session, const qc_picture* reference, const qc_picture* distorted) {
    const int step = session->config.n_subsample > 1 ? session->config.n_subsample : 1;
    double* value;
    unsigned char* present;
    reserve_row(session);
    value = session->value + session->submitted * row_size(session);
    present = session->present + session->submitted * row_size(session);
    session->ready_at[session->submitted] = ready_time(session);
    for (int k = 0; k < renditions(session); k++, value += FEATURE_COUNT, present += FEATURE_COUNT) {
        const int there = distorted[k].plane[0] && session->submitted % step == 0;
        const double mad =
            there ? mean_difference(session, reference, &distorted[k], &session->config.distorted[k]) : NAN;
        memset(present, there, FEATURE_COUNT);
        value[FEATURE_VMAF] = 100.0 - mad;
        value[FEATURE_MAD] = mad;
        value[FEATURE_LAG] = there ? (double)session->submitted : NAN;
    }
}

/** Maps stay as they are, weights are not looked at. */
qc_status qc_session_submit(qc_session* session, const qc_frame* frame) {
    if (session->failed == QC_OK && session->submitted == env_number("QC_FAKE_FAIL_AT", -1)) {
        session->failed = (qc_status)env_number("QC_FAKE_FAIL_STATUS", QC_ERROR_DEVICE);
        snprintf(session->error, sizeof(session->error), "forced failure at frame %lld", (long long)session->submitted);
    }
    if (session->failed == QC_OK) {
        score(session, &frame->reference, frame->distorted);
        session->submitted++;
    }
    if (frame->release) frame->release(frame->opaque);
    return session->failed;
}

static int64_t final_rows(const qc_session* session) {
    const int64_t lag = env_number("QC_FAKE_LAG", 1);
    if (session->flushed) return session->submitted;
    return session->submitted - lag > session->settled ? session->submitted - lag : session->settled;
}

static void pause_us(int64_t us) {
    const struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    if (us > 0) nanosleep(&pause, NULL);
}

qc_status qc_session_receive(qc_session* session, int wait, qc_row* row) {
    if (session->received >= final_rows(session)) {
        if (session->failed != QC_OK) return session->failed;
        return session->flushed ? QC_END : QC_AGAIN;
    }
    if (!wait && env_number("QC_FAKE_DELAY_US", 0) > 0) return QC_AGAIN;
    if (session->ready_at[session->received] > now_us()) {
        if (!wait) return QC_AGAIN;
        pause_us(session->ready_at[session->received] - now_us());
    }
    pause_us(env_number("QC_FAKE_DELAY_US", 0));
    row->frame = session->received;
    row->value = session->value + session->received * row_size(session);
    row->present = session->present + session->received * row_size(session);
    session->received++;
    return QC_OK;
}

void qc_session_collect(qc_session* session) {
    (void)session;
}

qc_status qc_session_break(qc_session* session) {
    session->settled = session->submitted;
    return session->failed;
}

qc_status qc_session_continue_on_cpu(qc_session* session) {
    return session->failed == QC_OK ? QC_ERROR_INVALID : session->failed;
}

qc_status qc_session_flush(qc_session* session) {
    if (session->failed != QC_OK) return session->failed;
    session->flushed = 1;
    return QC_OK;
}

qc_status qc_session_truncate(qc_session* session, int64_t frames) {
    if (frames < 0 || !session->flushed) return QC_ERROR_INVALID;
    if (session->submitted > frames) session->submitted = frames;
    return QC_OK;
}

int64_t qc_session_scored_frames(const qc_session* session) {
    int64_t scored = 0;
    for (int64_t i = 0; i < final_rows(session); i++)
        scored += memchr(session->present + i * row_size(session), 1, row_size(session)) != NULL;
    return scored;
}

qc_status qc_session_pooled(qc_session* session, int rendition, int feature, qc_pool pool, double* value) {
    double sum = 0.0, inverse = 0.0, low = INFINITY, high = -INFINITY;
    int64_t scored = 0;
    for (int64_t i = 0; i < final_rows(session); i++) {
        const size_t at = i * row_size(session) + (size_t)rendition * FEATURE_COUNT + feature;
        if (!memchr(session->present + i * row_size(session), 1, row_size(session))) continue;
        if (!session->present[at]) return QC_ERROR_INVALID;
        sum += session->value[at];
        inverse += 1.0 / (session->value[at] + 1.0);
        low = fmin(low, session->value[at]);
        high = fmax(high, session->value[at]);
        scored++;
    }
    if (!scored) return QC_ERROR_INVALID;
    *value = pool == QC_POOL_HARMONIC_MEAN ? scored / inverse - 1.0
             : pool == QC_POOL_MIN         ? low
             : pool == QC_POOL_MAX         ? high
                                           : sum / scored;
    return QC_OK;
}

qc_status qc_session_aggregate(qc_session* session, int rendition, int index, const char** name, double* value) {
    (void)session, (void)rendition, (void)index, (void)name, (void)value;
    return QC_END;
}

qc_status qc_session_stream_score(qc_session* session, int rendition, int index, const char** title, double* value) {
    (void)session, (void)rendition, (void)index, (void)title, (void)value;
    return QC_END;
}

/* The contents are not looked at here. */
qc_status qc_session_finding(const qc_session* session, int rendition, int index, qc_finding* finding) {
    (void)session, (void)rendition, (void)index, (void)finding;
    return QC_END;
}

int64_t qc_session_watched_frames(const qc_session* session, int rendition) {
    (void)session, (void)rendition;
    return 0;
}

qc_status qc_session_start_offset(const qc_session* session, int rendition, int* offset) {
    (void)rendition, (void)offset;
    return session->submitted < env_number("QC_FAKE_START_AFTER", 0) ? QC_AGAIN : QC_END;
}

qc_status qc_session_start_range(const qc_session* session, int rendition, qc_ranges* ranges) {
    (void)ranges;
    return qc_session_start_offset(session, rendition, NULL);
}

/* No video is a part of another one. */
int qc_session_seeks_in(const qc_session* session, int rendition) {
    (void)session, (void)rendition;
    return 0;
}

qc_status qc_session_look_further(qc_session* session, int rendition, int64_t number, const qc_session* other) {
    (void)session, (void)rendition, (void)number, (void)other;
    return QC_OK;
}

qc_status qc_session_end_search(qc_session* session) {
    (void)session;
    return QC_OK;
}

/* Nothing is measured that could be handed on. */
qc_status qc_session_on_measured(qc_session* session, qc_measured_callback callback, void* opaque) {
    (void)session, (void)callback, (void)opaque;
    return QC_OK;
}

int64_t qc_session_measured_words(const qc_session* session) {
    (void)session;
    return 0;
}

int qc_session_history(const qc_session* session) {
    (void)session;
    return 0;
}

qc_status qc_session_submit_measured(qc_session* session, uint32_t renditions, const uint64_t* words, int64_t count) {
    (void)session, (void)renditions, (void)words, (void)count;
    return QC_ERROR_INVALID;
}

static void write_frames(qc_session* session, int rendition, FILE* file) {
    const char* separator = "";
    for (int64_t i = 0; i < final_rows(session); i++) {
        const size_t at = i * row_size(session) + (size_t)rendition * FEATURE_COUNT;
        if (!session->present[at]) continue;
        fprintf(file, "%s\n    {\"frameNum\": %lld, \"metrics\": {\"vmaf\": %.6f, \"mad\": %.6f, \"lag\": %.6f}}",
                separator, (long long)i, session->value[at], session->value[at + 1], session->value[at + 2]);
        separator = ",";
    }
}

qc_status qc_session_write_log(qc_session* session, int rendition, const char* path, qc_log_format format, int complete,
                               const qc_log_extra* extra, int extra_count) {
    const qc_status forced = (qc_status)env_number("QC_FAKE_LOG_STATUS", QC_OK);
    FILE* file = forced == QC_OK ? fopen(path, "w") : NULL;
    (void)format;
    if (forced != QC_OK) return forced;
    if (!file) return QC_ERROR_IO;
    fprintf(file, "{\n  \"version\": \"%s\",\n  \"complete\": %s,\n", qc_version(), complete ? "true" : "false");
    for (int i = 0; i < extra_count; i++) fprintf(file, "  \"%s\": %s,\n", extra[i].key, extra[i].json_value);
    fprintf(file, "  \"frames\": [");
    write_frames(session, rendition, file);
    fprintf(file, "\n  ],\n  \"pooled_metrics\": {},\n  \"aggregate_metrics\": {}\n}\n");
    return fclose(file) ? QC_ERROR_IO : QC_OK;
}

qc_status qc_session_stats(const qc_session* session, qc_stats* stats) {
    memset(stats, 0, sizeof(*stats));
    stats->struct_size = sizeof(*stats);
    stats->frames_submitted = session->submitted;
    stats->frames_received = session->received;
    return QC_OK;
}
