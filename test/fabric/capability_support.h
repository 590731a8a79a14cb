/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capability_support.h - one operation, given by the parts of its line in the text form, read from
 * a fabric that wires it to ports of its own; and perhaps a graph beside it.
 */
#ifndef QP_TEST_FABRIC_CAPABILITY_SUPPORT_H
#define QP_TEST_FABRIC_CAPABILITY_SUPPORT_H

#include "fabric/relation.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The parts of "op f FAMILY [SCHEMAS] in (IN) out (OUT) params { PARAMS }". */
typedef struct op_text {
    const char *family, *schemas, *in, *out, *params;
} op_text;

typedef struct op_case {
    qp_fabric_model *model;
    const qp_fabric_node *node;
    const qp_fabric_graph *graph; /* the first, NULL without one */
    qp_arena arena;
    qp_fabric_capability capability;
    qp_fabric_error error;
    qp_status status;
} op_case;

/* The widths of a list as ports "a0:W, a1:W"; returns how many. */
static inline unsigned put_ports(qp_buffer *text, const char *name, const char *widths)
{
    unsigned count = 0;

    for (const char *at = widths; *at != '\0'; count++) {
        const size_t length = strcspn(at, ",");
        qp_buffer_format(text, "%s%s%u:%.*s", count > 0 ? ", " : "", name, count, (int)length, at);
        at += length + (at[length] == ',');
    }
    return count;
}

static inline void put_op_fabric(qp_buffer *text, const op_text *op)
{
    qp_buffer_text(text, "fabric F { fu U (");
    const unsigned inputs = put_ports(text, "a", op->in);
    qp_buffer_text(text, ") -> (");
    const unsigned outputs = put_ports(text, "y", op->out);
    qp_buffer_format(text, ") { op f %s [%s] in (%s) out (%s) params { %s }", op->family,
                     op->schemas, op->in, op->out, op->params);
    for (unsigned i = 0; i < inputs; i++)
        qp_buffer_format(text, " wire a%u -> f.%u", i, i);
    for (unsigned i = 0; i < outputs; i++)
        qp_buffer_format(text, " wire f.%u -> y%u", i, i);
    qp_buffer_text(text, " } occ u U }\n");
}

/* Reads the operation and `graph` (which may be NULL) and does no more; the status is the
 * reader's. */
static inline op_case read_op(const op_text *op, const char *graph)
{
    op_case c = {.model = NULL};
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    put_op_fabric(&text, op);
    qp_buffer_text(&text, graph != NULL ? graph : "");
    const qp_fabric_text input = {"op", text.bytes, text.size};
    c.status = qp_fabric_read(&input, 1, NULL, &c.model, &c.error);
    if (c.status == QP_OK) {
        c.node = &c.model->fabrics[0].fus[0].nodes[0];
        c.graph = c.model->n_graphs > 0 ? &c.model->graphs[0] : NULL;
    }
    qp_buffer_free(&text);
    qp_arena_init(&c.arena, NULL);
    return c;
}

/* Reads and seals; the status is of either. */
static inline op_case seal_op(const op_text *op, const char *graph)
{
    op_case c = read_op(op, graph);

    if (c.status == QP_OK)
        c.status = qp_fabric_seal(c.node, &c.arena, &c.capability, &c.error);
    return c;
}

static inline void free_op(op_case *c)
{
    qp_arena_free(&c->arena);
    qp_fabric_free(c->model);
}

static inline void assert_sealed(const op_case *c)
{
    char line[512];
    if (c->status != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&c->error, line, sizeof line));
}

/* How a relation shows: "None", "Direct 26", or the texts of the keys with '|' between them. */
static inline void put_relation_text(qp_buffer *text, const qp_fabric_relation *relation)
{
    if (relation->kind == QP_FABRIC_RELATION_NONE)
        qp_buffer_text(text, "None");
    if (relation->kind == QP_FABRIC_RELATION_DIRECT)
        qp_buffer_format(text, "Direct %lu", (unsigned long)relation->carrier_bits);
    for (size_t i = 0; i < relation->key_count; i++)
        qp_buffer_format(text, "%s%s", i > 0 ? "|" : "", relation->keys[i].text);
}

/* The relation of an operation, or the class of its refusal, against `expected`. */
static inline void assert_relation(const op_text *op, const char *expected)
{
    op_case c = seal_op(op, NULL);
    qp_buffer text;
    char line[512];

    qp_buffer_init(&text, NULL);
    if (c.status == QP_OK)
        put_relation_text(&text, &c.capability.relation);
    else
        qp_buffer_text(&text, qp_fabric_fault_name(c.error.fault));
    qp_buffer_append(&text, "", 1);
    if (strcmp((const char *)text.bytes, expected) != 0)
        print_error("%s [%s] { %s }: %s, not %s (%s)", op->family, op->schemas, op->params,
                    (const char *)text.bytes, expected,
                    c.status == QP_OK ? "" : qp_fabric_error_text(&c.error, line, sizeof line));
    const bool good = strcmp((const char *)text.bytes, expected) == 0;
    qp_buffer_free(&text);
    free_op(&c);
    assert_true(good);
}

/* Bytes as lower-case hex against `expected`. */
static inline void assert_hex(const void *bytes, size_t size, const char *expected)
{
    qp_buffer hex;

    qp_buffer_init(&hex, NULL);
    qp_buffer_hex(&hex, bytes, size);
    qp_buffer_append(&hex, "", 1);
    assert_string_equal((const char *)hex.bytes, expected);
    qp_buffer_free(&hex);
}

static inline void assert_sha256(const void *bytes, size_t size, const char *expected)
{
    uint8_t digest[QP_SHA256_SIZE];
    char text[QP_SHA256_HEX_SIZE];
    qp_sha256 hash;

    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
    assert_string_equal(text, expected);
}

/* An actor of the case's graph at its first canonical ports; the arrays are the arena's. */
static inline qp_fabric_offer offer_actor(op_case *c, uint32_t actor)
{
    qp_fabric_offer offer = {.signature = qp_fabric_actor_signature(c->graph, actor)};
    uint32_t *operands =
        qp_arena_allocate(&c->arena, offer.signature.operand_count, sizeof *operands);
    uint32_t *results = qp_arena_allocate(&c->arena, offer.signature.result_count, sizeof *results);
    uint64_t cursor = 0;

    assert_non_null(operands);
    assert_non_null(results);
    assert_true(
        qp_fabric_next_correspondence(c->node, &offer.signature, &cursor, operands, results));
    offer.operand_ports = operands;
    offer.result_ports = results;
    return offer;
}

/* The semantic value of an actor, which must be admitted. */
static inline qp_fabric_semantic_value project_actor(op_case *c, uint32_t actor)
{
    const qp_fabric_offer offer = offer_actor(c, actor);
    qp_fabric_semantic_value value = {NULL, 0};
    char line[512];

    if (qp_fabric_admit(c->node, &offer, &c->error) != QP_OK ||
        qp_fabric_project(&c->capability, &offer, &c->arena, &value, &c->error) != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&c->error, line, sizeof line));
    assert_int_equal(qp_fabric_check_value(&c->capability, value, NULL), QP_OK);
    return value;
}

#endif
