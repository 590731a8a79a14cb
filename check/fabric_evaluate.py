# SPDX-License-Identifier: Apache-2.0
"""Section 2.2 of fabric-tables.md: the values of the compute schemas, payload bits in and out.

Floating point is exact rational arithmetic and one rounding; of the special functions only those
with an exact result are here (floor, ceil, round, trunc, roundeven)."""

from fractions import Fraction

from fabric_types import FLOAT_WIDTH, Fault

FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
ONE_HALF = Fraction(1, 2)


class Poison(Fault):
    def __init__(self, message):
        super().__init__("Invalid", message)


class NotHere(Exception):
    """A special function that this checker leaves out."""


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) else value


# ---- floats ----

class Format:
    def __init__(self, name):
        self.width, self.m = FLOAT_WIDTH[name], FRACTION_BITS[name]
        self.e = self.width - 1 - self.m
        self.bias = (1 << (self.e - 1)) - 1
        self.sign = 1 << (self.width - 1)
        self.inf = ((1 << self.e) - 1) << self.m
        self.nan = self.inf | 1 << (self.m - 1)

    def is_nan(self, bits):
        return bits & ~self.sign > self.inf

    def is_inf(self, bits):
        return bits & ~self.sign == self.inf

    def value(self, bits):
        """A finite number as a Fraction."""
        exponent, fraction = (bits & ~self.sign) >> self.m, bits & ((1 << self.m) - 1)
        if exponent:
            fraction |= 1 << self.m
        power = max(exponent, 1) - self.bias - self.m
        out = Fraction(fraction) * Fraction(2) ** power
        return -out if bits & self.sign else out

    def round(self, x, mode, zero_sign=0):
        """The bits of a Fraction; `zero_sign` is that of an exact zero."""
        if x == 0:
            return self.sign if zero_sign else 0
        negative, a = x < 0, abs(x)
        power = self.exponent(a)
        quantum = Fraction(2) ** (max(power, 1 - self.bias) - self.m)
        n = round_integer(a / quantum, mode, negative)
        bits = self.assemble(n, quantum)
        if bits >= self.inf:
            up = mode in ("to_nearest_even", "to_nearest_away") or (
                mode == ("downward" if negative else "upward"))
            bits = self.inf if up else self.inf - 1
        return bits | (self.sign if negative else 0)

    @staticmethod
    def exponent(a):
        power = a.numerator.bit_length() - a.denominator.bit_length()
        return power if a >= Fraction(2) ** power else power - 1

    def assemble(self, n, quantum):
        """Bits of n quanta; a carry into the next binade falls out of the encoding."""
        if n == 0:
            return 0
        power = self.exponent(quantum) + self.m
        return n + ((power + self.bias - 1) << self.m) if n >> self.m else n


def round_integer(a, mode, negative):
    n, rest = divmod(a, 1)
    n = int(n)
    if mode == "to_nearest_even":
        return n + (rest > ONE_HALF or rest == ONE_HALF and n & 1)
    if mode == "to_nearest_away":
        return n + (rest >= ONE_HALF)
    if mode == "toward_zero":
        return n
    return n + (rest > 0 and negative == (mode == "downward"))


FORMATS = {name: Format(name) for name in FLOAT_WIDTH}


def add(f, a, b, mode):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        if f.is_inf(a) and f.is_inf(b) and a != b:
            return f.nan
        return a if f.is_inf(a) else b
    x = f.value(a) + f.value(b)
    return f.round(x, mode, sum_zero(bool(a & f.sign), bool(b & f.sign), mode))


def sum_zero(sa, sb, mode):
    return sa if sa == sb else mode == "downward"


def multiply(f, a, b, mode):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        zero = not (a & ~f.sign) or not (b & ~f.sign)
        return f.nan if zero else f.inf | sign
    return f.round(f.value(a) * f.value(b), mode, sign)


