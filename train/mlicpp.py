# SPDX-License-Identifier: Apache-2.0
"""A small model of wai.neural.int_mlicpp: latents in slices, each in two passes of a checkerboard.

    mlicpp.py train SETTINGS                     goes on from the checkpoint when there is one
    mlicpp.py export SETTINGS SET                model.wmb, and g_a.whm and h_a.whm beside it
    mlicpp.py encode SETTINGS SET PICTURE OUT.qp a PNG, by the integer networks
    mlicpp.py measure SETTINGS SET QUIPU         the validation crops, by the quipu command

Before each pass the network `entropy` sees every latent that is decoded by then, zeros for the
rest, and what h_s gives; it gives the logarithm of every latent's scale, and its mean.
"""
import argparse
import copy
import hashlib
import json
import math
import os
import struct
import subprocess
import tempfile
import time

import numpy as np
import torch
from PIL import Image
from torch import nn

import entropy_tables
import rans
import whm1
from integer_decode import bucket, half_up, padded, rgb8, run
from picture import (Chain, Conv, ConvT, HyperPrior, Leaky, Photographs, bits_of, gaussian_bits,
                     target_of)
from qpf1 import qp_file
from quantize import AFRAC, prior_law, quantize_network
from start import blocks, paired, principal, put

CAPABILITY = "wai.neural.int_mlicpp"
CY, CZ, CH, SLICES = 32, 8, 16, 2
PATHS = (12, 24, CY)  # principal components of each halving


def pass_masks(height, width):
    """The elements of each pass in turn, as a mask over [CY, height, width]."""
    even = (np.add.outer(np.arange(height), np.arange(width)) % 2) == 0
    size, masks = CY // SLICES, []
    for k in range(SLICES):
        for cells in (even, ~even):
            mask = np.zeros((CY, height, width), bool)
            mask[k * size:(k + 1) * size] = cells
            masks.append(mask)
    return masks


class Sliced(nn.Module):
    """x is (byte - 128) / 128; what g_s gives is byte / 255."""

    def __init__(self):
        super().__init__()
        a, b = 2 * PATHS[0], 2 * PATHS[1]
        self.g_a = Chain(Conv(3, a, 6, 2), Leaky(), Conv(a, b, 5, 2), Leaky(), Conv(b, CY, 5, 2))
        self.h_a = Chain(Conv(CY, 24, 3), Leaky(), Conv(24, 24, 5, 2), Leaky(), Conv(24, CZ, 5, 2))
        self.h_s = Chain(ConvT(CZ, 24, 5, 2), Leaky(), ConvT(24, CH, 5, 2))
        self.entropy = Chain(Conv(CY + CH, 48, 5), Leaky(), Conv(48, 48, 1), Leaky(),
                             Conv(48, 2 * CY, 1))
        self.g_s = Chain(ConvT(CY, b, 5, 2), Leaky(), ConvT(b, 3, 12, 4, 0.5))
        self.prior = HyperPrior(CZ)
        self.register_buffer("unit", torch.ones(1, CY, 1, 1))  # about each y channel's deviation

    def law(self, known, h):
        scale, mean = self.entropy(torch.cat([known / self.unit, h], 1)).split(CY, 1)
        return scale, mean * self.unit

    def forward(self, x, rounded):
        """The picture, and the bits of z and y."""
        y = self.g_a(x) * self.unit
        z = self.h_a(y / self.unit)
        noisy = z + torch.rand_like(z) - 0.5
        bits = bits_of(self.prior.likelihood(noisy)).sum()
        h = self.h_s(z + (z.round() - z).detach() if rounded else noisy)
        coded = y + torch.rand_like(y) - 0.5
        for mask in pass_masks(*y.shape[2:]):
            mask = torch.from_numpy(mask)
            before = coded.detach() * torch.from_numpy(self.before(mask.numpy()))
            scale, mean = self.law(before, h)
            v = (y - mean)[:, mask]
            bits = bits + gaussian_bits(v + torch.rand_like(v) - 0.5, scale[:, mask]).sum()
            if rounded:
                coded = coded.masked_scatter(mask, y[:, mask] + (v.round() - v).detach())
        return self.g_s(coded / self.unit), bits

    @staticmethod
    def before(mask):
        """What is decoded before a pass, in the same shape."""
        known = np.zeros(mask.shape, bool)
        for other in pass_masks(*mask.shape[1:]):
            if (other == mask).all():
                return known
            known |= other
        raise ValueError("not a pass")

    @torch.no_grad()
    def fold(self):
        """Moves `unit` into the weights."""
        unit = self.unit.flatten()
        last, first = self.g_a.layers[-1], self.entropy.layers[0]
        last.weight *= unit.view(-1, 1, 1, 1)
        last.bias *= unit
        self.h_a.layers[0].weight /= unit.view(1, -1, 1, 1)
        first.weight[:, :CY] /= unit.view(1, -1, 1, 1)
        self.entropy.layers[-1].weight[CY:] *= unit.view(-1, 1, 1, 1)
        self.entropy.layers[-1].bias[CY:] *= unit
        self.g_s.layers[0].weight /= unit.view(-1, 1, 1, 1)
        self.unit.fill_(1)
        return self


