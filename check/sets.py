# SPDX-License-Identifier: Apache-2.0
"""The files of parameter sets (payloads.md, sections 2 and 3): networks, bundles, JSON members,
and a set's digest. A fault of framing is `model_mismatch`."""

import hashlib
import json
import os
from math import prod
from types import SimpleNamespace

from canonical import write
from functions import MODEL_MISMATCH, Refusal, fits
from operators import require
from whg1 import Reader

TRANSPOSED, CONVOLUTION, INVERSE_GDN, RELU, LEAKY = range(5)


# Section 2: WHM1 and WAM1

def read_start(data, magic):
    """A reader past the magic, the version and three reserved bytes."""
    reader = Reader(data)
    found, version, reserved = reader.fields("4sB3s")
    require(found == magic and version == 1 and reserved == bytes(3),
            f"not {magic.decode()} version 1, or a reserved byte")
    return reader


def read_layer(reader, audio):
    """One layer. `terms` is the count of section 13.2's predicate: c*k*k, or c*k in WAM1."""
    tag, reserved = reader.fields("B3s")
    require(reserved == bytes(3), "a layer's reserved bytes")
    require(tag in ((TRANSPOSED, INVERSE_GDN) if audio else range(5)), f"a layer of tag {tag}")
    layer = SimpleNamespace(tag=tag)
    if tag in (TRANSPOSED, CONVOLUTION):
        layer.c, layer.out, layer.k, layer.stride, layer.pad = reader.fields("5I")
        layer.opad = reader.fields("I")[0] if tag == TRANSPOSED else 0
        layer.terms = layer.c * layer.k if audio else layer.c * layer.k * layer.k
        layer.weights = reader.integers(2, layer.terms * layer.out)
        layer.mult = reader.integers(8, layer.out)
        layer.bias = reader.integers(8, layer.out)
    elif tag == INVERSE_GDN:
        layer.c, = reader.fields("I")
        layer.out = layer.c
        layer.gamma = reader.integers(4, layer.c * layer.c)
        layer.beta = reader.integers(8, layer.c)
    elif tag == LEAKY:
        layer.slope_q, layer.slope_frac = reader.fields("qI")
        require(layer.slope_frac < 64, "slope_frac")
    return layer


def read_network(data, audio=False):
    """A WHM1 file, or a WAM1 file: section 2, and the load checks of section 13.2."""
    reader = read_start(data, b"WAM1" if audio else b"WHM1")
    net = SimpleNamespace(audio=audio)
    net.afrac, net.gf, net.shift, count = reader.fields("4I")
    require(net.shift < 128 and net.gf < 128, "shift or gf")
    require(1 <= net.afrac <= 30, "afrac")
    require(count >= 1, "no layers")
    net.layers, net.channels, running = [], None, None
    for _ in range(count):
        layer = read_layer(reader, audio)
        if layer.tag in (TRANSPOSED, CONVOLUTION, INVERSE_GDN):
            require(running in (None, layer.c), "a layer does not fit the channels before it")
            net.channels = net.channels if running else layer.c
            running = layer.out
            require(layer.c >= 1 and layer.out >= 1, "a layer without channels")
        net.layers.append(layer)
    require(reader.left() == 0, "bytes after the last layer")
    require(net.channels is not None, "no layer of tag 0, 1 or 2")
    return net


# Section 2: WMB1 and WCB1

def read_bundle(data, magic, count):
    """The networks of a bundle. They and its tables share one afrac (13.4a, 15.2)."""
    reader = read_start(data, magic)
    require(reader.fields("I")[0] == count, "the number of networks")
    nets = [read_network(reader.take(reader.fields("I")[0])) for _ in range(count)]
    afrac = read_entropy(reader.take(reader.fields("I")[0]))["afrac"]
    require(reader.left() == 0, "bytes after the tables")
    require(all(net.afrac == afrac for net in nets), "an afrac that is not the tables'")
    return nets


# JSON members

