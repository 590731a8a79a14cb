# SPDX-License-Identifier: Apache-2.0
"""Sections 4 and 5 of fabric-tables.md: implementation families and their parameter records."""

from typing import NamedTuple

from fabric_types import (FAST_MATH, FLOAT_PREDICATES, FLOATS, INTEGER_PREDICATES, LOGIC_WIDTHS,
                          ORDINARY_WIDTHS, ROUNDINGS, SCHEMAS, STEPS, TIERS)

# A field's kind: ("widths", allowed), ("words", vocabulary), ("word", vocabulary), ("number",),
# ("width_pairs",), ("format_pairs", float or integer sources), ("behavior",), ("empty",)
ORD, LOGIC = ("widths", ORDINARY_WIDTHS), ("widths", LOGIC_WIDTHS)
FORMATS = ("words", FLOATS)
PREDICATES, FLOAT_PREDS = ("words", INTEGER_PREDICATES), ("words", FLOAT_PREDICATES)
BEHAVIOR, NUMBER = ("behavior",), ("number",)
BEHAVIOR_FIELDS = {
    "rounding_modes": ROUNDINGS,
    "nan_behaviors": ["ieee", "number_preferred"],
    "subnormal_behaviors": ["preserve"],
    "signed_zero_behaviors": ["preserve", "ignore_sign"],
    "required_fast_math": FAST_MATH,
}

RECORDS = {
    "ScalarInteger": {"integer_widths": ORD, "pointer_formats": ("empty",)},
    "ScalarIntegerCompareMinMax": {"operand_widths": ORD, "comparison_predicates": PREDICATES},
    "ScalarValueSelect": {"integer_widths": LOGIC, "float_formats": FORMATS},
    "ScalarIntegerCast": {"width_pairs": ("width_pairs",),
                          "resolved_index_widths": ("widths", (32, 64))},
    "ScalarBitReinterpret": {"integer_widths": ORD, "float_formats": FORMATS},
    "ScalarFloat": {"formats": FORMATS, "behavior": BEHAVIOR},
    "ScalarSpecialMath": {"formats": FORMATS, "behavior": BEHAVIOR,
                          "accuracy_guarantee": ("word", TIERS)},
    "ScalarFloatCompareMinMax": {"formats": FORMATS, "behavior": BEHAVIOR,
                                 "predicates": FLOAT_PREDS},
    "ScalarFloatWidthCast": {"format_pairs": ("format_pairs", "float"), "behavior": BEHAVIOR},
    "ScalarIntegerFloatConversion": {"format_pairs": ("format_pairs", "integer")},
    "LoopStream": {"integer_widths": ORD, "step_kind": ("word", STEPS), "predicates": PREDICATES},
    "TokenPlane": {},
    "FixedVectorInteger": {"element_widths": ORD, "max_payload_bits": NUMBER},
    "FixedVectorIntegerCompareMinMax": {"element_widths": ORD, "predicates": PREDICATES,
                                        "max_payload_bits": NUMBER},
    "FixedVectorValueSelect": {"integer_element_widths": LOGIC, "float_element_formats": FORMATS,
                               "max_payload_bits": NUMBER},
    "FixedVectorFloat": {"element_formats": FORMATS, "behavior": BEHAVIOR,
                         "max_payload_bits": NUMBER},
    "FixedVectorFloatCompareMinMax": {"element_formats": FORMATS, "behavior": BEHAVIOR,
                                      "predicates": FLOAT_PREDS, "max_payload_bits": NUMBER},
    "PayloadCapacity": {"max_payload_bits": NUMBER},
    "RoutedToken": {"max_payload_bits": NUMBER, "max_fan": NUMBER},
    "FixedVectorSliceAlignMerge": {
        "integer_element_widths": LOGIC, "float_element_formats": FORMATS,
        "max_container_payload_bits": NUMBER, "max_slice_payload_bits": NUMBER,
        "max_dynamic_position_rank": NUMBER, "resolved_index_widths": ("widths", (32, 64))},
    "FixedVectorShuffle": {
        "integer_element_widths": LOGIC, "float_element_formats": FORMATS,
        "max_operand_payload_bits": NUMBER, "max_result_payload_bits": NUMBER,
        "max_block_payload_bits": NUMBER, "max_source_blocks": NUMBER,
        "max_result_blocks": NUMBER},
}
RECORDS["FixedVectorAdapter"] = RECORDS["FixedVectorValueSelect"]


class Family(NamedTuple):
    name: str
    schemas: tuple
    record: str
    relation: str  # N, F or D

    @property
    def vector(self):
        return self.name.startswith("FixedVector")

    @property
    def fields(self):
        """Its record's fields; the Logic rows take the logic widths."""
        fields = dict(RECORDS[self.record])
        if self.name.endswith("IntegerLogic"):
            first = next(iter(fields))
            fields[first] = LOGIC
        return fields


