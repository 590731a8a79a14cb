# SPDX-License-Identifier: Apache-2.0
"""Sections 1 and 2 of fabric-tables.md: types, atoms, operation schemas and their shapes."""

import re
from typing import NamedTuple

INVALID, INADMISSIBLE, UNSUPPORTED, CONFLICT = (
    "Invalid", "CapabilityInadmissible", "Unsupported", "Conflict")


class Fault(Exception):
    """A refusal of section 11's error classes."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


def need(condition, message, kind=INVALID):
    if not condition:
        raise Fault(kind, message)


def u32(value):
    need(0 <= value < 1 << 32, "a number past u32")
    return value.to_bytes(4, "big")


def u64(value):
    return value.to_bytes(8, "big")


def frame(data):
    return u32(len(data)) + data


def dom(name, major=1, minor=0):
    return name.encode("ascii") + b"\0" + u32(major) + u32(minor)


def packed_bits(value, bits):
    """Carrier bit k at bit k mod 8 of byte k div 8."""
    return value.to_bytes((bits + 7) // 8, "little")


# ---- 1.1, 1.2: types ----

FLOAT_WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}  # in enumeration order
FLOATS = list(FLOAT_WIDTH)
FLOAT_TAG = {"bf16": 12, "f16": 13, "f32": 15, "f64": 16}
LOGIC_WIDTHS = (1, 8, 16, 32, 64)
ORDINARY_WIDTHS = (8, 16, 32, 64)


class Type(NamedTuple):
    kind: str  # none, index, int, float, vector, ptr
    width: int = 0  # of an integer; the address space of a pointer
    format: str = ""
    dims: tuple = ()
    element: tuple = None

    def text(self):
        if self.kind == "int":
            return f"i{self.width}"
        if self.kind == "float":
            return self.format
        if self.kind == "vector":
            return f"vector<{''.join(f'{d}x' for d in self.dims)}{self.element.text()}>"
        return self.kind if self.kind != "ptr" else f"ptr<{self.width}>"

    def bits(self, index):
        """The payload width, `index` the graph's resolved width."""
        if self.kind == "float":
            return FLOAT_WIDTH[self.format]
        if self.kind == "index":
            return index
        if self.kind == "vector":
            return self.lanes * self.element.bits(index)
        return self.width

    @property
    def lanes(self):
        count = 1
        for d in self.dims:
            count *= d
        return count

    @property
    def scalar(self):
        return self.element if self.kind == "vector" else self

    def like(self, element):
        """This shape with other elements."""
        return self._replace(element=element) if self.kind == "vector" else element

    def resolved(self, index):
        """With index replaced by the graph's width (section 6.7)."""
        if self.kind == "vector":
            return self._replace(element=self.element.resolved(index))
        return integer(index) if self.kind == "index" else self

    def has_index(self):
        return self.scalar.kind == "index"

    def term(self):
        if self.kind == "none":
            return u32(1)
        if self.kind == "index":
            return u32(2)
        if self.kind == "int":
            return u32(3) + u32(1) + u32(self.width)
        if self.kind == "float":
            return u32(4) + u32(FLOAT_TAG[self.format])
        if self.kind == "vector":
            return (u32(5) + u64(len(self.dims)) + b"".join(u64(d) for d in self.dims)
                    + self.element.term())
        return u32(12) + u32(self.width)

    def encode(self):
        return dom("loom.dataflow.canonical-type") + self.term()


def integer(width):
    return Type("int", width)


def floating(name):
    return Type("float", format=name)


def vector(dims, element):
    return Type("vector", dims=tuple(dims), element=element)


NONE, INDEX, BOOL = Type("none"), Type("index"), integer(1)


