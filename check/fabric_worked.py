# SPDX-License-Identifier: Apache-2.0
"""The worked values of sections 1, 7, 8, 9, 10, 11, 12.1 and 13 of fabric-tables.md: by the
    checker
and, where a verb says them, by the command."""

import hashlib
import json
import os

from fabric_mapping import Configuration, Verified
from fabric_random import token_lines, unit_text
from fabric_relation import Direct, Op
from fabric_simulate import simulate
from fabric_template import Sealed, contract_words
from fabric_text import File, FabricText, GraphText, MapText, identity
from fabric_types import Fault, atom, floating, integer, u32, vector

FILES = {"A": """
fabric A { fu Alu (a:32, b:32) -> (y:32) {
  op f ScalarIntegerAddSub [arith.addi, arith.subi] in (32,32) out (32) params { integer_widths =
    [8,32] }
  wire a -> f.0  wire b -> f.1  wire f.0 -> y } occ u Alu }
graph g { input %a : i32  input %b : i32  %d = arith.subi %a, %b : (i32,i32) -> (i32)  output %d }
map m of g on A { realize r fu Alu template 0 { actor %d -> f in (0,1) out (0)
  bound %d in 0 -> a  bound %d in 1 -> b  bound %d out 0 -> y } bind r -> u }
""", "M": """
fabric M {
  fu Mac (a:32, b:32, pc:1, pd:1, init:32) -> (y:32) {
    op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { integer_widths = [32] }
    op acc ScalarIntegerAddSub [arith.addi, arith.subi] in (32,32) out (32) params {
    integer_widths = [32] }
    op car LoopCarry [dataflow.carry] in (1,32,32) out (32) params {}
    op dmx TokenDemux [dataflow.demux] in (1,32) out (32,32) params { max_payload_bits = 32,
    max_fan = 2 }
    wire a -> mul.0  wire b -> mul.1  wire pc -> car.0  wire init -> car.1  wire pd -> dmx.0
    wire car.0 -> dmx.1  wire dmx.1 -> acc.0  wire mul.0 -> acc.1  wire acc.0 -> car.2  wire dmx.0
    -> y
  }
  occ u Mac
}
graph dot {
  input %a : i32  input %b : i32  input %ph : i1  input %init : i32
  %p = arith.muli %a, %b : (i32,i32) -> (i32)
  %c = dataflow.carry %ph, %init, %n : (i1,i32,i32) -> (i32)
  %x0, %x1 = dataflow.demux %ph, %c : (i1,i32) -> (i32,i32)
  %n = arith.addi %x1, %p : (i32,i32) -> (i32)
  output %x0
}
map mac of dot on M {
  realize r fu Mac template 0 {
    actor %p -> mul in (0,1) out (0)     bound %p in 0 -> a  bound %p in 1 -> b
    actor %c -> car in (0,1,2) out (0)   bound %c in 0 -> pc  bound %c in 1 -> init
    actor %x0 -> dmx in (0,1) out (0,1)  bound %x0 in 0 -> pd  bound %x0 out 0 -> y
    actor %n -> acc in (0,1) out (0)
  }
  bind r -> u
}
""", "S": """
fabric S { fu Slice (v:64, d:64, i:32, j:32) -> (y:64) {
  op s FixedVectorSliceAlignMerge [vector.extract, vector.insert] in (64,64,32,32) out (64) params
    {
    integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64,
    max_slice_payload_bits = 32,
    max_dynamic_position_rank = 2, resolved_index_widths = [32] }
  wire v -> s.0  wire d -> s.1  wire i -> s.2  wire j -> s.3  wire s.0 -> y } occ u Slice }
graph put index 32 { input %v : i8  input %d : vector<2x4xi8>  input %i : index
  %r = vector.insert %v, %d, %i { position = [?,2] } : (i8,vector<2x4xi8>,index) ->
    (vector<2x4xi8>)  output %r }
map mput of put on S { realize r fu Slice template 0 { actor %r -> s in (0,1,2) out (0)
  bound %r in 0 -> v  bound %r in 1 -> d  bound %r in 2 -> i  bound %r out 0 -> y } bind r -> u }
graph get { input %v : vector<2x4xi8>
  %r = vector.extract %v { position = [1] } : (vector<2x4xi8>) -> (vector<4xi8>)  output %r }
map mget of get on S { realize r fu Slice template 0 { actor %r -> s in (0) out (0)
  bound %r in 0 -> v  bound %r out 0 -> y } bind r -> u }
graph pick index 32 { input %v : vector<2x4xi8>  input %i : index  input %j : index
  %r = vector.extract %v, %i, %j { position = [?,?] } : (vector<2x4xi8>,index,index) -> (i8)
    output %r }
map mpick of pick on S { realize r fu Slice template 0 { actor %r -> s in (0,2,3) out (0)
  bound %r in 0 -> v  bound %r in 1 -> i  bound %r in 2 -> j  bound %r out 0 -> y } bind r -> u }
""", "X": """
fabric X { fu Shuf (a:64, b:64) -> (y:64) {
  op s FixedVectorShuffle [vector.shuffle] in (64,64) out (64) params {
    integer_element_widths = [8,16], float_element_formats = [], max_operand_payload_bits = 64,
    max_result_payload_bits = 64,
    max_block_payload_bits = 32, max_source_blocks = 8, max_result_blocks = 4 }
  wire a -> s.0  wire b -> s.1  wire s.0 -> y } occ u Shuf }
graph mix { input %a : vector<2xi16>  input %b : vector<2xi16>
  %r = vector.shuffle %a, %b { mask = [0,3,-1] } : (vector<2xi16>,vector<2xi16>) ->
    (vector<3xi16>)  output %r }
map mmix of mix on X { realize r fu Shuf template 0 { actor %r -> s in (0,1) out (0)
  bound %r in 0 -> a  bound %r in 1 -> b  bound %r out 0 -> y } bind r -> u }
""", "B": """
fabric B { fu Duo (a:32, b:32) -> (y:32) {
  op add ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { integer_widths = [32] }
  op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { integer_widths = [32] }
  demux da 32 2  demux db 32 2  mux m 32 2
  wire a -> da.0  wire b -> db.0  wire da.0 -> add.0  wire db.0 -> add.1  wire da.1 -> mul.0  wire
    db.1 -> mul.1
  wire add.0 -> m.0  wire mul.0 -> m.1  wire m.0 -> y
  template { ops [add] routes [da=0,db=0,m=0] }
  template { ops [mul] routes [da=1,db=1,m=1] } } occ u Duo }
graph sum { input %a : i32  input %b : i32  %s = arith.addi %a,
    %b : (i32,i32) -> (i32)  output %s }
graph prod { input %a : i32  input %b : i32  %s = arith.muli %a,
    %b : (i32,i32) -> (i32)  output %s }
map msum of sum on B { realize r fu Duo template 0 { actor %s -> add in (0,1) out (0)
  bound %s in 0 -> a  bound %s in 1 -> b  bound %s out 0 -> y } bind r -> u }
map mprod of prod on B { realize r fu Duo template 1 { actor %s -> mul in (0,1) out (0)
  bound %s in 0 -> a  bound %s in 1 -> b  bound %s out 0 -> y } bind r -> u }
"""}
FILES["A addi"] = FILES["A"].replace("arith.subi %a", "arith.addi %a")
FILES["A one"] = FILES["A addi"].replace("[arith.addi, arith.subi]", "[arith.addi]")
FILES["M subi"] = FILES["M"].replace("%n = arith.addi", "%n = arith.subi")
REFUSED = {
    "B2": """
fabric B2 { fu Duo (a:32, b:32) -> (y:32) {
  op add ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { integer_widths = [32] }
  op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { integer_widths = [32] }
  mux m 32 2
  wire a -> add.0  wire b -> add.1  wire a -> mul.0  wire b -> mul.1
  wire add.0 -> m.0  wire mul.0 -> m.1  wire m.0 -> y
  template { ops [add] routes [m=0] } } }
""",
    "B with da=0, db=1": FILES["B"].replace("da=0,db=0", "da=0,db=1")}

