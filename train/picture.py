# SPDX-License-Identifier: Apache-2.0
"""The picture codec of wai.neural.int_hyper as a float network, and its training.

A mean-scale hyperprior whose every layer has a WHM1 tag: convolutions, transposed convolutions
and leaky ReLU. `picture.py train SETTINGS` trains it on a folder of photographs; it goes on from
the checkpoint when there is one. The learning rate follows the seconds spent, so that a run fits
the time that the settings give it, however busy the machine is.
"""
import argparse
import copy
import json
import math
import os
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SLOPE_FRAC = 12
SLOPE_Q = 410  # a leaky slope of 410 / 2^12, about 0.1, exact in both worlds
SLOPE = SLOPE_Q / 2 ** SLOPE_FRAC
SCALE_MIN, SCALE_MAX = math.log(0.11), math.log(128.0)


class Conv(nn.Module):
    """WHM1 tag 1. A kernel of three strides is run as 3x3 over an unshuffled input: same sums."""

    def __init__(self, c, out, k, stride=1, bias=0.0):
        super().__init__()
        self.c, self.out, self.k, self.stride = c, out, k, stride
        self.pad = stride if k == 3 * stride else k // 2
        self.weight = nn.Parameter(torch.randn(out, c, k, k) * math.sqrt(1.6 / (c * k * k)))
        self.bias = nn.Parameter(torch.full((out,), bias))

    def forward(self, x):
        if self.stride == 1 or self.k != 3 * self.stride:
            return F.conv2d(x, self.weight, self.bias, self.stride, self.pad)
        s = self.stride
        w = self.weight.view(self.out, self.c, 3, s, 3, s).permute(0, 1, 3, 5, 2, 4)
        return F.conv2d(F.pixel_unshuffle(x, s), w.reshape(self.out, -1, 3, 3), self.bias, 1, 1)

    def plain(self, x):
        return F.conv2d(x, self.weight, self.bias, self.stride, self.pad)


class ConvT(nn.Module):
    """WHM1 tag 0, giving `stride` times the size; run as 3x3 phase convolutions (same sums)."""

    def __init__(self, c, out, k, stride, bias=0.0):
        super().__init__()
        self.c, self.out, self.k, self.stride = c, out, k, stride
        self.pad = (k - stride + 1) // 2
        self.opad = stride - k + 2 * self.pad
        fan = c * k * k / stride ** 2
        self.weight = nn.Parameter(torch.randn(c, out, k, k) * math.sqrt(1.6 / fan))
        self.bias = nn.Parameter(torch.full((out,), bias))

    def forward(self, x):
        s, before = self.stride, self.stride - self.pad
        after = 3 * s - self.k - before
        w = F.pad(self.weight, (before, after, before, after))
        w = w.view(self.c, self.out, 3, s, 3, s).flip(2, 4).permute(1, 3, 5, 0, 2, 4)
        w = w.reshape(self.out * s * s, self.c, 3, 3)
        return F.pixel_shuffle(F.conv2d(x, w, self.bias.repeat_interleave(s * s), 1, 1), s)

    def plain(self, x):
        return F.conv_transpose2d(x, self.weight, self.bias, self.stride, self.pad, self.opad)


class Leaky(nn.Module):
    """WHM1 tag 4."""

    def forward(self, x):
        return F.leaky_relu(x, SLOPE)

    plain = forward


