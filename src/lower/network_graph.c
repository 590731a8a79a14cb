/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_graph.c - the graphs of WHM1 and WAM1 networks (integer-operators.md sections 13.2 to
 * 13.4a): their layers, the RGB8 and PCM steps, and the bundles that hold several networks.
 */
#include "lower/network.h"

/* The scale of the RGB8 step: 255 stands for 1. */
#define RGB8_MAX 255
/* The scale and the range of the PCM step. */
#define PCM_SCALE INT16_MAX

/* ---- range checks ------------------------------------------------------------------------- */

qp_status qp_network_limits(qp_lower_job *job, const qp_network *network, uint32_t l,
                            bool graph_input, qp_limits *limits)
{
    uint64_t x;

    if (l == network->n_layers || network->layers[l].tag == QP_LAYER_RELU) {
        *limits = graph_input ? (qp_limits){QP_CHECK, INT64_MIN, INT64_MAX} : QP_LIMITS_DERIVED;
        return QP_OK;
    }
    const qp_layer *layer = &network->layers[l];
    if (!qp_layer_limit(network, layer, &x)) {
        job->layer = l;
        return qp_lower_refuse(job, (int64_t)layer->offset,
                               "no input is exact: even an input of 0 forms a value past 64 bits");
    }
    bool whole = x > INT64_MAX; /* 2^63 */
    *limits =
        (qp_limits){QP_CHECK, whole ? INT64_MIN : -(int64_t)x, whole ? INT64_MAX : (int64_t)x};
    return QP_OK;
}

/* ---- layers ------------------------------------------------------------------------------- */

static void put_array(qp_buffer *params, const qp_integers *values)
{
    qp_buffer_append(params, values->bytes, values->count * values->width);
}

/* One multiplier and one bias a channel, one shift, as the file holds them. */
static void put_rq(qp_buffer *params, const qp_network *network, const qp_layer *layer)
{
    qp_rq_values head = {.round = QP_ROUND_FLOOR,
                         .bias_place = QP_BIAS_POST,
                         .mult_kind = QP_KIND_PER_CHANNEL,
                         .shift_kind = QP_KIND_ONE,
                         .mult_width = 8,
                         .bias_width = 8};
    qp_writer_rq_head(params, &head);
    put_array(params, &layer->mult);
    qp_buffer_le(params, network->shift, 1);
    put_array(params, &layer->bias);
}

static void put_pair(qp_buffer *params, uint32_t h, uint32_t w)
{
    qp_buffer_le(params, h, 4);
    qp_buffer_le(params, w, 4);
}

/* In WAM1 the height is 1: a kernel and a stride of 1, and no padding. */
static void put_convolution(qp_buffer *params, const qp_network *network, const qp_layer *layer)
{
    bool flat = network->one_dimensional;
    qp_buffer_le(params, layer->out, 4);
    put_pair(params, flat ? 1 : layer->k, layer->k);
    put_pair(params, flat ? 1 : layer->stride, layer->stride);
    put_pair(params, flat ? 0 : layer->pad, layer->pad);
    if (layer->tag == QP_LAYER_TRANSPOSED)
        put_pair(params, flat ? 0 : layer->opad, layer->opad);
    else
        qp_buffer_le(params, 1, 4); /* groups */
    qp_buffer_le(params, layer->weights.width, 1);
    qp_writer_zeros(params, 3);
    put_rq(params, network, layer);
    put_array(params, &layer->weights);
}

static void put_igdn(qp_buffer *params, const qp_network *network, const qp_layer *layer)
{
    put_pair(params, network->gf, network->afrac);
    qp_buffer_le(params, layer->weights.width, 1);
    qp_writer_zeros(params, 7);
    put_array(params, &layer->weights);
    put_array(params, &layer->bias);
}

static void put_params(qp_buffer *params, const qp_network *network, const qp_layer *layer)
{
    if (layer->tag == QP_LAYER_TRANSPOSED || layer->tag == QP_LAYER_CONV)
        put_convolution(params, network, layer);
    else if (layer->tag == QP_LAYER_IGDN)
        put_igdn(params, network, layer);
    else if (layer->tag == QP_LAYER_LEAKY) {
        qp_buffer_le(params, (uint64_t)layer->slope, 8);
        qp_buffer_le(params, layer->slope_frac, 4);
    }
}

