#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes bound_vectors.inc and i128_vectors.inc: results of Python's integers, whose width has no
limit, for the tests of src/number. Run it in this folder; the files it writes are committed."""
import math
import random

LIMIT = 1 << 255
random.seed(20201130)


def saturate(value):
    return max(-LIMIT, min(LIMIT, value))


def isqrt_ceil(value):
    return math.isqrt(value - 1) + 1 if value > 0 else 0


def number(value):
    return '"%s%x"' % ("-" if value < 0 else "", abs(value))


def of_width(bits):
    value = random.getrandbits(random.randint(1, bits))
    return -value if random.random() < 0.5 else value


EDGES = [0, 1, -1, 2, -2, 3, 2**31, 2**32 - 1, -(2**32), 2**63 - 1, -(2**63), 2**64, 2**127,
         -(2**127), 2**128 - 1, 2**128, 2**192, LIMIT - 1, LIMIT, 1 - LIMIT, -LIMIT]


def bound_rows():
    pairs = [(a, b) for a in EDGES for b in random.sample(EDGES, 3)]
    pairs += [(of_width(255), of_width(255)) for _ in range(8)]
    pairs += [(of_width(140), of_width(120)) for _ in range(8)]
    for a, b in pairs:
        for name, exact in (("ADD", a + b), ("SUB", a - b), ("MUL", a * b)):
            yield name, a, b, saturate(exact), saturate(exact) != exact
        if b > 0:
            yield "DIVIDE", a, b, a // b, False
    for a in EDGES + [of_width(255) for _ in range(8)]:
        for shift in random.sample([0, 1, 31, 32, 33, 63, 64, 126, 127, 128, 254, 255], 3):
            yield "SHIFT", a, shift, a >> shift, False
        if a >= 0:
            yield "ISQRT", a, 0, math.isqrt(a), False
            yield "ISQRT_CEIL", a, 0, isqrt_ceil(a), False
    for root in (1, 2, 3, 2**64 - 1, 2**127, math.isqrt(LIMIT), 181, 65535):
        for a in (root * root - 1, root * root, root * root + 1):
            yield "ISQRT", a, 0, math.isqrt(a), False
            yield "ISQRT_CEIL", a, 0, isqrt_ceil(a), False


I64 = [0, 1, -1, 2, 3, -7, 10**9, 2**31, -(2**31), 2**32 - 1, 2**62, 2**63 - 1, -(2**63)]
I128 = I64 + [2**64 - 1, 2**64, -(2**64), 2**126, -(2**126), 2**127 - 1, -(2**127), -(2**127) + 1]


def fits(value):
    return -(2**127) <= value < 2**127


def round_shift(p, shift, mode):
    """Section 2 as it is written."""
    if shift == 0:
        return p
    q, half = p >> shift, 1 << (shift - 1)
    if mode == "FLOOR":
        return q
    if mode == "HALF_UP":
        return (p + half) >> shift
    rest = p - (q << shift)
    return q + 1 if rest > half or (rest == half and q % 2 == 1) else q


def i128_rows():
    wide = I128 + [of_width(127) for _ in range(10)]
    narrow = I64 + [of_width(63) for _ in range(8)]
    for a in wide:
        for b in random.sample(wide, 3):
            for name, exact in (("ADD", a + b), ("SUB", a - b)):
                if fits(exact):
                    yield name, a, b, exact
            yield "COMPARE", a, b, (a > b) - (a < b)
        for b in random.sample(narrow, 3):
            if fits(a * b):
                yield "MUL", a, b, a * b
            if a >= 0 and b > 0:
                yield "DIVIDE", a, b, a // b
                yield "REST", a, b, a % b
        for shift in random.sample([0, 1, 31, 32, 63, 64, 65, 126, 127], 3):
            yield "RIGHT", a, shift, a >> shift
            if fits(a << shift):
                yield "LEFT", a, shift, a << shift
        if a >= 0:
            yield "ISQRT", a, 0, math.isqrt(a)
    for root in (1, 2, 3, 2**32 - 1, 2**32, 2**63, 13043817825332782212):
        for a in (root * root - 1, root * root, root * root + 1):
            if fits(a):
                yield "ISQRT", a, 0, math.isqrt(a)


def round_rows():
    for shift in (0, 1, 2, 31, 32, 62, 63, 64, 65, 100, 126, 127):
        half = 1 << (shift - 1) if shift else 0
        near = [k * half + d for k in (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5) for d in (-1, 0, 1)]
        for p in random.sample(near, 9) + [-(2**127), 2**127 - 1, -(2**63), 2**63 - 1]:
            for mode in ("FLOOR", "HALF_UP", "HALF_EVEN"):
                addend = half if mode != "FLOOR" and shift else 0
                if fits(p) and fits(p + addend):
                    yield mode, p, shift, round_shift(p, shift, mode)


def write(path, title, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0 */\n")
        out.write("/* %s: written by vectors.py. Numbers are hexadecimal. */\n" % title)
        for row in rows:
            name, a, b, result, *flag = row
            more = ", true" if flag and flag[0] else ", false" if flag else ""
            numbers = ", ".join(map(number, (a, b, result)))
            out.write("ROW(%s, %s%s)\n" % (name, numbers, more))


write("bound_vectors.inc", "ROW(operation, a, b, result, saturated)", bound_rows())
write("i128_vectors.inc", "ROW(operation, a, b, result)", i128_rows())
write("round_vectors.inc", "ROW(rounding, p, shift, result)", round_rows())
