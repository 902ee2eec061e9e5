/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * quality_cuda.h alone, as C11 and as C++: it includes what it needs, warns nowhere, and its structs lie in memory as
 * this version of the ABI has it. An expectation that fails here means: raise QC_ABI_VERSION and the soname
 * (docs/design/abi.md), or do not change the struct.
 */
#include "quality_cuda.h"

#ifdef __cplusplus
#define QC_EXPECT(condition) static_assert(condition, #condition)
#define QC_ENTRY extern "C"
#else
#define QC_EXPECT(condition) _Static_assert(condition, #condition)
#define QC_ENTRY
#endif

#if UINTPTR_MAX > 0xffffffffu /* the layouts below are those of 64-bit machines */

QC_EXPECT(QC_ABI_VERSION == 5);
QC_EXPECT(QC_MAX_RENDITIONS == 16);

QC_EXPECT(sizeof(qc_colour) == 20);

QC_EXPECT(sizeof(qc_format) == 96);
QC_EXPECT(offsetof(qc_format, chroma) == 8);
QC_EXPECT(offsetof(qc_format, rgb) == 28);
QC_EXPECT(offsetof(qc_format, sample_offset) == 36);
QC_EXPECT(offsetof(qc_format, colour) == 48);
QC_EXPECT(offsetof(qc_format, big_endian) == 68);
QC_EXPECT(offsetof(qc_format, reserved) == 72);

QC_EXPECT(sizeof(qc_picture) == 96);
QC_EXPECT(offsetof(qc_picture, pitch_bytes) == 24);
QC_EXPECT(offsetof(qc_picture, memory) == 48);
QC_EXPECT(offsetof(qc_picture, cuda_stream) == 56);
QC_EXPECT(offsetof(qc_picture, reserved) == 64);

QC_EXPECT(sizeof(qc_frame) == 1904);
QC_EXPECT(offsetof(qc_frame, distorted) == 96);
QC_EXPECT(offsetof(qc_frame, weights) == 1632);
QC_EXPECT(offsetof(qc_frame, map) == 1728);
QC_EXPECT(offsetof(qc_frame, release) == 1824);
QC_EXPECT(offsetof(qc_frame, opaque) == 1832);
QC_EXPECT(offsetof(qc_frame, reserved) == 1840);

/* Grows at its end: offsets stay, the size may become larger. */
QC_EXPECT(sizeof(qc_config) >= 1760);
QC_EXPECT(sizeof(qc_config) % 8 == 0);
QC_EXPECT(offsetof(qc_config, struct_size) == 0);
QC_EXPECT(offsetof(qc_config, reference) == 8);
QC_EXPECT(offsetof(qc_config, renditions) == 104);
QC_EXPECT(offsetof(qc_config, distorted) == 108);
QC_EXPECT(offsetof(qc_config, frame_rate) == 1648);
QC_EXPECT(offsetof(qc_config, bitdepth) == 1656);
QC_EXPECT(offsetof(qc_config, metrics) == 1664);
QC_EXPECT(offsetof(qc_config, options) == 1688);
QC_EXPECT(offsetof(qc_config, stats_format) == 1696);
QC_EXPECT(offsetof(qc_config, backend) == 1708);
QC_EXPECT(offsetof(qc_config, cuda_context) == 1720);
QC_EXPECT(offsetof(qc_config, n_threads) == 1728);
QC_EXPECT(offsetof(qc_config, latency_first) == 1740);
QC_EXPECT(offsetof(qc_config, log) == 1744);
QC_EXPECT(offsetof(qc_config, log_opaque) == 1752);
QC_EXPECT(offsetof(qc_config, selftest) == 1760);
QC_EXPECT(offsetof(qc_config, scaling) == 1764);
QC_EXPECT(offsetof(qc_config, scoring_width) == 1768);
QC_EXPECT(offsetof(qc_config, scoring_height) == 1772);
QC_EXPECT(offsetof(qc_config, watch_contents) == 1776);
QC_EXPECT(offsetof(qc_config, roi_x) == 1780);
QC_EXPECT(offsetof(qc_config, map_rendition) == 1796);
QC_EXPECT(offsetof(qc_config, maps) == 1800);
QC_EXPECT(offsetof(qc_config, map_layout) == 1808);
QC_EXPECT(offsetof(qc_config, map_memory) == 1816);
QC_EXPECT(offsetof(qc_config, weights) == 1820);
QC_EXPECT(offsetof(qc_config, map_white) == 1824);
QC_EXPECT(offsetof(qc_config, hold_pictures) == 1832);