PAYLOADS = {("A", None): "00", ("A", "m"): "03", ("A addi", "m"): "01", ("A one", "m"): "01",
            ("M", "mac"): "01", ("M subi", "mac"): "03", ("S", "mput"): "43070400",
            ("S", "mget"): "811f0000", ("S", None): "00070000", ("X", "mmix"): "5fc400",
            ("X", None): "0e0000", ("B", "msum"): "01", ("B", "mprod"): "02", ("B", None): "00"}

IDENTITIES = {
    ("A", "A"): "906cf662b247adb63d4d2303c3babf0dbe00e7663625afc449da5c4f4bf6ee18",
    ("A", "g"): "b299bcfaf4ca67e255421f79318569bcdb659cc5630b9d87bb480d4edc7b420c",
    ("A", "m"): "4c92caea217c029c90b8615eb544df4ae227b85938a18a84cec7a83267cbdc22",
    ("M", "M"): "bf96aa63896fe45075484ca52cf3d4bc7472b21f5e9a60131c754f992bc0d38e",
    ("M", "dot"): "ba8bc08c1bc86a1a2a79108fc3906505c969142850f182d13aa6340a11e6f081",
    ("M", "mac"): "45662de25117fa5306eccbc525b194d1aff5012b999506e39571a3bfdfbc526e",
    ("S", "S"): "3dbf322920bf27d67aea8f4ff8a9f093ef90cc50a6a9d3f19fe2eac779cc05ba",
    ("S", "put"): "efecc019ac1a4af6298eda5f55069c1cadd50fae58b7104d8b01cd935aeb3ff4",
    ("S", "mput"): "4da0e3462376129ed7408b6b67a8bc17cd6e85dd996d520e799cd0f3297ef7e1",
    ("B", "B"): "8ea1cf810076080e594574d0f9a2e8a7af6c3fe23253289df177a994d1737918"}
