/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_file.c - a coded file decoded again before it is written: an encoder chooses latents, and
 * only a decode says that the networks take them.
 */
#include "cli/verify_file.h"

#include <math.h>

static bool same_samples(const qp_media *a, const qp_media *b)
{
    return a->layout == QP_LAYOUT_PIXELS && b->layout == QP_LAYOUT_PIXELS &&
           a->height == b->height && a->width == b->width && a->channels == b->channels;
}

/* Adds what one payload's frames differ from the source's at byte `at`. */
static void compare(const qp_media *source, size_t at, const qp_media *decoded,
                    qp_verified *verified)
{
    if (!same_samples(source, decoded) || decoded->size > source->size - at) {
        verified->comparable = false;
        return;
    }
    for (size_t k = 0; k < decoded->size; k++) {
        int difference = source->bytes[at + k] - decoded->bytes[k];
        verified->squared_error += (uint64_t)(difference * difference);
    }
    verified->samples += decoded->size;
}

qp_status qp_verify_file(const qp_encoded *file, const qp_set *set, const qp_media *source,
                         qp_verified *verified, qp_error *error)
{
    qp_container container;
    qp_decoder *decoder = NULL;
    qp_unit unit = {0};
    size_t next = 0, at = 0;

    *verified = (qp_verified){.comparable = true};
    qp_status status = qp_container_read(file->bytes, file->size, &container, error);
    if (status == QP_OK)
        status = qp_decoder_create(container.capability, set, NULL, NULL, &decoder, error);
    while (status == QP_OK && qp_container_next(&container, &next, &unit)) {
        qp_media decoded = {0};
        status = qp_decoder_decode(decoder, &unit, &decoded, error);
        if (status == QP_OK)
            compare(source, at, &decoded, verified);
        at += decoded.size;
        qp_media_free(NULL, &decoded);
    }
    qp_decoder_free(decoder);
    verified->complete = at == source->size;
    return status;
}

uint32_t qp_verified_psnr(const qp_verified *verified)
{
    const double peak = 255.0 * 255.0;
    if (verified->squared_error == 0)
        return UINT32_MAX;
    double mean = (double)verified->squared_error / (double)verified->samples;
    return (uint32_t)(1000.0 * log10(peak / mean) + 0.5);
}
