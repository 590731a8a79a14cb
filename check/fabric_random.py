# SPDX-License-Identifier: Apache-2.0
"""Random fabrics, graphs, maps, tokens and stalls in the text form of section 12, by a seed.

Three kinds of case: `relation` (one op), `templates` (the topology of one FU), and `run` (a graph,
units that fit it, a map, tokens, stalls, resets). Most are meant to hold; some are spoilt."""

import json
import re

from fabric_families import BEHAVIOR_FIELDS, FAMILIES
from fabric_relation import MIN_PREDICATE, NUMBER_PREFERRED, SLICE, arity_of
from fabric_types import (BOOL, FAST_MATH, FLOAT_PREDICATES, FLOATS, INDEX, INT1, INT2,
                          INTEGER_PREDICATES, NONE, ROUNDINGS, SCHEMAS, STEPS, TIERS, floating,
                          integer, vector)

WIDTHS = (1, 8, 16, 32, 64)


def some(rng, items, least=1, extra=()):
    """A subset in random order, holding `extra`."""
    items = list(items)
    least = min(least, len(items))
    count = rng.choice((least, rng.randint(least, len(items)), rng.randint(least, len(items))))
    chosen = rng.sample(items, min(count, len(items)))
    chosen += [x for x in extra if x not in chosen]
    rng.shuffle(chosen)
    return chosen