class Chain(nn.Module):
    """Layers one after another; the last one in float32 even where the others run in bfloat16."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x)
        with torch.cpu.amp.autocast(enabled=False):
            return self.layers[-1](x.float())

    def plain(self, x):
        for layer in self.layers:
            x = layer.plain(x)
        return x


class LowerBound(torch.autograd.Function):
    """max(x, bound), with the gradient kept where it would push x up again."""

    @staticmethod
    def forward(ctx, x, bound):
        ctx.save_for_backward(x)
        ctx.bound = bound
        return x.clamp(min=bound)

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * ((x >= ctx.bound) | (grad < 0)), None


def bits_of(likelihood):
    return -torch.log2(LowerBound.apply(likelihood, 1e-9))


def gaussian_bits(v, log_scale):
    """Bits of the unit interval around v under a normal law of that logarithmic scale."""
    inverse = torch.exp(-LowerBound.apply(log_scale, SCALE_MIN).clamp(max=SCALE_MAX))
    v, root = v.abs(), math.sqrt(0.5)
    upper = torch.erfc((v - 0.5) * inverse * root)
    return bits_of(0.5 * (upper - torch.erfc((v + 0.5) * inverse * root)))


class HyperPrior(nn.Module):
    """The law of z: for each channel a mixture of three logistic laws."""

    def __init__(self, channels):
        super().__init__()
        spread = torch.tensor([-3.0, 0.0, 3.0]).repeat(channels, 1)
        self.mean = nn.Parameter(spread)
        self.log_scale = nn.Parameter(torch.zeros(channels, 3))
        self.weight = nn.Parameter(torch.zeros(channels, 3))

    def likelihood(self, z):
        """z is [n, C, H, W]; the mass of the unit interval around each element."""
        shape = (1, z.shape[1], 1, 1, 3)
        v, inverse = z.unsqueeze(-1), torch.exp(-self.log_scale).view(shape)
        mean, weight = self.mean.view(shape), torch.softmax(self.weight, 1).view(shape)
        far = -(v - mean).sign()  # both tails from the small side, to keep their digits
        upper = torch.sigmoid(far * (v + 0.5 - mean) * inverse)
        lower = torch.sigmoid(far * (v - 0.5 - mean) * inverse)
        return ((upper - lower).abs() * weight).sum(-1)


class Codec(nn.Module):
    """x is a picture in [-1, 1) ((byte - 128) / 128); what g_s gives is in [0, 1] (byte / 255)."""

    def __init__(self, m=96, z=48, lambdas=(0.012,)):
        super().__init__()
        self.m = m
        steps = 0.5 * torch.log(torch.tensor(lambdas) / 0.012)
        self.log_gain = nn.Parameter(steps.view(-1, 1).repeat(1, m))
        self.g_a = Chain(Conv(3, 32, 6, 2), Leaky(), Conv(32, 64, 5, 2), Leaky(),
                         Conv(64, 64, 3), Leaky(), Conv(64, m, 5, 2))
        self.h_a = Chain(Conv(m, 64, 3), Leaky(), Conv(64, 64, 5, 2), Leaky(), Conv(64, z, 5, 2))
        self.h_s = Chain(ConvT(z, 64, 5, 2), Leaky(), ConvT(64, 96, 5, 2), Leaky(),
                         Conv(96, 2 * m, 1))
        self.g_s = Chain(ConvT(m, 64, 5, 2), Leaky(), Conv(64, 64, 3), Leaky(),
                         ConvT(64, 3, 12, 4, 0.5))
        self.prior = HyperPrior(z)
        self.register_buffer("unit", torch.ones(1, m, 1, 1))  # about each y channel's deviation

    @torch.no_grad()
    def fold(self, quality):
        """Moves `unit` and one quality's gain into the weights: afterwards y, its scale and its
        mean are what the networks read and give as such, and there is one quality, of gain 1."""
        gain, unit = self.log_gain[quality].exp(), self.unit.flatten()
        first, last = self.g_s.layers[0], self.g_a.layers[-1]
        last.weight *= gain.view(-1, 1, 1, 1)
        last.bias *= gain
        first.weight /= (unit * gain).view(-1, 1, 1, 1)
        self.h_a.layers[0].weight /= (unit * gain).view(1, -1, 1, 1)
        last = self.h_s.layers[-1]
        last.bias[:self.m] += gain.log()
        last.weight[self.m:] *= (unit * gain).view(-1, 1, 1, 1)
        last.bias[self.m:] *= unit * gain
        self.unit.fill_(1)
        self.log_gain = nn.Parameter(torch.zeros(1, self.m))

    def gains(self, quality):
        """[n, m, 1, 1]: the gain of each picture's quality, and its logarithm."""
        log_gain = self.log_gain[quality].view(-1, self.m, 1, 1)
        return log_gain.exp(), log_gain

    def forward(self, x, quality, rounded):
        """The reconstruction and the bits of z and y (training): noise for the rate, and for the
        decoder noise too or, when `rounded`, rounding with the gradient of the identity."""
        gain, log_gain = self.gains(quality)
        y = self.g_a(x)
        z = self.h_a(y / self.unit)
        noisy = z + torch.rand_like(z) - 0.5
        bits_z = bits_of(self.prior.likelihood(noisy)).sum((1, 2, 3))
        scale, mean = self.h_s(z + (z.round() - z).detach() if rounded else noisy).split(self.m, 1)
        v = (y - mean * self.unit) * gain
        noisy = v + torch.rand_like(v) - 0.5
        bits_y = gaussian_bits(noisy, scale + log_gain).sum((1, 2, 3))
        coded = v + (v.round() - v).detach() if rounded else noisy
        return self.g_s(coded / gain / self.unit + mean), bits_z, bits_y

    @torch.no_grad()
    def code(self, x, quality):
        """The bits (of the laws) and the float decoder's picture for rounded symbols."""
        gain, log_gain = self.gains([quality])
        y = self.g_a.plain(x)
        z = self.h_a.plain(y / self.unit).round()
        scale, mean = self.h_s.plain(z).split(self.m, 1)
        symbols = ((y - mean * self.unit) * gain).round()
        bits = bits_of(self.prior.likelihood(z)).sum()
        bits += gaussian_bits(symbols, scale + log_gain).sum()
        return float(bits), self.g_s.plain(symbols / gain / self.unit + mean)


