# SPDX-License-Identifier: Apache-2.0
"""Section 13.0: the canonical form of a lowered graph, written; section 10.4's layouts of the
parameters that lowerings write."""

import struct

from functions import CAP, FLOOR, MODEL_MISMATCH, Refusal, fits
from operators import OPERATORS, POST, PRE
from whg1 import CHECK, CLAMP, DERIVED, NO_EXPONENT

CODES = {op.name: op.code for op in OPERATORS.values()}
A32 = (CHECK, -(2 ** 31), 2 ** 31 - 1)  # section 13.6.2


class Graph:
    """A graph being written. Inputs come first; every tensor is numbered as it is made, which is
    the order of 13.0. Operators return their output's tensor, or a list of them."""

    def __init__(self):
        self.scalars, self.inputs, self.tensors, self.operators = [], [], [], []
        self.channels = []

    def tensor(self, channels, policy):
        code, lo, hi = policy or (DERIVED, 0, 0)
        self.tensors.append(pack("IbBHqq", channels, NO_EXPONENT, code, 0, lo, hi))
        self.channels.append(channels)
        return len(self.channels) - 1

    def scalar(self, lo, hi):
        self.scalars.append(pack("qq", lo, hi))

    def input(self, channels, policy, size=(0, 0)):
        tensor = self.tensor(channels, policy)
        self.inputs.append(pack("IIIB3xIIq", tensor, *size, 0, 0, 0, 0))
        return tensor

    def op(self, name, ins, channels, parameters=b"", policy=None):
        """`channels` is the output's count, or a list of one for each output."""
        many = isinstance(channels, list)
        outs = [self.tensor(count, policy) for count in (channels if many else [channels])]
        self.operators.append(
            pack(f"BBBB{len(ins)}I{len(outs)}II", CODES[name], len(ins), len(outs), 0, *ins,
                 *outs, len(parameters)) + parameters)
        return outs if many else outs[0]

    def bytes(self, output):
        """The file, with one output."""
        header = pack("4sBBHIIHHHHII", b"WHG1", 1, 1, 0, len(self.tensors), len(self.operators),
                      len(self.inputs), 1, len(self.scalars), 0, CAP, 0)
        return header + b"".join(self.scalars + self.inputs + [pack("I", output)] + self.tensors
                                 + self.operators)


def pack(form, *values):
    """Little-endian fields; a value past its field makes a set that cannot be lowered."""
    try:
        return struct.pack("<" + form, *values)
    except struct.error:
        raise Refusal(MODEL_MISMATCH, "a value past the width of its WHG1 field") from None


# 10.4, with 13.0's widths

def smallest(values, widths):
    """The smallest allowed width that holds every value."""
    for width in widths:
        if all(fits(8 * width, v, v) for v in values):
            return width
    raise Refusal(MODEL_MISMATCH, "a value past i64")


def packed(values, width):
    return pack(f"{len(values)}{'_bh_i___q'[width]}", *values)


def rq(shift, mult=None, m_bytes=0, pre=(), post=(), b_bytes=0, rounding=FLOOR):
    """An RQ block. `mult` and `shift` are an int, written once (kind 1), or a list, written per
    channel (kind 2). A width of 0 is the smallest allowed."""
    bias = pre or post
    mults = [] if mult is None else [mult] if isinstance(mult, int) else list(mult)
    shifts = [shift] if isinstance(shift, int) else list(shift)
    if mults:
        m_bytes = m_bytes or smallest(mults, (4, 8))
    if bias:
        b_bytes = b_bytes or smallest(bias, (4, 8))
    return (pack("BBBBBBH", rounding, PRE if pre else POST if post else 0,
                 0 if mult is None else 1 if isinstance(mult, int) else 2,
                 1 if isinstance(shift, int) else 2,
                 m_bytes if mults else 0, b_bytes if bias else 0, 0)
            + packed(mults, m_bytes or 4) + pack(f"{len(shifts)}B", *shifts)
            + packed(bias, b_bytes or 4))


def conv(cout, k, stride, padding, groups, weights, w_bytes, block):
    return (pack("8IB3x", cout, k, k, stride, stride, padding, padding, groups, w_bytes) + block
            + packed(weights, w_bytes))


def conv_transpose(cout, kernel, stride, padding, more, weights, w_bytes, block):
    """The pairs are (vertical, horizontal)."""
    return (pack("9IB3x", cout, *kernel, *stride, *padding, *more, w_bytes) + block
            + packed(weights, w_bytes))


def clamp(lo, hi):
    return pack("qq", lo, hi)


def check(lo, hi):
    return CHECK, lo, hi


def clamped(lo, hi):
    return CLAMP, lo, hi
