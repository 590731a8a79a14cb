# SPDX-License-Identifier: Apache-2.0
"""Where training starts: a picture transform that is already good, found without gradients.

The analysis begins as a tree of principal-component transforms over 2x2 blocks (3 -> 12 -> 32 ->
96 channels), the synthesis as its transpose. A hidden channel v of this path is held as
the pair v, -v, since leaky(v) - leaky(-v) = (1 + slope) v carries it through a leaky ReLU
unharmed. All other weights are small and random.
"""
import numpy as np
import torch

from picture import SLOPE

SMALL = 0.001  # scale of the random weights beside the path
PATHS = (12, 32, 96)


def blocks(x):
    """[n, C, H, W] to [n, 4C, H/2, W/2], channel order (row, column, C)."""
    return np.concatenate([x[:, :, i::2, j::2] for i in range(2) for j in range(2)], 1)


def principal(x, keep):
    """Rows of the transform of the channels, and its outputs."""
    flat = x.transpose(1, 0, 2, 3).reshape(x.shape[1], -1)
    flat = flat - flat.mean(1, keepdims=True)
    _, vectors = np.linalg.eigh(flat @ flat.T / flat.shape[1])
    rows = vectors[:, ::-1][:, :keep].T
    return rows, np.einsum("oc,nchw->nohw", rows, x)


def tree(x):
    """The four transforms as [out, 2, 2, in], and their last outputs; each stage is halved."""
    stages = []
    for keep in PATHS:
        channels = x.shape[1]
        rows, x = principal(blocks(x), keep)
        stages.append(rows.reshape(keep, 2, 2, channels) * 0.5)
        x = x * 0.5
    return stages, x


def paired(matrix, into, out_of):
    """The [in, out] matrix between channels held as pairs on either side."""
    if into:
        matrix = np.concatenate([matrix, -matrix], 1)
    if out_of:
        matrix = np.concatenate([matrix, -matrix], 0) / (1 + SLOPE)
    return torch.tensor(np.ascontiguousarray(matrix)).float()


def put(tap, matrix):
    """Adds a matrix into the first channels of one tap."""
    tap[:matrix.shape[0], :matrix.shape[1]] += matrix


def analysis(codec, stages, gain):
    first, second, same, last = codec.g_a.layers[::2]
    for number, (layer, rows) in enumerate(zip((first, second, last), stages)):
        final = number == len(PATHS) - 1
        for i in range(2):
            for j in range(2):
                matrix = rows[:, i, j].T * (gain if final else 1)
                put(layer.weight[:, :, 2 + i, 2 + j], paired(matrix, not final, number > 0).T)
    put(same.weight[:, :, 1, 1], paired(np.eye(PATHS[1]), True, True).T)


def synthesis(codec, stages, gain):
    """The transposes; a stage's rows carry 1/2, so that its inverse carries 2."""
    first, same, last = codec.g_s.layers[::2]
    for i in range(2):
        for j in range(2):
            put(first.weight[:, :, 2 + i, 2 + j],
                paired(stages[2][:, i, j] * 4 / gain, True, False))
            for k in range(2):
                for n in range(2):
                    matrix = stages[1][:, i, j] @ stages[0][:, k, n] * 16 * 128 / 255
                    put(last.weight[:, :, 4 + 2 * i + k, 4 + 2 * j + n],
                        paired(matrix, False, True))
    put(same.weight[:, :, 1, 1], paired(np.eye(PATHS[1]), True, True).T)
    last.bias.fill_(128 / 255)


def hyper(codec, y):
    """Scales and means begin at each channel's own; `unit` evens the channels out."""
    flat = y.transpose(1, 0, 2, 3).reshape(y.shape[1], -1)
    deviation, mean = flat.std(1), flat.mean(1)
    unit = torch.tensor(1 + 0.5 * deviation).float()
    codec.unit.copy_(unit.view(1, -1, 1, 1))
    codec.g_s.layers[0].weight *= unit.view(-1, 1, 1, 1)
    last = codec.h_s.layers[-1]
    last.weight *= 0.3
    last.bias[:codec.m] = torch.tensor(np.log(0.5 * deviation + 0.05)).float()
    last.bias[codec.m:] = torch.tensor(mean).float() / unit


@torch.no_grad()
def start(codec, x, step):
    """Sets the codec's weights from a batch of inputs; `step` is y's first step, in 1/255."""
    stages, y = tree(x.double().numpy())
    gain = 128 * 2.0 ** len(PATHS) / step
    for chain in (codec.g_a, codec.g_s):
        for layer in chain.layers[::2]:
            layer.weight *= SMALL
    analysis(codec, stages, gain)
    synthesis(codec, stages, gain)
    hyper(codec, y * gain)
