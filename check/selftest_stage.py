# SPDX-License-Identifier: Apache-2.0
"""Tests of the stage operators: values computed by hand from section 5E, and small encoders, the
mirror images of its two entropy decodes."""

import random
import struct
import unittest

import canonical
import stage
from operators import Tensor
from stage import (FIELD_RANGE, GEOMETRY_MISMATCH, MODEL_MISMATCH, STREAM_EXHAUSTED,
                   STREAM_NONCANONICAL)
from stage_vectors import own_stage_vector

I32_MIN, I32_MAX = -(2 ** 31), 2 ** 31 - 1


class StageTest(unittest.TestCase):

    def refuses(self, code, at, function, *operands):
        with self.assertRaises(stage.StageRefusal) as caught:
            function(*operands)
        self.assertEqual((caught.exception.code, caught.exception.at), (code, at))


# E1

CDF = [0, 32768, 49152, 65536]  # values 0 and 1; the escape is [49152, 65536)


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


def encode_rans(steps, x=2 ** 31):
    """The stream that decodes by `steps`, in decode order: (cdf, interval), or an int, the result
    of a bits(4)."""
    out = []
    for step in reversed(steps):
        start, size, precision = ((step, 1, 4) if isinstance(step, int) else
                                  (step[0][step[1]], step[0][step[1] + 1] - step[0][step[1]], 16))
        if x >= size << 63 - precision:
            out.append(x % 2 ** 32)
            x >>= 32
        x = (x // size << precision) + x % size + start
    return words(x % 2 ** 32, x >> 32, *reversed(out))


def escape(*groups):
    return [(CDF, 2), *groups]


def raw_groups(raw, count):
    return [raw >> 4 * j & 15 for j in range(count)]


def strict(end, lo=I32_MIN, hi=I32_MAX, offset=0, reads=1):
    def decode(stream):
        return stage.rans64_decode(stream, [(CDF, offset)], [0] * reads, "t4097", "strict", end,
                                   lo, hi)["symbols"]
    return decode


def lenient(stream, offset=0, reads=1, end="canonical", cdf=None, rule="t4097"):
    return stage.rans64_decode(stream, [(cdf or CDF, offset)], [0] * reads, rule, "lenient",
                               end)["symbols"]


class Rans(StageTest):

    def test_a_tiny_stream_by_hand(self):
        # x = 2^32: c = 0, interval 0, x = 2^15 * 2^16 = 2^31: the canonical end.
        self.assertEqual(lenient(bytes.fromhex("0000000001000000"), offset=-1), [-1])
        # The escape, bits(4) = 1, bits(4) = 3, coded backwards from 2^31: 2^35 + 3, 2^39 + 49,
        # then 2^25 * 2^16 + 49 + 49152. raw = 3 is odd: -1 - 1.
        stream = words(49201, 512)
        self.assertEqual(stream, encode_rans(escape(1, 3)))
        self.assertEqual(lenient(stream, offset=10), [8])
        self.assertEqual(strict("canonical")(stream), [-2])
        # A word is read when x falls below 2^31: x = 2^16 + 2^31, interval 0, leaves 2^30 + 2^15.
        self.refuses(STREAM_EXHAUSTED, 0, lenient, words(2 ** 31, 0))
        decode = stage.Rans(words(2 ** 31, 0, 7))
        self.assertEqual((decode.step(CDF), decode.x, decode.next), (0, 2 ** 62 + 7, 3))

    def test_round_trips(self):
        rng = random.Random(1)
        for _ in range(100):
            steps, symbols = [], []
            for _ in range(rng.randint(0, 30)):
                s = rng.choice((0, 0, 1, 2))
                if s < 2:
                    steps.append((CDF, s))
                    symbols.append(s)
                    continue
                raw = rng.getrandbits(rng.choice((0, 4, 12, 31)))
                count = -(-raw.bit_length() // 4)
                steps += escape(count, *raw_groups(raw, count))
                symbols.append(-(raw // 2) - 1 if raw % 2 else raw // 2 + 2)
            stream = encode_rans(steps)
            for end in ("canonical", "final_only"):
                self.assertEqual(strict(end, reads=len(symbols))(stream), symbols)
                self.assertEqual(lenient(stream, reads=len(symbols), end=end), symbols)

    def test_lenient_escapes(self):
        # Not minimal; a count of 15 + 3 clamped to 8; nine groups of 15 and no tenth.
        self.assertEqual(lenient(encode_rans(escape(2, 3, 0))), [-2])
        self.assertEqual(lenient(encode_rans(escape(15, 3, *raw_groups(0x12345678, 8)))),
                         [0x91A2B3C + 2])
        self.assertEqual(lenient(encode_rans(escape(*[15] * 9, *raw_groups(4, 8)))), [4])
        self.assertEqual(lenient(encode_rans(escape(9, *raw_groups(4, 8)))), [4])
        # Saturation: of the value, then of the sum (readings, 4).
        top = encode_rans(escape(8, *raw_groups(0xFFFFFFFE, 8)))
        low = encode_rans(escape(8, *raw_groups(0xFFFFFFFF, 8)))
        self.assertEqual([lenient(top, -1), lenient(top, 1), lenient(low, -5), lenient(low, 5)],
                         [[I32_MAX - 1], [I32_MAX], [I32_MIN], [I32_MIN + 5]])
        self.assertEqual(lenient(encode_rans([(CDF, 1)]), I32_MAX), [I32_MAX])

    def test_lenient_after_the_stream_ran_out(self):
        # x = 49152 + 0x2F: the table step runs out, so a group of 15 is not continued.
        # count = 15 -> 8, raw = 2: 1 + 2. final_only refuses after the last symbol.
        stream = words(49152 + 0x2F, 0)
        rans = stage.Rans(stream)
        self.assertEqual(stage.lenient_symbol(rans, CDF, 0), 3)
        self.refuses(STREAM_EXHAUSTED, 1, lenient, stream, 0, 1, "final_only")
        self.refuses(STREAM_EXHAUSTED, 0, lenient, stream)

    def test_tables(self):
        two = [0, 65536]  # every symbol is the escape; n - 2 = 0
        stream = encode_rans([(two, 0), 1, 6, (two, 0), 0])
        self.assertEqual(lenient(stream, 0, 2, "canonical", two, "t2"), [3, 0])
        self.refuses(MODEL_MISMATCH, -1, lenient, stream, 0, 2, "canonical", two)
        good = encode_rans([])
        long = [*range(4096), 65536]
        self.assertEqual(lenient(good, 0, 0, "canonical", long), [])
        for cdf, rule in (([*range(4097), 65536], "t4097"), ([0], "t2"), ([], "t2"),
                          ([1, 2, 65536], "t4097"), ([0, 1, 65535], "t4097"),
                          ([0, 5, 5, 65536], "t4097"), ([0, 9, 5, 65536], "t2")):
            self.refuses(MODEL_MISMATCH, -1, lenient, good, 0, 0, "canonical", cdf or [0], rule)
        self.assertEqual(lenient(good, 0, 0, "canonical", list(range(65537)), "t2"), [])
        self.refuses(MODEL_MISMATCH, -1, lenient, good, 2 ** 31, 0)
        self.refuses(MODEL_MISMATCH, -1, strict("canonical", 1, 0), good)
        self.refuses(MODEL_MISMATCH, -1, strict("canonical", 0, 2 ** 31), good)
        for stream in (b"", good[:4], good + b"\0"):
            self.refuses(MODEL_MISMATCH, -1, lenient, stream, 0, 0)
        for k in (-1, 1):
            self.refuses(MODEL_MISMATCH, -1, stage.rans64_decode, good, [(CDF, 0)], [k], "t4097",
                         "lenient", "canonical")

    def test_strict_refusals(self):
        # Escapes from a stream that runs out in the table step: x = 49152 + count + 16 * group.
        exhausted = {"count": 0x9, "minimal": 0x01, "range": 0x31, "minimal, range": 0x01}
        for name, rest in exhausted.items():
            lo = 0 if name == "range" else 9 if name == "minimal, range" else I32_MIN
            stream = words(49152 + rest, 0)
            self.refuses(STREAM_EXHAUSTED, 0, strict("canonical", lo), stream)
            code = FIELD_RANGE if name == "range" else STREAM_NONCANONICAL
            self.refuses(code, 0, strict("final_only", lo), stream)
        self.refuses(STREAM_EXHAUSTED, 1, strict("final_only"), words(49152 + 0x31, 0))
        # The same from streams that do not run out, at the second symbol.
        for groups, code in (([9], STREAM_NONCANONICAL), ([2, 3, 0], STREAM_NONCANONICAL),
                             ([1, 0], STREAM_NONCANONICAL), ([15], STREAM_NONCANONICAL),
                             ([1, 9], FIELD_RANGE)):
            for end in ("canonical", "final_only"):
                stream = encode_rans([(CDF, 1), *escape(*groups)])
                self.refuses(code, 1, strict(end, 0, 5, reads=2), stream)
        # A plain symbol out of range, with its offset.
        self.refuses(FIELD_RANGE, 0, strict("canonical", 0, 5, 5), encode_rans([(CDF, 1)]))
        self.assertEqual(strict("canonical", 0, 5, 4)(encode_rans([(CDF, 1)])), [5])

    def test_ends(self):
        good = encode_rans([(CDF, 0)] * 3)
        self.assertEqual(good, words(0, 4))
        for stream in (good + words(0), words(1, 4)):  # a word not read; x = 2^31 + 1
            self.refuses(STREAM_NONCANONICAL, 3, lenient, stream, 0, 3)
        self.refuses(STREAM_NONCANONICAL, 2, strict("canonical", reads=2), good)
        self.assertEqual(strict("final_only", reads=2)(good + words(0)), [0, 0])
        self.refuses(STREAM_EXHAUSTED, 3, lenient, good, 0, 4)
        self.refuses(STREAM_EXHAUSTED, 4, strict("final_only", reads=4), good)
        self.assertEqual(lenient(encode_rans([]), 0, 0), [])


# E2 to E7

class Scalars(StageTest):

    def test_dequantize(self):
        self.assertEqual(stage.dequantize(-3, 62, 2 ** 62 + 2 ** 61),
                         {"value": -3 * 2 ** 62 + 2 ** 62 + 2 ** 61})
        self.assertEqual(stage.dequantize(1, 62, 2 ** 62 - 1), {"value": 2 ** 63 - 1})
        for operands in ((1, 62, 2 ** 62), (0, 63, 0), (0, -1, 0), (-3, 62, 2 ** 62 - 1)):
            self.refuses(FIELD_RANGE, 0, stage.dequantize, *operands)

    def test_bucket(self):
        def index(rule, edges, *sigmas):
            return [stage.bucket(sigma, edges, rule)["index"] for sigma in sigmas]
        self.assertEqual(index("ceil", [10, 20, 30], 5, 10, 11, 20, 21, 30, 99),
                         [0, 0, 1, 1, 2, 2, 2])
        self.assertEqual(index("ceil", [10], 5, 99), [0, 0])
        self.assertEqual(index("ceil", [20, 10, 0], 15), [1])  # any edges; 15 is raised to 20
        self.assertEqual(index("floor", [10, 10, 20], 9, 10, 19, 20), [0, 2, 2, 3])
        for edges, rule in (([], "ceil"), ([], "floor"), ([2, 1], "floor")):
            self.refuses(MODEL_MISMATCH, -1, stage.bucket, 0, edges, rule)

    def test_coded_and_scale_index(self):
        self.assertEqual([stage.coded(v, 382)["coded"] for v in (381, 382, 383)],
                         [False, False, True])
        self.assertEqual([stage.scale_index(v, 7, 32)["index"]
                          for v in (-999, 63, 64, 191, 192, 9999)], [0, 0, 1, 1, 2, 31])
        for operands in ((0, -1, 1), (0, 128, 1), (0, 0, 0)):
            self.refuses(MODEL_MISMATCH, -1, stage.scale_index, *operands)

    def test_block_stat_on_partial_blocks(self):
        x = Tensor(2, 3, 3, [*range(1, 10), *[-1] * 9])
        # sums 12, 9, 15, 9 halved half up; then -4, -2, -2, -1, clamped at -1
        self.assertEqual(stage.block_stat(x, 2, 1, -1, 7)["out"].data,
                         [6, 6, 5, 6, 6, 5, 7, 7, 5, -1, -1, -1, -1, -1, -1, -1, -1, 0])
        for operands in ((0, 0, 0, 0), (1, 128, 0, 0), (1, -1, 0, 0), (1, 0, 1, 0)):
            self.refuses(MODEL_MISMATCH, -1, stage.block_stat, x, *operands)

    def test_band_lookup(self):
        edges, table = [1004, 1353, 1938], [[-31, 20, 122, 181], [-80, -31, 71, 130]]
        self.assertEqual([stage.band_lookup(v, edges, table, row)["value"] for v, row in (
            (1003, 0), (1004, 0), (1352, 1), (1353, 1), (1938, 1))], [-31, 20, -31, 71, 130])
        for row, rows in ((-1, table), (2, table), (0, [[1, 2, 3]])):
            self.refuses(MODEL_MISMATCH, -1, stage.band_lookup, 0, edges, rows, row)


# E8

def encode_window(reads):
    """The stream whose window gives these reads, pairs (k, value), the two states first."""
    n = 1
    for k, value in reads:
        n = n << k | value
    pad = -n.bit_length() % 8
    return (n << pad).to_bytes((n.bit_length() + pad) // 8, "little")


def choose(table, symbol, mask, after):
    """A slot of a symbol whose next states hold `after`: the slot, and its read."""
    for slot, t in enumerate(table):
        k, base = t >> 24, t >> 16 & 255
        if t & mask == symbol & mask and base <= after < base + 2 ** k:
            return slot, (k, after - base)
    raise AssertionError("no such symbol")


def encode_mans(positions, orders):
    """positions[i]: None, or (which, table, symbol, mask, extra reads of `out`). orders: the
    sequence of ("in", i) and ("out", i)."""
    states, steps = [37, 200], {}
    for i in reversed(range(len(positions))):
        if positions[i]:
            which, table, symbol, mask, _ = positions[i]
            states[which], steps[i] = choose(table, symbol, mask, states[which])
    reads = [(8, states[0]), (8, states[1])]
    for step, i in orders:
        if positions[i]:
            reads += [steps[i]] if step == "in" else positions[i][4]
    return encode_window(reads)


def decode_order(length, first):
    """Groups of four, then the remainder."""
    whole = length // 4 * 4
    order = []
    for i in range(0, whole, 4):
        order += [(step, first + i + j) for step in ("in", "out") for j in range(4)]
    for i in range(whole, length):
        order += [("in", first + i), ("out", first + i)]
    return order


def which_state(i, length):
    """s1 at even places of a group or remainder: a remainder of 3 is s1, s2, s1."""
    return i % 4 % 2 if i < length // 4 * 4 else (i - length // 4 * 4) % 2


def code_latent(v, beta):
    """The symbol of a value in [-3 - beta, 3 + beta] or past it, and its escape's reads. Only
    symbols above -beta are plain."""
    if -beta < v < beta:
        return v, []
    sign, size = (0, v - beta) if v >= beta else (1, -v - beta)
    raw = 2 * size + sign
    return -beta, [(1, 1), (3, raw)] if raw < 8 else [(1, 0), (16, raw)]


def encode_sgm(tables, bounds, spans, values):
    positions, orders = [], []
    for (mask, sigma), row in zip(spans, values):
        orders += decode_order(len(mask), len(positions))
        for i, v in enumerate(row):
            symbol, extra = code_latent(v, bounds[sigma[i]])
            positions.append((which_state(i, len(row)), tables[sigma[i]], symbol, 0xFFFF, extra)
                             if mask[i] else None)
    return encode_mans(positions, orders)


def point(k):
    """A row whose every slot is column k."""
    return [0] * k + [256]


class MansTables(StageTest):

    def test_latent_tables(self):
        self.assertEqual(stage.latent_table([256]), [u << 16 for u in range(256)])
        table = stage.latent_table([128, 128])
        # u = 0: next 128, doubled once: 256 XOR 256. u = 63: 191 -> 382. u = 128: 128 + 64 -> 384.
        self.assertEqual([table[0], table[63], table[128], table[191]],
                         [1 << 24, 1 << 24 | 126 << 16, 1 << 24 | 128 << 16, 1 << 24 | 254 << 16])
        self.assertEqual([table[64], table[192]], [1 << 24 | 0xFFFF, 1 << 24 | 128 << 16 | 0xFFFF])
        # An odd cumulative count: C = 0, 1, 256. F = 0, 1, 128; G = 128, 128, 256.
        table = stage.latent_table([1, 255])
        self.assertEqual(table[0], 8 << 24)
        self.assertEqual([table[1], table[2]],  # next 255 -> 510, next 256
                         [1 << 24 | 254 << 16 | 0xFFFF, 0xFFFF])
        self.assertEqual(table[128], 126 << 16 | 0xFFFF)  # 255 + (128 - 1) = 382

    def test_latent_tables_are_whole(self):
        rng = random.Random(2)
        for _ in range(50):
            cuts = sorted(rng.randint(0, 256) for _ in range(rng.randint(0, 9)))
            row = [b - a for a, b in zip([0, *cuts], [*cuts, 256])]
            table = stage.latent_table(row)
            for k, count in enumerate(row):
                symbol = (k // 2 if k % 2 == 0 else -(k + 1) // 2) % 2 ** 16
                mine = [t for t in table if t % 2 ** 16 == symbol]
                self.assertEqual(len(mine), count)
                after = sorted(v for t in mine for v in range(
                    t >> 16 & 255, (t >> 16 & 255) + 2 ** (t >> 24)))
                self.assertEqual(after, list(range(256)) if count else [])

    def test_preprocessing_and_row_tables(self):
        self.assertEqual([stage.ZP[i] for i in (511, 256, 255, 128, 127, 3, 2, 1)],
                         [255, 0, 254 + 256, 256, 252 + 512, 128 + 7 * 256, 7 * 256, 8 * 256])
        table = [0] * 256
        stage.write_row(table, [2] + [3] * 62)
        self.assertEqual(table[:4], [stage.ZP[2] << 16, stage.ZP[3] << 16,
                                     stage.ZP[1] << 16 | 1, 0])
        self.assertEqual(table[255], 8 << 24 | 63)
        stage.write_row(table, [0, 1] + [1] * 61)  # slot 2 keeps the row before's entry
        self.assertEqual(table[:3], [stage.ZP[1] << 16 | 1, stage.ZP[3] << 16,
                                     stage.ZP[1] << 16 | 1])


class Mans(StageTest):

    def test_window_by_hand(self):
        # 00 01: h = 2^56, b = 56; two states of 0 leave b = 40; the flush takes both bytes.
        window = stage.Window(bytes([0, 1]))
        self.assertEqual((window.p, window.h, window.b, window.s), (0, 0, 56, [0, 0]))
        # 1 10100101 00111100 then 1111: p = 3, h = 1.A53CF in hex above bit 36.
        window = stage.Window((0x1A53CF0).to_bytes(4, "little"))
        self.assertEqual((window.s, window.read(4), window.read(4)), ([0xA5, 0x3C], 15, 0))
        for memory in (b"", bytes(9), bytes(3), b"\1", b"\1" + bytes(8)):
            self.refuses(STREAM_EXHAUSTED, 0, stage.Window, memory)

    def span(self, mask, pmf, bound):
        return stage.mans_sgm(bytes([0, 1]), [pmf], [bound], [(mask, [0] * len(mask))])

    def test_sgm_refusals_by_hand(self):
        # After `init` on 00 01 the window holds 56 zero bits and no bytes.
        half, t, f = [128, 128], True, False
        self.assertEqual(self.span([t] * 7, [256], 5), {"symbols": [[0] * 7]})
        self.refuses(STREAM_EXHAUSTED, 3, self.span, [t, t, t, f], half, 5)  # the group's flush
        self.refuses(STREAM_EXHAUSTED, 1, self.span, [t, t, t], half, 5)  # the pair's flush
        self.refuses(STREAM_EXHAUSTED, 1, self.span, [t, f], half, 5)
        self.refuses(STREAM_EXHAUSTED, 0, self.span, [t], half, 5)
        self.refuses(STREAM_EXHAUSTED, 6, self.span, [f] * 6 + [t], half, 5)
        self.refuses(STREAM_EXHAUSTED, 0, self.span, [t] * 4, [256], 0)  # an escape's flush
        self.refuses(STREAM_EXHAUSTED, 2, self.span, [f, f, t, t], [256], 0)
        self.refuses(STREAM_EXHAUSTED, 1, self.span, [f, t, t], [256], 0)
        self.refuses(STREAM_EXHAUSTED, 3, self.span, [t] * 4, [1, 255], 9)  # 32 bits read

    def test_fac_refusals_by_hand(self):
        empty = [0] * 63  # only slot 255 is written: state 0 gives symbol 0 for no bits
        one = [1] + [1] * 62  # slot 0: symbol 0, eight bits
        self.assertEqual(stage.mans_fac(bytes([0, 1]), [empty, empty], [5, 0]),
                         {"symbols": [[0] * 5, []]})
        # 32 bits leave 24, and the group's flush needs 4 bytes; three leave 32.
        for lengths, at in (([4], 3), ([3], 2), ([1], 0), ([0, 1], 0)):
            rows = [one] * len(lengths)
            self.refuses(STREAM_EXHAUSTED, at, stage.mans_fac, bytes([0, 1]), rows, lengths)
        self.refuses(STREAM_EXHAUSTED, 2, stage.mans_fac, bytes([0, 1]), [empty, one], [2, 1])
        # Both states 255: symbol 63, eight bits, then read(6). `init` leaves b = 63, and 28 bits
        # later the row's flush takes three bytes.
        stream = encode_window([(8, 255), (8, 255), (8, 0), (6, 61), (8, 0), (6, 62)])
        self.assertEqual(stage.mans_fac(stream, [empty], [2]), {"symbols": [[61, 62]]})
        self.refuses(STREAM_EXHAUSTED, 1, stage.mans_fac, stream[2:], [empty], [2])

    def test_conditions(self):
        good, one = [256], [([True], [0])]
        for pmf, bounds, spans in (
                ([[255]], [0], one), ([[257, -1]], [0], one), ([[]], [0], one),
                ([good, [128, 128]], [0], one), ([good], [256], one), ([good], [-1], one),
                ([good], [], one), ([good], [0, 0], [([True], [1])]), ([], [0], one),
                ([good], [0], [([True], [-1])]), ([good], [0], [([True], [])]),
                ([good], [0], [([False], [1])])):
            self.refuses(MODEL_MISMATCH, -1, stage.mans_sgm, b"", pmf, bounds, spans)
        for row in ([0] * 62, [0] * 64, [1] + [0] * 62, [0] * 62 + [256], [-1] + [0] * 62):
            self.refuses(MODEL_MISMATCH, -1, stage.mans_fac, b"", [row], [1])
        self.refuses(MODEL_MISMATCH, -1, stage.mans_fac, b"", [[0] * 63], [])
        self.refuses(MODEL_MISMATCH, -1, stage.mans_fac, b"", [[0] * 63], [-1])
        self.refuses(STREAM_EXHAUSTED, 0, stage.mans_sgm, b"", [], [], [])

    def test_escapes(self):
        # A bound of 0, of 128 (column 255 is symbol -128) and of 255 (column 509).
        width = 510
        rows = [row + [0] * (width - len(row)) for row in (point(0), point(255), point(509))]
        tables, bounds = [stage.latent_table(row) for row in rows], [0, 128, 255]
        spans = [([True] * 3, [0, 1, 2]), ([True, False, True, True, True], [2, 0, 1, 2, 1])]
        values = [[0, 131, -258], [258, 0, -128 - 4, 255 + 4000, 128]]
        stream = encode_sgm(tables, bounds, spans, values)
        self.assertEqual(stage.mans_sgm(stream, rows, bounds, spans), {"symbols": values})
        # v = 65534: 32767 + 255 wraps.
        stream = encode_mans([(0, tables[2], -255, 0xFFFF, [(1, 0), (16, 65534)])],
                             decode_order(1, 0))
        self.assertEqual(stage.mans_sgm(stream, rows, bounds, [([True], [2])]),
                         {"symbols": [[32767 + 255 - 65536]]})

    def test_sgm_round_trips(self):
        rng = random.Random(3)
        rows = [[9, 80, 80, 30, 30, 7, 7, 6, 7], [60, 50, 50, 30, 30, 16, 10, 10, 0],
                [1, 100, 1, 100, 1, 50, 1, 1, 1]]
        bounds, tables = [4, 3, 1], [stage.latent_table(row) for row in rows]
        for _ in range(100):
            spans, values = [], []
            for _ in range(rng.randint(0, 4)):
                sigma = [rng.randrange(3) for _ in range(rng.randint(0, 11))]
                mask = [rng.random() < 0.8 for _ in sigma]
                # Distribution 2's bound of 1 escapes at symbol -1: every other symbol is plain,
                # but only 0 lies within the bound that code_latent keeps to.
                top = {0: 300, 1: 300, 2: 30000}
                values.append([rng.choice((0, 0, 1, -1, 2, rng.randint(-top[k], top[k]))) if m
                               else 0 for k, m in zip(sigma, mask)])
                spans.append((mask, sigma))
            stream = encode_sgm(tables, bounds, spans, values)
            self.assertEqual(stage.mans_sgm(stream, rows, bounds, spans), {"symbols": values})

    def test_fac_round_trips(self):
        rng = random.Random(4)
        for _ in range(100):
            rows, lengths, values, positions, orders = [], [], [], [], []
            table = [0] * 256
            for _ in range(rng.randint(1, 4)):
                counts = sorted(rng.randint(0, 255) for _ in range(63))
                stage.write_row(table, counts)
                there = [a for a, (b, c) in enumerate(zip([0, *counts], counts)) if c > b]
                row = [rng.choice((*there, 64 + rng.randrange(64)))
                       for _ in range(rng.randint(0, 11))]
                orders += decode_order(len(row), len(positions))
                for i, v in enumerate(row):
                    symbol, extra = (63, [(6, v - 64)]) if v >= 64 else (v, [])
                    positions.append((which_state(i, len(row)), fresh(counts, table), symbol,
                                      0xFF, extra))
                rows.append(counts)
                lengths.append(len(row))
                values.append([v - 64 if v >= 64 else v for v in row])
            stream = encode_mans(positions, orders)
            self.assertEqual(stage.mans_fac(stream, rows, lengths), {"symbols": values})

    def test_any_memory_decodes_or_refuses(self):
        rng = random.Random(5)
        for _ in range(500):
            memory = rng.randbytes(rng.randint(0, 40))
            spans = [([True] * 9, [0] * 9), ([True, False, True], [1, 1, 0])]
            counts = sorted(rng.randint(0, 255) for _ in range(63))
            for function, operands in (
                    (stage.mans_sgm, ([[9, 240, 7], [0, 0, 256]], [1, 255], spans)),
                    (stage.mans_fac, ([counts] * 2, [9, 3]))):
                try:
                    function(memory, *operands)
                except stage.StageRefusal as refusal:
                    self.assertEqual(refusal.code, STREAM_EXHAUSTED)
                    self.assertTrue(0 <= refusal.at < 12)


def fresh(counts, table):
    """A row's table without what the rows before left, for the encoder to choose from."""
    return [t if j < counts[-1] or j == 255 else 1 << 31 | 0xFF for j, t in enumerate(table)]


# E9 to E13

class Samples(StageTest):

    def test_residual_step(self):
        self.assertEqual(stage.residual_step(250, 1, 3, 0, 255), {"value": 253})
        self.assertEqual(stage.residual_step(250, 2, 3, 0, 255), {"value": 255})
        self.assertEqual(stage.residual_step(0, I32_MIN, 65535, 0, 255), {"value": 0})
        rng = random.Random(6)
        for _ in range(500):  # the 32-bit form
            lo, q = rng.choice((0, -32768, I32_MIN)), rng.choice((1, 2, 7, 255, 65535))
            hi = lo + rng.choice((1, 255, 65535))
            pred, limit = rng.randint(lo, hi), (hi - lo) // q + 1
            r = rng.choice((limit, -limit, limit + 1, -limit - 1, I32_MAX, I32_MIN))
            self.assertEqual(stage.residual_step(pred, r, q, lo, hi)["value"], min(max(
                pred + min(max(r, -limit), limit) * q, lo), hi))
        for operands in ((0, 0, 1, 0, 0), (-1, 0, 1, 0, 9), (10, 0, 1, 0, 9), (0, 0, 0, 0, 9),
                         (0, 0, 65536, 0, 9), (0, 2 ** 31, 1, 0, 9), (0, -2 ** 31 - 1, 1, 0, 9)):
            self.refuses(MODEL_MISMATCH, -1, stage.residual_step, *operands)

    def test_mc_predict(self):
        frame = Tensor(3, 2, 2, [0, 10, 20, 31, *[7] * 4, *range(4)])

        def at(dy, dx, precision, y=0, x=0, c=0):
            return stage.mc_predict(frame, y, x, c, dy, dx, precision)["value"]
        self.assertEqual([at(1, 1, 1), at(-9, 0, 1), at(9, 9, 1, c=2)], [31, 0, 3])
        # (0+10+20+31+2)>>2, (0+10+1)>>1, (0+20+1)>>1; -1 is half a pel before 0
        self.assertEqual([at(1, 1, 2), at(0, 1, 2), at(1, 0, 2), at(2, 2, 2), at(-1, 0, 2)],
                         [15, 5, 10, 31, 0])
        self.assertEqual(at(-1, -1, 2, 1, 1), 15)
        self.assertEqual(at(1, 1, 2, 1, 1), 31)
        self.refuses(MODEL_MISMATCH, -1, stage.mc_predict, Tensor(1, 1, 1, [0]), 0, 0, 0, 0, 0, 1)
        for y, x, c, precision in ((2, 0, 0, 1), (0, -1, 0, 1), (0, 0, 3, 1), (0, 0, 0, 3)):
            self.refuses(MODEL_MISMATCH, -1, stage.mc_predict, frame, y, x, c, 0, 0, precision)

    def test_up2_predict(self):
        out = stage.up2_predict(Tensor(2, 1, 2, [0, 5, 255, 254]), 2, 3)["out"]
        self.assertEqual(out, Tensor(2, 2, 3, [0, 3, 5, 0, 3, 5, 255, 255, 254, 255, 255, 254]))
        out = stage.up2_predict(Tensor(1, 2, 2, [0, 10, 20, 31]), 3, 4)["out"]
        self.assertEqual(out.data, [0, 5, 10, 10, 10, 15, 21, 21, 20, 26, 31, 31])
        for d0, d1 in ((0, 3), (2, 0), (3, 3), (2, 5), (2, 2)):
            self.refuses(GEOMETRY_MISMATCH, -1, stage.up2_predict, Tensor(1, 1, 2, [0, 5]), d0, d1)

    def test_rate_predict(self):
        def out(data, num, den, d0, channels=1):
            prev = Tensor(channels, 1, len(data) // channels, data)
            return stage.rate_predict(prev, num, den, d0)["out"].data
        self.assertEqual(out([0, 10, 0, -10], 3, 2, 3, 2), [0, 7, 10, 0, -7, -10])
        self.assertEqual(out([5], 2 ** 32 - 1, 2 ** 32 - 1, 1), [5])
        self.assertEqual([stage.rdiv(n, d) for n, d in ((5, 2), (-5, 2), (4, 3), (9, 0))],
                         [3, -3, 1, 0])
        prev = Tensor(1, 1, 2, [0, 10])
        for operands in ((3, 2, 4), (3, 2, 2), (0, 1, 1), (1, 0, 1), (1, 3, 0)):
            self.refuses(GEOMETRY_MISMATCH, -1, stage.rate_predict, prev, *operands)
        self.refuses(GEOMETRY_MISMATCH, -1, stage.rate_predict, Tensor(1, 2, 1, [0, 1]), 1, 1, 1)
        self.refuses(MODEL_MISMATCH, -1, stage.rate_predict, prev, 2 ** 32, 2 ** 32, 2)

    def test_coding_order(self):
        def order(shape, *modes):
            return stage.coding_order(shape, *modes)["indices"]
        self.assertEqual(order([2, 1, 3], "raster"), list(range(6)))
        self.assertEqual(order([2, 2, 3], "checkerboard", True), [0, 2, 4, 6, 8, 10])
        self.assertEqual(order([2, 2, 3], "checkerboard", False), [1, 3, 5, 7, 9, 11])
        self.assertEqual(order([1, 2, 2], "checkerboard", True), [0, 3])
        self.refuses(MODEL_MISMATCH, -1, stage.coding_order, [1, 0, 1], "raster")


# 14.1

class Vectors(unittest.TestCase):

    def line(self, name, operands, modes="{}", expect="{}"):
        text = f'{{"expect":{expect},"id":"a","in":{operands},"modes":{modes},"op":"{name}"}}'
        return canonical.write(own_stage_vector(name, canonical.read(text.encode())))

    def test_forms(self):
        rans = ('{"reads":["0"],"stream":"0000000001000000","tables":[{"cdf":["0","32768","49152",'
                '"65536"],"offset":"-1"}]}')
        tensor = '{"data":["0","5"],"shape":["1","1","2"]}'
        for name, operands, modes, expect in (
                ("rans64_decode", rans, '{"end":"canonical","escape":"lenient","table":"t4097"}',
                 '{"symbols":["-1"]}'),
                ("rans64_decode", rans, '{"end":"final_only","escape":"strict","hi":"5","lo":"0",'
                 '"table":"t2"}', '{"at":"0","refuse":"field_range"}'),
                ("mans_decode", '{"bounds":["5"],"memory":"0001","mode":"sgm","pmf":[["256"]],'
                 '"spans":[{"mask":[true,false],"sigma":["0","0"]}]}', "{}",
                 '{"symbols":[["0","0"]]}'),
                ("mans_decode", '{"lengths":["1"],"memory":"","mode":"fac","rows":[["0"]]}', "{}",
                 '{"at":"-1","refuse":"model_mismatch"}'),
                ("bucket", '{"edges":["1","2"],"sigma":"2"}', '{"bucket":"floor"}',
                 '{"index":"2"}'),
                ("up2_predict", f'{{"d0":"1","d1":"3","prev":{tensor}}}', "{}",
                 '{"out":{"data":["0","3","5"],"shape":["1","1","3"]}}'),
                ("coded", '{"thr":"1","v":"2"}', "{}", '{"coded":true}'),
                ("dequantize", '{"base":"0","f":"63","sym":"0"}', "{}",
                 '{"at":"0","refuse":"field_range"}'),
                ("coding_order", '{"order":"raster","shape":["1","1","2"]}', "{}",
                 '{"indices":["0","1"]}')):
            written = self.line(name, operands, modes)
            self.assertEqual(written, f'{{"expect":{expect},"id":"a","in":{operands},"modes":'
                                      f'{modes},"op":"{name}"}}')

    def test_malformed(self):
        for name, operands, modes in (
                ("coded", '{"thr":"1"}', "{}"), ("coded", '{"thr":"01","v":"2"}', "{}"),
                ("coded", '{"thr":"1","v":"2","w":"3"}', "{}"), ("coded", "[]", "{}"),
                ("coded", '{"thr":"1","v":"2"}', '{"lo":"1"}'),
                ("coded", '{"thr":"1","v":"2"}', "[]"), ("relu", "{}", "{}"),
                ("bucket", '{"edges":[],"sigma":"2"}', '{"bucket":"up"}'),
                ("bucket", '{"edges":[],"sigma":"2"}', "[]"),
                ("mans_decode", '{"mode":"x"}', "{}"), ("mans_decode", "[]", "{}"),
                ("coding_order", '{"order":"checkerboard","shape":["1","1","1"]}', "{}"),
                ("block_stat", '{"b":"1","hi":"1","lo":"0","s":"0","x":{"data":["1"],'
                 '"shape":["1","1","2"]}}', "{}")):
            with self.assertRaises(canonical.NotCanonical, msg=(name, operands)):
                self.line(name, operands, modes)
