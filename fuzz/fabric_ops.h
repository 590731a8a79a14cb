/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_ops.h - the operations that the targets of keys, carriers and contracts try bytes on: the
 * first byte of an input chooses one.
 */
#ifndef QP_FUZZ_FABRIC_OPS_H
#define QP_FUZZ_FABRIC_OPS_H

#include "fabric/capability.h"

#include <stdlib.h>

/* One unit of one operation each. */
static const char fabric_ops[] =
    "fabric F {\n"
    "fu U0 (a:32, b:32) -> (y:32) { op f ScalarIntegerAddSub [arith.addi, arith.subi]\n"
    "  in (32,32) out (32) params { integer_widths = [8,32] }\n"
    "  wire a -> f.0 wire b -> f.1 wire f.0 -> y }\n"
    "fu U1 (a:32, b:32) -> (y:32) { op f ScalarIntegerCompareMinMax [arith.cmpi, arith.minsi]\n"
    "  in (32,32) out (32) params { operand_widths = [8,32], comparison_predicates = [eq,slt] }\n"
    "  wire a -> f.0 wire b -> f.1 wire f.0 -> y }\n"
    "fu U2 (a:32, b:32) -> (y:32) { op f ScalarFloatCompareMinMax [arith.cmpf, arith.minnumf]\n"
    "  in (32,32) out (32) params { formats = [f16,bf16,f32], predicates = [olt,ord],\n"
    "    behavior = { rounding_modes = [to_nearest_even], nan_behaviors = [ieee],\n"
    "      subnormal_behaviors = [preserve], signed_zero_behaviors = [preserve],\n"
    "      required_fast_math = [] } }\n"
    "  wire a -> f.0 wire b -> f.1 wire f.0 -> y }\n"
    "fu U3 (s:32, a:16, b:32, c:16) -> (y:32) { op f TokenMux [dataflow.mux]\n"
    "  in (32,16,32,16) out (32) params { max_payload_bits = 32, max_fan = 3 }\n"
    "  wire s -> f.0 wire a -> f.1 wire b -> f.2 wire c -> f.3 wire f.0 -> y }\n"
    "fu U4 (a:8, p:1) -> (v:32, m:4, q:1) { op f FixedVectorParallelize [dataflow.parallelize]\n"
    "  in (8,1) out (32,4,1) params { integer_element_widths = [8], float_element_formats = [],\n"
    "    max_payload_bits = 32 }\n"
    "  wire a -> f.0 wire p -> f.1 wire f.0 -> v wire f.1 -> m wire f.2 -> q }\n"
    "fu U5 (v:32, m:4, p:1) -> (a:8, q:1) { op f FixedVectorSerialize [dataflow.serialize]\n"
    "  in (32,4,1) out (8,1) params { integer_element_widths = [8], float_element_formats = [],\n"
    "    max_payload_bits = 32 }\n"
    "  wire v -> f.0 wire m -> f.1 wire p -> f.2 wire f.0 -> a wire f.1 -> q }\n"
    "fu U6 (i:32, l:32, s:32) -> (v:32, p:1) { op f LoopStream [dataflow.stream]\n"
    "  in (32,32,32) out (32,1) params { integer_widths = [8,32], step_kind = add,\n"
    "    predicates = [slt,ult] }\n"
    "  wire i -> f.0 wire l -> f.1 wire s -> f.2 wire f.0 -> v wire f.1 -> p }\n"
    "fu U7 (p:1, v:32) -> (q:1, y:32) { op f LoopGate [dataflow.gate] in (1,32) out (1,32)\n"
    "  params {} wire p -> f.0 wire v -> f.1 wire f.0 -> q wire f.1 -> y }\n"
    "fu U8 (t:0) -> (y:16) { op f TokenConstant [dataflow.constant] in (0) out (16)\n"
    "  params { max_payload_bits = 64 } wire t -> f.0 wire f.0 -> y }\n"
    "fu U9 (v:64, d:64, i:32, j:32) -> (y:64) {\n"
    "  op f FixedVectorSliceAlignMerge [vector.extract, vector.insert] in (64,64,32,32) out (64)\n"
    "  params { integer_element_widths = [8], float_element_formats = [],\n"
    "    max_container_payload_bits = 64, max_slice_payload_bits = 32,\n"
    "    max_dynamic_position_rank = 2, resolved_index_widths = [32] }\n"
    "  wire v -> f.0 wire d -> f.1 wire i -> f.2 wire j -> f.3 wire f.0 -> y }\n"
    "fu U10 (v:40, d:64, i:64, j:64, k:63) -> (y:24) {\n"
    "  op f FixedVectorSliceAlignMerge [vector.extract] in (40,64,64,64,63) out (24)\n"
    "  params { integer_element_widths = [1], float_element_formats = [f16],\n"
    "    max_container_payload_bits = 50, max_slice_payload_bits = 50,\n"
    "    max_dynamic_position_rank = 3, resolved_index_widths = [64] }\n"
    "  wire v -> f.0 wire d -> f.1 wire i -> f.2 wire j -> f.3 wire k -> f.4 wire f.0 -> y }\n"
    "fu U11 (a:64, b:64) -> (y:64) { op f FixedVectorShuffle [vector.shuffle]\n"
    "  in (64,64) out (64) params { integer_element_widths = [8,16], float_element_formats = [],\n"
    "    max_operand_payload_bits = 64, max_result_payload_bits = 64,\n"
    "    max_block_payload_bits = 32, max_source_blocks = 8, max_result_blocks = 4 }\n"
    "  wire a -> f.0 wire b -> f.1 wire f.0 -> y }\n"
    "fu U12 (a:40, b:33) -> (y:90) { op f FixedVectorShuffle [vector.shuffle]\n"
    "  in (40,33) out (90) params { integer_element_widths = [1], float_element_formats = [f16],\n"
    "    max_operand_payload_bits = 50, max_result_payload_bits = 100,\n"
    "    max_block_payload_bits = 17, max_source_blocks = 5, max_result_blocks = 7 }\n"
    "  wire a -> f.0 wire b -> f.1 wire f.0 -> y }\n"
    "}\n";

/* An operation chosen and sealed. */
typedef struct fabric_op {
    qp_fabric_model *model;
    qp_arena arena;
    qp_fabric_capability capability;
} fabric_op;

static inline fabric_op fabric_op_open(uint8_t choice)
{
    const qp_fabric_text text = {"ops", fabric_ops, sizeof fabric_ops - 1};
    fabric_op op;

    if (qp_fabric_read(&text, 1, NULL, &op.model, NULL) != QP_OK)
        abort();
    const qp_fabric_fabric *fabric = &op.model->fabrics[0];
    qp_arena_init(&op.arena, NULL);
    if (qp_fabric_seal(&fabric->fus[choice % fabric->n_fus].nodes[0], &op.arena, &op.capability,
                       NULL) != QP_OK)
        abort();
    return op;
}

static inline void fabric_op_close(fabric_op *op)
{
    qp_arena_free(&op->arena);
    qp_fabric_free(op->model);
}

#endif