@torch.no_grad()
def start(model, x, step):
    """A tree of principal components and its transpose, as in start.py; `step` is y's, in 1/255."""
    stages, after = [], x.double().numpy()
    for keep in PATHS:
        channels = after.shape[1]
        rows, after = principal(blocks(after), keep)
        stages.append(rows.reshape(keep, 2, 2, channels) / 2)
        after = after / 2
    deviation = after.std((0, 2, 3))
    for layer in (*model.g_a.layers[::2], *model.g_s.layers[::2]):
        layer.weight *= 0.01
    first, last = model.g_s.layers[::2]
    for i in range(2):
        for j in range(2):
            for number, layer in enumerate(model.g_a.layers[::2]):
                matrix = paired(stages[number][:, i, j].T, number < 2, number > 0).T
                put(layer.weight[:, :, 2 + i, 2 + j],
                    matrix / torch.tensor(deviation).float().view(-1, 1) if number == 2 else matrix)
            matrix = paired(stages[2][:, i, j] * 4, True, False)
            put(first.weight[:, :, 2 + i, 2 + j],
                matrix * torch.tensor(deviation).float().view(-1, 1))
            for k in range(2):
                for n in range(2):
                    matrix = stages[1][:, i, j] @ stages[0][:, k, n] * 16 * 128 / 255
                    put(last.weight[:, :, 4 + 2 * i + k, 4 + 2 * j + n],
                        paired(matrix, False, True))
    last.bias.fill_(128 / 255)
    scaled = torch.tensor(deviation * 128 * 2.0 ** len(PATHS) / step).float()
    model.unit.copy_(scaled.view(1, -1, 1, 1))
    law = model.entropy.layers[-1]
    law.weight *= 0.3
    law.bias[:CY] = (0.5 * scaled + 0.05).log()


