/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What front ends ask of the engine beside quality_cuda.h: requests that are checked before there are pictures, frames
 * that other sessions measured, what the pictures tell of the pairing, lines and counts for reports. A program that
 * scores pictures needs nothing of it.
 *
 * The rules of quality_cuda.h hold here too, but one: this may change with each minor version of the library. Of qc_stats,
 * which begins with its struct_size, no more than struct_size bytes are written. What a release or log function must not
 * call is also continue_on_cpu, truncate, submit_measured and on_measured.
 */
#ifndef QUALITY_CUDA_RUN_ENGINE_H
#define QUALITY_CUDA_RUN_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "quality_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- requests ---- */

/**
 * What the strings of a configuration ask for. They are parsed, and model files read, once, by qc_request_create(); a front
 * end that learns of its pictures later asks the request instead of the strings again. A request is not changed by what is
 * done with it: it may be used from several threads, and for several sessions, which do not need it once they are open.
 */
typedef struct qc_request qc_request;

/**
 * Reads metrics, model, feature, options, stats_format, renditions, n_subsample and skip_unsupported, and checks the other
 * numbers. Lets a front end fail before the pictures are known: formats, and what the metrics say of them, are not looked
 * at. Logs nothing.
 * @param request the request, or NULL on failure
 * @param error filled with one line that names the option, the value and what would be accepted; may be NULL
 * @return QC_ERROR_INVALID, QC_ERROR_IO (a model's file), QC_ERROR_NO_MEMORY
 */
QC_API qc_status qc_request_create(const qc_config *config, qc_request **request, qc_error *error);
/** NULL is allowed. */
QC_API void qc_request_destroy(qc_request *request);
/** Whether every metric of the request takes RGB pictures. @return 1 or 0 */
QC_API int qc_request_accepts_rgb(const qc_request *request);
/** Whether a metric takes a fifth or more of what decoding takes on a GPU: more frames in flight then help. @return 1 or 0 */
QC_API int qc_request_takes_long(const qc_request *request);

/**
 * qc_config_check() and qc_session_create() of a request that is made already: what it holds is taken from it, and only the
 * rest of the configuration (formats, backend, sizes, log) is looked at. config.renditions must be the request's.
 */
QC_API qc_status qc_request_check(const qc_request *request, const qc_config *config, qc_error *error);
QC_API qc_status qc_request_open(const qc_request *request, const qc_config *config, qc_session **session,
                                 qc_error *error);

/* ---- pictures ---- */

/** Leaves out what lies left of column x and above row y: the planes begin there, where chroma is shared at the samples that
 *  it belongs to. */
QC_API void qc_picture_cut(const qc_format *format, int x, int y, qc_picture *picture);

/* ---- frames that others measured ---- */

/**
 * What a frame was measured to be, before scores are made of it: words whose meaning and number are the session's own
 * (qc_session_measured_words()), the same for every session of one library's version with this configuration, whatever
 * its n_subsample and backend.
 * @param words valid during the call
 */
typedef void (*qc_measured_callback)(void *opaque, int64_t frame, const uint64_t *words, int64_t count);

/** Before the first frame: the callback gets every frame's words, in submission order, from within calls on the session
 *  (as log is). With n_subsample, metrics that skip a frame leave zeros. @return QC_ERROR_INVALID behind the first frame */
QC_API qc_status qc_session_on_measured(qc_session *session, qc_measured_callback callback, void *opaque);
/** How many words a frame has. */
QC_API int64_t qc_session_measured_words(const qc_session *session);
/** So many earlier pairs enter into what is measured of a frame: those that a session without them has to see first. */
QC_API int qc_session_history(const qc_session *session);

/**
 * With QC_BACKEND_RECORDED, in the place of qc_session_submit(): a frame that other sessions measured. Rows, pooled values,
 * findings and logs are those of a session that saw the pictures.
 * @param renditions bit k: rendition k has a picture for this frame
 * @return QC_ERROR_INVALID for another backend, a bit beyond the last rendition, or another count than
 *         qc_session_measured_words(); otherwise as qc_session_submit()
 */
QC_API qc_status qc_session_submit_measured(qc_session *session, uint32_t renditions, const uint64_t *words, int64_t count);

/* ---- where scores come from ---- */

/** The commit that the library was built from, with "-dirty" behind it where files had been changed; "unknown": not of a clone. */
QC_API const char *qc_commit(void);
/** The GPU's name, and the version of CUDA that its driver knows, such as "13.0"; "" on the CPU. As long as the session. */
QC_API const char *qc_session_device(const qc_session *session);
QC_API const char *qc_session_driver(const qc_session *session);
/** The backend that the session began with, whatever it went on with. */
QC_API qc_backend qc_session_first_backend(const qc_session *session);
/**
 * The models of a session: what the log calls each, and its checksum as qc_model_checksum() has it. Both live as long as
 * the session. @return as qc_session_finding()
 */
