/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * The words of quality_cuda.h that the library's own metrics are written in too; programs include that header, which
 * includes this one. Knows nothing of sessions.
 */
#ifndef QUALITY_CUDA_TYPES_H
#define QUALITY_CUDA_TYPES_H

/** Most distorted pictures that can share one reference in a session. Part of the ABI: qc_config has an array of it. */
#define QC_MAX_RENDITIONS 16

/** An enumeration. A program may hand over any number, and C++ gives one without a type no values but its own. */
#ifdef __cplusplus
#define QC_ENUM(name) enum name : int
#else
#define QC_ENUM(name) enum name
#endif

typedef QC_ENUM(qc_status) {
    QC_OK = 0,
    QC_AGAIN = 1,             /**< nothing is ready yet; not an error */
    QC_END = 2,               /**< flushed, and every row has been received; not an error */
    QC_ERROR_INVALID = -1,    /**< the caller asked for something impossible: unknown name, bad value, wrong size */
    QC_ERROR_UNSUPPORTED = -2,/**< a valid wish that this library does not fulfil, e.g. a picture format */
    QC_ERROR_NO_DEVICE = -3,  /**< backend=cuda without a usable GPU or driver */
    QC_ERROR_NO_MEMORY = -4,  /**< host or device memory, or threads, exhausted: may come from any function that takes memory */
    QC_ERROR_DEVICE = -5,     /**< the driver reported a failure; from the CUDA backend only */
    QC_ERROR_IO = -6,         /**< a file could not be read or written */
    QC_ERROR_INTERNAL = -7    /**< a bug in this library: may come from any function, and is not listed with them */
} qc_status;

/** How a picture is brought to the size that is scored, by both backends with the same integer arithmetic; docs/design/design.md
 *  has it. When it becomes smaller, the kernels widen with the ratio. */
typedef QC_ENUM(qc_scaling) {
    QC_SCALING_NONE = 0,     /**< not at all: pictures of another size are refused */
    QC_SCALING_BICUBIC = 1,  /**< Mitchell's and Netravali's family with B=0, C=0.6: 4 samples along each axis */
    QC_SCALING_LANCZOS = 2,  /**< a sinc windowed by its third lobe: 6 samples */
    QC_SCALING_BILINEAR = 3, /**< 2 samples */
    QC_SCALING_AREA = 4,     /**< mean over the area that a sample covers; bilinear along axes that become longer */
    QC_SCALING_COUNT
} qc_scaling;

/** What is done with pictures that have another range or depth than the reference's, or are RGB beside luma and chroma or
 *  for a metric of these; by both backends with the same integer arithmetic, docs/reference/conversions.md has it. */
typedef QC_ENUM(qc_convert) {
    QC_CONVERT_AUTO = 0,       /**< they are brought to one format, by their tags; each conversion is said and logged */
    QC_CONVERT_OFF = 1,        /**< nothing: samples are scored as they are, those of fewer bits shifted to the left; RGB is
                                    refused by metrics that do not take it, and beside what is not RGB */
    QC_CONVERT_ERROR = 2,      /**< where there is something to convert, the session is refused */
    QC_CONVERT_KEEP_RANGE = 3, /**< as AUTO, but luma and chroma whose ranges differ stay as they are */
    QC_CONVERT_COUNT
} qc_convert;

/** Samples of a map's pictures, 8 bits each. */
typedef QC_ENUM(qc_map_layout) {
    QC_MAP_LAYOUT_GRAY = 0,    /**< one plane, full range: 0 black, 255 white */
    QC_MAP_LAYOUT_YUV420P = 1, /**< three planes 4:2:0, BT.709 of limited range: 16 black, 235 white */
    QC_MAP_LAYOUT_NV12 = 2,    /**< the same with Cb and Cr side by side in one plane */
    QC_MAP_LAYOUT_COUNT
} qc_map_layout;

/** How bad is told by a map's samples. */
typedef QC_ENUM(qc_map_colours) {
    QC_MAP_COLOURS_GRAY = 0, /**< black: nothing is wrong; the brighter, the worse */
    QC_MAP_COLOURS_HEAT = 1, /**< black, blue, red, orange, white; not with QC_MAP_LAYOUT_GRAY */
    QC_MAP_COLOURS_COUNT
} qc_map_colours;

/**
 * What is known of a picture's colours: code points of ITU-T H.273, which are FFmpeg's AVCOL_ values too. 0 is "not
 * known" in every field (for the matrix too: RGB pictures are told by qc_format.rgb), and so is H.273's 2 but in range and
 * chroma_location. Any value is accepted; metrics that look at colours say in docs/reference/metrics.md what they do with each.
 */
typedef struct qc_colour {
    int matrix;             /**< 1 BT.709, 4 FCC, 5 BT.470BG, 6 SMPTE 170M, 7 SMPTE 240M, 9 BT.2020 NCL, ... */
    int range;              /**< 1 limited, 2 full */
    int primaries;          /**< 1 BT.709, 5 BT.470BG, 6 SMPTE 170M, 7 SMPTE 240M, 9 BT.2020, 12 P3-D65, ... */
    int transfer;           /**< 1 BT.709, 13 sRGB, 16 PQ, 18 HLG, ... */
    int chroma_location;    /**< 1 left, 2 centre, 3 top left, 4 top, 5 bottom left, 6 bottom */
} qc_colour;

#endif /* QUALITY_CUDA_TYPES_H */
