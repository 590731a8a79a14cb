# SPDX-License-Identifier: Apache-2.0
"""Makes the training sounds with espeak-ng and sox: speech of several voices, plucked chords.

`sounds.py OUT.npz` reads the licences that Debian installs (base-files) aloud, 16,000 samples a
second, one channel, 16 bits. Sounds named val-* are of texts, voices and chords of their own and
are never trained on.
"""
import argparse
import os
import subprocess
import tempfile
import wave

import numpy as np

RATE = 16000
TEXTS = "/usr/share/common-licenses"
# (name, voice, words a minute, pitch, text, first word)
SPEECH = [
    ("en-1", "en-us", 165, 45, "Apache-2.0", 0), ("en-2", "en-gb", 150, 55, "MPL-2.0", 200),
    ("en-3", "en-us+f3", 170, 60, "GPL-3", 400), ("en-4", "en-gb+m4", 155, 30, "Artistic", 0),
    ("de-1", "de", 160, 50, "CC0-1.0", 0), ("fr-1", "fr-fr+f2", 160, 65, "GPL-2", 100),
    ("es-1", "es", 165, 45, "LGPL-3", 50), ("it-1", "it+f4", 160, 70, "GFDL-1.3", 300),
    ("en-5", "en-us+m7", 140, 35, "BSD", 0), ("en-6", "en-gb+f1", 175, 55, "MPL-1.1", 500),
    ("val-speech-1", "en-gb-x-rp+f5", 160, 58, "GPL-3", 2500),
    ("val-speech-2", "en-us+m3", 155, 42, "Apache-2.0", 900),
]
WORDS = 55
CHORDS = ["A2 E3 C4", "D3 A3 F4", "G2 D3 B3", "C3 G3 E4", "F2 C3 A3", "E2 B2 G#3", "A3 C4 E5"]
VAL_CHORDS = ["B2 F#3 D4", "D2 A2 F#4", "G3 D4 B4"]


def words_of(text, first):
    with open(os.path.join(TEXTS, text), encoding="utf-8", errors="ignore") as file:
        return " ".join(file.read().split()[first:first + WORDS])


def samples_of(path):
    with wave.open(path) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE, 1, 2):
            raise ValueError(f"{path}: not 16-bit mono of {RATE} samples a second")
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def speech(folder, voice, speed, pitch, words):
    spoken, out = os.path.join(folder, "spoken.wav"), os.path.join(folder, "out.wav")
    subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "-w", spoken,
                    words], check=True)
    subprocess.run(["sox", "-R", "-D", "-G", spoken, "-r", str(RATE), "-b", "16", out], check=True)
    return samples_of(out)


def chord(folder, notes):
    out, plucks = os.path.join(folder, "out.wav"), []
    for note in notes.split():
        plucks += ["pluck", note]
    subprocess.run(["sox", "-R", "-D", "-n", "-r", str(RATE), "-b", "16", out, "synth", "2",
                    *plucks, "remix", "-", "fade", "0", "2", "0.5", "gain", "-6"], check=True)
    return samples_of(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sounds = {name: speech(folder, voice, speed, pitch, words_of(text, first))
                  for name, voice, speed, pitch, text, first in SPEECH}
        for name, chords in (("chords", CHORDS), ("val-chords", VAL_CHORDS)):
            sounds[name] = np.concatenate([chord(folder, notes) for notes in chords])
    np.savez(arguments.out, **sounds)
    print(f"{len(sounds)} sounds, {sum(map(len, sounds.values())) / RATE:.0f} seconds")


if __name__ == "__main__":
    main()