ABI_A = "d0b3a3f60e05df2c1e7972ab5a0979e54de95316412ec0cfecbad5f21dc0b10f"
IMAGE_A = "7c7455709cd2edeac33892b29a67e84ef9855643adbf75635e950e7411109ac9"

CONTRACTS = (
    ("ScalarIntegerAddSub", {}, 120,
     "015822b23dedcfbb5743c4c4b4ec820883911ff125c93c1ed845acad12276e4a"),
    ("FixedVectorParallelize", {}, 380,
     "4020e187a50af4aaac43161071ff3eea9ce044c9ba53cab52f594fdfca32bae8"),
    ("FixedVectorSerialize", {"integer_element_widths": (8,), "float_element_formats": (),
                              "max_payload_bits": 32}, 256,
     "4f625c6e10493d23783793085ac5db0bfb10c82499183041521347e2ae60a7d0"),
    ("LoopCarry", {}, 188, "bd85caab1f962087dad2f35248de1508d6e10ea16f06b568f2b70ded1bb5036d"),
    ("LoopGate", {}, 236, "090c8007ef771f55c49d676399ca2d723228b22ed1486eed7fcd76a303719e14"),
    ("LoopStream", {}, 300, "7591f0efe21f1c0155d6fbea05912729002293a58dd1036cae733de1ad1fb441"))

STRICT = {"rounding_modes": ["to_nearest_even"], "nan_behaviors": ["ieee"],
          "subnormal_behaviors": ["preserve"], "signed_zero_behaviors": ["preserve"],
          "required_fast_math": []}
FOUR, ALL_MODES = ["f16", "bf16", "f32", "f64"], [
    "to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"]

