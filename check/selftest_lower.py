# SPDX-License-Identifier: Apache-2.0
"""Tests of the lowerings, of capabilities' certificates and of admissible ranges: small sets
written here, and values computed by hand from sections 8.4 and 13."""

import contextlib
import hashlib
import io
import json
import os
import random
import struct
import tempfile
import unittest

import canonical
import check
import jpegai
import selftest
from admissible import admissible_range
from functions import FIELD_RANGE, I64_MAX, I64_MIN, MODEL_MISMATCH, Refusal
from lower import largest, lower, predicate
from operators import Tensor
from run import Sequence
from selftest import Builder, conv, one_input, rq
from sets import PAYLOAD_MALFORMED, read_network
from whg1 import CHECK, DERIVED, load

# Writers of section 2's network files

def layer(tag, form="", *values):
    return struct.pack("<B3x" + form, tag, *values)


def convolution(c, out, k, weights, mult, bias, stride=1, pad=0):
    return layer(1, f"5I{len(weights)}h{2 * out}q", c, out, k, stride, pad, *weights, *mult, *bias)


def gdn(c, gamma, beta):
    return layer(2, f"I{c * c}i{c}q", c, *gamma, *beta)


RELU = layer(3)


def leaky(slope_q, slope_frac):
    return layer(4, "qI", slope_q, slope_frac)


def network(*layers, afrac=8, gf=4, shift=0, magic=b"WHM1"):
    return magic + struct.pack("<B3x4I", 1, afrac, gf, shift, len(layers)) + b"".join(layers)


def bundle(magic, *nets, entropy):
    parts = [struct.pack("<I", len(data)) + data for data in (*nets, entropy)]
    return magic + struct.pack("<B3xI", 1, len(nets)) + b"".join(parts)


def entropy(**changes):
    value = {"afrac": 8, "edges": [1], "y": [{"cdf": [0, 1, 65536], "offset": 0}], "z": []}
    return json.dumps({**value, **changes}).encode()


PLAIN = convolution(1, 1, 1, [1], [1], [0])
TO_RGB = convolution(1, 3, 1, [1, 2, 3], [1, 1, 1], [0, 0, 0])


def splat(*layers, **header):
    return lower("wai.splat.int_codec", {"g_s.whm": network(*layers, **header)})


def policies(graph):
    return [(t.policy, t.lo, t.hi) for t in graph.tensors]


class LowerTest(unittest.TestCase):

    def refuses(self, action, *operands, code=MODEL_MISMATCH, **named):
        with self.assertRaises(Refusal) as caught:
            action(*operands, **named)
        self.assertEqual(caught.exception.code, code)


