# SPDX-License-Identifier: Apache-2.0
"""Checks of `quipu fabric`: fabric_checks.py QUIPU SOURCE (see test_fabric.sh).

The kernels of examples/fabric are computed again here, in plain Python from their tokens; the
transcripts and drawings of docs/fabric.md are made again and compared.
"""
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

QUIPU = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
EXAMPLES = os.path.join(SOURCE, "examples", "fabric")
CORPUS = os.path.join(SOURCE, "fuzz", "corpus", "fabric_text")
TOUR = os.path.join(SOURCE, "docs", "fabric.md")

OK, REFUSED, USAGE, ENVIRONMENT = 0, 1, 2, 3
PARTS = ["check", "relation", "supports", "templates", "map", "configure", "decode", "simulate",
         "show"]


def quipu(*arguments, data=None, folder=SOURCE):
    return subprocess.run([QUIPU, *arguments], input=data, capture_output=True, cwd=folder,
                          check=False)


def example(kernel, *names):
    return [os.path.join(EXAMPLES, kernel, name) for name in names]


def files_of(kernel):
    return example(kernel, kernel + ".fabric", kernel + ".graph", kernel + ".map")


def read_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- the kernels again, from their definitions ---------------------------------------------------

def signed(digits, bits):
    value = int(digits, 16)
    return value - (1 << bits) if value >> (bits - 1) else value


class Streams:
    """The tokens of a kernel as integers: one digit is a bit or a lane mask, two a byte."""

    def __init__(self, kernel):
        self.lines = read_lines(read(*example(kernel, "tokens.jsonl")))

    def __getitem__(self, port):
        tokens = next(line["tokens"] for line in self.lines if line["port"] == port)
        return [int(t) if len(t) == 1 else signed(t, 4 * len(t)) for t in tokens]


