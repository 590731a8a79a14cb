# SPDX-License-Identifier: Apache-2.0
"""The sound codec of wai.audio.int_codec: a float network, its training, its integer set.

    audio.py train SETTINGS             goes on from the checkpoint when there is one
    audio.py export SETTINGS SET        g_s.wam, and g_a.whm beside it
    audio.py measure SETTINGS SET QUIPU rate and SNR of the held-out sounds, by the quipu command

Sound is in [-1, 1): sample / 32768. The analysis is two convolutions with a leaky ReLU between
them, the synthesis two transposed convolutions with an inverse GDN between them: what WAM1 holds.
One latent of 32 channels stands for 32 samples, and each channel has one law.
"""
import argparse
import copy
import json
import math
import os
import struct
import subprocess
import tempfile
import time
import wave

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import rans
import whm1
from picture import SLOPE, SLOPE_FRAC, SLOPE_Q, HyperPrior, bits_of
from qpf1 import qp_payload

RATE = 16000
CHANNELS, HIDDEN, FIRST, SECOND = 32, 32, 16, 2  # the strides from the sound inwards
HOP = FIRST * SECOND
AFRAC, SHIFT, GF = 16, 40, 20
SAMPLE_FRAC = 15


def tensor(out, c, k):
    return nn.Parameter(torch.randn(out, c, k) * 0.01 / math.sqrt(c * k))


class Audio(nn.Module):
    def __init__(self):
        super().__init__()
        self.a1, self.a1_bias = tensor(HIDDEN, 1, 33), nn.Parameter(torch.zeros(HIDDEN))
        self.a2, self.a2_bias = tensor(CHANNELS, HIDDEN, 9), nn.Parameter(torch.zeros(CHANNELS))
        self.s1, self.s1_bias = tensor(CHANNELS, HIDDEN, 10), nn.Parameter(torch.zeros(HIDDEN))
        self.s2, self.s2_bias = tensor(HIDDEN, 1, 48), nn.Parameter(torch.zeros(1))
        self.root_gamma = nn.Parameter(torch.full((HIDDEN, HIDDEN), 0.03))
        self.root_beta = nn.Parameter(torch.ones(HIDDEN))
        self.prior = HyperPrior(CHANNELS)
        self.register_buffer("gain", torch.ones(1))  # the latent's steps in a unit of sound

    def g_a(self, x):
        x = F.leaky_relu(F.conv1d(x, self.a1, self.a1_bias, FIRST, 16), SLOPE)
        return F.conv1d(x, self.a2, self.a2_bias, SECOND, 4) * self.gain

    def g_s(self, y):
        x = F.conv_transpose1d(y / self.gain, self.s1, self.s1_bias, SECOND, 4)
        norm = F.conv1d(x * x, (self.root_gamma ** 2).unsqueeze(-1), self.root_beta ** 2)
        return F.conv_transpose1d(x * norm.sqrt(), self.s2, self.s2_bias, FIRST, 16)

    def law_bits(self, y):
        return bits_of(self.prior.likelihood(y.unsqueeze(2))).sum()

    def forward(self, x, rounded):
        y = self.g_a(x)
        noisy = y + torch.rand_like(y) - 0.5
        coded = y + (y.round() - y).detach() if rounded else noisy
        return self.g_s(coded), self.law_bits(noisy)


def principal(blocks):
    """The orthonormal principal components of [n, size] blocks, as rows, the largest first."""
    _, vectors = np.linalg.eigh(blocks.T @ blocks / len(blocks))
    return np.ascontiguousarray(vectors[:, ::-1].T)


