# SPDX-License-Identifier: Apache-2.0
"""The model of wai.neural.int_synth: a small autoencoder of photographs with latents of 8 bits.

    int_synth.py train SETTINGS                     goes on from the checkpoint when there is one
    int_synth.py export SETTINGS SET                int_synth.json
    int_synth.py encode SETTINGS SET PICTURE OUT.qp the largest square in its middle of a PNG
    int_synth.py measure SETTINGS SET QUIPU         PSNR of the validation crops, by the command

16 latents stand for 8 by 8 pixels, so that a payload has two bits a pixel. Only the synthesis is
integers: the analysis, whose latents are rounded, is PyTorch's.
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
from torch.nn import functional as F

from picture import Conv, ConvT, Photographs, target_of
from qpf1 import qp_file
from start import blocks, principal

CHANNELS, SHRINK = 16, 8
PATHS = (12, 24, CHANNELS)  # principal components of each halving; a hidden one is a pair v, -v
UNIT_FRAC = 5               # a latent is in units of 2^-5
WEIGHT_FRAC, ACTIVATION_FRAC, LAST_FRAC = 12, 12, 10


class Round8(torch.autograd.Function):
    """To a whole number of 8 bits; the gradient is the identity's, but never further out."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round().clamp(-128, 127)

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * (((x < 127) | (grad > 0)) & ((x > -128) | (grad < 0)))


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        a, b = 2 * PATHS[0], 2 * PATHS[1]
        self.analysis = nn.ModuleList([Conv(3, a, 6, 2), Conv(a, b, 6, 2), Conv(b, CHANNELS, 6, 2)])
        self.synthesis = nn.ModuleList([ConvT(CHANNELS, b, 4, 2), ConvT(b, a, 4, 2),
                                        ConvT(a, 3, 4, 2, 0.5)])
        self.register_buffer("unit", torch.ones(1, CHANNELS, 1, 1))

    def latents(self, x):
        for layer in self.analysis[:-1]:
            x = F.relu(layer(x))
        return Round8.apply(self.analysis[-1](x) / self.unit * 2 ** UNIT_FRAC)

    def picture(self, latents):
        x = latents * self.unit / 2 ** UNIT_FRAC
        for layer in self.synthesis[:-1]:
            x = F.relu(layer(x))
        return self.synthesis[-1](x)


@torch.no_grad()
def start(model, x):
    """Both networks begin as a tree of principal components over 2x2 blocks and its transpose;
    relu(v) - relu(-v) = v carries a value through the ReLU."""
    x = x.double().numpy()
    for layer in (*model.analysis, *model.synthesis):
        layer.weight *= 0.01
    for number, keep in enumerate(PATHS):
        rows, after = principal(blocks(x), keep)
        rows = torch.tensor(rows.reshape(keep, 2, 2, x.shape[1]).copy()).float()
        rows = rows.permute(0, 3, 1, 2) / 2
        into, out = rows, rows * 4
        if number > 0:
            into, out = torch.cat([into, -into], 1), torch.cat([out, -out], 1)
        if number < len(PATHS) - 1:
            into, out = torch.cat([into, -into]), torch.cat([out, -out])
        model.analysis[number].weight[:, :, 2:4, 2:4] += into
        scale = 128 / 255 if number == 0 else 1
        model.synthesis[-1 - number].weight[:, :, 1:3, 1:3] += out * scale
        x = after / 2
    model.unit.copy_(torch.tensor(x.std((0, 2, 3))).float().view(1, -1, 1, 1))


def psnr(a, b):
    return 10 * math.log10(255 ** 2 / np.mean((a.astype(float) - b.astype(float)) ** 2))


def to_bytes(picture):
    return (picture.clamp(0, 1) * 255).round().numpy().astype(np.uint8)


