# SPDX-License-Identifier: Apache-2.0
"""Section 5E: the thirteen stage operators, in the text's order.

A function of an operator takes the operands of section 14.1's table, as stage_vectors.py reads
them, and gives the members of `expect`; or it raises a StageRefusal, whose `at` is the index of
section 14.1.
"""

import struct
from bisect import bisect_right

from functions import (CAP, FIELD_RANGE, GEOMETRY_MISMATCH, MODEL_MISMATCH, TOO_LARGE, Refusal,
                       clamp, fits, r_half_up)
from operators import Tensor

STREAM_EXHAUSTED = "stream_exhausted"
STREAM_NONCANONICAL = "stream_noncanonical"
BEFORE = -1  # a refusal before any symbol or element


class StageRefusal(Refusal):
    def __init__(self, code, at, why=""):
        super().__init__(code, why)
        self.at = at


def require(condition, why, code=MODEL_MISMATCH):
    """A condition of an operator (section 5E, Conditions and their refusals)."""
    if not condition:
        raise StageRefusal(code, BEFORE, why)


def i32(v):
    return fits(32, v, v)


def saturate(v):
    return clamp(v, -(2 ** 31), 2 ** 31 - 1)


def wrap16(a):
    return (a + 2 ** 15) % 2 ** 16 - 2 ** 15


# E1 rans64_decode

