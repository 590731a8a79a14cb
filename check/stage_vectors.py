# SPDX-License-Identifier: Apache-2.0
"""Section 14.1: the vectors of the stage operators, recomputed line by line."""

from canonical import NotCanonical, hex_bytes, integer, integers, member
from operators import Tensor
from stage import (StageRefusal, band_lookup, block_stat, bucket, coded, coding_order, dequantize,
                   mans_fac, mans_sgm, mc_predict, rans64_decode, rate_predict, residual_step,
                   scale_index, up2_predict)


# The readers of the forms

def array(value):
    if not isinstance(value, list):
        raise NotCanonical("not an array")
    return value


def boolean(value):
    if not isinstance(value, bool):
        raise NotCanonical("neither true nor false")
    return value


def one_of(*names):
    def read(value):
        if value not in names:
            raise NotCanonical(f"none of {', '.join(names)}")
        return value
    return read


def arrays_of(read):
    return lambda value: [read(item) for item in array(value)]


def pair_of(first, read_first, second, read_second):
    """The reader of an object of two members: a pair."""
    def read(value):
        no_others(value, (first, second))
        return read_first(member(value, first)), read_second(member(value, second))
    return read


def tensor(value):
    no_others(value, ("data", "shape"))
    shape = integers(member(value, "shape"))
    data = integers(member(value, "data"))
    if len(shape) != 3 or min(shape) < 0 or len(data) != shape[0] * shape[1] * shape[2]:
        raise NotCanonical("a tensor whose data does not fill [C, H, W]")
    return Tensor(*shape, data)


def shape_of(value):
    shape = integers(value)
    if len(shape) != 3:
        raise NotCanonical("a shape that is not [C, H, W]")
    return shape


def no_others(value, names):
    for name in value if isinstance(value, dict) else ():
        if name not in names:
            raise NotCanonical(f"a member {name!r} that the form does not have")


FORMS = {  # operator: (function, the readers of `in`)
    "rans64_decode": (rans64_decode, {
        "stream": hex_bytes, "tables": arrays_of(pair_of("cdf", integers, "offset", integer)),
        "reads": integers}),
    "dequantize": (dequantize, dict.fromkeys(("sym", "f", "base"), integer)),
    "bucket": (bucket, {"sigma": integer, "edges": integers}),
    "coded": (coded, {"v": integer, "thr": integer}),
    "scale_index": (scale_index, dict.fromkeys("vsn", integer)),
    "block_stat": (block_stat, {"x": tensor, **dict.fromkeys(("b", "s", "lo", "hi"), integer)}),
    "band_lookup": (band_lookup, {"v": integer, "edges": integers,
                                  "table": arrays_of(integers), "row": integer}),
    "residual_step": (residual_step, dict.fromkeys(("pred", "r", "q", "lo", "hi"), integer)),
    "mc_predict": (mc_predict, {"frame": tensor, **dict.fromkeys(
        ("y", "x", "c", "dy", "dx", "precision"), integer)}),
    "up2_predict": (up2_predict, {"prev": tensor, "d0": integer, "d1": integer}),
    "rate_predict": (rate_predict, {"prev": tensor, **dict.fromkeys(
        ("rate_num", "rate_den", "d0"), integer)}),
    "coding_order": (coding_order, {"shape": shape_of, "order": one_of("raster", "checkerboard"),
                                    "anchor": boolean}),
}
MANS_FORMS = {  # the member `mode`: likewise
    "sgm": (mans_sgm, {"memory": hex_bytes, "pmf": arrays_of(integers), "bounds": integers,
                       "spans": arrays_of(pair_of("mask", arrays_of(boolean),
                                                  "sigma", integers))}),
    "fac": (mans_fac, {"memory": hex_bytes, "rows": arrays_of(integers), "lengths": integers}),
}


def read_modes(name, modes):
    """The operator's modes, as named arguments of its function."""
    readers = {}
    if name == "rans64_decode":
        readers = {"table": one_of("t4097", "t2"), "escape": one_of("lenient", "strict"),
                   "end": one_of("canonical", "final_only")}
        if member(modes, "escape") == "strict":
            readers.update(lo=integer, hi=integer)
    if name == "bucket":
        readers = {"bucket": one_of("ceil", "floor")}
    if not isinstance(modes, dict):
        raise NotCanonical("modes is no object")
    no_others(modes, readers)
    found = {key: read(member(modes, key)) for key, read in readers.items()}
    return {"rule": found["bucket"]} if name == "bucket" else found


def read_in(name, value):
    """An operator's function and its operands."""
    if name == "mans_decode":
        function, readers = MANS_FORMS[one_of("sgm", "fac")(member(value, "mode"))]
        no_others(value, (*readers, "mode"))
    else:
        function, readers = FORMS[name]
        no_others(value, readers)
    if name == "coding_order" and value.get("order") == "raster" and "anchor" not in value:
        readers = {key: readers[key] for key in ("shape", "order")}
    return function, {key: read(member(value, key)) for key, read in readers.items()}


def own_stage_vector(name, value):
    """A line of stage/<name>.jsonl with its `expect` recomputed. `in` and `modes` are written as
    they were read: their readers refuse an integer or bytes that are not canonical."""
    if name not in FORMS and name != "mans_decode":
        raise NotCanonical(f"no stage operator {name}")
    if member(value, "op") != name:
        raise NotCanonical("op is not the file's operator")
    no_others(value, ("expect", "id", "in", "modes", "op"))
    modes = read_modes(name, member(value, "modes"))
    function, operands = read_in(name, member(value, "in"))
    try:
        expect = {key: {"data": found.data, "shape": list(found[:3])}
                  if isinstance(found, Tensor) else found
                  for key, found in function(**operands, **modes).items()}
    except StageRefusal as refusal:
        expect = {"at": refusal.at, "refuse": refusal.code}
    return {"expect": expect, "id": value["id"], "in": value["in"], "modes": value["modes"],
            "op": name}
