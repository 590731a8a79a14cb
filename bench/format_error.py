#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each format costs on real weights: bench/format_error.py QUIPU [FILE.safetensors]

Takes the float matrices of a safetensors file (the 260K-parameter stories model of test/data when
none is named) as rows of 256, converts them to every format by every method that writes it, and
prints bits a weight, the relative error of the root mean square, and the signal-to-noise ratio.
"""

import array
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 256
TILE = 128 # rows, of nvfp4


def weights(path):
    """The binary32 values of all BF16 and F32 tensors of rank two."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    values = array.array("f")
    for name, tensor in sorted(json.loads(data[8:8 + size]).items()):
        if name == "__metadata__" or len(tensor["shape"]) != 2:
            continue
        first, end = (8 + size + offset for offset in tensor["data_offsets"])
        if tensor["dtype"] == "F32":
            values.frombytes(data[first:end])
        elif tensor["dtype"] == "BF16":
            words = struct.unpack(f"<{(end - first) // 2}H", data[first:end])
            values.frombytes(struct.pack(f"<{len(words)}I", *(word << 16 for word in words)))
    return values


def matrix(path, values):
    rows = len(values) // COLUMNS // TILE * TILE
    payload = values[:rows * COLUMNS].tobytes()
    header = json.dumps({"w": {"dtype": "F32", "shape": [rows, COLUMNS],
                               "data_offsets": [0, len(payload)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + payload)
    return rows * COLUMNS


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1) or (done.returncode == 1 and "compare" not in arguments):
        sys.exit(done.stderr)
    return done.stdout


def rows_of(quipu, folder, source, count):
    registry = json.loads(run(quipu, "formats", "--json"))
    bits = {f["name"]: f["bits"] for f in registry["formats"]}
    for method in registry["methods"]:
        for name in method["formats"]:
            if method["name"] == "import_encoded" or name == "int32":
                continue
            recipe = folder / "recipe.json"
            recipe.write_text(json.dumps([{"assign": "w", "format": name,
                                           "method": method["name"]}]))
            target = folder / "w.ninfer"
            run(quipu, "convert", "--quiet", "--force", "--recipe", recipe, source, target)
            compared = json.loads(run(quipu, "compare", "--json", source, target))
            tensor = compared["tensors"][0]
            yield bits[name], name, method["name"], tensor.get("rmse", 0), tensor.get("sqnr_db")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else (
        ROOT / "test/data/weights/stories260k-bf16.safetensors")
    values = weights(path)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "w.safetensors"
        count = matrix(source, values)
        power = (sum(v * v for v in values[:count]) / count) ** 0.5
        print(f"{count} weights of {path.name}, root mean square {power:.4g}")
        print(f"{'bits':>6}  {'format':20}  {'method':16}  {'error':>8}  {'SQNR dB':>7}")
        for bits, form, method, rmse, sqnr in sorted(rows_of(sys.argv[1], folder, source, count)):
            shown = f"{sqnr:7.2f}" if sqnr is not None else "  exact"
            print(f"{bits:6.3f}  {form:20}  {method:16}  {rmse / power:8.3%}  {shown}")


if __name__ == "__main__":
    main()
