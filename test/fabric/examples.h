/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples.h - the worked examples of fabric-tables.md section 13, as files of section 12.
 */
#ifndef QP_TEST_FABRIC_EXAMPLES_H
#define QP_TEST_FABRIC_EXAMPLES_H

/* clang-format off */
static const char example_13_1[] =
    "fabric A { fu Alu (a:32, b:32) -> (y:32) {\n"
    "  op f ScalarIntegerAddSub [arith.addi, arith.subi] in (32,32) out (32) params { "
    "integer_widths = [8,32] }\n"
    "  wire a -> f.0  wire b -> f.1  wire f.0 -> y } occ u Alu }\n"
    "graph g { input %a : i32  input %b : i32  %d = arith.subi %a, %b : (i32,i32) -> "
    "(i32)  output %d }\n"
    "map m of g on A { realize r fu Alu template 0 { actor %d -> f in (0,1) out (0)\n"
    "  bound %d in 0 -> a  bound %d in 1 -> b  bound %d out 0 -> y } bind r -> u }\n";

static const char example_13_2[] =
    "fabric M {\n"
    "  fu Mac (a:32, b:32, pc:1, pd:1, init:32) -> (y:32) {\n"
    "    op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { "
    "integer_widths = [32] }\n"
    "    op acc ScalarIntegerAddSub [arith.addi, arith.subi] in (32,32) out (32) params "
    "{ integer_widths = [32] }\n"
    "    op car LoopCarry [dataflow.carry] in (1,32,32) out (32) params {}\n"
    "    op dmx TokenDemux [dataflow.demux] in (1,32) out (32,32) params { "
    "max_payload_bits = 32, max_fan = 2 }\n"
    "    wire a -> mul.0  wire b -> mul.1  wire pc -> car.0  wire init -> car.1  wire pd "
    "-> dmx.0\n"
    "    wire car.0 -> dmx.1  wire dmx.1 -> acc.0  wire mul.0 -> acc.1  wire acc.0 -> "
    "car.2  wire dmx.0 -> y\n"
    "  }\n"
    "  occ u Mac\n"
    "}\n"
    "graph dot {\n"
    "  input %a : i32  input %b : i32  input %ph : i1  input %init : i32\n"
    "  %p = arith.muli %a, %b : (i32,i32) -> (i32)\n"
    "  %c = dataflow.carry %ph, %init, %n : (i1,i32,i32) -> (i32)\n"
    "  %x0, %x1 = dataflow.demux %ph, %c : (i1,i32) -> (i32,i32)\n"
    "  %n = arith.addi %x1, %p : (i32,i32) -> (i32)\n"
    "  output %x0\n"
    "}\n"
    "map mac of dot on M {\n"
    "  realize r fu Mac template 0 {\n"
    "    actor %p -> mul in (0,1) out (0)     bound %p in 0 -> a  bound %p in 1 -> b\n"
    "    actor %c -> car in (0,1,2) out (0)   bound %c in 0 -> pc  bound %c in 1 -> init\n"
    "    actor %x0 -> dmx in (0,1) out (0,1)  bound %x0 in 0 -> pd  bound %x0 out 0 -> y\n"
    "    actor %n -> acc in (0,1) out (0)\n"
    "  }\n"
    "  bind r -> u\n"
    "}\n";

static const char example_13_3_slice[] =
    "fabric S { fu Slice (v:64, d:64, i:32, j:32) -> (y:64) {\n"
    "  op s FixedVectorSliceAlignMerge [vector.extract, vector.insert] in (64,64,32,32) "
    "out (64) params {\n"
    "    integer_element_widths = [8], float_element_formats = [], "
    "max_container_payload_bits = 64, max_slice_payload_bits = 32,\n"
    "    max_dynamic_position_rank = 2, resolved_index_widths = [32] }\n"
    "  wire v -> s.0  wire d -> s.1  wire i -> s.2  wire j -> s.3  wire s.0 -> y } occ u "
    "Slice }\n"
    "graph put index 32 { input %v : i8  input %d : vector<2x4xi8>  input %i : index\n"
    "  %r = vector.insert %v, %d, %i { position = [?,2] } : (i8,vector<2x4xi8>,index) -> "
    "(vector<2x4xi8>)  output %r }\n"
    "map mput of put on S { realize r fu Slice template 0 { actor %r -> s in (0,1,2) out "
    "(0)\n"
    "  bound %r in 0 -> v  bound %r in 1 -> d  bound %r in 2 -> i  bound %r out 0 -> y } "
    "bind r -> u }\n"
    "graph get { input %v : vector<2x4xi8>\n"
    "  %r = vector.extract %v { position = [1] } : (vector<2x4xi8>) -> (vector<4xi8>)  "
    "output %r }\n"
    "map mget of get on S { realize r fu Slice template 0 { actor %r -> s in (0) out (0)\n"
    "  bound %r in 0 -> v  bound %r out 0 -> y } bind r -> u }\n";

