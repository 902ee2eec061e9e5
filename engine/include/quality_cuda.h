/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * quality_cuda: full-reference video quality metrics on the GPU, or on the CPU where there is none.
 *
 * The way of a frame (examples/score_yuv.c is a whole program):
 *
 *     qc_session_create -> qc_session_submit* -> qc_session_flush -> qc_session_write_log -> qc_session_destroy
 *                              \-> qc_session_receive* (scores leave in submission order; QC_END after the last)
 *
 * Two still pictures take one call, qc_score() (examples/score_png.c). Scores that were computed elsewhere become those of
 * a model by qc_session_import(). qc_check() says what is wrong with a wish before there are any pictures.
 *
 * Front ends that hold decoders, logs and live output around it find more in quality_cuda_run.h.
 *
 * Thread-safety: a session may be used from any one thread at a time; different sessions are independent. Functions that
 * take no session may be called from anywhere.
 *
 * Errors: every function that can fail returns a qc_status; those below zero are failures. A call that is refused for its
 * arguments changes nothing. A failure of the scoring itself stays: the same status comes back from every later submit,
 * flush and break; what was scored before can still be received, pooled and written. The library never aborts, never exits,
 * and throws nothing across this boundary, where memory or threads are exhausted neither. A null session or a null result is
 * QC_ERROR_INVALID (0, "" or nothing from functions that return no status).
 *
 * Functions of the caller's (release, log) may ask the session that calls them, but not drive it: submit, import, receive,
 * score, collect, break and flush are QC_ERROR_INVALID there and change nothing (a frame's release is called all the same),
 * and the session must not be destroyed. Other sessions are free.
 *
 * Strings handed out live until the session is destroyed, or until the next call on it where said; those of functions
 * without a session live as long as the library.
 *
 * ABI. Within one QC_ABI_VERSION, which is the number in the library's soname too, programs and libraries of different
 * ages work together (docs/design/abi.md has the reasons and the rules for changes):
 *
 * - qc_config begins with its struct_size, which the caller sets to sizeof(), and grows at its end only. A smaller one of
 *   an older caller is accepted: what it lacks is 0. A larger one of a newer caller is accepted if all bytes beyond this
 *   library's are 0, so initialise the whole struct with zeros.
 * - All other structs keep their size. Those that may need more have fields called reserved: in what the caller fills they
 *   must be 0, in what the library fills they are 0.
 * - Zero is every field's default, for fields to come too.
 * - Functions and enumerators may be added; none is removed, renumbered or changed in meaning. A status that a program
 *   does not know is a failure if it is below zero.
 */
#ifndef QUALITY_CUDA_H
#define QUALITY_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "quality_cuda/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QC_API __attribute__((visibility("default")))
#else
#define QC_API
#endif

/** Grows by one with every incompatible change; compare with qc_abi_version(), which must be equal. */
#define QC_ABI_VERSION 5

typedef QC_ENUM(qc_backend) {
    QC_BACKEND_AUTO = 0, QC_BACKEND_CUDA = 1, QC_BACKEND_CPU = 2,
    QC_BACKEND_RECORDED = 3, /**< measures nothing: frames come by qc_session_submit_measured() (quality_cuda_run/engine.h) */
    QC_BACKEND_IMPORTED = 4  /**< sees no pictures: models predict from what qc_session_import() hands in */
} qc_backend;

/** Of pictures as they are stored. The last three are scored as 4:2:0, 4:2:2 and 4:4:4, each chroma sample repeated. */
typedef QC_ENUM(qc_chroma) {
    QC_CHROMA_400 = 0, QC_CHROMA_420 = 1, QC_CHROMA_422 = 2, QC_CHROMA_444 = 3,
    QC_CHROMA_410 = 4, QC_CHROMA_411 = 5, QC_CHROMA_440 = 6
} qc_chroma;

typedef QC_ENUM(qc_memory) { QC_MEMORY_HOST = 0, QC_MEMORY_CUDA = 1 } qc_memory;

typedef QC_ENUM(qc_log_level) { QC_LOG_ERROR = 0, QC_LOG_WARNING = 1, QC_LOG_INFO = 2, QC_LOG_DEBUG = 3 } qc_log_level;

typedef QC_ENUM(qc_pool) {
    QC_POOL_MEAN = 0,
    QC_POOL_HARMONIC_MEAN = 1, /**< n / sum(1 / (score + 1)) - 1 */
    QC_POOL_MIN = 2, QC_POOL_MAX = 3,
    QC_POOL_P1 = 4, QC_POOL_P5 = 5, QC_POOL_P10 = 6, QC_POOL_P50 = 7, /**< percentiles, linear between ranks */
    QC_POOL_STDDEV = 8, /**< of the population */
    QC_POOL_COUNT
} qc_pool;

/** Lines of one frame's scores as other tools write them, for programs that read theirs (quality_cuda_run/engine.h). */
typedef QC_ENUM(qc_stats_format) {
    QC_STATS_FORMAT_NONE = 0,
    QC_STATS_FORMAT_PSNR = 1, /**< "n:1 mse_avg:0.52 mse_y:0.67 ... psnr_avg:50.97 ...", as FFmpeg's filter psnr */
    QC_STATS_FORMAT_SSIM = 2, /**< "n:1 Y:0.987654 All:0.987654 (19.084846)", as FFmpeg's filter ssim writes it for gray
                                   pictures: the score is of luma alone */
    QC_STATS_FORMAT_COUNT
} qc_stats_format;

/**
 * How the samples of a picture lie in memory.
 *
 * | layout                  | container_bits | depth     | shift | semi_planar | pixel_step |
 * |-------------------------|----------------|-----------|-------|-------------|------------|
 * | yuv420p, gray, ...      | 8              | 8         | 0     | 0           | 0          |
 * | yuv4xxp10le, ...        | 16             | 9..16     | 0     | 0           | 0          |
 * | nv12, nv16 / nv21, nv42 | 8              | 8         | 0     | 1 / 2       | 0          |
 * | p010 / p012 / p016      | 16             | 10/12/16  | 6/4/0 | 1           | 0          |
 * | yuv444p10msb            | 16             | 10        | 6     | 0           | 0          |
 * | rgb24, vyu444 / ayuv    | 8              | 8         | 0     | 0           | 3 / 4      |
 * | yuyv422 / y210          | 8 / 16         | 8 / 10    | 0 / 6 | 0           | 4          |
 * | ya8, ya16               | 8 / 16         | 8 / 16    | 0     | 0           | 2          |
 * | x2rgb10, v30x           | 32             | 10        | 0     | 0           | 1          |
 *
 * Samples of 8 bits lie in bytes, others in the depth bits above shift of 16-bit words; the bits below are ignored, those
 * above must be 0. Planes hold ceil(width / 2) chroma columns where chroma is halved, and so for rows (of 4:1:1,
 * ceil(width / 4)); like libvmaf, most metrics use only the first floor(width / 2).
 *
 * RGB: rgb is 1, chroma is 4:4:4. Planar pictures have their planes in the order G, B, R (gbrp, gbrp10le ...).
 *
 * Packed pictures have one plane: pixel_step samples from pixel to pixel, of 4:2:2 from one pair of pixels to the next.
 * Y, Cb, Cr (G, B, R) lie at sample_offset[0..2], 0..pixel_step-1. Of 4:2:2, the first Y lies at 0 or 1, the second two behind
 * it. Where a pixel is one word of 32 bits, these are the lowest bits of the samples. An alpha channel is not looked at.
 */
typedef struct qc_format {
    int width, height;  /**< luma samples, visible picture, 1..32768; metrics may want more, see docs/reference/metrics.md */
    qc_chroma chroma;
    int depth;          /**< significant bits of a sample: 8, 9, 10, 12, 14 or 16 */
    int shift;          /**< unused low-order bits of the container, 0..container_bits-depth: 6 for p010 */
    int container_bits; /**< 8 for a depth of 8, otherwise 16; 32 where a pixel is one word */
    int semi_planar;    /**< 1: plane 1 interleaves Cb and Cr, 2: Cr and Cb; 0: they have planes of their own */
    int rgb;            /**< 1: red, green and blue instead of luma and chroma; some metrics accept it; 0: not */
    int pixel_step;     /**< packed pictures: samples from pixel to pixel, 1..4; otherwise 0 */
    int sample_offset[3]; /**< packed pictures: position of Y, Cb and Cr, or G, B and R; otherwise ignored */
    qc_colour colour;   /**< what the picture's tags say; read by metrics that look at colours */
    int big_endian;     /**< 1: words have their most significant byte first; 0: their least */
    int reserved[6];    /**< 0 */
} qc_format;

/** One picture. Its layout is the qc_format that was declared for its input at creation. */
typedef struct qc_picture {
    const void *plane[3];       /**< first sample of each plane, at a multiple of the container's bytes; plane[0] NULL: this
                                     input has no picture for this frame. Chroma planes may be NULL if no metric of the
                                     session needs chroma */
    ptrdiff_t pitch_bytes[3];   /**< from row to row, a multiple of the container's bytes: the bytes of a row..INT_MAX, or the
                                     same below zero for host memory whose rows run upwards. Looked at, as plane is, for
                                     planes that are read */
    qc_memory memory;           /**< where the planes lie; the CPU backend takes host memory only */
    void *cuda_stream;          /**< CUDA memory only: stream the producer enqueued its writes on (a CUstream; NULL is
                                     the context's legacy default stream). The engine waits for it on the device. */
    int64_t reserved[4];        /**< 0 */
} qc_picture;

/**
 * One frame: what qc_session_submit() hands over. Fill it with zeros first; it is looked at during the call only, the memory
 * that its pictures point to as long as said here.
 */
typedef struct qc_frame {
    qc_picture reference;       /**< always there */
    qc_picture distorted[QC_MAX_RENDITIONS]; /**< of each rendition; plane[0] NULL: it has no picture for this frame, as all
                                     beyond config.renditions */
    qc_picture weights;         /**< where config.weights is 1, otherwise without planes: a plane of bytes, one for each luma sample
                                     of what is scored (scaled, or cut to the region). 255 counts whole, 0 not at all. Its
                                     plane[0], pitch_bytes[0], memory and cuda_stream are looked at. It is read when the
                                     pictures are, and may lie where they do not */
    qc_picture map;             /**< plane[0] NULL, or a picture that is to show where the pair of config.map_rendition is bad.
                                     It is painted when the frame's row has been received, black where the frame has no
                                     scores; where the scoring failed it is undefined. Its memory has to stay until then, or
                                     until qc_session_destroy(). Pitches of CUDA memory are positive, and what cuda_stream
                                     holds at the time of the call comes before the painting */
    void (*release)(void *opaque); /**< called exactly once when the pictures may be overwritten, in the thread of a call on
                                     the session: before qc_session_submit() returns if the frame is refused, or if all
                                     pictures lie in host memory and config.hold_pictures is 0, otherwise by this or a later call
                                     (qc_session_collect() exists for it), at the latest by qc_session_destroy(). NULL:
                                     nobody is told; pictures in host memory are copied */
    void *opaque;               /**< what release gets */
    int64_t reserved[8];        /**< 0 */
} qc_frame;

/** @param text one line without its end, valid during the call */
typedef void (*qc_log_callback)(void *opaque, qc_log_level level, const char *text);

/** What to score and how. Zero-initialise it, set struct_size and the formats; every other field's zero is its documented
 *  default. All strings may be NULL. Only cuda_context and what the log callback needs outlive the call it is given to. */
typedef struct qc_config {
    size_t struct_size;          /**< sizeof(qc_config), see the rules at the head of this file */

    qc_format reference;         /**< layout of the reference pictures; see qc_format_from_name() */
    int renditions;              /**< distorted pictures per reference, 1..QC_MAX_RENDITIONS; 0 means 1 */
    qc_format distorted[QC_MAX_RENDITIONS]; /**< layout of each; chroma must equal the reference's if a metric needs it, and
                                                the size unless `scaling` says how to change it. Of different depths,
                                                inputs are scored at the largest; `convert` says what becomes of other
                                                ranges, and of RGB beside what is not */
    double frame_rate;           /**< nominal, of the distorted input, frames per second, not negative and finite; 0: unknown */
    int bitdepth;                /**< 10: inputs of 8 bits are scored at 10 bits, samples shifted left by 2, as the
                                      documentation of VMAF v1 recommends; inputs of more bits stay as they are.
                                      0: as the inputs are. Nothing else is accepted */

    const char *metrics;         /**< names joined by '|' or '+', e.g. "vmaf|psnr"; NULL: "vmaf", that is
                                      the models of `model`, as libvmaf's own filter does. Short names are accepted too
                                      (qc_metric_short_name()). "all": every metric, and, unless `model` says otherwise,
                                      vmaf_v0.6.1 as "vmaf" and the model "auto" as "vmaf_v1". Where `model` is given
                                      its models are scored too, whether "vmaf" is among the names or not */
    const char *model;           /**< libvmaf's syntax: models joined by '|', each "version=NAME" or "path=FILE" with
                                      further ":key=value" (name, enable_transform, disable_clip, FEATURE.OPTION=VALUE);
                                      a bare model name or path is accepted too. The name "auto" takes the VMAF v1
                                      model that fits the scored size and frame_rate, and logs which. NULL:
                                      "version=vmaf_v0.6.1" when metrics contain vmaf */
    const char *feature;         /**< further metrics in libvmaf's syntax: "name=psnr|name=vif:vif_enhn_gain_limit=1" */
    const char *options;         /**< "METRIC.OPTION=VALUE|..." for the metrics of `metrics` */
    qc_stats_format stats_format;/**< qc_session_stats_line() will be asked for such lines: the metric they need has to
                                      be among `metrics` and is configured for it. One rendition only */
    int n_subsample;             /**< score every n-th frame only, from the first on, 1..INT_MAX; 0 means 1 */
    int skip_unsupported;        /**< 1: a metric that does not accept these pictures (too small, RGB, ...) is left out
                                      with a warning, and so is a model that needs it; 0: the session is refused */

    qc_backend backend;          /**< AUTO takes the CPU, with a warning, where there is no usable GPU and no cuda_context */
    int device;                  /**< index of the GPU when cuda_context is NULL, 0..1024 */
    void *cuda_context;          /**< a CUcontext to work in (borrowed, must outlive the session), or NULL */
    int n_threads;               /**< 1..1024. Of the CPU backend, 0: one per core; of the CUDA backend for copying software
                                      frames to page-locked memory, 0: half of the cores, at most 4 */
    int batch;                   /**< CUDA: most pairs per batch, 1..64, but never less than one frame with all its
                                      renditions; 0: 16 */
    int slots;                   /**< 1..2048. CUDA: batches in flight, 0: 3. CPU: frames in flight, 0: 2 x threads. With
                                      batch and slots 0, and too little device memory, batches of one frame and 2 slots */
    int latency_first;           /**< CUDA: 1: a batch leaves as soon as the GPU is idle; 0: as soon as it is full, or when
                                      the caller waits for a row */

    qc_log_callback log;         /**< called during qc_session_create() and calls on the session, in their thread; NULL:
                                      nobody listens */
    void *log_opaque;

    int selftest;                /**< CUDA: 1: before the first frame, the GPU scores small known pictures with all that is
                                      asked for; QC_ERROR_DEVICE if the CPU disagrees. 0: it is trusted */

    qc_scaling scaling;          /**< how pictures are scaled whose size is not the one that is scored; by a factor of at most
                                      16, and with their chroma sited as their format's colour says (not known: left) */
    int scoring_width, scoring_height; /**< size that is scored, 1..32768, both or neither, with scaling only; 0: the
                                            reference's. Of another aspect ratio than the pictures', they are
                                            distorted: what is square is the caller's knowledge */

    int watch_contents;          /**< 1: watches whether the pictures of a pair show the same moment, see
                                      qc_session_finding(); changes no score. 2: does nothing else: whatever is asked for,
                                      nothing is scored, and rows are empty; pictures with less than 8 rows or columns
                                      are QC_ERROR_UNSUPPORTED then. 0: it is not looked at */

    int roi_x, roi_y, roi_width, roi_height; /**< a region of interest in luma samples of the scored picture: it is scored as
                                                  if the pictures were cut to it (scaled before, where they are). It has to
                                                  lie in the picture, and to begin at a chroma sample: at multiples of 2
                                                  where chroma is halved. All 0: the whole picture */

    int map_rendition;           /**< whose map it is, 0..renditions - 1 */
    const char *maps;            /**< a metric whose map pictures are painted of, see qc_frame.map: a name of
                                      qc_map_name(), a short name, or NULL for none. With the options of the metric's first
                                      instance where the metric is scored, otherwise with their defaults, and no scores */
    qc_map_layout map_layout;    /**< of these pictures, whose size is that of what is scored */
    qc_map_colours map_colours;
    qc_memory map_memory;        /**< where they lie; on the CPU backend they lie in host memory, whatever this says */
    int weights;                 /**< 1: every frame comes with weights (qc_frame.weights), and scores are weighted means;
                                      metrics that have none are QC_ERROR_UNSUPPORTED, in a line that lists those that
                                      have. 0: none does */
    double map_white;            /**< value that is painted white, above 0; 0: the metric's own, qc_map_white() */
    int hold_pictures;           /**< 1: pictures in host memory are held until their release, too, maybe by a later call: the CPU
                                      backend reads them where they lie, or makes of them what is scored when it is wanted, by
                                      the thread that wants it. 0: copies them at once, in the caller's thread */
    qc_convert convert;          /**< what is done with pictures whose samples stand for something else than the reference's */
} qc_config;

/** Text of a failure where there is no session to ask: one line; "" after a success. */
typedef struct qc_error { char text[1024]; } qc_error;

/** Scores of one frame; pointers are valid until the next call on the session. Of each rendition all values are present or
 *  none: none where its picture was missing, n_subsample skipped the frame, or its weights left nothing to be scored. */
typedef struct qc_row {
    int64_t frame;                /**< index in submission order, from 0 */
    const double *value;          /**< [renditions][feature count]; NaN where not present */
    const unsigned char *present; /**< same shape; 1 where the value was computed, otherwise 0 */
    int64_t weightless;           /**< bit k: rendition k has no scores because the weights left nothing to be scored */
    int64_t reserved[4];          /**< 0 */
} qc_row;

/** One score that a session produces. */
typedef struct qc_feature {
    const char *name, *key; /**< as in libvmaf's log, "integer_vif_scale0"; as lower-case metadata key without prefix */
    int is_model;     /**< 1: prediction of a model (or of a bootstrap collection); 0: score of a metric */
    int reserved[11]; /**< 0 */
} qc_feature;

typedef QC_ENUM(qc_option_type) {
    QC_OPTION_BOOL = 0,   /**< "true" or "false" */
    QC_OPTION_INT = 1,    /**< a whole number */
    QC_OPTION_DOUBLE = 2,
    QC_OPTION_CHOICE = 3, /**< one of the words of qc_metric_option_choice(), which numbers count from 0 */
    QC_OPTION_TEXT = 4    /**< e.g. a path; the default is "" */
} qc_option_type;

/** One option of a metric, for `options`, `feature` and `model`. */
typedef struct qc_option {
    const char *name, *help; /**< "adm_enhn_gain_limit"; what it does, in a line or a few words */
    const char *alias;       /**< how the names of scores show that it is not at its default, "egl"; "" if they never do */
    qc_option_type type;
    int choices;             /**< QC_OPTION_CHOICE: how many; otherwise 0 */
    double minimum, maximum; /**< accepted, both included; 0 for choices and text */
    double default_value;    /**< 0 or 1 for QC_OPTION_BOOL, its number for QC_OPTION_CHOICE, 0 for text. Beyond the range where
                                  an option that is not given means what no number says, e.g. the picture's own size */
    int64_t reserved[4];     /**< 0 */
} qc_option;

typedef struct qc_session qc_session;

QC_API int qc_abi_version(void);     /**< the library's QC_ABI_VERSION */
QC_API const char *qc_version(void); /**< "MAJOR.MINOR.PATCH" */

/** Names for messages and help: the metrics, beside "vmaf" and "all", that `metrics` accepts. NULL past the end. */
QC_API const char *qc_metric_name(int index);
QC_API const char *qc_metric_summary(int index); /**< what it is, in one line */
/** Short name that `metrics` and `options` accept too, "" if there is none; metrics may share it. NULL past the end. */
QC_API const char *qc_metric_short_name(int index);
/**
 * The options of a metric, in its own order.
 * @param metric index of qc_metric_name()
 * @return QC_END past the last option, QC_ERROR_INVALID for a metric that does not exist or an index below 0
 */
QC_API qc_status qc_metric_option(int metric, int index, qc_option *option);
/** A word that an option of type QC_OPTION_CHOICE accepts; NULL past the end, and for what is no such option. */
QC_API const char *qc_metric_option_choice(int metric, int option, int index);
/** What `maps` accepts: metrics that have a map, and "difference". NULL past the end. */
QC_API const char *qc_map_name(int index);
QC_API const char *qc_map_unit(int index);  /**< what a value of that map is, e.g. "1 - ssim"; NULL past the end */
QC_API double qc_map_white(int index);      /**< the value that is white unless config.map_white says another; 0 past the end */
/** Built-in models that `model` accepts, beside "auto". NULL past the end. */
QC_API const char *qc_model_name(int index);
/** Parses "mean", "harmonic_mean", "min", "max", "p1", "p5", "p10", "p50", "stddev"; otherwise @return QC_ERROR_INVALID */
QC_API qc_status qc_pool_parse(const char *text, qc_pool *pool);
QC_API const char *qc_pool_name(qc_pool pool); /**< the word that qc_pool_parse() takes; NULL for no method */

/**
 * The layout that FFmpeg calls by this name: its integer formats of 8 to 16 bits, gray, YUV and RGB, planar, semi-planar and
 * packed ("gray10le", "yuv420p10be", "nv12", "p010le", "yuyv422", "gbrp", "rgb24", "x2rgb10le" ...). Without its end "le" a
 * name means the same. An alpha channel is not looked at. A yuvj name is tagged as of full range; all other tags are unknown.
 * @param format filled; unchanged where that fails. Width and height are checked where the format is used
 * @return QC_ERROR_UNSUPPORTED for a name that FFmpeg does not have, and for formats that the engine does not read
 */
QC_API qc_status qc_format_from_name(const char *name, int width, int height, qc_format *format);
/** FFmpeg's name for a layout, whatever its size and tags: "yuv420p10le". NULL if it has none. */
QC_API const char *qc_format_name(const qc_format *format);
/**
 * How much memory one plane of a picture takes, for programs that allocate it or read it from a file.
 * @param row_bytes, rows of the plane, without padding; unchanged where that fails; may be NULL
 * @return QC_END past the last plane, QC_ERROR_INVALID below 0, and what a session says of such a format
 */
QC_API qc_status qc_format_plane(const qc_format *format, int plane, int64_t *row_bytes, int *rows);

/**
 * Checks the configuration, chooses the backend, loads models and takes the device memory that scoring needs, except for
 * uploads: their buffers are taken with the first frames in host memory.
 * @param session the session, or NULL on failure
 * @param error filled with one line that names the option, the value and what would be accepted; may be NULL.
 * @return QC_ERROR_INVALID, QC_ERROR_UNSUPPORTED, QC_ERROR_NO_DEVICE, QC_ERROR_NO_MEMORY, QC_ERROR_DEVICE, QC_ERROR_IO (a
 *         model's file)
 */
QC_API qc_status qc_session_create(const qc_config *config, qc_session **session, qc_error *error);

/**
 * Whether there is what a configuration asks for: its metrics, their options, models and their files, and whether its numbers
 * are in range. Formats are not looked at, nor what metrics say of pictures. Opens no device, logs nothing.
 * @param error as in qc_session_create()
 * @return QC_OK, QC_ERROR_INVALID, QC_ERROR_IO (a model's file), QC_ERROR_NO_MEMORY
 */
QC_API qc_status qc_check(const qc_config *config, qc_error *error);

/**
 * The same, and what qc_session_create() would refuse of the pictures' formats before it looks for a device: lets a program
 * fail before the first frame is decoded. Logs nothing. @return as qc_session_create(), except for what devices do
 */
QC_API qc_status qc_config_check(const qc_config *config, qc_error *error);

/** Waits for work in flight, calls outstanding releases, frees everything. NULL is allowed. Not from release or log. */
QC_API void qc_session_destroy(qc_session *session);
/** Backend, device and memory of the session in one line. */
QC_API const char *qc_session_description(const qc_session *session);
QC_API qc_backend qc_session_backend(const qc_session *session); /**< the one that was chosen, never AUTO */
/** Text of the last call on the session that failed, "" if none did; until the next call. */
QC_API const char *qc_session_error(const qc_session *session);
/** Scores per rendition, the same for all: metrics' first, then models'. */
QC_API int qc_session_feature_count(const qc_session *session);
/** @return QC_ERROR_INVALID for an index outside 0..feature count - 1 */
QC_API qc_status qc_session_feature(const qc_session *session, int index, qc_feature *feature);

/**
 * Hands over one frame. Waits only while all slots are taken.
 * @return QC_ERROR_INVALID for a missing reference, a picture that does not fit its format's rules, weights where the
 *         configuration has none or none where it has, a map where it names none, a frame after the flush, or one from
 *         within release or log, all without effect on the session; otherwise the session's failure
 */
QC_API qc_status qc_session_submit(qc_session *session, const qc_frame *frame);

/**
 * With QC_BACKEND_IMPORTED, in the place of pictures: one value of one frame, in any order of features and frames. Models
 * predict as soon as they have all that they read, and rows come as ever, in the order of frames, with the values and the
 * predictions. Such a session takes models only (`metrics` NULL or "vmaf"), and its features are what these models read;
 * formats may be left 0, "auto" takes its model by the reference's size and frame_rate where they are given. What
 * n_subsample skips is ignored. The flush leaves frames that lack a value without scores.
 * @param feature a name of qc_feature, "integer_adm2", or that by which models ask for it, "VMAF_integer_feature_adm2_score"
 * @param frame from 0, up to 2^20 beyond the first one that lacks a value: those before it are waited for
 * @return QC_ERROR_INVALID for another backend, a rendition or a frame out of range, a feature that no model reads, a value
 *         that is there already (it stays) and behind the flush; otherwise the session's failure
 */
QC_API qc_status qc_session_import(qc_session *session, int rendition, const char *feature, int64_t frame, double value);

/**
 * Next finished row, in order. A row is finished when no later frame can change it (motion2 waits for the next frame).
 * @param wait 0: never block. 1: block for the row's computation, but do not wait for frames not yet submitted.
 * @return QC_OK, QC_AGAIN (nothing is final yet), QC_END (flushed and drained), or the failure, after all rows that were
 *         finished before it have been handed out
 */
QC_API qc_status qc_session_receive(qc_session *session, int wait, qc_row *row);
/** Calls the release functions of pictures that the device has finished reading; never blocks. */
QC_API void qc_session_collect(qc_session *session);

/**
 * The next frame does not follow the last one in time: rows that wait for a later frame are completed as at the end of a
 * stream, and the next frame is scored as the first of one (nothing is compared across the break). Pooling, counts and
 * stream-level values go on; only those of metrics that look at earlier frames are of what follows the last break. Does
 * not wait: the rows come from qc_session_receive(). Before the first frame, after the flush and twice in a row it does
 * nothing.
 */
QC_API qc_status qc_session_break(qc_session *session);

/** No more frames will come: completes every row; qc_session_receive() hands them out. A second flush does nothing. */
QC_API qc_status qc_session_flush(qc_session *session);

/**
 * Pooled value of a feature over the frames scored so far (received or not).
 * @return QC_ERROR_INVALID for a rendition, feature or method that does not exist, and before the first scored frame;
 *         QC_ERROR_IO if earlier scores, which lie in a temporary file, cannot be read
 */
QC_API qc_status qc_session_pooled(qc_session *session, int rendition, int feature, qc_pool pool, double *value);
/**
 * The same over a stretch of frames: the scored ones among those from first up to, but without, end.
 * @param first,end indices in submission order; end may lie beyond the last frame
 * @return as qc_session_pooled(); QC_ERROR_INVALID also for a first below 0, an end below it, and a stretch without a scored
 *         frame
 */
QC_API qc_status qc_session_pooled_between(qc_session *session, int rendition, int feature, qc_pool pool, int64_t first,
                                           int64_t end, double *value);

/**
 * The score of any frame, as often as it is asked for, before the flush and behind it, whether its row was received or not.
 * Waits for its computation, but not for frames that were not submitted yet.
 * @param value the score; NaN where the frame has none, as in qc_row
 * @return QC_AGAIN for a frame that waits for a later one, or was not submitted yet. QC_END behind the flush for one that was
 *         never submitted. QC_ERROR_INVALID for a rendition or feature that does not exist, and a frame below 0;
 *         the session's failure for a frame that it left unfinished; QC_ERROR_IO as in qc_session_pooled()
 */
QC_API qc_status qc_session_score(qc_session *session, int rendition, int feature, int64_t frame, double *value);
/** Frames scored so far (received or not), of the rendition that has most. */
QC_API int64_t qc_session_scored_frames(const qc_session *session);
/** Stream-level values such as apsnr_y, after the flush; the name lives until the next call.
 *  @return QC_END past the last, QC_ERROR_INVALID for a rendition that does not exist or a negative index */
QC_API qc_status qc_session_aggregate(qc_session *session, int rendition, int index, const char **name, double *value);

/** Layouts of libvmaf's reports. */
typedef QC_ENUM(qc_log_format) {
    QC_LOG_FORMAT_JSON = 0, /**< all there is to say, see qc_session_write_log() */
    QC_LOG_FORMAT_XML = 1,  /**< frames, pooled values, stream-level values, "complete", what the front end adds */
    QC_LOG_FORMAT_CSV = 2, QC_LOG_FORMAT_SUB = 3, /**< frames only; SUB: as MicroDVD subtitles */
    QC_LOG_FORMAT_COUNT
} qc_log_format;
/** Parses a log format's name: "json", "xml", "csv", "sub". @return QC_ERROR_INVALID for anything else. */
QC_API qc_status qc_log_format_parse(const char *text, qc_log_format *format);

/** Key and raw JSON value pairs that the front end adds to the head of a JSON or XML log. */
typedef struct qc_log_extra {
    const char *key;        /**< without quotes */
    const char *json_value; /**< has to be JSON: a string with its quotes */
} qc_log_extra;

/**
 * Writes the report of one rendition (libvmaf's layout) to a temporary name beside path and renames it into place, with
 * mode and owner of the file that was there. What must not be replaced is written in place: symbolic links, files with
 * several hard links, those that cannot be renamed over, devices, pipes, and this process's open descriptors by their
 * names (/dev/stdout, /dev/fd/N). A named pipe has to find a reader within 5 seconds, and keep reading.
 * @param complete 0 marks the run as incomplete ("complete": false); so does a session that failed or was not flushed
 * @param extra extra_count pairs, looked at for JSON and XML only (XML has room for plain values, and for objects of such);
 *        may be NULL if extra_count is 0
 * @return QC_ERROR_INVALID for a rendition or format that does not exist, a count below 0, or a value that is not JSON:
 *         what was at path stays then. QC_ERROR_IO if path cannot be written: the scores lie in a file of another name
 *         then, beside path or in $TMPDIR, which qc_session_error() names unless there was no place for that either
 */
QC_API qc_status qc_session_write_log(qc_session *session, int rendition, const char *path, qc_log_format format,
                                      int complete, const qc_log_extra *extra, int extra_count);

/** Scores by their names. */
typedef struct qc_scores qc_scores;

/**
 * Scores one pair of still pictures: a session of one frame, opened, flushed and gone within the call.
 * @param config one rendition; its log is called during the call
 * @param frame the pictures, and weights and a map where config has them; its release is called before the call returns
 * @param scores what the pair scores, then what a metric says of a whole video; NULL on failure. To be destroyed
 * @param error as in qc_session_create()
 * @return as qc_session_create() and qc_session_submit(); QC_ERROR_INVALID also for more renditions than one and for a
 *         pair that has no scores
 */
QC_API qc_status qc_score(const qc_config *config, const qc_frame *frame, qc_scores **scores, qc_error *error);
/** Name of one of them, as in qc_feature and qc_session_aggregate(); NULL past the end. Lives as long as the scores. */
QC_API const char *qc_scores_name(const qc_scores *scores, int index);
QC_API double qc_scores_value(const qc_scores *scores, int index); /**< NaN past the end */
/** The one of a name. @return QC_ERROR_INVALID if there is none: value stays as it is */
QC_API qc_status qc_scores_find(const qc_scores *scores, const char *name, double *value);
QC_API void qc_scores_destroy(qc_scores *scores); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_H */