def word(value, bits=32):
    return "%0*x" % ((bits + 3) // 4, value & ((1 << bits) - 1))


def words(values, bits=32):
    return [word(value, bits) for value in values]


def clamp(value, low, high):
    return min(max(value, low), high)


def dot(t):
    return {"x0": words([t["init"][0] + sum(a * b for a, b in zip(t["a"], t["b"]))])}


def satadd(t):
    sums = [clamp(a + b, -128, 127) for a, b in zip(t["a"], t["b"])]
    return {"i": words(range(10)), "s": words(sums, 8), "more": ["1"] * 10 + ["0"]}


def fir8(t):
    h, x = [-2, 3, 14, 33, 33, 14, 3, -2], t["x"]
    return {"s0": words(sum(h[k] * x[n - k] for k in range(8) if n >= k) for n in range(len(x)))}


def argmax(t):
    best = max(t["x"])
    return {"best": words([best]), "at": words([t["x"].index(best)])}


def gated(t):
    body = t["x"][:t["on"].index(0)]
    return {"sum": words([t["init"][0] + sum(x for x in body if x > t["limit"][0])])}


KERNEL = [[17, -60, 23], [-8, 127, -45], [31, -12, 55]]


def conv3x3(t):
    rows = [t["x0"], t["x1"], t["x2"]]
    out = []
    for place in range(len(rows[0])):
        total = sum(KERNEL[r][j] * rows[r][place + j - 2]
                    for r in range(3) for j in range(3) if place + j >= 2)
        out.append(clamp((total * 5243 + (1 << 18) >> 19) + 13, 0, 255))
    return {"y": words(out, 8)}


def matvec(t):
    vector = [t["x%d" % k][0] for k in range(4)]
    return {"s3": words(b + sum(t["a%d" % k][i] * vector[k] for k in range(4))
                        for i, b in enumerate(t["b"]))}


KERNELS = {"dot": dot, "satadd": satadd, "fir8": fir8, "argmax": argmax, "gated": gated,
           "conv3x3": conv3x3, "matvec": matvec}


class Case(unittest.TestCase):
    def succeed(self, *arguments, **options):
        result = quipu("fabric", *arguments, **options)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertEqual(result.stderr, b"")
        return result.stdout

    def refuse(self, code, needle, *arguments, **options):
        result = quipu("fabric", *arguments, **options)
        self.assertEqual(result.returncode, code, (arguments, result.stderr))
        self.assertIn(needle, result.stderr.decode())
        self.assertEqual(result.stderr.count(b"\n"), 2 if code == USAGE else 1)
        return result.stdout

    def fits(self, text):
        for line in text.decode().splitlines():
            self.assertLessEqual(len(line), 100, line)


class Kernels(Case):
    def test_outputs_are_the_definitions(self):
        for kernel, define in KERNELS.items():
            expected = {line["port"]: line["tokens"]
                        for line in read_lines(read(*example(kernel, "expected.jsonl")))}
            self.assertEqual(expected, define(Streams(kernel)), kernel)

    def test_runs_of_the_graph_alone(self):
        for kernel in KERNELS:
            out = self.succeed("simulate", "--golden", "--tokens",
                               *example(kernel, "tokens.jsonl"), *files_of(kernel))
            expected = read_lines(read(*example(kernel, "expected.jsonl")))
            self.assertEqual(read_lines(out), [{"port": line["port"], "tokens": line["tokens"]}
                                               for line in expected], kernel)

    def test_runs_of_the_map(self):
        for kernel in KERNELS:
            out = self.succeed("simulate", "--tokens", *example(kernel, "tokens.jsonl"),
                               *files_of(kernel))
            self.assertEqual(out.decode(), read(*example(kernel, "expected.jsonl")), kernel)

    def test_stalls_change_cycles_and_no_token(self):
        for kernel, define in KERNELS.items():
            for seed in ("1", "2", "3"):
                out = self.succeed("simulate", "--stall-seed", seed, "--tokens",
                                   *example(kernel, "tokens.jsonl"), *files_of(kernel))
                self.assertEqual({line["port"]: line["tokens"] for line in read_lines(out)},
                                 define(Streams(kernel)), (kernel, seed))

    def test_stalls_of_a_script(self):
        script = ["--stalls", *example("dot", "stalls.jsonl"), "--tokens",
                  *example("dot", "tokens.jsonl"), *files_of("dot")]
        line, = read_lines(self.succeed("simulate", *script))
        self.assertEqual(line, {"port": "x0", "cycles": [40], "tokens": dot(Streams("dot"))["x0"]})

    def test_files_hold(self):
        for kernel in KERNELS:
            out = self.succeed("check", *files_of(kernel))
            self.assertIn(b"everything holds", out)
            self.fits(out)
            self.fits(self.succeed("supports", *files_of(kernel)))
            self.fits(self.succeed("relation", *files_of(kernel)))
            self.fits(self.succeed("templates", *files_of(kernel)))

    def test_a_file_of_nothing(self):
        self.assertEqual(self.succeed("check", "-", data=b"# a comment\n"),
                         b"there is no fabric, graph or map\n")

    def test_maps_are_found_and_run_the_same(self):
        for kernel, define in KERNELS.items():
            found = self.succeed("map", "--limit", "1", *files_of(kernel)[:2])
            self.succeed("check", *files_of(kernel)[:2], "-", data=found)
            out = self.succeed("simulate", "--tokens", *example(kernel, "tokens.jsonl"),
                               *files_of(kernel)[:2], "-", data=found)
            self.assertEqual({line["port"]: line["tokens"] for line in read_lines(out)},
                             define(Streams(kernel)), kernel)

    def test_images_decode_to_what_was_configured(self):
        with tempfile.TemporaryDirectory() as folder:
            image = os.path.join(folder, "image")
            for kernel in KERNELS:
                self.succeed("configure", "-o", image, *files_of(kernel))
                report = json.loads(self.succeed("configure", "--json", *files_of(kernel)))
                decoded = json.loads(self.succeed("decode", "--json", "--image", image,
                                                  *files_of(kernel)))
                self.assertEqual(report["programming_units"], decoded["programming_units"])
                self.fits(self.succeed("decode", "--image", image, *files_of(kernel)))

    def test_the_unused_fabric_is_inactive(self):
        report = json.loads(self.succeed("configure", "--json", *example("fir8", "fir8.fabric")))
        self.assertIsNone(report["map"])
        slots = report["programming_units"][0]["slots"]
        self.assertEqual(len(slots), 16)
        self.assertFalse(any(slot["selected"] for slot in slots))

    def test_coefficients_stand_in_the_bits(self):
        report = json.loads(self.succeed("configure", "--json", *files_of("fir8")))
        values = {slot["owner"]: slot["fields"][0]["value"]
                  for slot in report["programming_units"][0]["slots"]}
        self.assertEqual([values["t%d.k" % k] for k in range(8)],
                         words([-2, 3, 14, 33, 33, 14, 3, -2]))

    def test_a_histogram_is_refused(self):
        files = example("histogram", "histogram.fabric", "histogram.graph")
        for part in ("check", "map", "supports"):
            self.refuse(REFUSED, "histogram.graph:5:10: Unsupported: ", part, *files)
            self.refuse(REFUSED, "dataflow.load", part, *files)


class Convolution(Case):
    """The conv of the library, on a graph assembled from JSON, gives the fabric's bytes."""

    def test_conv(self):
        t = Streams("conv3x3")
        rows = [t["x%d" % r][:-2] for r in range(3)]
        head = "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 3, %d), }" % len(rows[0])
        head += " " * (-(len(head) + 11) % 64) + "\n"
        with tempfile.TemporaryDirectory() as folder:
            graph, picture, out = (os.path.join(folder, n) for n in ("g", "in.npy", "out.npy"))
            with open(picture, "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
                file.write(struct.pack("<%dq" % (3 * len(rows[0])), *sum(rows, [])))
            self.assertEqual(quipu("assemble", "-o", graph,
                                   *example("conv3x3", "conv.json")).returncode, OK)
            self.assertEqual(quipu("run", graph, picture, "-o", out).returncode, OK)
            with open(out, "rb") as file:
                data = file.read()
        length, = struct.unpack_from("<H", data, 8)
        values = struct.unpack_from("<%dq" % (len(rows[0]) + 2), data, 10 + length)
        line, = read_lines(read(*example("conv3x3", "expected.jsonl")))
        self.assertEqual(words(values, 8), line["tokens"])


class Tables(Case):
    """The runs and payloads that fabric-tables.md gives."""

    def run_mac(self, *options, tokens=None):
        base = {"a": ["00000003", "00000005"], "b": ["00000004", "00000006"],
                "ph": ["1", "1", "0"], "init": ["0000000a"]}
        base.update(tokens or {})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokens")
            with open(path, "w", encoding="utf-8") as file:
                for port, stream in base.items():
                    file.write(json.dumps({"port": port, "tokens": stream}) + "\n")
            out = self.succeed("simulate", "--tokens", path, *options,
                               os.path.join(CORPUS, "mac.fabric"))
        return out.decode()

    def test_the_mac_of_12_1(self):
        self.assertEqual(self.run_mac(),
                         '{"port": "x0", "tokens": ["00000034"], "cycles": [5]}\n')

    def test_the_mac_with_a_reset(self):
        self.assertEqual(self.run_mac("--reset", "3",
                                      tokens={"init": ["0000000a", "00000001"]}),
                         '{"port": "x0", "tokens": ["00000001"], "cycles": [5]}\n')

    def test_the_mac_watched(self):
        lines = self.run_mac("--watch").splitlines()
        self.assertEqual(lines[0].split(), "0 fires p, c Init, x0 Lane1".split())
        self.assertEqual(lines[5].split(), "5 fires c Close".split())
        self.assertEqual(lines[6].split(), "out x0 = 00000034".split())

    def payload(self, *arguments):
        report = json.loads(self.succeed("configure", "--json", *arguments))
        return report["programming_units"][0]["payload"]

    def test_payloads(self):
        self.assertEqual(self.payload(os.path.join(CORPUS, "add_sub.fabric")), "03")
        branches = os.path.join(CORPUS, "branches.fabric")
        self.assertEqual(self.payload("--map", "msum", branches), "01")
        self.assertEqual(self.payload("--map", "mprod", branches), "02")
        self.assertEqual(self.payload(*example("tour", "branches.fabric")), "00")

    def test_image_and_abi_have_their_sizes(self):
        files = [os.path.join(CORPUS, "add_sub.fabric")]
        self.assertEqual(len(self.succeed("configure", *files)), 384)
        self.assertEqual(len(self.succeed("configure", "--abi", *files)), 1698)


class Verbs(Case):
    def test_help(self):
        self.assertIn(b"usage: quipu fabric PART", self.succeed("--help"))
        for part in PARTS:
            out = self.succeed(part, "--help")
            self.assertTrue(out.startswith(b"usage: quipu fabric " + part.encode()), out)
            self.assertIn(b"\nexample: quipu fabric " + part.encode(), out)
            self.fits(out)

    def test_usage(self):
        files = files_of("dot")
        self.refuse(USAGE, "a part is missing")
        self.refuse(USAGE, "there is no part 'frob'", "frob")
        for part in PARTS:
            self.refuse(USAGE, "a file is missing", part)
            self.refuse(USAGE, "unknown option --frob", part, "--frob", *files)
        self.refuse(USAGE, "unknown option --json", "show", "--json", *files)
        self.refuse(USAGE, "--limit takes a number", "map", "--limit", "x", *files)
        self.refuse(REFUSED, "--tokens names", "simulate", *files)
        self.refuse(REFUSED, "--graph goes with --golden", "simulate", "--graph", "dot",
                    "--tokens", *example("dot", "tokens.jsonl"), *files)
        self.refuse(REFUSED, "--image names", "decode", *files)

    def test_environment(self):
        self.refuse(ENVIRONMENT, "nowhere", "check", "nowhere.fabric")
        self.refuse(ENVIRONMENT, "nowhere", "simulate", "--tokens", "nowhere", *files_of("dot"))
        self.refuse(ENVIRONMENT, "nowhere", "show", "-o", "nowhere/x.svg", *files_of("dot"))

    def test_faults_have_a_place(self):
        text = read(*example("tour", "adder.fabric")).replace("-> y", "-> z").encode()
        self.refuse(REFUSED, "quipu fabric check: -:7:47: Invalid: ", "check", "-", data=text)
        refused = os.path.join(CORPUS, "broadcast.fabric")
        self.refuse(REFUSED, "broadcast.fabric:", "check", refused)
        self.refuse(REFUSED, ": Invalid: ", "check", refused)

    def test_numbers_past_the_last(self):
        text = read(*files_of("dot")[2:])
        for old, new, needle in (("template 0", "template 7",
                                  "there is no template 7: the unit's last is 0"),
                                 ("-> u", "-> u context 2",
                                  "there is no context 2: the occurrence's last is 0")):
            self.assertIn(old, text)
            self.refuse(REFUSED, needle, "check", *files_of("dot")[:2], "-",
                        data=text.replace(old, new).encode())

    def test_several_items_need_a_name(self):
        branches = os.path.join(CORPUS, "branches.fabric")
        self.refuse(REFUSED, "2 maps: name one with --map", "configure", "--json", branches)
        self.refuse(REFUSED, "2 graphs: name one with --graph", "map", branches)
        self.refuse(REFUSED, "no map 'x'", "configure", "--map", "x", branches)
        self.refuse(REFUSED, "an image needs a map", "configure", *files_of("dot")[:2])
        self.refuse(REFUSED, "--json or --abi", "configure", "--json", "--abi", *files_of("dot"))
        self.refuse(REFUSED, "--fabric is for files without a map", "configure", "--fabric", "mac",
                    *files_of("dot"))

    def test_json(self):
        for kernel in KERNELS:
            for part in ("check", "relation", "supports", "templates"):
                json.loads(self.succeed(part, "--json", *files_of(kernel)))
        found = json.loads(self.succeed("map", "--json", *files_of("conv3x3")[:2]))
        self.assertEqual((found["end"], len(found["maps"]), found["reason"]), ("complete", 6, ""))

    def test_relation_of_one_operation(self):
        file = example("argmax", "argmax.fabric")
        self.assertIn(b"4 behaviours in 2 bits",
                      self.succeed("relation", "--op", "Best.cmp", *file))
        self.assertIn(b"nothing to configure", self.succeed("relation", "--op", "Best.cx", *file))
        self.refuse(REFUSED, "no such operation", "relation", "--op", "Best.z", *file)

    def test_supports_says_which_rule_says_no(self):
        files = files_of("dot")
        self.assertIn(b"yes", self.succeed("supports", "--op", "Mac.mul", "--actor", "p", *files))
        out = self.refuse(REFUSED, "CapabilityInadmissible", "supports", "--op", "Mac.mul",
                          "--actor", "n", *files)
        self.assertIn(b"schema: ", out)
        swapped = ["--op", "Mac.acc", "--actor", "n", "--in", "1,0", "--out", "0"]
        self.assertIn(b"correspondence: ",
                      self.refuse(REFUSED, "section 4", "supports", *swapped, *files))
        self.refuse(REFUSED, "go together", "supports", "--in", "0,1", *files)

    def test_no_map_gives_the_reason(self):
        out = self.refuse(REFUSED, "dot has no map on alu", "map", *example("tour", "adder.fabric"),
                          *example("dot", "dot.graph"))
        self.assertEqual(out, b"")
        out = self.refuse(REFUSED, "dot has no map on alu", "map", "--json",
                          *example("tour", "adder.fabric"), *example("dot", "dot.graph"))
        self.assertEqual(json.loads(out)["maps"], [])

    def test_a_bound_is_no_no(self):
        self.refuse(REFUSED, "raise --work", "map", "--work", "10", *files_of("fir8")[:2])

    def test_decode_refuses_a_changed_image(self):
        image = bytearray(self.succeed("configure", *files_of("dot")))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image")
            for place in (0, 5, len(image) - 1):
                changed = bytearray(image)
                changed[place] ^= 0x10
                with open(path, "wb") as file:
                    file.write(changed)
                self.refuse(REFUSED, "Invalid", "decode", "--image", path, *files_of("dot"))

    def test_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            vcd, svg = os.path.join(folder, "run.vcd"), os.path.join(folder, "run.svg")
            out = self.succeed("simulate", "--vcd", vcd, "--pipeline", svg, "--tokens",
                               *example("dot", "tokens.jsonl"), *files_of("dot"))
            self.assertEqual(out.decode(), read(*example("dot", "expected.jsonl")))
            self.assertIn("$enddefinitions $end", read(vcd))
            xml.etree.ElementTree.fromstring(read(svg))


class Drawings(Case):
    def draw(self, *arguments):
        svg = self.succeed("show", *arguments)
        return xml.etree.ElementTree.fromstring(svg), svg.decode()

    def test_units_templates_and_maps(self):
        for kernel in KERNELS:
            files = files_of(kernel)
            self.draw(*files)
            self.draw("--templates", *files)
            report = json.loads(self.succeed("check", "--json", *files))
            self.draw("--map", report["maps"][0]["name"], *files)

    def test_every_part_is_there(self):
        root, svg = self.draw(*files_of("dot")[:1])
        texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
        for name in ("mul", "acc", "car", "dmx", "a:32", "pd:1", "y:32", "addi subi"):
            self.assertIn(name, texts)
        self.assertEqual(svg.count('class="tip"'), 10)

    def test_a_map_names_actors_and_values(self):
        root, _ = self.draw("--map", "dot_0", *files_of("dot"))
        texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
        for name in ("%p = muli", "%n = addi", "a:32  %a", "y:32  %x0"):
            self.assertIn(name, texts)

    def test_a_template_marks_its_wires(self):
        _, svg = self.draw("--template", "0", *example("tour", "branches.fabric"))
        self.assertEqual(svg.count('class="tip on"'), 6)
        self.assertEqual(svg.count('class="tip off"'), 3)

    def chain(self, count):
        """A unit of `count` carries in a row that all feed back to the first one's readers."""
        text = "fabric f { fu U (p:1, a:32) -> (y:32) {\n"
        for k in range(count):
            source = "a" if k == 0 else "c%d.0" % (k - 1)
            text += ("op c%d LoopCarry [dataflow.carry] in (1,32,32) out (32) params {}\n"
                     "op r%d ScalarIntegerMultiply [arith.muli] in (32,32) out (32) "
                     "params { integer_widths = [32] }\n"
                     "wire p -> c%d.0 wire %s -> c%d.1 wire r%d.0 -> c%d.2 "
                     "wire c%d.0 -> r%d.0 wire c%d.0 -> r%d.1\n"
                     % (k, k, k, source, k, k, k, count - 1, k, k, k))
        return (text + "wire c%d.0 -> y } }\n" % (count - 1)).encode()

    def test_a_big_unit_is_drawn_or_refused(self):
        svg = self.succeed("show", "-", data=self.chain(60))
        xml.etree.ElementTree.fromstring(svg)
        self.refuse(REFUSED, "too big to draw", "show", "-", data=self.chain(300))

    def test_refusals(self):
        self.refuse(REFUSED, "1 template", "show", "--template", "1", *files_of("dot"))
        self.refuse(REFUSED, "no such unit", "show", "--unit", "x", *files_of("dot"))
        self.refuse(REFUSED, "no such realization", "show", "--map", "dot_0", "--unit", "x",
                    *files_of("dot"))


class Information(Case):
    def test_texts(self):
        result = quipu("info", *files_of("dot")[:2])
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertIn(b"dot.fabric: fabric text, ", result.stdout)
        self.assertIn(b"1 unit, 4 operations", result.stdout)
        shown = json.loads(quipu("info", "--json", *files_of("dot")[:1]).stdout)
        self.assertEqual(shown["fabrics"][0]["operations"], 4)

    def test_a_map_alone_is_refused_with_its_place(self):
        result = quipu("info", *files_of("dot")[2:])
        self.assertEqual(result.returncode, REFUSED)
        self.assertIn(b"line 2, column ", result.stderr)

    def test_an_image(self):
        image = self.succeed("configure", *files_of("dot"))
        result = quipu("info", "-", data=image)
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertIn(b"payload     01\n", result.stdout)
        shown = json.loads(quipu("info", "--json", "-", data=image).stdout)
        self.assertEqual(shown["payload_bit_count"], 2)
        self.assertEqual(shown["payload"], "01")


class Words(Case):
    """The tables of docs/fabric.md against the command: it knows every family, member and field."""

    def table(self, heading):
        lines = iter(read(TOUR).split("\n### %s\n" % heading, 1)[1].splitlines())
        rows = []
        for line in lines:
            if line.startswith("|"):
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
            elif rows:
                break
        return rows[2:]

    def members(self, cell):
        return [m if "." in m else "arith." + m for m in cell.split(", ")]

    def refused(self, op):
        text = "fabric f { fu U (a:8) -> (y:8) { op n %s } }" % op
        result = quipu("fabric", "check", "-", data=text.encode())
        self.assertEqual(result.returncode, REFUSED)
        return result.stderr.decode()

    def test_families(self):
        fields = {row[0]: row[1] for row in self.table("Records")}
        rows = self.table("Families")
        self.assertEqual(len(rows), 71)
        self.assertEqual({row[2] for row in rows}, set(fields))
        for family, members, record in rows:
            head = "%s [%s] in (8) out (8) " % (family, ", ".join(self.members(members)))
            self.assertIn("expected 'params', not '}'", self.refused(head), family)
            for field in filter(None, fields[record].split(", ")):
                self.assertIn("expected '=', not '}'",
                              self.refused(head + "params { %s }" % field), (family, field))
            self.assertIn("has no field 'x'", self.refused(head + "params { x }"), family)

    def test_an_end_without_a_wire_is_named(self):
        adder = read(*example("tour", "adder.fabric"))
        for wire, needle in (("wire a -> f.0", "no wire goes to 'f.0'"),
                             ("wire b -> f.1", "no wire goes to 'f.1'"),
                             ("wire f.0 -> y", "no wire goes to the output 'y'")):
            self.assertIn(wire, adder)
            self.refuse(REFUSED, needle, "check", "-", data=adder.replace(wire, "").encode())

    def test_a_bound_changes_no_reason(self):
        """Three sums on a unit of one and a unit of two in a row: whatever the bound, `map` says
        that it was reached, or what is true of the whole search."""
        adder = ("op %s ScalarIntegerAddSub [arith.addi] in (32,32) out (32) "
                 "params { integer_widths = [32] } ")
        text = ("fabric f { fu One (a:32, b:32) -> (y:32) { " + adder % "f" +
                "wire a -> f.0 wire b -> f.1 wire f.0 -> y } "
                "fu Two (a:32, b:32, c:32) -> (y:32) { " + adder % "f" + adder % "g" +
                "wire a -> f.0 wire b -> f.1 wire f.0 -> g.0 wire c -> g.1 wire g.0 -> y } "
                "occ o One occ t Two } graph g { input %a : i32 " +
                "".join("%%x%d = arith.addi %%a, %%a : (i32,i32) -> (i32) " % k for k in range(3)) +
                "output %x0 output %x1 output %x2 }").encode()
        self.refuse(REFUSED, "too few occurrences", "map", "-", data=text)
        for work in range(1, 400, 7):
            result = quipu("fabric", "map", "--work", str(work), "-", data=text)
            self.assertEqual(result.returncode, REFUSED)
            self.assertTrue(any(needle in result.stderr for needle in
                                (b"raise --work", b"no steps were left", b"too few occurrences")),
                            result.stderr)

    def test_counts_begin_at_one(self):
        for option, part in (("--cycles", "simulate"), ("--stall-seed", "simulate"),
                             ("--limit", "map"), ("--work", "map")):
            self.refuse(USAGE, option + " takes a number from 1, not '0'", part, option, "0",
                        *files_of("dot"))


class Tour(Case):
    """docs/fabric.md: what follows '$ ' is run in the source's folder; what it prints stands
    below it, what it draws is the committed file, and /tmp is a folder of the test's."""

    def test_transcripts(self):
        commands = 0
        with tempfile.TemporaryDirectory() as folder:
            for command, expected in self.transcripts():
                arguments = shlex.split(command)
                self.assertEqual(arguments[:2], ["quipu", "fabric"], command)
                drawn = [a for a in arguments if a.startswith("docs/images/")]
                made = {a: os.path.join(folder, os.path.basename(a)) for a in arguments
                        if a.startswith(("docs/images/", "/tmp/"))}
                result = quipu(*[made.get(a, a) for a in arguments[1:]])
                out = (result.stdout + result.stderr).decode()
                self.assertEqual(out.rstrip("\n"), expected.rstrip("\n"), command)
                for name in drawn:
                    self.assertEqual(read(made[name]), read(os.path.join(SOURCE, name)), name)
                commands += 1
        self.assertGreater(commands, 15)

    def test_files_that_it_quotes(self):
        page = read(TOUR)
        for name in ("adder.fabric", "difference.graph", "difference.map"):
            text = read(*example("tour", name)).split("\n", 1)[1]
            self.assertIn("```\n" + text + "```\n", page, name)

    def transcripts(self):
        inside, command, lines = False, None, []
        for line in read(TOUR).splitlines():
            if line.startswith("```"):
                inside = not inside and line == "```console"
                if command is not None:
                    yield command, "\n".join(lines)
                command, lines = None, []
            elif inside and line.startswith("$ "):
                if command is not None:
                    yield command, "\n".join(lines)
                command, lines = line[2:], []
            elif inside and command is not None and command.endswith("\\"):
                command = command[:-1] + line.strip()
            elif inside:
                lines.append(line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
