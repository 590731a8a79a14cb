# SPDX-License-Identifier: Apache-2.0
"""Section 13: the lowerings of the registered forms to WHG1 graphs.

A lowering takes the set's members, in the order of its row in the table at the end, and gives
pairs (role, the graph's bytes) in the order of section 13.0.
"""

from math import isqrt

import jpegai
from bounds import bounds_pass
from certificate import set_certificate, set_failure
from functions import CAP, HALF_UP, I64_MAX, I64_MIN, Refusal
from operators import require
from sets import (CONVOLUTION, INVERSE_GDN, LEAKY, PAYLOAD_MALFORMED, RELU, TRANSPOSED,
                  read_bundle, read_entropy, read_network, read_synth, set_digest)
from whg1 import DATA, load
from writer import Graph, check, clamp, conv, conv_transpose, pack, packed, rq

I128_MAX = 2 ** 127 - 1
ANY = check(I64_MIN, I64_MAX)


# 13.1 int_synth/1

def int_synth(data):
    layers, graph = read_synth(data), Graph()
    x = graph.input(layers[0].in_ch, check(-128, 127))
    for p in layers:
        block = rq(p.shift, pre=p.bias, b_bytes=4)
        parameters = conv_transpose(p.out_ch, (p.k, p.k), (p.stride, p.stride), (p.pad, p.pad),
                                    (p.out_pad, p.out_pad), p.weight, 4, block)
        x = graph.op("conv_transpose", [x], p.out_ch, parameters)
        if p.relu:
            x = graph.op("relu", [x], p.out_ch)
    x = graph.op("clamp", [x], layers[-1].out_ch, clamp(0, 255))
    return [("synth", graph.bytes(x))]


# 13.2 Range checks

def largest(holds, top=2 ** 63):
    """The largest X in [0, top] for which a predicate that is monotone holds, or None."""
    if not holds(0):
        return None
    lo, hi = 0, top + 1  # holds(lo), and hi is past the interval or does not hold
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if holds(middle) else (lo, middle)
    return lo


def magnitude(values):
    return max(map(abs, values), default=0)


def predicate(net, layer):
    """P of section 13.2's table, for a layer of tag 0, 1, 2 or 4."""
    if layer.tag == LEAKY:
        return lambda x: x * abs(layer.slope_q) <= I64_MAX
    if layer.tag == INVERSE_GDN:
        g, bb = magnitude(layer.gamma), magnitude(layer.beta)

        def holds(x):
            n = bb + layer.c * ((g * x * x >> net.gf) + 1)
            r = isqrt(n)
            return (g * x * x <= I128_MAX and n <= I128_MAX and r <= I64_MAX
                    and (x * r >> net.afrac) + 1 <= I64_MAX)
        return holds
    wm, mm, bm = magnitude(layer.weights), magnitude(layer.mult), magnitude(layer.bias)

    def holds(x):
        acc = layer.terms * wm * x
        return acc <= I64_MAX and (acc * mm >> net.shift) + 1 + bm <= I64_MAX
    return holds


def range_check(net, layer):
    """The policy of the tensor that a layer reads: None where it is derived."""
    if layer.tag == RELU:
        return None
    x = largest(predicate(net, layer))
    require(x is not None, "a layer's predicate fails at 0")
    return check(-x, min(x, I64_MAX))


# 13.2 and 13.3, the layers

def layer_operator(net, layer, channels):
    """The operator of a layer, its parameters and its output's channels."""
    if layer.tag == RELU:
        return "relu", b"", channels
    if layer.tag == LEAKY:
        return "leaky", pack("qI", layer.slope_q, layer.slope_frac), channels
    if layer.tag == INVERSE_GDN:
        parameters = (pack("IIB7x", net.gf, net.afrac, 4) + packed(layer.gamma, 4)
                      + packed(layer.beta, 8))
        return "igdn", parameters, channels
    block = rq(net.shift, list(layer.mult), 8, post=layer.bias, b_bytes=8)
    k, s, p, more = layer.k, layer.stride, layer.pad, layer.opad
    if layer.tag == CONVOLUTION:
        return "conv", conv(layer.out, k, s, p, 1, layer.weights, 2, block), layer.out
    assert layer.tag == TRANSPOSED
    sides = (1, 1, 0, 0) if net.audio else (k, s, p, more)
    pairs = zip(sides, (k, s, p, more))
    return "conv_transpose", conv_transpose(layer.out, *pairs, layer.weights, 2, block), layer.out