def text_of(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {text_of(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(text_of(v) for v in value) + ")"
    return str(value)


# ---- records ----

class Needs:
    """What a record must hold for one actor."""

    def __init__(self, widths=(), formats=(), pairs=(), predicates=(), rounding=(), index=(),
                 step=None, payload=1, numbers=None):
        self.widths, self.formats, self.pairs = widths, formats, pairs
        self.predicates, self.rounding, self.index = predicates, rounding, index
        self.step, self.payload, self.numbers = step, payload, numbers or {}


def behavior(rng, family, schemas, needs, loose):
    compare = family.name.endswith("CompareMinMax")
    one_mode = (compare or family.name.startswith("ScalarMath")
                or family.name.endswith(("FloatSign", "FloatRemainder"))
                or family.name == "ScalarFloatWidthCast" and "arith.truncf" not in schemas)
    if one_mode and not rng.random() < loose:
        modes = ["to_nearest_even"]
    else:
        modes = some(rng, ROUNDINGS, 1, needs.rounding)
    if compare:
        kinds = []
        if set(schemas) - set(NUMBER_PREFERRED):
            kinds.append("ieee")
        if set(schemas) & set(NUMBER_PREFERRED):
            kinds.append("number_preferred")
        nans = some(rng, kinds, rng.choice((1, len(kinds))))
    else:
        nans = ["ieee"] if rng.random() < 0.8 else ["number_preferred"]
    if rng.random() < loose:
        nans = some(rng, BEHAVIOR_FIELDS["nan_behaviors"])
    required = some(rng, FAST_MATH, 0) if rng.random() < loose * 2 else []
    if compare and rng.random() < 0.3:
        required = sorted({*required, "nnan"})
    return {"rounding_modes": modes, "nan_behaviors": nans, "subnormal_behaviors": ["preserve"],
            "signed_zero_behaviors": [rng.choice(("preserve", "preserve", "ignore_sign"))
                                      if rng.random() < 0.3 else "preserve"],
            "required_fast_math": required}


def record(rng, family, schemas, needs, loose=0.0):
    """A params record; `loose` is the share of choices that may be illegal."""
    out = {}
    for name, kind in family.fields.items():
        if kind[0] == "empty":
            continue
        if kind[0] == "widths":
            extra = needs.index if kind[1] == (32, 64) else needs.widths
            both = name in ("integer_element_widths", "integer_widths") and any(
                "float" in f for f in family.fields)
            least = 0 if kind[1] == (32, 64) or both else 1
            out[name] = some(rng, kind[1], least, [w for w in extra if w in kind[1]])
        elif kind[0] == "words" and kind[1] is not FLOATS:
            out[name] = predicates(rng, kind[1], schemas, needs, loose)
        elif kind[0] == "words":
            out[name] = some(rng, FLOATS, int("element_formats" == name or "formats" == name),
                             needs.formats)
        elif kind[0] == "word":
            out[name] = (needs.step if needs.step else rng.choice(kind[1]))
        elif kind[0] == "behavior":
            out[name] = behavior(rng, family, schemas, needs, loose)
        elif kind[0] == "number":
            out[name] = number(rng, name, needs)
        else:
            out[name] = pairs(rng, kind, schemas, needs, loose, out)
    out = settle(rng, family, schemas, out, loose, needs)
    return dict(rng.sample(list(out.items()), len(out))) if rng.random() < 0.2 else out


def predicates(rng, vocabulary, schemas, needs, loose):
    wanted = [MIN_PREDICATE[s] for s in schemas if s in MIN_PREDICATE]
    wanted += [p for p in needs.predicates if p not in wanted]
    if not {"arith.cmpi", "arith.cmpf", "dataflow.stream"} & set(schemas) and (
            rng.random() >= loose):
        return list(dict.fromkeys(wanted))
    return some(rng, vocabulary, 0 if wanted else 1, dict.fromkeys(wanted))


def number(rng, name, needs):
    least = needs.numbers.get(name, needs.payload)
    if name == "max_fan":
        return max(needs.numbers.get(name, 2), rng.choice((2, 2, 3, 4)))
    if name == "max_dynamic_position_rank":
        return max(needs.numbers.get(name, 0), rng.choice((0, 1, 2)))
    if name.endswith("blocks"):
        return max(needs.numbers.get(name, 1), rng.choice((2, 3, 4, 5, 8)))
    return max(least, rng.choice((8, 16, 24, 32, 64, 100, 128)))


def pairs(rng, kind, schemas, needs, loose, out):
    wanted = list(needs.pairs)
    if kind[0] == "width_pairs":
        every = [(a, b) for a in WIDTHS for b in WIDTHS]
        every = [(a, b) for a, b in every
                 if a < b and {"arith.extsi", "arith.extui"} & set(schemas)
                 or a > b and "arith.trunci" in schemas
                 or {"arith.index_cast", "arith.index_castui"} & set(schemas)
                 and {a, b} & {32, 64}]
    elif kind[1] == "float":
        width = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
        every = [(a, b) for a in FLOATS for b in FLOATS
                 if width[a] < width[b] and "arith.extf" in schemas
                 or width[a] > width[b] and "arith.truncf" in schemas]
    else:
        every = [(w, f) for w in WIDTHS[1:] for f in FLOATS]
    if rng.random() < loose and kind[0] == "width_pairs":
        every = [(a, b) for a in WIDTHS for b in WIDTHS]
    return some(rng, every, 0 if wanted else 1, wanted)


def settle(rng, family, schemas, out, loose, needs):
    """Make the fields agree with each other, most of the time."""
    if rng.random() < loose:
        return out
    for a, b in (("integer_widths", "float_formats"),
                 ("integer_element_widths", "float_element_formats")):
        if a in out and b in out and not out[a] and not out[b]:
            out[a] = [rng.choice((8, 16, 32))]
    if "resolved_index_widths" in out and "width_pairs" in out:
        casts = {"arith.index_cast", "arith.index_castui"} & set(schemas)
        out["resolved_index_widths"] = [
            i for i in (32, 64) if casts and any(i in p for p in out["width_pairs"])
            and (rng.random() < 0.7 or i in needs.index)]
    if family.name == SLICE:
        out["max_container_payload_bits"] = max(out["max_container_payload_bits"],
                                                out["max_slice_payload_bits"])
        if out["max_dynamic_position_rank"] == 0:
            out["resolved_index_widths"] = []
        elif not out["resolved_index_widths"]:
            out["resolved_index_widths"] = [32]
    if "max_block_payload_bits" in out:
        out["max_block_payload_bits"] = max(needs.numbers.get("max_block_payload_bits", 1), min(
            out[k] for k in out if k.startswith("max_") and k.endswith("payload_bits")))
        out["max_source_blocks"] = max(out["max_source_blocks"], 2)
    if out.get("accuracy_guarantee", TIERS[0]) != TIERS[0]:
        mask = out["behavior"]["required_fast_math"]
        out["behavior"]["required_fast_math"] = sorted({*mask, "afn"}, key=FAST_MATH.index)
    return out


def port_counts(rng, family, schemas, params):
    if family.name == SLICE:
        return 2 + params["max_dynamic_position_rank"], 1
    if family.name == "TokenSync":
        n = rng.randint(1, 4)
        return n, n
    if family.name == "TokenMux":
        return rng.randint(3, 5), 1
    if family.name == "TokenDemux":
        return 2, rng.randint(2, 4)
    arities = [arity_of(s) for s in schemas]
    return max(a for a, _ in arities), max(b for _, b in arities)


def relation_case(rng):
    """One op in one FU."""
    family = FAMILIES[rng.choice([f for f in FAMILIES if not f.startswith("ScalarMath")]
                                 + ["ScalarMathExp", "ScalarMathFloor", "ScalarMathPow"])]
    schemas = some(rng, [s for s in family.schemas if s != "llvm.getelementptr"], rng.choice((
        1, 1, 2)))
    loose = rng.choice((0, 0, 0.05, 0.15))
    if rng.random() < loose / 4 and "llvm.getelementptr" in family.schemas:
        schemas.append("llvm.getelementptr")
    params = record(rng, family, schemas, Needs(), loose)
    n, m = port_counts(rng, family, schemas, params)
    if rng.random() < loose / 2:
        n += 1
    wide = rng.choice(((1, 8, 16, 32, 64, 128), (64, 128), (64, 128), (128,), (128,), (16, 32)))
    ins = [rng.choice(wide) for _ in range(n)]
    outs = [rng.choice(wide) for _ in range(m)]
    if family.name in ("TokenMux", "TokenDemux") and rng.random() < 0.7:
        ins[0] = rng.choice((1, 32, 64))
    return unit_text(family.name, schemas, ins, outs, params)


def unit_text(family, schemas, ins, outs, params):
    def ports(prefix, widths):
        return ", ".join(f"{prefix}{k}:{w}" for k, w in enumerate(widths))

    def widths(values):
        return "(" + ",".join(map(str, values)) + ")"
    lines = [f"fabric F {{ fu U ({ports('a', ins)}) -> ({ports('y', outs)}) {{",
             f"op f {family} [{', '.join(schemas)}] in {widths(ins)} out {widths(outs)} "
             f"params {text_of(params)}"]
    lines += [f"wire a{k} -> f.{k}" for k in range(len(ins))]
    lines += [f"wire f.{k} -> y{k}" for k in range(len(outs))]
    return "\n".join([*lines, "}", "occ u U }"]) + "\n"


# ---- topology ----

def topology_case(rng):
    """A random FU of adders, carries and selectors; sometimes with authored rows."""
    inputs, outputs = rng.randint(1, 4), rng.randint(1, 3)
    nodes = []
    for k in range(rng.randint(1, 6)):
        kind = rng.choice(("add", "add", "neg", "mux", "demux", "carry"))
        if k == 0:
            kind = rng.choice(("add", "neg"))
        n, m = {"add": (2, 1), "neg": (1, 1), "carry": (3, 1)}.get(kind, (0, 0))
        lanes = rng.choice((2, 2, 3))
        nodes.append((f"{kind}{k}", kind, *((lanes, 1) if kind == "mux" else (1, lanes)
                                            if kind == "demux" else (n, m))))
    lines = []
    for name, kind, n, m in nodes:
        ins = "(" + ",".join(["32"] * n) + ")"
        lines.append({
            "add": f"op {name} ScalarIntegerAddSub [arith.addi] in {ins} out (32) "
                   "params { integer_widths = [32] }",
            "neg": f"op {name} ScalarIntegerCountZeros [math.ctlz] in {ins} out (32) "
                   "params { integer_widths = [32] }",
            "carry": f"op {name} LoopCarry [dataflow.carry] in {ins} out (32) params {{}}"}.get(
                kind, f"{kind} {name} 32 {max(n, m)}"))
    sources = [f"a{k}" for k in range(inputs)]
    sources += [f"{name}.{k}" for name, _, _, m in nodes for k in range(m)]
    fresh = list(sources)
    rng.shuffle(fresh)

    def source(before=None):
        """Mostly one that nothing reads yet; of a selector mostly an earlier one."""
        allowed = sources if before is None or rng.random() < 0.1 else sources[:before]
        unread = [x for x in fresh if x in allowed]
        chosen = rng.choice(unread if unread and rng.random() < 0.85 else allowed)
        if chosen in fresh:
            fresh.remove(chosen)
        return chosen
    at = inputs
    for name, kind, n, m in nodes:
        lines += [f"wire {source(None if kind in ('add', 'neg') else at)} -> {name}.{k}"
                  for k in range(n)]
        at += m
    lines += [f"wire {source()} -> y{k}" for k in range(outputs)]
    if rng.random() < 0.75:
        lines += rows(rng, nodes)
    ports = ", ".join(f"a{k}:32" for k in range(inputs))
    outs = ", ".join(f"y{k}:32" for k in range(outputs))
    head = f"fabric F {{ fu U ({ports}) -> ({outs}) {{"
    return "\n".join([head, *lines, "}", "occ u U }"]) + "\n"


def rows(rng, nodes):
    """Wild rows; `topology_case` is asked for so many that enough of them hold."""
    ops = [n[0] for n in nodes if n[1] not in ("mux", "demux")]
    selectors = [(n[0], max(n[2], n[3])) for n in nodes if n[1] in ("mux", "demux")]
    out = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        listed = some(rng, ops, rng.choice((1, len(ops))))
        routes = [f"{s}={rng.randrange(n)}" for s, n in selectors if rng.random() < 0.85]
        out.append(f"template {{ ops [{', '.join(listed)}]"
                   + (f" routes [{', '.join(routes)}]" if routes else "") + " }")
    return list(dict.fromkeys(out)) if rng.random() < 0.95 else out


# ---- graphs ----

SCALARS = [integer(w) for w in (1, 8, 16, 32, 64)] + [floating(f) for f in FLOATS]


class Builder:
    """A random graph; `plan` keeps the needs of every actor for its op."""

    def __init__(self, rng):
        self.rng = rng
        self.index = rng.choice((32, 64))
        self.dense = rng.random() < 0.4  # token planes and little else
        self.inputs, self.lines, self.values = {}, [], {}
        self.actors, self.reads = [], set()  # (schema, operands, results, record, needs)
        self.uses_index = False
        self.steady = set()  # values whose definedness is proven

    def fresh(self, t):
        name = f"v{len(self.values)}"
        self.values[name] = t
        return name

    def input(self, t):
        name = self.fresh(t)
        self.inputs[name] = t
        return name

    def get(self, t, proven=False):
        """A value of type t: an old one, or a new input."""
        have = [v for v, u in self.values.items()
                if u == t and (not proven or v in self.steady)]
        if have and self.rng.random() < 0.75:
            unread = [v for v in have if v not in self.reads]
            value = self.rng.choice(unread or have)
        elif proven:
            value = self.constant(t)
        else:
            value = self.input(t)
        self.reads.add(value)
        return value

    def constant(self, t, value=None):
        w = t.scalar.bits(self.index)
        ctrl = self.get(NONE)
        lanes = [self.rng.choice((0, 1, (1 << w) - 1, self.rng.getrandbits(w)))
                 for _ in range(t.lanes)]
        if value is None:
            value = lanes if t.kind == "vector" else lanes[0]
        out = self.actor("dataflow.constant", [ctrl], [t], {"value": value},
                         Needs(payload=t.bits(self.index)))[0]
        self.steady.add(out)
        return out

    def actor(self, schema, operands, outs, record, needs):
        results = [self.fresh(t) for t in outs]
        self.reads.update(operands)
        self.actors.append((schema, operands, results, record, needs))
        types = [self.values[v] for v in operands] + outs
        self.uses_index |= any(t.has_index() for t in types)
        return results

    def vector_type(self, element, most=64):
        w = element.bits(self.index)
        lanes = self.rng.randint(1, max(1, min(4, most // w)))
        if lanes == 4 and self.rng.random() < 0.5:
            return vector((2, 2), element)
        return vector((lanes,), element)

    def step(self):
        if self.dense:
            return self.rng.choice((self.sync, self.mux, self.demux, self.gate, self.invariant,
                                    self.carry, self.ring, self.stream, self.parallelize,
                                    self.serialize, self.serialize, self.integer2))()
        kinds = [self.integer2] * 4 + [self.integer1, self.compare, self.select, self.cast,
                                       self.float2, self.float2, self.float_other, self.sync,
                                       self.mux, self.demux, self.demux, self.gate,
                                       self.invariant, self.carry, self.carry, self.stream,
                                       self.parallelize, self.serialize, self.pack, self.slice,
                                       self.slice, self.shuffle, self.float_compare,
                                       self.constant_any]
        return self.rng.choice(kinds)()

    def maybe_vector(self, element):
        return self.vector_type(element) if self.rng.random() < 0.3 else element

    def integer2(self):
        schema = self.rng.choice(sorted(INT2))
        if schema in ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "llvm.or",
                      "arith.shli", "arith.shrsi", "arith.shrui") and self.rng.random() < 0.5:
            schema = "arith.addi"
        logic = schema in ("arith.andi", "arith.ori", "arith.xori", "llvm.or")
        t = integer(self.rng.choice(WIDTHS if logic else WIDTHS[1:]))
        w = t.width
        if "div" not in schema and "rem" not in schema:
            t = self.maybe_vector(t)
        record = {}
        case = SCHEMAS[schema].case
        if case == 2 and self.rng.random() < 0.1:
            record["overflow"] = self.rng.choice((["nsw"], ["nuw"], ["nuw", "nsw"], []))
        if case == 11 and self.rng.random() < 0.1:
            record["exact"] = True
        if case == 15:
            record["disjoint"] = True
        self.actor(schema, [self.get(t), self.get(t)], [t], record,
                   Needs(widths=[w], payload=t.bits(0),
                         predicates=[MIN_PREDICATE[schema]] if schema in MIN_PREDICATE else []))

    def integer1(self):
        schema = self.rng.choice(sorted(INT1))
        t = integer(self.rng.choice(WIDTHS[1:]))
        w = t.width
        t = self.maybe_vector(t)
        record = {"zero_poison": True} if SCHEMAS[schema].case == 8 else {}
        self.actor(schema, [self.get(t)], [t], record, Needs(widths=[w], payload=t.bits(0)))

    def compare(self):
        t = integer(self.rng.choice(WIDTHS[1:]))
        w, p = t.width, self.rng.choice(INTEGER_PREDICATES)
        t = self.maybe_vector(t)
        self.actor("arith.cmpi", [self.get(t), self.get(t)], [t.like(BOOL)], {"predicate": p},
                   Needs(widths=[w], predicates=[p], payload=t.bits(0)))

    def select(self):
        s = self.rng.choice(SCALARS)
        t = self.maybe_vector(s)
        self.actor("arith.select", [self.get(t.like(BOOL)), self.get(t), self.get(t)], [t], {},
                   Needs(widths=[s.width] if s.kind == "int" else [],
                         formats=[s.format] if s.kind == "float" else [], payload=t.bits(0)))

    def cast(self):
        schema = self.rng.choice(("arith.extsi", "arith.extui", "arith.trunci",
                                  "arith.index_cast", "arith.index_castui", "arith.bitcast"))
        if schema == "arith.bitcast":
            a = self.rng.choice([t for t in SCALARS if t.bits(0) > 1])
            b = self.rng.choice([t for t in SCALARS if t.bits(0) == a.bits(0)])
            needs = Needs(widths=[t.width for t in (a, b) if t.kind == "int"],
                          formats=[t.format for t in (a, b) if t.kind == "float"])
            return self.actor(schema, [self.get(a)], [b], {}, needs)
        record = {}
        if schema in ("arith.index_cast", "arith.index_castui"):
            a, b = integer(self.rng.choice(WIDTHS)), INDEX
            if self.rng.random() < 0.5:
                a, b = b, a
        else:
            low, high = sorted(self.rng.sample(WIDTHS, 2))
            a, b = integer(low), integer(high)
            if schema == "arith.trunci":
                a, b = b, a
        if SCHEMAS[schema].case == 12 and self.rng.random() < 0.2:
            record["nneg"] = True
        pair = (a.bits(self.index), b.bits(self.index))
        return self.actor(schema, [self.get(a)], [b], record,
                          Needs(pairs=[pair], index=[self.index] if "index" in schema else []))

    def fast(self, record, chance=0.25):
        if self.rng.random() < chance:
            record["fastmath"] = some(self.rng, FAST_MATH, 0)
        return record

    def float2(self):
        schema = self.rng.choice(("arith.addf", "arith.subf", "arith.mulf", "arith.divf",
                                  "arith.remf", "math.fma"))
        s = floating(self.rng.choice(FLOATS))
        t = s if schema in ("arith.divf", "arith.remf") else self.maybe_vector(s)
        record = self.fast({})
        mode = []
        if schema != "arith.remf" and self.rng.random() < 0.5:
            record["rounding"] = self.rng.choice(ROUNDINGS)
            mode = [record["rounding"]]
        self.actor(schema, [self.get(t) for _ in range(3 if schema == "math.fma" else 2)], [t],
                   record, Needs(formats=[s.format], rounding=mode or ["to_nearest_even"],
                                 payload=t.bits(0)))

    def float_compare(self):
        schema = self.rng.choice(("arith.cmpf", "arith.minimumf", "arith.maximumf",
                                  "arith.minnumf", "arith.maxnumf"))
        s = floating(self.rng.choice(FLOATS))
        t = self.maybe_vector(s)
        record, p = self.fast({}, 0.4), MIN_PREDICATE.get(schema)
        if schema == "arith.cmpf":
            p = self.rng.choice(FLOAT_PREDICATES)
            record["predicate"] = p
        self.actor(schema, [self.get(t), self.get(t)],
                   [t.like(BOOL) if schema == "arith.cmpf" else t], record,
                   Needs(formats=[s.format], predicates=[p], payload=t.bits(0)))

    def float_other(self):
        schema = self.rng.choice(("arith.negf", "math.absf", "arith.extf", "arith.truncf",
                                  "arith.sitofp", "arith.uitofp", "llvm.fptosi.sat",
                                  "llvm.fptoui.sat", "arith.fptosi", "math.floor", "math.round",
                                  "math.roundeven", "math.ceil", "math.trunc"))
        f, w = self.rng.choice(FLOATS), self.rng.choice(WIDTHS[1:])
        a = b = floating(f)
        record, needs = {}, Needs(formats=[f], rounding=["to_nearest_even"])
        if schema in ("arith.extf", "arith.truncf"):
            low, high = self.rng.choice((("f16", "f32"), ("bf16", "f32"), ("f32", "f64"),
                                         ("f16", "f64")))
            a, b = floating(low), floating(high)
            if schema == "arith.truncf":
                a, b = b, a
                mode = self.rng.choice(ROUNDINGS)
                record["rounding"] = mode
                needs = Needs(pairs=[(a.format, b.format)], rounding=[mode])
            else:
                needs = Needs(pairs=[(a.format, b.format)])
        elif schema in ("arith.sitofp", "arith.uitofp"):
            a, needs = integer(w), Needs(pairs=[(w, f)])
            if schema == "arith.uitofp" and self.rng.random() < 0.3:
                record["nneg"] = True
        elif "fpto" in schema:
            b, needs = integer(w), Needs(pairs=[(w, f)])
        elif schema in ("arith.negf", "math.absf"):
            a = b = self.maybe_vector(floating(f))
            needs.payload = a.bits(0)
        else:
            record["accuracy"] = "CorrectlyRounded"
            if self.rng.random() < 0.4:
                record["accuracy"] = self.rng.choice(TIERS)
                record["fastmath"] = ["afn"]
        self.actor(schema, [self.get(a)], [b], record, needs)

    def token_type(self):
        if self.dense:
            return self.rng.choice((BOOL, integer(8), integer(8), NONE))
        t = self.rng.choice(SCALARS + [NONE, NONE])
        if t == NONE or self.rng.random() < 0.8:
            return t
        return self.vector_type(t, self.rng.choice((64, 64, 256)))

    def constant_any(self):
        s = self.rng.choice(SCALARS + [integer(self.rng.randint(1, 70))])
        self.constant(self.maybe_vector(s))

    def sync(self):
        types = [self.token_type() for _ in range(self.rng.randint(1, 3))]
        values = [self.get(t) for t in types]
        self.actor("dataflow.sync", values, types, {},
                   Needs(payload=max(1, *(t.bits(0) for t in types), 1),
                         numbers={"max_fan": len(types)}))

    def lanes(self):
        n = self.rng.choice((2, 2, 2, 3))
        return n, self.get(BOOL if n == 2 else INDEX)

    def mux(self):
        t = self.token_type()
        n, selector = self.lanes()
        self.actor("dataflow.mux", [selector] + [self.get(t) for _ in range(n)], [t], {},
                   Needs(payload=max(1, t.bits(0)), numbers={"max_fan": n}))

    def demux(self):
        t = self.token_type()
        n, selector = self.lanes()
        self.actor("dataflow.demux", [selector, self.get(t)], [t] * n, {},
                   Needs(payload=max(1, t.bits(0)), numbers={"max_fan": n}))

    def gate(self):
        t = self.token_type()
        self.actor("dataflow.gate", [self.get(BOOL), self.get(t)], [BOOL, t], {}, Needs())

    def invariant(self):
        t = self.token_type()
        self.actor("dataflow.invariant", [self.get(BOOL), self.get(t)], [t], {}, Needs())

    def carry(self):
        """Sometimes a true recurrence: the next value is made of the carried one."""
        loop = self.rng.random() < 0.6
        t = integer(8 if self.dense else self.rng.choice(WIDTHS[1:])) if loop else (
            self.token_type())
        phase, init = self.get(BOOL), self.get(t)
        if not loop:
            return self.actor("dataflow.carry", [phase, init, self.get(t)], [t], {}, Needs())
        operands = [phase, init, None]
        carried = self.actor("dataflow.carry", operands[:2], [t], {}, Needs())[0]
        a = self.actors[-1]
        use = carried
        if self.rng.random() < 0.4:  # the demux of a loop's way out
            use = self.actor("dataflow.demux", [self.get(BOOL), carried], [t, t], {},
                             Needs(payload=t.bits(0), numbers={"max_fan": 2}))[1]
        following = self.actor(self.rng.choice(("arith.addi", "arith.subi")),
                               [use, self.get(t)], [t], {}, Needs(widths=[t.width]))[0]
        a[1].append(following)
        self.reads.add(following)
        return None

    def ring(self):
        """Carries and elastic operations in turn, so that several tokens go round."""
        t = integer(8)
        count = self.rng.randint(1, 3)
        carried, rows = None, []
        for _ in range(count):
            operands = [self.get(BOOL), self.get(t)]
            out = self.actor("dataflow.carry", operands, [t], {}, Needs())[0]
            rows.append(self.actors[-1])
            if carried:
                rows[-1][1].append(carried)
                self.reads.add(carried)
            for _ in range(self.rng.choice((1, 1, 2))):
                if self.rng.random() < 0.3:
                    other = self.get(t)
                    out, _ = self.actor("dataflow.sync", [out, other], [t, t], {},
                                        Needs(payload=8, numbers={"max_fan": 2}))
                else:
                    out = self.actor("arith.addi", [out, self.get(t)], [t], {},
                                     Needs(widths=[8]))[0]
            carried = out
        rows[0][1].append(carried)
        self.reads.add(carried)

    def stream(self):
        t = integer(8 if self.dense else self.rng.choice(WIDTHS[1:]))
        p, step = self.rng.choice(INTEGER_PREDICATES), self.rng.choice(STEPS + ["add"] * 6)
        proven = self.rng.random() < 0.6
        if proven:
            n = self.rng.randint(0, 5)
            values = [self.constant(t, v) for v in (0, n, self.rng.choice((1, 1, 2)))]
            p, step = self.rng.choice((("slt", "add"), ("ule", "add"), ("ne", "add"))), None
            p, step = p
        else:
            values = [self.get(t) for _ in range(3)]
        out = self.actor("dataflow.stream", values, [t, BOOL],
                         {"step": step, "predicate": p},
                         Needs(widths=[t.width], predicates=[p], step=step))
        if all(v in self.steady for v in values):
            self.steady.update(out)

    def parallelize(self):
        s = integer(8) if self.dense else self.rng.choice(SCALARS[1:])
        v = vector((self.rng.randint(1, 4),), s)
        phase = self.get(BOOL, proven=self.rng.random() < 0.95)
        out = self.actor("dataflow.parallelize", [self.get(s), phase], [v, v.like(BOOL), BOOL],
                         {}, Needs(widths=[s.width], formats=[s.format] if s.format else [],
                                   payload=v.bits(0)))
        if phase in self.steady:
            self.steady.update(out[1:])

    def serialize(self):
        s = integer(8) if self.dense else self.rng.choice(SCALARS[1:])
        v = vector((self.rng.randint(1, 4),), s)
        mask = self.get(v.like(BOOL), proven=self.rng.random() < 0.95)
        phase = self.get(BOOL, proven=True)
        out = self.actor("dataflow.serialize", [self.get(v), mask, phase], [s, BOOL], {},
                         Needs(widths=[s.width], formats=[s.format] if s.format else [],
                               payload=v.bits(0)))
        if mask in self.steady:
            self.steady.add(out[1])

    def pack(self):
        s = self.rng.choice(SCALARS)
        v = self.vector_type(s)
        m = integer(v.bits(0))
        needs = Needs(widths=[s.width] if s.kind == "int" else [],
                      formats=[s.format] if s.kind == "float" else [], payload=v.bits(0))
        if self.rng.random() < 0.5:
            self.actor("dataflow.pack", [self.get(v)], [m], {}, needs)
        else:
            self.actor("dataflow.unpack", [self.get(m)], [v], {}, needs)

    def slice(self):
        s = self.rng.choice([t for t in SCALARS if t.bits(0) <= 32])
        dims = tuple(self.rng.randint(1, 3) for _ in range(self.rng.randint(1, 3)))
        v = vector(dims, s)
        position = ["?" if self.rng.random() < 0.4 else self.rng.randrange(d)
                    for d in dims[:self.rng.randint(1, len(dims))]]
        rest = dims[len(position):]
        block = vector(rest, s) if rest else s
        dynamic = [self.get(INDEX) for p in position if p == "?"]
        needs = Needs(widths=[s.width] if s.kind == "int" else [],
                      formats=[s.format] if s.kind == "float" else [], payload=v.bits(0),
                      index=[self.index] if dynamic else [],
                      numbers={"max_dynamic_position_rank": len(dynamic),
                               "max_container_payload_bits": v.bits(0),
                               "max_slice_payload_bits": block.bits(0)})
        if self.rng.random() < 0.5:
            self.actor("vector.extract", [self.get(v), *dynamic], [block],
                       {"position": position}, needs)
        else:
            self.actor("vector.insert", [self.get(block), self.get(v), *dynamic], [v],
                       {"position": position}, needs)

    def shuffle(self):
        s = self.rng.choice([t for t in SCALARS if t.bits(0) <= 32])
        rest = tuple(self.rng.randint(1, 2) for _ in range(self.rng.randint(0, 1)))
        a, b, r = (self.rng.randint(1, 3) for _ in range(3))
        types = [vector((n, *rest), s) for n in (a, b, r)]
        mask = [self.rng.randint(-1, a + b - 1) for _ in range(r)]
        block = types[0].bits(0) // a
        self.actor("vector.shuffle", [self.get(types[0]), self.get(types[1])], [types[2]],
                   {"mask": mask},
                   Needs(widths=[s.width] if s.kind == "int" else [],
                         formats=[s.format] if s.kind == "float" else [],
                         payload=max(t.bits(0) for t in types),
                         numbers={"max_block_payload_bits": block, "max_source_blocks": a + b,
                                  "max_result_blocks": r}))

    def text(self):
        self.outputs = [v for _, _, results, _, _ in self.actors for v in results
                        if v not in self.reads or self.rng.random() < 0.08]
        head = f"graph G index {self.index} {{" if self.uses_index or any(
            t.has_index() for t in self.values.values()) else "graph G {"
        lines = [head] + [f"input %{v} : {t.text()}" for v, t in self.inputs.items()]
        for schema, operands, results, rec, _ in self.actors:
            fields = ", ".join(k if v is True else f"{k} = {text_of(v)}" for k, v in rec.items())
            lines.append(f"{', '.join('%' + v for v in results)} = {schema} "
                         f"{', '.join('%' + v for v in operands)}"
                         + (f" {{ {fields} }}" if fields else "") + " : ("
                         + ", ".join(self.values[v].text() for v in operands) + ") -> ("
                         + ", ".join(self.values[v].text() for v in results) + ")")
        lines += [f"output %{v}" for v in self.outputs]
        return "\n".join([*lines, "}"]) + "\n"


# ---- units that fit a graph, and the map ----

def family_of(rng, schema, is_vector):
    rows = [f for f in FAMILIES.values() if schema in f.schemas]
    if len(rows) > 1:
        rows = [f for f in rows if f.vector == is_vector]
    return rng.choice(rows)


class Units:
    """Partitions a Builder's actors among FUs and writes fabric and map."""

    def __init__(self, rng, graph):
        self.rng, self.graph = rng, graph
        count = rng.choice((1, 1, 2, 3))
        self.home = [rng.randrange(count) for _ in graph.actors]
        self.groups = [[a for a, h in enumerate(self.home) if h == k] for k in range(count)]
        self.groups = [g for g in self.groups if g]
        for k, group in enumerate(self.groups):
            for a in group:
                self.home[a] = k
        self.producer = {v: a for a, row in enumerate(graph.actors) for v in row[2]}
        self.loose = rng.random() < 0.1
        self.inner = {}
        inner = rng.choice((0.5, 0.85, 1))
        for a, row in enumerate(graph.actors):
            for k, v in enumerate(row[1]):
                p = self.producer.get(v)
                self.inner[a, k] = (p is not None and self.home[p] == self.home[a]
                                    and rng.random() < inner)

    def width(self, bits):
        slack = self.rng.choice((0, 0, 0, 1, 8, 32))
        if self.loose and self.rng.random() < 0.03:
            slack = -1
        return max(0, bits + slack)

    def bits(self, value):
        return self.graph.values[value].bits(self.graph.index)

    def text(self):
        fabric, realizes, binds = ["fabric F {"], [], []
        for k, group in enumerate(self.groups):
            lines, rows = self.unit(k, group)
            fabric += lines
            realizes += [f"realize r{k} fu U{k} template 0 {{", *rows, "}"]
        for k in range(len(self.groups)):
            contexts = self.rng.choice((1, 1, 1, 2, 3))
            for spare in range(self.rng.choice((0, 0, 0, 1))):
                fabric.append(f"occ s{k}_{spare} U{k}")
            fabric.append(f"occ o{k} U{k}" + (f" contexts {contexts}" if contexts > 1 else ""))
            context = self.rng.randrange(contexts)
            binds.append(f"bind r{k} -> o{k}" + (f" context {context}" if context else ""))
        map_ = ["map M of G on F {", *realizes, *binds, "}"]
        return "\n".join([*fabric, "}", *map_]) + "\n"

    def unit(self, k, group):
        rng, graph = self.rng, self.graph
        self.tag = "t" if rng.random() < 0.03 else ""
        self.ins, self.outs, self.nodes, self.wires = [], [], [], []
        self.routes, self.selectors = [], 0
        rows = []
        shared = {}
        for a in group:
            rows.append(self.op(k, a, shared))
        for a in group:
            rows += self.results(a)
        def ports(items):
            return ", ".join(f"{n}:{w}{self.tag}" for n, w in items)
        template = []
        if self.routes or rng.random() < 0.85:  # else there must be just one
            routes = f"routes [{', '.join(self.routes)}] " if self.routes else ""
            template = [f"template {{ ops [{', '.join(f'f{a}' for a in group)}] {routes}}}"]
        rng.shuffle(self.wires)
        return ([f"fu U{k} ({ports(self.ins)}) -> ({ports(self.outs)}) {{", *self.nodes,
                 *self.wires, *template, "}"], [r for row in rows for r in row.split("\n")])

    def op(self, k, a, shared):
        """The node of an actor, its operands' wires and rows."""
        rng = self.rng
        schema, operands, results, attributes, needs = self.graph.actors[a]
        types = [self.graph.values[v] for v in (*operands, *results)]
        family = family_of(rng, schema, any(t.kind == "vector" for t in types))
        schemas = some(rng, [s for s in family.schemas if s != "llvm.getelementptr"], 1, [schema])
        if rng.random() < 0.4:
            schemas = [schema]
        params = record(rng, family, schemas, needs, 0.02 if self.loose else 0)
        if "behavior" in params:
            ease(rng, params, attributes, schema)
        self.ports = {}
        in_ports, out_ports, n, m = self.roles(family, schemas, schema, operands, results, params)
        ins = [self.width(max([0] + [self.bits(v) for v, p in zip(operands, in_ports) if p == q]))
               for q in range(n)]
        outs = [self.width(max([0] + [self.bits(v) for v, p in zip(results, out_ports)
                                      if p == q])) for q in range(m)]
        ins, outs = widen(rng, family, schemas, params, ins, outs)
        if family.name.startswith("Token") and family.name != "TokenConstant":
            in_ports, out_ports, ins, outs = self.route(family, in_ports, out_ports, ins, outs)

        def widths(values):
            return "(" + ",".join(f"{w}{self.tag}" for w in values) + ")"
        self.nodes.append(f"op f{a} {family.name} [{', '.join(schemas)}] in {widths(ins)} out "
                          f"{widths(outs)} params {text_of(params)}")
        rows = [f"actor %{results[0]} -> f{a} in ({','.join(map(str, in_ports))}) "
                f"out ({','.join(map(str, out_ports))})"]
        for q in range(len(ins)):
            if q not in in_ports:
                self.wire(self.port("in", 8), f"f{a}.{q}", 8)
                continue
            operand = in_ports.index(q)
            value = operands[operand]
            if self.inner[a, operand]:
                p = self.producer[value]
                j = self.graph.actors[p][2].index(value)
                self.wires.append((p, j, f"f{a}.{q}", self.bits(value)))
                continue
            port = shared.get(value)
            if port is None or rng.random() < 0.6:
                port = shared[value] = self.port("in", self.width(self.bits(value)))
                direct = False
            else:
                direct = True
            self.wire(port, f"f{a}.{q}", self.bits(value), direct)
            rows.append(f"bound %{results[0]} in {operand} -> {port}")
        self.out_ports = getattr(self, "out_ports", {})
        self.out_ports[a] = (out_ports, len(outs))
        return "\n".join(rows)

    def port(self, word, width):
        table = self.ins if word == "in" else self.outs
        name = f"{'p' if word == 'in' else 'y'}{len(table)}"
        table.append((name, width))
        return name

    def wire(self, source, destination, bits, direct=False):
        """A wire, sometimes through a mux or a demux."""
        if not direct and self.rng.random() < 0.06 and bits:
            name = f"x{self.selectors}"
            self.selectors += 1
            lanes = self.rng.choice((2, 3))
            at = self.rng.randrange(lanes)
            kind = self.rng.choice(("mux", "demux"))
            self.nodes.append(f"{kind} {name} {bits + self.rng.choice((0, 4))}{self.tag} {lanes}")
            self.routes.append(f"{name}={at}")
            if kind == "mux":
                self.wires.append(f"wire {source} -> {name}.{at}")
                for k in range(lanes):
                    if k != at:
                        self.wires.append(f"wire {self.port('in', 4)} -> {name}.{k}")
                source = f"{name}.0"
            else:
                self.wires.append(f"wire {source} -> {name}.0")
                source = f"{name}.{at}"
        self.wires.append(f"wire {source} -> {destination}")

    def results(self, a):
        """Output rows of an actor's results; inner wires become text now."""
        rows = []
        _, _, results, _, _ = self.graph.actors[a]
        out_ports, count = self.out_ports[a]
        inner = [w for w in self.wires if isinstance(w, tuple) and w[0] == a]
        self.wires = [w for w in self.wires if not (isinstance(w, tuple) and w[0] == a)]
        for _, j, destination, bits in inner:
            self.wire(f"f{a}.{out_ports[j]}", destination, bits)
        for q in range(count):
            if q not in out_ports:
                self.wire(f"f{a}.{q}", self.port("out", 8), 8)
                continue
            j = out_ports.index(q)
            value = results[j]
            read = value in self.graph.outputs or any(
                v == value and not self.inner[b, k]
                for b, row in enumerate(self.graph.actors) for k, v in enumerate(row[1]))
            if read:
                port = self.port("out", self.width(self.bits(value)))
                self.wire(f"f{a}.{q}", port, self.bits(value))
                rows.append(f"bound %{results[0]} out {j} -> {port}")
        return rows

    def roles(self, family, schemas, schema, operands, results, params):
        """The ports of the operands and results, and the op's port counts."""
        ins, outs = list(range(len(operands))), list(range(len(results)))
        if family.name == SLICE:
            if schema == "vector.extract":
                ins = [0] + [k + 1 for k in ins[1:]]
            return ins, outs, 2 + params["max_dynamic_position_rank"], 1
        if family.name in ("TokenSync", "TokenMux", "TokenDemux"):
            return ins, outs, len(ins), len(outs)
        arities = [arity_of(s) for s in schemas]
        return ins, outs, max(a for a, _ in arities), max(b for _, b in arities)

    def route(self, family, in_ports, out_ports, ins, outs):
        """Spare lanes behind those that the actor takes, of equal width or wider."""
        most = max(ins + outs)
        if self.rng.random() < 0.6:  # one class: the image is the first lanes
            if family.name == "TokenSync":
                ins = outs = [most] * len(ins)
            elif family.name == "TokenMux":
                ins = [ins[0]] + [most] * (len(ins) - 1)
            else:
                outs = [most] * len(outs)
        if self.rng.random() < 0.3:
            if family.name == "TokenSync":
                ins, outs = ins + [most], outs + [most]
            elif family.name == "TokenMux":
                ins = ins + [most]
            else:
                outs = outs + [most]
        return in_ports, out_ports, ins, outs


def ease(rng, params, attributes, schema):
    """Let a record's behaviour admit the actor, most of the time."""
    b = params["behavior"]
    if rng.random() < 0.08:
        return
    mask = set(attributes.get("fastmath", ()))
    b["required_fast_math"] = [w for w in b["required_fast_math"] if w in mask]
    wanted = "number_preferred" if schema in NUMBER_PREFERRED else "ieee"
    if wanted not in b["nan_behaviors"]:
        b["nan_behaviors"] = [wanted]
    b["signed_zero_behaviors"] = ["preserve"]
    if "accuracy_guarantee" in params:
        params["accuracy_guarantee"] = "CorrectlyRounded"


def widen(rng, family, schemas, params, ins, outs):
    """Ports wide enough that every enabled schema has a point."""
    if family.name.startswith("Token"):
        if family.name == "TokenConstant":
            return ins, outs
        return ins, outs
    if len(schemas) > 1 or family.name == SLICE:
        least = 64 if not family.vector else 16
        ins = [max(w, least) if w != 1 or len(schemas) > 1 else w for w in ins]
        outs = [max(w, least) if w > 1 or len(schemas) > 1 else w for w in outs]
    return ins, outs


# ---- one actor on one op ----

def admit_case(rng):
    """A graph of one actor, an op that may accept it, and the map that asks."""
    graph = Builder(rng)
    graph.dense = False
    graph.step()
    graph.actors = graph.actors[-1:]
    schema, operands, results, attributes, needs = graph.actors[0]
    graph.inputs = {v: graph.values[v] for v in operands if v not in results}
    graph.reads = set(operands)
    types = [graph.values[v] for v in (*operands, *results)]
    graph.uses_index = any(t.has_index() for t in types)
    graph.values = {v: graph.values[v] for v in (*operands, *results)}
    family = family_of(rng, schema, any(t.kind == "vector" for t in types))
    if rng.random() < 0.05:
        family = rng.choice([f for f in FAMILIES.values() if schema in f.schemas])
    names = [s for s in family.schemas if s != "llvm.getelementptr"]
    schemas = some(rng, names, rng.choice((1, 2)), [schema] if rng.random() < 0.9 else [])
    params = record(rng, family, schemas, needs if rng.random() < 0.6 else Needs(),
                    rng.choice((0, 0, 0.05)))
    if "behavior" in params and rng.random() < 0.6:
        ease(rng, params, attributes, schema)
    n, m = port_counts(rng, family, schemas, params)
    wide = rng.choice(((128,), (64, 128), (8, 16, 32, 64)))
    ins, outs = [rng.choice(wide) for _ in range(n)], [rng.choice(wide) for _ in range(m)]
    a, b = admit_ports(rng, family, schema, len(operands), len(results), n, m)
    rows = [f"actor %{results[0]} -> f in ({','.join(map(str, a))}) out ({','.join(map(str, b))})"]
    rows += [f"bound %{results[0]} in {k} -> a{p}" for k, p in enumerate(a)]
    text = graph.text()
    rows += [f"bound %{results[0]} out {k} -> y{p}" for k, p in enumerate(b)
             if results[k] in graph.outputs or results[k] in operands]
    return text + unit_text(family.name, schemas, ins, outs, params) + "\n".join(
        ["map M of G on F { realize r fu U template 0 {", *rows, "} bind r -> u }"]) + "\n"


def admit_ports(rng, family, schema, operands, results, n, m):
    """The ports asked for: the rule's, a routed image by chance, or some error."""
    a, b = list(range(operands)), list(range(results))
    if family.name == SLICE and schema == "vector.extract":
        a = [0] + [k + 1 for k in a[1:]]
    if family.name == "TokenSync" and operands <= n:
        a = b = rng.sample(range(n), operands)
    if family.name == "TokenMux" and operands <= n:
        a = [0] + rng.sample(range(1, n), operands - 1)
    if family.name == "TokenDemux" and results <= m:
        b = rng.sample(range(m), results)
    if family.name.startswith("Token") and rng.random() < 0.5:
        a, b = sorted(a), sorted(b)
    if rng.random() < 0.02:
        a = rng.sample(a, len(a))
    return a, b


# ---- the text itself ----

def reformat(rng, text):
    """The same tokens, spelt and parted otherwise."""
    text = re.sub(r"(?<![\w.%-])[1-9]\d*(?![\w.])",
                  lambda m: hex(int(m[0])) if rng.random() < 0.1 else m[0], text)
    blanks = (" ", "  ", "\t", "\r\n", " # x -> { %\n", "\n\n")
    text = re.sub(r"[ \n]", lambda m: rng.choice(blanks) if rng.random() < 0.2 else m[0], text)
    return re.sub(r"[,()\[\]{}:=]", lambda m: f" {m[0]} " if rng.random() < 0.1 else m[0], text)


def text_case(rng):
    """A file of another kind with a few bytes changed, put in or left out."""
    make = rng.choice((relation_case, topology_case, admit_case, None))
    text = make(rng) if make else run_case(rng)["file"]
    if rng.random() < 0.5:
        text = reformat(rng, text)
        if rng.random() < 0.7:
            return text
    for _ in range(rng.choice((0, 1, 1, 2))):
        k = rng.randrange(len(text))
        what = rng.choice(("", " ", "0", "1", "x", "t", ".", "_", "%", "<", ",", "-", "?", "#",
                           "{", "}", "\n", "\t", "[", "]", "(", ")", "=", ":", "->", "$", "00",
                           "0x1f", "32t", " = ", "exact", "in"))
        text = text[:k] + what + text[k + rng.choice((0, 1, 1)):]
    return text


# ---- runs ----

def run_case(rng):
    """{file, tokens, stalls, resets, cycles}: a graph with units, a map and its streams."""
    graph = Builder(rng)
    for _ in range(rng.choice((1, 1, 2, 3, 4, 6, 8, 12))):
        graph.step()
    text = graph.text() + Units(rng, graph).text()
    if rng.random() < 0.08:
        text = twin(rng, graph, text)
    if rng.random() < 0.12:
        text = spoil(rng, text)
    return {"file": text, "tokens": tokens(rng, graph), "stalls": stalls(rng, graph),
            "resets": sorted(rng.sample(range(20), rng.choice((0, 0, 0, 1, 2)))),
            "cycles": rng.choice((60, 200, 200, 200, 200, rng.randint(1, 12))),
            "spoilt": rng.choice(("tokens", "stalls")) if rng.random() < 0.04 else None}


def twin(rng, graph, text):
    """A second copy of the graph on the same FUs: in other contexts or other occurrences."""
    out, copies, place = [], [], 0
    for line in text.split("\n"):
        if line.startswith(("input", "output", "%v")):
            copies.append(re.sub(r"%v", "%w", line))
            if not line.startswith("input"):
                place = place or len(out)
        elif line.startswith("realize"):
            copies.append(line.replace("realize r", "realize q"))
        elif line.startswith(("actor", "bound")):
            copies.append(line.replace("%v", "%w"))
        out.append(line)
    inputs = [c for c in copies if c.startswith("input")]
    outputs = [c for c in copies if c.startswith("output")]
    others = [c for c in copies if c.startswith("%w")]
    graph_end = out.index("}")
    first = next((k for k, x in enumerate(out) if not x.startswith(("graph", "input"))), 1)
    head = out[:first] + inputs + others + out[first:graph_end] + outputs
    body, binds = [], []
    realizes, inside = [], False
    for line in out[graph_end:]:
        inside = inside or line.startswith("realize")
        if line.startswith("bind"):
            inside = False
            binds.append(line)
        elif inside:
            realizes.append(line)
        else:
            body.append(line)
    tail = body.pop() if body[-1] == "" else ""
    body.pop()
    again = [x.replace("realize r", "realize q").replace("%v", "%w") for x in realizes]
    if rng.random() < 0.5:  # other occurrences
        more = [x.replace("bind r", "bind q").replace("-> o", "-> t").split(" context")[0]
                for x in binds]
        at = next(k for k, x in enumerate(body) if x.startswith("map"))
        body[at - 1:at - 1] = [f"occ t{x.split()[1][1:]} U{x.split()[1][1:]}" for x in binds]
    else:
        more = [x.replace("bind r", "bind q").split(" context")[0]
                + f" context {rng.randint(0, 2)}" for x in binds]
    for name in list(graph.inputs):
        copy = "w" + name[1:]
        graph.inputs[copy] = graph.values[copy] = graph.inputs[name]
    graph.outputs += ["w" + v[1:] for v in graph.outputs]
    return "\n".join([*head, *body, *realizes, *again, *binds, *more, "}", tail])


INTERESTING = {"f16": (0x3c00, 0x8000, 0x7c00, 0x7e00, 0xfc00, 0x0001, 0x7bff, 0x0400),
               "bf16": (0x3f80, 0x8000, 0x7f80, 0x7fc0, 0xff80, 0x0001, 0x7f7f, 0x0080),
               "f32": (0x3f800000, 1 << 31, 0x7f800000, 0x7fc00000, 0xff800000, 1, 0x7f7fffff,
                       0x7f812345),
               "f64": (0x3ff << 52, 1 << 63, 0x7ff << 52, 0x7ff8 << 48, 0xfff << 52, 1,
                       (0x7ff << 52) - 1)}


def payload(rng, t, index):
    if t.kind == "vector":
        w = t.element.bits(index)
        return sum(payload(rng, t.element, index) << (k * w) for k in range(t.lanes))
    w = t.bits(index)
    if t.kind == "float" and rng.random() < 0.4:
        return rng.choice(INTERESTING[t.format])
    if t.kind == "float" and rng.random() < 0.6:  # near one: sums and products that round
        exponent = {"f16": (15, 10), "bf16": (127, 7), "f32": (127, 23), "f64": (1023, 52)}[
            t.format]
        e = exponent[0] + rng.randint(-4, 4)
        return rng.getrandbits(1) << (w - 1) | e << exponent[1] | rng.getrandbits(exponent[1])
    if t.kind == "index":
        return rng.choice((0, 0, 1, 1, 2, rng.randint(0, 3)))
    return rng.choice((0, 1, 2, 3, (1 << w) - 1, 1 << (w - 1), rng.getrandbits(w))) % (1 << w)


def tokens(rng, graph):
    out = {}
    for name, t in graph.inputs.items():
        if rng.random() < 0.96:
            count = rng.choice((0, 1, 2, 3, 4, 6, 8))
            if t.kind == "none":
                count += 3
            out[name] = [None if t == NONE else payload(rng, t, graph.index)
                         for _ in range(count)]
    return {"types": {n: t.bits(graph.index) for n, t in graph.inputs.items()}, "streams": out}


def token_lines(tokens):
    lines = []
    for name, values in tokens["streams"].items():
        width = tokens["types"][name]
        texts = ["none" if v is None else f"{v:0{(width + 3) // 4}x}" for v in values]
        lines.append(json.dumps({"port": name, "tokens": texts}))
    return "\n".join(lines) + "\n" if lines else ""


def spoil_streams(rng, text):
    """A token or stall file with one thing changed."""
    changes = ((r'"([0-9a-f]+)"', lambda m: rng.choice((f'"{m[1]}0"', f'"0{m[1]}"', '""', '"none"',
                                                         f'"{m[1][1:]}"', f'"f{m[1][1:]}"',
                                                         f'"{m[1].upper()}"', m[1], "7"))),
               (r'"(v\d+)"', lambda m: rng.choice(('"v0"', '"v1"', '"%' + m[1] + '"', '"zz"'))),
               (r'"none"', lambda m: rng.choice(('"0"', '""', "null"))),
               (r"\n", lambda m: rng.choice(("\n\n", " \n", " "))),
               (r" ", lambda m: rng.choice(("", "  ", "\t"))),
               (r"\[(\d+), (\d+)\]", lambda m: rng.choice((f"[{m[2]}, {m[1]}]", f"[{m[1]}]",
                                                          f"[-1, {m[2]}]", f"[{m[1]}, {m[1]}]"))),
               (r'"(port|tokens|cycles)"', lambda m: '"ports"'))
    for pattern, change in rng.sample(changes, len(changes)):
        found = list(re.finditer(pattern, text))
        if found:
            m = rng.choice(found)
            return text[:m.start()] + change(m) + text[m.end():]
    return text


def stalls(rng, graph):
    out = {}
    if rng.random() < 0.4:
        return out
    for name in (*graph.inputs, *graph.outputs):
        if rng.random() < 0.4:
            spans = []
            for _ in range(rng.randint(1, 3)):
                a = rng.randint(0, 25)
                spans.append((a, a + rng.randint(1, 8)))
            out[name] = spans
    return out


def stall_lines(stalled):
    return "".join(json.dumps({"port": n, "cycles": [list(s) for s in spans]}) + "\n"
                   for n, spans in stalled.items())


def spoil(rng, text):
    """Change one token or line."""
    lines = text.split("\n")
    k = rng.randrange(len(lines))
    if rng.random() < 0.3:
        del lines[k]
        return "\n".join(lines)
    if rng.random() < 0.2:
        j = rng.randrange(len(lines))
        lines[k], lines[j] = lines[j], lines[k]
        return "\n".join(lines)
    numbers = list(re.finditer(r"(?<![\w.])\d+(?![\w.])|(?<=\.)\d+|(?<=[%py])\d+", text))
    m = rng.choice(numbers)
    value = rng.choice((0, 1, 2, 3, 8, 16, 32, max(0, int(m.group()) + rng.choice((-1, 1)))))
    return text[:m.start()] + str(value) + text[m.end():]
