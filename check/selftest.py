# SPDX-License-Identifier: Apache-2.0
"""The checker's own tests (check.py --self-test): values computed by hand from the text, and
random small graphs of every operator held to relations that the text promises."""

import contextlib
import hashlib
import io
import os
import random
import struct
import tempfile
import unittest
from math import isqrt

import canonical
import check
import functions as f
import vectors
from bounds import LIMIT, Saturating, bounds_pass, corner_hull, hull, partial_sums, weighted_sum
from certificate import certificate, verdict
from operators import OPERATORS, Tensor
from run import Sequence
from whg1 import CHECK, CLAMP, DERIVED, load

CODES = {op.name: op.code for op in OPERATORS.values()}
ANY = (f.I64_MIN, f.I64_MAX)


# A writer of WHG1 files

class Builder:
    """Tensors are numbered as they are made: inputs and operators in the order of the calls."""

    def __init__(self, max_elems=f.CAP):
        self.max_elems = max_elems
        self.scalars, self.inputs, self.outputs, self.tensors, self.ops = [], [], [], [], []

    def tensor(self, channels, policy=DERIVED, lo=0, hi=0, exponent=-128):
        self.tensors.append(struct.pack("<IbBHqq", channels, exponent, policy, 0, lo, hi))
        return len(self.tensors) - 1

    def input(self, channels, lo, hi, size=(0, 0), policy=CHECK, state=None):
        """`state` is (src, init)."""
        tensor = self.tensor(channels, policy, lo, hi)
        src, init = state or (0, 0)
        self.inputs.append(struct.pack("<IIIB3xIIq", tensor, *size, state is not None, src, 0,
                                       init))
        return tensor

    def scalar(self, lo, hi):
        self.scalars.append(struct.pack("<qq", lo, hi))
        return len(self.scalars) - 1

    def op(self, name, ins, channels, parameters=b"", policy=DERIVED, lo=0, hi=0):
        """`channels` is an int, or a list of one for each output. Returns the first output."""
        channels = channels if isinstance(channels, list) else [channels]
        outs = [self.tensor(c, policy, lo, hi) for c in channels]
        self.ops.append(struct.pack(f"<BBBB{len(ins)}I{len(outs)}II", CODES[name], len(ins),
                                    len(outs), 0, *ins, *outs, len(parameters)) + parameters)
        return outs[0]

    def output(self, *tensors):
        self.outputs += [struct.pack("<I", t) for t in tensors]
        return self

    def bytes(self):
        header = struct.pack("<4sBBHIIHHHHII", b"WHG1", 1, 1, 0, len(self.tensors), len(self.ops),
                             len(self.inputs), len(self.outputs), len(self.scalars), 0,
                             self.max_elems, 0)
        return header + b"".join(self.scalars + self.inputs + self.outputs + self.tensors
                                 + self.ops)

    def load(self):
        return load(self.bytes())


def rq(rounding=0, shift=(0,), mult=None, pre=None, post=None):
    """An RQ block; a tuple of one value is m_kind or s_kind 1, a longer one 2."""
    bias = pre or post or ()
    kind = 0 if mult is None else 1 if len(mult) == 1 else 2
    head = struct.pack("<BBBBBBH", rounding, 1 if pre else 2 if post else 0, kind,
                       1 if len(shift) == 1 else 2, 8 if kind else 0, 8 if bias else 0, 0)
    mult = mult or ()
    return (head + struct.pack(f"<{len(mult)}q", *mult) + bytes(shift)
            + struct.pack(f"<{len(bias)}q", *bias))


def conv(cout, kernel, weights, epilogue, stride=(1, 1), padding=(0, 0), groups=1):
    return (struct.pack("<8IB3x", cout, *kernel, *stride, *padding, groups, 8) + epilogue
            + struct.pack(f"<{len(weights)}q", *weights))


def conv_transpose(cout, kernel, weights, epilogue, stride=(1, 1), padding=(0, 0), more=(0, 0)):
    return (struct.pack("<9IB3x", cout, *kernel, *stride, *padding, *more, 8) + epilogue
            + struct.pack(f"<{len(weights)}q", *weights))


def igdn(gf, frac, gamma, beta):
    return (struct.pack("<IIB7x", gf, frac, 8)
            + struct.pack(f"<{len(gamma + beta)}q", *gamma, *beta))


