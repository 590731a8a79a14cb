# SPDX-License-Identifier: Apache-2.0
"""Section 14: the vector files, recomputed line by line."""

from bounds import bounds_pass
from canonical import (NotCanonical, first_difference, hex_bytes, integers, member, read,
                       write)
from certificate import certificate, verdict
from functions import Refusal
from operators import Tensor, require
from profiles import PROFILES
from run import Sequence
from whg1 import STATE, load


def load_for_decoding(data):
    """Every load check of 10.5, held to acc64: the graph and its verdict."""
    graph = load(data)
    found = verdict(graph, bounds_pass(graph))
    require(found["acc64"], "the verdict does not meet acc64")
    return graph, found


# 14.1 Decodes

def read_tensor(value):
    shape = integers(member(value, "shape"))
    if len(shape) != 3:
        raise NotCanonical("a shape that is not [C, H, W]")
    return Tensor(*shape, integers(member(value, "data")))


def tensor_object(x):
    return {"data": x.data, "shape": [x.channels, x.height, x.width]}


def items(value, key):
    found = member(value, key)
    if not isinstance(found, list):
        raise NotCanonical(f"{key} is no array")
    return found


def check_lengths(inputs):
    """An evaluated decode's tensors hold as many elements as their shapes say."""
    if any(len(x.data) != x.channels * x.area for x in inputs):
        raise NotCanonical("an input's data does not fill its shape")


def decode_object(sequence, value):
    """A decode with its `expect` recomputed."""
    graph = sequence.graph
    inputs = [read_tensor(item) for item in items(value, "inputs")]
    scalars = integers(member(value, "scalars"))
    if len(inputs) != sum(record.kind != STATE for record in graph.inputs):
        raise NotCanonical("not as many inputs as the graph has data inputs")
    if len(scalars) != len(graph.scalars):
        raise NotCanonical("not as many scalars as the graph has")
    try:
        outputs = sequence.decode(inputs, scalars, check_lengths)
        expect = {"outputs": [tensor_object(x) for x in outputs]}
    except Refusal as refusal:
        expect = {"refuse": refusal.code}
    return {"expect": expect, "inputs": [tensor_object(x) for x in inputs], "scalars": scalars}


# 14.1 and 14.2 Vectors

def own_vector(value):
    """A vector with `load`, `profiles` and every `expect` recomputed; and its graph's verdict,
    None when it does not load."""
    data = hex_bytes(member(value, "graph"))
    vector = {"decodes": [], "graph": data.hex(), "id": member(value, "id"),
              "load": "ok", "profiles": list(PROFILES)}
    try:
        graph, found = load_for_decoding(data)
    except Refusal as refusal:
        vector["load"] = refusal.code
        return vector, None, None
    vector["profiles"] = [p for p in PROFILES if found[p]]
    sequence = Sequence(graph)
    vector["decodes"] = [decode_object(sequence, item) for item in items(value, "decodes")]
    return vector, found, graph


# 14.3 Certificates of graphs certified alone

def own_certificate(value):
    data = hex_bytes(member(value, "graph"))
    try:
        found = certificate(load(data))
    except Refusal as refusal:
        raise NotCanonical(f"the graph has no certificate: {refusal}") from None
    return {"certificate": found, "graph": data.hex(), "id": member(value, "id")}


# 14.5 The accelerator subset's vectors

def npu_object(file, vector_id, found):
    return {"file": file, "id": vector_id, "npu": found["npu"], "npu_flags": found["npu_flags"],
            "npu_reasons": found["npu_reasons"]}


# 14.1 Files

def lines_of(data):
    """The lines of a JSON Lines file, and whether the last one ends with a line feed."""
    lines = data.split(b"\n")
    return (lines[:-1], True) if lines[-1] == b"" else (lines, False)


def compare(line, own):
    """What differs between a line and its recomputation: a sentence, or ''."""
    text = write(own).encode("ascii")
    if text == line:
        return ""
    found = first_difference(read(line), read(text))
    return found or "the line is not canonical JSON"


def check_id(value, seen):
    name = member(value, "id")
    if not isinstance(name, str):
        raise NotCanonical("id is no string")
    write(name)  # refuses a string outside printable ASCII
    if name in seen:
        raise NotCanonical("id occurs twice in the file")
    seen.add(name)
    return name