# (family, schemas, ins, outs, params, number of keys (None: no relation), their lengths or None)
RELATIONS = (
    ("ScalarIntegerAddSub", ["arith.addi", "arith.subi"], [32, 32], [32],
     {"integer_widths": [32]}, 2, [73, 73]),
    ("ScalarIntegerAddSub", ["arith.addi"], [32, 32], [32], {"integer_widths": [32]}, None, None),
    ("ScalarSignedIntegerDivRem", ["arith.divsi", "arith.remsi"], [64, 64], [64],
     {"integer_widths": [8, 16, 32, 64]}, 8, None),
    ("ScalarSignedIntegerDivRem", ["arith.divsi"], [64, 64], [64], {"integer_widths": [32]},
     None, None),
    ("ScalarSignedIntegerDivRem", ["arith.divsi", "arith.remsi"], [64, 64], [64],
     {"integer_widths": [32]}, 2, None),
    ("LoopStream", ["dataflow.stream"], [32, 32, 32], [32, 1],
     {"integer_widths": [8, 32], "step_kind": "add", "predicates": ["slt", "ult"]}, 4, [121] * 4),
    ("ScalarFloatCompareMinMax", ["arith.cmpf"], [32, 32], [1],
     {"formats": ["f32"], "behavior": STRICT, "predicates": ["oeq", "ueq"]}, 2, None),
    ("ScalarFloatCompareMinMax", ["arith.cmpf", "arith.minnumf"], [16, 16], [16],
     {"formats": ["f16", "bf16"], "behavior": {**STRICT, "required_fast_math": ["nnan"]},
      "predicates": ["olt", "ult", "ord"]}, 3, [82, 136, 136]),
    ("ScalarIntegerToFloat", ["arith.sitofp", "arith.uitofp"], [32], [32],
     {"format_pairs": [(32, "f32")]}, 2, None),
    ("ScalarIntegerToFloat", ["arith.uitofp"], [32], [32], {"format_pairs": [(32, "f32")]},
     None, None),
    ("ScalarFloatToInteger", ["arith.fptosi", "arith.fptoui", "llvm.fptosi.sat",
                              "llvm.fptoui.sat"], [32], [32], {"format_pairs": [(32, "f32")]},
     2, None),
    ("ScalarFloatToInteger", ["arith.fptosi", "llvm.fptosi.sat"], [32], [32],
     {"format_pairs": [(32, "f32")]}, None, None),
    ("ScalarFloatAddSub", ["arith.addf", "arith.subf"], [64, 64], [64],
     {"formats": FOUR, "behavior": {**STRICT, "rounding_modes": ALL_MODES}}, 40, None),
    ("ScalarFloatAddSub", ["arith.addf"], [64, 64], [64],
     {"formats": ["f32"], "behavior": STRICT}, None, None),
    ("ScalarMathExp", ["math.exp"], [32], [32],
     {"formats": ["f16", "f32"], "behavior": STRICT, "accuracy_guarantee": "CorrectlyRounded"},
     2, None),
    ("ScalarMathExp", ["math.exp"], [16], [16],
     {"formats": ["f16", "f32"], "behavior": STRICT, "accuracy_guarantee": "CorrectlyRounded"},
     None, None),
    ("TokenMux", ["dataflow.mux"], [32, 16, 32, 16], [32],
     {"max_payload_bits": 32, "max_fan": 3}, 6, None),
    ("TokenSync", ["dataflow.sync"], [8, 8, 8], [8, 8, 8],
     {"max_payload_bits": 8, "max_fan": 3}, 3, None))

# section 7.4, and the key [1,3] of the routed example
KEYS = (
    (0, "Add", "1266acfb393e91a5ee3cd1ad7108ef01097d669569e4befb0c0ee48ba3378692"),
    (2, "Quotient i32", "b3ec98f3ff8138f133caf64f1e6ace9df3af11af0219282e27834ebe3ea44586"),
    (5, "LoopStream i32 slt", "df1c2fda85593aa7f02c3c8b56779df91f1a0994fae57f093371704ce0f98413"),
    (12, "Add f32 downward", "71d407b5baacf1423de925163e2c42f251b0657ae3c6715a95e6b03f9c484d3a"))
COMPARE = ("ScalarIntegerCompareMinMax", ["arith.cmpi", "arith.minsi"], [64, 64], [64],
           {"operand_widths": [16, 32], "comparison_predicates": ["slt", "ult"]}, 4, None)
COMPARE_KEY = "e6a84bf7d227fe0deb6442e42d409a9c604562a3396779fc00aa91536321de67"

TOKENS = {"a": [3, 5], "b": [4, 6], "ph": [1, 1, 0], "init": [10]}
RUNS = (  # file, tokens, stalls, resets, result
    ("M", TOKENS, {}, (), ([0x34], [5])),
    ("M subi", TOKENS, {}, (), ([0xffffffe0], [5])),
    ("M", TOKENS, {"b": [(0, 2)], "x0": [(5, 8)]}, (), ([0x34], [8])),
    ("M", {**TOKENS, "init": [10, 1]}, {}, (3,), ([1], [5])))


def op_of(row):
    family, schemas, ins, outs, params = row[:5]
    file = File(unit_text(family, schemas, ins, outs, params).encode())
    return Op(file.fabrics["F"].units[0].nodes[0])