class Rans:
    """The stream and its state (payloads.md, section 1)."""

    def __init__(self, stream):
        self.words = struct.unpack(f"<{len(stream) // 4}I", stream)
        self.x = self.words[0] + 2 ** 32 * self.words[1]
        self.next = 2
        self.ran_out = False  # at any point so far

    def renormalise(self):
        if self.x < 2 ** 31:
            if self.next < len(self.words):
                self.x = 2 ** 32 * self.x + self.words[self.next]
                self.next += 1
            else:
                self.ran_out = True

    def step(self, cdf):
        """The interval of one table step."""
        c = self.x % 2 ** 16
        s = bisect_right(cdf, c) - 1
        self.x = (cdf[s + 1] - cdf[s]) * (self.x // 2 ** 16) + c - cdf[s]
        self.renormalise()
        return s

    def bits(self, k):
        result = self.x % 2 ** k
        self.x //= 2 ** k
        self.renormalise()
        return result

    def ends_canonically(self):
        return self.next == len(self.words) and self.x == 2 ** 31


def check_table(cdf, offset, rule):
    lo, hi = {"t4097": (3, 4097), "t2": (2, 65537)}[rule]
    require(lo <= len(cdf) <= hi, "a table's length")
    require(cdf[0] == 0 and cdf[-1] == 65536, "a table's ends")
    require(all(a < b for a, b in zip(cdf, cdf[1:])), "a table that does not increase")
    require(i32(offset), "an offset past i32")


def escaped_value(raw, n):
    return -(raw // 2) - 1 if raw % 2 else raw // 2 + (n - 2)


def lenient_symbol(rans, cdf, offset):
    n = len(cdf)
    value = rans.step(cdf)
    if value == n - 2:
        count = group = rans.bits(4)
        continuations = 0
        while group == 15 and not rans.ran_out and continuations < 8:
            group = rans.bits(4)
            count += group
            continuations += 1
        raw = sum(rans.bits(4) * 2 ** (4 * j) for j in range(min(count, 8)))
        value = saturate(escaped_value(raw, n))
    return saturate(value + offset)


def strict_symbol(rans, cdf, offset, canonical, lo, hi, at):
    n = len(cdf)
    value, count, groups = rans.step(cdf), 0, []
    escape = value == n - 2
    if escape:
        count = rans.bits(4)
        if count <= 8:
            groups = [rans.bits(4) for _ in range(count)]
        value = escaped_value(sum(g * 2 ** (4 * j) for j, g in enumerate(groups)), n)
    if canonical and rans.ran_out:
        raise StageRefusal(STREAM_EXHAUSTED, at)
    if count > 8 or (groups and groups[-1] == 0):
        raise StageRefusal(STREAM_NONCANONICAL, at)
    if not lo <= value + offset <= hi:
        raise StageRefusal(FIELD_RANGE, at)
    return value + offset


def rans64_decode(stream, tables, reads, table, escape, end, lo=0, hi=0):
    """`tables` are pairs (cdf, offset)."""
    require(len(stream) % 4 == 0 and len(stream) >= 8, "the stream's length")
    for cdf, offset in tables:
        check_table(cdf, offset, table)
    require(i32(lo) and i32(hi) and lo <= hi, "strict's range")
    require(all(0 <= k < len(tables) for k in reads), "a read of no table")
    rans, symbols, canonical = Rans(stream), [], end == "canonical"
    for at, k in enumerate(reads):
        cdf, offset = tables[k]
        if escape == "strict":
            symbols.append(strict_symbol(rans, cdf, offset, canonical, lo, hi, at))
        else:
            symbols.append(lenient_symbol(rans, cdf, offset))
            if canonical and rans.ran_out:
                raise StageRefusal(STREAM_EXHAUSTED, at)
    if not canonical and rans.ran_out:
        raise StageRefusal(STREAM_EXHAUSTED, len(reads))
    if canonical and not rans.ends_canonically():
        raise StageRefusal(STREAM_NONCANONICAL, len(reads))
    return {"symbols": symbols}


# E2 to E7

def dequantize(sym, f, base):
    if not 0 <= f <= 62:
        raise StageRefusal(FIELD_RANGE, 0, "f")
    value = sym * 2 ** f + base
    if not fits(64, value, value):
        raise StageRefusal(FIELD_RANGE, 0, "the value")
    return {"value": value}


def bucket(sigma, edges, rule):
    require(len(edges) >= 1, "no edges")
    if rule == "ceil":
        raised = max(sigma, edges[0])
        return {"index": len(edges) - 1 - sum(raised <= e for e in edges[:-1])}
    require(all(a <= b for a, b in zip(edges, edges[1:])), "edges that decrease")
    return {"index": sum(e <= sigma for e in edges)}


def coded(v, thr):
    return {"coded": v > thr}


def scale_index(v, s, n):
    require(0 <= s <= 127 and n >= 1, "s or n")
    return {"index": clamp(r_half_up(v, s), 0, n - 1)}


def block_stat(x, b, s, lo, hi):
    require(b >= 1 and 0 <= s <= 127 and lo <= hi, "b, s, or lo above hi")
    require(min(x[:3]) >= 1, "a dimension of 0")
    require_cap(x[:3])
    out = list(x.data)
    for c in range(x.channels):
        for top in range(0, x.height, b):
            for left in range(0, x.width, b):
                block = [(c * x.height + y) * x.width + v
                         for y in range(top, min(top + b, x.height))
                         for v in range(left, min(left + b, x.width))]
                value = clamp(r_half_up(sum(x.data[k] for k in block), s), lo, hi)
                for k in block:
                    out[k] = value
    return {"out": x._replace(data=out)}


def band_lookup(v, edges, table, row):
    require(0 <= row < len(table), "no such row")
    require(len(table[row]) == len(edges) + 1, "the row's length")
    return {"value": table[row][sum(v >= e for e in edges)]}


# E8 mans_decode

class Window:
    """The bit window and the two states. `position` is the `at` of a refusal: 0 during `init`,
    then the last position whose `in` step ran."""

    def __init__(self, stream):
        self.memory = bytes(8) + stream
        self.position = 0
        self.p = len(stream)
        self.h = self.le64(self.p)
        self.refuse_if(self.h == 0)
        self.b = self.h.bit_length() - 1
        self.h -= 2 ** self.b
        self.s = [self.read(8), self.read(8)]
        self.flush()

    def refuse_if(self, condition):
        if condition:
            raise StageRefusal(STREAM_EXHAUSTED, self.position)

    def le64(self, i):
        return int.from_bytes(self.memory[i:i + 8], "little")

    def read(self, k):
        self.refuse_if(k > self.b)
        self.b -= k
        r = self.h >> self.b
        self.h -= r << self.b
        return r

    def flush(self):
        d = 7 ^ (self.b // 8)
        self.refuse_if(d > self.p)
        self.p -= d
        self.b = 56 + self.b % 8
        self.h = self.le64(self.p) % 2 ** self.b

    def advance(self, which, t):
        """s_which = (floor(t / 2^16) OR read(floor(t / 2^24))) mod 2^8."""
        self.s[which] = ((t >> 16) | self.read(t >> 24)) % 2 ** 8


def check_sgm(pmf, bounds, spans):
    for row in pmf:
        require(len(row) == len(pmf[0]) >= 1, "the rows' width")
        require(min(row) >= 0 and sum(row) == 256, "a row's sum")
    require(all(0 <= bound <= 255 for bound in bounds), "a bound")
    for mask, sigma in spans:
        require(len(mask) == len(sigma), "a span's lengths")
        require(all(0 <= k < min(len(pmf), len(bounds)) for k in sigma), "no such distribution")


def latent_table(row):
    """T_y[sigma] from P[sigma]."""
    table = [None] * 256
    below = 0  # C[k]
    for k, count in enumerate(row):
        if below == 256:
            break
        above = below + count  # C[k + 1]
        f0, f1 = below - below // 2, above - above // 2
        g0, g1 = below // 2 + 128, above // 2 + 128
        symbol = k // 2 if k % 2 == 0 else -((k + 1) // 2)
        for u in range(f0, f1):
            table[u] = latent_entry(count + (u - f0), symbol)
        for u in range(g0, g1):
            table[u] = latent_entry(count + (f1 - f0) + (u - g0), symbol)
        below = above
    return table


def latent_entry(following, symbol):
    doublings = 0
    while following * 2 ** doublings < 256:
        doublings += 1
    base = following * 2 ** doublings ^ 256
    return doublings * 2 ** 24 + base * 2 ** 16 + symbol % 2 ** 16


class Sgm:
    """The latent decode of one span; `first` is the number of its first position."""

    def __init__(self, window, tables, bounds, span, first):
        self.window, self.tables, self.bounds, self.first = window, tables, bounds, first
        self.mask, self.sigma = span
        self.symbols = [0] * len(self.mask)

    def in_(self, which, i):
        self.window.position = self.first + i
        if self.mask[i]:
            t = self.tables[self.sigma[i]][self.window.s[which]]
            self.window.advance(which, t)
            self.symbols[i] = wrap16(t % 2 ** 16)

    def out(self, i):
        beta = self.bounds[self.sigma[i]]
        if not self.mask[i] or self.symbols[i] + beta != 0:
            return
        last, self.window.position = self.window.position, self.first + i
        v = self.window.read(3 if self.window.read(1) == 1 else 16)
        self.symbols[i] = wrap16(v // 2 + beta if v % 2 == 0 else -(v // 2) - beta)
        self.window.flush()
        self.window.position = last

    def decode(self):
        length, i = len(self.mask), 0
        while length - i >= 4:
            for j in range(4):
                self.in_(j % 2, i + j)
            self.window.flush()
            for j in range(4):
                self.out(i + j)
            i += 4
        if length % 4 >= 2:
            for j in range(2):
                self.in_(j, i + j)
                self.out(i + j)
            self.window.flush()
            i += 2
        if length % 2 == 1:
            self.in_(0, i)
            self.out(i)
            self.window.flush()
        return self.symbols


def mans_sgm(memory, pmf, bounds, spans):
    """`spans` are pairs (mask, sigma)."""
    check_sgm(pmf, bounds, spans)
    tables = [latent_table(row) for row in pmf]
    window, symbols, first = Window(memory), [], 0
    for span in spans:
        symbols.append(Sgm(window, tables, bounds, span, first).decode())
        first += len(span[0])
    return {"symbols": symbols}


def preprocessing_table():
    """Zp[i], for i from 511 down to 1."""
    table, doublings = [None] * 512, 0
    for i in range(511, 0, -1):
        if i * 2 ** doublings < 256:
            doublings += 1
        table[i] = (i * 2 ** doublings ^ 256) + 256 * doublings
    return table


ZP = preprocessing_table()


def write_row(table, counts):
    """The row table: T_z after a row. Slots the row does not write keep the row before's."""
    below = 0
    for a, above in enumerate(counts):
        k = above - below
        for j in range(below, above):
            table[j] = ZP[k + j - below] * 2 ** 16 + a
        below = above
    table[255] = ZP[1] * 2 ** 16 + 63


class Fac:
    """The hyper-latent decode of one row of `length` symbols."""

    def __init__(self, window, table, length, first):
        self.window, self.table, self.first = window, table, first
        self.symbols = [0] * length

    def in_(self, which, i):
        self.window.position = self.first + i
        t = self.table[self.window.s[which]]
        self.window.advance(which, t)
        self.symbols[i] = t % 2 ** 8

    def out(self, i):
        if self.symbols[i] == 63:
            last, self.window.position = self.window.position, self.first + i
            self.symbols[i] = self.window.read(6)
            self.window.position = last

    def decode(self):
        length, i = len(self.symbols), 0
        while length - i >= 4:
            for j in range(4):
                self.in_(j % 2, i + j)
            for j in range(4):
                self.out(i + j)
            self.window.flush()
            i += 4
        for j in range(length % 4):  # s1, s2, then s1 again
            self.in_(j % 2, i + j)
            self.out(i + j)
        self.window.flush()
        return self.symbols


def mans_fac(memory, rows, lengths):
    for counts in rows:
        require(len(counts) == 63, "a row that is not 63 counts")
        require(all(0 <= a <= b <= 255 for a, b in zip([0] + counts, counts)), "a row's counts")
    require(len(rows) == len(lengths), "not one length for each row")
    require(all(length >= 0 for length in lengths), "a length below 0")
    window, table, symbols, first = Window(memory), [0] * 256, [], 0
    for counts, length in zip(rows, lengths):
        write_row(table, counts)
        symbols.append(Fac(window, table, length, first).decode())
        first += length
    return {"symbols": symbols}


# E9 to E12

def residual_step(pred, r, q, lo, hi):
    require(lo < hi and lo <= pred <= hi, "lo, hi or pred")
    require(1 <= q <= 65535 and i32(r), "q or r")
    return {"value": clamp(pred + r * q, lo, hi)}


def half_pel(p, y, x, fy, fx):
    """E10's rule on the four values p(y, x) ... p(y + 1, x + 1)."""
    if fy and fx:
        return (p(y, x) + p(y, x + 1) + p(y + 1, x) + p(y + 1, x + 1) + 2) >> 2
    if fy or fx:
        return (p(y, x) + p(y + fy, x + fx) + 1) >> 1
    return p(y, x)


def require_samples(x, lo, hi):
    require(all(lo <= v <= hi for v in x.data), "a sample out of its range")


def require_cap(shape):
    size = 1
    for side in shape:
        size *= side
    require(size <= CAP and max(shape) <= CAP, "a tensor past the cap", TOO_LARGE)


def mc_predict(frame, y, x, c, dy, dx, precision):
    require(frame.channels == 3, "the frame's channels")
    require(precision in (1, 2) and c in (0, 1, 2), "precision or channel")
    require(0 <= y < frame.height and 0 <= x < frame.width, "no pixel of the frame")
    require_samples(frame, 0, 255)
    plane = frame.plane(c)

    def p(row, column):
        return plane[clamp(row, 0, frame.height - 1) * frame.width
                     + clamp(column, 0, frame.width - 1)]

    if precision == 1:
        return {"value": p(y + dy, x + dx)}
    return {"value": half_pel(p, y + (dy >> 1), x + (dx >> 1), dy & 1, dx & 1)}


def up2_predict(prev, d0, d1):
    require(d0 >= 1 and d1 >= 1 and min(prev[:3]) >= 1, "a size of 0", GEOMETRY_MISMATCH)
    require(prev.height == -(-d0 // 2) and prev.width == -(-d1 // 2), "prev's shape",
            GEOMETRY_MISMATCH)
    require_samples(prev, 0, 255)
    require_cap((prev.channels, d0, d1))
    out = []
    for ch in range(prev.channels):
        plane = prev.plane(ch)

        def p(row, column, plane=plane):
            return plane[min(row, prev.height - 1) * prev.width + min(column, prev.width - 1)]

        out += [half_pel(p, y >> 1, x >> 1, y & 1, x & 1) for y in range(d0) for x in range(d1)]
    return {"out": Tensor(prev.channels, d0, d1, out)}


def rdiv(n, d):
    if d < 1:
        return 0
    rounded = (2 * abs(n) + d) // (2 * d)
    return rounded if n >= 0 else -rounded


def rate_predict(prev, rate_num, rate_den, d0):
    require(min(d0, rate_num, rate_den, *prev[:3]) >= 1, "a size or a rate of 0",
            GEOMETRY_MISMATCH)
    require(prev.height == 1 and d0 == prev.width * rate_num // rate_den, "prev's shape",
            GEOMETRY_MISMATCH)
    require(max(rate_num, rate_den) < 2 ** 32, "a rate past u32")
    require_samples(prev, -32768, 32767)
    require_cap((prev.channels, 1, d0))
    out = []
    for ch in range(prev.channels):
        samples = prev.plane(ch)
        for i in range(d0):
            s = i * rate_den
            lo, rho = s // rate_num, s % rate_num
            hi = min(lo + 1, prev.width - 1)
            out.append(rdiv(samples[lo] * rate_num + (samples[hi] - samples[lo]) * rho, rate_num))
    return {"out": Tensor(prev.channels, 1, d0, out)}


# E13 coding_order

def coding_order(shape, order, anchor=False):
    require(min(shape) >= 1, "a dimension of 0")
    require_cap(shape)
    channels, height, width = shape
    parity = 0 if anchor else 1
    return {"indices": [(c * height + y) * width + x for c in range(channels)
                        for y in range(height) for x in range(width)
                        if order == "raster" or (y + x) % 2 == parity]}