def divide(f, a, b, mode):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) and f.is_inf(b):
        return f.nan
    if f.is_inf(a):
        return f.inf | sign
    if f.is_inf(b):
        return sign
    if not b & ~f.sign:
        return f.inf | sign if a & ~f.sign else f.nan
    return f.round(f.value(a) / f.value(b), mode, sign)


def remainder(f, a, b, mode):
    if f.is_nan(a) or f.is_nan(b) or f.is_inf(a) or not b & ~f.sign:
        return f.nan
    if f.is_inf(b):
        return a
    x, y = abs(f.value(a)), abs(f.value(b))
    rest = x - y * (x // y)
    return f.round(-rest if a & f.sign else rest, "to_nearest_even", a & f.sign)


def fma(f, a, b, c, mode):
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return f.nan
    sign = (a ^ b) & f.sign
    if f.is_inf(a) or f.is_inf(b):
        if not (a & ~f.sign) or not (b & ~f.sign):
            return f.nan
        product = f.inf | sign
        return f.nan if f.is_inf(c) and c != product else product
    if f.is_inf(c):
        return c
    x = f.value(a) * f.value(b) + f.value(c)
    return f.round(x, mode, sum_zero(bool(sign), bool(c & f.sign), mode))


def order_key(f, bits):
    """Of a number that is no NaN; -0 below +0."""
    return -(bits & ~f.sign) - 1 if bits & f.sign else bits


def min_max(f, schema, a, b):
    nan = [f.is_nan(a), f.is_nan(b)]
    if any(nan):
        if schema in ("arith.minnumf", "arith.maxnumf"):
            return b if nan[0] and not nan[1] else a
        return a if nan[0] else b
    low, high = sorted((a, b), key=lambda v: order_key(f, v))
    return low if "min" in schema else high


def compare_float(f, predicate, a, b):
    nan = f.is_nan(a) or f.is_nan(b)
    if predicate in ("true", "false"):
        return int(predicate == "true")
    if predicate in ("ord", "uno"):
        return int(nan == (predicate == "uno"))
    if nan:
        return int(predicate[0] == "u")
    x, y = (order_key(f, v) if v & ~f.sign else 0 for v in (a, b))
    return int({"eq": x == y, "ne": x != y, "gt": x > y, "ge": x >= y, "lt": x < y,
                "le": x <= y}[predicate[1:]])


def convert_float(source, target, bits, mode):
    sign = target.sign if bits & source.sign else 0
    if source.is_nan(bits):
        return target.nan
    if source.is_inf(bits):
        return target.inf | sign
    return target.round(source.value(bits), mode, sign)


def integral(f, schema, a):
    if f.is_nan(a):
        return f.nan
    if f.is_inf(a):
        return a
    mode = {"floor": "downward", "ceil": "upward", "round": "to_nearest_away",
            "trunc": "toward_zero", "roundeven": "to_nearest_even"}[schema.split(".")[1]]
    x, negative = f.value(a), bool(a & f.sign)
    n = round_integer(abs(x), mode, negative)
    return f.round(Fraction(-n if negative else n), "to_nearest_even", negative)


def to_integer(f, bits, width, is_signed, saturates):
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    if f.is_nan(bits):
        if saturates:
            return 0
        raise Poison("a NaN to an integer")
    if f.is_inf(bits):
        n = low - 1 if bits & f.sign else high + 1
    else:
        x = f.value(bits)
        n = int(abs(x)) * (-1 if x < 0 else 1)
    if not low <= n <= high:
        if not saturates:
            raise Poison("a float past the integer's range")
        n = low if n < low else high
    return n % (1 << width)


# ---- integers ----

def compare_integer(predicate, a, b, width):
    if predicate[0] == "s":
        a, b = signed(a, width), signed(b, width)
    relation = predicate if predicate in ("eq", "ne") else predicate[1:]
    return int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b,
                "ge": a >= b}[relation])