static const char example_13_3_shuffle[] =
    "fabric X { fu Shuf (a:64, b:64) -> (y:64) {\n"
    "  op s FixedVectorShuffle [vector.shuffle] in (64,64) out (64) params {\n"
    "    integer_element_widths = [8,16], float_element_formats = [], "
    "max_operand_payload_bits = 64, max_result_payload_bits = 64,\n"
    "    max_block_payload_bits = 32, max_source_blocks = 8, max_result_blocks = 4 }\n"
    "  wire a -> s.0  wire b -> s.1  wire s.0 -> y } occ u Shuf }\n"
    "graph mix { input %a : vector<2xi16>  input %b : vector<2xi16>\n"
    "  %r = vector.shuffle %a, %b { mask = [0,3,-1] } : (vector<2xi16>,vector<2xi16>) -> "
    "(vector<3xi16>)  output %r }\n"
    "map mmix of mix on X { realize r fu Shuf template 0 { actor %r -> s in (0,1) out (0)\n"
    "  bound %r in 0 -> a  bound %r in 1 -> b  bound %r out 0 -> y } bind r -> u }\n";

static const char example_13_4[] =
    "fabric B { fu Duo (a:32, b:32) -> (y:32) {\n"
    "  op add ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { "
    "integer_widths = [32] }\n"
    "  op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { "
    "integer_widths = [32] }\n"
    "  demux da 32 2  demux db 32 2  mux m 32 2\n"
    "  wire a -> da.0  wire b -> db.0  wire da.0 -> add.0  wire db.0 -> add.1  wire da.1 "
    "-> mul.0  wire db.1 -> mul.1\n"
    "  wire add.0 -> m.0  wire mul.0 -> m.1  wire m.0 -> y\n"
    "  template { ops [add] routes [da=0,db=0,m=0] }\n"
    "  template { ops [mul] routes [da=1,db=1,m=1] } } occ u Duo }\n"
    "graph sum { input %a : i32  input %b : i32  %s = arith.addi %a, %b : (i32,i32) -> "
    "(i32)  output %s }\n"
    "graph prod { input %a : i32  input %b : i32  %s = arith.muli %a, %b : (i32,i32) -> "
    "(i32)  output %s }\n"
    "map msum of sum on B { realize r fu Duo template 0 { actor %s -> add in (0,1) out "
    "(0)\n"
    "  bound %s in 0 -> a  bound %s in 1 -> b  bound %s out 0 -> y } bind r -> u }\n"
    "map mprod of prod on B { realize r fu Duo template 1 { actor %s -> mul in (0,1) out "
    "(0)\n"
    "  bound %s in 0 -> a  bound %s in 1 -> b  bound %s out 0 -> y } bind r -> u }\n";

static const char example_13_4_refused[] =
    "fabric B2 { fu Duo (a:32, b:32) -> (y:32) {   # refused: Invalid\n"
    "  op add ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { "
    "integer_widths = [32] }\n"
    "  op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { "
    "integer_widths = [32] }\n"
    "  mux m 32 2\n"
    "  wire a -> add.0  wire b -> add.1  wire a -> mul.0  wire b -> mul.1\n"
    "  wire add.0 -> m.0  wire mul.0 -> m.1  wire m.0 -> y\n"
    "  template { ops [add] routes [m=0] } } }\n";

/* clang-format on */

#endif
