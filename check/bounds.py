# SPDX-License-Identifier: Apache-2.0
"""Sections 8.1 to 8.3: intervals, their saturation at 2^255, and the rule of every operator.

An interval is a pair (lo, hi). A rule takes a `Saturating` arithmetic, its node and the intervals
of its inputs, and returns the named intermediates and the producer results.
"""

from dataclasses import dataclass
from itertools import product
from math import isqrt

from functions import (FLOOR, HALF_EVEN, HALF_UP, MODEL_MISMATCH, Refusal, clamp, isqrt_ceil)
from whg1 import CLAMP, DERIVED

LIMIT = 2 ** 255


# 8.1 Arithmetic, and saturation

class Saturating:
    """The primitive operations, each followed by `sat`. min, max, |.|, negation and the square
    roots of values within the limit stay within it, so Python's own serve for them."""

    def __init__(self):
        self.saturated = False

    def sat(self, v):
        if -LIMIT <= v <= LIMIT:
            return v
        self.saturated = True
        return clamp(v, -LIMIT, LIMIT)

    def add(self, a, b):
        return self.sat(a + b)

    def sub(self, a, b):
        return self.sat(a - b)

    def mul(self, a, b):
        return self.sat(a * b)

    def fold(self, first, terms):
        """A sum: the left fold from its first addend."""
        total = first
        for term in terms:
            total = self.sat(total + term)
        return total

    def round(self, rounding, p, s):
        """R_round(p, s), evaluated as section 2 writes it."""
        if rounding == HALF_UP and s >= 1:
            return self.add(p, 2 ** (s - 1)) >> s
        if rounding == HALF_EVEN and s >= 1:
            q = p >> s
            r = self.sub(p, self.mul(q, 2 ** s))
            h = 2 ** (s - 1)
            return self.add(q, 1) if r > h or (r == h and q % 2 == 1) else q
        return p >> s


def hull(intervals):
    los, his = zip(*intervals)
    return min(los), max(his)


def hulls(per_channel):
    """The hull, key by key, of one dict of intervals for each channel."""
    return {key: hull([intervals[key] for intervals in per_channel]) for key in per_channel[0]}


# 8.2 Term and partial-sum intervals

def corner_hull(sat, first, second):
    """The corner hull of a product; with an interval [w, w], the term interval of a weight."""
    corners = [sat.mul(a, b) for a, b in product(first, second)]
    return min(corners), max(corners)


def partial_sums(sat, terms, bias):
    """A(K, b)."""
    return (sat.fold(min(0, bias), [min(0, lo) for lo, _ in terms]),
            sat.fold(max(0, bias), [max(0, hi) for _, hi in terms]))


def weighted_sum(sat, weights, x, bias):
    """The hull of the term intervals of weights over one input interval, or None without weights,
    and A of them with the bias: by section 8.2's few sums, or term by term where one saturates."""
    if not weights:
        return None, partial_sums(sat, [], bias)
    l, h = min(0, x[0]), max(0, x[1])
    s_plus = sum(w for w in weights if w > 0)
    s_minus = sum(w for w in weights if w < 0)
    acc = (min(0, bias) + l * s_plus + h * s_minus, max(0, bias) + h * s_plus + l * s_minus)
    corners = [w * end for w in (min(weights), max(weights)) for end in x]
    term = min(corners), max(corners)
    if all(-LIMIT <= v <= LIMIT for v in acc + term):
        return term, acc
    terms = [corner_hull(sat, (w, w), x) for w in weights]
    return hull(terms), partial_sums(sat, terms, bias)


# 8.3 Operator bound rules

def rq_channels(rq, channels):
    """The channels to visit: all of them where a parameter is per channel, else one."""
    per_channel = rq.bias or len(rq.mult or ()) > 1 or len(rq.shift) > 1
    return range(channels if per_channel else 1)


def rq_p(sat, rounding, t, m, s):
    """The interval P, and rq.p."""
    low, high = sat.mul(t[0], m), sat.mul(t[1], m)
    p = min(low, high), max(low, high)
    addend = 2 ** (s - 1) if rounding != FLOOR and s >= 1 else 0
    return p, (p[0], sat.add(p[1], addend))


