# SPDX-License-Identifier: Apache-2.0
"""Sections 5 to 8 of fabric-tables.md: what an op admits, its behaviour keys and carriers."""

from itertools import product

from fabric_families import FAMILIES
from fabric_types import (FLOAT1, FLOAT2, FLOAT_WIDTH, INADMISSIBLE, INT1, INT2, ROUNDED, TIERS,
                          Fault, atom, dom, floating, frame, integer, need, slice_types, u32, u64)

IEEE, PREFERRED = "ieee", "number_preferred"
NUMBER_PREFERRED = ("arith.minnumf", "arith.maxnumf")
MINMAX = {"arith.minimumf": "Minimum", "arith.maximumf": "Maximum",
          "arith.minnumf": "MinNumber", "arith.maxnumf": "MaxNumber"}
ROLES = {
    "arith.addi": "Add", "arith.subi": "Sub", "arith.addf": "Add", "arith.subf": "Sub",
    "arith.andi": "And", "arith.ori": "Or", "llvm.or": "Or", "arith.xori": "Xor",
    "arith.shli": "Left", "arith.shrui": "LogicalRight", "arith.shrsi": "ArithmeticRight",
    "arith.cmpi": "Compare", "arith.minsi": "SignedMin", "arith.maxsi": "SignedMax",
    "arith.minui": "UnsignedMin", "arith.maxui": "UnsignedMax",
    "arith.divsi": "Quotient", "arith.divui": "Quotient", "arith.remsi": "Remainder",
    "arith.remui": "Remainder",
    "llvm.intr.sadd.sat": "SignedAdd", "llvm.intr.uadd.sat": "UnsignedAdd",
    "llvm.intr.ssub.sat": "SignedSub", "llvm.intr.usub.sat": "UnsignedSub",
    "math.ctlz": "Leading", "llvm.intr.ctlz": "Leading", "math.cttz": "Trailing",
    "llvm.intr.cttz": "Trailing", "arith.negf": "Negate", "math.absf": "Absolute",
    "arith.sitofp": "Signed", "arith.uitofp": "Unsigned", "arith.fptosi": "Signed",
    "arith.fptoui": "Unsigned", "llvm.fptosi.sat": "Signed", "llvm.fptoui.sat": "Unsigned",
    "arith.cmpf": "Compare", **MINMAX}
MIN_PREDICATE = {"arith.minsi": "slt", "arith.maxsi": "sgt", "arith.minui": "ult",
                 "arith.maxui": "ugt", "arith.minimumf": "olt", "arith.minnumf": "olt",
                 "arith.maximumf": "ogt", "arith.maxnumf": "ogt"}
ORDERED = {"ueq": "oeq", "ugt": "ogt", "uge": "oge", "ult": "olt", "ule": "ole", "une": "one",
           "ord": "true", "uno": "false"}
ROUTED = ("TokenSync", "TokenMux", "TokenDemux")
SLICE, SHUFFLE = "FixedVectorSliceAlignMerge", "FixedVectorShuffle"


def cardinality_bits(m):
    return 0 if m <= 1 else (m - 1).bit_length()


def inclusive_bits(m):
    return m.bit_length()


class Finite:
    """A sorted key domain, and the key of each point that admission can meet."""

    def __init__(self, keys):
        self.keys = sorted(keys)


class Direct:
    """A carrier: its fields (name, width) from bit 0."""

    def __init__(self, fields):
        self.fields = fields
        self.bits = sum(width for _, width in fields)

    def pack(self, values):
        carrier, at = 0, 0
        for (_, width), value in zip(self.fields, values):
            carrier |= value << at
            at += width
        return carrier

    def unpack(self, carrier):
        values = []
        for _, width in self.fields:
            values.append(carrier & ((1 << width) - 1))
            carrier >>= width
        return values


def element_points(params):
    """(element type) of the two element sets of the structural records."""
    names = [(a, b) for a, b in (("integer_element_widths", "float_element_formats"),
                                 ("integer_widths", "float_formats")) if a in params][0]
    return ([integer(w) for w in params[names[0]]] + [floating(f) for f in params[names[1]]])


