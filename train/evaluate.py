# SPDX-License-Identifier: Apache-2.0
"""Rate and quality of sets on pictures, beside JPEG and WebP at the same rates.

The rate is the size of the payload that the encoder writes, and the picture is what the exact
integer decoder gives for it. The float decoder's PSNR at the same symbols stands beside it.
"""
import argparse
import glob
import io
import json
import math
import os

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

import rans
from integer_decode import Set, bucket
from quantize import load

WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def psnr(a, b):
    mse = ((a.astype(np.float64) - b.astype(np.float64)) ** 2).mean()
    return 10 * math.log10(255 ** 2 / mse)


def ms_ssim(a, b):
    """Multi-scale structural similarity of two RGB byte pictures (Wang 2003, 11x11 window)."""
    window = torch.exp(-((torch.arange(11) - 5.0) ** 2) / (2 * 1.5 ** 2)).double()
    window = (window / window.sum()).view(1, 1, 1, 11)
    x, y = (torch.from_numpy(v.transpose(2, 0, 1).astype(np.float64))[:, None] for v in (a, b))

    def blur(v):
        return F.conv2d(F.conv2d(v, window), window.transpose(2, 3))
    value = torch.ones(3).double()
    for level, weight in enumerate(WEIGHTS):
        mx, my = blur(x), blur(y)
        vx, vy, cov = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
        part = (2 * cov + 58.5225) / (vx + vy + 58.5225)
        if level == len(WEIGHTS) - 1:
            part = part * (2 * mx * my + 6.5025) / (mx * mx + my * my + 6.5025)
        value = value * part.mean((1, 2, 3)).clamp(min=0) ** weight
        x, y = F.avg_pool2d(x, 2), F.avg_pool2d(y, 2)
    return float(value.mean())


def float_picture(codec, coder, payload):
    """The float decoder's picture for the symbols in a payload."""
    size, z_shape, y_shape, z_stream, y_stream = rans.read_wih1(payload)
    decoder = rans.Decoder(z_stream)
    z = [decoder.symbol(coder.z_tables[c]) for c in range(z_shape[0])
         for _ in range(z_shape[1] * z_shape[2])]
    z = np.array(z, np.int64).reshape(z_shape)
    scales, _ = coder.scales_and_means(z)
    decoder = rans.Decoder(y_stream)
    y = [decoder.symbol(coder.y_tables[i]) for i in bucket(scales, coder.edges).ravel()]
    y = torch.tensor(y, dtype=torch.float32).view(1, *y_shape)
    with torch.no_grad():
        mean = codec.h_s.plain(torch.from_numpy(z).float()[None])[:, codec.m:]
        out = codec.g_s.plain(y + mean)[0].clamp(0, 1).permute(1, 2, 0).numpy()
    return np.rint(out * 255).astype(np.uint8)[:size[0], :size[1]]


def ours(folder, codec, picture):
    coder = Set(folder)
    payload = coder.encode(picture)
    decoded = coder.decode(payload)
    return {"bpp": 8 * len(payload) / (picture.shape[0] * picture.shape[1]),
            "psnr": psnr(picture, decoded), "ms_ssim": ms_ssim(picture, decoded),
            "float_psnr": psnr(picture, float_picture(codec, coder, payload))}


def saved(picture, **options):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, **options)
    return file.getvalue()


def coded(picture, quality, options):
    """The rate and the decoded picture of a codec of Pillow's."""
    data = saved(picture, quality=quality, **options)
    decoded = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    return 8 * len(data) / (picture.shape[0] * picture.shape[1]), decoded


def at_rate(picture, bpp, **options):
    """The quality of a codec of Pillow's at a rate, interpolated between its two nearest."""
    low, high = 1, 100  # low's rate is below bpp, or low is 1
    while high - low > 1:
        middle = (low + high) // 2
        if coded(picture, middle, options)[0] < bpp:
            low = middle
        else:
            high = middle
    ends = [coded(picture, quality, options) for quality in (low, high)]
    t = min(max((bpp - ends[0][0]) / (ends[1][0] - ends[0][0]), 0.0), 1.0)
    values = [(psnr(picture, decoded), ms_ssim(picture, decoded)) for _, decoded in ends]
    return {"psnr": (1 - t) * values[0][0] + t * values[1][0],
            "ms_ssim": (1 - t) * values[0][1] + t * values[1][1]}


RIVALS = {
    "jpeg": {"format": "JPEG", "optimize": True},
    "jpeg444": {"format": "JPEG", "optimize": True, "subsampling": 0},
    "webp": {"format": "WEBP", "method": 4},
}


def evaluate(settings, folder, pictures):
    codec = load(settings)
    rows = []
    for path in pictures:
        picture = np.asarray(Image.open(path).convert("RGB"))
        row = {"picture": os.path.basename(path), **ours(folder, codec, picture)}
        for name, options in RIVALS.items():
            row[name] = at_rate(picture, row["bpp"], **options)
        print(f"{row['picture']:14s} bpp {row['bpp']:.4f} psnr {row['psnr']:.3f} "
              f"(float {row['float_psnr']:.3f}) ms-ssim {row['ms_ssim']:.4f} | " + " | ".join(
                  f"{name} {row[name]['psnr']:.3f} {row[name]['ms_ssim']:.4f}"
                  for name in RIVALS), flush=True)
        rows.append(row)
    return rows


def means(rows):
    result = {key: float(np.mean([r[key] for r in rows]))
              for key in ("bpp", "psnr", "float_psnr", "ms_ssim")}
    for name in RIVALS:
        for key in ("psnr", "ms_ssim"):
            result[f"{name}_{key}"] = float(np.mean([r[name][key] for r in rows]))
    return {key: round(value, 4) for key, value in result.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("settings")
    parser.add_argument("folder", help="the set")
    parser.add_argument("pictures", help="a folder of PNG pictures")
    parser.add_argument("-o", help="write the figures as JSON")
    arguments = parser.parse_args()
    with open(arguments.settings) as file:
        settings = json.load(file)
    rows = evaluate(settings, arguments.folder, sorted(glob.glob(arguments.pictures + "/*.png")))
    print("mean", json.dumps(means(rows)))
    if arguments.o:
        with open(arguments.o, "w") as file:
            json.dump({"mean": means(rows), "pictures": rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