def parse_type(text):
    """Section 1.1's spellings."""
    if text in ("none", "index"):
        return Type(text)
    if text in FLOAT_WIDTH:
        return floating(text)
    if re.fullmatch(r"i[1-9][0-9]*", text):
        need(int(text[1:]) < 1 << 32, f"{text}: its width")
        return integer(int(text[1:]))
    if text.startswith("ptr<"):
        raise Fault(UNSUPPORTED, "no pointer layout can be written")
    shape = re.fullmatch(r"vector<((?:[1-9][0-9]*x)+)([a-z][a-z0-9]*)>", text)
    need(shape, f"'{text}' is no type")
    element = parse_type(shape[2])
    need(element.kind in ("int", "float", "index"), f"{text}: its elements")
    return vector((int(d) for d in shape[1][:-1].split("x")), element)


# ---- 1.3: atoms ----

INTEGER_PREDICATES = "eq ne slt sle sgt sge ult ule ugt uge".split()
FLOAT_PREDICATES = ("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true").split()
ROUNDINGS = "to_nearest_even downward upward toward_zero to_nearest_away".split()
TIERS = "CorrectlyRounded Max1Ulp Max2Ulp Max4Ulp".split()
STEPS = "add sub mul sdiv udiv shl ashr lshr".split()
FAST_MATH = "reassoc nnan ninf nsz arcp contract afn".split()
OVERFLOW = "nsw nuw".split()

ATOMS = {"integer-compare-predicate": INTEGER_PREDICATES,
         "float-compare-predicate": FLOAT_PREDICATES, "rounding-mode": ROUNDINGS}


def atom(vocabulary, word):
    return dom(f"loom.dataflow.{vocabulary}") + u32(ATOMS[vocabulary].index(word) + 1)


# ---- 2: schemas. The case is section 2.1's ----

class Schema(NamedTuple):
    name: str
    id: int
    case: int
    supported: bool


def _schemas():
    rows = {}

    def put(prefix, text, case, supported=True):
        for item in text.split():
            ident, name = item.split(":")
            rows[f"{prefix}.{name}"] = Schema(f"{prefix}.{name}", int(ident), case, supported)

    put("arith", "1:addi 2:subi 3:muli 4:shli 22:trunci", 2)
    put("arith", "5:shrsi 6:shrui 10:divsi 11:divui", 11)
    put("arith", "7:andi 8:ori 9:xori 12:remsi 13:remui 14:minsi 15:maxsi 16:minui 17:maxui "
        "19:select 20:extsi 23:index_cast 25:bitcast 39:sitofp 41:fptosi 42:fptoui", 0)
    put("arith", "18:cmpi", 3)
    put("arith", "21:extui 24:index_castui 40:uitofp", 12)
    put("arith", "26:addf 27:subf 28:mulf 29:divf 30:remf 31:negf 32:minimumf 33:maximumf "
        "34:minnumf 35:maxnumf 37:extf 38:truncf", 1)
    put("arith", "36:cmpf", 4)
    put("arith", "0:constant", 0, False)
    put("math", "43:absf 66:fma", 1)
    put("math", "45:sin 46:cos 47:tan 48:sinh 49:cosh 50:tanh 51:exp 52:exp2 53:expm1 54:log "
        "55:log2 56:log10 57:log1p 58:floor 59:ceil 60:round 61:trunc 62:roundeven 63:sqrt "
        "64:rsqrt 65:erf 106:powf", 18)
    put("math", "93:ctlz 101:cttz", 0)
    put("math", "44:absi", 0, False)
    put("vector", "94:extract 95:insert", 13)
    put("vector", "96:shuffle", 14)
    put("dataflow", "76:stream", 6)
    put("dataflow", "77:carry 78:invariant 79:gate 81:sync 82:mux 83:demux 84:parallelize "
        "85:serialize 86:pack 87:unpack", 0)
    put("dataflow", "80:constant", 5)
    put("dataflow", "88:load 89:store 90:atomic_rmw 91:cmpxchg 92:fence", 0, False)
    put("llvm.intr", "71:usub.sat 98:sadd.sat 99:uadd.sat 100:ssub.sat", 0)
    put("llvm.intr", "72:ctlz 102:cttz", 8)
    put("llvm.intr", "69:fshl 70:bswap 73:abs", 0, False)
    put("llvm", "97:or", 15)
    put("llvm", "103:fptosi.sat 104:fptoui.sat", 16)
    put("llvm", "68:freeze 74:extractvalue 75:insertvalue", 0, False)
    put("llvm", "105:getelementptr", 17)
    put("ub", "67:poison", 0, False)
    return rows


