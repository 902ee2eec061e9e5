/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * Scores a raw YUV file against another one with libquality_cuda alone: no FFmpeg, no CUDA header.
 *
 *     cc score_yuv.c $(pkg-config --cflags --libs quality_cuda) -o score_yuv
 *     ./score_yuv distorted.yuv reference.yuv 1920 1080 yuv420p --metrics "vmaf|psnr" --log scores.json
 *
 * The files hold frames one after the other, plane behind plane, as "ffmpeg -f rawvideo" writes them. FORMAT is
 * FFmpeg's pix_fmt.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quality_cuda.h>

typedef struct Options {
    const char *distorted, *reference, *metrics, *log_path;
    qc_format format;
} Options;

/** A file of frames, and the frame that was read last. */
typedef struct Video {
    const char* path;
    FILE* file;
    unsigned char* frame;
    size_t frame_bytes;
    qc_picture picture;
} Video;

static int usage(const char* wrong) {
    if (wrong) fprintf(stderr, "score_yuv: %s\n", wrong);
    fprintf(stderr, "usage: score_yuv DISTORTED REFERENCE WIDTH HEIGHT FORMAT [--metrics LIST] [--log FILE]\n");
    return 2;
}

static int parse_options(int count, char** arguments, Options* options) {
    if (count < 6 || count % 2) return 0;
    options->distorted = arguments[1];
    options->reference = arguments[2];
    for (int i = 6; i < count; i += 2) {
        if (!strcmp(arguments[i], "--metrics"))
            options->metrics = arguments[i + 1];
        else if (!strcmp(arguments[i], "--log"))
            options->log_path = arguments[i + 1];
        else
            return 0;
    }
    return qc_format_from_name(arguments[5], atoi(arguments[3]), atoi(arguments[4]), &options->format) == QC_OK;
}

/** Opens the file and points the picture's planes into a buffer for one frame. */
static int open_video(Video* video, const char* path, const qc_format* format) {
    size_t offset[3] = {0};
    int planes = 0, rows;
    int64_t row_bytes;

    video->path = path;
    while (qc_format_plane(format, planes, &row_bytes, &rows) == QC_OK) {
        offset[planes] = video->frame_bytes;
        video->picture.pitch_bytes[planes++] = (ptrdiff_t)row_bytes;
        video->frame_bytes += (size_t)row_bytes * (size_t)rows;
    }
    video->frame = malloc(video->frame_bytes);
    video->file = fopen(path, "rb");
    if (!video->file) perror(path);
    if (!video->frame) fprintf(stderr, "score_yuv: no memory for a frame of %zu bytes\n", video->frame_bytes);
    for (int p = 0; p < planes && video->frame; p++) video->picture.plane[p] = video->frame + offset[p];
    return video->file && video->frame;
}

static void close_video(Video* video) {
    if (video->file) fclose(video->file);
    free(video->frame);
}

/** @return 1: a frame, 0: the end, -1: a frame that is cut, or a file that cannot be read */
static int read_frame(Video* video) {
    const size_t bytes = fread(video->frame, 1, video->frame_bytes, video->file);
    if (bytes == video->frame_bytes) return 1;
    if (ferror(video->file))
        perror(video->path);
    else if (bytes)
        fprintf(stderr, "score_yuv: %s ends within a frame: %zu of its %zu bytes are there\n", video->path, bytes,
                video->frame_bytes);
    return bytes || ferror(video->file) ? -1 : 0;
}

/** Prints the rows that are finished. @return QC_AGAIN or QC_END when there are no more for now, or a failure */
static qc_status print_rows(qc_session* session) {
    qc_row row;
    qc_status status;
    while ((status = qc_session_receive(session, 0, &row)) == QC_OK) {
        printf("frame %" PRId64, row.frame);
        for (int i = 0; i < qc_session_feature_count(session); i++) {
            qc_feature feature;
            if (row.present[i] && qc_session_feature(session, i, &feature) == QC_OK)
                printf(" %s:%.6f", feature.name, row.value[i]);
        }
        printf("\n");
    }
    return status;
}

static void print_pooled(qc_session* session) {
    for (int i = 0; i < qc_session_feature_count(session); i++) {
        qc_feature feature;
        if (qc_session_feature(session, i, &feature) != QC_OK) continue;
        printf("pooled %s", feature.name);
        for (int pool = QC_POOL_MEAN; pool <= QC_POOL_MAX; pool++) {
            double value;
            if (qc_session_pooled(session, 0, i, (qc_pool)pool, &value) == QC_OK)
                printf(" %s:%.6f", qc_pool_name((qc_pool)pool), value);
        }
        printf("\n");
    }
}

/** Host memory: the library has copied a frame when qc_session_submit() returns, so one buffer a file is enough. */
static int score(qc_session* session, Video* distorted, Video* reference) {
    const qc_frame frame = {.reference = reference->picture, .distorted = {distorted->picture}};
    qc_status status = QC_OK;
    int have_reference, have_distorted;
    for (;;) {
        have_reference = read_frame(reference);
        have_distorted = read_frame(distorted);
        if (have_reference != 1 || have_distorted != 1) break;
        status = qc_session_submit(session, &frame);
        if (status >= 0) status = print_rows(session);
        if (status < 0) break;
    }
    if (status >= 0) status = qc_session_flush(session);
    if (status >= 0) status = print_rows(session);
    if (status < 0) fprintf(stderr, "score_yuv: %s\n", qc_session_error(session));
    if (status == QC_END && qc_session_scored_frames(session) == 0) {
        fprintf(stderr, "score_yuv: no frame was scored\n");
        return 0;
    }
    if (status >= 0 && have_reference + have_distorted == 1)
        fprintf(stderr, "score_yuv: %s has fewer frames than the other file\n",
                have_reference ? distorted->path : reference->path);
    print_pooled(session);
    return status == QC_END && have_reference == 0 && have_distorted == 0;
}

static void print_message(void* opaque, qc_log_level level, const char* text) {
    (void)opaque;
    if (level <= QC_LOG_WARNING) fprintf(stderr, "score_yuv: %s\n", text);
}

int main(int count, char** arguments) {
    Options options = {0};
    Video distorted = {0}, reference = {0};
    qc_session* session = NULL;
    qc_config config = {.struct_size = sizeof(config)};
    qc_error error;
    int good = 0;

    if (!parse_options(count, arguments, &options)) return usage(count > 1 ? "wrong arguments" : NULL);
    if (qc_abi_version() != QC_ABI_VERSION) {
        fprintf(stderr, "score_yuv: compiled for ABI %d, but the library has %d\n", QC_ABI_VERSION, qc_abi_version());
        return 1;
    }
    config.reference = config.distorted[0] = options.format;
    config.metrics = options.metrics;
    config.log = print_message;
    if (qc_session_create(&config, &session, &error) != QC_OK) {
        fprintf(stderr, "score_yuv: %s\n", error.text);
        return 1;
    }
    fprintf(stderr, "score_yuv: %s\n", qc_session_description(session));
    if (open_video(&distorted, options.distorted, &options.format) &&
        open_video(&reference, options.reference, &options.format))
        good = score(session, &distorted, &reference);
    if (options.log_path &&
        qc_session_write_log(session, 0, options.log_path, QC_LOG_FORMAT_JSON, good, NULL, 0) != QC_OK) {
        fprintf(stderr, "score_yuv: %s\n", qc_session_error(session));
        good = 0;
    }
    qc_session_destroy(session);
    close_video(&distorted);
    close_video(&reference);
    return good ? 0 : 1;
}
