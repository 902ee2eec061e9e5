/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * Scores a PNG against another one: SSIMULACRA2 of its colours, and VMAF, which is of luma, of BT.709's (limited
 * range).
 *
 *     cc score_png.c $(pkg-config --cflags --libs quality_cuda libpng) -o score_png
 *     ./score_png distorted.png reference.png
 */
#include <png.h>
#include <quality_cuda.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Picture {
    png_image png;
    unsigned char *rgb, *luma; /* lives as long as the program */
} Picture;

static int read_png(const char* path, Picture* picture, qc_format* colours, qc_format* luma) {
    const png_color black = {0};
    picture->png.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&picture->png, path)) {
        const int width = (int)picture->png.width, height = (int)picture->png.height;
        const size_t pixels = (size_t)width * height;
        picture->png.format = PNG_FORMAT_RGB;
        picture->rgb = malloc(pixels * 3);
        picture->luma = malloc(pixels);
        if (picture->rgb && picture->luma && png_image_finish_read(&picture->png, &black, picture->rgb, 0, NULL)) {
            for (unsigned char *c = picture->rgb, *end = c + 3 * pixels, *y = picture->luma; c < end; c += 3)
                *y++ = (unsigned char)(16.5 + (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]) * 219 / 255);
            return !qc_format_from_name("rgb24", width, height, colours) &&
                   !qc_format_from_name("gray", width, height, luma);
        }
    }
    return !fprintf(stderr, "score_png: %s: %s\n", path, picture->png.message);
}

static int print_score(const qc_config* config, const void* distorted, const void* reference, int step) {
    qc_frame frame = {.reference = {.plane = {reference}, .pitch_bytes = {config->reference.width * step}},
                      .distorted = {{.plane = {distorted}, .pitch_bytes = {config->distorted[0].width * step}}}};
    qc_scores* scores;
    qc_error error;
    double value = 0;
    if (qc_score(config, &frame, &scores, &error)) return !fprintf(stderr, "score_png: %s\n", error.text);
    if (!qc_scores_find(scores, config->metrics, &value)) printf("%s %.6f\n", config->metrics, value);
    qc_scores_destroy(scores);
    return 1;
}

int main(int count, char** arguments) {
    qc_config colours = {.struct_size = sizeof(colours), .metrics = "ssimulacra2"};
    qc_config luma = {.struct_size = sizeof(luma), .metrics = "vmaf"};
    Picture d = {0}, r = {0};
    if (count != 3) return fprintf(stderr, "usage: score_png DISTORTED REFERENCE\n"), 2;
    if (!read_png(arguments[1], &d, &colours.distorted[0], &luma.distorted[0]) ||
        !read_png(arguments[2], &r, &colours.reference, &luma.reference))
        return 1;
    return print_score(&colours, d.rgb, r.rgb, 3) && print_score(&luma, d.luma, r.luma, 1) ? 0 : 1;
}