def rq_rules(sat, rq, o, t):
    s = rq.shift_of(o)
    p, recorded = rq_p(sat, rq.rounding, t, rq.mult_of(o), s)
    q = sat.round(rq.rounding, p[0], s), sat.round(rq.rounding, p[1], s)
    y = sat.add(q[0], rq.post(o)), sat.add(q[1], rq.post(o))
    return {"rq.t": t, "rq.p": recorded, "rq.q": q, "rq.y": y}


def rescale_rule(sat, node, x, graph):
    (l, h), rq = x[0], node.p.rq
    found = hulls([rq_rules(sat, rq, c, (sat.add(l, rq.pre(c)), sat.add(h, rq.pre(c))))
                   for c in rq_channels(rq, node.p.channels)])
    return found, [found["rq.y"]]


def conv_rule(sat, node, x, graph):
    p = node.p
    taps = p.cin // p.groups * p.kh * p.kw
    per_channel = []
    for o in range(p.cout):
        term, acc = weighted_sum(sat, p.weights[o * taps:(o + 1) * taps], x[0], p.rq.pre(o))
        per_channel.append({"conv.term": term, "conv.acc": acc, **rq_rules(sat, p.rq, o, acc)})
    found = hulls(per_channel)
    return found, [found["rq.y"]]


def residue_weights(p, o):
    """The weights of each residue's taps of output channel o; of the residues that no tap has,
    one stands for all."""
    residues = {(i % p.sh, j % p.sw): [] for i in range(min(p.kh, p.sh))
                for j in range(min(p.kw, p.sw))}
    if p.sh > p.kh or p.sw > p.kw:
        residues[None] = []
    for ci, i, j in product(range(p.cin), range(p.kh), range(p.kw)):
        weight = p.weights[((ci * p.cout + o) * p.kh + i) * p.kw + j]
        residues[i % p.sh, j % p.sw].append(weight)
    return residues.values()


def conv_transpose_rule(sat, node, x, graph):
    p = node.p
    per_channel = []
    for o in range(p.cout):
        found = [weighted_sum(sat, weights, x[0], p.rq.pre(o)) for weights in residue_weights(p, o)]
        term = hull([term for term, _ in found if term])
        acc = hull([acc for _, acc in found])
        per_channel.append({"convT.term": term, "convT.acc": acc, **rq_rules(sat, p.rq, o, acc)})
    found = hulls(per_channel)
    return found, [found["rq.y"]]


def chscale_rule(sat, node, x, graph):
    p = node.p
    lo, hi = graph.scalars[p.scalar]
    per_channel = []
    for c in range(p.channels):
        rows = []
        for r in range(lo, hi + 1):
            whole, recorded = rq_p(sat, p.rounding, x[0], p.table[r * p.channels + c], p.shift)
            rows.append({"rq.p": recorded, "rq.q": tuple(sat.round(p.rounding, end, p.shift)
                                                         for end in whole)})
        per_channel.append(hulls(rows))
    found = {"rq.t": x[0], **hulls(per_channel)}
    found["rq.y"] = found["rq.q"]
    return found, [found["rq.y"]]


def mul_rule(sat, node, x, graph):
    rq = node.p.rq
    p = corner_hull(sat, *x)
    found = {"mul.p": p, **hulls([rq_rules(sat, rq, c, p)
                                  for c in rq_channels(rq, node.p.channels)])}
    return found, [found["rq.y"]]


def contraction_rule(sat, node, x, length):
    """gram and apply: `length` terms of one corner hull."""
    name = node.op.name
    lo, hi = corner_hull(sat, *x)
    acc = sat.mul(length, min(0, lo)), sat.mul(length, max(0, hi))
    found = {f"{name}.term": (lo, hi), f"{name}.acc": acc, **rq_rules(sat, node.p.rq, 0, acc)}
    return found, [found["rq.y"]]


def gram_rule(sat, node, x, graph):
    return contraction_rule(sat, node, x, max(h * w for h, w in (graph.sizes[t]
                                                                 for t in node.ins)))


