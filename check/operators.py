# SPDX-License-Identifier: Apache-2.0
"""Section 5: the thirty graph operators, each with its channel rule, shape rule and definition.

For every operator this file has up to four functions, which the table at its end joins:

channels(p, cin)       the channel counts of its outputs, or a refusal: section 10.5 step 7
formed(p, x)           the sizes it forms before its shape rule is read: section 4, run step 3
shape(p, x, scalars)   the [H, W] of its outputs, or None where its shape rule fails
evaluate(p, x, out, scalars)   the elements of its outputs, each a flat list in CHW order

Here p is its parameters (whg1.py reads them), cin the channel counts of its inputs, x in `formed`
and `shape` the [H, W] of its inputs, x in `evaluate` the input tensors, and out the shapes of its
outputs. Sizes are checked before `evaluate` is called.
"""

from dataclasses import dataclass
from math import isqrt
from operator import add as plus, mul as times
from typing import Callable, NamedTuple, Optional

from functions import (MODEL_MISMATCH, ROUNDINGS, Refusal, clamp, exp_neg_q16, rsqrt_q16, sgn,
                       trunc_div)


class Tensor(NamedTuple):
    """Section 3: a shape [C, H, W] and the elements in CHW order."""
    channels: int
    height: int
    width: int
    data: list

    @property
    def area(self):
        return self.height * self.width

    def plane(self, c):
        return self.data[c * self.area:(c + 1) * self.area]


class Operand(NamedTuple):
    """A constant, or the index of a scalar (crop and fill)."""
    is_scalar: bool
    value: int

    def at(self, scalars):
        return scalars[self.value] if self.is_scalar else self.value


class ScalarRanges(list):
    """In place of the scalars' values at load: their ranges (section 5.10, crop)."""


def require(condition, why):
    if not condition:
        raise Refusal(MODEL_MISMATCH, why)


def same_channels(p, cin):
    return [cin[0]]


def same_shape(p, x, scalars):
    return [x[0]]


def nothing_formed(p, x):
    return []


# 5.1 Requantisation

PRE, POST = 1, 2


class Rq(NamedTuple):
    """The parameters of an rq. A tuple of one value is that value for every channel."""
    rounding: int
    placement: int  # 0 none, PRE or POST
    mult: Optional[tuple]
    shift: tuple
    bias: Optional[tuple]

    def mult_of(self, o):
        return 1 if self.mult is None else self.mult[o if len(self.mult) > 1 else 0]

    def shift_of(self, o):
        return self.shift[o if len(self.shift) > 1 else 0]

    def pre(self, o):
        return self.bias[o] if self.placement == PRE else 0

    def post(self, o):
        return self.bias[o] if self.placement == POST else 0

    def apply(self, o, values):
        """rq_o of each value."""
        pre, mult, s, post = self.pre(o), self.mult_of(o), self.shift_of(o), self.post(o)
        r_round = ROUNDINGS[self.rounding]
        return [r_round((v + pre) * mult, s) + post for v in values]


# 5.2 conv

def conv_channels(p, cin):
    require(cin[0] % p.groups == 0 and p.cout % p.groups == 0,
            "conv: channels are no multiple of groups")
    return [p.cout]


def conv_formed(p, x):
    (h, w), = x
    return [h + 2 * p.ph, w + 2 * p.pw]