def to_input(pictures):
    """uint8 [n, H, W, 3] to the network's input."""
    return (torch.from_numpy(pictures).permute(0, 3, 1, 2).float() - 128) / 128


class Photographs:
    """The prepared training pictures (prepare.py); `held_out` of them are kept for validation."""

    def __init__(self, path, seed):
        with np.load(path) as data:
            names = sorted(data.files)
            pictures = {name: data[name] for name in names}
        held_out = [n for n in names if n.startswith("val-")]
        self.pictures = [pictures[n] for n in names if n not in held_out]
        areas = np.array([p.shape[0] * p.shape[1] for p in self.pictures], float) ** 0.5
        self.chance = areas / areas.sum()
        self.held_out = [pictures[n] for n in held_out]
        self.random = np.random.default_rng(seed)

    def crop(self, side):
        p = self.pictures[self.random.choice(len(self.pictures), p=self.chance)]
        top = self.random.integers(p.shape[0] - side + 1)
        left = self.random.integers(p.shape[1] - side + 1)
        p = np.rot90(p[top:top + side, left:left + side], self.random.integers(4))
        return p[:, ::-1] if self.random.integers(2) else p

    def batch(self, count, side):
        return to_input(np.stack([self.crop(side) for _ in range(count)]))

    def validation(self, side=256):
        return to_input(np.stack([p[:side, :side] for p in self.held_out]))


def target_of(x):
    """The input in the output's scale."""
    return (x * 128 + 128) / 255


def started(settings, data):
    """A new codec: a principal-component start, or one quality of a codec trained before."""
    import start  # it reads this module's constants
    lambdas = settings["lambdas"]
    if "start" not in settings:
        codec = Codec(settings["m"], settings["z"], lambdas)
        start.start(codec, data.batch(32, 128), settings["first_step"])
        return codec
    state = torch.load(settings["start"])["ema"]
    quality = settings["quality"]
    state["log_gain"] = state["log_gain"][quality:quality + 1]
    codec = Codec(settings["m"], settings["z"], lambdas)
    codec.load_state_dict(state)
    return codec


