/* SPDX-License-Identifier: Apache-2.0 */
/* decoder.c - the front door of decoding: what a decoder holds between payloads. */
#include "codec/codec.h"

qp_status qp_codec_driver(const char *capability, const qp_set *set, const qp_driver **driver,
                          qp_error *error)
{
    const qp_driver *found = qp_driver_find(capability);
    if (found == NULL)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "no capability that this library decodes has the name %.100s", capability);
    if (found->reads_set && set == NULL)
        return qp_fail(error, QP_MODEL_MISMATCH, "%.100s needs its parameter set", capability);
    if (set != NULL && set->driver != found)
        return qp_fail(error, QP_MODEL_MISMATCH, "the set is one of %.80s, not of %.80s",
                       set->driver->capability, capability);
    *driver = found;
    return QP_OK;
}

qp_status qp_decoder_create(const char *capability, const qp_set *set,
                            const qp_decode_options *options, const qp_allocator *allocator,
                            qp_decoder **decoder, qp_error *error)
{
    const qp_driver *driver = NULL;
    *decoder = NULL;
    qp_status status = qp_codec_driver(capability, set, &driver, error);
    if (status != QP_OK)
        return status;
    qp_decoder *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a decoder");
    if (options != NULL)
        made->options = *options;
    size_t limit = made->options.max_memory == 0 ? SIZE_MAX : made->options.max_memory;
    made->outer = qp_allocator_or_default(allocator);
    made->allocator = qp_budget_init(&made->budget, limit, allocator);
    made->driver = driver;
    made->set = set;
    *decoder = made;
    return QP_OK;
}

void qp_decoder_reset(qp_decoder *decoder)
{
    if (decoder->driver->forget != NULL)
        decoder->driver->forget(decoder);
    for (size_t i = 0; i < QP_CODEC_GRAPHS_MAX; i++)
        if (decoder->sessions[i] != NULL)
            qp_session_reset(decoder->sessions[i]);
}

void qp_decoder_free(qp_decoder *decoder)
{
    if (decoder == NULL)
        return;
    qp_decoder_reset(decoder);
    for (size_t i = QP_CODEC_GRAPHS_MAX; i > 0; i--)
        qp_session_free(decoder->sessions[i - 1]);
    qp_allocator outer = decoder->outer;
    qp_release(&outer, decoder, 1, sizeof *decoder);
}

size_t qp_decoder_peak(const qp_decoder *decoder)
{
    return decoder->budget.peak;
}

qp_status qp_codec_session(const qp_certificate *certificate, size_t graph, int reference,
                           const qp_allocator *allocator, qp_session **session, qp_error *error)
{
    qp_session_options options = {.graph = graph, .profile = QP_ACC64, .reference = reference};
    return qp_session_create(certificate, &options, allocator, session, error);
}

qp_status qp_decoder_session(qp_decoder *decoder, size_t graph, qp_session **session,
                             qp_error *error)
{
    qp_status status = QP_OK;
    if (graph >= QP_CODEC_GRAPHS_MAX)
        return qp_fail(error, QP_INTERNAL, "a set has more graphs than a decoder holds");
    if (decoder->sessions[graph] == NULL)
        status = qp_codec_session(qp_lowered_certificate(decoder->set->lowered), graph,
                                  decoder->options.reference, &decoder->allocator,
                                  &decoder->sessions[graph], error);
    *session = decoder->sessions[graph];
    return status;
}

qp_status qp_decoder_decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media,
                            qp_error *error)
{
    qp_media made = {0};
    *media = made;
    decoder->budget.exceeded = false;
    qp_status status = decoder->driver->decode(decoder, unit, &made, error);
    if (status != QP_OK) {
        qp_media_free(&decoder->allocator, &made);
        return qp_budget_status(&decoder->budget, status, error);
    }
    qp_budget_give(&decoder->budget, made.size);
    *media = made;
    return QP_OK;
}