def one_input(name, channels_in, channels_out, parameters=b"", lo=-100, hi=100, size=(0, 0)):
    b = Builder()
    x = b.input(channels_in, lo, hi, size)
    return b.output(b.op(name, [x], channels_out, parameters))


def run(graph, *inputs, scalars=()):
    """The first output's elements of one decode."""
    return Sequence(graph).decode([Tensor(*x) for x in inputs], list(scalars))[0].data


# Section 2

class Functions(unittest.TestCase):

    def test_division_and_roots(self):
        self.assertEqual([f.trunc_div(a, 2) for a in (-5, -4, 5)], [-2, -2, 2])
        self.assertEqual([isqrt(n) for n in (0, 1, 3, 4, 8, 9)], [0, 1, 1, 2, 2, 3])
        self.assertEqual([f.isqrt_ceil(n) for n in (0, 1, 2, 4, 5)], [0, 1, 2, 2, 3])
        self.assertEqual(f.rsqrt_q16(15), 2 ** 32 // 3)

    def test_bits(self):
        cases = {(0, 0): 1, (-1, 0): 1, (0, 1): 2, (-2, 1): 2, (-3, 0): 3, (0, 127): 8,
                 (-128, 0): 8, (0, 128): 9, (-2 ** 63, 2 ** 63 - 1): 64, (0, 2 ** 63): 65}
        for interval, n in cases.items():
            self.assertEqual(f.bits(*interval), n, interval)

    def test_roundings(self):
        halves = [-6, -5, -3, -2, -1, 1, 2, 3, 5, 6]  # of 4: ties at +-2 and +-6
        self.assertEqual([f.r_floor(p, 2) for p in halves],
                         [-2, -2, -1, -1, -1, 0, 0, 0, 1, 1])
        self.assertEqual([f.r_half_up(p, 2) for p in halves],
                         [-1, -1, -1, 0, 0, 0, 1, 1, 1, 2])
        self.assertEqual([f.r_half_even(p, 2) for p in halves],
                         [-2, -1, -1, 0, 0, 0, 0, 1, 1, 2])
        self.assertEqual([r(7, 0) for r in f.ROUNDINGS], [7, 7, 7])

    def test_exp_neg_q16(self):
        self.assertEqual(f.exp_neg_q16(0), 65553)  # as the text says
        # u = 45425: n = 0, t = 43245, q = 28535, c = 670429825, y = 10229 + 22544
        self.assertEqual(f.exp_neg_q16(-45425), 32773)
        self.assertEqual(f.exp_neg_q16(-45426), 65553 // 2)
        self.assertEqual(f.exp_neg_q16(-45426 * 15), 65553 >> 15)
        self.assertEqual(f.exp_neg_q16(-45426 * 62), 0)
        self.assertEqual(f.exp_neg_q16(-45426 * 63), 0)


# Section 8.5, the form

class Canonical(unittest.TestCase):

    def test_write(self):
        value = {"b": [1, -2, 0], "a": {"z": True, "y": None}, "c": 'q"\\', "d": [], "e": {},
                 "f": [False]}
        self.assertEqual(canonical.write(value), '{"a":{"y":null,"z":true},"b":["1","-2","0"],'
                                                 '"c":"q\\"\\\\","d":[],"e":{},"f":[false]}')
        with self.assertRaises(canonical.NotCanonical):
            canonical.write("\n")

    def test_read(self):
        for line in (b"1", b"[1.0]", b"NaN", b'{"a":"1","a":"1"}', b"", b"{", b"\xff",
                     b"[" * 100000):
            with self.assertRaises(canonical.NotCanonical):
                canonical.read(line)
        for text in ("01", "-0", "+1", "1_0", " 1", "", "x", None, ["1"]):
            with self.assertRaises(canonical.NotCanonical):
                canonical.integer(text)
        for text in ("AB", "a", "a b0", None):
            with self.assertRaises(canonical.NotCanonical):
                canonical.hex_bytes(text)

    def test_first_difference(self):
        self.assertEqual(canonical.first_difference({"a": ["1", "2"]}, {"a": ["1", "3"]}),
                         'a[1]: read "2", recomputed "3"')
        self.assertEqual(canonical.first_difference({"a": True}, {"a": True}), "")


# Section 5, by hand

class Operators(unittest.TestCase):

    def test_conv(self):
        # 2x2 kernel over a 2x2 plane with padding 1: nine positions.
        parameters = conv(1, (2, 2), [1, 2, 3, 4], rq(post=(10,)), padding=(1, 1))
        graph = one_input("conv", 1, 1, parameters).load()
        self.assertEqual(run(graph, (1, 2, 2, [1, 10, 100, -100])),
                         [14, 53, 40, 412, 10 + 1 + 20 + 300 - 400, 10 + 10 - 300, 210,
                          10 + 100 - 200, -90])

    def test_conv_is_its_definition(self):
        rng = random.Random(5)
        for _ in range(40):
            groups, cg, og, kh, kw, sh, sw = (rng.randint(1, 3) for _ in range(7))
            ph, pw = rng.randint(0, 3), rng.randint(0, 3)
            h, w = rng.randint(max(1, kh - 2 * ph), 5), rng.randint(max(1, kw - 2 * pw), 5)
            weights = [rng.randint(-9, 9) for _ in range(groups * og * cg * kh * kw)]
            x = [rng.randint(-9, 9) for _ in range(groups * cg * h * w)]
            graph = one_input("conv", groups * cg, groups * og, conv(
                groups * og, (kh, kw), weights, rq(), (sh, sw), (ph, pw), groups)).load()

            def padded(c, u, v):
                return x[(c * h + u) * w + v] if 0 <= u < h and 0 <= v < w else 0

            expected = [sum(weights[((o * cg + ci) * kh + i) * kw + j]
                            * padded(o // og * cg + ci, y * sh + i - ph, at * sw + j - pw)
                            for ci in range(cg) for i in range(kh) for j in range(kw))
                        for o in range(groups * og)
                        for y in range((h + 2 * ph - kh) // sh + 1)
                        for at in range((w + 2 * pw - kw) // sw + 1)]
            self.assertEqual(run(graph, (groups * cg, h, w, x)), expected)

    def test_conv_transpose_is_the_scatter_form(self):
        rng = random.Random(1)
        for _ in range(40):
            cin, cout, kh, kw, sh, sw = (rng.randint(1, 3) for _ in range(6))
            h, w = rng.randint(1, 4), rng.randint(1, 4)
            oph, opw = rng.randint(0, 3), rng.randint(0, 3)
            uh, uw = (h - 1) * sh + kh + oph, (w - 1) * sw + kw + opw
            ph, pw = rng.randint(0, (uh - 1) // 2), rng.randint(0, (uw - 1) // 2)
            weights = [rng.randint(-9, 9) for _ in range(cin * cout * kh * kw)]
            x = [rng.randint(-9, 9) for _ in range(cin * h * w)]
            graph = one_input("conv_transpose", cin, cout, conv_transpose(
                cout, (kh, kw), weights, rq(), (sh, sw), (ph, pw), (oph, opw))).load()
            plane = [0] * (cout * uh * uw)
            for ci in range(cin):
                for o in range(cout):
                    for u in range(h):
                        for v in range(w):
                            for i in range(kh):
                                for j in range(kw):
                                    at = (o * uh + u * sh + i) * uw + v * sw + j
                                    plane[at] += (weights[((ci * cout + o) * kh + i) * kw + j]
                                                  * x[(ci * h + u) * w + v])
            expected = [plane[(o * uh + y) * uw + v] for o in range(cout)
                        for y in range(ph, uh - ph) for v in range(pw, uw - pw)]
            self.assertEqual(run(graph, (cin, h, w, x)), expected)

    def test_igdn_floors_each_term(self):
        # gf = 1, two terms of 1/2 each: each floors to 0, their sum would be 1. N = beta = 4.
        graph = one_input("igdn", 2, 2, igdn(1, 0, [1, 1, 1, 1], [4, 9])).load()
        self.assertEqual(run(graph, (2, 1, 1, [1, -1])), [2, -3])

    def test_elementwise(self):
        graph = one_input("leaky", 1, 1, struct.pack("<qI", 3, 2)).load()
        self.assertEqual(run(graph, (1, 1, 3, [-1, -2, 5])), [-1, -2, 5])
        graph = one_input("chunk_add", 2, 1).load()
        self.assertEqual(run(graph, (2, 1, 2, [1, 2, 10, 20])), [11, 22])

    def test_scalar_functions(self):
        graph = one_input("elu", 1, 1, struct.pack("<q", 2 ** 16)).load()
        self.assertEqual(run(graph, (1, 1, 2, [0, 7])), [17, 7])
        graph = one_input("sigmoid", 1, 1).load()
        self.assertEqual(run(graph, (1, 1, 1, [0])), [2 ** 32 // (2 ** 16 + 65553)])

    def test_normalisation(self):
        graph = one_input("layernorm_c", 2, 2, struct.pack("<QB7x4q", 1, 8, 65536, 131072, 0, 5)
                          ).load()
        # S = 3, M = 4, m = 2, d = -1, 0... of [1, 2]: T = 1, V = 0, U = 1, k = 2^32
        self.assertEqual(run(graph, (2, 1, 1, [1, 2])), [-65536, 5])
        graph = one_input("l2norm", 1, 1, struct.pack("<Q", 9), size=(1, 2)).load()
        self.assertEqual(run(graph, (1, 1, 2, [4, 0])), [4 * (2 ** 32 // 5) >> 16, 0])
        graph = one_input("softmax", 1, 1, size=(1, 2)).load()
        self.assertEqual(run(graph, (1, 1, 2, [3, 3])), [32768, 32768])

    def test_movement_is_inverse(self):
        x = list(range(2 * 4 * 6))
        order = bytes([2, 0, 3, 1])
        b = Builder()
        first = b.op("subpos_split", [b.input(2, 0, 100)], [2] * 4, order)
        b.output(b.op("subpos_merge", [first + k for k in range(4)], 2, order))
        self.assertEqual(run(b.load(), (2, 4, 6, x)), x)
        b = Builder()
        first = b.op("pixel_unshuffle", [b.input(2, 0, 100)], 8, struct.pack("<I", 2))
        b.output(b.op("pixel_shuffle", [first], 2, struct.pack("<I", 2)))
        self.assertEqual(run(b.load(), (2, 4, 6, x)), x)
        graph = one_input("subpos_split", 1, [1] * 4, bytes([2, 0, 3, 1])).load()
        self.assertEqual(run(graph, (1, 2, 2, [10, 11, 12, 13])), [12])

    def test_gram_and_apply(self):
        b = Builder()
        x = b.input(2, -9, 9, (1, 2))
        y = b.op("gram", [x, x], 2, struct.pack("<I", 1) + rq(1, (1,)))
        graph = b.output(b.op("apply", [y, x], 2, struct.pack("<I", 1) + rq())).load()
        # gram of rows (1 2), (3 -1): 5 1; 1 10, halved half up: 3 1; 1 5
        self.assertEqual(run(graph, (2, 1, 2, [1, 2, 3, -1])), [6, 5, 16, -3])


# Sections 8 and 9.2

class Certificate(unittest.TestCase):

    def test_a_conv_by_hand(self):
        b = Builder()
        x = b.input(1, -3, 5)
        b.output(b.op("conv", [x], 1, conv(1, (1, 2), [2, -7], rq(1, (1,), (3,), pre=(4,))),
                      CLAMP, -50, 50))
        node = certificate(b.load())["graphs"][0]["nodes"][0]
        # terms [-6, 10] and [-35, 21]; acc [-41, 4 + 31]; p = 3 * acc; q = floor((p + 1) / 2)
        expected = {"conv.term": (-35, 21), "conv.acc": (-41, 35), "rq.t": (-41, 35),
                    "rq.p": (-123, 106), "rq.q": (-61, 53), "rq.y": (-61, 53)}
        found = {k: (v["lo"], v["hi"]) for k, v in node["intermediates"].items()}
        self.assertEqual(found, expected)
        self.assertEqual(node["out"], [{
            "bits": 7, "hi": 50, "lo": -50, "policy": "clamp", "tensor": 1,
            "result": {"bits": 7, "hi": 53, "lo": -61}}])
        self.assertEqual(node["k_c"], (2 ** 31 - 1) // 35)
        self.assertEqual(node["mac"], {"a_bits": [4], "w_bits": 4})
        self.assertEqual((node["fits"], node["npu_flags"], node["saturated"]),
                         (["acc32", "acc64"], [], False))

    def test_a_small_certificate_to_the_byte(self):
        b = Builder()
        b.output(b.op("relu", [b.input(1, -2, 1)], 1))
        graph = b.load()
        digest = hashlib.sha256(graph.data).hexdigest()
        self.assertEqual(canonical.write(certificate(graph)), (
            '{"capability":null,"certificate":"wai-ops/1 bounds","graphs":[{"graph_sha256":"'
            + digest + '","inputs":[{"hi":"1","kind":"data","lo":"-2","max_h":"0","max_w":"0",'
            '"policy":"check","tensor":"0"}],"name":"graph","nodes":[{"acc32_params":[],'
            '"fits":["acc32","acc64"],"index":"0","intermediates":{},"npu_flags":[],"op":"relu",'
            '"out":[{"bits":"2","hi":"1","lo":"0","policy":"derived","result":{"bits":"2",'
            '"hi":"1","lo":"0"},"tensor":"1"}],"saturated":false}],"scalars":[]}],'
            '"lowering":"whg1","set_sha256":null,"verdict":{"acc32":true,"acc64":true,'
            '"npu":true,"npu_flags":[],"npu_reasons":[]}}'))

    def test_first_failures(self):
        graph = one_input("abs", 1, 1, lo=-2 ** 31, hi=0).load()
        found = verdict(graph, bounds_pass(graph))
        self.assertEqual(found["acc32_first_failure"], {
            "bits": 33, "graph": "graph", "index": 0, "key": "out.0", "where": "node"})
        graph = one_input("elu", 1, 1, struct.pack("<q", 1)).load()
        failure = verdict(graph, bounds_pass(graph))["acc32_first_failure"]
        self.assertEqual((failure["key"], failure["bits"]), ("exp.t2", 34))
        graph = one_input("leaky", 1, 1, struct.pack("<qI", 2 ** 31, 0), lo=0).load()
        failure = verdict(graph, bounds_pass(graph))["acc32_first_failure"]
        self.assertEqual(failure, {"graph": "graph", "index": 0, "key": "leaky.a",
                                   "where": "node"})

    def test_saturation(self):
        b = Builder()
        x = b.input(1, *ANY)
        for _ in range(4):  # squares: 2^126, 2^252, then 2^504 saturates
            x = b.op("mul", [x, x], 1, rq())
        graph = b.output(x).load()
        marks = [bounds.saturated for bounds in bounds_pass(graph)]
        self.assertEqual(marks, [False, False, True, True])
        self.assertEqual(bounds_pass(graph)[2].results, [(-LIMIT, LIMIT)])
        self.assertEqual(verdict(graph, bounds_pass(graph))["acc64_first_failure"]["key"],
                         "mul.p")

    def test_few_sums_are_the_folds(self):
        rng = random.Random(2)
        for _ in range(500):
            top = 2 ** rng.choice((3, 60, 195, 250, 255))
            x = sorted(rng.choice((-top, top, 0, rng.randint(-top, top))) for _ in range(2))
            weights = [rng.choice((0, 1, -1, rng.randint(-2 ** 63, 2 ** 63)))
                       for _ in range(rng.randint(1, 6))]
            bias = rng.choice((0, 5, -5, 2 ** 63 - 1))
            fast, slow = Saturating(), Saturating()
            terms = [corner_hull(slow, (w, w), x) for w in weights]
            expected = hull(terms), partial_sums(slow, terms, bias)
            self.assertEqual(weighted_sum(fast, weights, x, bias), expected)
            self.assertEqual(fast.saturated, slow.saturated)


# Sections 4 and 10

class Refusals(unittest.TestCase):

    def refuses(self, code, action, *arguments, **named):
        with self.assertRaises(f.Refusal) as caught:
            action(*arguments, **named)
        self.assertEqual(caught.exception.code, code)

    def test_state_is_carried(self):
        b = Builder()
        x, s = b.input(1, 0, 9), b.input(1, -99, 99, state=(0, 7))
        sequence = Sequence(b.output(b.op("add", [x, s], 1)).load())

        def decode(value):
            return sequence.decode([Tensor(1, 1, 1, [value])], [])[0].data

        self.assertEqual([decode(1), decode(2)], [[8], [10]])
        self.refuses(f.FIELD_RANGE, decode, 10)  # changes no state
        self.assertEqual(decode(9), [19])
        self.refuses(f.GEOMETRY_MISMATCH, sequence.decode, [Tensor(1, 1, 2, [1, 1])], [])

    def test_run_order(self):
        b = Builder(max_elems=8)
        x, y = b.input(1, 0, 9, (2, 2)), b.input(2, 0, 9, (2, 2))
        b.scalar(0, 1)
        z = b.op("crop_to", [x, y], 1)
        graph = b.output(b.op("conv", [z], 1, conv(1, (2, 2), [1] * 4, rq()))).load()
        good, wide = Tensor(1, 2, 2, [0] * 4), Tensor(1, 3, 1, [0] * 3)
        two = Tensor(2, 2, 2, [99] * 8)
        one = Sequence(graph).decode
        self.refuses(f.TOO_LARGE, one, [wide, good], [5])
        self.refuses(f.MODEL_MISMATCH, one, [good, good], [5])
        self.refuses(f.FIELD_RANGE, one, [Tensor(1, 1, 1, [0]), two], [5])
        self.refuses(f.GEOMETRY_MISMATCH, one, [Tensor(1, 1, 1, [0]), two], [1])
        self.refuses(f.FIELD_RANGE, one, [good, two], [1])

    def test_load_order(self):
        def wide_conv(channels):  # a padded side past the cap; channels 3 wins over it
            b = one_input("conv", 1, channels, conv(1, (1, 1), [1], rq(), padding=(2 ** 26, 0)),
                          size=(1, 1))
            return b.load
        self.refuses(f.TOO_LARGE, wide_conv(1))
        self.refuses(f.MODEL_MISMATCH, wide_conv(3))
        self.refuses(f.MODEL_MISMATCH, one_input("softmax", 1, 1).load)
        self.refuses(f.TOO_LARGE, one_input("relu", 4, 4, size=(2 ** 12, 2 ** 13)).load)

    def test_crop_at_load(self):
        def crop(operands, size):
            parameters = b"".join(struct.pack("<B3xI", *o) for o in operands)
            b = Builder()
            b.scalar(-5, 3)
            return b.output(b.op("crop", [b.input(1, 0, 9, size)], 1, parameters))
        scalar = (1, 0)
        graph = crop([scalar, (0, 1), scalar, (0, 2)], (4, 3)).load()
        self.assertEqual(graph.sizes[1], (3, 2))
        self.refuses(f.MODEL_MISMATCH, crop([scalar, (0, 2), scalar, (0, 2)], (4, 3)).load)
        self.refuses(f.MODEL_MISMATCH, crop([(0, 4), (0, 0), scalar, (0, 2)], (4, 3)).load)
        graph = crop([scalar, (0, 0), (0, 1), (0, 0)], (0, 0)).load()  # a length of 0: at run
        self.refuses(f.GEOMETRY_MISMATCH, run, graph, (1, 4, 3, [0] * 12), scalars=[0])


# Every operator, at random

def random_rq(rng, channels, contraction=False, bias=True):
    many = rng.random() < 0.5 and not contraction
    values = tuple(rng.randint(-99, 99) for _ in range(channels))
    place = rng.choice(("pre", "post", None)) if bias and not contraction else None
    return rq(rng.randint(0, 2),
              tuple(rng.randint(0, 9) for _ in range(channels if many else 1)),
              None if contraction else rng.choice((None, (rng.randint(-9, 9),), values)),
              **({place: values} if place else {}))


def random_parameters(rng, b, name, c):
    """Parameters for an operator over c channels, and its output channels."""
    some = rng.randint
    if name == "conv":
        groups = rng.choice((1, c))
        cout, kh, kw = groups * some(1, 2), some(1, 3), some(1, 3)
        weights = [some(-9, 9) for _ in range(cout * (c // groups) * kh * kw)]
        return conv(cout, (kh, kw), weights, random_rq(rng, cout), (some(1, 3), some(1, 3)),
                    (some(0, 2), some(0, 2)), groups), cout
    if name == "conv_transpose":
        cout, kh, kw = some(1, 2), some(1, 3), some(1, 3)
        weights = [some(-9, 9) for _ in range(c * cout * kh * kw)]
        return conv_transpose(cout, (kh, kw), weights, random_rq(rng, cout),
                              (some(1, 4), some(1, 3)), (some(0, 1), 0), (some(0, 2), 0)), cout
    if name == "chscale":
        k, rows = b.scalar(0, 1), some(2, 3)
        return struct.pack(f"<IIBBBx{rows * c}q", k, rows, some(0, 2), 8, some(0, 9),
                           *(some(-99, 99) for _ in range(rows * c))), c
    if name == "fill":
        return struct.pack("<B7xq", 0, some(-99, 99)), some(1, 3)
    if name == "crop":
        return b"".join(struct.pack("<B3xI", 0, v) for v in (some(0, 1), 0, 1, some(1, 2))), c
    make = {
        "rescale": lambda: random_rq(rng, c), "mul": lambda: random_rq(rng, c, bias=False),
        "lut16": lambda: struct.pack("<bbH65536h", -128, -128, 0, *(
            (v * 7919 + 5) % 65521 - 32768 if v else 0 for v in range(65536))),
        "split": lambda: struct.pack("<II", 0, c), "clamp": lambda: struct.pack("<qq", -9, 40),
        "leaky": lambda: struct.pack("<qI", some(-9, 9), some(0, 4)),
        "pad_rep": lambda: struct.pack("<I", some(1, 4)),
        "subpos_split": lambda: bytes(rng.sample(range(4), 4)),
        "subpos_merge": lambda: bytes(rng.sample(range(4), 4)),
        "igdn": lambda: igdn(some(0, 3), some(0, 3), [some(-9, 9) for _ in range(c * c)],
                             [some(-9, 99) for _ in range(c)]),
        "layernorm_c": lambda: struct.pack(f"<QB7x{2 * c}q", some(1, 99), 8, *(
            some(-99, 99) for _ in range(2 * c))),
        "l2norm": lambda: struct.pack("<Q", some(1, 99)),
        "elu": lambda: struct.pack("<q", some(-99, 99)),
        "gram": lambda: struct.pack("<I", 1) + random_rq(rng, c, contraction=True),
        "apply": lambda: struct.pack("<I", 1) + random_rq(rng, c, contraction=True),
        "pixel_shuffle": lambda: struct.pack("<I", 1 + (c == 4)),
        "pixel_unshuffle": lambda: struct.pack("<I", 2),
    }
    outs = {"pixel_shuffle": 1 if c == 4 else c, "pixel_unshuffle": 4 * c, "chunk_add": c // 2,
            "subpos_split": [c] * 4, "concat": 2 * c}
    return make.get(name, bytes)(), outs.get(name, c)


def random_graph(rng, name):
    """A graph of one operator, and the sizes of its inputs."""
    b = Builder()
    c, h, w = rng.choice((2, 4)), 2 * rng.randint(1, 3), 2 * rng.randint(1, 3)
    n_in = OPERATORS[CODES[name]].n_in or 2
    shapes = [(c, h, w)] * n_in
    if name == "apply":
        shapes = [(c, 1, c), (c, h, w)]
    ends = sorted((rng.randint(-99, 99), rng.randint(-99, 99)))
    ins = [b.input(shape[0], *ends, shape[1:]) for shape in shapes]
    parameters, channels = random_parameters(rng, b, name, c)
    first = b.op(name, ins, channels, parameters)
    return b.output(*range(first, len(b.tensors))), shapes, ends


class EveryOperator(unittest.TestCase):

    def test_results_lie_in_their_intervals(self):
        rng = random.Random(3)
        for name in CODES:
            ran = 0
            for _ in range(4 if name == "lut16" else 60):
                b, shapes, ends = random_graph(rng, name)
                try:
                    graph = b.load()
                except f.Refusal as refusal:
                    self.assertEqual(refusal.code, f.MODEL_MISMATCH)
                    continue
                bounds, = bounds_pass(graph)
                x = [Tensor(*s, [rng.choice((*ends, rng.randint(*ends)))
                                 for _ in range(s[0] * s[1] * s[2])]) for s in shapes]
                outputs = Sequence(graph).decode(x, [1] * len(graph.scalars))
                for tensor, (lo, hi) in zip(outputs, bounds.results):
                    self.assertEqual(len(tensor.data), tensor.channels * tensor.area)
                    self.assertTrue(lo <= min(tensor.data) and max(tensor.data) <= hi, name)
                ran += 1
            self.assertGreater(ran, 0, name)

    def test_damaged_files_are_refused(self):
        rng = random.Random(4)
        for name in CODES:
            if name == "lut16":
                continue
            data = random_graph(rng, name)[0].bytes()
            for end in range(len(data)):
                with self.assertRaises(f.Refusal):
                    load(data[:end])
            for _ in range(200):
                damaged = bytearray(data)
                for _ in range(rng.randint(1, 3)):
                    damaged[rng.randrange(len(data))] = rng.choice((0, 1, 2, 127, 128, 255))
                try:
                    certificate(load(bytes(damaged)))
                except f.Refusal:
                    pass


# Section 14

def vector_line(builder, name, inputs=(), load="ok"):
    value = {"decodes": [{"inputs": [{"data": data, "shape": shape} for shape, data in inputs],
                          "scalars": []}] if load == "ok" else [],
             "graph": builder.bytes().hex(), "id": name}
    return canonical.write(vectors.own_vector(canonical.read(canonical.write(value).encode()))[0])


class Directory(unittest.TestCase):

    def check(self, files, encoding="utf-8"):
        """The output's lines and the exit status for a directory of these files."""
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(said):
            for file, text in files.items():
                path = os.path.join(place, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding=encoding, newline="") as stream:
                    stream.write(text)
            status = check.check_directory(place, os.path.join(place, "out"))
        return said.getvalue().splitlines(), status

    def setUp(self):
        relu = one_input("relu", 1, 1)
        self.relu = vector_line(relu, "a", [([1, 1, 2], [-1, 5])])
        self.refused = vector_line(one_input("relu", 1, 2), "b", load="refused")
        alone = {"certificate": certificate(relu.load()), "graph": relu.bytes().hex(), "id": "a"}
        self.files = {
            "vectors/relu.jsonl": self.relu + "\n" + self.refused + "\n",
            "graphs/empty.jsonl": "",
            "certificates/whg1.jsonl": canonical.write(alone) + "\n",
            "npu.jsonl": '{"file":"vectors/relu.jsonl","id":"a","npu":true,"npu_flags":[],'
                         '"npu_reasons":[]}\n',
            "stage/coded.jsonl": '{"expect":{"coded":true},"id":"a","in":{"thr":"-1","v":"0"},'
                                 '"modes":{},"op":"coded"}\n'}

    def test_what_is_right_passes(self):
        self.assertIn('"decodes":[],', self.refused)
        self.assertIn('"load":"model_mismatch","profiles":["acc32","acc64"]', self.refused)
        self.assertIn('"expect":{"outputs":[{"data":["0","5"],"shape":["1","1","2"]}]}',
                      self.relu)
        self.assertEqual(self.check(self.files), (["5 passed, 0 failed"], 0))

    def test_what_is_wrong_fails(self):
        for file, old, new, what in (
                ("vectors/relu.jsonl", '["0","5"]', '["0","6"]',
                 ':1: a: decodes[0].expect.outputs[0].data[1]: read "6", recomputed "5"'),
                ("vectors/relu.jsonl", '"load":"ok"', '"load":"too_large"',
                 ':1: a: load: read "too_large", recomputed "ok"'),
                ("vectors/relu.jsonl", '{"decodes"', '{ "decodes"',
                 ":1: a: the line is not canonical JSON"),
                ("vectors/relu.jsonl", '"id":"b"', '"id":"a"', ":2: id occurs twice in the file"),
                ("certificates/whg1.jsonl", '"lo":"-100"', '"lo":"-101"',
                 ':1: a: certificate.graphs[0].inputs[0].lo: read "-101", recomputed "-100"'),
                ("npu.jsonl", "true", "false",
                 ":1: vectors/relu.jsonl: a: npu: read false, recomputed true"),
                ("stage/coded.jsonl", "true", "false",
                 ":1: a: expect.coded: read false, recomputed true")):
            text = self.files[file].replace(old, new, 1)
            said, status = self.check({**self.files, file: text})
            self.assertEqual((said[0], said[-1], status),
                             (file + what, "4 passed, 1 failed", 1))

    def test_malformed_files(self):
        for file, text in (("vectors/relu.jsonl", self.relu), ("vectors/relu.jsonl", "{\n"),
                           ("vectors/relu.jsonl", "[]\n"), ("vectors/relu.jsonl", "\n"),
                           ("vectors/abs.jsonl", self.relu + "\n"), ("npu.jsonl", "{}\n"),
                           ("vectors/relu.jsonl", '{"id":"\\u00e9"}\n'),
                           ("stage/coded.jsonl", '{"id":"a"}\n'), ("stage/relu.jsonl", "{}\n"),
                           ("vectors/relu.jsonl", self.relu.replace('"1","1","2"', '"1","1","3"')
                            + "\n")):
            said, status = self.check({file: text})
            self.assertEqual(status, 1)
            self.assertTrue(said[0].startswith(f"{file}:1"), said)
