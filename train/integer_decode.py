# SPDX-License-Identifier: Apache-2.0
"""An exact integer evaluation of WHM1 networks (integer operators, section 13.2), and a WIH1
decoder and encoder over it.

Sums are formed in float64 convolutions only where c*k*k*Wm*max|x| < 2^53, so that every partial
sum is an exact integer in any order; anything larger is refused rather than rounded.
"""
import argparse
import math

import numpy as np
import torch
from torch.nn import functional as F

from whm1 import CONV, CONV_T, IGDN, LEAKY, read_entropy, read_network
import rans

I64, I128 = 2 ** 63 - 1, 2 ** 127 - 1


def largest(array):
    return max(abs(int(array.min())), abs(int(array.max())))


def holds(network, layer, c, x):
    """P of section 13.2 for one layer at the magnitude x."""
    if layer.tag in (CONV_T, CONV):
        total = c * layer.k ** 2 * largest(layer.weight) * x
        scaled = (total * largest(layer.mult) >> network.shift) + 1 + largest(layer.bias)
        return total <= I64 and scaled <= I64
    if layer.tag == IGDN:
        square = largest(layer.gamma) * x * x
        n = largest(layer.beta) + c * ((square >> network.gf) + 1)
        return (square <= I128 and n <= I128 and math.isqrt(n) <= I64
                and (x * math.isqrt(n) >> network.afrac) + 1 <= I64)
    return x * abs(layer.slope_q) <= I64


def check_range(network, layer, x):
    """The check policy of a tensor that a layer of tag 0, 1, 2 or 4 reads."""
    if not holds(network, layer, x.shape[0], largest(x)):
        raise ValueError("field_range")


def requantise(total, layer, shift):
    """floor(total * mult / 2^shift) + bias, without leaving 64 bits: total = high*2^32 + low."""
    mult, bias = layer.mult.reshape(-1, 1, 1), layer.bias.reshape(-1, 1, 1)
    if shift < 32 or largest(layer.mult) >= 2 ** 31 or largest(total) >= 2 ** 62:
        wide = (total.astype(object) * mult.astype(object)) >> shift
        return (wide + bias.astype(object)).astype(np.int64)
    high, low = total >> 32, total & 0xFFFFFFFF
    return ((high * mult + (low * mult >> 32)) >> (shift - 32)) + bias


def convolve(x, layer):
    if x.shape[0] * layer.k ** 2 * largest(layer.weight) * largest(x) >= 2 ** 53:
        raise OverflowError("a sum leaves the integers that float64 holds exactly")
    x = torch.from_numpy(x.astype(np.float64))[None]
    weight = torch.from_numpy(layer.weight.astype(np.float64))
    if layer.tag == CONV:
        total = F.conv2d(x, weight, None, layer.stride, layer.pad)
    else:
        total = F.conv_transpose2d(x, weight, None, layer.stride, layer.pad, layer.opad)
    return total[0].numpy().astype(np.int64)


def igdn(x, layer, network):
    """Each term is floored, then summed; Python integers, since x^2 * gamma is wide."""
    wide = x.astype(object)
    square = wide * wide
    out = np.empty_like(x)
    for i in range(layer.c):
        n = sum((int(layer.gamma[i][j]) * square[j] >> network.gf for j in range(layer.c)),
                int(layer.beta[i]))
        root = np.vectorize(lambda v: math.isqrt(max(0, v)), otypes=[object])(n)
        out[i] = (wide[i] * root) >> network.afrac
    return out


def run(network, x):
    """The network's output for an int64 [C, H, W] input."""
    for layer in network.layers:
        if layer.tag in (CONV, CONV_T):
            check_range(network, layer, x)
            x = requantise(convolve(x, layer), layer, network.shift)
        elif layer.tag == IGDN:
            check_range(network, layer, x)
            x = igdn(x, layer, network)
        elif layer.tag == LEAKY:
            check_range(network, layer, x)
            x = np.where(x >= 0, x, x * layer.slope_q >> layer.slope_frac)
        else:
            x = np.maximum(x, 0)
    return x


