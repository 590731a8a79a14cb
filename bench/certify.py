#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `quipu certify` against `sha256sum` on one file of 100 MB of weights, in turn.

    bench/certify.py BUILD_DIR [--megabytes 100] [--json]

BUILD_DIR was configured with -DQP_BUILD_BENCH=ON. For each kind of operator and width of integers
the two commands run in pairs; the figure is the median of the pairs' ratios of wall time.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


CASES = [("conv", 1), ("conv", 2), ("conv", 4), ("conv", 8), ("depthwise", 1),
         ("conv_transpose", 1), ("conv_transpose", 2), ("igdn", 4), ("igdn", 8)]


def measure(build, megabytes, case, rounds):
    kind, width = case
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.whg1"
        subprocess.run([build / "bench" / "quipu_bench", "--large", kind, str(megabytes),
                        str(width), path], check=True)
        certify = [build / "quipu", "certify", path]
        digest = ["sha256sum", path]
        seconds(certify), seconds(digest)
        pairs = [(seconds(certify), seconds(digest)) for _ in range(rounds)]
        return {
            "megabytes": path.stat().st_size / 1e6,
            "kind": kind,
            "width": width,
            "certify_s": statistics.median(c for c, _ in pairs),
            "sha256sum_s": statistics.median(d for _, d in pairs),
            "ratio": statistics.median(c / d for c, d in pairs),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [measure(options.build, options.megabytes, case, options.rounds) for case in CASES]
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for r in results:
        print(f"{r['megabytes']:.0f} MB, {r['kind']}, width {r['width']}: certify "
              f"{r['certify_s']:.3f} s, sha256sum {r['sha256sum_s']:.3f} s, "
              f"ratio {r['ratio']:.2f}")


if __name__ == "__main__":
    main()
