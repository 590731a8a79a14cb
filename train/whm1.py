# SPDX-License-Identifier: Apache-2.0
"""WHM1 network files and entropy.json: writer and reader."""
import hashlib
import json
import struct
from dataclasses import dataclass, field

import numpy as np

CONV_T, CONV, IGDN, RELU, LEAKY = range(5)


@dataclass
class Layer:
    """One layer; only the fields of its tag are set."""
    tag: int
    c: int = 0
    out: int = 0
    k: int = 0
    stride: int = 1
    pad: int = 0
    opad: int = 0
    weight: np.ndarray = None  # int16, [c][out][k][k] for tag 0, [out][c][k][k] for tag 1
    mult: np.ndarray = None    # int64 [out]
    bias: np.ndarray = None    # int64 [out]
    gamma: np.ndarray = None   # int32 [c][c]
    beta: np.ndarray = None    # int64 [c]
    slope_q: int = 0
    slope_frac: int = 0


@dataclass
class Network:
    afrac: int
    shift: int
    gf: int = 0
    layers: list = field(default_factory=list)


def _layer_bytes(layer):
    head = struct.pack("<B3x", layer.tag)
    if layer.tag in (CONV_T, CONV):
        sizes = [layer.c, layer.out, layer.k, layer.stride, layer.pad]
        sizes += [layer.opad] if layer.tag == CONV_T else []
        return (head + struct.pack(f"<{len(sizes)}I", *sizes) + layer.weight.astype("<i2").tobytes()
                + layer.mult.astype("<i8").tobytes() + layer.bias.astype("<i8").tobytes())
    if layer.tag == IGDN:
        return (head + struct.pack("<I", layer.c) + layer.gamma.astype("<i4").tobytes()
                + layer.beta.astype("<i8").tobytes())
    if layer.tag == LEAKY:
        return head + struct.pack("<qI", layer.slope_q, layer.slope_frac)
    return head


def network_bytes(network):
    head = b"WHM1" + struct.pack("<B3x4I", 1, network.afrac, network.gf, network.shift,
                                 len(network.layers))
    return head + b"".join(_layer_bytes(layer) for layer in network.layers)


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def array(self, kind, *shape):
        count = int(np.prod(shape))
        values = np.frombuffer(self.data, kind, count, self.at).reshape(shape)
        self.at += values.nbytes
        return values


def _read_layer(reader):
    tag, = reader.take("<B3x")
    layer = Layer(tag)
    if tag in (CONV_T, CONV):
        layer.c, layer.out, layer.k, layer.stride, layer.pad = reader.take("<5I")
        if tag == CONV_T:
            layer.opad, = reader.take("<I")
        planes = (layer.c, layer.out) if tag == CONV_T else (layer.out, layer.c)
        layer.weight = reader.array("<i2", *planes, layer.k, layer.k)
        layer.mult = reader.array("<i8", layer.out)
        layer.bias = reader.array("<i8", layer.out)
    elif tag == IGDN:
        layer.c, = reader.take("<I")
        layer.gamma = reader.array("<i4", layer.c, layer.c)
        layer.beta = reader.array("<i8", layer.c)
    elif tag == LEAKY:
        layer.slope_q, layer.slope_frac = reader.take("<qI")
    elif tag != RELU:
        raise ValueError(f"unknown tag {tag}")
    return layer


def read_network(data):
    reader = _Reader(data)
    magic, version, afrac, gf, shift, count = reader.take("<4sB3x4I")
    if magic != b"WHM1" or version != 1:
        raise ValueError("not a WHM1 file of version 1")
    network = Network(afrac, shift, gf, [_read_layer(reader) for _ in range(count)])
    if reader.at != len(data):
        raise ValueError("bytes after the last layer")
    return network


def entropy_json(afrac, edges, y_tables, z_tables):
    """The bytes of entropy.json; a table is (cdf, offset)."""
    def rows(tables):
        return [{"cdf": [int(v) for v in cdf], "offset": int(offset)} for cdf, offset in tables]
    value = {"afrac": afrac, "edges": [int(e) for e in edges], "y": rows(y_tables),
             "z": rows(z_tables)}
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def read_entropy(data):
    value = json.loads(data)
    tables = {key: [(t["cdf"], t["offset"]) for t in value[key]] for key in ("y", "z")}
    for cdf, _ in tables["y"] + tables["z"]:
        steps = np.diff(cdf)
        if not (3 <= len(cdf) <= 4097 and cdf[0] == 0 and cdf[-1] == 65536 and steps.min() > 0):
            raise ValueError("a table breaks the rule t4097")
    return value["afrac"], value["edges"], tables["y"], tables["z"]


def set_digest(members):
    """SHA-256 of the canonical listing of a set: member path to the SHA-256 of its bytes."""
    listing = {path: hashlib.sha256(data).hexdigest() for path, data in members.items()}
    text = json.dumps(listing, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
