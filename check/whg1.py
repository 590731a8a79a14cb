# SPDX-License-Identifier: Apache-2.0
"""Section 10: the WHG1 graph form, read and checked in the order of section 10.5."""

import struct
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

from functions import CAP, MODEL_MISMATCH, TOO_LARGE, Refusal
from operators import OPERATORS, Operand, Operator, Rq, ScalarRanges, require

DERIVED, CLAMP, CHECK = 0, 1, 2
POLICIES = ("derived", "clamp", "check")
NO_EXPONENT = -128
DATA, STATE = 0, 1
KINDS = ("data", "state")


class Input(NamedTuple):
    tensor: int
    max_h: int
    max_w: int
    kind: int
    src: int
    init: int


class TensorRecord(NamedTuple):
    channels: int
    exponent: int
    policy: int
    lo: int
    hi: int


class Node(NamedTuple):
    index: int
    op: Operator
    ins: tuple
    outs: tuple
    p: SimpleNamespace


@dataclass
class Graph:
    data: bytes
    max_elems: int
    scalars: list = field(default_factory=list)  # (lo, hi)
    inputs: list = field(default_factory=list)
    outputs: tuple = ()
    tensors: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    sizes: dict = field(default_factory=dict)  # tensor -> (H, W), planned at load when declared

    @property
    def declares_sizes(self):
        return self.inputs[0].max_h > 0

    def channels(self, tensor):
        return self.tensors[tensor].channels