def rgb8(x, afrac):
    """The RGB8 step: clamp(0, 2^afrac), times 255, half up; then HWC bytes."""
    x = np.clip(x, 0, 1 << afrac) * 255
    return ((x + (1 << (afrac - 1))) >> afrac).astype(np.uint8).transpose(1, 2, 0)


def bucket(scale, edges):
    """E3 with the rule ceil, for every element of an array."""
    scale = np.maximum(scale, edges[0])
    below = np.zeros(scale.shape, np.int64)
    for edge in edges[:-1]:
        below += scale <= edge
    return len(edges) - 1 - below


def half_up(x, shift):
    return (x + (1 << (shift - 1))) >> shift


class Set:
    """A decoding set, and the encoder's networks beside it when they are there."""

    def __init__(self, folder):
        def network(name):
            with open(f"{folder}/{name}.whm", "rb") as file:
                return read_network(file.read())
        self.h_s, self.g_s = network("h_s"), network("g_s")
        self.g_a, self.h_a = network("g_a"), network("h_a")
        with open(f"{folder}/entropy.json", "rb") as file:
            self.afrac, self.edges, self.y_tables, self.z_tables = read_entropy(file.read())

    def scales_and_means(self, z):
        out = run(self.h_s, z << self.afrac)
        m = out.shape[0] // 2
        return out[:m], out[m:]

    def picture(self, symbols, means):
        return rgb8(run(self.g_s, (symbols << self.afrac) + means), self.g_s.afrac)

    def symbols(self, picture):
        """The encoder's analysis: z, the index of each y's table, y's symbols and the means."""
        y = run(self.g_a, padded(picture).astype(np.int64).transpose(2, 0, 1) - 128)
        z = half_up(run(self.h_a, y), self.afrac)
        scales, means = self.scales_and_means(z)
        return z, bucket(scales, self.edges), half_up(y - means, self.afrac), means

    def encode(self, picture):
        z, index, y, _ = self.symbols(picture)
        z_tables = [self.z_tables[c] for c in range(z.shape[0]) for _ in range(z[0].size)]
        y_tables = [self.y_tables[i] for i in index.ravel()]
        return rans.wih1(picture.shape[:2], z.shape, y.shape,
                         rans.encode(z.ravel().tolist(), z_tables),
                         rans.encode(y.ravel().tolist(), y_tables))

    def decode(self, payload):
        (height, width), z_shape, y_shape, z_stream, y_stream = rans.read_wih1(payload)
        coder = rans.Decoder(z_stream)
        z = [coder.symbol(self.z_tables[c]) for c in range(z_shape[0])
             for _ in range(z_shape[1] * z_shape[2])]
        coder.finish()
        scales, means = self.scales_and_means(np.array(z, np.int64).reshape(z_shape))
        if means.shape != tuple(y_shape):
            raise ValueError("geometry_mismatch")
        coder = rans.Decoder(y_stream)
        y = [coder.symbol(self.y_tables[i]) for i in bucket(scales, self.edges).ravel()]
        coder.finish()
        return self.picture(np.array(y, np.int64).reshape(y_shape), means)[:height, :width]


def padded(picture):
    """The picture with its last row and column repeated to sides that 32 divides."""
    height, width = picture.shape[:2]
    return np.pad(picture, ((0, -height % 32), (0, -width % 32), (0, 0)), "edge")


def main():
    from PIL import Image
    parser = argparse.ArgumentParser(description="Encodes or decodes a picture, exactly.")
    parser.add_argument("verb", choices=["encode", "decode"])
    parser.add_argument("set", help="a folder with the set and the encoder's networks")
    parser.add_argument("source")
    parser.add_argument("target")
    arguments = parser.parse_args()
    codec = Set(arguments.set)
    if arguments.verb == "encode":
        payload = codec.encode(np.asarray(Image.open(arguments.source).convert("RGB")))
        with open(arguments.target, "wb") as file:
            file.write(payload)
    else:
        with open(arguments.source, "rb") as file:
            Image.fromarray(codec.decode(file.read())).save(arguments.target)


if __name__ == "__main__":
    main()