QC_API qc_status qc_session_model(const qc_session *session, int index, const char **name, const char **checksum);
/**
 * SHA-256 of a model's bytes, in 64 digits: of a file, or of what is built in under a name.
 * @param size of text, 65 or more @return QC_ERROR_INVALID, QC_ERROR_IO: there is no such model
 */
QC_API qc_status qc_model_checksum(const char *model, char *text, size_t size);

/* ---- what goes wrong, what nobody wants ---- */

/**
 * After a failure of the GPU (QC_ERROR_NO_MEMORY or QC_ERROR_DEVICE of submit, receive or break): the CPU backend takes over,
 * and the session works again. Rows of frames that were under way come from qc_session_receive() with nothing present;
 * qc_stats.frames_submitted tells whether the frame whose submission failed is among them, or may be submitted again. The
 * next frame is scored as the first after a break. Its pictures must be in host memory (QC_MEMORY_HOST), in the formats of
 * the configuration. Calls all releases that are outstanding.
 * @return QC_OK: go on. QC_ERROR_INVALID: the session has not failed, or the call comes from within release or log. Else the
 *         session's failure: it was none of the GPU's, the CPU backend failed, or cannot be had, or the flush is behind it
 */
QC_API qc_status qc_session_continue_on_cpu(qc_session *session);

/**
 * After the flush: forgets the frames from index `frames` on. Pooled values, counts and logs are then those of the first
 * `frames` frames; rows that were received already stay with the caller. Stream-level values are of all frames that were
 * submitted, so there are none any more. For a front end that reads ahead and learns that nobody wants what it has read.
 * @return QC_ERROR_INVALID for a number below 0, before the flush, and from within release or log; QC_ERROR_IO if earlier
 *         scores, which lie in a temporary file, cannot be read
 */
QC_API qc_status qc_session_truncate(qc_session *session, int64_t frames);

/* ---- what the pictures tell of the pairing ---- */

/** What can be wrong with the pairs, judged by what the pictures show. */
typedef QC_ENUM(qc_finding_kind) {
    QC_FINDING_OFFSET = 1,     /**< from the first frame on the distorted pictures show what the reference shows `offset` frames
                                    earlier (above 0) or later (below 0) */
    QC_FINDING_STEP = 2,       /**< that has changed with `frame`, from former_offset to offset: one more is a frame too many in
                                    the distorted video (or one that the reference lacks), one less a frame that is missing there */
    QC_FINDING_RATE = 3,       /**< it grows steadily: a distorted frame takes `rate` reference frames */
    QC_FINDING_REPEATS = 4,    /**< `count` distorted frames so far, the first of them `frame`, show the picture before them
                                    again while the reference moves */
    QC_FINDING_FROZEN_END = 5, /**< so do all from `frame` on to the end, `count` of them */
    QC_FINDING_RANGE = 6,      /**< from `frame` on the pictures show that one video has limited range and the other full range:
                                    distorted luma is `level` + `gain` times the reference's, in codes of 8 bits */
    QC_FINDING_APART = 7,      /**< the two videos show nothing in common, whatever the offset */
    QC_FINDING_TURNED = 8,     /**< the distorted pictures are turned or mirrored: `turn` undoes it */
    QC_FINDING_SEGMENT = 9     /**< one video is a part of the other: as QC_FINDING_OFFSET, with an `offset` beyond 30 frames */
} qc_finding_kind;

/** What is done to a picture. The last four swap its sides. */
typedef QC_ENUM(qc_turn) {
    QC_TURN_NONE = 0,
    QC_TURN_MIRROR = 1, /**< left is right */
    QC_TURN_FLIP = 2,   /**< above is below */
    QC_TURN_HALF = 3,   /**< both: by 180 degrees */
    QC_TURN_TRANSPOSE = 4,
    QC_TURN_CLOCKWISE = 5, /**< by 90 degrees */
    QC_TURN_COUNTERCLOCKWISE = 6,
    QC_TURN_TRANSVERSE = 7 /**< transposed, and by 180 degrees */
} qc_turn;

/** One of them. Frames are indices in submission order. What a kind does not tell of is 0. */
typedef struct qc_finding {
    qc_finding_kind kind;
    int offset, former_offset; /**< distorted frame n shows what reference frame n - offset does; -30..30, of
                                    QC_FINDING_SEGMENT beyond */
    int64_t frame, count;
    double rate;
    int is_full;               /**< of QC_FINDING_RANGE: the distorted video has full range, the reference limited; otherwise the
                                    other way round */
    qc_turn turn;
    double gain, level;
    double error;              /**< root mean square of what the other range alone makes of luma, in codes of 8 bits */
    double correlation;        /**< of block means: of QC_FINDING_APART as they are, of QC_FINDING_TURNED turned back */
    int64_t reserved[1];       /**< 0 */
} qc_finding;

/**
 * With config.watch_contents: what was found so far, in the order in which it was. A finding comes when it is beyond doubt, up
 * to some 150 frames late, or with the flush; it stays, except the count of QC_FINDING_REPEATS, which grows. There are at
 * most 64, the first ones. Stills, fades, noise and what repeats itself within 30 frames are no finding.
 * @return QC_END past the last, QC_ERROR_INVALID for a rendition that does not exist or a negative index
 */