class Op:
    """One fabric.op, checked; `relation` is None, a Finite or a Direct."""

    def __init__(self, node):
        self.node, self.family, self.params = node, FAMILIES[node.family], node.params
        self.schemas = node.schemas
        self.ins = [w for w, _ in node.ins]
        self.outs = [w for w, _ in node.outs]
        check_kinds(node)
        need("llvm.getelementptr" not in self.schemas, "GEP has no relation")
        check_record(self)
        check_port_counts(self)
        self.relation = self.derive()

    # ---- points: (schema, role, components {name: value}) ----

    def fits(self, ins, outs):
        return (all(a <= b for a, b in zip(ins, self.ins))
                and all(a <= b for a, b in zip(outs, self.outs)))

    def derive(self):
        name = self.family.name
        if self.family.relation == "D":
            return self.direct()
        if name in ROUTED:
            images = self.images()
            need(images, f"{name}: no reachable lanes")
            if name == "TokenSync":
                images = {tuple(sorted(i)) for i in images}
            points = [("", {"lane_image": i}) for i in images]
        elif name.endswith("FloatCompareMinMax"):
            points = self.cover()
        else:
            found = list(self.points())
            for schema in self.schemas:
                need(any(p[0] == schema for p in found), f"{schema}: no reachable point")
            points = [(p[1], p[2]) for p in found]
        if self.family.relation == "N":
            return None
        self.all_points = points
        keys = {self.key(role, components) for role, components in points}
        need(keys, f"{name}: an empty image")
        return Finite(keys) if len(keys) > 1 else None

    def lanes(self, elements_in, elements_out):
        """The largest witness of a vector point: bits a lane per operand and result."""
        capacity = self.params["max_payload_bits"]
        return min([min(p // b, capacity // b)
                    for b, p in (*zip(elements_in, self.ins), *zip(elements_out, self.outs))])

    def reach(self, ins, outs):
        if self.family.vector:
            return self.lanes(ins, outs) >= 1
        return self.fits(ins, outs)

    def points(self):
        for schema in self.schemas:
            yield from ((schema, *p) for p in self.points_of(schema))

    def points_of(self, schema):
        name, params = self.family.name, self.params
        role = ROLES.get(schema, "")
        widths = params.get("integer_widths", params.get("element_widths"))
        if schema == "arith.cmpi":
            for p, w in product(self.predicates(), self.compare_widths()):
                if self.reach([w, w], [1]):
                    yield role, self.compare_components(p, w)
        elif schema in MIN_PREDICATE and schema not in MINMAX:
            for w in self.compare_widths():
                if self.reach([w, w], [w]):
                    keep = self.family.vector or role in ("SignedMin", "SignedMax")
                    yield role, {"active_width": w} if keep else {}
        elif schema in INT2 | INT1:
            arity = 2 if schema in INT2 else 1
            for w in widths:
                if self.reach([w] * arity, [w]):
                    yield role, self.width_component(role, w)
        elif schema == "arith.select":
            for t in element_points(params):
                w = t.bits(None)
                if self.reach([1, w, w], [w]):
                    yield "", {"active_width": w}
        elif schema == "arith.bitcast":
            for w in {t.bits(None) for t in element_points(params)}:
                if self.fits([w], [w]):
                    yield "", {}
        elif name == "ScalarIntegerCast":
            yield from self.cast_points(schema)
        elif name in ("ScalarIntegerToFloat", "ScalarFloatToInteger"):
            for w, f in params["format_pairs"]:
                a, b = (w, FLOAT_WIDTH[f]) if name == "ScalarIntegerToFloat" else (
                    FLOAT_WIDTH[f], w)
                if self.fits([a], [b]):
                    yield role, ({"source_integer_width": w, "format": f}
                                 if name == "ScalarIntegerToFloat"
                                 else {"format": f, "destination_integer_width": w})
        elif name == "ScalarFloatWidthCast":
            yield from self.width_cast_points(schema)
        elif "behavior" in params:
            yield from self.float_points(schema, role)
        else:
            yield from self.control_points(schema)

    def predicates(self):
        return self.params.get("comparison_predicates", self.params.get("predicates"))

    def compare_widths(self):
        return self.params.get("operand_widths", self.params.get("element_widths"))

    def compare_components(self, predicate, width):
        components = {"predicate": ("integer-compare-predicate", predicate)}
        if self.family.vector or predicate in ("slt", "sle", "sgt", "sge"):
            components["active_width"] = width
        return components

    def width_component(self, role, width):
        name = self.family.name
        if name in ("ScalarIntegerAddSub", "ScalarIntegerLogic", "FixedVectorIntegerLogic"):
            return {}
        if name == "ScalarIntegerShift" and role != "ArithmeticRight":
            return {}
        return {"active_width": width}

    def cast_points(self, schema):
        short = schema.split(".")[1]
        for a, b in self.params["width_pairs"]:
            if not self.fits([a], [b]):
                continue
            if short.startswith("index"):
                times = sum((a == i) + (b == i) for i in self.params["resolved_index_widths"])
            else:
                times = int(a > b if short == "trunci" else a < b)
            if times:
                yield cast_role(schema, a, b), {"source_width": a, "destination_width": b}

    def width_cast_points(self, schema):
        for a, b in self.params["format_pairs"]:
            wide = FLOAT_WIDTH[a] < FLOAT_WIDTH[b]
            narrow = FLOAT_WIDTH[a] > FLOAT_WIDTH[b]
            if not self.fits([FLOAT_WIDTH[a]], [FLOAT_WIDTH[b]]):
                continue
            if schema == "arith.extf" and wide:
                yield "", {"source_format": a, "destination_format": b}
            elif schema == "arith.truncf" and narrow:
                for mode in self.params["behavior"]["rounding_modes"]:
                    yield "", {"source_format": a, "destination_format": b,
                               "rounding": ("rounding-mode", mode)}

    def formats(self):
        return self.params.get("formats", self.params.get("element_formats"))

    def float_points(self, schema, role):
        name = self.family.name
        arity = {"math.fma": 3}.get(schema, 1 if schema in FLOAT1 else 2)
        rounds = name.removeprefix("Scalar").removeprefix("FixedVector") in (
            "FloatAddSub", "FloatMultiply", "FloatFma", "FloatDivide")
        for f in self.formats():
            w = FLOAT_WIDTH[f]
            if not self.reach([w] * arity, [w]):
                continue
            if name.endswith("FloatSign"):
                yield role, {"active_width": w}
            elif rounds:
                for mode in self.params["behavior"]["rounding_modes"]:
                    yield role, {"format": f, "rounding": ("rounding-mode", mode)}
            else:
                yield role, {"format": f}

    def control_points(self, schema):
        params = self.params
        if schema == "dataflow.stream":
            for w, p in product(params["integer_widths"], params["predicates"]):
                if self.fits([w, w, w], [w, 1]):
                    yield "", {"active_width": w,
                               "predicate": ("integer-compare-predicate", p)}
        elif schema in ("dataflow.parallelize", "dataflow.serialize"):
            for t in element_points(params):
                w = t.bits(None)
                for n in range(1, params["max_payload_bits"] // w + 1):
                    wide, narrow = [n * w, n, 1], [w, 1]
                    if self.fits(*((narrow, wide) if schema == "dataflow.parallelize"
                                   else (wide, narrow))):
                        yield "", {"active_width": w, "lane_count": n}
        elif schema in ("dataflow.pack", "dataflow.unpack"):
            for t in element_points(params):
                w = t.bits(None)
                if w <= min(params["max_payload_bits"], self.ins[0], self.outs[0]):
                    yield "", {}
        else:  # carry, invariant, gate: a control token always fits behind a phase of one bit
            if self.fits([1], [1] if schema == "dataflow.gate" else []):
                yield "", {}

    # ---- routed lanes ----

    def capacities(self):
        """Effective capacity of each lane by its physical ordinal."""
        name, most = self.family.name, self.params["max_payload_bits"]
        if name == "TokenSync":
            return {k: min(a, b, most) for k, (a, b) in enumerate(zip(self.ins, self.outs))}
        if name == "TokenMux":
            return {k: min(w, self.outs[0], most)
                    for k, w in enumerate(self.ins) if k >= 1}
        return {k: min(w, self.ins[1], most) for k, w in enumerate(self.outs)}

    def images(self):
        """Every canonical ordered embedding (7.1)."""
        lanes = self.capacities()
        classes = {}
        for ordinal, capacity in lanes.items():
            classes.setdefault(capacity, []).append(ordinal)
        sync = self.family.name == "TokenSync"
        out = set()
        for n in range(1 if sync else 2, min(self.params["max_fan"], len(lanes)) + 1):
            if not sync and self.ins[0] < (1 if n == 2 else 32):
                continue
            for sequence in product(classes, repeat=n):
                if all(sequence.count(c) <= len(classes[c]) for c in set(sequence)):
                    used = {c: iter(classes[c]) for c in classes}
                    out.add(tuple(next(used[c]) for c in sequence))
        return out

    # ---- keys ----

    def varies(self, name, role):
        """Does a component take two values in its scope (section 7)?"""
        scalar = self.family.name.startswith("Scalar")
        within_role = scalar or name == "predicate" and self.family.vector
        values = {c[name] for r, c in self.all_points
                  if name in c and (r == role or not within_role)}
        return len(values) > 1

    def key(self, role, components):
        family = self.family.name
        quiet = self.family.vector or family.endswith("FloatCompareMinMax")
        if quiet and len({r for r, _ in self.all_points}) == 1:
            written = ""
        else:
            written = role
        out = (dom("loom.fabric.operation-behavior-key") + frame(family.encode())
               + frame(written.encode()))
        for name, value in components.items():
            if self.varies(name, role):
                out += self.component(name, value)
        return out

    def component(self, name, value):
        if name == "lane_image":
            return u32(len(value)) + b"".join(map(u64, value))
        if name == "numeric":
            kind, what = value
            if kind == "width":
                return u32(what) if self.family.vector else u32(2) + u32(what)
            exact = frame(floating(what).encode())
            return exact if self.family.vector else u32(1) + exact
        if name.endswith("format"):
            return frame(floating(value).encode())
        if isinstance(value, tuple):
            return frame(atom(*value))
        return u32(value)

    # ---- 7.3: the refinement cover ----

    def compare_reach(self, schema, f):
        w = FLOAT_WIDTH[f]
        return self.reach([w, w], [1 if schema == "arith.cmpf" else w])

    def compare_points(self):
        """(schema, role, predicate or None, format) that the ports can carry."""
        for schema in self.schemas:
            for f in self.formats():
                if self.compare_reach(schema, f):
                    for p in self.params["predicates"] if schema == "arith.cmpf" else [None]:
                        yield schema, ROLES[schema], p, f

    def strict_possible(self, schema):
        behavior = self.params["behavior"]
        wanted = PREFERRED if schema in NUMBER_PREFERRED else IEEE
        return ("nnan" not in behavior["required_fast_math"]
                and wanted in behavior["nan_behaviors"])

    def cover(self):
        points = list(self.compare_points())
        for schema in self.schemas:
            need(any(p[0] == schema for p in points), f"{schema}: no reachable point")
        found = []
        for schema, role, predicate, f in points:
            if self.strict_possible(schema):
                row = (role, predicate, None if constant(predicate) else ("exact", f))
                if row not in found:
                    found.append(row)
        for schema, role, predicate, f in points:
            role, predicate = normal(role, predicate)
            if not any(self.refines(r, role, predicate, f) for r in found):
                found.append((role, predicate,
                              None if constant(predicate) else ("width", FLOAT_WIDTH[f])))
        self.representatives = found
        return [(role, compare_components(p, numeric)) for role, p, numeric in found]

    def refines(self, representative, role, predicate, f):
        """Of a relaxed point, already normalised."""
        r, p, numeric = representative
        if normal(r, p) != (role, predicate):
            return False
        if numeric is None:
            return True
        kind, what = numeric
        if kind == "width":
            return what == FLOAT_WIDTH[f]
        return what == f or not self.family.vector and (what, f) == ("bf16", "f16")

    def compare_key(self, schema, predicate, f, relaxed):
        role = ROLES[schema]
        if not relaxed:
            row = (role, predicate, None if constant(predicate) else ("exact", f))
            need(row in self.representatives, "a strict point of no key", INADMISSIBLE)
            return self.key(role, compare_components(row[1], row[2]))
        choices = []
        for r, p, numeric in self.representatives:
            if self.refines((r, p, numeric), *normal(role, predicate), f):
                same = (r, p) == (role, predicate) and numeric in (None, ("exact", f))
                choices.append((not same, self.key(r, compare_components(p, numeric))))
        return min(choices)[1]

    # ---- section 8 ----

    def direct(self):
        params, name = self.params, self.family.name
        if name == "TokenConstant":
            n = min(params["max_payload_bits"], self.outs[0])
            need(n > 0, "TokenConstant: a carrier of no bits")
            return Direct([("value", n)])
        if name == SLICE:
            mode = [("mode", 1)] if len(self.schemas) == 2 else []
            fields = mode + [
                ("static_offset_bits", cardinality_bits(params["max_container_payload_bits"])),
                ("slice_width_minus_one", cardinality_bits(params["max_slice_payload_bits"]))]
            fields += [(f"dynamic_stride_bits[{k}]",
                        inclusive_bits(params["max_container_payload_bits"]))
                       for k in range(params["max_dynamic_position_rank"])]
            need(any(self.slice_ok(0, e, (), "vector.extract") for e in self.element_widths())
                 or "vector.extract" not in self.schemas, "extract: no reachable point")
            need(any(self.slice_ok(0, e, (), "vector.insert") for e in self.element_widths())
                 or "vector.insert" not in self.schemas, "insert: no reachable point")
        else:
            source = cardinality_bits(params["max_source_blocks"])
            fields = [("block_width_minus_one", cardinality_bits(params["max_block_payload_bits"])),
                      ("left_block_count_minus_one", source),
                      ("result_block_count_minus_one", cardinality_bits(
                          params["max_result_blocks"]))]
            fields += [(f"selectors[{k}]", source) for k in range(params["max_result_blocks"])]
        relation = Direct(fields)
        self.relation = relation
        need(self.in_domain(self.inactive_carrier()), "the inactive value is not in the domain")
        return relation if relation.bits else None

    def element_widths(self):
        return sorted({t.bits(None) for t in element_points(self.params)})

    def inactive_carrier(self):
        """Section 8's canonical inactive value."""
        name, relation = self.family.name, self.relation
        if name == "TokenConstant":
            return 0
        b = self.element_widths()[0]
        if name == SLICE:
            values = {"mode": 0, "slice_width_minus_one": b - 1}
        else:
            values = {"block_width_minus_one": b - 1}
        return relation.pack([values.get(f, 0) for f, _ in relation.fields])

    def in_domain(self, carrier):
        relation = self.relation
        if carrier >> relation.bits:
            return False
        if self.family.name == "TokenConstant":
            return True
        values = dict(zip([f for f, _ in relation.fields], relation.unpack(carrier)))
        return self.slice_value(values) if self.family.name == SLICE else (
            self.shuffle_value(values))

    def slice_value(self, values):
        rank = self.params["max_dynamic_position_rank"]
        strides = [values[f"dynamic_stride_bits[{k}]"] for k in range(rank)]
        used = []
        while strides and strides[0]:
            used.append(strides.pop(0))
        if any(strides):
            return False
        schema = (self.schemas[0] if len(self.schemas) == 1
                  else ("vector.extract", "vector.insert")[values["mode"]])
        return self.slice_ok(values["static_offset_bits"], values["slice_width_minus_one"] + 1,
                             tuple(used), schema)

    def slice_ok(self, o, b, strides, schema):
        params = self.params
        if not any(b % e == 0 for e in self.element_widths()) or o % b:
            return False
        if any(a % c for a, c in zip(strides, strides[1:])) or strides and strides[-1] % b:
            return False
        g = strides[0] if strides else b
        container = (o // g + 1) * g
        if container > params["max_container_payload_bits"] or b > params["max_slice_payload_bits"]:
            return False
        if schema == "vector.extract":
            good = container <= self.ins[0] and b <= self.outs[0]
        else:
            good = b <= self.ins[0] and container <= min(self.ins[1], self.outs[0])
        positions = self.ins[2:2 + len(strides)]
        return good and (not strides or any(all(p >= i for p in positions)
                                            for i in params["resolved_index_widths"]))

    def shuffle_value(self, values):
        params = self.params
        b = values["block_width_minus_one"] + 1
        left = values["left_block_count_minus_one"] + 1
        r = values["result_block_count_minus_one"] + 1
        most = params["max_result_blocks"]
        s = [values[f"selectors[{k}]"] for k in range(most)]
        if r > most or any(x >= params["max_source_blocks"] for x in s[:r]) or any(s[r:]):
            return False
        n = max(left + 1, max(s[:r]) + 1)
        q = n - left
        return (any(b % e == 0 for e in self.element_widths())
                and b <= params["max_block_payload_bits"] and n <= params["max_source_blocks"]
                and left * b <= min(self.ins[0], params["max_operand_payload_bits"])
                and q * b <= min(self.ins[1], params["max_operand_payload_bits"])
                and r * b <= min(self.outs[0], params["max_result_payload_bits"]))

    def inactive(self):
        """(semantic bytes, code or carrier)."""
        if isinstance(self.relation, Finite):
            return self.relation.keys[0], 0
        carrier = self.inactive_carrier()
        return carrier.to_bytes((self.relation.bits + 7) // 8, "little"), carrier


def constant(predicate):
    return predicate in ("true", "false")


def compare_components(predicate, numeric):
    out = {}
    if predicate is not None:
        out["predicate"] = ("float-compare-predicate", predicate)
    if numeric is not None:
        out["numeric"] = numeric
    return out


def normal(role, predicate):
    return ({"MinNumber": "Minimum", "MaxNumber": "Maximum"}.get(role, role),
            ORDERED.get(predicate, predicate))


def cast_role(schema, a, b):
    if a == b:
        return "Identity"
    if a > b:
        return "Truncate"
    return "SignExtend" if schema in ("arith.extsi", "arith.index_cast") else "ZeroExtend"


# ---- section 5 ----

def check_kinds(node):
    need(len({t for _, t in (*node.ins, *node.outs)}) <= 1, f"{node.name}: ports of two kinds")


def check_record(op):
    """What section 5 asks of a record beyond its fields' kinds."""
    params, family = op.params, op.family
    two_sets = {"float_formats", "float_element_formats"} & params.keys()
    may_be_empty = {"resolved_index_widths"}
    if two_sets:
        may_be_empty |= two_sets | {"integer_widths", "integer_element_widths"}
    for name, kind in family.fields.items():
        if kind[0] in ("widths", "words", "width_pairs", "format_pairs"):
            need(name in may_be_empty or params[name], f"{name}: is empty")
        if kind[0] == "number" and name != "max_dynamic_position_rank":
            need(params[name] > 0, f"{name}: is zero")
    if two_sets:
        need(element_points(params), "both element sets are empty")
    if family.record == "RoutedToken":
        need(params["max_fan"] >= 2, "max_fan")
    if family.name == SLICE:
        need(params["max_slice_payload_bits"] <= params["max_container_payload_bits"], "slice")
        need((not params["resolved_index_widths"]) == (params["max_dynamic_position_rank"] == 0),
             "resolved_index_widths is empty exactly when the rank is 0")
    if family.name == SHUFFLE:
        need(params["max_block_payload_bits"] <= min(params["max_operand_payload_bits"],
                                                     params["max_result_payload_bits"]), "block")
        need(params["max_source_blocks"] >= 2, "max_source_blocks")
    if family.name == "ScalarIntegerCast":
        check_cast(op)
    if family.name == "ScalarFloatWidthCast":
        for a, b in params["format_pairs"]:
            used = ("arith.extf" in op.schemas and FLOAT_WIDTH[a] < FLOAT_WIDTH[b]
                    or "arith.truncf" in op.schemas and FLOAT_WIDTH[a] > FLOAT_WIDTH[b])
            need(used, f"({a},{b}) serves no schema")
    if family.name.endswith("CompareMinMax"):
        check_predicates(op)
    if "behavior" in params:
        check_behavior(op)


def check_cast(op):
    params = op.params
    shorts = {s.split(".")[1] for s in op.schemas}
    index = bool(shorts & {"index_cast", "index_castui"})
    for a, b in params["width_pairs"]:
        used = (shorts & {"extsi", "extui"} and a < b or "trunci" in shorts and a > b
                or index and (a in params["resolved_index_widths"]
                              or b in params["resolved_index_widths"]))
        need(used, f"({a},{b}) serves no schema")
    for i in params["resolved_index_widths"]:
        need(index and any(i in pair for pair in params["width_pairs"]),
             f"index width {i} serves no schema")


def check_predicates(op):
    listed = set(op.predicates())
    for schema in op.schemas:
        if schema in MIN_PREDICATE:
            need(MIN_PREDICATE[schema] in listed, f"{schema}: its predicate is not listed")
    if not {"arith.cmpi", "arith.cmpf"} & set(op.schemas):
        needed = {MIN_PREDICATE[s] for s in op.schemas}
        need(listed <= needed, "a predicate that serves no schema")


def check_behavior(op):
    params, name, schemas = op.params, op.family.name, set(op.schemas)
    b = params["behavior"]
    compare = name.endswith("CompareMinMax")
    math = name.startswith("ScalarMath")
    need(b["rounding_modes"] and b["nan_behaviors"], "behavior: an empty list")
    need(b["subnormal_behaviors"] == ("preserve",), "subnormal_behaviors")
    need(len(b["signed_zero_behaviors"]) == 1, "signed_zero_behaviors")
    fixed = (compare or math or name.endswith(("FloatSign", "FloatRemainder"))
             or name == "ScalarFloatWidthCast" and "arith.truncf" not in schemas)
    if fixed:
        need(len(b["rounding_modes"]) == 1, "one rounding mode")
    if compare or math:
        need(b["rounding_modes"] == ("to_nearest_even",), "to_nearest_even")
    if not compare:
        need(len(b["nan_behaviors"]) == 1, "one NaN behaviour")
    else:
        check_nan(op, b, schemas)
    if math and params["accuracy_guarantee"] != "CorrectlyRounded":
        need("afn" in b["required_fast_math"], "a relaxed guarantee needs afn")


def check_nan(op, b, schemas):
    ieee = schemas - set(NUMBER_PREFERRED)
    preferred = schemas & set(NUMBER_PREFERRED)
    if IEEE in b["nan_behaviors"]:
        need(ieee, "ieee serves no schema")
    if PREFERRED in b["nan_behaviors"]:
        need(preferred, "number_preferred serves no schema")
    if len(b["nan_behaviors"]) == 2:
        need("nnan" not in b["required_fast_math"], "two NaN behaviours under nnan")
        points = [(s, p) for s, _, p, _ in op.compare_points() if not constant(p)]
        need(any(s in ieee for s, _ in points) and any(s in preferred for s, _ in points),
             "a NaN behaviour without a reachable actor")


ARITY = {"arith.select": (3, 1), "math.fma": (3, 1), "dataflow.stream": (3, 2),
         "dataflow.carry": (3, 1), "dataflow.invariant": (2, 1), "dataflow.gate": (2, 2),
         "dataflow.parallelize": (2, 3), "dataflow.serialize": (3, 2), "arith.cmpi": (2, 1),
         "arith.cmpf": (2, 1), "vector.shuffle": (2, 1), "math.powf": (2, 1)}


def arity_of(schema):
    if schema in ARITY:
        return ARITY[schema]
    return (2, 1) if schema in INT2 | FLOAT2 else (1, 1)


def check_port_counts(op):
    n, m, name = len(op.ins), len(op.outs), op.family.name
    if name == SLICE:
        good = (n, m) == (2 + op.params["max_dynamic_position_rank"], 1)
    elif name == "TokenSync":
        good = n == m >= 1
    elif name == "TokenMux":
        good = n >= 3 and m == 1
    elif name == "TokenDemux":
        good = n == 2 and m >= 2
    else:
        arities = [arity_of(s) for s in op.schemas]
        good = n == max(a for a, _ in arities) and m == max(b for _, b in arities)
    need(good, f"{op.node.name}: its port counts")


# ---- section 6: admission of an actor, and its projection ----

def admit(op, actor, ins_ports, outs_ports, index):
    """Refuses, or gives the projected value: None, a key (bytes) or a carrier (int)."""
    def no(condition, message):
        need(condition, f"{actor.schema} on {op.node.name}: {message}", INADMISSIBLE)
    no(actor.schema in op.schemas, "is not in op_list")
    ins = [t.resolved(index) for t in actor.ins]
    outs = [t.resolved(index) for t in actor.outs]
    check_ports(op, actor, ins_ports, outs_ports, no)
    for t, port in (*zip(ins, [op.ins[p] for p in ins_ports]),
                    *zip(outs, [op.outs[p] for p in outs_ports])):
        no(t.bits(index) <= port, "a payload past its port")
    name = op.family.name
    if name in ROUTED:
        return admit_routed(op, actor, ins, ins_ports, outs_ports, index, no)
    if op.family.relation == "D":
        return admit_direct(op, actor, ins, outs, index, no)
    if name.startswith("Scalar"):
        no(all(t.kind != "vector" for t in (*ins, *outs)), "takes scalars only")
    elif name.startswith("FixedVector") and name not in (
            "FixedVectorPack", "FixedVectorUnpack", "FixedVectorParallelize",
            "FixedVectorSerialize"):
        no(all(t.kind == "vector" for t in (*ins, *outs)), "takes fixed vectors only")
    if op.family.vector:
        no(all(t.bits(index) <= op.params["max_payload_bits"] for t in (*ins, *outs)),
           "past max_payload_bits")
    if "behavior" in op.params:
        admit_float(op, actor, no)
    return project(op, actor, ins, outs, index, no)


def check_ports(op, actor, ins_ports, outs_ports, no):
    """Section 4's roles; the routed images come later."""
    need(len(ins_ports) == len(actor.ins) and len(outs_ports) == len(actor.outs),
         f"{op.node.name}: a port for each operand and result")
    no(all(p < len(op.ins) for p in ins_ports) and all(p < len(op.outs) for p in outs_ports),
       "no such port")
    name = op.family.name
    if name in ROUTED:
        return
    wanted = list(range(len(actor.ins)))
    if name == SLICE and actor.schema == "vector.extract":
        wanted = [0] + [k + 1 for k in wanted[1:]]
    no(ins_ports == wanted and outs_ports == list(range(len(actor.outs))), "its correspondence")


def admit_routed(op, actor, ins, ins_ports, outs_ports, index, no):
    name, lanes = op.family.name, op.capacities()
    if name == "TokenSync":
        no(ins_ports == outs_ports, "one set of lanes")
        image, types = tuple(ins_ports), ins
    elif name == "TokenMux":
        no(ins_ports[0] == 0 and outs_ports == [0], "its correspondence")
        image, types = tuple(ins_ports[1:]), ins[1:]
    else:
        no(ins_ports == [0, 1], "its correspondence")
        image, types = tuple(outs_ports), [ins[1]] * len(outs_ports)
    no(len(image) <= op.params["max_fan"], "more lanes than max_fan")
    no(image in op.images(), "a correspondence that is not canonical")
    if name == "TokenSync":
        no(all(t.bits(index) <= lanes[k] for t, k in zip(types, image)), "a lane's capacity")
        image = tuple(sorted(image))
    else:
        no(types[0].bits(index) <= min(lanes[k] for k in image), "a lane's capacity")
    return op.key("", {"lane_image": image}) if op.relation else None


def admit_direct(op, actor, ins, outs, index, no):
    params, name = op.params, op.family.name
    if name == "TokenConstant":
        width = outs[0].bits(index)
        no(width <= params["max_payload_bits"] and width <= op.relation.bits, "its carrier")
        return constant_bits(actor, index)
    no(outs[0].scalar in element_points(params), "its element type")
    if name == SHUFFLE:
        return admit_shuffle(op, actor, ins, outs, index, no)
    extract = actor.schema == "vector.extract"
    container = ins[0] if extract else outs[0]
    block = outs[0] if extract else ins[0]
    position = actor.attributes["position"]
    dynamic = [j for j, p in enumerate(position) if p == "?"]
    no(container.bits(index) <= params["max_container_payload_bits"], "its container")
    no(block.bits(index) <= params["max_slice_payload_bits"], "its slice")
    no(len(dynamic) <= params["max_dynamic_position_rank"], "its dynamic rank")
    no(not dynamic or index in params["resolved_index_widths"], "its index width")
    stride = [slice_types(container, position[:j + 1]).bits(index) for j in range(len(position))]
    offset = sum(p * s for p, s in zip(position, stride) if p != "?")
    values = [0 if extract else 1] if len(op.schemas) == 2 else []
    values += [offset, block.bits(index) - 1] + [stride[j] for j in dynamic]
    values += [0] * (len(op.relation.fields if op.relation else []) - len(values))
    carrier = op.relation.pack(values) if op.relation else None
    no(carrier is None or op.in_domain(carrier), "its carrier")
    return carrier


def admit_shuffle(op, actor, ins, outs, index, no):
    params = op.params
    a, b, r = ins[0], ins[1], outs[0]
    block = a.bits(index) // a.dims[0]
    blocks = a.dims[0] + b.dims[0]
    no(max(a.bits(index), b.bits(index)) <= params["max_operand_payload_bits"], "its operands")
    no(r.bits(index) <= params["max_result_payload_bits"], "its result")
    no(block <= params["max_block_payload_bits"], "its block")
    no(blocks <= params["max_source_blocks"], "its source blocks")
    no(r.dims[0] <= params["max_result_blocks"], "its result blocks")
    selectors = [max(m, 0) for m in actor.attributes["mask"]]
    values = [block - 1, a.dims[0] - 1, r.dims[0] - 1] + selectors
    values += [0] * (params["max_result_blocks"] - len(selectors))
    carrier = op.relation.pack(values)
    no(op.in_domain(carrier), "its carrier")
    return carrier


def constant_bits(actor, index):
    value, t = actor.attributes["value"], actor.outs[0]
    if t.kind != "vector":
        return value
    width = t.element.bits(index)
    return sum(v << (k * width) for k, v in enumerate(value))


def admit_float(op, actor, no):
    behavior = op.params["behavior"]
    mask = set(actor.attributes.get("fastmath", ()))
    no(set(behavior["required_fast_math"]) <= mask, "required_fast_math")
    mode = actor.attributes.get("rounding", "to_nearest_even")
    if actor.schema in ROUNDED:
        no(mode in behavior["rounding_modes"], "its rounding")
    wanted = PREFERRED if actor.schema in NUMBER_PREFERRED else IEEE
    no("nnan" in mask or wanted in behavior["nan_behaviors"], "its NaN behaviour")
    no("nsz" in mask or "preserve" in behavior["signed_zero_behaviors"], "its signed zeros")
    if "accuracy_guarantee" in op.params:
        no(TIERS.index(op.params["accuracy_guarantee"])
           <= TIERS.index(actor.attributes["accuracy"]), "its accuracy")


def project(op, actor, ins, outs, index, no):
    """Section 6.3, and the key."""
    params, name, schema = op.params, op.family.name, actor.schema
    role = ROLES.get(schema, "")
    a, b = (ins[0].scalar, outs[0].scalar)
    components = {}
    if name.endswith("IntegerCompareMinMax"):
        no(a.kind == "int" and a.width in op.compare_widths(), "its width")
        if schema == "arith.cmpi":
            predicate = actor.attributes["predicate"]
            no(predicate in op.predicates(), "its predicate")
            components = op.compare_components(predicate, a.width)
        elif op.family.vector or role in ("SignedMin", "SignedMax"):
            components = {"active_width": a.width}
    elif name.endswith("FloatCompareMinMax"):
        no(a.format in op.formats(), "its format")
        predicate = actor.attributes.get("predicate")
        no(predicate is None or predicate in params["predicates"], "its predicate")
        relaxed = "nnan" in actor.attributes.get("fastmath", ())
        return op.compare_key(schema, predicate, a.format, relaxed) if op.relation else None
    elif name == "ScalarIntegerCast":
        index_cast = schema in ("arith.index_cast", "arith.index_castui")
        no(not index_cast or index in params["resolved_index_widths"], "its index width")
        no((a.width, b.width) in params["width_pairs"], "its pair")
        role = cast_role(schema, a.width, b.width)
        components = {"source_width": a.width, "destination_width": b.width}
    elif name == "ScalarFloatWidthCast":
        no((a.format, b.format) in params["format_pairs"], "its pair")
        components = {"source_format": a.format, "destination_format": b.format}
        if schema == "arith.truncf":
            components["rounding"] = ("rounding-mode", actor.attributes.get(
                "rounding", "to_nearest_even"))
    elif name == "ScalarIntegerToFloat":
        no((a.width, b.format) in params["format_pairs"], "its pair")
        components = {"source_integer_width": a.width, "format": b.format}
    elif name == "ScalarFloatToInteger":
        no((b.width, a.format) in params["format_pairs"], "its pair")
        components = {"format": a.format, "destination_integer_width": b.width}
    elif schema in INT2 | INT1:
        no(a.kind == "int" and a.width in params.get(
            "integer_widths", params.get("element_widths")), "its width")
        components = op.width_component(role, a.width)
    elif schema == "arith.select":
        no(b in element_points(params), "its type")
        components = {"active_width": b.bits(index)}
    elif schema == "arith.bitcast":
        no(all(t in element_points(params) for t in (a, b)), "its type")
    elif "behavior" in params:
        no(a.format in op.formats(), "its format")
        components = next(c for s, r, c in op.points() if s == schema and (
            c.get("format", a.format) == a.format)
            and c.get("active_width", a.bits(index)) == a.bits(index)
            and c.get("rounding", (0, actor.attributes.get("rounding", "to_nearest_even")))[1]
            == actor.attributes.get("rounding", "to_nearest_even"))
    elif schema == "dataflow.stream":
        no(a.width in params["integer_widths"], "its width")
        no(actor.attributes["step"] == params["step_kind"], "its step")
        no(actor.attributes["predicate"] in params["predicates"], "its predicate")
        components = {"active_width": a.width, "predicate": (
            "integer-compare-predicate", actor.attributes["predicate"])}
    elif schema in ("dataflow.parallelize", "dataflow.serialize"):
        v = outs[0] if schema == "dataflow.parallelize" else ins[0]
        no(len(v.dims) == 1, "rank one only")
        no(v.element in element_points(params), "its elements")
        components = {"active_width": v.element.bits(index), "lane_count": v.lanes}
    elif schema in ("dataflow.pack", "dataflow.unpack"):
        v = ins[0] if schema == "dataflow.pack" else outs[0]
        no(v.element in element_points(params), "its elements")
    if op.relation is None:
        return None
    key = op.key(role, components)
    no(key in op.relation.keys, "a point that is not reachable")
    return key


# ---- section 3: activity definedness ----

ALL_OPERANDS = {"arith." + s for s in (
    "andi ori xori cmpi minsi maxsi minui maxui select extsi bitcast sitofp").split()} | {
    "llvm.intr.sadd.sat", "llvm.intr.uadd.sat", "llvm.intr.ssub.sat", "llvm.intr.usub.sat",
    "math.ctlz", "math.cttz", "llvm.fptosi.sat", "llvm.fptoui.sat"} | {
    "dataflow." + s for s in "pack unpack stream carry invariant gate mux demux".split()}


def defined_values(graph):
    """The least fixpoint over actor results; graph inputs are unproven."""
    proven, grows = set(), True
    while grows:
        grows = False
        for actor in graph.actors:
            for k, value in enumerate(actor.results):
                if value not in proven and result_defined(actor, k, proven):
                    proven.add(value)
                    grows = True
    return proven


def result_defined(actor, k, proven):
    have = [v in proven for v in actor.operands]
    schema = actor.schema
    if schema == "dataflow.constant":
        return True
    if schema == "dataflow.sync":
        return have[k]
    if schema == "arith.cmpf":
        return all(have) and not {"nnan", "ninf"} & set(actor.attributes.get("fastmath", ()))
    if schema == "dataflow.parallelize":
        return all(have) if k == 0 else have[1]
    if schema == "dataflow.serialize":
        return all(have) if k == 0 else have[1] and have[2]
    return schema in ALL_OPERANDS and all(have)


def check_proofs(graph, actor, proven):
    wanted = {"dataflow.parallelize": (1,), "dataflow.serialize": (1, 2)}.get(actor.schema, ())
    for k in wanted:
        if actor.operands[k] not in proven:
            raise Fault(INADMISSIBLE, f"{actor.schema}: operand {k} has no definedness proof")