class Networks(LowerTest):

    def test_a_small_graph_to_the_byte(self):
        # One 2x1 convolution, then the RGB8 step at afrac 8.
        found = splat(convolution(2, 1, 1, [-300, 2], [5], [-7], 3, 4), shift=9)
        (role, graph), = found.graphs
        x = (2 ** 63 - 1) // 600  # acc = 600 X; 600 X * 5 >> 9 is smaller
        expected = b"".join((
            b"WHG1\1\1\0\0", struct.pack("<IIHHHHII", 4, 3, 1, 1, 0, 0, 2 ** 26, 0),
            struct.pack("<III", 0, 0, 0), bytes(4), bytes(8), bytes(8),  # input 0
            struct.pack("<I", 3),
            struct.pack("<IbBHqq", 2, -128, 2, 0, -x, x),
            struct.pack("<IbBHqq", 1, -128, 0, 0, 0, 0) * 3,
            b"\x01\1\1\0", struct.pack("<III", 0, 1, 36 + 8 + 8 + 1 + 8 + 4),
            struct.pack("<8I", 1, 1, 1, 3, 3, 4, 4, 1), b"\2\0\0\0",
            b"\0\2\2\1\x08\x08\0\0", struct.pack("<qBq", 5, 9, -7), struct.pack("<hh", -300, 2),
            b"\x0b\1\1\0", struct.pack("<III", 1, 2, 16), struct.pack("<qq", 0, 256),
            b"\x02\1\1\0", struct.pack("<III", 2, 3, 13), b"\1\0\1\1\4\0\0\0",
            struct.pack("<iB", 255, 8)))
        self.assertEqual((role, graph.data), ("g_s", expected))
        self.assertEqual(found.digest, hashlib.sha256(network(convolution(
            2, 1, 1, [-300, 2], [5], [-7], 3, 4), shift=9)).hexdigest())
        self.assertEqual((found.lowering, found.refusal()), ("whm1/1", ""))

    def range_of(self, *layers, which=0, **header):
        return splat(*layers, **header).graphs[0][1].tensors[which][2:]

    def test_ranges_by_hand(self):
        top = (CHECK, I64_MIN, I64_MAX)
        self.assertEqual(self.range_of(PLAIN), (CHECK, -(2 ** 63 - 2), 2 ** 63 - 2))
        self.assertEqual(self.range_of(convolution(1, 1, 1, [0], [1], [0])), top)
        self.assertEqual(self.range_of(convolution(1, 1, 3, [1] * 9, [1], [0])),
                         (CHECK, -((2 ** 63 - 2) // 9), (2 ** 63 - 2) // 9))
        self.assertEqual(self.range_of(leaky(-2, 0), PLAIN), (CHECK, 1 - 2 ** 62, 2 ** 62 - 1))
        self.assertEqual(self.range_of(leaky(0, 0), PLAIN), top)
        self.assertEqual(self.range_of(RELU, PLAIN), top)
        self.assertEqual(self.range_of(PLAIN, RELU, which=1), (DERIVED, 0, 0))
        # No gamma: N = beta + 1 = 2^62, r = 2^31; X * 2^31 >> 30 = 2X, and 2X + 1 <= I64.
        self.assertEqual(self.range_of(gdn(1, [0], [2 ** 62 - 1]), afrac=30),
                         (CHECK, 1 - 2 ** 62, 2 ** 62 - 1))
        self.assertEqual(self.range_of(gdn(1, [0], [0]), afrac=1), top)

    def test_ranges_are_the_largest(self):
        rng = random.Random(7)
        for _ in range(200):
            net = read_network(network(
                rng.choice((convolution(1, 1, 2, [rng.randint(-99, 99) for _ in range(4)],
                                        [rng.getrandbits(rng.choice((3, 40, 63)))],
                                        [-rng.getrandbits(rng.choice((3, 40, 62)))]),
                            gdn(1, [rng.getrandbits(rng.choice((3, 31)))],
                                [rng.getrandbits(rng.choice((3, 63)))]))),
                afrac=rng.randint(1, 30), gf=rng.randint(0, 127), shift=rng.randint(0, 127)))
            holds = predicate(net, net.layers[0])
            x = largest(holds)
            self.assertTrue(0 <= x <= 2 ** 63 and holds(x))
            self.assertTrue(x == 2 ** 63 or not holds(x + 1))
        self.assertEqual([largest(lambda x, t=t: x <= t) for t in (-1, 0, 5, 2 ** 63, 2 ** 64)],
                         [None, 0, 5, 2 ** 63, 2 ** 63])

    def test_refused_networks(self):
        for layers, header in (
                ((RELU,), {}), ((PLAIN, TO_RGB, PLAIN), {}), ((), {}), ((PLAIN,), {"afrac": 0}),
                ((PLAIN,), {"afrac": 31}), ((PLAIN,), {"shift": 128}), ((PLAIN,), {"gf": 128}),
                ((PLAIN, leaky(1, 64)), {}), ((layer(5),), {}), ((PLAIN,), {"magic": b"WAM1"}),
                ((convolution(1, 1, 1, [0], [1], [I64_MAX]),), {}),  # P(0) fails
                ((convolution(1, 1, 0, [], [1], [0]),), {}),
                ((convolution(1, 1, 1, [0], [1], [0], stride=0),), {}),
                ((convolution(1, 0, 1, [], [], []),), {}), ((gdn(0, [], []),), {}),
                # the second layer's check range holds nothing the first can give
                ((convolution(1, 1, 1, [0], [1], [2 ** 62 + 5]), leaky(2, 0)), {})):
            self.refuses(splat, *layers, **header)
        data = network(PLAIN, leaky(1, 3))
        for end in range(len(data)):
            self.refuses(lower, "wai.splat.int_codec", {"g": data[:end]})
        self.refuses(lower, "wai.splat.int_codec", {"g": data + b"\0"})
        for at in (5, 25):  # reserved bytes
            self.refuses(lower, "wai.splat.int_codec",
                         {"g": data[:at] + b"\1" + data[at + 1:]})

    def test_rgb8_decodes(self):
        (_, graph), = splat(TO_RGB).graphs
        out = Sequence(graph).decode([Tensor(1, 1, 2, [-3, 128])], [])[0]
        # 128 of 256 is 127.5, rounded up; 256 and past it are 255.
        self.assertEqual(out.data, [0, 128, 0, 255, 0, 255])
        self.assertEqual(len(graph.nodes), 3)

    def test_audio(self):
        net = network(layer(0, "6I4h2q2q", 1, 2, 2, 2, 1, 1, 1, 2, 3, 4, 1, 1, 0, 0),
                      gdn(2, [0] * 4, [255, 0]), afrac=4, magic=b"WAM1")
        (role, graph), = lower("wai.audio.int_codec", {"g_s.wam": net}).graphs
        self.assertEqual((role, graph.scalars), ("g_s", [(1, 2 ** 26)]))
        p = graph.nodes[0].p
        self.assertEqual((p.kh, p.kw, p.sh, p.sw, p.ph, p.pw, p.oph, p.opw),
                         (1, 2, 1, 2, 0, 1, 0, 1))
        self.assertEqual([node.op.name for node in graph.nodes],
                         ["conv_transpose", "igdn", "crop", "rescale", "clamp"])
        x = (2 ** 63 - 2) // (2 * 4)  # c * k = 2 terms of at most 4
        self.assertEqual(graph.tensors[0][3:], (-x, x))
        v = (2 ** 63 - 1 - 8) // 32767
        self.assertEqual(graph.tensors[3][2:], (CHECK, -(2 ** 63 // 32767), v))
        crop = graph.nodes[2].p
        self.assertEqual([tuple(o) for o in (crop.y0, crop.x0, crop.h, crop.w)],
                         [(False, 0), (False, 0), (False, 1), (True, 0)])
        out = Sequence(graph).decode([Tensor(1, 1, 2, [1, 2])], [3])[0]
        # uncropped: channel 0 is 1 2 2 4 0 less one at each side, times 15 >> 4; 32767 v / 16
        self.assertEqual(out[:3], (2, 1, 3))
        self.assertEqual(out.data[:3], [(15 * v >> 4) * 32767 + 8 >> 4 for v in (2, 2, 4)])
        self.refuses(lower, "wai.audio.int_codec",
                     {"g": network(PLAIN, magic=b"WAM1")})  # tag 1
        self.refuses(lower, "wai.audio.int_codec", {"g": network(PLAIN)})

    def test_sets_of_several_files(self):
        files = {"h_s.whm": network(PLAIN), "g_s.whm": network(TO_RGB), "entropy.json": entropy()}
        found = lower("wai.neural.int_hyper", {**files, "g_a.whm": b"an encoder's"})
        self.assertEqual([role for role, _ in found.graphs], ["h_s", "g_s"])
        self.assertEqual([len(graph.nodes) for _, graph in found.graphs], [1, 3])
        listing = "{" + ",".join(f'"{name}":"{hashlib.sha256(files[name]).hexdigest()}"'
                                 for name in ("entropy.json", "g_s.whm", "h_s.whm")) + "}"
        digest = hashlib.sha256(listing.encode()).hexdigest()
        own = found.certificate()
        self.assertEqual((own["set_sha256"], own["capability"], own["lowering"]),
                         (digest, "wai.neural.int_hyper", "whm1/1"))
        self.assertEqual([graph["name"] for graph in own["graphs"]], ["h_s", "g_s"])
        failure = own["verdict"]["acc32_first_failure"]  # the input's range
        self.assertEqual((failure["graph"], failure["where"]), ("h_s", "input"))
        for name in files:
            self.refuses(lower, "wai.neural.int_hyper",
                         {key: files[key] for key in files if key != name})
        for bad in (entropy(afrac=True), entropy(edges=[1.0]), entropy(y=[]), entropy(z=[{}]),
                    entropy(afrac=2 ** 63), b"[]", b'{"afrac":1,"afrac":1}', b"\xff"):
            self.refuses(lower, "wai.neural.int_hyper", {**files, "entropy.json": bad})

    def test_bundles(self):
        nets = [network(PLAIN), network(PLAIN), network(PLAIN), network(TO_RGB)]
        found = lower("wai.video.int_cond", {"model.wcb": bundle(b"WCB1", *nets,
                                                                 entropy=entropy())})
        self.assertEqual([(role, len(graph.nodes)) for role, graph in found.graphs],
                         [("ctx", 1), ("prior", 1), ("dec", 1), ("recon", 3)])
        data = bundle(b"WMB1", *nets[1:], entropy=entropy())
        found = lower("wai.neural.int_mlicpp", {"model.wmb": data})
        self.assertEqual([role for role, _ in found.graphs], ["h_s", "entropy", "g_s"])
        for bad in (data + b"\0", data[:-1], bundle(b"WMB1", *nets, entropy=entropy()),
                    bundle(b"WMB1", *nets[1:], entropy=entropy(afrac=9)),
                    bundle(b"WMB1", network(PLAIN, afrac=9), *nets[2:], entropy=entropy())):
            self.refuses(lower, "wai.neural.int_mlicpp", {"model.wmb": bad})

    def test_world(self):
        files = {"T.whm": network(convolution(3, 1, 1, [1, 2, 3], [1], [0])),
                 "g_s.whm": network(TO_RGB)}
        (role, t), _ = lower("wai.world.model", files).graphs
        self.assertEqual((role, t.scalars), ("T", [(I64_MIN, I64_MAX)] * 2))
        self.assertEqual([node.op.name for node in t.nodes],
                         ["fill", "fill", "concat", "conv", "clamp"])
        x = (2 ** 63 - 2) // 9
        self.assertEqual(policies(t), [(CHECK, I64_MIN, I64_MAX), (0, 0, 0), (0, 0, 0),
                                       (CHECK, -x, x), (0, 0, 0), (0, 0, 0)])
        sequence = Sequence(t)
        self.assertEqual(sequence.decode([Tensor(1, 1, 2, [5, 6])], [10, 20])[0].data, [85, 86])
        self.assertEqual(sequence.decode([Tensor(1, 1, 1, [5])], [0, 99])[0].data, [256])
        with self.assertRaises(Refusal) as caught:
            sequence.decode([Tensor(1, 1, 1, [0])], [x + 1, 0])
        self.assertEqual(caught.exception.code, FIELD_RANGE)
        self.refuses(lower, "wai.world.model", {**files, "T.whm": network(PLAIN)})  # A = 0
        self.refuses(lower, "wai.world.model", {**files, "g_s.whm": network(TO_RGB, afrac=9)})
        # readings, 26: x_0 that only a ReLU reads
        files["T.whm"] = network(RELU, convolution(3, 1, 1, [1, 2, 3], [1], [0]))
        t = lower("wai.world.model", files).graphs[0][1]
        self.assertEqual(policies(t)[3:5], [(CHECK, I64_MIN, I64_MAX), (CHECK, -x, x)])


    def test_carried_graphs(self):
        b = Builder()
        x, y = b.input(1, -9, 9), b.input(1, 0, 9)
        two = b.output(b.op("add", [x, y], 1)).bytes()
        one = one_input("relu", 1, 1).bytes()
        found = lower("wai.some.thing", {"b.whg1": one, "a.whg1": two, "notes": b""})
        own = found.certificate()
        self.assertEqual((own["lowering"], own["capability"]), ("whg1", "wai.some.thing"))
        self.assertEqual([graph["name"] for graph in own["graphs"]], ["a", "b"])
        found = lower("wai.image.int_cond_refine", {"x": two})
        self.assertEqual((found.lowering, found.graphs[0][1].data), ("wcp1/1", two))
        self.assertIsNone(lower("sr2/1", {"x": two}).certificate()["capability"])
        self.refuses(lower, "sr2/1", {"x": one})
        self.refuses(lower, "wai.some.thing", {"notes": b""})


# 13.1

def synth(*layers):
    return {"int_synth.json": json.dumps({"layers": layers}).encode()}


SYNTH = {"in_ch": 2, "out_ch": 1, "k": 1, "stride": 2, "pad": 0, "weight": [1, 2], "bias": [3]}


class Synth(LowerTest):

    def test_synth(self):
        found = lower("wai.neural.int_synth", synth({**SYNTH, "relu": True, "shift": 1}))
        (role, graph), = found.graphs
        self.assertEqual([node.op.name for node in graph.nodes],
                         ["conv_transpose", "relu", "clamp"])
        self.assertEqual((role, policies(graph)), ("synth", [(CHECK, -128, 127)]
                                                   + [(DERIVED, 0, 0)] * 3))
        # (x0 + 2 x1 + 3) >> 1
        out = Sequence(graph).decode([Tensor(2, 1, 1, [4, 9])], [])[0]
        self.assertEqual(out.data, [12])
        record = graph.data[32 + 32 + 4 + 4 * 24:]
        self.assertEqual(record[:16], b"\x11\1\1\0" + struct.pack("<III", 0, 1, 40 + 8 + 1 + 4 + 8))
        self.assertEqual(record[16 + 36:16 + 40], b"\4\0\0\0")
        self.assertEqual(record[16 + 40:16 + 48], b"\0\1\0\1\0\4\0\0")
        nested = lower("wai.neural.int_synth", synth(
            {**SYNTH, "relu": True, "shift": 1, "weight": [[[[1]]], [[[2]]]]}))
        self.assertEqual(nested.graphs[0][1].data, graph.data)

    def test_refusals(self):
        for change in ({"weight": [1]}, {"weight": [[[[1]]]]}, {"weight": [1, 2 ** 31]},
                       {"bias": [1.5]}, {"bias": [True]}, {"bias": None}, {"k": 0},
                       {"stride": 0}, {"out_ch": 0}, {"pad": 2 ** 32}, {"shift": 128},
                       {"pad": -1}, {"relu": 1}, {"in_ch": "2"}, {"stride": None}):
            self.refuses(lower, "wai.neural.int_synth", synth({**SYNTH, **change}),
                         code=PAYLOAD_MALFORMED)
        for data in (synth(), synth(SYNTH, SYNTH), {"int_synth.json": b"{"},
                     {"int_synth.json": b'{"layers":{}}'}):
            self.refuses(lower, "wai.neural.int_synth", data, code=PAYLOAD_MALFORMED)

    def test_a_set_that_fails_acc64(self):
        # 128 * 2^31 = 2^38, 2^38 * 2^25 ... squared each layer: past 2^63 at the second.
        wide = {**SYNTH, "in_ch": 1, "weight": [-2 ** 31], "bias": [0]}
        found = lower("wai.neural.int_synth", synth(wide, wide))
        self.assertIn("acc64", found.refusal())
        self.assertFalse(found.certificate()["verdict"]["acc64"])


# 13.6

def conv_member(*dims, shift=16, mult=1):
    count = 1
    for d in dims:
        count *= d
    return {"kind": "conv", "dims": list(dims), "w": [(k * 7 + 3) % 11 - 5 for k in range(count)],
            "mult": mult, "shift": shift}


def q16_member(count):
    return {"kind": "q16", "v": [k % 5 - 2 for k in range(count)], "dims": "not read"}


def weights(convolutions, values=(), bias=True):
    """A file of modules (name, dims), and of q16 members (name, the number of their values)."""
    file = {"ignored": 1.5, "also": {"kind": "float"}}
    for name, dims in convolutions:
        file[f"{name}.weight"] = conv_member(*dims)
        transposed_one = name.split(".")[-1] in ("conv2_t", "conv4_t", "us_conv", "upscale") or (
            name in ("first_stage.1", "conv2"))
        if bias:
            file[f"{name}.bias"] = q16_member(dims[1] if transposed_one else dims[0])
    file.update((name, q16_member(count)) for name, count in values)
    return file


def tab(m, c, h):
    return ([(f"{m}.prep_data.conv1", (3 * c, c, 1, 1)), (f"{m}.prep_data.conv2", (3 * c, 1, 3, 3)),
             (f"{m}.attn.project_out", (c, c, 1, 1)), (f"{m}.ffn.project_in", (2 * h, c, 1, 1)),
             (f"{m}.ffn.dwconv", (2 * h, 1, 3, 3)), (f"{m}.ffn.project_out", (c, h, 1, 1))],
            [(f"{m}.prep_data.norm1.weight", c), (f"{m}.prep_data.norm1.bias", c),
             (f"{m}.ffn.norm1.weight", c), (f"{m}.ffn.norm1.bias", c),
             (f"{m}.attn.temperature", 4)])


def residual(m, c):
    return [(f"{m}.conv1", (1, c, 3, 3)), (f"{m}.conv2", (c, 1, 3, 3))]


def gate(m, c):
    return [(f"{m}.conv", (4, c // 4, 3, 3)), (f"{m}.conv2", (c, 4, 1, 1))]


def cab(c):
    return [*residual("CAB.residual_trunk.0", c), *residual("CAB.residual_trunk.1", c),
            ("CAB.subscale", (2, c, 3, 3)), *residual("CAB.residual_mask2.0", 2),
            *residual("CAB.residual_mask3.0", 2), ("CAB.upscale", (2, c, 3, 3))]


def synthesis(first, last):
    """The synthesis' members, from its first stage's and its last's."""
    tabs = [tab(f"TAM.TABs.{k}", 4, 3) for k in range(2)]
    return weights([*first, *cab(4), *gate("iact2", 4), ("conv3_t", (16, 4, 1, 1)),
                    *tabs[0][0], *tabs[1][0], *last], tabs[0][1] + tabs[1][1])


def scale_file(cz):
    def tensor(*dims, value=None):
        count = 1
        for d in dims:
            count *= d
        return {"dims": list(dims), "v": [value or k % 7 - 3 for k in range(count)]}
    return {"conv1.weight": tensor(2, cz, 1, 1), "conv1.bias": tensor(2),
            "onnx::Pow_85": tensor(1, 2, 1, 1, value=3), "depthwise.weight": tensor(3, 2, 3, 3),
            "depthwise.bias": tensor(3), "onnx::Pow_91": tensor(1, 3, 1, 1, value=4),
            "pointwise.weight": tensor(16 * cz, 3, 1, 1), "pointwise.bias": tensor(16 * cz),
            "onnx::Pow_97": tensor(1, 16 * cz, 1, 1, value=2), "other": 1.5}


def hyper(c):
    return weights([("conv1", (2, c, 1, 1)), ("conv2", (2, 3, 4, 4)), ("conv3", (2, 3, 3, 3)),
                    ("conv4", (4 * c, 2, 3, 3))], bias=c == 160)


def jpegai_bundle():
    files = {"norm.json": {
        "pmf": [[256, 0]] * 32, "bounds": [255] * 33, "per_channel": 16, "gain_y": [9] * 160,
        "cdfs_y": [*range(63)] * 160, "cdfs_uv": [*range(63)] * 96, "gain_uv": [9] * 96}}
    for name, file in (("hs_y", scale_file(160)), ("hs_uv", scale_file(96)),
                       ("hyp_y", hyper(160)), ("hyp_uv", hyper(96))):
        files[f"weights/{name}.json"] = file
    for i in range(4):
        context = [("conv.0", (5, 160 * i, 1, 1)), ("conv.1", (5, 1, 3, 3))] if i else []
        files[f"weights/mcm{i}_y.json"] = weights([
            *context, ("fusion_pred_net.conv1", (2, 165 if i else 160, 1, 1)),
            ("fusion_pred_net.conv2", (2, 2, 1, 1)), ("fusion_pred_net.conv3", (160, 2, 1, 1))])
    files["weights/synth_y.json"] = synthesis(
        [*residual("first_stage.0.0", 160), ("first_stage.1", (160, 4, 3, 3)),
         *gate("first_stage.2", 4), ("conv2_t", (4, 4, 3, 3))],
        [("TAM.ds_conv", (4, 4, 3, 3)), ("TAM.us_conv", (4, 4, 3, 3)), *gate("iact3", 4),
         ("conv4_t", (4, 1, 3, 3))])
    files["weights/synth_uv.json"] = synthesis(
        [("first_stage.conv1", (4, 256, 3, 3)), ("conv2_t", (100, 4, 3, 3))],
        [*gate("iact3", 4), ("conv4_t", (4, 8, 3, 3))])
    return {name: json.dumps(value).encode() for name, value in files.items()}


class Jpegai(LowerTest):

    def test_bundle(self):
        found = lower("wai.image.jpegai", jpegai_bundle())
        self.assertEqual(found.refusal(), "")
        graphs = dict(found.graphs)
        self.assertEqual(list(graphs), ["hs_y", "hs_uv", "rec_y", "rec_uv", "syn_y", "syn_uv"])
        self.assertEqual({role: (graph.channels(graph.outputs[0]), *graph.sizes[graph.outputs[0]])
                          for role, graph in found.graphs},
                         {"hs_y": (160, 16, 16), "hs_uv": (96, 16, 16), "rec_y": (160, 16, 16),
                          "rec_uv": (96, 16, 16), "syn_y": (1, 256, 256),
                          "syn_uv": (2, 256, 256)})
        self.assertEqual([node.op.name for node in graphs["hs_y"].nodes],
                         ["clamp", "conv", "relu", "clamp", "conv", "relu", "clamp", "conv",
                          "pixel_shuffle", "abs", "clamp", "rescale"])
        rq_block = graphs["hs_y"].nodes[1].p.rq
        self.assertEqual((rq_block.shift, rq_block.bias, rq_block.mult), ((3, 3), (-3, -2), None))
        rec = [node.op.name for node in graphs["rec_uv"].nodes]
        self.assertEqual(rec, ["rescale", "conv", "conv_transpose", "clamp", "conv", "clamp",
                               "conv", *["split"] * 4, "subpos_merge", "add"])
        counts = {role: len(graph.nodes) for role, graph in found.graphs}
        stages = 7 + 1 + (1 + 6) + (1 + 3 + 6) + 2 * (1 + 4 + 6) + 1
        tabs = 2 * (1 + 2 + 3 + 2 + 1 + 1 + 2 + 2 + 1 + 2 + 2 + 2 + 2)
        cab_count = 8 + 1 + 8 + 2 + 2
        self.assertEqual(counts["rec_y"], stages)
        self.assertEqual(counts["syn_y"], 4 + 1 + 5 + 1 + cab_count + 5 + 2 + 1 + tabs + 1 + 5 + 2)
        self.assertEqual(counts["syn_uv"], 3 + 1 + cab_count + 5 + 2 + tabs + 5 + 3)
        # A TAB's convolutions take one shift; the attention scale one multiplier per channel.
        scale = [node for node in graphs["syn_y"].nodes if node.op.name == "rescale"
                 and node.p.rq.mult and len(node.p.rq.mult) > 1]
        self.assertEqual([node.p.rq.mult for node in scale], [(-2, -1, 0, 1)] * 2)

    def changed(self, name, change):
        """The bundle with one file changed."""
        files = jpegai_bundle()
        value = json.loads(files[name])
        change(value)
        return {**files, name: json.dumps(value).encode()}

    def test_refusals(self):
        def put(key, value):
            return lambda file: file.__setitem__(key, value)

        def inside(key, member, value):
            return lambda file: file[key].__setitem__(member, value)
        for name, change in (
                ("norm.json", put("per_channel", 16.0)), ("norm.json", put("bounds", [0] * 31)),
                ("norm.json", put("pmf", [[255, 0]] * 32)),
                ("norm.json", put("cdfs_uv", [1, 0] * (48 * 63))),
                ("norm.json", put("gain_y", [2 ** 63] * 160)),
                ("weights/hs_y.json", inside("conv1.bias", "dims", [3])),
                ("weights/hs_y.json", inside("onnx::Pow_85", "v", [0, 128])),
                ("weights/hs_uv.json", put("pointwise.weight", None)),
                ("weights/hyp_y.json", inside("conv4.weight", "mult", True)),
                ("weights/hyp_y.json", inside("conv4.weight", "shift", 128)),
                ("weights/hyp_y.json", inside("conv4.bias", "kind", "conv")),
                ("weights/hyp_y.json", put("unused", {"kind": "q16"})),
                ("weights/hyp_uv.json", put("conv4.weight", conv_member(4, 2, 3, 3))),
                ("weights/mcm1_y.json", put("conv.1.weight", conv_member(5, 5, 3, 3))),
                ("weights/synth_y.json", put("TAM.TABs.1.attn.temperature", q16_member(5))),
                ("weights/synth_y.json", put("conv3_t.weight", conv_member(18, 4, 1, 1))),
                ("weights/synth_y.json", put("iact2.conv2.weight", conv_member(1, 4, 1, 1))),
                ("weights/synth_uv.json", put("conv4_t.weight", conv_member(4, 4, 3, 3)))):
            self.refuses(lower, "wai.image.jpegai", self.changed(name, change))
        files = jpegai_bundle()
        twice = files["weights/hyp_uv.json"][:-1] + b',"deep":[{"a":1,"a":1}]}'
        self.refuses(lower, "wai.image.jpegai", {**files, "weights/hyp_uv.json": twice})
        twice = files["weights/hs_uv.json"][:-1] + b',"deep":[{"a":1,"a":1}]}'
        lower("wai.image.jpegai", {**files, "weights/hs_uv.json": twice})  # readings, 29
        del files["norm.json"]
        self.refuses(lower, "wai.image.jpegai", files)

    def test_a_module_without_a_bias(self):
        found = lower("wai.image.jpegai", self.changed(
            "weights/synth_y.json", lambda file: file["conv4_t.bias"].update(kind="float")))
        last = dict(found.graphs)["syn_y"].nodes[-2]
        self.assertEqual((last.op.name, last.p.rq.bias), ("conv_transpose", None))

    def test_role_profiles(self):
        wide = [2 ** 31] * 2
        found = lower("wai.image.jpegai", self.changed(
            "weights/hs_uv.json", lambda file: file["conv1.bias"].update(v=wide)))
        self.assertEqual(found.refusal(), "hs_uv does not meet acc32")

    def test_members(self):
        self.assertEqual(set(jpegai.MEMBERS), set(jpegai_bundle()))


# 8.4

class Admissible(unittest.TestCase):

    def test_ranges(self):
        graph = one_input("conv", 1, 1, conv(1, (1, 1), [2], rq())).load()
        self.assertEqual(admissible_range(graph, 0, "acc32"), (1 - 2 ** 30, 2 ** 30 - 1))
        self.assertEqual(admissible_range(graph, 0, "acc64"), (1 - 2 ** 62, 2 ** 62 - 1))
        self.assertEqual(admissible_range(graph, 1, "acc32"), (I64_MIN, I64_MAX))  # no consumer
        graph = one_input("softmax", 1, 1, size=(1, 2)).load()
        self.assertIsNone(admissible_range(graph, 0, "acc32"))
        self.assertEqual(admissible_range(graph, 0, "acc64"), (1 - 2 ** 62, 2 ** 62 - 1))
        table = [0] + [7] * 65535
        graph = one_input("lut16", 1, 1, struct.pack("<bbH65536h", -128, -128, 0, *table)).load()
        self.assertEqual(admissible_range(graph, 0, "acc64"), (-32767, 32767))
        graph = one_input("fill", 1, 1, struct.pack("<B7xq", 0, 5)).load()
        self.assertEqual(admissible_range(graph, 0, "acc32"), (I64_MIN, I64_MAX))

    def test_every_consumer_counts(self):
        b = Builder()
        x, y = b.input(1, -9, 9), b.input(1, -9, 2 ** 30)
        b.op("add", [x, y], 1)  # X + 2^30 <= 2^31 - 1
        b.output(b.op("mul", [x, x], 1, rq()))  # X^2 <= 2^31 - 1: 46340
        self.assertEqual(admissible_range(b.load(), x, "acc32"), (-46340, 46340))
        self.assertEqual(admissible_range(b.load(), y, "acc32"),
                         (10 - 2 ** 31, 2 ** 31 - 10))


# 14.3

class Corpus(unittest.TestCase):

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.capability = "wai.neural.int_hyper"
        self.set = {"h_s.whm": network(PLAIN), "g_s.whm": network(TO_RGB),
                    "entropy.json": entropy()}
        found = lower(self.capability, self.set)
        base = f"certificates/{self.capability}/{found.digest}"
        pin = {"capability": self.capability, "ops_profile": "acc32", "sha256": found.digest}
        self.files = {f"{base}/set/{name}": data for name, data in self.set.items()}
        self.files.update({f"{base}/{role}.whg1": graph.data for role, graph in found.graphs})
        self.files[f"{base}.json"] = canonical.write(found.certificate()).encode()
        self.files[f"{base}/pin.json"] = canonical.write(pin).encode()
        self.base = base

    def check(self, files):
        return selftest.Directory.check(self, {name: data.decode("latin-1") for name, data
                                      in files.items()}, encoding="latin-1")

    def test_recomputed_from_the_set(self):
        self.assertEqual(self.check(self.files), (["4 passed, 0 failed"], 0))
        alone = {name: data for name, data in self.files.items() if "/set/" not in name}
        self.assertEqual(self.check(alone), (["2 passed, 0 failed"], 0))

    def test_what_is_wrong_fails(self):
        base = self.base
        wrong = {f"{base}/h_s.whg1": self.files[f"{base}/g_s.whg1"],
                 f"{base}.json": self.files[f"{base}.json"] + b"\n",
                 f"{base}/set/h_s.whm": network(RELU, PLAIN),
                 f"{base}/set/g_s.whm": b"", f"{base}/x.whg1": b"",
                 f"{base}/pin.json": b"{}", f"certificates/{self.capability}/0/a.whg1": b""}
        for name, data in wrong.items():
            said, status = self.check({**self.files, name: data})
            self.assertEqual(status, 1, name)
            self.assertNotIn(" 0 failed", said[-1])
        missing = {name: data for name, data in self.files.items() if name != f"{base}/g_s.whg1"}
        self.assertIn(f"{base}/g_s.whg1: not there", self.check(missing)[0])

    def test_lower_command(self):
        for name, data in self.set.items():
            with open(os.path.join(self.place.name, name), "wb") as stream:
                stream.write(data)
        with tempfile.TemporaryDirectory() as out:
            with contextlib.redirect_stdout(io.StringIO()):
                status = check.lower_command(self.place.name, self.capability, out)
            self.assertEqual((status, sorted(os.listdir(out))),
                             (0, ["certificate.json", "g_s.whg1", "h_s.whg1"]))
            with open(os.path.join(out, "certificate.json"), "rb") as stream:
                self.assertEqual(stream.read(), self.files[f"{self.base}.json"])
            with open(os.path.join(out, "g_s.whg1"), "rb") as stream:
                load(stream.read())