def codecs():
    yield "1.2 f32", floating("f32").encode() == bytes.fromhex(
        "6c6f6f6d2e64617461666c6f772e63616e6f6e6963616c2d74797065"
        "00000000010000000000000004" "0000000f")
    yield "1.2 i32", integer(32).term() == bytes.fromhex("000000030000000100000020")
    yield "1.2 vector<4xi8>", vector((4,), integer(8)).term() == bytes.fromhex(
        "00000005000000000000000100000000000000040000000300000001" "00000008")
    yield "1.3 slt", len(atom("integer-compare-predicate", "slt")) == 52
    yield "11 identity of nothing", identity("loom.fabric", 7, 1, b"") == (
        "db6e5fab4186b3089018bc745cf932a3b71c3598a6348d5ff3fccb0312e04498")


def relations():
    for k, row in enumerate(RELATIONS):
        relation = op_of(row).relation
        keys = relation and relation.keys
        good = (keys and len(keys)) == row[5] and (
            row[6] is None or sorted(map(len, keys)) == row[6])
        yield f"7 relation {k} {row[0]}", good
    for k, what, digest in KEYS:
        keys = op_of(RELATIONS[k]).relation.keys
        yield f"7.4 {what}", digest in {hashlib.sha256(key).hexdigest() for key in keys}
    digests = {hashlib.sha256(key).hexdigest() for key in op_of(COMPARE).relation.keys}
    yield "7.4 Compare slt i32", COMPARE_KEY in digests
    mux = op_of(RELATIONS[-2])
    yield "7.4 lanes", mux.images() == {(1, 3), (1, 2), (2, 1), (1, 3, 2), (1, 2, 3), (2, 1, 3)}
    sync = op_of(RELATIONS[-1])
    yield "7.4 sync", sync.images() == {(0,), (0, 1), (0, 1, 2)}


def contracts():
    class Node:
        pass
    for family, params, size, digest in CONTRACTS:
        node = Node()
        node.family, node.params = family, params
        data = b"".join(u32(w) for w in contract_words(node))
        yield f"9 {family}", (len(data), hashlib.sha256(data).hexdigest()) == (size, digest)


def carriers():
    def constant(type_, value):
        text = unit_text("TokenConstant", ["dataflow.constant"], [0], [16],
                         {"max_payload_bits": 16})
        text += (f"graph g {{ input %c : none %r = dataflow.constant %c {{ value = {value} }} : "
                 f"(none) -> ({type_}) output %r }} map m of g on F {{ realize r fu U template 0 "
                 "{ actor %r -> f in (0) out (0) bound %r in 0 -> a0 bound %r out 0 -> y0 } "
                 "bind r -> u }")
        map_ = File(text.encode()).maps["m"]
        slot = Configuration(map_.fabric, map_).slots[-1]
        return slot.value()[0].hex()
    for type_, value, expected in (
            ("i8", "-1", "ff00"), ("vector<2xi8>", "[1,2]", "0102"), ("f16", "0x3c00", "003c"),
            ("i12", "0xabc", "bc0a"), ("f16", "0x8000", "0080")):
        yield f"8 constant {type_} {value}", constant(type_, value) == expected
    try:
        constant("i32", "1")
        yield "8 constant i32", False
    except Fault as fault:
        yield "8 constant i32", fault.kind == "CapabilityInadmissible"
    slots = {m: Configuration(f.fabrics[n], f.maps[m]).slots[-1].value()[0].hex()
             for n, m in (("S", "mget"), ("S", "mput"), ("S", "mpick"), ("X", "mmix"))
             for f in [File(FILES[n].encode())]}
    yield "8 slice", (slots["mget"], slots["mput"], slots["mpick"]) == (
        "c00f0000", "a1030200", "80034200")
    yield "8 shuffle", slots["mmix"] == "2f6200"
    yield from rejected_carriers()


def rejected_carriers():
    op = Sealed(File(FILES["S"].encode()).fabrics["S"]).ops[0][0]
    relation = op.relation
    assert isinstance(relation, Direct)
    for what, values in (("offset", [0, 4, 7, 0, 0]), ("zero then stride", [0, 0, 7, 0, 8]),
                         ("8,32", [0, 0, 7, 8, 32]), ("past container", [0, 0, 31, 96, 0])):
        yield f"8 rejected {what}", not op.in_domain(relation.pack(values))
    yield "8 rejected bit 26", not op.in_domain(1 << 26)
    yield "8 inactive", (op.inactive()[0].hex() == "80030000")
    op = Sealed(File(FILES["X"].encode()).fabrics["X"]).ops[0][0]
    for what, values in (("L=8", [7, 7, 0, 0, 0, 0, 0]), ("S beyond R", [7, 0, 0, 0, 1, 0, 0])):
        yield f"8 rejected {what}", not op.in_domain(op.relation.pack(values))
    yield "8 inactive shuffle", op.inactive()[0].hex() == "070000"