@torch.no_grad()
def start(model, sound, gain):
    """Both transforms begin as a tree of principal components and its transpose. Between the
    convolutions a value is held as the pair v, -v, which carries it through the leaky ReLU."""
    blocks = sound[:len(sound) // HOP * HOP].reshape(-1, FIRST)
    inner = principal(blocks)
    pairs = (blocks @ inner.T).reshape(-1, SECOND * FIRST)
    outer = principal(pairs)
    deviation = (pairs @ outer.T * gain).std(0)
    inner = torch.tensor(inner).float()
    outer = torch.tensor(outer).float().view(CHANNELS, SECOND, FIRST).transpose(1, 2)
    model.a1[:, 0, 16:32] += torch.cat([inner, -inner])
    model.a2[:, :, 4:6] += torch.cat([outer, -outer], 1) / (1 + SLOPE)
    model.s1[:, :FIRST, 4:6] += outer
    model.s2[:FIRST, 0, 16:32] += inner
    spread = torch.tensor(np.log(0.5 * deviation + 0.1)).float().view(-1, 1)
    model.prior.log_scale.copy_(spread + torch.tensor([-1.5, -0.5, 0.3]))
    model.prior.mean.fill_(0.01)
    model.gain.fill_(gain)


class Sounds:
    def __init__(self, path, seed):
        with np.load(path) as data:
            named = {name: data[name].astype(np.float32) / 32768 for name in sorted(data.files)}
        self.held_out = {n: s for n, s in named.items() if n.startswith("val-")}
        self.sound = np.concatenate([s for n, s in named.items() if n not in self.held_out])
        self.random = np.random.default_rng(seed)

    def batch(self, count, length):
        at = self.random.integers(len(self.sound) - length, size=count)
        x = np.stack([self.sound[a:a + length] for a in at])
        x = x * self.random.uniform(0.4, 1.2, (count, 1))
        return torch.from_numpy(x.astype(np.float32)).unsqueeze(1)


def snr(signal, decoded):
    return 10 * math.log10(float((signal ** 2).sum()) / float(((signal - decoded) ** 2).sum()))


class Trainer:
    def __init__(self, settings):
        self.settings = settings
        torch.manual_seed(settings["seed"])
        self.data = Sounds(settings["sounds"], settings["seed"] + int(time.time()))
        self.model, self.step, self.seconds = Audio(), 0, 0.0
        start(self.model, self.data.sound.astype(np.float64), math.sqrt(settings["lambda"] / 8))
        self.ema = copy.deepcopy(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings["rate"])
        if os.path.exists(settings["checkpoint"]):
            self.resume(torch.load(settings["checkpoint"]))
        elif os.path.exists(settings["weights"]):
            self.resume(torch.load(settings["weights"]))

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
        decoded, bits = self.model(x, part > self.settings["round_after"])
        rate, mse = bits / x.numel(), ((decoded - x) ** 2).mean()
        self.optimizer.zero_grad()
        (rate + self.settings["lambda"] * mse).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        keep = min(self.settings["ema"], (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for slow, fast in zip(self.ema.parameters(), self.model.parameters()):
                slow.lerp_(fast, 1 - keep)

    @torch.no_grad()
    def report(self):
        text = f"step {self.step} s {self.seconds:.0f}"
        for name, sound in self.data.held_out.items():
            x = torch.from_numpy(sound[:len(sound) // HOP * HOP]).view(1, 1, -1)
            y = self.ema.g_a(x).round()
            bits = float(self.ema.law_bits(y)) / x.numel()
            text += f" | {name} {bits:.3f} bits a sample, SNR {snr(x, self.ema.g_s(y)):.2f} dB"
        print(text, flush=True)
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

def integers(weight, bias, axes, input_frac):
    """int16 weights, and what brings their sums to AFRAC fractional bits, an output channel."""
    weight = weight.detach().double().numpy()
    scale = np.maximum(np.abs(weight).max(axis=axes, keepdims=True), 1e-9) / 32767
    mult = np.rint(scale.ravel() * 2.0 ** (SHIFT + AFRAC - input_frac)).astype(np.int64)
    bias = np.rint(bias.detach().double().numpy() * 2 ** AFRAC + 0.5).astype(np.int64)
    return np.rint(weight / scale).astype(np.int16), mult, bias


def conv(weight, bias, stride, pad, input_frac):
    """Tag 1: the kernel's middle row; a sound has one row."""
    line, mult, bias = integers(weight, bias, (1, 2), input_frac)
    out, c, k = line.shape
    square = np.zeros((out, c, k, k), np.int16)
    square[:, :, k // 2] = line
    return whm1.Layer(whm1.CONV, c, out, k, stride, pad, 0, square, mult, bias)


def conv_transpose(weight, bias, stride, pad):
    line, mult, bias = integers(weight, bias, (0, 2), AFRAC)
    c, out, k = line.shape
    return whm1.Layer(whm1.CONV_T, c, out, k, stride, pad, 0, line, mult, bias)


def networks(model):
    """The bytes of g_s.wam and g_a.whm."""
    gamma = (model.root_gamma ** 2).detach().double().numpy() * 2 ** GF
    beta = (model.root_beta ** 2).detach().double().numpy() * 2.0 ** (2 * AFRAC)
    igdn = whm1.Layer(whm1.IGDN, HIDDEN, gamma=np.rint(gamma).astype(np.int32),
                      beta=np.rint(beta).astype(np.int64))
    g_s = whm1.Network(AFRAC, SHIFT, GF, [
        conv_transpose(model.s1 / model.gain, model.s1_bias, SECOND, 4), igdn,
        conv_transpose(model.s2, model.s2_bias, FIRST, 16)])
    g_a = whm1.Network(AFRAC, SHIFT, 0, [
        conv(model.a1, model.a1_bias, FIRST, 16, SAMPLE_FRAC),
        whm1.Layer(whm1.LEAKY, slope_q=SLOPE_Q, slope_frac=SLOPE_FRAC),
        conv(model.a2 * model.gain, model.a2_bias * model.gain, SECOND, 4, AFRAC)])
    return b"WAM1" + whm1.network_bytes(g_s)[4:], whm1.network_bytes(g_a)


def load(settings):
    model = Audio()
    model.load_state_dict(torch.load(settings["weights"])["ema"])
    return model.eval()


def export(settings, folder):
    os.makedirs(folder, exist_ok=True)
    for name, data in zip(("g_s.wam", "g_a.whm"), networks(load(settings))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        print(name, len(data), "bytes")


# ---- measuring -------------------------------------------------------------------------------

def latents_of(payload):
    """The symbols [c, t] of a WIA1 payload, by the coder of rans.py."""
    c, count, length = struct.unpack_from("<HHI", payload, 16)
    at, tables = 24, []
    for _ in range(count):
        offset, n = struct.unpack_from("<iI", payload, at)
        tables.append((list(struct.unpack_from(f"<{n}I", payload, at + 8)), offset))
        at += 8 + 4 * n
    coder = rans.Decoder(payload[at + 4:])
    symbols = [[coder.symbol(tables[k % count]) for _ in range(length)] for k in range(c)]
    coder.finish()
    return np.array(symbols)


def read_wav(path):
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float64)


@torch.no_grad()
def measure(settings, folder, quipu):
    """The command codes each held-out sound; the float synthesis decodes the same symbols."""
    model = load(settings).double()
    with np.load(settings["sounds"]) as data, tempfile.TemporaryDirectory() as work:
        wav, coded, back = (os.path.join(work, name) for name in ("s.wav", "s.qp", "back.wav"))
        for name in sorted(n for n in data.files if n.startswith("val-")):
            with wave.open(wav, "wb") as file:
                file.setparams((1, 2, RATE, 0, "NONE", None))
                file.writeframes(data[name].astype("<i2").tobytes())
            subprocess.run([quipu, "encode", "--set", folder, "-o", coded, wav], check=True)
            subprocess.run([quipu, "decode", "--set", folder, "-o", back, coded], check=True)
            with open(coded, "rb") as file:
                bytes_ = file.read()
            sound = data[name].astype(np.float64)
            y = torch.from_numpy(latents_of(qp_payload(bytes_)).astype(np.float64))
            decoded = model.g_s(y[None])[0, 0].numpy()[:len(sound)] * 32767
            decoded = np.clip(np.rint(decoded), -32768, 32767)
            print(f"{name}: {len(sound) / RATE:.1f} s, {8 * len(bytes_) / len(sound):.3f} bits a "
                  f"sample, SNR {snr(sound, read_wav(back)):.3f} dB (float synthesis "
                  f"{snr(sound, decoded):.3f} dB), largest difference "
                  f"{np.abs(read_wav(back) - decoded).max():.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["train", "export", "measure"])
    parser.add_argument("settings")
    parser.add_argument("rest", nargs="*")
    arguments = parser.parse_args()
    with open(arguments.settings) as file:
        settings = json.load(file)
    if arguments.verb == "train":
        Trainer(settings).train()
    else:
        {"export": export, "measure": measure}[arguments.verb](settings, *arguments.rest)


if __name__ == "__main__":
    main()