class Reader:
    """Little-endian fields from a span of bytes; a field past its end is a refusal."""

    def __init__(self, data, start=0):
        self.data, self.at = data, start

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        require(count <= self.left(), "the file ends inside a record")
        self.at += count
        return self.data[self.at - count:self.at]

    def fields(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def integers(self, width, count):
        """`count` signed integers of `width` bytes."""
        return struct.unpack(f"<{count}{'_bh_i___q'[width]}", self.take(width * count))


# 10.1 Header, 10.2 Tables: load checks 1 to 4

def read_header(data):
    require(len(data) >= 32, "shorter than a header")
    (magic, version, operator_set, reserved6, n_tensors, n_ops, n_inputs, n_outputs, n_scalars,
     reserved22, max_elems, reserved28) = struct.unpack("<4sBBHIIHHHHII", data[:32])
    require(magic == b"WHG1" and version == 1 and operator_set == 1,
            "magic, version or operator set")
    require(reserved6 == reserved22 == reserved28 == 0, "a reserved header field")
    require(n_tensors and n_ops and n_inputs and n_outputs, "a count of zero")
    require(1 <= max_elems <= CAP, "max_elems")
    tables = 16 * n_scalars + 32 * n_inputs + 4 * n_outputs + 24 * n_tensors + 8 * n_ops
    require(32 + tables <= len(data), "counts past the file's length")
    return max_elems, n_tensors, n_ops, n_inputs, n_outputs, n_scalars


def read_scalar(reader):
    lo, hi = reader.fields("qq")
    require(lo <= hi, "a scalar's range")
    return lo, hi


def read_input(reader):
    tensor, max_h, max_w, kind, zeros, src, reserved, init = reader.fields("IIIB3sIIq")
    require(zeros == b"\0\0\0" and reserved == 0, "a reserved field of an input")
    require((max_h == 0) == (max_w == 0), "one of max_h and max_w is 0")
    require(kind in (DATA, STATE), "an input's kind")
    require(kind == STATE or src == init == 0, "src or init of a data input")
    return Input(tensor, max_h, max_w, kind, src, init)


def read_tensor(reader):
    channels, exponent, policy, reserved, lo, hi = reader.fields("IbBHqq")
    require(channels >= 1, "a tensor without channels")
    require(policy in (DERIVED, CLAMP, CHECK), "a tensor's policy")
    require(reserved == 0, "a reserved field of a tensor")
    require(lo == hi == 0 if policy == DERIVED else lo <= hi, "a tensor's range")
    return TensorRecord(channels, exponent, policy, lo, hi)


# 10.4 Parameter layouts: load check 5

def read_rq(reader, channels):
    rounding, placement, m_kind, s_kind, m_bytes, b_bytes, reserved = reader.fields("BBBBBBH")
    require(reserved == 0, "RQ: reserved")
    require(rounding <= 2 and placement <= 2 and m_kind <= 2 and s_kind in (1, 2),
            "RQ: round, bias, m_kind or s_kind")
    require(m_bytes in (4, 8) if m_kind else m_bytes == 0, "RQ: m_bytes")
    require(b_bytes in (4, 8) if placement else b_bytes == 0, "RQ: b_bytes")
    mult = reader.integers(m_bytes, channels if m_kind == 2 else 1) if m_kind else None
    shift = tuple(reader.take(channels if s_kind == 2 else 1))
    bias = reader.integers(b_bytes, channels) if placement else None
    require(max(shift) <= 127, "RQ: a shift past 127")
    return Rq(rounding, placement, mult, shift, bias)


def read_weight_width(reader):
    width, zeros = reader.fields("B3s")
    require(width in (1, 2, 4, 8) and zeros == b"\0\0\0", "w_bytes")
    return width


def read_conv(reader, cin):
    cout, kh, kw, sh, sw, ph, pw, groups = reader.fields("8I")
    require(min(cout, kh, kw, sh, sw, groups) >= 1, "conv: a parameter of 0")
    require(cin % groups == 0, "conv: cin is no multiple of groups")
    width, rq = read_weight_width(reader), read_rq(reader, cout)
    weights = reader.integers(width, cout * (cin // groups) * kh * kw)
    return dict(cout=cout, kh=kh, kw=kw, sh=sh, sw=sw, ph=ph, pw=pw, groups=groups, cin=cin,
                rq=rq, weights=weights)


def read_conv_transpose(reader, cin):
    cout, kh, kw, sh, sw, ph, pw, oph, opw = reader.fields("9I")
    require(min(cout, kh, kw, sh, sw) >= 1, "conv_transpose: a parameter of 0")
    width, rq = read_weight_width(reader), read_rq(reader, cout)
    weights = reader.integers(width, cin * cout * kh * kw)
    return dict(cout=cout, kh=kh, kw=kw, sh=sh, sw=sw, ph=ph, pw=pw, oph=oph, opw=opw, cin=cin,
                rq=rq, weights=weights)


def read_rescale(reader, channels):
    return dict(rq=read_rq(reader, channels))


def read_chscale(reader, channels):
    scalar, n_rows, rounding, m_bytes, shift, reserved = reader.fields("IIBBBB")
    require(rounding <= 2 and m_bytes in (4, 8) and shift <= 127 and reserved == 0,
            "chscale: round, m_bytes, shift or reserved")
    return dict(scalar=scalar, n_rows=n_rows, rounding=rounding, shift=shift,
                table=reader.integers(m_bytes, n_rows * channels))


def read_mul(reader, channels):
    rq = read_rq(reader, channels)
    require(rq.placement == 0, "mul: a bias")
    return dict(rq=rq)


def read_lut16(reader, channels):
    e_in, e_out, reserved = reader.fields("bbH")
    require(reserved == 0, "lut16: reserved")
    table = reader.integers(2, 65536)
    require(table[0] == 0, "lut16: T[0] is not 0")
    return dict(e_in=e_in, e_out=e_out, table=table)


def read_none(reader, channels):
    return {}


def read_split(reader, channels):
    start, count = reader.fields("II")
    require(count >= 1, "split: a count of 0")
    return dict(start=start, count=count)


def read_pixel(reader, channels):
    r, = reader.fields("I")
    require(r >= 1, "r of 0")
    return dict(r=r)


def read_clamp(reader, channels):
    lo, hi = reader.fields("qq")
    require(lo <= hi, "clamp: lo above hi")
    return dict(lo=lo, hi=hi)


def read_leaky(reader, channels):
    a, f = reader.fields("qI")
    require(f <= 63, "leaky: f past 63")
    return dict(a=a, f=f)


def read_pad_rep(reader, channels):
    m, = reader.fields("I")
    require(m >= 1, "pad_rep: m of 0")
    return dict(m=m)


def read_crop(reader, channels):
    p = {}
    for name in ("y0", "x0", "h", "w"):
        kind, zeros, value = reader.fields("B3sI")
        require(kind <= 1 and zeros == b"\0\0\0", "crop: an operand's kind or reserved bytes")
        p[name] = Operand(kind == 1, value)
    return p


def read_order(reader, channels):
    order = tuple(reader.take(4))
    require(sorted(order) == [0, 1, 2, 3], "order is no permutation")
    return dict(order=order)


def read_fill(reader, channels):
    kind, zeros, value = reader.fields("B7sq")
    require(kind <= 1 and zeros == bytes(7), "fill: kind or reserved")
    return dict(value=Operand(kind == 1, value))


def read_gamma_width(reader):
    width, zeros = reader.fields("B7s")
    require(width in (4, 8) and zeros == bytes(7), "g_bytes")
    return width


def read_igdn(reader, channels):
    gf, frac = reader.fields("II")
    require(gf <= 127 and frac <= 127, "igdn: a shift past 127")
    width = read_gamma_width(reader)
    gamma = reader.integers(width, channels * channels)
    return dict(gf=gf, frac=frac, gamma=gamma, beta=reader.integers(8, channels))


def read_layernorm_c(reader, channels):
    epsilon, = reader.fields("Q")
    require(epsilon >= 1, "layernorm_c: an epsilon of 0")
    width = read_gamma_width(reader)
    gamma = reader.integers(width, channels)
    return dict(epsilon=epsilon, gamma=gamma, beta=reader.integers(8, channels))


def read_l2norm(reader, channels):
    epsilon, = reader.fields("Q")
    require(epsilon >= 1, "l2norm: an epsilon of 0")
    return dict(epsilon=epsilon)


def read_elu(reader, channels):
    return dict(alpha=reader.fields("q")[0])


def read_contraction(reader, channels):
    groups, = reader.fields("I")
    require(groups >= 1, "groups of 0")
    require(reader.data[reader.at + 3:reader.at + 4] == b"\x01", "s_kind of a contraction")
    rq = read_rq(reader, 1)
    require(rq.mult is None and rq.placement == 0, "a multiplier or a bias in a contraction")
    return dict(groups=groups, rq=rq)


LAYOUTS = {
    "conv": read_conv, "conv_transpose": read_conv_transpose, "rescale": read_rescale,
    "chscale": read_chscale, "mul": read_mul, "lut16": read_lut16, "split": read_split,
    "pixel_shuffle": read_pixel, "pixel_unshuffle": read_pixel, "clamp": read_clamp,
    "leaky": read_leaky, "pad_rep": read_pad_rep, "crop": read_crop, "subpos_split": read_order,
    "subpos_merge": read_order, "fill": read_fill, "igdn": read_igdn,
    "layernorm_c": read_layernorm_c, "l2norm": read_l2norm, "elu": read_elu,
    "gram": read_contraction, "apply": read_contraction,
}


def scalars_named(node):
    """The indices of the scalars that an operator's parameters name."""
    p = node.p
    named = {"crop": lambda: [p.y0, p.x0, p.h, p.w], "fill": lambda: [p.value],
             "chscale": lambda: [Operand(True, p.scalar)]}.get(node.op.name, list)()
    return [operand.value for operand in named if operand.is_scalar]


def read_node(reader, graph, index):
    opcode, n_in, n_out, reserved = reader.fields("BBBB")
    require(reserved == 0, "a reserved field of an operator")
    require(opcode in OPERATORS, "an unknown opcode")
    op = OPERATORS[opcode]
    require(n_in >= 2 if op.n_in is None else n_in == op.n_in, f"{op.name}: n_in")
    require(n_out == op.n_out, f"{op.name}: n_out")
    ins, outs = reader.fields(f"{n_in}I"), reader.fields(f"{n_out}I")
    require(max(ins + outs) < len(graph.tensors), f"{op.name}: no such tensor")
    parameters = Reader(reader.take(reader.fields("I")[0]))
    channels = graph.channels(ins[0])
    p = SimpleNamespace(**LAYOUTS.get(op.name, read_none)(parameters, channels))
    require(parameters.left() == 0, f"{op.name}: parameters longer than their layout")
    p.channels, p.channels_out = channels, graph.channels(outs[0])
    node = Node(index, op, ins, outs, p)
    for k in scalars_named(node):
        require(0 <= k < len(graph.scalars), f"{op.name}: no such scalar")
    if op.name == "chscale":
        lo, hi = graph.scalars[p.scalar]
        require(0 <= lo and hi <= p.n_rows - 1, "chscale: the scalar's range passes the table")
    return node


# 10.3 Graph rules, and the exponent rules of sections 3 and 5.6: load check 6

def check_graph_rules(graph):
    count = len(graph.tensors)
    defined = set()
    for record in graph.inputs:
        require(record.tensor < count, "an input names no tensor")
        require(record.tensor not in defined, "two inputs name one tensor")
        defined.add(record.tensor)
        require(graph.tensors[record.tensor].policy != DERIVED, "a derived input")
        require((record.max_h > 0) == graph.declares_sizes, "only some inputs declare sizes")
    require(graph.inputs[0].kind == DATA, "input 0 is a state")
    for node in graph.nodes:
        require(defined.issuperset(node.ins), f"{node.op.name}: reads a tensor not yet there")
        for tensor in node.outs:
            require(tensor not in defined, f"{node.op.name}: writes a tensor twice")
            defined.add(tensor)
    require(len(defined) == count, "a tensor that nothing defines")
    require(defined.issuperset(graph.outputs), "an output that nothing defines")
    for record in graph.inputs:
        if record.kind == STATE:
            check_state(graph, record)
    for node in graph.nodes:
        check_exponents(graph, node)


def check_state(graph, record):
    require(record.src < len(graph.outputs), "a state's src")
    tensor = graph.tensors[record.tensor]
    require(graph.channels(graph.outputs[record.src]) == tensor.channels, "a state's channels")
    require(tensor.lo <= record.init <= tensor.hi, "a state's init")


def check_exponents(graph, node):
    exponents = [graph.tensors[t].exponent for t in node.ins + node.outs]
    if node.op.name in ("add", "concat", "chunk_add"):
        require(len(set(exponents)) == 1, f"{node.op.name}: exponents")
    if node.op.name == "lut16":
        require(exponents == [node.p.e_in, node.p.e_out], "lut16: exponents")


# The plan: load check 7, and section 4, run step 3

def plan_channels(graph):
    for node in graph.nodes:
        expected = node.op.channels(node.p, [graph.channels(t) for t in node.ins])
        require(expected == [graph.channels(t) for t in node.outs],
                f"{node.op.name}: its output's channels")


def plan_sizes(graph, sizes, scalars, mismatch):
    """[H, W] of every tensor, from those of the inputs. `mismatch` is a shape rule's code."""
    for node in graph.nodes:
        x = [sizes[t] for t in node.ins]
        if any(size > CAP for size in node.op.formed(node.p, x)):
            raise Refusal(TOO_LARGE, f"operator {node.index}: a size it forms")
        out = node.op.shape(node.p, x, scalars)
        if out is None:
            raise Refusal(mismatch, f"operator {node.index}: {node.op.name}'s shape rule")
        for tensor, (h, w) in zip(node.outs, out):
            if graph.channels(tensor) * h * w > graph.max_elems:
                raise Refusal(TOO_LARGE, f"operator {node.index}: its output")
            sizes[tensor] = (h, w)
    return sizes


def plan_at_load(graph):
    plan_channels(graph)
    if not graph.declares_sizes:
        require(not any(node.op.name in ("gram", "l2norm", "softmax") for node in graph.nodes),
                "gram, l2norm or softmax without declared sizes")
        return
    sizes = {}
    for record in graph.inputs:
        if graph.channels(record.tensor) * record.max_h * record.max_w > graph.max_elems:
            raise Refusal(TOO_LARGE, "an input's declared size")
        sizes[record.tensor] = (record.max_h, record.max_w)
    graph.sizes = plan_sizes(graph, sizes, ScalarRanges(graph.scalars), MODEL_MISMATCH)


# 10.5 Load checks

def load(data):
    """Checks 1 to 7. Check 8 is the bounds pass (bounds.py) and the verdict (certificate.py)."""
    max_elems, n_tensors, n_ops, n_inputs, n_outputs, n_scalars = read_header(data)
    reader = Reader(data, 32)
    graph = Graph(data, max_elems)
    graph.scalars = [read_scalar(reader) for _ in range(n_scalars)]
    graph.inputs = [read_input(reader) for _ in range(n_inputs)]
    graph.outputs = reader.fields(f"{n_outputs}I")
    graph.tensors = [read_tensor(reader) for _ in range(n_tensors)]
    graph.nodes = [read_node(reader, graph, index) for index in range(n_ops)]
    require(reader.left() == 0, "bytes after the last operator")
    check_graph_rules(graph)
    plan_at_load(graph)
    return graph
