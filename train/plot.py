#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/codec-*.svg from the figures.json that evaluate.py writes beside each set.

    python3 train/plot.py

The mean over the test photographs: bits a pixel against PSNR and MS-SSIM, beside JPEG and WebP at
the same rates. Standard library only.
"""

import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 620, 380, 64, 24, 150, 48
CURVES = [("psnr", "ms_ssim", "int_hyper", "#0b7a5c"),
          ("jpeg_psnr", "jpeg_ms_ssim", "JPEG", "#b3261e"),
          ("jpeg444_psnr", "jpeg444_ms_ssim", "JPEG 4:4:4", "#8a6d00"),
          ("webp_psnr", "webp_ms_ssim", "WebP", "#2457a8")]


def means():
    sets = [ROOT / "models" / "int_hyper" / name / "figures.json" for name in ("q1", "q2", "q3")]
    return [json.loads(path.read_text())["mean"] for path in sets]


def decibels(ms_ssim):
    """MS-SSIM as -10 log10(1 - x), which spreads the values near 1."""
    return -10 * math.log10(1 - ms_ssim)


def ticks(least, greatest, step):
    first = math.ceil(least / step)
    return [n * step for n in range(first, math.floor(greatest / step) + 1)]


def draw(title, unit, curves, step):
    points = [point for _, _, curve in curves for point in curve]
    low_x, high_x = 0.2, max(x for x, _ in points) + 0.1
    low_y = math.floor(min(y for _, y in points)) - 0.5
    high_y = math.ceil(max(y for _, y in points)) + 0.5

    def place(x, y):
        return (LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (y - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM))

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             f'font-family="sans-serif" font-size="12" role="img" aria-label="{title}">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="16" font-weight="bold">{title}</text>']
    for value in ticks(low_y, high_y, step):
        x, y = place(low_x, value)
        lines.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        lines.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in ticks(low_x, high_x, 0.2):
        x, y = place(value, low_y)
        lines.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{value:.1f}</text>')
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                 f'bits a pixel</text>')
    lines.append(f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" '
                 f'transform="rotate(-90 14 {HEIGHT / 2})">{unit}</text>')
    for name, colour, curve in curves:
        placed = [place(*point) for point in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in placed]
    lowest = 0
    for y, x, name, colour in sorted((place(*curve[-1])[1], place(*curve[-1])[0], name, colour)
                                     for name, colour, curve in curves):
        lowest = max(y + 4, lowest + 14)  # names do not overlap
        lines.append(f'<text x="{x + 8:.1f}" y="{lowest:.1f}" fill="{colour}">{name}</text>')
    return "\n".join(lines + ["</svg>", ""])


def main():
    rows = means()
    images = ROOT / "docs" / "images"
    psnr = [(name, colour, [(row["bpp"], row[key]) for row in rows])
            for key, _, name, colour in CURVES]
    ssim = [(name, colour, [(row["bpp"], decibels(row[key])) for row in rows])
            for _, key, name, colour in CURVES]
    (images / "codec-psnr.svg").write_text(draw("PSNR over RGB", "dB", psnr, 1))
    (images / "codec-ms-ssim.svg").write_text(
        draw("MS-SSIM, as -10 log10(1 - x)", "dB", ssim, 1))


if __name__ == "__main__":
    main()