def conv_shape(p, x, scalars):
    (h, w), = x
    if h + 2 * p.ph < p.kh or w + 2 * p.pw < p.kw:
        return None
    return [((h + 2 * p.ph - p.kh) // p.sh + 1, (w + 2 * p.pw - p.kw) // p.sw + 1)]


def taps_inside(position, stride, padding, kernel, side):
    """The taps [first, end) of a kernel at an output position that read inside the input."""
    top = position * stride - padding
    return max(0, -top), min(kernel, side - top)


def conv(p, x, out, scalars):
    (a,), ((_, ho, wo),) = x, out
    cg, og = a.channels // p.groups, p.cout // p.groups
    columns = [(*taps_inside(v, p.sw, p.pw, p.kw, a.width), v * p.sw - p.pw) for v in range(wo)]
    result = []
    for o in range(p.cout):
        sums = []
        for y in range(ho):
            i0, i1 = taps_inside(y, p.sh, p.ph, p.kh, a.height)
            rows = [(((o * cg + ci) * p.kh + i) * p.kw,
                     ((o // og * cg + ci) * a.height + y * p.sh + i - p.ph) * a.width)
                    for ci in range(cg) for i in range(i0, i1)]
            for j0, j1, left in columns:
                acc = 0
                if j0 < j1:
                    for weight, element in rows:
                        acc += sum(map(times, p.weights[weight + j0:weight + j1],
                                       a.data[element + left + j0:element + left + j1]))
                sums.append(acc)
        result += p.rq.apply(o, sums)
    return [result]


# 5.3 conv_transpose

def conv_transpose_channels(p, cin):
    return [p.cout]


def uncropped(p, x):
    (h, w), = x
    return (h - 1) * p.sh + p.kh + p.oph, (w - 1) * p.sw + p.kw + p.opw


def conv_transpose_formed(p, x):
    uh, uw = uncropped(p, x)
    return [uh, uw, p.cout * uh * uw]


def conv_transpose_shape(p, x, scalars):
    uh, uw = uncropped(p, x)
    ho, wo = uh - 2 * p.ph, uw - 2 * p.pw
    return [(ho, wo)] if ho >= 1 and wo >= 1 else None


def taps_reaching(position, stride, padding, kernel, side):
    """The pairs (tap, input position) that reach an output position."""
    t = position + padding
    return [(i, (t - i) // stride) for i in range(t % stride, min(kernel, t + 1), stride)
            if (t - i) // stride < side]


def conv_transpose(p, x, out, scalars):
    (a,), ((_, ho, wo),) = x, out
    columns = [taps_reaching(v, p.sw, p.pw, p.kw, a.width) for v in range(wo)]
    result = []
    for o in range(p.cout):
        sums = []
        for y in range(ho):
            rows = [(((ci * p.cout + o) * p.kh + i) * p.kw, (ci * a.height + u) * a.width)
                    for ci in range(a.channels)
                    for i, u in taps_reaching(y, p.sh, p.ph, p.kh, a.height)]
            for column in columns:
                sums.append(sum(p.weights[weight + j] * a.data[element + v]
                                for weight, element in rows for j, v in column))
        result += p.rq.apply(o, sums)
    return [result]


# 5.4 rescale, chscale and mul

def rescale(p, x, out, scalars):
    a, = x
    return [[v for c in range(a.channels) for v in p.rq.apply(c, a.plane(c))]]


def chscale(p, x, out, scalars):
    a, = x
    row = scalars[p.scalar] * a.channels
    r_round = ROUNDINGS[p.rounding]
    return [[r_round(v * p.table[row + c], p.shift)
             for c in range(a.channels) for v in a.plane(c)]]


def mul_channels(p, cin):
    require(cin[1] in (cin[0], 1), "mul: b has neither a's channels nor one")
    return [cin[0]]


def equal_sizes(p, x, scalars):
    return [x[0]] if all(side == x[0] for side in x) else None


def mul(p, x, out, scalars):
    a, b = x
    return [[v for c in range(a.channels)
             for v in p.rq.apply(c, map(times, a.plane(c),
                                        b.plane(c if b.channels == a.channels else 0)))]]


# 5.5 Elementwise

def equal_channels(p, cin):
    require(all(c == cin[0] for c in cin), "the inputs' channels differ")
    return [cin[0]]


def add(p, x, out, scalars):
    return [list(map(plus, x[0].data, x[1].data))]


def chunk_add_channels(p, cin):
    require(cin[0] % 2 == 0, "chunk_add: an odd number of channels")
    return [cin[0] // 2]


def chunk_add(p, x, out, scalars):
    data = x[0].data
    half = len(data) // 2
    return [list(map(plus, data[:half], data[half:]))]


def clamp_operator(p, x, out, scalars):
    return [[clamp(v, p.lo, p.hi) for v in x[0].data]]


def relu(p, x, out, scalars):
    return [[max(v, 0) for v in x[0].data]]


def leaky(p, x, out, scalars):
    return [[v if v >= 0 else (v * p.a) >> p.f for v in x[0].data]]


def abs_operator(p, x, out, scalars):
    return [[abs(v) for v in x[0].data]]


# 5.6 lut16

def lut16(p, x, out, scalars):
    return [[p.table[v + 32768] for v in x[0].data]]


# 5.7 Normalisation

def igdn(p, x, out, scalars):
    a, = x
    planes = [a.plane(c) for c in range(a.channels)]
    squares = [[v * v for v in plane] for plane in planes]
    result = []
    for i in range(a.channels):
        gamma = p.gamma[i * a.channels:(i + 1) * a.channels]
        for at, v in enumerate(planes[i]):
            norm = p.beta[i] + sum((g * square[at]) >> p.gf for g, square in zip(gamma, squares))
            result.append((v * isqrt(max(0, norm))) >> p.frac)
    return [result]


def layernorm_position(p, values):
    """The C results of one position."""
    count = len(values)
    total = sum(values)
    m = trunc_div(total + count // 2 * sgn(total), count)
    d = [v - m for v in values]
    k = rsqrt_q16(sum(v * v for v in d) // count + p.epsilon)
    n = [(v * k) >> 16 for v in d]
    return [((v * g) >> 16) + b for v, g, b in zip(n, p.gamma, p.beta)]


def layernorm_c(p, x, out, scalars):
    a, = x
    columns = [layernorm_position(p, a.data[at::a.area]) for at in range(a.area)]
    return [[column[c] for c in range(a.channels) for column in columns]]


def l2norm(p, x, out, scalars):
    a, = x
    result = []
    for c in range(a.channels):
        plane = a.plane(c)
        k = rsqrt_q16(sum(v * v for v in plane) + p.epsilon)
        result += [(v * k) >> 16 for v in plane]
    return [result]


def softmax(p, x, out, scalars):
    a, = x
    result = []
    for start in range(0, len(a.data), a.width):
        row = a.data[start:start + a.width]
        top = max(row)
        e = [exp_neg_q16(v - top) for v in row]
        total = sum(e)
        result += [(v * 2 ** 16 + total // 2) // total for v in e]
    return [result]


# 5.8 Scalar functions

def sigmoid_of(v):
    if v >= 0:
        return 2 ** 32 // (2 ** 16 + exp_neg_q16(-v))
    e = exp_neg_q16(v)
    return e * 2 ** 16 // (2 ** 16 + e)


def sigmoid(p, x, out, scalars):
    return [[sigmoid_of(v) for v in x[0].data]]


def elu(p, x, out, scalars):
    return [[v if v > 0 else (p.alpha * (exp_neg_q16(v) - 2 ** 16)) >> 16 for v in x[0].data]]


# 5.9 Contractions

def grouped_channels(p, cin):
    require(cin[0] == cin[1], "the inputs' channels differ")
    require(cin[0] % p.groups == 0, "channels are no multiple of groups")
    return [cin[0]]


def gram_shape(p, x, scalars):
    return [(1, p.channels // p.groups)] if x[0] == x[1] else None


def gram(p, x, out, scalars):
    a, b = x
    d = a.channels // p.groups
    columns = [b.plane(c) for c in range(b.channels)]
    result = []
    for c in range(a.channels):
        row, group = a.plane(c), c // d * d
        result += p.rq.apply(0, [sum(map(times, row, columns[group + j])) for j in range(d)])
    return [result]


def apply_shape(p, x, scalars):
    return [x[1]] if x[0] == (1, p.channels // p.groups) else None


def apply(p, x, out, scalars):
    a, v = x
    d = v.channels // p.groups
    planes = [v.plane(c) for c in range(v.channels)]
    result = []
    for c in range(v.channels):
        row, group = a.plane(c), planes[c // d * d:c // d * d + d]
        result += p.rq.apply(0, [sum(map(times, row, position)) for position in zip(*group)])
    return [result]


# 5.10 Data movement

def concat_channels(p, cin):
    return [sum(cin)]


def concat(p, x, out, scalars):
    return [[v for a in x for v in a.data]]


def split_channels(p, cin):
    require(p.start + p.count <= cin[0], "split: past the input's channels")
    return [p.count]


def split(p, x, out, scalars):
    a, = x
    return [a.data[p.start * a.area:(p.start + p.count) * a.area]]


def pixel_shuffle_channels(p, cin):
    require(cin[0] % p.r ** 2 == 0, "pixel_shuffle: channels are no multiple of r * r")
    return [cin[0] // p.r ** 2]


def pixel_shuffle_formed(p, x):
    (h, w), = x
    return [h * p.r, w * p.r]


def pixel_shuffle_shape(p, x, scalars):
    return [tuple(pixel_shuffle_formed(p, x))]


def pixel_shuffle(p, x, out, scalars):
    (a,), ((channels, height, width),), r = x, out, p.r
    return [[a.data[((c * r * r + y % r * r + v % r) * a.height + y // r) * a.width + v // r]
             for c in range(channels) for y in range(height) for v in range(width)]]


def pixel_unshuffle_channels(p, cin):
    return [cin[0] * p.r ** 2]


def pixel_unshuffle_shape(p, x, scalars):
    (h, w), = x
    return [(h // p.r, w // p.r)] if h % p.r == 0 and w % p.r == 0 else None


def pixel_unshuffle(p, x, out, scalars):
    (a,), r = x, p.r
    return [[a.data[(c * a.height + h * r + i) * a.width + w * r + j]
             for c in range(a.channels) for i in range(r) for j in range(r)
             for h in range(a.height // r) for w in range(a.width // r)]]


def pad_rep_formed(p, x):
    (h, w), = x
    return [-(-h // p.m) * p.m, -(-w // p.m) * p.m]


def pad_rep_shape(p, x, scalars):
    return [tuple(pad_rep_formed(p, x))]


def pad_rep(p, x, out, scalars):
    (a,), ((channels, height, width),) = x, out
    return [[a.data[(c * a.height + min(y, a.height - 1)) * a.width + min(v, a.width - 1)]
             for c in range(channels) for y in range(height) for v in range(width)]]


def crop_to_shape(p, x, scalars):
    (h, w), (h_ref, w_ref) = x
    return [(h_ref, w_ref)] if h_ref <= h and w_ref <= w else None


def cropped(a, y0, x0, height, width):
    rows = [(c * a.height + y) * a.width + x0
            for c in range(a.channels) for y in range(y0, y0 + height)]
    return [v for row in rows for v in a.data[row:row + width]]


def crop_to(p, x, out, scalars):
    (_, height, width), = out
    return [cropped(x[0], 0, 0, height, width)]


def crop_side(start, length, side, scalars):
    """The start and the length of one side of a crop, at load on the scalars' ranges."""
    if not isinstance(scalars, ScalarRanges):
        return start.at(scalars), length.at(scalars)
    s0 = 0 if start.is_scalar else start.value
    return s0, min(scalars[length.value][1], side - s0) if length.is_scalar else length.value


def crop_shape(p, x, scalars):
    (h, w), = x
    y0, height = crop_side(p.y0, p.h, h, scalars)
    x0, width = crop_side(p.x0, p.w, w, scalars)
    fits = (y0 >= 0 and x0 >= 0 and height >= 1 and width >= 1
            and y0 + height <= h and x0 + width <= w)
    return [(height, width)] if fits else None


def crop(p, x, out, scalars):
    (_, height, width), = out
    return [cropped(x[0], p.y0.at(scalars), p.x0.at(scalars), height, width)]


def subpos_split_channels(p, cin):
    return [cin[0]] * 4


def subpos_split_shape(p, x, scalars):
    (h, w), = x
    return [(h // 2, w // 2)] * 4 if h % 2 == 0 and w % 2 == 0 else None


def subpos_split(p, x, out, scalars):
    a, = x
    return [[a.data[(c * a.height + 2 * y + ab // 2) * a.width + 2 * v + ab % 2]
             for c in range(a.channels) for y in range(a.height // 2)
             for v in range(a.width // 2)] for ab in p.order]


def subpos_merge_formed(p, x):
    return [2 * x[0][0], 2 * x[0][1]]


def subpos_merge_shape(p, x, scalars):
    return [tuple(subpos_merge_formed(p, x))] if equal_sizes(p, x, scalars) else None


def subpos_merge(p, x, out, scalars):
    (channels, height, width), = out
    source = [x[p.order.index(ab)] for ab in range(4)]
    return [[source[y % 2 * 2 + v % 2].data[(c * (height // 2) + y // 2) * (width // 2) + v // 2]
             for c in range(channels) for y in range(height) for v in range(width)]]


def fill_channels(p, cin):
    return [p.channels_out]


def fill(p, x, out, scalars):
    (channels, height, width), = out
    return [[p.value.at(scalars)] * (channels * height * width)]


# The table of section 5.

@dataclass(frozen=True)
class Operator:
    code: int
    name: str
    n_in: Optional[int]  # None: two or more (concat)
    n_out: int
    npu: bool  # in wai-ops/1-npu, flagged ones included
    evaluate: Callable
    channels: Callable = same_channels
    shape: Callable = same_shape
    formed: Callable = nothing_formed


OPERATORS = {row.code: row for row in (
    Operator(0x01, "conv", 1, 1, True, conv, conv_channels, conv_shape, conv_formed),
    Operator(0x02, "rescale", 1, 1, True, rescale),
    Operator(0x03, "chscale", 1, 1, True, chscale),
    Operator(0x04, "lut16", 1, 1, True, lut16),
    Operator(0x05, "add", 2, 1, True, add, equal_channels, equal_sizes),
    Operator(0x06, "concat", None, 1, True, concat, concat_channels, equal_sizes),
    Operator(0x07, "chunk_add", 1, 1, True, chunk_add, chunk_add_channels),
    Operator(0x08, "split", 1, 1, True, split, split_channels),
    Operator(0x09, "pixel_shuffle", 1, 1, True, pixel_shuffle, pixel_shuffle_channels,
             pixel_shuffle_shape, pixel_shuffle_formed),
    Operator(0x0A, "pixel_unshuffle", 1, 1, True, pixel_unshuffle, pixel_unshuffle_channels,
             pixel_unshuffle_shape),
    Operator(0x0B, "clamp", 1, 1, True, clamp_operator),
    Operator(0x0C, "relu", 1, 1, True, relu),
    Operator(0x0D, "leaky", 1, 1, True, leaky),
    Operator(0x0E, "pad_rep", 1, 1, True, pad_rep, same_channels, pad_rep_shape, pad_rep_formed),
    Operator(0x0F, "crop_to", 2, 1, True, crop_to, same_channels, crop_to_shape),
    Operator(0x10, "mul", 2, 1, True, mul, mul_channels, equal_sizes),
    Operator(0x11, "conv_transpose", 1, 1, True, conv_transpose, conv_transpose_channels,
             conv_transpose_shape, conv_transpose_formed),
    Operator(0x12, "igdn", 1, 1, False, igdn),
    Operator(0x13, "abs", 1, 1, True, abs_operator),
    Operator(0x14, "crop", 1, 1, True, crop, same_channels, crop_shape),
    Operator(0x15, "subpos_split", 1, 4, True, subpos_split, subpos_split_channels,
             subpos_split_shape),
    Operator(0x16, "subpos_merge", 4, 1, True, subpos_merge, equal_channels, subpos_merge_shape,
             subpos_merge_formed),
    Operator(0x17, "fill", 1, 1, True, fill, fill_channels),
    Operator(0x18, "layernorm_c", 1, 1, False, layernorm_c),
    Operator(0x19, "l2norm", 1, 1, False, l2norm),
    Operator(0x1A, "softmax", 1, 1, False, softmax),
    Operator(0x1B, "sigmoid", 1, 1, False, sigmoid),
    Operator(0x1C, "elu", 1, 1, False, elu),
    Operator(0x1D, "gram", 2, 1, False, gram, grouped_channels, gram_shape),
    Operator(0x1E, "apply", 2, 1, False, apply, grouped_channels, apply_shape),
)}
