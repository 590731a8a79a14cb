# SPDX-License-Identifier: Apache-2.0
"""A trained float codec to a WHM1 set: integer weights, entropy tables, and ONNX beside it.

Activations are fixed-point with AFRAC fractional bits. A weight is an int16 under its output
channel's own scale; the multiplier carries the scale, one header shift serves all layers, and the
post bias carries the half that the floor takes away. g_a reads byte - 128.
"""
import argparse
import json
import math
import os

import numpy as np
import torch

import entropy_tables
import whm1
from integer_decode import Set, bucket, half_up, run
from picture import SLOPE_FRAC, SLOPE_Q, Codec, Conv, ConvT, Photographs

AFRAC = 12
SHIFT = 40
INPUT_FRAC = {"g_a": 7}  # the picture's (byte - 128) / 128; every other input has AFRAC bits
REACH = 127              # z symbols that the learned law is asked about


def quantize_layer(layer, input_frac):
    """One convolution of either kind."""
    weight = layer.weight.detach().double().numpy()
    axes = (0, 2, 3) if isinstance(layer, ConvT) else (1, 2, 3)
    scale = np.maximum(np.abs(weight).max(axis=axes), 1e-9) / 32767
    column = scale[None, :, None, None] if isinstance(layer, ConvT) else scale[:, None, None, None]
    mult = np.rint(scale * 2.0 ** (SHIFT + AFRAC - input_frac)).astype(np.int64)
    bias = np.rint(layer.bias.detach().double().numpy() * 2 ** AFRAC + 0.5).astype(np.int64)
    tag = whm1.CONV_T if isinstance(layer, ConvT) else whm1.CONV
    opad = layer.opad if isinstance(layer, ConvT) else 0
    return whm1.Layer(tag, layer.c, layer.out, layer.k, layer.stride, layer.pad, opad,
                      np.rint(weight / column).astype(np.int16), mult, bias)


def quantize_network(chain, name):
    network, input_frac = whm1.Network(AFRAC, SHIFT), INPUT_FRAC.get(name, AFRAC)
    for layer in chain.layers:
        if isinstance(layer, (Conv, ConvT)):
            network.layers.append(quantize_layer(layer, input_frac))
            input_frac = AFRAC
        else:
            network.layers.append(whm1.Layer(whm1.LEAKY, slope_q=SLOPE_Q, slope_frac=SLOPE_FRAC))
    return network


def load(settings):
    """The trained codec, its quality folded into the weights."""
    state = torch.load(settings["weights"])["ema"]
    codec = Codec(settings["m"], settings["z"], [0.012] * len(state["log_gain"]))
    codec.load_state_dict(state)
    codec.fold(settings["quality"] if len(state["log_gain"]) > 1 else 0)
    return codec.eval()


def observed(networks, photographs, count, side):
    """What the integer encoder would code on training crops: z, scales and y symbols."""
    zs, scales, ys = [], [], []
    for _ in range(count):
        crop = photographs.crop(side).astype(np.int64).transpose(2, 0, 1)
        y = run(networks["g_a"], crop - 128)
        z = half_up(run(networks["h_a"], y), AFRAC)
        out = run(networks["h_s"], z << AFRAC)
        m = y.shape[0]
        zs.append(z.reshape(z.shape[0], -1))
        scales.append(out[:m].ravel())
        ys.append(half_up(y - out[m:], AFRAC).ravel())
    return np.concatenate(zs, 1), np.concatenate(scales), np.concatenate(ys)


def prior_law(codec):
    """The learned masses of -REACH .. REACH for every channel of z."""
    values = torch.arange(-REACH, REACH + 1).float()
    channels = codec.prior.mean.shape[0]
    with torch.no_grad():
        law = codec.prior.likelihood(values.view(1, 1, 1, -1).expand(1, channels, 1, -1))
    return law[0, :, 0].double().numpy()


def tables(codec, networks, photographs, count, side):
    """The bytes of entropy.json."""
    z, scales, y = observed(networks, photographs, count, side)
    top = float(np.quantile(scales, 0.99995)) / 2 ** AFRAC
    top = min(max(top, math.log(8)), math.log(256))
    edges = np.rint(entropy_tables.scale_edges(top) * 2 ** AFRAC).astype(np.int64).tolist()
    y_rows = entropy_tables.y_tables(top, bucket(scales, edges), y)
    z_rows = entropy_tables.z_tables(prior_law(codec), z)
    return whm1.entropy_json(AFRAC, edges, y_rows, z_rows)


class Plain(torch.nn.Module):
    """One network with its transposed convolutions as such, for ONNX."""

    def __init__(self, chain):
        super().__init__()
        self.chain = chain

    def forward(self, x):
        return self.chain.plain(x)


def write_onnx(codec, name, folder):
    channels = {"g_a": 3, "h_a": codec.m, "h_s": codec.prior.mean.shape[0], "g_s": codec.m}
    x = torch.zeros(1, channels[name], 64, 64)
    free = {0: "n", 2: "h", 3: "w"}
    torch.onnx.export(Plain(getattr(codec, name)), x, f"{folder}/{name}.onnx", opset_version=13,
                      input_names=["x"], output_names=["out"],
                      dynamic_axes={"x": free, "out": free})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("settings", help="the settings-*.json that the codec was trained with")
    parser.add_argument("folder", help="where the set goes")
    parser.add_argument("--crops", type=int, default=300, help="training crops for the tables")
    arguments = parser.parse_args()
    with open(arguments.settings) as file:
        settings = json.load(file)
    codec = load(settings)
    names = ("g_a", "h_a", "h_s", "g_s")
    networks = {name: quantize_network(getattr(codec, name), name) for name in names}
    photographs = Photographs(settings["photographs"], 7)
    os.makedirs(arguments.folder, exist_ok=True)
    members = {f"{name}.whm": whm1.network_bytes(networks[name]) for name in names}
    members["entropy.json"] = tables(codec, networks, photographs, arguments.crops, 256)
    for path, data in members.items():
        with open(os.path.join(arguments.folder, path), "wb") as file:
            file.write(data)
    for name in names:
        write_onnx(codec, name, arguments.folder)
    decoding = {p: members[p] for p in ("h_s.whm", "g_s.whm", "entropy.json")}
    print("set", whm1.set_digest(decoding), sum(map(len, decoding.values())), "bytes")
    Set(arguments.folder)


if __name__ == "__main__":
    main()
