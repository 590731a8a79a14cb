# SPDX-License-Identifier: Apache-2.0
"""Checks of `quipu run` and `quipu compare`: run_checks.py QUIPU SOURCE (see test_run.sh)."""
import ast
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

QUIPU = os.path.abspath(sys.argv[1])
MODELS = os.path.join(os.path.abspath(sys.argv[2]), "models")
PARROTS = os.path.join(MODELS, "parrots-192x128.png")
LARGE = os.path.join(MODELS, "superres-x3.whg1")
SMALL = os.path.join(MODELS, "superres-x3-acc32.whg1")

# models/README.md: made by a program that shares nothing with quipu.
DIGESTS = {
    LARGE: "b016b20a210e78d56a9c15ae99a6f10e1095d83e124e3e089e55c9d4e762bcc4",
    SMALL: "95322a98b70890f4d8f165a4a89e8ad3164271f4b3c5be8cb98b1098040c94e8",
}

OK, REFUSED, USAGE, ENVIRONMENT = 0, 1, 2, 3


# ---- files ---------------------------------------------------------------------------------------

def npy(shape, values, descr="<i8"):
    codes = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
    order = ">" if descr[0] == ">" else "<"
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
            + struct.pack("%s%d%s" % (order, len(values), codes[descr[1:]]), *values))


def read_npy(data):
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length, = struct.unpack_from("<H", data, 8)
    head = ast.literal_eval(data[10:10 + length].decode())
    codes = {"<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b", "|u1": "B", "<u2": "H", "<u4": "I"}
    code = codes[head["descr"]]
    body = data[10 + length:]
    return head["shape"], list(struct.unpack("<%d%s" % (len(body) // struct.calcsize(code), code),
                                             body))


def png(width, height, rows):
    """An 8-bit picture; rows are bytes, one or three a pixel."""
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body
                + struct.pack(">I", zlib.crc32(kind + body)))
    colour = 0 if len(rows[0]) == width else 2
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows)))
            + chunk(b"IEND", b""))


def paeth(a, b, c):
    near = [(abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c)]
    return min(near)[2]