class Trainer:
    def __init__(self, settings):
        self.settings = settings
        torch.manual_seed(settings["seed"])
        self.data = Photographs(settings["photographs"], settings["seed"] + int(time.time()))
        self.model, self.step, self.seconds = Small(), 0, 0.0
        start(self.model, self.data.batch(64, 64))
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

    def one_step(self):
        part = min(self.seconds / self.settings["budget_seconds"], 1.0)
        rate = self.settings["rate"] * (0.5 + 0.5 * math.cos(math.pi * part) + 0.005)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * min(1.0, (self.step + 1) / 200)
        x = self.data.batch(*self.settings["batch"])
        loss = ((self.model.picture(self.model.latents(x)) - target_of(x)) ** 2).mean()
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
        x = self.data.validation()
        picture = to_bytes(self.ema.picture(self.ema.latents(x)))
        text = f"PSNR {psnr(picture, (target_of(x) * 255).numpy()):.2f} dB"
        print(f"step {self.step} s {self.seconds:.0f} | {text}", flush=True)
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

def layer_json(layer, scale, frac, shift, last):
    """One layer: weights in units of 2^-frac, a bias that rounds the floor to the nearest."""
    weight = layer.weight.detach().double() * scale
    bias = layer.bias.detach().double() * (255 if last else 1) * 2.0 ** (shift + (
        0 if last else ACTIVATION_FRAC)) + (1 << (shift - 1))
    return {"in_ch": layer.c, "out_ch": layer.out, "k": layer.k, "stride": layer.stride,
            "pad": layer.pad, "out_pad": layer.opad, "shift": shift, "relu": not last,
            "weight": (weight * 2 ** frac).round().long().tolist(),
            "bias": bias.round().long().tolist()}


def set_bytes(model):
    first, second, last = model.synthesis
    value = {"layers": [
        layer_json(first, model.unit.double().view(-1, 1, 1, 1), WEIGHT_FRAC,
                   UNIT_FRAC + WEIGHT_FRAC - ACTIVATION_FRAC, False),
        layer_json(second, 1, WEIGHT_FRAC, WEIGHT_FRAC, False),
        layer_json(last, 255, LAST_FRAC, LAST_FRAC + ACTIVATION_FRAC, True)]}
    return (json.dumps(value, separators=(",", ":")) + "\n").encode()


def load(settings):
    model = Small()
    model.load_state_dict(torch.load(settings["weights"])["ema"])
    return model.eval()


def export(settings, folder):
    os.makedirs(folder, exist_ok=True)
    data = set_bytes(load(settings))
    with open(os.path.join(folder, "int_synth.json"), "wb") as file:
        file.write(data)
    print("int_synth.json", len(data), "bytes", hashlib.sha256(data).hexdigest())


# ---- coding ----------------------------------------------------------------------------------

def to_latents(model, pixels):
    x = (torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None] - 128) / 128
    with torch.no_grad():
        return model.latents(x)


def coded(latents, folder):
    """The bytes of a .qp file."""
    with open(os.path.join(folder, "int_synth.json"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    _, channels, side, _ = latents.shape
    payload = b"WIY1" + struct.pack("<BxHH2xII", 1, channels, side, SHRINK * side, SHRINK * side)
    payload += latents.numpy().astype(np.int8).tobytes()
    return qp_file("wai.neural.int_synth", digest, payload)


def encode(settings, folder, path, out):
    pixels = np.asarray(Image.open(path).convert("RGB"))
    side = min(pixels.shape[:2]) // SHRINK * SHRINK
    top, left = (pixels.shape[0] - side) // 2, (pixels.shape[1] - side) // 2
    with open(out, "wb") as file:
        pixels = pixels[top:top + side, left:left + side]
        file.write(coded(to_latents(load(settings), pixels), folder))


def measure(settings, folder, quipu):
    """The command decodes each validation crop; the float synthesis the same latents."""
    model = load(settings)
    with np.load(settings["photographs"]) as data, tempfile.TemporaryDirectory() as work:
        qp, png = os.path.join(work, "p.qp"), os.path.join(work, "p.png")
        for name in sorted(n for n in data.files if n.startswith("val-")):
            latents = to_latents(model, data[name])
            with open(qp, "wb") as file:
                file.write(coded(latents, folder))
            subprocess.run([quipu, "decode", "--set", folder, "-o", png, qp], check=True)
            with torch.no_grad():
                floats = to_bytes(model.picture(latents))[0].transpose(1, 2, 0)
            exact = np.asarray(Image.open(png))
            print(f"{name}: PSNR {psnr(exact, data[name]):.3f} dB (float synthesis "
                  f"{psnr(floats, data[name]):.3f} dB), largest difference "
                  f"{np.abs(exact.astype(int) - floats).max()}", flush=True)


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