def read_json(data, unique=True, code=MODEL_MISMATCH):
    """The value of a JSON text. An integer is an int; 1.0, 1e3, true and an integer past i64 are
    not (see `is_integer`). With `unique`, no object has two members of one name."""
    def members(pairs):
        found = dict(pairs)
        if unique and len(found) != len(pairs):
            raise ValueError("an object with two members of one name")
        return found

    def constant(text):
        raise ValueError(f"the constant {text}")

    def number(text):
        return int(text) if len(text) <= 20 else float("inf")  # past i64, whatever it is

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_int=number,
                          parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise Refusal(code, f"not JSON: {error}") from None


def is_integer(value):
    """An integer that fits i64."""
    return type(value) is int and fits(64, value, value)


def are_integers(value):
    return isinstance(value, list) and all(map(is_integer, value))


# Section 3: entropy.json

def read_entropy(data):
    found = read_json(data)
    require(isinstance(found, dict), "entropy.json: not an object")
    require(is_integer(found.get("afrac")), "entropy.json: afrac")
    require(are_integers(found.get("edges")), "entropy.json: edges")
    for key in ("y", "z"):
        tables = found.get(key)
        require(isinstance(tables, list) and all(
            isinstance(table, dict) and are_integers(table.get("cdf"))
            and is_integer(table.get("offset")) for table in tables), f"entropy.json: {key}")
    require(len(found["edges"]) == len(found["y"]), "entropy.json: not one y table an edge")
    return found


# Section 13.1: int_synth.json

PAYLOAD_MALFORMED = "payload_malformed"


def flattened(value, shape):
    """Integers of a shape, flat or nested in its arrays; None where they are neither."""
    if not isinstance(value, list):
        return None
    if are_integers(value):
        return value if len(value) == prod(shape) else None
    if len(shape) < 2 or len(value) != shape[0]:
        return None
    parts = [flattened(item, shape[1:]) for item in value]
    return None if None in parts else [v for part in parts for v in part]


def read_synth(data):
    """The layers of int_synth.json. Every refusal is payload_malformed."""
    def need(condition, why):
        if not condition:
            raise Refusal(PAYLOAD_MALFORMED, why)

    found = read_json(data, code=PAYLOAD_MALFORMED)
    need(isinstance(found, dict) and isinstance(found.get("layers"), list), "no layers")
    need(len(found["layers"]) >= 1, "no layers")
    layers = []
    for value in found["layers"]:
        need(isinstance(value, dict), "a layer that is no object")
        value = {"out_pad": 0, "shift": 0, "relu": False, **value}
        layer = SimpleNamespace(relu=value["relu"])
        for key in ("in_ch", "out_ch", "k", "stride", "pad", "out_pad", "shift"):
            need(is_integer(value.get(key)) and 0 <= value[key] < 2 ** 32, key)
            setattr(layer, key, value[key])
        need(isinstance(layer.relu, bool), "relu")
        need(min(layer.in_ch, layer.out_ch, layer.k, layer.stride) >= 1, "a parameter of 0")
        need(layer.shift <= 127, "shift")
        need(not layers or layers[-1].out_ch == layer.in_ch, "layers that do not chain")
        layer.weight = flattened(value.get("weight"),
                                 [layer.in_ch, layer.out_ch, layer.k, layer.k])
        layer.bias = flattened(value.get("bias"), [layer.out_ch])
        for key in ("weight", "bias"):
            values = getattr(layer, key)
            need(values is not None and all(fits(32, v, v) for v in values), key)
        layers.append(layer)
    return layers


# Section 3: a set's files and digest

def read_files(path):
    """The files of a set: member path -> bytes. A path to a file is a set of one file."""
    if os.path.isfile(path):
        with open(path, "rb") as stream:
            return {os.path.basename(path): stream.read()}
    if not os.path.isdir(path):
        raise FileNotFoundError(f"{path}: no such file or directory")
    files = {}
    for root, _, names in os.walk(path):
        for name in names:
            place = os.path.join(root, name)
            with open(place, "rb") as stream:
                files[os.path.relpath(place, path).replace(os.sep, "/")] = stream.read()
    return files


def set_digest(files):
    """The digest a pin over the set carries."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    if len(digests) == 1:
        return next(iter(digests.values()))
    return hashlib.sha256(write(digests).encode("ascii")).hexdigest()
