/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.h - the channels of a map by the names that traces give them. A channel ends at an
 * operand ("n.1": operand 1 of the actor whose first result is %n), at the queue of a unit's port
 * ("r.a": port a of realization r), or at a graph output ("x0").
 */
#ifndef QP_FABRIC_CHANNELS_H
#define QP_FABRIC_CHANNELS_H

#include "fabric/mapping.h"

/* A queue: the port of a realization's unit that external edges of one value come to. */
typedef struct qp_fabric_port_queue {
    uint32_t realization, port, value;
} qp_fabric_port_queue;

typedef struct qp_fabric_channel {
    const char *name;
    uint32_t value; /* whose tokens pass */
    uint32_t number;
} qp_fabric_channel;

/* Channels are numbered: the operands of all actors, the queues, the outputs. A graph input's
 * tokens stand in their queues, so that nothing passes on the channels of those queues. */
typedef struct qp_fabric_channels {
    uint32_t operand_count, queue_count, output_count;
    const qp_fabric_port_queue *queues; /* by realization and port */
    const uint32_t *queue_of;           /* [operand]: NO_INDEX where its edge is internal */
    const uint32_t *first_operand;      /* [actor] */
    const qp_fabric_channel *rows;      /* NULL where no names were asked for */
    const qp_fabric_channel *by_name;   /* the same by name */
} qp_fabric_channels;

/* Without memory: false. `named` asks for the names. */
bool qp_fabric_channels_of(const qp_fabric_verified *verified, bool named, qp_arena *arena,
                           qp_fabric_channels *channels);

static inline uint32_t qp_fabric_channel_count(const qp_fabric_channels *channels)
{
    return channels->operand_count + channels->queue_count + channels->output_count;
}

/* The channel of a name; QP_FABRIC_NO_INDEX for none. */
uint32_t qp_fabric_find_channel(const qp_fabric_channels *channels, const char *name);

/* The name of an actor in traces: its first result's. */
const char *qp_fabric_actor_name(const qp_fabric_verified *verified, uint32_t actor);

#endif