def _families():
    rows = {}

    def put(name, schemas, record, relation):
        names = tuple(s if "." in s else f"arith.{s}" for s in schemas.split())
        assert all(s in SCHEMAS for s in names), names
        rows[name] = Family(name, names, record, relation)

    logic, shift = "andi ori xori llvm.or", "shli shrsi shrui"
    compare = "cmpi minsi maxsi minui maxui"
    float_compare = "cmpf minimumf maximumf minnumf maxnumf"
    sign = "negf math.absf"
    saturating = "llvm.intr.sadd.sat llvm.intr.uadd.sat llvm.intr.ssub.sat llvm.intr.usub.sat"
    zeros = "math.ctlz math.cttz llvm.intr.ctlz llvm.intr.cttz"
    put("ScalarIntegerAddSub", "addi subi llvm.getelementptr", "ScalarInteger", "F")
    put("ScalarIntegerLogic", logic, "ScalarInteger", "F")
    put("ScalarIntegerShift", shift, "ScalarInteger", "F")
    put("ScalarIntegerCompareMinMax", compare, "ScalarIntegerCompareMinMax", "F")
    put("ScalarValueSelect", "select", "ScalarValueSelect", "N")
    put("ScalarIntegerCast", "extsi extui trunci index_cast index_castui", "ScalarIntegerCast",
        "F")
    put("ScalarBitReinterpret", "bitcast", "ScalarBitReinterpret", "N")
    put("ScalarFloatSign", sign, "ScalarFloat", "F")
    put("ScalarFloatAddSub", "addf subf", "ScalarFloat", "F")
    put("ScalarFloatCompareMinMax", float_compare, "ScalarFloatCompareMinMax", "F")
    put("ScalarFloatWidthCast", "extf truncf", "ScalarFloatWidthCast", "F")
    put("ScalarIntegerToFloat", "sitofp uitofp", "ScalarIntegerFloatConversion", "F")
    put("ScalarFloatToInteger", "fptosi fptoui llvm.fptosi.sat llvm.fptoui.sat",
        "ScalarIntegerFloatConversion", "F")
    put("ScalarIntegerMultiply", "muli", "ScalarInteger", "N")
    put("ScalarFloatMultiply", "mulf", "ScalarFloat", "F")
    put("ScalarFloatFma", "math.fma", "ScalarFloat", "F")
    put("LoopStream", "dataflow.stream", "LoopStream", "F")
    for short in ("Carry", "Invariant", "Gate"):
        put(f"Loop{short}", f"dataflow.{short.lower()}", "TokenPlane", "N")
    put("FixedVectorIntegerAddSub", "addi subi", "FixedVectorInteger", "F")
    put("FixedVectorIntegerLogic", logic, "FixedVectorInteger", "F")
    put("FixedVectorIntegerShift", shift, "FixedVectorInteger", "F")
    put("FixedVectorIntegerCompareMinMax", compare, "FixedVectorIntegerCompareMinMax", "F")
    put("FixedVectorValueSelect", "select", "FixedVectorValueSelect", "F")
    put("FixedVectorIntegerMultiply", "muli", "FixedVectorInteger", "F")
    put("FixedVectorFloatSign", sign, "FixedVectorFloat", "F")
    put("FixedVectorFloatAddSub", "addf subf", "FixedVectorFloat", "F")
    put("FixedVectorFloatCompareMinMax", float_compare, "FixedVectorFloatCompareMinMax", "F")
    put("FixedVectorFloatMultiply", "mulf", "FixedVectorFloat", "F")
    put("FixedVectorFloatFma", "math.fma", "FixedVectorFloat", "F")
    put("FixedVectorPack", "dataflow.pack", "FixedVectorAdapter", "N")
    put("FixedVectorUnpack", "dataflow.unpack", "FixedVectorAdapter", "N")
    put("FixedVectorParallelize", "dataflow.parallelize", "FixedVectorAdapter", "F")
    put("FixedVectorSerialize", "dataflow.serialize", "FixedVectorAdapter", "F")
    put("TokenConstant", "dataflow.constant", "PayloadCapacity", "D")
    for short in ("Sync", "Mux", "Demux"):
        put(f"Token{short}", f"dataflow.{short.lower()}", "RoutedToken", "F")
    put("ScalarSignedIntegerDivRem", "divsi remsi", "ScalarInteger", "F")
    put("ScalarUnsignedIntegerDivRem", "divui remui", "ScalarInteger", "F")
    put("ScalarFloatDivide", "divf", "ScalarFloat", "F")
    put("ScalarFloatRemainder", "remf", "ScalarFloat", "F")
    for short in ("Sin Cos Tan Sinh Cosh Tanh Exp Exp2 ExpM1 Log Log2 Log10 Log1p Floor Ceil "
                  "Round Trunc RoundEven Sqrt Rsqrt Erf").split():
        put(f"ScalarMath{short}", f"math.{short.lower()}", "ScalarSpecialMath", "F")
    put("ScalarIntegerSaturatingAddSub", saturating, "ScalarInteger", "F")
    put("FixedVectorIntegerSaturatingAddSub", saturating, "FixedVectorInteger", "F")
    put("ScalarIntegerCountZeros", zeros, "ScalarInteger", "F")
    put("FixedVectorIntegerCountZeros", zeros, "FixedVectorInteger", "F")
    put("ScalarMathPow", "math.powf", "ScalarSpecialMath", "F")
    put("FixedVectorSliceAlignMerge", "vector.extract vector.insert",
        "FixedVectorSliceAlignMerge", "D")
    put("FixedVectorShuffle", "vector.shuffle", "FixedVectorShuffle", "D")
    assert len(rows) == 71
    return rows


FAMILIES = _families()
