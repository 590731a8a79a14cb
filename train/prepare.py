# SPDX-License-Identifier: Apache-2.0
"""Prepares the training photographs from Debian's wallpaper packages.

Unpack lomiri-wallpapers-16.04, lomiri-wallpapers-20.04, mate-backgrounds and
plasma-workspace-wallpapers with `dpkg -x` under one folder; `prepare.py FOLDER OUT.npz` halves
every picture (until its long side is at most 2600, to get rid of JPEG traces), adds a copy at
half of that size, and keeps three pictures apart for validation. Test pictures are never read.
"""
import argparse
import glob
import os

import numpy as np
from PIL import Image

PLASMA = ("Autumn BytheWater ColorfulCups EveningGlow FallenLeaf Kite OneStandsOut Path Grey "
          "ColdRipple").split()
HELD_OUT = ("TwoWings", "Autumn", "seeding_by_Clements_Engelhardt")


def sources(folder):
    share = os.path.join(folder, "usr/share")
    files = glob.glob(os.path.join(share, "backgrounds/*.jpg"))
    files += glob.glob(os.path.join(share, "backgrounds/mate/nature/*.jpg"))
    named = [(os.path.splitext(os.path.basename(f))[0], f) for f in files]
    for name in PLASMA:
        path = f"wallpapers/{name}/contents/images/2560x1600.jpg"
        named.append((name, os.path.join(share, path)))
    return sorted(named)


def halved(path):
    picture = Image.open(path).convert("RGB")
    while True:
        size = (picture.width // 2, picture.height // 2)
        picture = picture.resize(size, Image.Resampling.BOX if max(size) > 2600
                                 else Image.Resampling.LANCZOS)
        if max(size) <= 2600:
            return picture


def validation_crop(picture):
    left, top = (picture.width - 256) // 2, (picture.height - 256) // 2
    return np.asarray(picture.crop((left, top, left + 256, top + 256)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("out")
    arguments = parser.parse_args()
    pictures = {}
    for name, path in sources(arguments.folder):
        picture = halved(path)
        if name in HELD_OUT:
            pictures["val-" + name] = validation_crop(picture)
            continue
        pictures[name + "-1"] = np.asarray(picture)
        half = picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.LANCZOS)
        if min(half.size) >= 256:
            pictures[name + "-2"] = np.asarray(half)
    np.savez(arguments.out, **pictures)
    pixels = sum(p.shape[0] * p.shape[1] for p in pictures.values())
    print(f"{len(pictures)} pictures, {pixels / 1e6:.1f} megapixels")


if __name__ == "__main__":
    main()