SCHEMAS = _schemas()
ROUNDED = {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.fma", "arith.truncf"}
INT2 = {"arith." + s for s in "addi subi muli shli shrsi shrui andi ori xori divsi divui remsi "
        "remui minsi maxsi minui maxui".split()} | {"llvm.or"} | {
        "llvm.intr." + s for s in "sadd.sat uadd.sat ssub.sat usub.sat".split()}
INT1 = {"math.ctlz", "math.cttz", "llvm.intr.ctlz", "llvm.intr.cttz"}
FLOAT2 = {"arith." + s for s in "addf subf mulf divf remf minimumf maximumf minnumf maxnumf".split()
          } | {"math.powf"}
MATH1 = [s for s, row in SCHEMAS.items() if row.case == 18 and s != "math.powf"]
FLOAT1 = {"arith.negf", "math.absf", *MATH1}


# ---- the shapes of sections 2.2 and 2.3 ----

def check_shape(schema, ins, outs, attributes, index):
    """Do operand and result types agree? `index` may be None where no type holds one."""
    name = schema

    def agree(condition):
        need(condition, f"{name}: types that do not agree")

    def arity(n, m):
        need(len(ins) == n and len(outs) == m, f"{name}: its arity")

    def integers(*types):
        agree(all(t.scalar.kind in ("int", "index") for t in types))

    def strict_integers(*types):
        agree(all(t.scalar.kind == "int" for t in types))

    def floats(*types):
        agree(all(t.scalar.kind == "float" for t in types))

    def same(*types):
        agree(len(set(types)) == 1)

    def shape(a, b):
        agree(a.dims == b.dims and a.kind != "none" and b.kind != "none")

    if name in INT2:
        arity(2, 1), integers(*ins, *outs), same(*ins, *outs)
    elif name in INT1:
        arity(1, 1), integers(*ins, *outs), same(*ins, *outs)
    elif name in FLOAT2:
        arity(2, 1), floats(*ins, *outs), same(*ins, *outs)
    elif name in FLOAT1:
        arity(1, 1), floats(*ins, *outs), same(*ins, *outs)
    elif name == "math.fma":
        arity(3, 1), floats(*ins, *outs), same(*ins, *outs)
    elif name in ("arith.cmpi", "arith.cmpf"):
        arity(2, 1), same(*ins)
        (integers if name == "arith.cmpi" else floats)(*ins)
        agree(outs[0] == ins[0].like(BOOL))
    elif name == "arith.select":
        arity(3, 1), same(*ins[1:], *outs)
        agree(ins[1].scalar.kind in ("int", "float", "index") and ins[0] == ins[1].like(BOOL))
    elif name in ("arith.extsi", "arith.extui", "arith.trunci"):
        arity(1, 1), strict_integers(*ins, *outs), shape(ins[0], outs[0])
        a, b = ins[0].scalar.width, outs[0].scalar.width
        agree(a > b if name == "arith.trunci" else a < b)
    elif name in ("arith.index_cast", "arith.index_castui"):
        arity(1, 1), integers(*ins, *outs), shape(ins[0], outs[0])
        agree(ins[0].has_index() != outs[0].has_index())
    elif name == "arith.bitcast":
        arity(1, 1)
        agree(all(t.scalar.kind in ("int", "float") for t in (*ins, *outs)))
        agree((ins[0].kind == "vector") == (outs[0].kind == "vector"))
        agree(ins[0].bits(index) == outs[0].bits(index))
    elif name in ("arith.extf", "arith.truncf"):
        arity(1, 1), floats(*ins, *outs), shape(ins[0], outs[0])
        a, b = ins[0].scalar.bits(index), outs[0].scalar.bits(index)
        agree(a < b if name == "arith.extf" else a > b)
    elif name in ("arith.sitofp", "arith.uitofp"):
        arity(1, 1), strict_integers(*ins), floats(*outs), shape(ins[0], outs[0])
    elif name in ("arith.fptosi", "arith.fptoui", "llvm.fptosi.sat", "llvm.fptoui.sat"):
        arity(1, 1), floats(*ins), strict_integers(*outs), shape(ins[0], outs[0])
    elif name in ("vector.extract", "vector.insert"):
        _slice_shape(name, ins, outs, attributes["position"], agree)
    elif name == "vector.shuffle":
        arity(2, 1)
        agree(all(t.kind == "vector" for t in (*ins, *outs)))
        same(*(t.element for t in (*ins, *outs)))
        same(*(t.dims[1:] for t in (*ins, *outs)))
        mask = attributes["mask"]
        blocks = ins[0].dims[0] + ins[1].dims[0]
        agree(len(mask) == outs[0].dims[0] and all(-1 <= m < blocks for m in mask))
    else:
        _dataflow_shape(name, ins, outs, arity, agree, index)


def slice_types(container, position):
    """The type of the block that a position selects."""
    rest = container.dims[len(position):]
    return vector(rest, container.element) if rest else container.element


def _slice_shape(name, ins, outs, position, agree):
    dynamic = sum(p == "?" for p in position)
    first = 1 if name == "vector.extract" else 2
    need(len(ins) == first + dynamic and len(outs) == 1, f"{name}: its arity")
    container = ins[first - 1]
    agree(container.kind == "vector" and len(position) <= len(container.dims))
    agree(all(t == INDEX for t in ins[first:]))
    agree(all(p == "?" or 0 <= p < d for p, d in zip(position, container.dims)))
    block = slice_types(container, position)
    if first == 1:
        agree(outs[0] == block)
    else:
        agree(ins[0] == block and outs[0] == container)


def _dataflow_shape(name, ins, outs, arity, agree, index):
    short = name.split(".")[1]
    token = ("none", "int", "float", "vector", "ptr", "index")
    if short == "stream":
        arity(3, 2)
        agree(len({*ins, outs[0]}) == 1 and ins[0].kind == "int" and outs[1] == BOOL)
    elif short == "carry":
        arity(3, 1)
        agree(ins[0] == BOOL and ins[1] == ins[2] == outs[0] and outs[0].kind in token)
    elif short == "invariant":
        arity(2, 1)
        agree(ins[0] == BOOL and ins[1] == outs[0])
    elif short == "gate":
        arity(2, 2)
        agree(ins[0] == outs[0] == BOOL and ins[1] == outs[1])
    elif short == "constant":
        arity(1, 1)
        agree(ins[0] == NONE and outs[0] != NONE)
    elif short == "sync":
        need(len(ins) == len(outs) >= 1, f"{name}: its arity")
        agree(list(ins) == list(outs))
    elif short == "mux":
        need(len(ins) >= 3 and len(outs) == 1, f"{name}: its arity")
        agree(ins[0] == (BOOL if len(ins) == 3 else INDEX) and len({*ins[1:], *outs}) == 1)
    elif short == "demux":
        need(len(ins) == 2 and len(outs) >= 2, f"{name}: its arity")
        agree(ins[0] == (BOOL if len(outs) == 2 else INDEX) and len({ins[1], *outs}) == 1)
    elif short == "parallelize":
        arity(2, 3)
        v = outs[0]
        agree(v.kind == "vector" and ins[0] == v.element and ins[1] == outs[2] == BOOL
              and outs[1] == v.like(BOOL))
    elif short == "serialize":
        arity(3, 2)
        v = ins[0]
        agree(v.kind == "vector" and outs[0] == v.element and ins[2] == outs[1] == BOOL
              and ins[1] == v.like(BOOL))
    else:
        arity(1, 1)
        v, m = (ins[0], outs[0]) if short == "pack" else (outs[0], ins[0])
        agree(v.kind == "vector" and m.kind == "int" and m.width == v.bits(index))