QC_EXPECT(sizeof(qc_error) == 1024);
QC_EXPECT(sizeof(qc_row) == 64);
QC_EXPECT(offsetof(qc_row, present) == 16);
QC_EXPECT(sizeof(qc_feature) == 64);
QC_EXPECT(offsetof(qc_feature, is_model) == 16);
QC_EXPECT(sizeof(qc_log_extra) == 16);
QC_EXPECT(sizeof(qc_option) == 88);
QC_EXPECT(offsetof(qc_option, type) == 24);
QC_EXPECT(offsetof(qc_option, choices) == 28);
QC_EXPECT(offsetof(qc_option, minimum) == 32);
QC_EXPECT(offsetof(qc_option, default_value) == 48);

#endif

/* Numbers of the enumerators stay. */
QC_EXPECT(sizeof(qc_status) == sizeof(int));
QC_EXPECT(QC_OK == 0 && QC_AGAIN == 1 && QC_END == 2);
QC_EXPECT(QC_ERROR_INVALID == -1 && QC_ERROR_UNSUPPORTED == -2 && QC_ERROR_NO_DEVICE == -3 && QC_ERROR_NO_MEMORY == -4);
QC_EXPECT(QC_ERROR_DEVICE == -5 && QC_ERROR_IO == -6 && QC_ERROR_INTERNAL == -7);
QC_EXPECT(QC_BACKEND_AUTO == 0 && QC_BACKEND_CUDA == 1 && QC_BACKEND_CPU == 2);
QC_EXPECT(QC_BACKEND_RECORDED == 3 && QC_BACKEND_IMPORTED == 4);
QC_EXPECT(QC_OPTION_BOOL == 0 && QC_OPTION_INT == 1 && QC_OPTION_DOUBLE == 2);
QC_EXPECT(QC_OPTION_CHOICE == 3 && QC_OPTION_TEXT == 4);
QC_EXPECT(QC_CHROMA_400 == 0 && QC_CHROMA_420 == 1 && QC_CHROMA_422 == 2 && QC_CHROMA_444 == 3);
QC_EXPECT(sizeof(qc_scaling) == sizeof(int));
QC_EXPECT(QC_SCALING_NONE == 0 && QC_SCALING_BICUBIC == 1 && QC_SCALING_LANCZOS == 2);
QC_EXPECT(QC_SCALING_BILINEAR == 3 && QC_SCALING_AREA == 4);
QC_EXPECT(QC_MAP_LAYOUT_GRAY == 0 && QC_MAP_LAYOUT_YUV420P == 1 && QC_MAP_LAYOUT_NV12 == 2);
QC_EXPECT(QC_MAP_COLOURS_GRAY == 0 && QC_MAP_COLOURS_HEAT == 1);
QC_EXPECT(QC_MEMORY_HOST == 0 && QC_MEMORY_CUDA == 1);
QC_EXPECT(QC_LOG_ERROR == 0 && QC_LOG_WARNING == 1 && QC_LOG_INFO == 2 && QC_LOG_DEBUG == 3);
QC_EXPECT(QC_POOL_MEAN == 0 && QC_POOL_HARMONIC_MEAN == 1 && QC_POOL_MIN == 2 && QC_POOL_MAX == 3 && QC_POOL_P1 == 4);
QC_EXPECT(QC_POOL_P5 == 5 && QC_POOL_P10 == 6 && QC_POOL_P50 == 7 && QC_POOL_STDDEV == 8);
QC_EXPECT(QC_STATS_FORMAT_NONE == 0 && QC_STATS_FORMAT_PSNR == 1 && QC_STATS_FORMAT_SSIM == 2);
QC_EXPECT(QC_LOG_FORMAT_JSON == 0 && QC_LOG_FORMAT_XML == 1 && QC_LOG_FORMAT_CSV == 2 && QC_LOG_FORMAT_SUB == 3);