def read_png(data):
    """Width, height and the samples of an 8-bit grey or RGB picture without interlacing."""
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack_from(">IIBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    step = 1 if colour == 0 else 3
    raw, size = zlib.decompress(packed), width * step
    before, out = bytearray(size), b""
    for y in range(height):
        kind, row = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for x in range(size):
            left = row[x - step] if x >= step else 0
            corner = before[x - step] if x >= step else 0
            add = [0, left, before[x], (left + before[x]) // 2, paeth(left, before[x], corner)]
            row[x] = (row[x] + add[kind]) & 255
        before, out = row, out + bytes(row)
    return width, height, out


# ---- graphs --------------------------------------------------------------------------------------

DERIVED, CLAMP, CHECK = 0, 1, 2
CONV, ADD, ABS, FILL = 0x01, 0x05, 0x13, 0x17


def graph(inputs, tensors, operators, outputs, scalars=()):
    """inputs: (tensor, state source or None, init); tensors: (channels, policy, lo, hi);
    operators: (opcode, in, out, parameters)."""
    data = b"WHG1" + struct.pack("<BBHIIHHHHII", 1, 1, 0, len(tensors), len(operators),
                                 len(inputs), len(outputs), len(scalars), 0, 1 << 20, 0)
    for lo, hi in scalars:
        data += struct.pack("<qq", lo, hi)
    for tensor, source, init in inputs:
        data += struct.pack("<IIIB3xIIq", tensor, 0, 0, source is not None, source or 0, 0, init)
    for tensor in outputs:
        data += struct.pack("<I", tensor)
    for channels, policy, lo, hi in tensors:
        data += struct.pack("<IbBHqq", channels, -128, policy, 0, lo, hi)
    for opcode, reads, writes, parameters in operators:
        data += struct.pack("<BBBB", opcode, len(reads), len(writes), 0)
        data += struct.pack("<%dI" % (len(reads) + len(writes)), *reads, *writes)
        data += struct.pack("<I", len(parameters)) + parameters
    return data


def accumulator(policy=CHECK, hi=255, init=0):
    """y = x + state, which becomes the state."""
    return graph([(0, None, 0), (1, 0, init)],
                 [(1, CHECK, 0, 255), (1, CHECK, 0, 255), (1, policy, 0, hi)],
                 [(ADD, [0, 1], [2], b"")], [2])


def two_by_two():
    """Outputs a + b and |a|."""
    wide = (2, CHECK, -1000, 1000)
    return graph([(0, None, 0), (1, None, 0)], [wide, wide, (2, DERIVED, 0, 0), (2, DERIVED, 0, 0)],
                 [(ADD, [0, 1], [2], b""), (ABS, [0], [3], b"")], [2, 3])


def scaled(weight=3):
    """|x · weight| through a 1x1 convolution of one channel."""
    rq = struct.pack("<BBBBBBHB", 0, 0, 0, 1, 0, 0, 0, 0)
    conv = struct.pack("<8IB3x", 1, 1, 1, 1, 1, 0, 0, 1, 1) + rq + struct.pack("b", weight)
    return graph([(0, None, 0)], [(1, CHECK, -128, 127), (1, DERIVED, 0, 0), (1, DERIVED, 0, 0)],
                 [(CONV, [0], [1], conv), (ABS, [1], [2], b"")], [2])


def filled():
    """x + scalar 0 + scalar 1, by fill."""
    def fill(index):
        return struct.pack("<B7xq", 1, index)
    one = (1, CHECK, -100, 100)
    derived = (1, DERIVED, 0, 0)
    return graph([(0, None, 0)], [one] + [derived] * 4,
                 [(FILL, [0], [1], fill(0)), (FILL, [0], [2], fill(1)), (ADD, [0, 1], [3], b""),
                  (ADD, [3, 2], [4], b"")], [4], [(-10, 10), (0, 50)])


# ---- the checks ----------------------------------------------------------------------------------

def has_png():
    done = subprocess.run([QUIPU, "run", SMALL, PARROTS, "-o", "none.png.npy", "--scalar", "1"],
                          capture_output=True)
    probe = subprocess.run([QUIPU, "run", SMALL, "-"], input=png(1, 1, [b"\0"]),
                           capture_output=True)
    assert done.returncode == USAGE
    return b"without libpng" not in probe.stderr


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(folder.name)

    def put(self, name, data):
        with open(name, "wb") as file:
            file.write(data)
        return name

    def get(self, name):
        with open(name, "rb") as file:
            return file.read()

    def quipu(self, *words, code=OK, input=None, silent=True):
        done = subprocess.run([QUIPU, *words], input=input, capture_output=True)
        self.assertEqual(done.returncode, code, (words, done.stdout[:400], done.stderr))
        if code == OK and silent:
            self.assertEqual(done.stderr, b"")
        return done

    def run_says(self, sentence, *words, code=REFUSED, input=None):
        done = self.quipu("run", *words, code=code, input=input)
        self.assertIn(sentence, done.stderr.decode())
        self.assertEqual(done.stdout, b"")


class Pictures(Checks):
    def setUp(self):
        super().setUp()
        if not has_png():
            self.skipTest("this build has no PNG")

    def test_super_resolution(self):
        for model, digest in DIGESTS.items():
            done = self.quipu("run", model, PARROTS, "--digest", "-o", "out.png")
            self.assertEqual(done.stdout.decode(),
                             "output 0 [3, 384, 576] sha256 rgb8 %s\n" % digest)
            width, height, samples = read_png(self.get("out.png"))
            self.assertEqual((width, height), (576, 384))
            self.assertEqual(hashlib.sha256(samples).hexdigest(), digest)

    def test_planes_are_the_channels(self):
        rows = [bytes(range(y, y + 12)) for y in range(3)]  # 4 x 3, RGB
        self.put("rgb.png", png(4, 3, rows))
        self.quipu("run", SMALL, "rgb.png", "-o", "all.npy")
        shape, values = read_npy(self.get("all.npy"))
        self.assertEqual(shape, (3, 9, 12))
        for c in range(3):
            self.put("one.npy", npy((1, 3, 4), [row[3 * x + c] for row in rows for x in range(4)]))
            self.quipu("run", SMALL, "one.npy", "-o", "one-out.npy")
            self.assertEqual(read_npy(self.get("one-out.npy")),
                             ((1, 9, 12), values[c * 108:(c + 1) * 108]))

    def test_grey(self):
        self.put("grey", png(2, 2, [b"\1\2", b"\3\4"]))  # told by its first bytes
        done = self.quipu("run", SMALL, "grey", "--digest", "-o", "grey-out.png")
        samples = read_png(self.get("grey-out.png"))[2]
        self.assertEqual(done.stdout.decode(), "output 0 [1, 6, 6] sha256 grey8 %s\n"
                         % hashlib.sha256(samples).hexdigest())
        piped = self.quipu("run", SMALL, "-", "-o", "-", "--format", "png",
                           input=self.get("grey"))
        self.assertEqual(read_png(piped.stdout)[2], samples)

    def test_refusals(self):
        self.put("scaled.whg1", scaled())
        self.put("x.npy", npy((1, 1, 2), [1, 100]))
        self.run_says("field_range: value 1 (channel 0, row 0, column 1) is 300", "scaled.whg1",
                      "x.npy", "-o", "x.png")
        self.put("two.whg1", two_by_two())
        self.put("two.npy", npy((2, 1, 1), [1, 2]))
        self.run_says("output 0 has 2 channels; a PNG picture has 1 or 3", "two.whg1", "two.npy",
                      "two.npy", "-o", "two.png", code=USAGE)
        self.run_says("a picture is no sequence", SMALL, PARROTS, "--sequence")
        self.run_says("no PNG", SMALL, self.put("not.png", b"text"))
        self.put("rgb.png", png(1, 1, [b"\1\2\3"]))
        self.run_says("model_mismatch: input 0: it has 3 channels", "two.whg1", "rgb.png",
                      "two.npy")
        self.put("red.whg1", scaled(3))
        self.put("sum.whg1", accumulator(CHECK, 20))
        self.put("wide.png", png(1, 1, [b"\1\2\x80"]))
        self.run_says("blue: tensor 2: element (0, 0, 0) is 128", "sum.whg1", "wide.png", "-o",
                      "y.npy")
        self.assertFalse(os.path.exists("x.png") or os.path.exists("y.npy"))


class Arrays(Checks):
    def setUp(self):
        super().setUp()
        self.put("sum.whg1", accumulator())
        self.put("two.whg1", two_by_two())
        self.put("scaled.whg1", scaled())

    def test_types_and_ranks(self):
        expected = ((1, 2, 2), [0, 3, 6, 9])
        for descr in ("<i8", ">i8", "<i2", ">i4", "|i1", "|u1", "<u2", ">u8"):
            for shape in ((1, 2, 2), (2, 2)):
                self.put("x.npy", npy(shape, [0, 1, 2, 3], descr))
                self.quipu("run", "scaled.whg1", "x.npy", "-o", "y.npy")
                self.assertEqual(read_npy(self.get("y.npy")), expected)

    def test_several_outputs(self):
        self.put("a.npy", npy((2, 1, 2), [-1, 2, -3, 4]))
        self.put("b.npy", npy((2, 1, 2), [10, 20, 30, 40]))
        self.quipu("run", "two.whg1", "a.npy", "b.npy", "-o", "sum.npy", "-o", "abs.npy")
        self.assertEqual(read_npy(self.get("sum.npy"))[1], [9, 22, 27, 44])
        self.assertEqual(read_npy(self.get("abs.npy"))[1], [1, 2, 3, 4])
        done = self.quipu("run", "two.whg1", "a.npy", "b.npy", "-o", "-", "--digest", silent=False)
        self.assertEqual(read_npy(done.stdout)[1], [9, 22, 27, 44])
        digest = hashlib.sha256(struct.pack("<4q", 1, 2, 3, 4)).hexdigest()
        self.assertIn("output 1 [2, 1, 2] sha256 i64 " + digest, done.stderr.decode())
        self.run_says("has 2 outputs; 3 given", "two.whg1", "a.npy", "b.npy", "-o", "1", "-o", "2",
                      "-o", "3", code=USAGE)
        self.run_says("takes 2 inputs; 1 given", "two.whg1", "a.npy", code=USAGE)

    def test_streams(self):
        x = self.put("x.npy", npy((1, 1, 2), [5, -7]))
        y = self.quipu("run", "scaled.whg1", "-", "-o", "-", input=self.get(x)).stdout
        self.assertEqual(read_npy(y), ((1, 1, 2), [15, 21]))
        y = self.quipu("run", "-", x, "-o", "-", input=scaled(2)).stdout
        self.assertEqual(read_npy(y)[1], [10, 14])
        self.run_says("standard input can be read once", "-", "-", code=USAGE)
        self.run_says("only one thing can go to standard output", "scaled.whg1", x, "-o", "-",
                      "--trace", "-", code=USAGE)
        trace = self.quipu("run", "scaled.whg1", x, "--trace", "-").stdout
        self.assertEqual(len(trace.splitlines()), 4)

    def test_scalars(self):
        self.put("filled.whg1", filled())
        self.put("x.npy", npy((1, 1, 1), [1]))
        for words in (("--scalar", "-3", "--scalar", "20"), ("--scalar=1=20", "--scalar", "-3"),
                      ("--scalar", "0=-3", "--scalar", "1=20")):
            y = self.quipu("run", "filled.whg1", "x.npy", *words, "-o", "-").stdout
            self.assertEqual(read_npy(y)[1], [18])
        run = ("filled.whg1", "x.npy", "-o", "y.npy", "--scalar")
        self.run_says("takes 2 scalars; 1 given", *run, "1", code=USAGE)
        self.run_says("takes 2 scalars", *run, "1", "--scalar", "2", "--scalar", "3", code=USAGE)
        self.run_says("has a value already", *run, "0=1", "--scalar", "0=2", code=USAGE)
        self.run_says("whole numbers, not 'x'", *run, "x", code=USAGE)
        self.run_says("field_range: scalar 0 is 11", *run, "11", "--scalar", "2")
        self.assertFalse(os.path.exists("y.npy"))

    def test_profile(self):
        x = self.put("x.npy", npy((1, 2, 2), [0, 1, 2, 3]))
        self.quipu("run", SMALL, x, "--profile", "acc32")
        self.run_says("model_mismatch", LARGE, x, "--profile", "acc32")
        self.run_says("--profile is acc32 or acc64", LARGE, x, "--profile", "acc16", code=USAGE)

    def test_report(self):
        x = self.put("x.npy", npy((1, 1, 2), [5, -7]))
        digest = hashlib.sha256(struct.pack("<2q", 15, 21)).hexdigest()
        plain = self.quipu("run", "scaled.whg1", x).stdout.decode()
        self.assertEqual(plain, "output 0 [1, 1, 2] sha256 i64 %s\n" % digest)
        report = json.loads(self.quipu("run", "scaled.whg1", x, "--json").stdout)
        self.assertEqual(report, {
            "graph": hashlib.sha256(scaled()).hexdigest(), "decodes": 1,
            "outputs": [{"tensor": 2, "shape": [1, 1, 2], "form": "i64", "sha256": digest}]})
        timed = self.quipu("run", "scaled.whg1", x, "--time", silent=False).stderr.decode()
        self.assertRegex(timed, r"^1 decode: \d+\.\d{3} ms\n$")

    def test_refused_files(self):
        self.put("y.npy", b"as it was")
        for rank in (1, 4):
            self.put("x.npy", npy((1,) * rank, [1]))
            self.run_says("model_mismatch: the array has %d dimensions" % rank, "scaled.whg1",
                          "x.npy", "-o", "y.npy")
        self.run_says("malformed", "scaled.whg1", self.put("bad.npy", b"\x93NUMPY"), "-o", "y.npy")
        self.run_says("field_range", "scaled.whg1", self.put("x.npy", npy((1, 1), [2**63], "<u8")),
                      "-o", "y.npy")
        self.run_says("field_range: tensor 0: element (0, 0, 1) is 128", "scaled.whg1",
                      self.put("x.npy", npy((1, 2), [1, 128])), "-o", "y.npy")
        self.run_says("model_mismatch", "scaled.whg1", self.put("x.npy", npy((1, 0, 2), [])),
                      "-o", "y.npy")
        self.run_says("io", "scaled.whg1", "none.npy", "-o", "y.npy", code=ENVIRONMENT)
        self.run_says("io", "none.whg1", "none.npy", code=ENVIRONMENT)
        self.run_says("model_mismatch", self.put("bad.whg1", scaled()[:-1]), "none.npy")
        self.assertEqual(self.get("y.npy"), b"as it was")
        self.put("x.npy", npy((1, 1), [1]))
        self.run_says("io", "scaled.whg1", "x.npy", "-o", "none/y.npy", code=ENVIRONMENT)

    def test_usage(self):
        self.run_says("a graph is needed", code=USAGE)
        self.run_says("unknown option --nothing", "--nothing", code=USAGE)
        self.run_says("--format is npy or png", "a", "b", "--format", "gif", code=USAGE)
        self.run_says("--trace-tensors needs --trace", "a", "b", "--trace-tensors", code=USAGE)
        for verb in ("run", "compare"):
            self.assertIn("\nExample:\n  quipu run ",
                          self.quipu(verb, "--help").stdout.decode())


class Sequences(Checks):
    def setUp(self):
        super().setUp()
        self.put("sum.whg1", accumulator())

    def test_state_is_carried(self):
        self.put("x.npy", npy((3, 1, 1, 2), [1, 2, 10, 20, 100, 200]))
        digest = hashlib.sha256(bytes([1, 2, 11, 22, 111, 222])).hexdigest()
        done = self.quipu("run", "sum.whg1", "x.npy", "--sequence", "-o", "y.npy", "--digest")
        self.assertEqual(read_npy(self.get("y.npy")), ((3, 1, 1, 2), [1, 2, 11, 22, 111, 222]))
        self.assertEqual(done.stdout.decode(),
                         "output 0 [3, 1, 1, 2] sha256 grey8 %s\n" % digest)

    def test_first_state(self):
        self.put("seven.whg1", accumulator(init=7))
        self.put("x.npy", npy((2, 1, 1, 1), [1, 1]))
        y = self.quipu("run", "seven.whg1", "x.npy", "--sequence", "-o", "-").stdout
        self.assertEqual(read_npy(y)[1], [8, 9])

    def test_one_refused_decode_refuses_all(self):
        self.put("x.npy", npy((3, 1, 1, 2), [1, 2, 10, 20, 100, 250]))
        self.run_says("field_range: decode 2: tensor 2: element (0, 0, 1) is 272, outside [0, 255]",
                      "sum.whg1", "x.npy", "--sequence", "-o", "y.npy", "--trace", "t",
                      "--trace-tensors", "--digest")
        self.assertEqual(sorted(os.listdir(".")), ["sum.whg1", "x.npy"])

    def test_shapes(self):
        self.run_says("a sequence has four", "sum.whg1", self.put("x.npy", npy((1, 1, 1), [1])),
                      "--sequence")
        self.run_says("the sequence has no decode", "sum.whg1",
                      self.put("x.npy", npy((0, 1, 1, 1), [])), "--sequence")
        self.put("two.whg1", two_by_two())
        a = self.put("a.npy", npy((1, 2, 1, 1), [1, 2]))
        b = self.put("b.npy", npy((2, 2, 1, 1), [1, 2, 3, 4]))
        self.run_says("has 2 decodes, that of the first input 1", "two.whg1", a, b, "--sequence")
        self.run_says("a sequence cannot be written as PNG", "two.whg1", a, a, "--sequence", "-o",
                      "y.png", code=USAGE)


class Traces(Checks):
    def trace(self, name, graph, x, *words):
        self.put(name + ".whg1", graph)
        self.put(name + ".npy", x)
        self.quipu("run", name + ".whg1", name + ".npy", "--trace", name, *words)
        return name

    def compare(self, *words, code=REFUSED):
        return self.quipu("compare", *words, code=code).stdout.decode()

    def compare_says(self, sentence, *words, code=REFUSED):
        done = self.quipu("compare", *words, code=code)
        self.assertIn(sentence, done.stderr.decode())
        self.assertEqual(done.stdout, b"")

    def test_records(self):
        x = npy((1, 1, 2), [5, -7])
        self.trace("a", scaled(), x, "--trace-tensors")
        lines = [json.loads(line) for line in self.get("a").splitlines()]
        self.assertEqual(lines[0]["graph"], hashlib.sha256(scaled()).hexdigest())
        self.assertEqual([line["tensor"] for line in lines[1:]], [0, 1, 2])
        conv = lines[2]
        self.assertEqual((conv["operator"], conv["name"], conv["section"], conv["reads"]),
                         (0, "conv", "5.2", [0]))
        self.assertEqual((conv["shape"], conv["lo"], conv["hi"]), ([1, 1, 2], -21, 15))
        self.assertEqual(conv["sha256"], hashlib.sha256(struct.pack("<2q", 15, -21)).hexdigest())
        self.assertEqual(read_npy(self.get("a.tensors/decode-0-tensor-1.npy")),
                         ((1, 1, 2), [15, -21]))

    def test_equal(self):
        x = npy((1, 1, 2), [5, -7])
        a, b = self.trace("a", scaled(), x), self.trace("b", scaled(), x)
        self.assertEqual(self.get("a"), self.get("b"))
        self.assertEqual(self.compare(a, b, code=OK),
                         "no difference in 3 tensors over 1 decode\n")
        self.assertEqual(json.loads(self.compare(a, b, "--json", code=OK))["equal"], True)
        piped = self.quipu("compare", "-", b, input=self.get(a)).stdout.decode()
        self.assertIn("no difference", piped)

    def test_other_data(self):
        a = self.trace("a", scaled(), npy((1, 2, 2), [1, 2, 3, 4]), "--trace-tensors")
        b = self.trace("b", scaled(), npy((1, 2, 2), [1, 2, 9, 5]), "--trace-tensors")
        text = self.compare(a, b)
        self.assertIn("decode 0, tensor 0 differs; nothing comes before it", text)
        self.assertIn("(c, y, x): (0, 1, 0) is 3 and 9\n  2 of 4 elements differ", text)
        self.assertIn("given different data", text)

    def test_other_weight(self):
        x = npy((1, 1, 2), [0, -7])
        a = self.trace("a", scaled(3), x, "--trace-tensors")
        b = self.trace("b", scaled(4), x, "--trace-tensors")
        self.compare_says("different graphs", a, b)
        text = self.compare(a, b, "--force")
        self.assertIn("tensor 1 differs; the 1 before it is the same", text)
        self.assertIn("operator 0, conv (section 5.2), output 0, from tensor 0", text)
        self.assertIn("(0, 0, 1) is -21 and -28\n  1 of 2 elements differ", text)
        self.assertIn("its parameters are not", text)
        found = json.loads(self.compare(a, b, "--force", "--json"))
        self.assertEqual((found["cause"], found["same"], found["same_graph"]),
                         ("parameters", 1, False))
        self.assertEqual(found["elements"],
                         {"first": [0, 0, 1], "a": -21, "b": -28, "differ": 1, "of": 2})
        self.assertEqual((found["a"]["lo"], found["b"]["lo"]), (-21, -28))

    def test_not_kept(self):
        a = self.trace("a", scaled(), npy((1, 1), [1]), "--trace-tensors")
        b = self.trace("b", scaled(), npy((1, 1), [2]))
        self.assertIn("--trace-tensors", self.compare(a, b))

    def test_second_decode_and_length(self):
        g = accumulator()
        a = self.trace("a", g, npy((2, 1, 1, 1), [1, 2]), "--sequence")
        b = self.trace("b", g, npy((2, 1, 1, 1), [1, 3]), "--sequence")
        c = self.trace("c", g, npy((1, 1, 1, 1), [1]), "--sequence")
        self.assertIn("decode 1, tensor 0 differs; the 3 before it are", self.compare(a, b))
        self.assertIn("2 and 1 decodes; no difference as far as both go", self.compare(a, c))
        self.assertEqual(json.loads(self.compare(c, a, "--json"))["cause"], "length")

    def test_other_causes(self):
        a = self.trace("a", filled(), npy((1, 1), [1]), "--scalar", "1", "--scalar", "2")
        b = self.trace("b", filled(), npy((1, 1), [1]), "--scalar", "1", "--scalar", "3")
        self.assertIn("different scalars: 1, 2 and 1, 3", self.compare(a, b))
        c = self.trace("c", accumulator(init=1), npy((1, 1), [1]))
        d = self.trace("d", accumulator(init=2), npy((1, 1), [1]))
        self.assertIn("starts at different values", self.compare(c, d, "--force"))
        e = self.trace("e", accumulator(CLAMP, 3), npy((1, 1), [9]))
        f = self.trace("f", accumulator(CLAMP, 5), npy((1, 1), [9]))
        self.assertEqual(json.loads(self.compare(e, f, "--force", "--json"))["cause"], "policy")

    def test_structure(self):
        other = graph([(0, None, 0)], [(1, CHECK, -128, 127), (1, DERIVED, 0, 0)],
                      [(ABS, [0], [1], b"")], [1])
        a = self.trace("a", scaled(), npy((1, 1), [1]))
        b = self.trace("b", other, npy((1, 1), [1]))
        text = self.compare(a, b, "--force")
        self.assertIn("the graphs part; the 1 tensor before is the same", text)
        self.assertIn("b: decode 0, tensor 1, made by operator 0, abs", text)
        self.assertEqual(json.loads(self.compare(a, b, "--force", "--json"))["cause"], "structure")

    def test_a_wrong_program(self):
        x = npy((1, 1), [1])
        a = self.trace("a", scaled(), x)
        lines = self.get("a").splitlines(True)
        record = json.loads(lines[3])
        record.update(sha256="0" * 64, hi=4)
        self.put("b", b"".join(lines[:3]) + json.dumps(record).encode() + b"\n")
        self.assertIn("computes it wrongly", self.compare(a, "b"))
        self.assertEqual(json.loads(self.compare(a, "b", "--json"))["cause"], "evaluation")

    def test_malformed(self):
        a = self.trace("a", scaled(), npy((1, 1), [1]))
        text = self.get("a")
        lines = text.splitlines(True)
        cases = [(b"", "empty"), (b"{}\n", "no trace"), (b"\x93NUMPY", "line 1"),
                 (lines[0], "line 2: the trace ends early"),
                 (b"".join(lines[:3]), "line 4: the trace ends early"),
                 (text + lines[3], "line 5"), (lines[0] + lines[1] + b"{\n", "line 3"),
                 (lines[0] + b"[]\n", "line 2"), (text.replace(b'"lo": 1', b'"lo": 1.5'), "line 2"),
                 (text.replace(b'"quipu_trace": 1', b'"quipu_trace": 2'), "version 2"),
                 (text.replace(b'"shape": [1, 1, 1]', b'"shape": [1, 1]'), "three numbers"),
                 (text.replace(b'"reads": [0]', b'"reads": [%s]' % b",".join([b"0"] * 256)),
                  "at most 255"),
                 (text.replace(b'"decode": 0', b'"decode": 1'), "does not belong here"),
                 (text.replace(b'"sha256": "', b'"sha256": "x'), "line 2")]
        for data, sentence in cases:
            self.put("bad", data)
            self.compare_says(sentence, a, "bad")
        for size in range(len(text) - 1):  # without the last line break it is whole
            self.put("bad", text[:size])
            self.compare_says("quipu compare: bad: malformed", a, "bad")
        self.compare_says("io", a, "none", code=ENVIRONMENT)
        self.compare_says("two traces or two files of weights are needed; 1 given", a, code=USAGE)
        self.compare_says("read once", "-", "-", code=USAGE)

    def test_folder_is_not_overwritten(self):
        a = self.trace("a", scaled(), npy((1, 1), [1]), "--trace-tensors")
        before = self.get("a.tensors/decode-0-tensor-0.npy")
        done = self.quipu("run", "a.whg1", "a.npy", "--trace", "a", "--trace-tensors",
                          code=ENVIRONMENT)
        self.assertIn("a.tensors is there already", done.stderr.decode())
        self.assertEqual(self.get("a.tensors/decode-0-tensor-0.npy"), before)
        b = self.trace("b", scaled(), npy((1, 1), [2]), "--trace-tensors")
        self.put("b.tensors/decode-0-tensor-0.npy", npy((1, 2), [1, 2]))
        self.compare_says("b: malformed: the array's shape is not that of the trace", a, b)
        os.remove("b.tensors/decode-0-tensor-0.npy")
        self.compare_says("io", a, b, code=ENVIRONMENT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
