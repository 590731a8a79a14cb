/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - reading WHM1 and WAM1 networks (docs/lowering.md), with the load checks of
 * integer-operators.md sections 13.2 and 13.3 that need no certificate.
 */
#include "lower/network.h"

/* The least bytes of a layer: its tag and 3 reserved. */
#define LAYER_BYTES_MIN 4
/* afrac, the rule of every capability that the text lowers. */
#define AFRAC_MAX 30
#define SLOPE_FRAC_MAX 63

/* ---- one layer ---------------------------------------------------------------------------- */

/* The largest magnitude of an array; 0 of an empty one. */
static uint64_t largest(const qp_integers *values)
{
    if (values->count == 0)
        return 0;
    qp_range range = qp_integers_range(values, 0, values->count);
    uint64_t lo = qp_magnitude_i64(range.lo), hi = qp_magnitude_i64(range.hi);
    return lo > hi ? lo : hi;
}

static void read_convolution(qp_cursor *cursor, const qp_network *network, qp_layer *layer)
{
    layer->c = qp_cursor_u32(cursor, "c");
    layer->out = qp_cursor_u32(cursor, "out");
    layer->k = qp_cursor_u32(cursor, "k");
    layer->stride = qp_cursor_u32(cursor, "stride");
    layer->pad = qp_cursor_u32(cursor, "pad");
    if (layer->tag == QP_LAYER_TRANSPOSED)
        layer->opad = qp_cursor_u32(cursor, "opad");
    uint64_t k = network->one_dimensional ? 1 : layer->k;
    uint64_t count = qp_product(layer->c, layer->out, layer->k, k);
    layer->weights = qp_cursor_integers(cursor, count, 2, "the weights");
    layer->mult = qp_cursor_integers(cursor, layer->out, 8, "the multipliers");
    layer->bias = qp_cursor_integers(cursor, layer->out, 8, "the biases");
}

static void read_igdn(qp_cursor *cursor, qp_layer *layer)
{
    layer->c = qp_cursor_u32(cursor, "c");
    layer->out = layer->c;
    layer->weights = qp_cursor_integers(cursor, (uint64_t)layer->c * layer->c, 4, "gamma");
    layer->bias = qp_cursor_integers(cursor, layer->c, 8, "beta");
}

static void read_fields(qp_cursor *cursor, const qp_network *network, qp_layer *layer)
{
    if (layer->tag == QP_LAYER_TRANSPOSED || layer->tag == QP_LAYER_CONV)
        read_convolution(cursor, network, layer);
    else if (layer->tag == QP_LAYER_IGDN)
        read_igdn(cursor, layer);
    else if (layer->tag == QP_LAYER_LEAKY) {
        layer->slope = qp_cursor_i64(cursor, "slope_q");
        layer->slope_frac = qp_cursor_u32(cursor, "slope_frac");
    }
    layer->weight_max = largest(&layer->weights);
    layer->mult_max = largest(&layer->mult);
    layer->bias_max = largest(&layer->bias);
}

/* Whether a layer reads and writes channels of its own counting. */
static bool has_channels(const qp_layer *layer)
{
    return layer->tag <= QP_LAYER_IGDN;
}

/* What the operators of section 5 ask of the fields, told here where the place is known. */
static qp_status check_layer(const qp_lower_job *job, const qp_layer *layer)
{
    int64_t offset = (int64_t)layer->offset;
    if (layer->tag == QP_LAYER_LEAKY && layer->slope_frac > SLOPE_FRAC_MAX)
        return qp_lower_refuse(job, offset, "slope_frac is %lu, and at most 63 is allowed",
                               (unsigned long)layer->slope_frac);
    if (!has_channels(layer))
        return QP_OK;
    if (layer->c == 0 || layer->out == 0)
        return qp_lower_refuse(job, offset, "a layer has no channels");
    if (layer->tag != QP_LAYER_IGDN && (layer->k == 0 || layer->stride == 0))
        return qp_lower_refuse(job, offset, "a kernel or a stride is 0");
    return QP_OK;
}

/* The layer's channels against the running count, which *channels is: 0 before any layer said. */
static qp_status chain(const qp_lower_job *job, const qp_layer *layer, uint32_t *channels)
{
    if (!has_channels(layer))
        return QP_OK;
    if (*channels != 0 && layer->c != *channels)
        return qp_lower_refuse(job, (int64_t)layer->offset,
                               "the layer reads %lu channels, and the one before it gives %lu",
                               (unsigned long)layer->c, (unsigned long)*channels);
    *channels = layer->out;
    return QP_OK;
}

