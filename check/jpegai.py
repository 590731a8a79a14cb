# SPDX-License-Identifier: Apache-2.0
"""Section 13.6: the integer stages of wai.image.jpegai, lowered (jpegai-int/1).

A `Net` is a weight file beside the graph being written: its methods are 13.6.2's blocks, each
reading a tensor and giving the one it ends with.
"""

from math import prod

from functions import HALF_UP
from operators import require
from sets import are_integers, is_integer, read_json
from writer import (A32, Graph, check, clamp, clamped, conv, conv_transpose, pack, packed, rq,
                    smallest)

ONE = 2 ** 16  # Q16
SUB_LATTICES = bytes([0, 3, 1, 2])  # (0,0), (1,1), (0,1), (1,0), each 2a + b
WEIGHT_WIDTHS = (1, 2, 4, 8)


# 13.6.1 Load checks

def read_object(data, name, unique):
    found = read_json(data, unique)
    require(isinstance(found, dict), f"{name} is no object")
    return found


def is_byte(v):
    return is_integer(v) and 0 <= v <= 255


def check_norm(norm):
    """The members of norm.json that 13.6.1 reads."""
    pmf, bounds = norm.get("pmf"), norm.get("bounds")
    require(isinstance(pmf, list) and len(pmf) >= 32 and all(map(are_integers, pmf)), "pmf")
    require(all(len(row) == len(pmf[0]) >= 1 and min(row) >= 0 and sum(row) == 256
                for row in pmf), "pmf: a row")
    require(isinstance(bounds, list) and len(bounds) >= 32 and all(map(is_byte, bounds)),
            "bounds")
    require(is_integer(norm.get("per_channel")) and norm["per_channel"] == 16, "per_channel")
    for plane, channels in (("y", 160), ("uv", 96)):
        cdfs, gain = norm.get(f"cdfs_{plane}"), norm.get(f"gain_{plane}")
        require(isinstance(cdfs, list) and len(cdfs) == channels * 63
                and all(map(is_byte, cdfs)), f"cdfs_{plane}")
        require(all(cdfs[k] <= cdfs[k + 1] for k in range(len(cdfs) - 1) if k % 63 != 62),
                f"cdfs_{plane}: a row that decreases")
        require(are_integers(gain) and len(gain) == channels, f"gain_{plane}")


def scale_member(file, name, shape):
    """A member of Table 13.6-A. A None in `shape` takes the member's own size."""
    found = file.get(name)
    require(isinstance(found, dict), f"{name}: not there")
    dims, v = found.get("dims"), found.get("v")
    require(are_integers(dims) and len(dims) == len(shape)
            and all(d >= 1 and s in (None, d) for d, s in zip(dims, shape)), f"{name}: dims")
    require(are_integers(v) and len(v) == prod(dims), f"{name}: v")
    return v, dims[0]


# 13.6.1 The scale graph

def scale_graph(file, gain, cz):
    graph = Graph()
    x = graph.input(cz, check(-31, 32), (4, 4))
    channels = cz
    for name, shifts, k in (("conv1", "onnx::Pow_85", 1), ("depthwise", "onnx::Pow_91", 3),
                            ("pointwise", "onnx::Pow_97", 1)):
        cout = 16 * cz if name == "pointwise" else None
        weights, cout = scale_member(file, f"{name}.weight", [cout, channels, k, k])
        bias, _ = scale_member(file, f"{name}.bias", [cout])
        shift, _ = scale_member(file, shifts, [1, cout, 1, 1])
        require(all(0 <= s <= 127 for s in shift), f"{shifts}: a shift")
        if name != "conv1":
            x = graph.op("relu", [x], channels)
        x = graph.op("clamp", [x], channels, clamp(-128, 127))
        parameters = conv(cout, k, 1, k // 2, 1, weights, smallest(weights, WEIGHT_WIDTHS),
                          rq(shift, pre=bias))
        x = graph.op("conv", [x], cout, parameters)
        channels = cout
    x = graph.op("pixel_shuffle", [x], cz, pack("I", 4))
    x = graph.op("abs", [x], cz)
    x = graph.op("clamp", [x], cz, clamp(0, 3967))
    return graph.bytes(graph.op("rescale", [x], cz, rq(0, pre=gain)))


# 13.6.2 The members

