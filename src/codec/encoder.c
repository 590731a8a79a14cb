/* SPDX-License-Identifier: Apache-2.0 */
/* encoder.c - the front door of encoding. */
#include "codec/codec.h"

static qp_status start(qp_encoder *encoder, const qp_member *beside, size_t n_beside,
                       qp_error *error)
{
    qp_status status =
        qp_members_copy(beside, n_beside, &encoder->allocator, &encoder->beside, error);
    if (status == QP_OK && encoder->driver->start_encoder != NULL)
        status = encoder->driver->start_encoder(encoder, error);
    return status;
}

qp_status qp_encoder_create(const char *capability, const qp_set *set, const qp_member *beside,
                            size_t n_beside, const qp_encode_options *options,
                            const qp_allocator *allocator, qp_encoder **encoder, qp_error *error)
{
    const qp_driver *driver = NULL;
    *encoder = NULL;
    qp_status status = qp_codec_driver(capability, set, &driver, error);
    if (status != QP_OK)
        return status;
    if (driver->encode == NULL)
        return qp_fail(error, QP_MODEL_MISMATCH, "this library does not encode %.100s", capability);
    qp_encoder *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "an encoder");
    if (options != NULL)
        made->options = *options;
    made->outer = qp_allocator_or_default(allocator);
    made->allocator = qp_budget_init(&made->budget, SIZE_MAX, allocator);
    made->driver = driver;
    made->set = set;
    status = start(made, beside, n_beside, error);
    if (status == QP_OK)
        *encoder = made;
    else
        qp_encoder_free(made);
    return status;
}

void qp_encoder_free(qp_encoder *encoder)
{
    if (encoder == NULL)
        return;
    if (encoder->driver->forget_encoder != NULL)
        encoder->driver->forget_encoder(encoder);
    if (encoder->beside.at != NULL)
        qp_members_free(&encoder->allocator, &encoder->beside);
    qp_allocator outer = encoder->outer;
    qp_release(&outer, encoder, 1, sizeof *encoder);
}

qp_status qp_encoder_encode(qp_encoder *encoder, const qp_source *source, qp_encoded *payload,
                            qp_error *error)
{
    qp_buffer buffer;
    *payload = (qp_encoded){0};
    if (qp_media_bytes(source->media) == 0 || source->media->size != qp_media_bytes(source->media))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "the media have no bytes, or not as many as "
                       "their sizes say");
    qp_buffer_init(&buffer, &encoder->allocator);
    qp_status status = encoder->driver->encode(encoder, source, &buffer, error);
    if (status != QP_OK) {
        qp_buffer_free(&buffer);
        return status;
    }
    payload->bytes = qp_buffer_take(&buffer, &payload->size);
    if (payload->bytes == NULL)
        return qp_fail_memory(error, "a payload");
    qp_budget_give(&encoder->budget, payload->size);
    return QP_OK;
}

void qp_encoded_free(const qp_allocator *allocator, qp_encoded *payload)
{
    qp_release(allocator, payload->bytes, payload->size, 1);
    *payload = (qp_encoded){0};
}