def overflow(attributes, exact_signed, exact_unsigned, width):
    flags = attributes.get("overflow", ())
    if "nsw" in flags and not -(1 << width - 1) <= exact_signed < 1 << width - 1:
        raise Poison("a signed overflow")
    if "nuw" in flags and not 0 <= exact_unsigned < 1 << width:
        raise Poison("an unsigned overflow")


def clamp(x, low, high):
    return min(max(x, low), high)


def divide_integer(schema, a, b, w, attributes):
    if b == 0:
        raise Poison("a division by zero")
    if schema in ("arith.divsi", "arith.remsi"):
        a, b = signed(a, w), signed(b, w)
        if (a, b) == (-(1 << w - 1), -1):
            raise Poison("the least integer by -1")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    rest = a - quotient * b
    if attributes.get("exact") and rest:
        raise Poison("an inexact division")
    return quotient if "div" in schema else rest


def shift(schema, a, n, w, attributes):
    if n >= w:
        raise Poison("a shift past the width")
    if schema == "arith.shli":
        overflow(attributes, signed(a, w) << n, a << n, w)
        return a << n
    if attributes.get("exact") and a & ((1 << n) - 1):
        raise Poison("an inexact shift")
    return (signed(a, w) if schema == "arith.shrsi" else a) >> n


def integer2(schema, a, b, w, attributes):
    sa, sb = signed(a, w), signed(b, w)
    least, most = -(1 << w - 1), (1 << w - 1) - 1
    short = schema.split(".")[-1] if "intr" not in schema else schema.split(".")[2] + "_sat"
    if short in ("addi", "subi", "muli"):
        apply = {"addi": lambda x, y: x + y, "subi": lambda x, y: x - y,
                 "muli": lambda x, y: x * y}[short]
        overflow(attributes, apply(sa, sb), apply(a, b), w)
        return apply(a, b)
    if short in ("shli", "shrsi", "shrui"):
        return shift(schema, a, b, w, attributes)
    if short in ("divsi", "divui", "remsi", "remui"):
        return divide_integer(schema, a, b, w, attributes)
    if short == "or" and a & b:
        raise Poison("bits that are not disjoint")
    return {"andi": a & b, "ori": a | b, "or": a | b, "xori": a ^ b,
            "minsi": min(sa, sb), "maxsi": max(sa, sb), "minui": min(a, b), "maxui": max(a, b),
            "sadd_sat": clamp(sa + sb, least, most), "ssub_sat": clamp(sa - sb, least, most),
            "uadd_sat": clamp(a + b, 0, (1 << w) - 1), "usub_sat": clamp(a - b, 0, (1 << w) - 1),
            }[short]


def zeros(schema, a, w):
    if not a and schema.startswith("llvm"):
        raise Poison("a zero")
    if schema.endswith("ctlz"):
        return w - a.bit_length()
    return (a & -a).bit_length() - 1 if a else w


def integer_cast(schema, a, n, w, attributes):
    """From width n to w."""
    if attributes.get("nneg") and a >> (n - 1):
        raise Poison("a negative value")
    if schema in ("arith.extsi", "arith.index_cast"):
        return signed(a, n)
    if schema == "arith.trunci":
        low = a % (1 << w)
        flags = attributes.get("overflow", ())
        if "nuw" in flags and low != a or "nsw" in flags and signed(low, w) != signed(a, n):
            raise Poison("a truncation that loses bits")
    return a


def scalar(schema, values, ins, out, attributes, index):
    """One lane."""
    w = out.bits(index)
    if schema == "arith.select":
        return values[1] if values[0] else values[2]
    if schema == "arith.cmpi":
        return compare_integer(attributes["predicate"], *values, ins[0].bits(index))
    if "float" in (ins[0].kind, out.kind) and schema != "arith.bitcast":
        return float_scalar(schema, values, ins, out, attributes, index)
    if schema in ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast",
                  "arith.index_castui"):
        return integer_cast(schema, values[0], ins[0].bits(index), w, attributes) % (1 << w)
    if schema in ("math.ctlz", "math.cttz", "llvm.intr.ctlz", "llvm.intr.cttz"):
        return zeros(schema, values[0], w)
    return integer2(schema, *values, w, attributes) % (1 << w)