class Trainer:
    def __init__(self, settings):
        self.settings = settings
        torch.manual_seed(settings["seed"])
        self.data = Photographs(settings["photographs"], settings["seed"] + int(time.time()))
        self.model, self.step, self.seconds = Sliced(), 0, 0.0
        start(self.model, self.data.batch(64, 64), settings["first_step"])
        self.ema = copy.deepcopy(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings["rate"])
        for path in (settings["checkpoint"], settings["weights"]):
            if os.path.exists(path):
                self.resume(torch.load(path))
                break

    def resume(self, state):
        """From a whole checkpoint, or from the committed weights alone."""
        self.ema.load_state_dict(state["ema"])
        self.model.load_state_dict(state.get("model", state["ema"]))
        if "optimizer" in state:
            self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
        print(f"resumed at step {self.step}, {self.seconds:.0f} s", flush=True)

    def save(self):
        weights = {"ema": self.ema.state_dict(), "step": self.step, "seconds": self.seconds}
        torch.save(weights, self.settings["weights"])
        torch.save({**weights, "model": self.model.state_dict(),
                    "optimizer": self.optimizer.state_dict()}, self.settings["checkpoint"])

    def loss(self, model, x, rounded):
        """Bits a pixel, mean squared error in 1/255, and what is minimised."""
        picture, bits = model(x, rounded)
        bpp = bits / (x.shape[0] * x.shape[2] * x.shape[3])
        mse = ((picture - target_of(x)) ** 2).mean() * 255 ** 2
        return bpp, mse, bpp + self.settings["lambda"] * mse

    def one_step(self):
        part = min(self.seconds / self.settings["budget_seconds"], 1.0)
        rate = self.settings["rate"] * (0.5 + 0.5 * math.cos(math.pi * part) + 0.005)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * min(1.0, (self.step + 1) / 200)
        x = self.data.batch(*self.settings["batch"])
        loss = self.loss(self.model, x, part > self.settings["round_after"])[2]
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        keep = min(self.settings["ema"], (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for slow, fast in zip(self.ema.parameters(), self.model.parameters()):
                slow.lerp_(fast, 1 - keep)

    @torch.no_grad()
    def report(self):
        bpp, mse, loss = self.loss(self.ema, self.data.validation(), True)
        print(f"step {self.step} s {self.seconds:.0f} | bpp {bpp:.4f} psnr "
              f"{10 * math.log10(255 ** 2 / float(mse)):.2f} loss {loss:.4f}", flush=True)
        self.save()

    def train(self):
        self.report()
        begin = time.time()
        while self.seconds < self.settings["budget_seconds"]:
            before = time.time()
            self.one_step()
            self.step += 1
            self.seconds += time.time() - before
            if time.time() - begin > self.settings["log_seconds"]:
                self.report()
                begin = time.time()
        self.report()


# ---- integers --------------------------------------------------------------------------------

class Integers:
    """The integer networks, and the passes of an encoding over them."""

    def __init__(self, networks):
        self.networks = networks

    def analysis(self, pixels):
        """z's symbols and y in units of 2^-AFRAC."""
        x = padded(pixels).astype(np.int64).transpose(2, 0, 1) - 128
        y = run(self.networks["g_a"], x)
        return half_up(run(self.networks["h_a"], y), AFRAC), y

    def passes(self, z, y):
        """The scales and symbols of each pass in the order of the stream, and the values of y."""
        h, known = run(self.networks["h_s"], z << AFRAC), np.zeros_like(y)
        scales, symbols = [], []
        for mask in pass_masks(*y.shape[1:]):
            out = run(self.networks["entropy"], np.concatenate([known, h]))
            scale, mean = out[:CY][mask], out[CY:][mask]
            symbol = half_up(y[mask] - mean, AFRAC)
            known[mask] = (symbol << AFRAC) + mean
            scales.append(scale)
            symbols.append(symbol)
        return np.concatenate(scales), np.concatenate(symbols), known


def networks_of(model):
    names = ("g_a", "h_a", "h_s", "entropy", "g_s")
    return {name: quantize_network(getattr(model, name), name) for name in names}


def tables(model, networks, photographs, crops):
    """The bytes of entropy.json, from training crops."""
    integers, seen = Integers(networks), []
    for _ in range(crops):
        z, y = integers.analysis(photographs.crop(128))
        scales, symbols, _ = integers.passes(z, y)
        seen.append((z.reshape(CZ, -1), scales, symbols))
    z, scales, y = (np.concatenate(part, -1) for part in zip(*seen))
    top = float(np.quantile(scales, 0.99995)) / 2 ** AFRAC
    top = min(max(top, math.log(8)), math.log(256))
    edges = np.rint(entropy_tables.scale_edges(top) * 2 ** AFRAC).astype(np.int64).tolist()
    return whm1.entropy_json(AFRAC, edges, entropy_tables.y_tables(top, bucket(scales, edges), y),
                             entropy_tables.z_tables(prior_law(model), z))


def load(settings):
    model = Sliced()
    model.load_state_dict(torch.load(settings["weights"])["ema"])
    return model.eval().fold()


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
    print(name, len(data), "bytes", hashlib.sha256(data).hexdigest())


def export(settings, folder):
    model = load(settings)
    networks = networks_of(model)
    os.makedirs(folder, exist_ok=True)
    parts = [whm1.network_bytes(networks[name]) for name in ("h_s", "entropy", "g_s")]
    entropy = tables(model, networks, Photographs(settings["photographs"], 7), 250)
    write(folder, "model.wmb", b"WMB1" + struct.pack("<B3xI", 1, len(parts)) + b"".join(
        struct.pack("<I", len(part)) + part for part in (*parts, entropy)))
    for name in ("g_a", "h_a"):
        write(folder, name + ".whm", whm1.network_bytes(networks[name]))


# ---- coding ----------------------------------------------------------------------------------

class Set:
    """A set and the encoder's networks beside it, read from their files."""

    def __init__(self, folder):
        def read(name):
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()
        data = read("model.wmb")
        self.digest, at, parts = hashlib.sha256(data).hexdigest(), 12, []
        while at < len(data):
            size, = struct.unpack_from("<I", data, at)
            parts.append(data[at + 4:at + 4 + size])
            at += 4 + size
        _, self.edges, self.y_tables, self.z_tables = whm1.read_entropy(parts.pop())
        networks = dict(zip(("h_s", "entropy", "g_s"), map(whm1.read_network, parts)))
        for name in ("g_a", "h_a"):
            networks[name] = whm1.read_network(read(name + ".whm"))
        self.integers = Integers(networks)

    def encode(self, pixels):
        """The bytes of a .qp file, and the values of y that its decoder will have."""
        z, y = self.integers.analysis(pixels)
        scales, symbols, values = self.integers.passes(z, y)
        z_stream = rans.encode(z.ravel().tolist(),
                               [self.z_tables[c] for c in range(CZ) for _ in range(z[0].size)])
        y_stream = rans.encode(symbols.tolist(),
                               [self.y_tables[i] for i in bucket(scales, self.edges)])
        payload = b"WIM1" + struct.pack("<B3x2I7H2x2I", 1, *pixels.shape[:2], *z.shape, *y.shape,
                                        SLICES, len(z_stream), len(y_stream)) + z_stream + y_stream
        return qp_file(CAPABILITY, self.digest, payload), values

    def picture(self, values, size):
        g_s = self.integers.networks["g_s"]
        return rgb8(run(g_s, values), g_s.afrac)[:size[0], :size[1]]


def encode(settings, folder, path, out):
    with open(out, "wb") as file:
        file.write(Set(folder).encode(np.asarray(Image.open(path).convert("RGB")))[0])


def psnr(a, b):
    return 10 * math.log10(255 ** 2 / np.mean((a.astype(float) - b.astype(float)) ** 2))


@torch.no_grad()
def float_picture(model, z, symbols):
    """The float networks' picture for the same symbols."""
    z, at = torch.from_numpy(z.astype(np.float32))[None], 0
    h = model.h_s.plain(z)
    known = torch.zeros(1, CY, h.shape[2], h.shape[3])
    for mask in pass_masks(*h.shape[2:]):
        mean = model.entropy.plain(torch.cat([known, h], 1))[:, CY:]
        count, mask = int(mask.sum()), torch.from_numpy(mask)
        symbol = torch.from_numpy(symbols[at:at + count].astype(np.float32))
        known[:, mask] = symbol + mean[:, mask]
        at += count
    picture = model.g_s.plain(known)[0].clamp(0, 1) * 255
    return picture.round().numpy().astype(np.uint8).transpose(1, 2, 0)


def measure(settings, folder, quipu):
    model, codec = load(settings), Set(folder)
    with np.load(settings["photographs"]) as data, tempfile.TemporaryDirectory() as work:
        qp, png = os.path.join(work, "p.qp"), os.path.join(work, "p.png")
        for name in sorted(n for n in data.files if n.startswith("val-")):
            pixels = data[name]
            coded, values = codec.encode(pixels)
            with open(qp, "wb") as file:
                file.write(coded)
            subprocess.run([quipu, "decode", "--set", folder, "-o", png, qp], check=True)
            z, y = codec.integers.analysis(pixels)
            floats = float_picture(model, z, codec.integers.passes(z, y)[1])
            exact = np.asarray(Image.open(png))
            same = np.array_equal(exact, codec.picture(values, pixels.shape))
            size = pixels.shape[0] * pixels.shape[1]
            print(f"{name}: {8 * len(coded) / size:.3f} bits a pixel, PSNR "
                  f"{psnr(exact, pixels):.3f} dB (float networks {psnr(floats, pixels):.3f} dB), "
                  f"{'as' if same else 'NOT as'} the second decoder has it", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["train", "export", "encode", "measure"])
    parser.add_argument("settings")
    parser.add_argument("rest", nargs="*")
    arguments = parser.parse_args()
    with open(arguments.settings) as file:
        settings = json.load(file)
    if arguments.verb == "train":
        Trainer(settings).train()
    else:
        verbs = {"export": export, "encode": encode, "measure": measure}
        verbs[arguments.verb](settings, *arguments.rest)


if __name__ == "__main__":
    main()