class Trainer:
    def __init__(self, settings):
        self.settings = settings
        torch.manual_seed(settings["seed"])
        self.data = Photographs(settings["photographs"], settings["seed"] + int(time.time()))
        self.lambdas = torch.tensor(settings["lambdas"])
        self.codec = started(settings, self.data)
        self.ema = copy.deepcopy(self.codec)
        self.optimizer = torch.optim.Adam(self.groups(), lr=settings["rate"])
        self.step, self.seconds = 0, 0.0
        if os.path.exists(settings["checkpoint"]):
            self.resume()

    def groups(self):
        """The picture's networks, and those of the law of y, which bear a higher rate."""
        codec, times = self.codec, self.settings["hyper_times"]
        law = [codec.h_a, codec.h_s, codec.prior]
        return [{"params": [*codec.g_a.parameters(), *codec.g_s.parameters()], "times": 1.0},
                {"params": [p for part in law for p in part.parameters()] + [codec.log_gain],
                 "times": times}]

    def resume(self):
        state = torch.load(self.settings["checkpoint"])
        self.codec.load_state_dict(state["codec"])
        self.ema.load_state_dict(state["ema"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
        print(f"resumed at step {self.step}, {self.seconds:.0f} s", flush=True)

    def save(self):
        path = self.settings["checkpoint"]
        torch.save({"codec": self.codec.state_dict(), "ema": self.ema.state_dict(),
                    "optimizer": self.optimizer.state_dict(), "step": self.step,
                    "seconds": self.seconds}, path + ".part")
        os.replace(path + ".part", path)
        weights = {"ema": {k: v.half() for k, v in self.ema.state_dict().items()},
                   "step": self.step, "seconds": self.seconds}
        torch.save(weights, self.settings["weights"])

    def set_rate(self):
        part = min(self.seconds / self.settings["budget_seconds"], 1.0)
        rate = self.settings["rate"] * (0.5 + 0.5 * math.cos(math.pi * part) + 0.005)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["times"] * min(1.0, (self.step + 1) / 500)
        return part

    def one_step(self, part):
        """One batch, its pictures' qualities in turn; the bits a pixel and the MSE of each."""
        big = part > self.settings["big_after"]
        count, side = self.settings["big" if big else "small"]
        x = self.data.batch(count, side)
        quality = (torch.arange(count) + self.step * count) % len(self.lambdas)
        with torch.cpu.amp.autocast(dtype=torch.bfloat16, enabled=self.settings["bfloat16"]):
            rounded = part > self.settings["round_after"]
            picture, bits_z, bits_y = self.codec(x, quality, rounded)
        mse = ((picture - target_of(x)) ** 2).mean((1, 2, 3)) * 255 ** 2
        bpp, lambdas = (bits_z + bits_y) / side ** 2, self.lambdas[quality]
        loss = ((bpp + lambdas * mse) * (0.012 / lambdas) ** 0.5).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.codec.parameters(), 1.0)
        self.optimizer.step()
        self.follow()
        return quality.numpy(), torch.stack([bpp, mse], 1).detach().numpy()

    @torch.no_grad()
    def follow(self):
        keep = min(self.settings["ema"], (1 + self.step) / (10 + self.step))
        for slow, fast in zip(self.ema.parameters(), self.codec.parameters()):
            slow.lerp_(fast, 1 - keep)

    def validate(self):
        x, text = self.data.validation(), ""
        for quality, weight in enumerate(self.settings["lambdas"]):
            bits, picture = self.ema.code(x, quality)
            picture = (picture.clamp(0, 1) * 255).round() / 255
            mse = float(((picture - target_of(x)) ** 2).mean()) * 255 ** 2
            bpp = bits / (x.shape[0] * x.shape[2] * x.shape[3])
            text += (f" | bpp {bpp:.4f} psnr {10 * math.log10(255 ** 2 / mse):.3f} "
                     f"loss {bpp + weight * mse:.4f}")
        print(f"validation step {self.step}{text}", flush=True)

    def report(self, sums, counts):
        text = ""
        for (bpp, mse), weight in zip(sums / counts[:, None], self.settings["lambdas"]):
            text += f" | bpp {bpp:.4f} mse {mse:.2f} loss {bpp + weight * mse:.4f}"
        print(f"step {self.step} s {self.seconds:.0f}{text}", flush=True)
        self.validate()
        self.save()

    def train(self):
        shape = (len(self.lambdas), 2)
        sums, counts, begin = np.zeros(shape), np.zeros(shape[0]), time.time()
        while self.seconds < self.settings["budget_seconds"]:
            start = time.time()
            quality, values = self.one_step(self.set_rate())
            if not np.isfinite(values).all():
                raise SystemExit("the loss is not finite: resume from the checkpoint")
            np.add.at(sums, quality, values)
            np.add.at(counts, quality, 1)
            self.step += 1
            self.seconds += time.time() - start
            if time.time() - begin > self.settings["log_seconds"]:
                self.report(sums, counts)
                sums, counts, begin = np.zeros(shape), np.zeros(shape[0]), time.time()
        self.validate()
        self.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["train"])
    parser.add_argument("settings", help="a settings-*.json file")
    arguments = parser.parse_args()
    with open(arguments.settings) as file:
        settings = json.load(file)
    Trainer(settings).train()


if __name__ == "__main__":
    main()
