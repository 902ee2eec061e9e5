// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/search.h"

#include "quality_cuda_run/session.h"

namespace {

/// As the engine counts: the reference is below all renditions.
int rendition_of(int input) {
    return input == QCR_REFERENCE ? -1 : input == 0 ? 0 : input - 1;
}

/// Of a session whose reference is the input, and so is each rendition: it sees a picture twice, and needs no other
/// one.
void look_at_one(qc_config* config, int input) {
    const qc_format format = input == QCR_REFERENCE ? config->reference : config->distorted[rendition_of(input)];
    if (config->scaling != QC_SCALING_NONE && config->scoring_width == 0) {
        config->scoring_width = config->reference.width;
        config->scoring_height = config->reference.height;
    }
    config->reference = format;
    for (int k = 0; k < config->renditions; ++k) config->distorted[k] = format;
}

qc_status see(qc_session* alone, const qc_picture& picture) {
    qc_frame frame{};
    frame.reference = frame.distorted[0] = picture;
    qc_status status = qc_session_submit(alone, &frame);
    qc_row row;
    while (status == QC_OK) status = qc_session_receive(alone, 1, &row);
    return status == QC_AGAIN ? QC_OK : status;
}

} // namespace

void qcr_search_begin(const qc_session* scored, qcr_pairs* pairs) {
    if (qc_session_seeks_in(scored, rendition_of(QCR_REFERENCE)) != 0) qcr_pairs_read_on(pairs, QCR_REFERENCE);
}

int64_t qcr_search_number(const qcr_search* search, const qc_session* scored, const qcr_pairs* pairs, int input,
                          int64_t pts) {
    if (search->is_over[input] != 0 || qc_session_seeks_in(scored, rendition_of(input)) == 0) return -1;
    const int64_t number = qcr_pairs_number_behind(pairs, input, pts);
    return number > search->number[input] ? number : -1;
}

void qcr_search_see(qcr_search* search, qc_session* scored, const qc_request* request, qc_config* config, int input,
                    int is_on_gpu, const qc_picture* picture, int64_t number) {
    qc_session** alone = &search->alone[input];
    qc_error error;
    qc_status status = QC_OK;
    if (*alone == nullptr) {
        look_at_one(config, input);
        status = qcr_open_watch(request, config, is_on_gpu, alone, &error);
    }
    if (status == QC_OK) status = see(*alone, *picture);
    if (status == QC_OK) status = qc_session_look_further(scored, rendition_of(input), number, *alone);
    search->number[input] = number;
    search->is_over[input] = status != QC_OK ? 1 : 0;
}

void qcr_search_end(qcr_search* search, qc_session* scored) {
    for (qc_session*& alone : search->alone) {
        qc_session_destroy(alone);
        alone = nullptr;
    }
    if (scored != nullptr) qc_session_end_search(scored);
}
