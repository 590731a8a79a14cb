/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_jpegai.c - any bytes as the entropy substreams of wai.image.jpegai on the smallest bundle: a
 * plane decodes, or is refused as the text says, to the same end each time; and what decodes
 * encodes to substreams that decode to the same. The first byte picks the plane, the next two are
 * the length of SOZ.
 */
#include "codec_fuzz.h"

#include "conform/sets.h"
#include "quipu/jpegai.h"

enum { Y = QP_JPEGAI_Y_CHANNELS, UV = QP_JPEGAI_UV_CHANNELS, ROW = 16, SPAN = 256 };

static const qp_jpegai_model *open_model(void)
{
    static qp_jpegai_model *model; /* opened once, for every input, with its files */
    static qp_small_set set;
    for (size_t i = 0; model == NULL && i < qp_small_set_count(); i++) {
        REQUIRE(qp_small_set_make(i, NULL, &set, NULL) == QP_OK);
        if (strcmp(set.name, "jpegai") == 0)
            REQUIRE(qp_jpegai_model_open(set.members, set.count, NULL, NULL, &model, NULL) ==
                    QP_OK);
        else
            qp_small_set_free(&set);
    }
    return model;
}

static bool is_same(const qp_jpegai_latent *a, const qp_jpegai_latent *b)
{
    size_t n = (size_t)a->channels * SPAN;
    return memcmp(a->z, b->z, (size_t)a->channels * ROW * sizeof *a->z) == 0 &&
           memcmp(a->v, b->v, n * sizeof *a->v) == 0 && memcmp(a->mask, b->mask, n) == 0 &&
           memcmp(a->sigma, b->sigma, n * sizeof *a->sigma) == 0 &&
           memcmp(a->y_q, b->y_q, n * sizeof *a->y_q) == 0;
}

/* Encodes the latent again; the other plane's hyper-latents are all zero. */
static void encode_again(const qp_jpegai_model *model, qp_jpegai_plane plane,
                         const qp_jpegai_segments *segments, const qp_jpegai_latent *latent)
{
    static const int64_t zeros[Y * ROW];
    bool luma = plane == QP_JPEGAI_Y;
    qp_jpegai_coded coded = {plane, latent->z, luma ? segments->grfs_y : segments->grfs_uv,
                             latent->y_q};
    qp_jpegai_segments again = *segments;
    qp_encoded soz, stream;
    qp_jpegai_latent second;

    REQUIRE(qp_jpegai_encode_hyper(model, luma ? latent->z : zeros, luma ? zeros : latent->z, NULL,
                                   &soz, NULL) == QP_OK);
    REQUIRE(qp_jpegai_encode_latent(model, &coded, NULL, &stream, NULL) == QP_OK);
    again.soz = (qp_jpegai_bytes){soz.bytes, soz.size};
    again.sorp = again.sors = (qp_jpegai_bytes){stream.bytes, stream.size};
    REQUIRE(qp_jpegai_entropy(model, plane, &again, NULL, &second, NULL) == QP_OK);
    REQUIRE(is_same(latent, &second));
    qp_jpegai_latent_free(NULL, &second);
    qp_encoded_free(NULL, &stream);
    qp_encoded_free(NULL, &soz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const qp_jpegai_model *model = open_model();
    uint8_t grfs[Y];
    qp_jpegai_latent first, second;
    if (size < 3)
        return 0;
    qp_jpegai_plane plane = data[0] % 2 == 0 ? QP_JPEGAI_Y : QP_JPEGAI_UV;
    size_t length = (size_t)data[1] | (size_t)data[2] << 8, left = size - 3;
    for (size_t c = 0; c < Y; c++)
        grfs[c] = (uint8_t)((data[0] >> (1 + c % 7)) & 1);
    if (length > left)
        length = left;
    qp_jpegai_bytes stream = {data + 3 + length, left - length};
    qp_jpegai_segments segments = {{data + 3, length}, stream, stream, grfs, grfs};

    qp_status status = qp_jpegai_entropy(model, plane, &segments, NULL, &first, NULL);
    REQUIRE(status == QP_OK || status == QP_STREAM_EXHAUSTED);
    REQUIRE(qp_jpegai_entropy(model, plane, &segments, NULL, &second, NULL) == status);
    if (status != QP_OK)
        return 0;
    REQUIRE(is_same(&first, &second));
    qp_jpegai_latent_free(NULL, &second);
    encode_again(model, plane, &segments, &first);
    qp_jpegai_latent_free(NULL, &first);
    return 0;
}