def check_members(file, name):
    for key, found in file.items():
        kind = found.get("kind") if isinstance(found, dict) else None
        if kind == "conv":
            dims, w = found.get("dims"), found.get("w")
            require(are_integers(dims) and all(d >= 0 for d in dims), f"{name}: {key}: dims")
            require(are_integers(w) and len(w) == prod(dims), f"{name}: {key}: w")
            require(is_integer(found.get("mult")), f"{name}: {key}: mult")
            require(is_integer(found.get("shift")) and 0 <= found["shift"] <= 127,
                    f"{name}: {key}: shift")
        elif kind == "q16":
            require(are_integers(found.get("v")), f"{name}: {key}: v")


class Net:
    """A weight file whose members are checked, and the graph it appends to."""

    def __init__(self, graph, data, name):
        self.graph, self.name = graph, name
        self.file = read_object(data, name, unique=True)
        check_members(self.file, name)

    def need(self, condition, what):
        require(condition, f"{self.name}: {what}")

    def kind(self, key):
        found = self.file.get(key)
        kind = found.get("kind") if isinstance(found, dict) else None
        return kind if kind in ("conv", "q16") else None

    def conv_member(self, m):
        self.need(self.kind(f"{m}.weight") == "conv", f"{m}.weight")
        return self.file[f"{m}.weight"]

    def q16(self, key, count):
        """The values of a member of kind q16."""
        self.need(self.kind(key) == "q16", key)
        values = self.file[key]["v"]
        self.need(len(values) == count, f"{key}: the number of its values")
        return values

    def bias(self, m, cout):
        return self.q16(f"{m}.bias", cout) if self.kind(f"{m}.bias") else ()

    def op(self, name, ins, channels=None, parameters=b"", policy=None):
        """An operator; its output has its first input's channels where none are given."""
        channels = self.graph.channels[ins[0]] if channels is None else channels
        return self.graph.op(name, ins, channels, parameters, policy)

    def channels(self, x):
        return self.graph.channels[x]

    # The blocks

    def C(self, x, m, k, s, p, g, shift=None, cout=None):
        """`g` is a number, or "dw". `cout` is what it MUST be, where the text says."""
        c, weight = self.channels(x), self.conv_member(m)
        dims = weight["dims"]
        groups = c if g == "dw" else g
        self.need(len(dims) == 4 and dims[0] >= 1, f"{m}: dims")
        self.need(c % groups == 0 and dims[0] % groups == 0, f"{m}: no multiple of its groups")
        self.need(dims[1:] == [c // groups, k, k], f"{m}: dims")
        self.need(g != "dw" or dims[0] == c, f"{m}: cout")
        self.need(cout in (None, dims[0]), f"{m}: cout")
        block = rq(weight["shift"] if shift is None else shift, weight["mult"],
                   post=self.bias(m, dims[0]))
        parameters = conv(dims[0], k, s, p, groups, weight["w"],
                          smallest(weight["w"], WEIGHT_WIDTHS), block)
        return self.op("conv", [x], dims[0], parameters, A32)

    def T(self, x, m, k, op, cout=None):
        c, weight = self.channels(x), self.conv_member(m)
        dims = weight["dims"]
        self.need(len(dims) == 4 and dims[1] >= 1 and [dims[0], *dims[2:]] == [c, k, k],
                  f"{m}: dims")
        self.need(cout in (None, dims[1]), f"{m}: cout")
        block = rq(weight["shift"], weight["mult"], post=self.bias(m, dims[1]))
        parameters = conv_transpose(dims[1], (k, k), (2, 2), (1, 1), (op, op), weight["w"],
                                    smallest(weight["w"], WEIGHT_WIDTHS), block)
        return self.op("conv_transpose", [x], dims[1], parameters, A32)

    def add(self, x, y):
        self.need(self.channels(x) == self.channels(y), "an add of two channel counts")
        return self.op("add", [x, y], policy=A32)

    def mul(self, x, y):
        self.need(self.channels(x) == self.channels(y), "a mul of two channel counts")
        return self.op("mul", [x, y], parameters=rq(16), policy=A32)

    def relu(self, x):
        return self.op("relu", [x])

    def relu6(self, x):
        return self.op("clamp", [x], parameters=clamp(0, 6 * ONE))

    def R(self, x, m):
        y = self.C(x, f"{m}.conv1", 3, 1, 1, 1)
        y = self.C(self.relu(y), f"{m}.conv2", 3, 1, 1, 1)
        return self.add(x, y)

    def G(self, x, m):
        y = self.C(self.relu6(x), f"{m}.conv", 3, 1, 1, 4)
        y = self.C(y, f"{m}.conv2", 1, 1, 0, 1)
        y = self.op("rescale", [y], parameters=rq(0, post=[ONE] * self.channels(y)), policy=A32)
        return self.mul(x, y)

    def CAB(self, x):
        t = self.R(self.R(x, "CAB.residual_trunk.0"), "CAB.residual_trunk.1")
        s = self.C(x, "CAB.subscale", 3, 2, 1, 1)
        s = self.R(self.R(s, "CAB.residual_mask2.0"), "CAB.residual_mask3.0")
        s = self.op("sigmoid", [self.T(s, "CAB.upscale", 3, 1)])
        return self.add(x, self.mul(t, s))

    def D(self, x):
        post = [127 * ONE + 2 ** 15] * self.channels(x)
        return self.op("rescale", [x], parameters=rq(0, 128, post=post),
                       policy=clamped(0, 255 * ONE))

    def split(self, x, start, count):
        return self.op("split", [x], count, pack("II", start, count))

    def layernorm_c(self, x, m):
        c = self.channels(x)
        gamma, beta = self.q16(f"{m}.weight", c), self.q16(f"{m}.bias", c)
        width = smallest(gamma, (4, 8))
        parameters = pack("QB7x", 42949, width) + packed(gamma, width) + packed(beta, 8)
        return self.op("layernorm_c", [x], parameters=parameters, policy=A32)

    def TAB(self, x, m):
        return self.feed_forward(self.attention(x, m), m)

    def attention(self, x, m):
        """Steps 1 to 8."""
        c = self.channels(x)
        self.need(c % 4 == 0, f"{m}: channels are no multiple of 4")
        shift = self.conv_member(f"{m}.prep_data.conv1")["shift"]
        y = self.layernorm_c(x, f"{m}.prep_data.norm1")
        y = self.C(y, f"{m}.prep_data.conv1", 1, 1, 0, 1, shift, cout=3 * c)
        y = self.C(y, f"{m}.prep_data.conv2", 3, 1, 1, "dw", shift)
        q, k, v = (self.split(y, i * c, c) for i in range(3))
        q, k = (self.op("l2norm", [each], parameters=pack("Q", 42949)) for each in (q, k))
        contraction = pack("I", 4) + rq(16, rounding=HALF_UP)
        y = self.op("gram", [q, k], parameters=contraction, policy=A32)
        temperature = self.q16(f"{m}.attn.temperature", 4)
        scale = [temperature[i // (c // 4)] for i in range(c)]
        y = self.op("rescale", [y], parameters=rq(16, scale, rounding=HALF_UP), policy=A32)
        y = self.op("softmax", [y])
        y = self.op("apply", [y, v], parameters=contraction, policy=A32)
        return self.add(x, self.C(y, f"{m}.attn.project_out", 1, 1, 0, 1, shift))

    def feed_forward(self, x, m):
        """Steps 9 to 13."""
        shift = self.conv_member(f"{m}.ffn.project_in")["shift"]
        y = self.layernorm_c(x, f"{m}.ffn.norm1")
        y = self.C(y, f"{m}.ffn.project_in", 1, 1, 0, 1, shift)
        self.need(self.channels(y) % 2 == 0, f"{m}.ffn.project_in: an odd cout")
        h = self.channels(y) // 2
        y = self.C(y, f"{m}.ffn.dwconv", 3, 1, 1, "dw", shift)
        a, b = self.split(y, 0, h), self.split(y, h, h)
        y = self.mul(self.op("elu", [a], parameters=pack("q", ONE)), b)
        return self.add(x, self.C(y, f"{m}.ffn.project_out", 1, 1, 0, 1, shift))

    def pixel_shuffle(self, x):
        self.need(self.channels(x) % 4 == 0, "pixel_shuffle: channels are no multiple of 4")
        return self.op("pixel_shuffle", [x], self.channels(x) // 4, pack("I", 2))

    def subpos_merge(self, parts):
        return self.op("subpos_merge", parts, parameters=SUB_LATTICES)


# 13.6.2 The graphs

def hyper_decoder(net, z, c):
    x = net.op("rescale", [z], parameters=rq(0, ONE))
    x = net.T(net.C(x, "conv1", 1, 1, 0, 1), "conv2", 4, 0)
    x = net.C(net.relu6(x), "conv3", 3, 1, 1, 1)
    return net.C(net.relu6(x), "conv4", 3, 1, 1, 1, cout=4 * c)


def rec_inputs(graph, c):
    return graph.input(c, check(-31, 32), (4, 4)), graph.input(c, A32, (16, 16))


def rec_uv(hyp):
    graph, c = Graph(), 96
    z, r = rec_inputs(graph, c)
    net = Net(graph, hyp, "hyp_uv.json")
    psi = hyper_decoder(net, z, c)
    merged = net.subpos_merge([net.split(psi, i * c, c) for i in range(4)])
    return graph.bytes(net.add(r, merged))


def rec_y(hyp, contexts):
    graph, c = Graph(), 160
    z, r = rec_inputs(graph, c)
    net = Net(graph, hyp, "hyp_y.json")
    psi = hyper_decoder(net, z, c)
    parts = net.op("subpos_split", [r], [c] * 4, SUB_LATTICES)
    done = []
    for i, data in enumerate(contexts):
        net = Net(graph, data, f"mcm{i}_y.json")
        done.append(context_stage(net, psi, parts[i], done, c))
    return graph.bytes(net.subpos_merge(done))


def context_stage(net, psi, r, done, c):
    """Context stage i, after the stages that gave `done`: y_i."""
    f = net.split(psi, len(done) * c, c)
    if done:
        context = net.op("concat", done, c * len(done)) if len(done) > 1 else done[0]
        x = net.C(net.C(context, "conv.0", 1, 1, 0, 1), "conv.1", 3, 1, 1, 5)
        f = net.op("concat", [x, f], net.channels(x) + c)
    x = net.relu(net.C(f, "fusion_pred_net.conv1", 1, 1, 0, 1))
    x = net.relu(net.C(x, "fusion_pred_net.conv2", 1, 1, 0, 1))
    return net.add(r, net.C(x, "fusion_pred_net.conv3", 1, 1, 0, 1, cout=c))


def syn_y(data):
    graph = Graph()
    x = graph.input(160, A32, (16, 16))
    net = Net(graph, data, "synth_y.json")
    x = net.T(net.R(x, "first_stage.0.0"), "first_stage.1", 3, 1)
    x = net.T(net.G(x, "first_stage.2"), "conv2_t", 3, 1)
    x = net.G(net.CAB(x), "iact2")
    x = net.pixel_shuffle(net.C(x, "conv3_t", 1, 1, 0, 1))
    x = net.C(x, "TAM.ds_conv", 3, 2, 1, 1)
    x = net.TAB(net.TAB(x, "TAM.TABs.0"), "TAM.TABs.1")
    x = net.G(net.T(x, "TAM.us_conv", 3, 1), "iact3")
    return graph.bytes(net.D(net.T(x, "conv4_t", 3, 1, cout=1)))


def syn_uv(data):
    graph = Graph()
    luma, chroma = graph.input(160, A32, (16, 16)), graph.input(96, A32, (16, 16))
    net = Net(graph, data, "synth_uv.json")
    x = net.op("concat", [luma, chroma], 256)
    x = net.C(x, "first_stage.conv1", 3, 1, 1, 1)
    x = net.op("concat", [x, chroma], net.channels(x) + 96)
    x = net.CAB(net.T(x, "conv2_t", 3, 1))
    x = net.pixel_shuffle(net.C(net.G(x, "iact2"), "conv3_t", 1, 1, 0, 1))
    x = net.TAB(net.TAB(x, "TAM.TABs.0"), "TAM.TABs.1")
    x = net.T(net.G(x, "iact3"), "conv4_t", 3, 1, cout=8)
    return graph.bytes(net.D(net.pixel_shuffle(x)))


MEMBERS = ("norm.json", *(f"weights/{name}.json" for name in (
    "hs_y", "hs_uv", "hyp_y", "mcm0_y", "mcm1_y", "mcm2_y", "mcm3_y", "hyp_uv", "synth_y",
    "synth_uv")))


def lower(norm, hs_y, hs_uv, hyp_y, mcm0, mcm1, mcm2, mcm3, hyp_uv, synth_y, synth_uv):
    norm = read_object(norm, "norm.json", unique=False)
    check_norm(norm)
    hs_y = read_object(hs_y, "hs_y.json", unique=False)
    hs_uv = read_object(hs_uv, "hs_uv.json", unique=False)
    return [("hs_y", scale_graph(hs_y, norm["gain_y"], 160)),
            ("hs_uv", scale_graph(hs_uv, norm["gain_uv"], 96)),
            ("rec_y", rec_y(hyp_y, (mcm0, mcm1, mcm2, mcm3))), ("rec_uv", rec_uv(hyp_uv)),
            ("syn_y", syn_y(synth_y)), ("syn_uv", syn_uv(synth_uv))]
