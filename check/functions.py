# SPDX-License-Identifier: Apache-2.0
"""Section 2: notation and integer functions. Section 3's refusals and caps."""

from math import isqrt

CAP = 2 ** 26  # section 3: no tensor and no size an operator forms exceeds it
I64_MIN, I64_MAX = -(2 ** 63), 2 ** 63 - 1

MODEL_MISMATCH = "model_mismatch"
TOO_LARGE = "too_large"
GEOMETRY_MISMATCH = "geometry_mismatch"
FIELD_RANGE = "field_range"


class Refusal(Exception):
    """A refusal of section 4: its code, and a sentence for people."""

    def __init__(self, code, why=""):
        super().__init__(f"{code}: {why}" if why else code)
        self.code = code


def trunc_div(a, b):
    """trunc(a / b), for b > 0."""
    return a // b if a >= 0 else -(-a // b)


def sgn(a):
    return (a > 0) - (a < 0)


def clamp(v, lo, hi):
    return min(max(v, lo), hi)


def isqrt_ceil(n):
    """The smallest r >= 0 with r*r >= n."""
    r = isqrt(n)
    return r if r * r == n else r + 1


def bits_of(v):
    """The smallest N >= 1 such that v fits iN."""
    return (v if v >= 0 else -v - 1).bit_length() + 1


def bits(lo, hi):
    """bits([lo, hi])."""
    return max(bits_of(lo), bits_of(hi))


def fits(n, lo, hi):
    return -(2 ** (n - 1)) <= lo and hi <= 2 ** (n - 1) - 1


# Rounding a scaled product.

def r_floor(p, s):
    return p >> s


def r_half_up(p, s):
    return (p + (1 << (s - 1))) >> s if s >= 1 else p


def r_half_even(p, s):
    if s == 0:
        return p
    q = p >> s
    r = p - (q << s)
    h = 1 << (s - 1)
    return q + 1 if r > h or (r == h and q % 2 == 1) else q


FLOOR, HALF_UP, HALF_EVEN = 0, 1, 2  # the codes of section 10.4
ROUNDINGS = (r_floor, r_half_up, r_half_even)


def exp_neg_q16(x):
    """The exponential of a non-positive Q16 value."""
    u = -x
    n = u // 45426
    g = 45426 * n
    r = x + g
    t = r + 88670
    q = (t * t) >> 16
    c = 23495 * q
    y = (c >> 16) + 22544
    return 0 if n >= 63 else y >> n


def rsqrt_q16(v):
    """The Q16 reciprocal square root."""
    r = isqrt(v)
    return 0 if r == 0 else 2 ** 32 // r