typedef void (*Function)(void);

/** Every function of the header: the library has to export it under its C name. */
static const Function functions[] = {
    (Function)qc_abi_version,
    (Function)qc_version,
    (Function)qc_metric_name,
    (Function)qc_metric_summary,
    (Function)qc_metric_short_name,
    (Function)qc_model_name,
    (Function)qc_pool_parse,
    (Function)qc_pool_name,
    (Function)qc_session_create,
    (Function)qc_config_check,
    (Function)qc_session_destroy,
    (Function)qc_session_description,
    (Function)qc_session_backend,
    (Function)qc_session_error,
    (Function)qc_session_feature_count,
    (Function)qc_session_feature,
    (Function)qc_session_submit,
    (Function)qc_map_name,
    (Function)qc_map_unit,
    (Function)qc_map_white,
    (Function)qc_session_receive,
    (Function)qc_session_collect,
    (Function)qc_session_break,
    (Function)qc_session_flush,
    (Function)qc_session_pooled,
    (Function)qc_session_scored_frames,
    (Function)qc_session_aggregate,
    (Function)qc_log_format_parse,
    (Function)qc_session_write_log,
    (Function)qc_metric_option,
    (Function)qc_metric_option_choice,
    (Function)qc_format_from_name,
    (Function)qc_format_name,
    (Function)qc_format_plane,
    (Function)qc_check,
    (Function)qc_session_import,
    (Function)qc_session_pooled_between,
    (Function)qc_session_score,
    (Function)qc_score,
    (Function)qc_scores_name,
    (Function)qc_scores_value,
    (Function)qc_scores_find,
    (Function)qc_scores_destroy,
};

/* ---- for front ends: may change with each minor version, and what is frozen here is what struct_size goes by ---- */

#include "quality_cuda_run/engine.h"

#if UINTPTR_MAX > 0xffffffffu
/* Grows at its end. */
QC_EXPECT(sizeof(qc_stats) >= 96);
QC_EXPECT(offsetof(qc_stats, frames_submitted) == 8);
QC_EXPECT(offsetof(qc_stats, pixel_bytes_to_device) == 32);
QC_EXPECT(offsetof(qc_stats, device_allocations) == 72);
QC_EXPECT(offsetof(qc_stats, pinned_bytes) == 88);
#endif

static const Function functions_for_front_ends[] = {
    (Function)qc_request_create,
    (Function)qc_request_destroy,
    (Function)qc_request_accepts_rgb,
    (Function)qc_request_takes_long,
    (Function)qc_request_check,
    (Function)qc_request_open,
    (Function)qc_picture_cut,
    (Function)qc_session_continue_on_cpu,
    (Function)qc_session_truncate,
    (Function)qc_session_stream_score,
    (Function)qc_stats_format_parse,
    (Function)qc_session_finding,
    (Function)qc_session_watched_frames,
    (Function)qc_session_start_offset,
    (Function)qc_session_start_range,
    (Function)qc_session_seeks_in,
    (Function)qc_session_look_further,
    (Function)qc_session_end_search,
    (Function)qc_session_on_measured,
    (Function)qc_session_measured_words,
    (Function)qc_session_history,
    (Function)qc_session_submit_measured,
    (Function)qc_session_stats_line,
    (Function)qc_session_report_feature,
    (Function)qc_commit,
    (Function)qc_session_device,
    (Function)qc_session_driver,
    (Function)qc_session_first_backend,
    (Function)qc_session_model,
    (Function)qc_model_checksum,
    (Function)qc_session_stats,
};

QC_ENTRY int QC_HEADER_TEST(void);
QC_ENTRY int QC_HEADER_TEST(void) {
    size_t missing = 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) missing += functions[i] == NULL;
    for (size_t i = 0; i < sizeof(functions_for_front_ends) / sizeof(Function); i++)
        missing += functions_for_front_ends[i] == NULL;
    return missing == 0 && qc_abi_version() == QC_ABI_VERSION;
}

#ifndef __cplusplus
int header_as_cxx(void);

int main(void) {
    return header_as_c() && header_as_cxx() ? 0 : 1;
}
#endif