def identities():
    for (name, item), digest in IDENTITIES.items():
        file = File(FILES[name].encode())
        text = (FabricText(file.fabrics[item]) if item in file.fabrics
                else GraphText(file.graphs[item]) if item in file.graphs
                else MapText(file.maps[item]))
        yield f"13 identity of {item}", text.identity == digest
    file = File(FILES["A"].encode())
    c = Configuration(file.fabrics["A"], file.maps["m"])
    yield "13.1 ABI", (len(c.abi()), c.abi_identity()) == (1698, ABI_A)
    yield "13.1 image", (len(c.image()), len(c.header()), identity(
        "loom.hardware_configuration_image", 1, 0, c.image())) == (384, 371, IMAGE_A)
    templates = Sealed(File(FILES["B"].encode()).fabrics["B"]).templates[0]
    yield "13.4 templates", [(len(t.nodes), len(t.wires)) for t in templates] == [(4, 6)] * 2
    (mac,) = Sealed(File(FILES["M"].encode()).fabrics["M"]).templates[0]
    yield "13.2 template", (len(mac.nodes), len(mac.wires)) == (4, 10)


def configurations(command, put):
    for (name, map_), payload in PAYLOADS.items():
        file = File(FILES[name].encode())
        fabric = next(iter(file.fabrics.values()))
        c = Configuration(fabric, file.maps[map_] if map_ else None)
        yield f"13 payload of {name} {map_}", c.payload.hex() == payload
        path = put(FILES[name] if map_ else FILES[name][:FILES[name].index("graph ")])
        fault, out, _ = command("configure", "--json", *(["--map", map_] if map_ else []), path)
        yield f"13 configure {name} {map_}", fault is None and json.loads(out) == c.report()
    for name, text in REFUSED.items():
        try:
            Sealed(next(iter(File(text.encode()).fabrics.values())))
            yield f"13.4 {name}", False
        except Fault as fault:
            yield f"13.4 {name}", fault.kind == "Invalid"
        yield f"13.4 {name} by the command", command("check", put(text))[0] == "Invalid"


def runs(command, put):
    for k, (name, tokens, stalls, resets, result) in enumerate(RUNS):
        (map_,) = File(FILES[name].encode()).maps.values()
        yield f"12.1 run {k}", simulate(map_, tokens, stalls, resets) == {"x0": result}
        types = {n: map_.graph.bits(n) for n in tokens}
        arguments = ["--tokens", put(token_lines({"types": types, "streams": tokens}))]
        if stalls:
            arguments += ["--stalls", put("".join(json.dumps(
                {"port": n, "cycles": [list(s) for s in spans]}) + "\n"
                for n, spans in stalls.items()))]
        for cycle in resets:
            arguments += ["--reset", str(cycle)]
        fault, out, _ = command("simulate", *arguments, put(FILES[name]))
        expected = {"port": "x0", "tokens": [f"{result[0][0]:08x}"], "cycles": result[1]}
        yield f"12.1 simulate {k}", fault is None and json.loads(out) == expected


def verdicts(command, put):
    """fabric_cases.txt: small files at the edges of section 12, each with what becomes of it."""
    with open(os.path.join(os.path.dirname(__file__), "fabric_cases.txt"), encoding="ascii") as f:
        blocks = f.read().split("=== ")[1:]
    for k, block in enumerate(blocks):
        verdict, text = block.split("\n", 1)
        try:
            file = File(text.encode())
            for fabric in file.fabrics.values():
                Sealed(fabric)
            for map_ in file.maps.values():
                Verified(map_)
            mine = "holds"
        except Fault as fault:
            mine = fault.kind
        yield f"12 case {k}", mine == verdict
        yield f"12 case {k} by the command", (command("check", put(text))[0] or "holds") == verdict


def values(command, folder):
    """(name, whether it holds) of every worked value."""
    count = 0

    def put(text):
        nonlocal count
        count += 1
        path = os.path.join(folder, f"worked{count}")
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
        return path
    yield from codecs()
    yield from relations()
    yield from contracts()
    yield from carriers()
    yield from identities()
    yield from configurations(command, put)
    yield from verdicts(command, put)
    yield from runs(command, put)