def network_policies(net):
    """The policies of x_0 ... x_L. The network's input is never derived."""
    policies = [range_check(net, layer) for layer in net.layers] + [None]
    policies[0] = policies[0] or ANY
    return policies


def append_layers(graph, net, x, policies):
    for layer, policy in zip(net.layers, policies[1:]):
        name, parameters, channels = layer_operator(net, layer, graph.channels[x])
        x = graph.op(name, [x], channels, parameters, policy)
    return x


def append_rgb8(graph, net, x):
    """The RGB8 step of 13.0."""
    channels = graph.channels[x]
    x = graph.op("clamp", [x], channels, clamp(0, 2 ** net.afrac))
    return graph.op("rescale", [x], channels, rq(net.afrac, 255, 4, rounding=HALF_UP))


def append_pcm(graph, net, x):
    """The PCM step of 13.3."""
    channels = graph.channels[x]
    operands = b"".join(pack("B3xI", *o) for o in ((0, 0), (0, 0), (0, 1), (1, 0)))
    policy = check(-(2 ** 63 // 32767), (I64_MAX - 2 ** (net.afrac - 1)) // 32767)
    x = graph.op("crop", [x], channels, operands, policy)
    x = graph.op("rescale", [x], channels, rq(net.afrac, 32767, 4, rounding=HALF_UP))
    return graph.op("clamp", [x], channels, clamp(-32768, 32767))


def network_graph(net, step=None):
    """A network as one graph, with a step after its last layer."""
    graph, policies = Graph(), network_policies(net)
    if step is append_pcm:
        graph.scalar(1, CAP)
    x = append_layers(graph, net, graph.input(net.channels, policies[0]), policies)
    return graph.bytes(step(graph, net, x) if step else x)


# 13.2 whm1/1, 13.3 wam1/1, 13.4 wmb1/1, 13.4a wcb1/1

def int_hyper(h_s, g_s, entropy):
    read_entropy(entropy)  # the stage operators' data: not lowered
    return [("h_s", network_graph(read_network(h_s))),
            ("g_s", network_graph(read_network(g_s), append_rgb8))]


def splat(g_s):
    return [("g_s", network_graph(read_network(g_s), append_rgb8))]


def audio(g_s):
    return [("g_s", network_graph(read_network(g_s, audio=True), append_pcm))]


def bundle(data, magic, roles):
    """A bundle's networks; the last has the RGB8 step."""
    nets = read_bundle(data, magic, len(roles))
    return [(role, network_graph(net, append_rgb8 if role == roles[-1] else None))
            for role, net in zip(roles, nets)]


def mlicpp(data):
    return bundle(data, b"WMB1", ("h_s", "entropy", "g_s"))


def int_cond(data):
    return bundle(data, b"WCB1", ("ctx", "prior", "dec", "recon"))


# 13.5 world/1

def transition_graph(net, channels):
    """The graph T, over a latent of that many channels."""
    planes = net.channels - channels
    require(planes >= 1, "no action plane")
    graph, policies = Graph(), network_policies(net)
    for _ in range(planes):
        graph.scalar(I64_MIN, I64_MAX)
    z = graph.input(channels, ANY)
    fills = [graph.op("fill", [z], 1, pack("B7xq", 1, a)) for a in range(planes)]
    x = graph.op("concat", [z, *fills], net.channels, policy=policies[0])
    x = append_layers(graph, net, x, policies)
    top = 2 ** net.afrac
    return graph.bytes(graph.op("clamp", [x], graph.channels[x], clamp(-top, top)))


def world(transition, synthesis):
    t, g_s = read_network(transition), read_network(synthesis)
    require(t.afrac == g_s.afrac, "two afracs")
    return [("T", transition_graph(t, g_s.channels)), ("g_s", network_graph(g_s, append_rgb8))]


# 13.7 sr2/1, and wcp1/1: graphs that a prior or a payload carries, as they are

SR2_OPERATORS = {"rescale", "conv", "clamp", "pixel_shuffle", "add"}


def sr2(data):
    """What 13.7 says of the one graph of sr2/1. Its derivation is exact-upscale's, section 3.4."""
    graph = load(data)
    require(len(graph.inputs) == 2 and all(r.kind == DATA for r in graph.inputs),
            "sr2/1: not two data inputs")
    require({node.op.name for node in graph.nodes} <= SR2_OPERATORS, "sr2/1: an operator")
    return [("graph", data)]


def wcp1(data):
    """One graph that the payload carries (payloads.md, section 5)."""
    return [("graph", data)]


# The capabilities

HYPER = ("h_s.whm", "g_s.whm", "entropy.json")
REGISTERED = {  # capability: (lowering, function, the set's members; None: a set of one file)
    "wai.neural.int_synth": ("int_synth/1", int_synth, None),
    "wai.neural.int_hyper": ("whm1/1", int_hyper, HYPER),
    "wai.video.int_hyper": ("whm1/1", int_hyper, HYPER),
    "wai.video.int_hyper.frame": ("whm1/1", int_hyper, HYPER),
    "wai.audio.int_codec": ("wam1/1", audio, None),
    "wai.splat.int_codec": ("whm1/1", splat, None),
    "wai.neural.int_mlicpp": ("wmb1/1", mlicpp, None),
    "wai.video.int_cond": ("wcb1/1", int_cond, None),
    "wai.video.int_cond.frame": ("wcb1/1", int_cond, None),
    "wai.world.model": ("world/1", world, ("T.whm", "g_s.whm")),
    "wai.image.jpegai": ("jpegai-int/1", jpegai.lower, jpegai.MEMBERS),
    "wai.image.int_cond_refine": ("wcp1/1", wcp1, None),
    "sr2/1": ("sr2/1", sr2, None),  # no capability (13.7): the lowering's own name
}
ROLE_PROFILES = {"wai.image.jpegai": {"hs_y": "acc32", "hs_uv": "acc32"}}  # section 11


class Lowered:
    """A set's graphs, its digest and its certificate."""

    def __init__(self, capability, files):
        self.capability = capability
        self.lowering, pairs, members = lowered_pairs(capability, files)
        self.graphs = [(role, load(data)) for role, data in pairs]
        self.digest = set_digest(members)
        self.found = [(role, graph, bounds_pass(graph)) for role, graph in self.graphs]

    def refusal(self):
        """Why the set is refused although it has a certificate (section 11), or ''."""
        if set_failure(self.found, "acc64"):
            return "the certificate does not meet acc64"
        for role, graph, bounds in self.found:
            profile = ROLE_PROFILES.get(self.capability, {}).get(role)
            if profile and set_failure([(role, graph, bounds)], profile):
                return f"{role} does not meet {profile}"
        return ""

    def certificate(self):
        capability = None if self.capability == self.lowering else self.capability
        return set_certificate(self.graphs, capability, self.lowering, self.digest)


def lowered_pairs(capability, files):
    """The lowering, its pairs (role, bytes) and the set's members. A capability that the table
    does not have carries its graphs, `<role>.whg1`: as they are, in file order."""
    if capability in REGISTERED:
        lowering, function, names = REGISTERED[capability]
        require(names or len(files) == 1, "not a set of one file")
        names = names or list(files)
    else:
        lowering = "whg1"
        names = sorted(name for name in files if name.endswith(".whg1"))
        require(names, "the set carries no graph")
    for name in names:
        require(name in files, f"the set has no {name}")
    members = {name: files[name] for name in names}
    if lowering == "whg1":
        return lowering, [(name[:-len(".whg1")], data) for name, data in members.items()], members
    return lowering, function(*members.values()), members


def lower(capability, files):
    """The set, lowered, loaded and certified. int_synth reports one code (section 4)."""
    try:
        return Lowered(capability, files)
    except Refusal as refusal:
        if capability == "wai.neural.int_synth":
            raise Refusal(PAYLOAD_MALFORMED, str(refusal)) from None
        raise
