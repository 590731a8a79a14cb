#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The independent checker: recomputes every vector of a conformance directory from the text
of integer operators alone (section 14), and compares byte for byte."""

import argparse
import os
import sys
import tempfile

from admissible import admissible_range
from canonical import NotCanonical, read, write
from certificate import certificate
from corpus import check_capability
from functions import Refusal
from lower import lower
from profiles import PROFILES
from run import Sequence
from sets import read_files
from stage_vectors import own_stage_vector
from vectors import (check_id, compare, decode_object, lines_of, load_for_decoding, npu_object,
                     own_certificate, own_vector)
from whg1 import load

HERE = os.path.dirname(os.path.abspath(__file__))

EXAMPLE = """\
examples:
  python3 check/check.py                         check conformance/ beside check/
  python3 check/check.py DIR --write OUT         and leave the recomputed files in OUT
  python3 check/check.py --certify net.whg1      print a graph's bounds certificate
  python3 check/check.py --run net.whg1 in.json  decode, for instance with in.json holding
      {"inputs":[{"data":["1","2"],"shape":["1","1","2"]}],"scalars":[]}
  python3 check/check.py --lower SET --capability wai.audio.int_codec --write OUT
                                                 a set's graphs and certificate (section 13)
  python3 check/check.py --admissible net.whg1 3 tensor 3's admissible ranges (section 8.4)
  python3 check/check.py --self-test             the checker's own hand-computed tests