qp_status qp_network_build(qp_lower_job *job, const qp_network *network, qp_build *build,
                           qp_value *x)
{
    static const char *const names[] = {"conv_transpose", "conv", "igdn", "relu", "leaky"};

    for (uint32_t l = 0; l < network->n_layers; l++) {
        const qp_layer *layer = &network->layers[l];
        bool counts = layer->tag <= QP_LAYER_IGDN;
        qp_limits limits;
        qp_status status = qp_network_limits(job, network, l + 1, false, &limits);
        if (status != QP_OK)
            return status;
        qp_value out = qp_build_tensor(build, counts ? layer->out : x->channels, limits);
        put_params(qp_build_begin(build, names[layer->tag], x, 1, out), network, layer);
        qp_build_end(build);
        *x = out;
    }
    return QP_OK;
}

/* ---- output steps ------------------------------------------------------------------------- */

void qp_network_rgb8(const qp_network *network, qp_build *build, qp_value *x)
{
    *x = qp_build_clamp(build, *x, 0, (int64_t)1 << network->afrac);
    *x = qp_build_scale(build, *x, (qp_scale){RGB8_MAX, network->afrac, QP_ROUND_HALF_UP},
                        QP_LIMITS_DERIVED);
}

static void put_operand(qp_buffer *params, bool scalar, uint32_t value)
{
    qp_buffer_le(params, scalar, 4); /* the kind and three reserved */
    qp_buffer_le(params, value, 4);
}

/* The samples that count, as 16-bit integers (section 13.3). Their range is the one in which
 * v·32767 + 2^(afrac-1) fits 64 bits: ceil(-2^63 / 32767) is where C's division goes. */
static void put_pcm(const qp_network *network, qp_build *build, qp_value *x)
{
    int64_t half = (int64_t)1 << (network->afrac - 1);
    qp_limits limits = {QP_CHECK, INT64_MIN / PCM_SCALE, (INT64_MAX - half) / PCM_SCALE};
    qp_value cropped = qp_build_tensor(build, x->channels, limits);
    qp_buffer *params = qp_build_begin(build, "crop", x, 1, cropped);
    put_operand(params, false, 0);
    put_operand(params, false, 0);
    put_operand(params, false, 1);
    put_operand(params, true, 0); /* t_out */
    qp_build_end(build);
    *x = qp_build_scale(build, cropped, (qp_scale){PCM_SCALE, network->afrac, QP_ROUND_HALF_UP},
                        QP_LIMITS_DERIVED);
    *x = qp_build_clamp(build, *x, INT16_MIN, INT16_MAX);
}

/* ---- graphs ------------------------------------------------------------------------------- */

/* A network's graph, with the output step it ends in. */
typedef enum output_step { STEP_NONE, STEP_RGB8, STEP_PCM } output_step;

static qp_status build_graph(qp_lower_job *job, const qp_network *network, qp_build *build,
                             output_step step, const char *role)
{
    qp_limits limits;
    qp_status status = qp_network_limits(job, network, 0, true, &limits);
    if (status != QP_OK)
        return status;
    if (step == STEP_PCM)
        qp_writer_scalar(&build->writer, 1, QP_ELEMENTS_MAX);
    qp_value x = qp_build_input(build, network->in_channels, limits, 0, 0);
    status = qp_network_build(job, network, build, &x);
    if (status != QP_OK)
        return status;
    if (step == STEP_RGB8)
        qp_network_rgb8(network, build, &x);
    else if (step == STEP_PCM)
        put_pcm(network, build, &x);
    return qp_build_finish(job, build, role, x);
}

static qp_status lower_network(qp_lower_job *job, qp_cursor *cursor, const char *role,
                               output_step step, uint32_t *afrac)
{
    qp_network network;
    qp_build build;
    qp_status status = qp_network_read(job, cursor, step == STEP_PCM ? "WAM1" : "WHM1", &network);
    if (status != QP_OK)
        return status;
    qp_build_init(&build, job->allocator);
    status = build_graph(job, &network, &build, step, role);
    if (afrac != NULL)
        *afrac = network.afrac;
    qp_build_free(&build);
    qp_network_free(job, &network);
    return status;
}

qp_status qp_network_role(qp_lower_job *job, qp_cursor *cursor, const char *role, bool rgb8,
                          uint32_t *afrac)
{
    return lower_network(job, cursor, role, rgb8 ? STEP_RGB8 : STEP_NONE, afrac);
}