QC_API qc_status qc_session_finding(const qc_session *session, int rendition, int index, qc_finding *finding);
/** Pairs of a rendition that were watched; 0 without config.watch_contents and below 8 rows or columns. */
QC_API int64_t qc_session_watched_frames(const qc_session *session, int rendition);

/**
 * With config.watch_contents: the constant offset that a rendition begins with, as qc_finding has it, told from its first 48
 * frames alone. 0 comes as soon as it is beyond doubt, any other one with the last of these frames, or with a break or the
 * flush before; then it stays. For whoever looks at the first pictures to pair all of them by what they show.
 * @return QC_OK; QC_AGAIN while frames are to be seen; QC_END if they told nothing beyond doubt, as stills, fades, noise and
 *         what repeats itself do, or steps and other rates; QC_ERROR_INVALID for a rendition that does not exist
 */
QC_API qc_status qc_session_start_offset(const qc_session *session, int rendition, int *offset);

/**
 * With config.watch_contents, behind the flush: whether pictures that follow the last pair in one video are worth a look. They
 * are where pairs do not fit, and the pictures of the other video may be shown there.
 * @param rendition of which rendition's video; below 0: of the reference
 */
QC_API int qc_session_seeks_in(const qc_session *session, int rendition);
/**
 * Shows such a picture: that which another session, of config.watch_contents 2, was given last as its reference.
 * @param number of the pair that the picture would be in; above those before
 */
QC_API qc_status qc_session_look_further(qc_session *session, int rendition, int64_t number, const qc_session *other);
/** No further picture comes: QC_FINDING_SEGMENT is added to the findings, where it is beyond doubt. Once. */
QC_API qc_status qc_session_end_search(qc_session *session);

/** Ranges of two videos beside each other. */
typedef QC_ENUM(qc_ranges) {
    QC_RANGES_SAME = 0,
    QC_RANGES_LIMITED = 1, /**< the distorted video has limited range, the reference full range */
    QC_RANGES_FULL = 2     /**< the other way round */
} qc_ranges;

/**
 * With config.watch_contents: what QC_FINDING_RANGE tells, from a rendition's first 48 frames alone, with the offset that
 * qc_session_start_offset() tells. It comes as soon as it is beyond doubt; then it stays.
 * @return as qc_session_start_offset()
 */
QC_API qc_status qc_session_start_range(const qc_session *session, int rendition, qc_ranges *ranges);

/* ---- reports ---- */

/**
 * Those of them that a metric gives a whole video for its score, with the words that a closing line says before it
 * ("CVVDP score"), after the flush. The title lives as long as the session. @return as qc_session_finding(), or QC_AGAIN
 * for one that has no value (no frame was scored)
 */
QC_API qc_status qc_session_stream_score(qc_session *session, int rendition, int index, const char **title, double *value);

/** Parses "psnr" or "ssim" exactly. @return QC_ERROR_INVALID for anything else. */
QC_API qc_status qc_stats_format_parse(const char *text, qc_stats_format *format);

/**
 * A row as it was received, or a copy of it, as a line of config.stats_format, without its end; "" for a row without the
 * scores it needs (n_subsample skipped it), and for QC_STATS_FORMAT_NONE. 1024 bytes are always enough.
 * @return QC_ERROR_INVALID if size bytes are too few, or for a row that was never received
 */
QC_API qc_status qc_session_stats_line(const qc_session *session, const qc_row *row, char *text, size_t size);

/**
 * In which order reports have the scores: libvmaf's, by their first values. Settled for all scores that a received row has.
 * @param place in the report, from 0
 * @param feature index of the score that stands there
 * @return QC_END past the last place, QC_ERROR_INVALID for a rendition that does not exist or a negative place
 */
QC_API qc_status qc_session_report_feature(const qc_session *session, int rendition, int place, int *feature);

/**
 * What a session did, for tests and reports. Bytes are of the driver calls made, not estimates. On the CPU backend all but
 * the first three are 0.
 */
typedef struct qc_stats {
    size_t struct_size;                /**< in: sizeof(qc_stats) */
    int64_t frames_submitted;
    int64_t frames_received;           /**< rows handed out */
    int64_t batches;                   /**< CPU backend: frames */
    int64_t pixel_bytes_to_device;     /**< software frames' uploads */
    int64_t control_bytes_to_device;   /**< batch descriptions */
    int64_t result_bytes_to_host;      /**< accumulators, and maps in host memory */
    int64_t kernel_launches;           /**< kernels run, graph nodes counted one by one */
    int64_t graph_launches;
    int64_t device_allocations;        /**< calls that took or gave back device or pinned memory */
    size_t device_bytes, pinned_bytes; /**< held now */
} qc_stats;

/** Fills stats by its struct_size. @return QC_ERROR_INVALID for a struct_size that no qc_stats has */
QC_API qc_status qc_session_stats(const qc_session *session, qc_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_ENGINE_H */