What is read: vectors/*.jsonl, graphs/*.jsonl, stage/*.jsonl, certificates/whg1.jsonl,
certificates/<capability>/ and npu.jsonl. The last line is 'N passed, N failed'; the exit status
is 1 if anything differs, 0 otherwise."""


class Tally:
    """What passed and failed, and where the recomputed files go."""

    def __init__(self, directory, out):
        self.directory, self.out = directory, out
        self.passed = self.failed = 0

    def fail(self, place, what):
        print(f"{place}: {what}")
        self.failed += 1

    def note(self, place, what):
        """Counts one line: passed when there is nothing to say of it."""
        if what:
            self.fail(place, what)
        else:
            self.passed += 1

    def read(self, file):
        with open(os.path.join(self.directory, file), "rb") as stream:
            return stream.read()

    def write_bytes(self, file, data):
        """Writes a recomputed file."""
        path = os.path.join(self.out, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)

    def write_value(self, file, value):
        """Writes a file of one canonical JSON value, which no line feed ends."""
        self.write_bytes(file, write(value).encode("ascii"))

    def write(self, file, lines):
        """Writes a recomputed file of lines; says whether it has the bytes of the one read."""
        data = b"".join(line + b"\n" for line in lines)
        self.write_bytes(file, data)
        return data == self.read(file)


def check_file(tally, file, recompute):
    """Checks one JSON Lines file. recompute(value) gives a line's own value."""
    before = tally.failed
    lines, ends = lines_of(tally.read(file))
    own, seen = [], set()
    for number, line in enumerate(lines, 1):
        place = f"{file}:{number}"
        try:
            value = read(line)
            place += f": {check_id(value, seen)}"
            recomputed = recompute(value)
            what = compare(line, recomputed)
            own.append(write(recomputed).encode("ascii"))
        except NotCanonical as error:
            what = str(error)
        tally.note(place, what)
    same = tally.write(file, own)
    if not ends:
        tally.fail(f"{file}:{len(lines)}", "the last line does not end with a line feed")
    elif not same and tally.failed == before:
        tally.fail(file, "the file written again differs")


def check_vectors(tally, file, npu_lines):
    """14.1 and 14.2: a file of vectors/ or graphs/. Adds its lines of npu.jsonl."""
    stem = os.path.basename(file)[:-len(".jsonl")]

    def recompute(value):
        vector, found, graph = own_vector(value)
        if graph is None:
            return vector
        npu_lines.append(npu_object(file, vector["id"], found))
        if file.startswith("vectors/") and [node.op.name for node in graph.nodes] != [stem]:
            raise NotCanonical(f"the graph is not one {stem}")
        return vector

    check_file(tally, file, recompute)


def check_npu(tally, npu_lines):
    """14.5: npu.jsonl."""
    file = "npu.jsonl"
    before = tally.failed
    lines, ends = lines_of(tally.read(file))
    own = [write(value).encode("ascii") for value in npu_lines]
    for number, line in enumerate(lines, 1):
        place = f"{file}:{number}"
        try:
            if number > len(own):
                raise NotCanonical("a line with no vector")
            place += ": {file}: {id}".format(**npu_lines[number - 1])
            what = compare(line, npu_lines[number - 1])
        except NotCanonical as error:
            what = str(error)
        tally.note(place, what)
    for value in npu_lines[len(lines):]:
        tally.fail(file, f"no line for {value['file']}: {value['id']}")
    same = tally.write(file, own)
    if not ends:
        tally.fail(f"{file}:{len(lines)}", "the last line does not end with a line feed")
    elif not same and tally.failed == before:
        tally.fail(file, "the file written again differs")


def files_below(directory):
    """Every file below a directory, as sorted relative paths with '/'."""
    found = []
    for root, _, names in os.walk(directory):
        below = os.path.relpath(root, directory).replace(os.sep, "/")
        found += [name if below == "." else f"{below}/{name}" for name in names]
    return sorted(found, key=os.fsencode)


def check_stage(tally, file):
    """14.1: a file of stage/, one operator's."""
    name = os.path.basename(file)[:-len(".jsonl")]
    check_file(tally, file, lambda value: own_stage_vector(name, value))


def check_directory(directory, out):
    tally = Tally(directory, out)
    npu_lines, capabilities = [], {}
    files = files_below(directory)
    for file in files:
        kind, _, name = file.partition("/")
        lines = name.endswith(".jsonl") and "/" not in name
        if kind in ("vectors", "graphs") and lines:
            check_vectors(tally, file, npu_lines)
        elif kind == "stage" and lines:
            check_stage(tally, file)
        elif file == "certificates/whg1.jsonl":
            check_file(tally, file, own_certificate)
        elif kind == "certificates" and "/" in name:
            capabilities.setdefault(name.partition("/")[0], []).append(file)
    for capability, found in capabilities.items():
        check_capability(tally, capability, found)
    if "npu.jsonl" in files:
        check_npu(tally, npu_lines)
    elif npu_lines:
        print("npu.jsonl: not there, so not checked")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


def certify_command(path):
    """--certify: a graph's certificate, exactly its bytes."""
    with open(path, "rb") as stream:
        graph = load(stream.read())
    sys.stdout.write(write(certificate(graph)))
    return 0


def run_command(path, input_path):
    """--run: one decode object, or one a line: a sequence. Prints each with its `expect`."""
    with open(path, "rb") as stream:
        graph, _ = load_for_decoding(stream.read())
    sequence = Sequence(graph)
    with open(input_path, "rb") as stream:
        text = stream.read()
    try:
        decodes = [read(text)]
    except NotCanonical:
        decodes = [read(line) for line in text.splitlines()]
    for value in decodes:
        print(write(decode_object(sequence, value)))
    return 0


def lower_command(path, capability, out):
    """--lower: writes a set's graphs and its certificate. A set that has a certificate and is
    refused for it is written too."""
    lowered = lower(capability, read_files(path))
    os.makedirs(out, exist_ok=True)
    written = [(f"{role}.whg1", graph.data) for role, graph in lowered.graphs]
    written.append(("certificate.json", write(lowered.certificate()).encode("ascii")))
    for name, data in written:
        with open(os.path.join(out, name), "wb") as stream:
            stream.write(data)
    print(f"{lowered.lowering} {lowered.digest}")
    if lowered.refusal():
        print(f"check.py: {lowered.refusal()}", file=sys.stderr)
        return 1
    return 0


def admissible_command(path, tensor):
    """--admissible: a tensor's admissible range for each profile, or null."""
    with open(path, "rb") as stream:
        graph = load(stream.read())
    if not tensor.isdecimal() or int(tensor) >= len(graph.tensors):
        print(f"check.py: the graph has no tensor {tensor}", file=sys.stderr)
        return 2
    ranges = {profile: admissible_range(graph, int(tensor), profile) for profile in PROFILES}
    print(write({profile: found and {"hi": found[1], "lo": found[0]}
                 for profile, found in ranges.items()}))
    return 0


def self_test():
    import unittest

    import selftest
    import selftest_lower
    import selftest_stage
    suite = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromModule,
                                   (selftest, selftest_stage, selftest_lower)))
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


def arguments():
    parser = argparse.ArgumentParser(
        prog="check.py", description=__doc__, epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", nargs="?",
                        default=os.path.join(os.path.dirname(HERE), "conformance"),
                        help="the conformance directory (default: conformance/ beside check/)")
    parser.add_argument("--write", metavar="OUT", help="write the recomputed files here")
    parser.add_argument("--certify", metavar="FILE.whg1", help="print a certificate")
    parser.add_argument("--run", nargs=2, metavar=("FILE.whg1", "INPUT.json"),
                        help="run decodes, one JSON object a line (section 14.1)")
    parser.add_argument("--lower", metavar="SET", help="lower a set's file or directory to --write")
    parser.add_argument("--capability", metavar="NAME", help="whose set --lower reads")
    parser.add_argument("--admissible", nargs=2, metavar=("FILE.whg1", "T"),
                        help="print a tensor's admissible ranges")
    parser.add_argument("--self-test", action="store_true", help="run the checker's own tests")
    return parser.parse_args()


def main():
    args = arguments()
    try:
        if args.self_test:
            return self_test()
        if args.certify:
            return certify_command(args.certify)
        if args.run:
            return run_command(*args.run)
        if args.admissible:
            return admissible_command(*args.admissible)
        if args.lower:
            if not (args.capability and args.write):
                print("--lower: needs --capability NAME and --write OUT", file=sys.stderr)
                return 2
            return lower_command(args.lower, args.capability, args.write)
        if not os.path.isdir(args.directory):
            print(f"{args.directory}: no such directory", file=sys.stderr)
            return 2
        if args.write:
            if os.path.realpath(args.write) == os.path.realpath(args.directory):
                print("--write: OUT is DIR itself", file=sys.stderr)
                return 2
            return check_directory(args.directory, args.write)
        with tempfile.TemporaryDirectory() as out:
            return check_directory(args.directory, out)
    except (Refusal, NotCanonical, OSError) as error:
        print(f"check.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