def apply_rule(sat, node, x, graph):
    return contraction_rule(sat, node, x, node.p.channels // node.p.groups)


def add_rule(sat, node, x, graph):
    (la, ha), (lb, hb) = x
    return {}, [(sat.add(la, lb), sat.add(ha, hb))]


def chunk_add_rule(sat, node, x, graph):
    (l, h), = x
    return {}, [(sat.mul(2, l), sat.mul(2, h))]


def clamp_rule(sat, node, x, graph):
    (l, h), p = x[0], node.p
    return {}, [(clamp(l, p.lo, p.hi), clamp(h, p.lo, p.hi))]


def relu_rule(sat, node, x, graph):
    (l, h), = x
    return {}, [(max(l, 0), max(h, 0))]


def abs_image(l, h):
    if l >= 0:
        return l, h
    return (-h, -l) if h <= 0 else (0, max(-l, h))


def abs_rule(sat, node, x, graph):
    return {}, [abs_image(*x[0])]


def leaky_rule(sat, node, x, graph):
    (l, h), a, f = x[0], node.p.a, node.p.f
    p, parts = (0, 0), []
    if l < 0:
        p = corner_hull(sat, (l, min(h, -1)), (a, a))
        parts.append((p[0] >> f, p[1] >> f))
    if h >= 0:
        parts.append((max(l, 0), h))
    return {"leaky.p": p}, [hull(parts)]


def lut16_rule(sat, node, x, graph):
    (l, h), = x
    if l < -32767 or h > 32767:  # the load check of 5.6
        raise Refusal(MODEL_MISMATCH, f"operator {node.index}: lut16's input range")
    values = node.p.table[l + 32768:h + 32768 + 1]
    return {}, [(min(values), max(values))]


def igdn_rule(sat, node, x, graph):
    (l, h), p, count = x[0], node.p, node.p.channels
    l2, h2 = sat.mul(l, l), sat.mul(h, h)
    x2 = (0, max(l2, h2)) if l <= 0 <= h else (min(l2, h2), max(l2, h2))
    per_channel = []
    for i in range(count):
        gx2 = [corner_hull(sat, (g, g), x2) for g in p.gamma[i * count:(i + 1) * count]]
        terms = [(lo >> p.gf, hi >> p.gf) for lo, hi in gx2]
        final = (sat.fold(p.beta[i], [lo for lo, _ in terms]),
                 sat.fold(p.beta[i], [hi for _, hi in terms]))
        r = isqrt(max(0, final[0])), isqrt(max(0, final[1]))
        xr = corner_hull(sat, (l, h), r)
        per_channel.append({"igdn.x2": x2, "igdn.gx2": hull(gx2), "igdn.term": hull(terms),
                            "igdn.N": partial_sums(sat, terms, p.beta[i]), "igdn.r": r,
                            "igdn.xr": xr, "result": (xr[0] >> p.frac, xr[1] >> p.frac)})
    found = hulls(per_channel)
    return found, [found.pop("result")]


def layernorm_c_rule(sat, node, x, graph):
    (l, h), p, count = x[0], node.p, node.p.channels
    half = count // 2
    width = sat.sub(h, l)
    square = sat.mul(width, width)
    r0 = isqrt(p.epsilon)
    k = 2 ** 32 // r0
    by_k = sat.mul(width, k)
    root = isqrt_ceil(count)
    d_max = min(by_k, -(-root * 2 ** 32 * (r0 + 1) // r0))
    n_max = min(sat.add(by_k >> 16, 1), root * 2 ** 16 * (r0 + 1) // r0 + 1)
    found = {"ln.S": (sat.mul(count, min(0, l)), sat.mul(count, max(0, h))),
             "ln.m": (sat.sub(sat.mul(count, l), half), sat.add(sat.mul(count, h), half)),
             "ln.d": (sat.sub(l, h), width),
             "ln.T": (0, sat.mul(count, square)),
             "ln.v": (p.epsilon, sat.add(square, p.epsilon)),
             "rsq.num": (2 ** 32, 2 ** 32), "ln.k": (0, k),
             "ln.dk": (-d_max, d_max), "ln.n": (-n_max, n_max)}
    ng = [corner_hull(sat, (-n_max, n_max), (g, g)) for g in p.gamma]
    found["ln.ng"] = hull(ng)
    return found, [hull([(sat.add(lo >> 16, b), sat.add(hi >> 16, b))
                         for (lo, hi), b in zip(ng, p.beta)])]


def l2norm_rule(sat, node, x, graph):
    (l, h), epsilon = x[0], node.p.epsilon
    height, width = graph.sizes[node.ins[0]]
    top = max(abs(l), abs(h))
    total = sat.add(sat.mul(height * width, sat.mul(top, top)), epsilon)
    return {"l2.T": (0, total), "rsq.num": (2 ** 32, 2 ** 32),
            "l2.k": (0, 2 ** 32 // isqrt(epsilon)),
            "l2.vk": (-(2 ** 32), 2 ** 32)}, [(-(2 ** 16), 2 ** 16)]


def exp_neg_q16_rule(sat, u):
    return {"exp.negx": u,
            "exp.nl": tuple(sat.mul(45426, end // 45426) for end in u),
            "exp.t2": (43245 ** 2, 88670 ** 2),
            "exp.c": (0, 23495 * (88670 ** 2 // 2 ** 16))}


def softmax_rule(sat, node, x, graph):
    (l, h), = x
    top = graph.sizes[node.ins[0]][1] * 65553
    return {"sm.diff": (sat.sub(l, h), 0), **exp_neg_q16_rule(sat, (0, sat.sub(h, l))),
            "sm.sum": (0, top), "sm.num": (0, 65553 * 2 ** 16 + top // 2)}, [(0, 2 ** 16)]


def sigmoid_rule(sat, node, x, graph):
    return {**exp_neg_q16_rule(sat, abs_image(*x[0])),
            "sig.num": (0, 65553 * 2 ** 16)}, [(0, 2 ** 16)]


def elu_rule(sat, node, x, graph):
    (l, h), alpha = x[0], node.p.alpha
    p = corner_hull(sat, (alpha, alpha), (-(2 ** 16), 17))
    parts = []
    if h > 0:
        parts.append((max(l, 1), h))
    if l <= 0:
        parts.append((p[0] >> 16, p[1] >> 16))
    return {**exp_neg_q16_rule(sat, (max(0, -h), max(0, -l))), "elu.p": p}, [hull(parts)]


def movement_rule(sat, node, x, graph):
    return {}, [x[0]] * len(node.outs)


def hull_rule(sat, node, x, graph):
    return {}, [hull(x)]


def fill_rule(sat, node, x, graph):
    value = node.p.value
    return {}, [graph.scalars[value.value] if value.is_scalar else (value.value, value.value)]


RULES = {
    "conv": conv_rule, "conv_transpose": conv_transpose_rule, "rescale": rescale_rule,
    "chscale": chscale_rule, "mul": mul_rule, "gram": gram_rule, "apply": apply_rule,
    "add": add_rule, "chunk_add": chunk_add_rule, "clamp": clamp_rule, "relu": relu_rule,
    "abs": abs_rule, "leaky": leaky_rule, "lut16": lut16_rule, "igdn": igdn_rule,
    "layernorm_c": layernorm_c_rule, "l2norm": l2norm_rule, "softmax": softmax_rule,
    "sigmoid": sigmoid_rule, "elu": elu_rule, "concat": hull_rule, "subpos_merge": hull_rule,
    "fill": fill_rule, "split": movement_rule, "pixel_shuffle": movement_rule,
    "pixel_unshuffle": movement_rule, "pad_rep": movement_rule, "crop_to": movement_rule,
    "crop": movement_rule, "subpos_split": movement_rule,
}


# 8.1 Producer results and tensor intervals; the pass

@dataclass
class NodeBounds:
    intermediates: dict  # key -> interval
    results: list  # producer results, in output order
    inputs: list  # the intervals of the input tensors
    outputs: list  # the intervals of the output tensors, after their policies
    saturated: bool


def after_policy(record, result):
    a, b = result
    if record.policy == DERIVED:
        return result
    if record.policy == CLAMP:
        return clamp(a, record.lo, record.hi), clamp(b, record.lo, record.hi)
    lo, hi = max(a, record.lo), min(b, record.hi)
    if lo > hi:
        raise Refusal(MODEL_MISMATCH, "a check that refuses every input")
    return lo, hi


def bounds_pass(graph):
    """The bounds of every node, in graph order. Load check 8 but for the profile."""
    intervals = {record.tensor: graph.tensors[record.tensor][3:5] for record in graph.inputs}
    found = []
    for node in graph.nodes:
        sat = Saturating()
        inputs = [tuple(intervals[t]) for t in node.ins]
        intermediates, results = RULES[node.op.name](sat, node, inputs, graph)
        outputs = [after_policy(graph.tensors[t], r) for t, r in zip(node.outs, results)]
        intervals.update(zip(node.outs, outputs))
        found.append(NodeBounds(intermediates, results, inputs, outputs, sat.saturated))
    return found
