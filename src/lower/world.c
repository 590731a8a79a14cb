/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - world/1: the transition and the synthesis of a world model (integer-operators.md
 * section 13.5).
 *
 * The set holds no latent: its channels C are those that g_s reads, since every frame is
 * g_s of the latent.
 */
#include "lower/network.h"

/* The concat of z and the planes reads at most 255 tensors. */
#define PLANES_MAX (QP_INPUTS_MAX - 1)

/* x_0 is the concat's output; where layer 0 has no predicate of its own it is checked against the
 * whole of 64 bits all the same (readings, 26). */
static qp_value build_planes(const qp_limits *x0, uint32_t n_planes, qp_value z, qp_build *build)
{
    qp_value in[QP_INPUTS_MAX];
    in[0] = z;
    for (uint32_t a = 0; a < n_planes; a++) {
        in[a + 1] = qp_build_tensor(build, 1, QP_LIMITS_DERIVED);
        qp_buffer *params = qp_build_begin(build, "fill", &z, 1, in[a + 1]);
        qp_buffer_le(params, 1, 8); /* a scalar, and seven reserved */
        qp_buffer_le(params, a, 8);
        qp_build_end(build);
    }
    return qp_build_concat(build, in, n_planes + 1, *x0);
}

static qp_status build_transition(qp_lower_job *job, const qp_network *t, uint32_t channels,
                                  qp_build *build)
{
    uint32_t n_planes = t->in_channels - channels;
    qp_limits x0, whole = {QP_CHECK, INT64_MIN, INT64_MAX};
    qp_status status = qp_network_limits(job, t, 0, true, &x0);
    if (status != QP_OK)
        return status;
    for (uint32_t a = 0; a < n_planes; a++)
        qp_writer_scalar(&build->writer, INT64_MIN, INT64_MAX);
    qp_value x = qp_build_input(build, channels, whole, 0, 0);
    x = build_planes(&x0, n_planes, x, build);
    status = qp_network_build(job, t, build, &x);
    if (status != QP_OK)
        return status;
    int64_t one = (int64_t)1 << t->afrac;
    return qp_build_finish(job, build, "T", qp_build_clamp(build, x, -one, one));
}

static qp_status check_transition(const qp_lower_job *job, const qp_network *t, const qp_network *g)
{
    if (t->afrac != g->afrac)
        return qp_lower_refuse(job, 8, "afrac is %lu, and %lu in g_s.whm", (unsigned long)t->afrac,
                               (unsigned long)g->afrac);
    if (t->in_channels <= g->in_channels)
        return qp_lower_refuse(job, -1,
                               "the network reads %lu channels, and the latent has %lu: "
                               "no action plane is left",
                               (unsigned long)t->in_channels, (unsigned long)g->in_channels);
    if (t->in_channels - g->in_channels > PLANES_MAX)
        return qp_lower_refuse(job, -1, "the network reads more than %d action planes", PLANES_MAX);
    if (t->out_channels != g->in_channels)
        return qp_lower_refuse(job, -1, "the network gives %lu channels, and the latent has %lu",
                               (unsigned long)t->out_channels, (unsigned long)g->in_channels);
    return QP_OK;
}

/* Reads the network of a member. */
static qp_status read_network(qp_lower_job *job, const char *path, qp_network *network)
{
    const qp_member *member;
    *network = (qp_network){0};
    qp_status status = qp_lower_member(job, path, &member);
    if (status != QP_OK)
        return status;
    qp_cursor cursor = qp_cursor_over(member);
    return qp_network_read(job, &cursor, "WHM1", network);
}

static qp_status lower_transition(qp_lower_job *job, const qp_network *t, const qp_network *g)
{
    qp_build build;
    qp_status status = check_transition(job, t, g);
    if (status != QP_OK)
        return status;
    qp_build_init(&build, job->allocator);
    status = build_transition(job, t, g->in_channels, &build);
    qp_build_free(&build);
    return status;
}

static qp_status lower_synthesis(qp_lower_job *job)
{
    const qp_member *member;
    qp_status status = qp_lower_member(job, "g_s.whm", &member);
    if (status != QP_OK)
        return status;
    qp_cursor cursor = qp_cursor_over(member);
    return qp_network_role(job, &cursor, "g_s", true, NULL);
}

qp_status qp_lower_world(qp_lower_job *job)
{
    qp_network g, t;
    qp_status status = read_network(job, "g_s.whm", &g);
    if (status != QP_OK)
        return status;
    status = read_network(job, "T.whm", &t);
    if (status == QP_OK)
        status = lower_transition(job, &t, &g);
    qp_network_free(job, &t);
    qp_network_free(job, &g);
    return status == QP_OK ? lower_synthesis(job) : status;
}