/* A member that is one network. */
static qp_status lower_file(qp_lower_job *job, const char *path, const char *role, output_step step)
{
    const qp_member *member;
    qp_status status = qp_lower_member(job, path, &member);
    if (status != QP_OK)
        return status;
    qp_cursor cursor = qp_cursor_over(member);
    return lower_network(job, &cursor, role, step, NULL);
}

qp_status qp_lower_int_hyper(qp_lower_job *job)
{
    qp_status status = lower_file(job, "h_s.whm", "h_s", STEP_NONE);
    if (status == QP_OK)
        status = lower_file(job, "g_s.whm", "g_s", STEP_RGB8);
    return status == QP_OK ? qp_entropy_member(job, "entropy.json", NULL) : status;
}

qp_status qp_lower_splat(qp_lower_job *job)
{
    return lower_file(job, "g_s.whm", "g_s", STEP_RGB8);
}

qp_status qp_lower_audio(qp_lower_job *job)
{
    return lower_file(job, "g_s.wam", "g_s", STEP_PCM);
}

/* ---- bundles ------------------------------------------------------------------------------ */

typedef struct bundle {
    const char *magic, *path;
    const char *const *roles; /* the last ends in the RGB8 step */
    uint32_t n_roles;
} bundle;

static qp_status lower_networks(qp_lower_job *job, qp_cursor *cursor, const bundle *form,
                                uint32_t *afrac)
{
    for (uint32_t i = 0; i < form->n_roles; i++) {
        uint32_t length = qp_cursor_u32(cursor, "a network's length"), own = 0;
        qp_cursor part = qp_cursor_part(cursor, length, "a network");
        qp_status status = qp_cursor_check(job, cursor);
        job->part = form->roles[i];
        if (status == QP_OK)
            status = qp_network_role(job, &part, form->roles[i], i + 1 == form->n_roles, &own);
        if (status == QP_OK && i > 0 && own != *afrac)
            status = qp_lower_refuse(job, (int64_t)part.base + 8,
                                     "afrac is %lu, and %lu in the networks before it",
                                     (unsigned long)own, (unsigned long)*afrac);
        if (status != QP_OK)
            return status;
        *afrac = own;
        job->part = NULL;
    }
    return QP_OK;
}

static qp_status lower_tables(qp_lower_job *job, qp_cursor *cursor, uint32_t afrac)
{
    uint32_t length = qp_cursor_u32(cursor, "the tables' length");
    qp_cursor part = qp_cursor_part(cursor, length, "the tables");
    qp_status status = qp_cursor_check(job, cursor);
    if (status == QP_OK)
        status = qp_cursor_end(job, cursor);
    job->part = "tables";
    if (status == QP_OK)
        status = qp_entropy_check(job, &part, &afrac);
    job->part = NULL;
    return status;
}

static qp_status lower_bundle(qp_lower_job *job, const bundle *form)
{
    const qp_member *member;
    uint32_t afrac = 0;
    qp_status status = qp_lower_member(job, form->path, &member);
    if (status != QP_OK)
        return status;
    qp_cursor cursor = qp_cursor_over(member);
    status = qp_cursor_head(job, &cursor, form->magic);
    if (status != QP_OK)
        return status;
    int64_t offset = qp_cursor_offset(&cursor);
    uint32_t count = qp_cursor_u32(&cursor, "the count of networks");
    status = qp_cursor_check(job, &cursor);
    if (status == QP_OK && count != form->n_roles)
        status = qp_lower_refuse(job, offset, "a %s bundle holds %lu networks, not %lu",
                                 form->magic, (unsigned long)form->n_roles, (unsigned long)count);
    if (status == QP_OK)
        status = lower_networks(job, &cursor, form, &afrac);
    return status == QP_OK ? lower_tables(job, &cursor, afrac) : status;
}

qp_status qp_lower_wmb1(qp_lower_job *job)
{
    static const char *const roles[] = {"h_s", "entropy", "g_s"};
    return lower_bundle(job, &(bundle){"WMB1", "model.wmb", roles, QP_COUNT(roles)});
}

qp_status qp_lower_wcb1(qp_lower_job *job)
{
    static const char *const roles[] = {"ctx", "prior", "dec", "recon"};
    return lower_bundle(job, &(bundle){"WCB1", "model.wcb", roles, QP_COUNT(roles)});
}
