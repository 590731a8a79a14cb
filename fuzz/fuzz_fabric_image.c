/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_image.c - payloads and images of one fabric with every kind of field. The first byte
 * says which: a payload alone, put into a good image, or an image as it is. What decodes is what
 * encodes to the same bytes.
 */
#include "fabric/configuration.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char fabric_text[] =
    "fabric F { fu U (a:64, b:64, i:32) -> (y:64, z:16, k:32) {\n"
    "  op s FixedVectorSliceAlignMerge [vector.extract, vector.insert] in (64,64,32) out (64) "
    "params { integer_element_widths = [8], float_element_formats = [], "
    "max_container_payload_bits = 64, max_slice_payload_bits = 32, max_dynamic_position_rank = 1, "
    "resolved_index_widths = [32] }\n"
    "  op x FixedVectorShuffle [vector.shuffle] in (64,64) out (64) params { "
    "integer_element_widths = [8,16], float_element_formats = [], max_operand_payload_bits = 64, "
    "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 6, "
    "max_result_blocks = 3 }\n"
    "  op f ScalarIntegerCompareMinMax [arith.cmpi, arith.minsi] in (32,32) out (32) params { "
    "operand_widths = [8,32], comparison_predicates = [eq,slt] }\n"
    "  demux da 64 2 demux db 64 2 mux m 64 2 wire a -> da.0 wire b -> db.0 wire da.0 -> s.0 wire "
    "db.0 -> s.1 wire i -> s.2 wire da.1 -> x.0 wire db.1 -> x.1 wire s.0 -> m.0 wire x.0 -> m.1 "
    "wire m.0 -> y wire a -> f.0 wire b -> f.1 wire f.0 -> z wire f.0 -> k\n"
    "  template { ops [s,f] routes [da=0,db=0,m=0] } template { ops [x,f] routes [da=1,db=1,m=1] }"
    " } occ u U contexts 2 }";

static const char no_map[] = "0000000000000000000000000000000000000000000000000000000000000000";

typedef struct target {
    qp_fabric_model *model;
    qp_arena arena;
    qp_fabric_sealed sealed;
    qp_fabric_layout layout;
} target;

static void start(target *t)
{
    const qp_fabric_text text = {"fabric", fabric_text, sizeof fabric_text - 1};

    if (qp_fabric_read(&text, 1, NULL, &t->model, NULL) != QP_OK)
        abort();
    qp_arena_init(&t->arena, NULL);
    if (qp_fabric_seal_fabric(t->model, &t->model->fabrics[0], &t->arena, &t->sealed, NULL) !=
            QP_OK ||
        qp_fabric_layout_of(&t->sealed, &t->arena, &t->layout, NULL) != QP_OK)
        abort();
}

/* A payload that decodes comes back when it is encoded. */
static bool check_payload(target *t, const uint8_t *payload, size_t size,
                          qp_fabric_projection *projection)
{
    uint8_t *again;
    size_t again_size;

    if (qp_fabric_decode_payload(&t->layout, payload, size, &t->arena, projection, NULL) != QP_OK)
        return false;
    if (qp_fabric_encode_payload(&t->layout, projection, &t->arena, &again, &again_size, NULL) !=
            QP_OK ||
        again_size != size || memcmp(again, payload, size) != 0)
        abort();
    return true;
}

static void check_image(target *t, const uint8_t *bytes, size_t size)
{
    qp_fabric_projection projection;
    qp_fabric_image image;
    qp_buffer again;

    if (qp_fabric_get_image(&t->layout, bytes, size, NULL, &image, NULL) != QP_OK ||
        !check_payload(t, image.payload, image.payload_size, &projection))
        return;
    qp_buffer_init(&again, NULL);
    if (qp_fabric_put_image(&again, &t->layout, &projection, image.mapping, NULL) != QP_OK ||
        again.size != size || memcmp(again.bytes, bytes, size) != 0)
        abort();
    qp_buffer_free(&again);
}

static void check_made_image(target *t, const uint8_t *payload, size_t size)
{
    qp_fabric_projection projection;
    qp_buffer image;

    if (!check_payload(t, payload, size, &projection))
        return;
    qp_buffer_init(&image, NULL);
    if (qp_fabric_put_image(&image, &t->layout, &projection, no_map, NULL) != QP_OK)
        abort();
    check_image(t, image.bytes, image.size);
    qp_buffer_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target t;

    if (size == 0)
        return 0;
    start(&t);
    if (data[0] % 2 == 0)
        check_made_image(&t, data + 1, size - 1);
    else
        check_image(&t, data + 1, size - 1);
    qp_arena_free(&t.arena);
    qp_fabric_free(t.model);
    return 0;
}