def float_scalar(schema, values, ins, out, attributes, index):
    short = schema.split(".", 1)[1]
    mode = attributes.get("rounding", "to_nearest_even")
    if short in ("sitofp", "uitofp"):
        n = ins[0].bits(index)
        if attributes.get("nneg") and values[0] >> (n - 1):
            raise Poison("a negative value")
        x = signed(values[0], n) if short == "sitofp" else values[0]
        return FORMATS[out.format].round(Fraction(x), "to_nearest_even")
    f = FORMATS[ins[0].format]
    if short in ("fptosi", "fptoui", "fptosi.sat", "fptoui.sat"):
        return to_integer(f, values[0], out.bits(index), "si" in short, "sat" in short)
    if short in ("extf", "truncf"):
        return convert_float(f, FORMATS[out.format], values[0], mode)
    if short == "negf":
        return values[0] ^ f.sign
    if short == "absf":
        return values[0] & ~f.sign
    nan_matters = short == "cmpf" or short in ("minimumf", "maximumf", "minnumf", "maxnumf")
    if nan_matters and "nnan" in attributes.get("fastmath", ()) and any(
            f.is_nan(v) for v in values):
        raise Poison("a NaN under nnan")
    if short == "cmpf":
        return compare_float(f, attributes["predicate"], *values)
    if nan_matters:
        return min_max(f, schema, *values)
    if short in ("floor", "ceil", "round", "trunc", "roundeven"):
        return integral(f, schema, values[0])
    if short == "subf":
        b = values[1] if f.is_nan(values[1]) else values[1] ^ f.sign
        return add(f, values[0], b, mode)
    table = {"addf": add, "mulf": multiply, "divf": divide, "remf": remainder, "fma": fma}
    if short not in table:
        raise NotHere(schema)
    return table[short](f, *values, mode)


# ---- whole payloads ----

def lane(value, k, width):
    return value >> (k * width) & ((1 << width) - 1)


def compute(actor, values, index):
    """The result of a compute schema, constant, pack or unpack."""
    schema, ins, out = actor.schema, actor.ins, actor.outs[0]
    if schema in ("dataflow.pack", "dataflow.unpack", "arith.bitcast"):
        return values[0]
    if schema in ("vector.extract", "vector.insert"):
        return slice_value(actor, values, index)
    if schema == "vector.shuffle":
        width = ins[0].bits(index) // ins[0].dims[0]
        both = values[0] | values[1] << ins[0].bits(index)
        return sum(lane(both, max(m, 0), width) << (k * width)
                   for k, m in enumerate(actor.attributes["mask"]))
    if out.kind != "vector":
        return scalar(schema, values, ins, out, actor.attributes, index)
    result, width = 0, out.element.bits(index)
    for k in range(out.lanes):
        lanes = [lane(v, k, t.element.bits(index)) for v, t in zip(values, ins)]
        result |= scalar(schema, lanes, [t.element for t in ins], out.element,
                         actor.attributes, index) << (k * width)
    return result


def slice_value(actor, values, index):
    extract = actor.schema == "vector.extract"
    container = actor.ins[0 if extract else 1]
    dynamic = iter(values[1 if extract else 2:])
    width, at = container.bits(index), 0
    for p, size in zip(actor.attributes["position"], container.dims):
        width //= size
        p = next(dynamic) if p == "?" else p
        if p >= size:
            raise Poison("a position out of range")
        at += p * width
    mask = ((1 << width) - 1) << at
    if extract:
        return (values[0] & mask) >> at
    return values[1] & ~mask | values[0] << at