static qp_status read_layer(const qp_lower_job *job, qp_cursor *cursor, const qp_network *network,
                            qp_layer *layer)
{
    layer->offset = cursor->base + cursor->at;
    layer->tag = qp_cursor_u8(cursor, "a layer's tag");
    if (layer->tag > QP_LAYER_LEAKY)
        return qp_lower_refuse(job, (int64_t)layer->offset, "tag %u is not known",
                               (unsigned)layer->tag);
    if (network->one_dimensional && layer->tag != QP_LAYER_TRANSPOSED &&
        layer->tag != QP_LAYER_IGDN)
        return qp_lower_refuse(job, (int64_t)layer->offset, "a WAM1 network has no layer of tag %u",
                               (unsigned)layer->tag);
    qp_status status = qp_cursor_reserved(job, cursor, 3);
    if (status != QP_OK)
        return status;
    read_fields(cursor, network, layer);
    status = qp_cursor_check(job, cursor);
    return status == QP_OK ? check_layer(job, layer) : status;
}

/* ---- the file ----------------------------------------------------------------------------- */

static qp_status read_header(const qp_lower_job *job, qp_cursor *cursor, const char *magic,
                             qp_network *network)
{
    qp_status status = qp_cursor_head(job, cursor, magic);
    if (status != QP_OK)
        return status;
    int64_t offset = qp_cursor_offset(cursor);
    network->one_dimensional = strcmp(magic, "WAM1") == 0;
    network->afrac = qp_cursor_u32(cursor, "afrac");
    network->gf = qp_cursor_u32(cursor, "gf");
    network->shift = qp_cursor_u32(cursor, "shift");
    network->n_layers = qp_cursor_u32(cursor, "n_layers");
    status = qp_cursor_check(job, cursor);
    if (status != QP_OK)
        return status;
    if (network->afrac < 1 || network->afrac > AFRAC_MAX)
        return qp_lower_refuse(job, offset, "afrac is %lu, outside 1..30",
                               (unsigned long)network->afrac);
    if (network->gf > QP_SHIFT_MAX || network->shift > QP_SHIFT_MAX)
        return qp_lower_refuse(job, offset + 4, "gf or shift passes 127");
    if (network->n_layers == 0)
        return qp_lower_refuse(job, offset + 12, "the network has no layers");
    if (network->n_layers > qp_cursor_left(cursor) / LAYER_BYTES_MIN)
        return qp_lower_refuse(job, offset + 12, "%lu layers do not fit the file",
                               (unsigned long)network->n_layers);
    return QP_OK;
}

static qp_status read_layers(qp_lower_job *job, qp_cursor *cursor, qp_network *network)
{
    uint32_t channels = 0;
    qp_status status = QP_OK;

    for (uint32_t l = 0; l < network->n_layers && status == QP_OK; l++) {
        qp_layer *layer = &network->layers[l];
        job->layer = l;
        status = read_layer(job, cursor, network, layer);
        if (status == QP_OK)
            status = chain(job, layer, &channels);
        if (network->in_channels == 0 && has_channels(layer))
            network->in_channels = layer->c;
    }
    if (status != QP_OK)
        return status;
    job->layer = -1;
    network->out_channels = channels;
    if (network->in_channels == 0)
        return qp_lower_refuse(job, (int64_t)cursor->base,
                               "no layer says how many channels the network reads");
    return qp_cursor_end(job, cursor);
}

qp_status qp_network_read(qp_lower_job *job, qp_cursor *cursor, const char *magic,
                          qp_network *network)
{
    *network = (qp_network){0};
    qp_status status = read_header(job, cursor, magic, network);
    if (status != QP_OK)
        return status;
    network->layers = qp_allocate(job->allocator, network->n_layers, sizeof *network->layers);
    if (network->layers == NULL)
        return qp_fail_memory(job->error, "the layers of a network");
    status = read_layers(job, cursor, network);
    if (status != QP_OK)
        qp_network_free(job, network);
    return status;
}

void qp_network_free(const qp_lower_job *job, qp_network *network)
{
    qp_release(job->allocator, network->layers, network->n_layers, sizeof *network->layers);
    network->layers = NULL;
}
