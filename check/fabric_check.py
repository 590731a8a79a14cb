#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The independent reading of fabric-tables.md against a quipu command.

    python3 check/fabric_check.py QUIPU [--seed N] [--cases N] [--kind KIND] [--keep DIR]

First every worked value of the text, then random cases of each kind: relation, templates, run.
Exit status 1 on a difference; --keep leaves the files of each difference in DIR."""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import fabric_random
import fabric_worked
from fabric_evaluate import NotHere
from fabric_mapping import Configuration, Verified
from fabric_relation import Finite
from fabric_simulate import read_streams, simulate
from fabric_template import Sealed
from fabric_text import File, FabricText, GraphText, MapText
from fabric_types import Fault, packed_bits

KINDS = ("relation", "templates", "admit", "text", "run")
CLASSES = ("Invalid", "CapabilityInadmissible", "Unsupported", "Conflict")


class Command:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, part, *arguments):
        """(class of the fault or None, standard output as bytes, standard error)."""
        done = subprocess.run([self.program, "fabric", part, *arguments], capture_output=True,
                              timeout=60, cwd=self.folder)
        message = done.stderr.decode(errors="replace")
        if done.returncode == 0:
            return None, done.stdout, message
        found = re.search(r"\b(" + "|".join(CLASSES) + r")\b", message)
        return (found.group(1) if found and done.returncode == 1
                else f"status {done.returncode}"), done.stdout, message


def ours(make):
    """(class or None, value)."""
    try:
        return None, make()
    except Fault as fault:
        return fault.kind, str(fault)


def compare(what, mine, theirs, read, strict=True):
    """A difference in words, or None; `read` turns the command's output into our value.
    Of a file with several faults (not `strict`) either may be told."""
    if mine[0] in CLASSES and theirs[0] in CLASSES and not strict:
        return None
    if mine[0] != theirs[0]:
        return (f"{what}: checker {mine[0] or 'accepts'} ({mine[1] if mine[0] else ''}), "
                f"command {theirs[0] or 'accepts'} ({theirs[2].strip()})")
    if mine[0] is None:
        value = read(theirs[1])
        if value != mine[1]:
            return f"{what}: checker {mine[1]}\n  command {value}"
    return None


def relations(text):
    """What `relation --json` should say of each op, in file order."""
    sealed = []
    for fabric in File(text.encode()).fabrics.values():
        for unit, ops in zip(fabric.units, Sealed(fabric).ops):
            for n, op in ops.items():
                row = {"operation": f"{unit.name}.{unit.nodes[n].name}"}
                if op.relation is None:
                    row["kind"] = "none"
                elif isinstance(op.relation, Finite):
                    row.update(kind="finite", keys=[k.hex() for k in op.relation.keys])
                else:
                    row.update(kind="direct", bits=op.relation.bits,
                               fields=[[n, w] for n, w in op.relation.fields if w])
                sealed.append(row)
    return sealed


def read_relations(data):
    out = []
    for item in json.loads(data)["relations"]:
        row = {"operation": item["operation"], "kind": item["kind"]}
        if item["kind"] == "finite":
            row["keys"] = [k["bytes"] for k in item["keys"]]
        if item["kind"] == "direct":
            row.update(bits=item["carrier_bits"],
                       fields=[[f["name"], f["bit_width"]] for f in item["fields"]])
        out.append(row)
    return out


def inventories(text):
    out = []
    for fabric in File(text.encode()).fabrics.values():
        for templates in Sealed(fabric).templates:
            out.append([t.data.hex() for t in templates])
    return out


def read_inventories(data):
    return [[t["bytes"] for t in unit["templates"]] for unit in json.loads(data)["units"]]


def everything(text):
    """The identities of all that a file holds, after every check."""
    file = File(text.encode())
    for fabric in file.fabrics.values():
        Sealed(fabric)
    for map_ in file.maps.values():
        Verified(map_)
    return sorted([(n, FabricText(x).identity) for n, x in file.fabrics.items()]
                  + [(n, GraphText(x).identity) for n, x in file.graphs.items()]
                  + [(n, MapText(x).identity) for n, x in file.maps.items()])


def read_identities(data):
    found = json.loads(data)
    return sorted((x["name"], x["identity"]) for key in ("fabrics", "graphs", "maps")
                  for x in found.get(key, ()))


def report(text):
    file = File(text.encode())
    (map_,) = file.maps.values()
    return Configuration(map_.fabric, map_)


def outputs(case, tokens, stalls):
    map_ = next(iter(File(case["file"].encode()).maps.values()))
    found = simulate(map_, read_streams(tokens, map_, "tokens"),
                     read_streams(stalls, map_, "cycles"), case["resets"], case["cycles"])
    out = []
    for name, (tokens, cycles) in found.items():
        width = map_.graph.bits(name)
        out.append({"port": name, "tokens": [f"{t:0{(width + 3) // 4}x}" if width else "none"
                                             for t in tokens], "cycles": cycles})
    return out


def decoded(configuration, bits):
    """Every slot's semantic value in hex, or None where some configuration cannot write it: a value
    outside its domain, spare bits, or an unused operation that is not inactive."""
    if bits >> configuration.bits:
        return None
    codes = {s.key: bits >> s.offset & ((1 << s.bits) - 1) for s in configuration.slots}
    values = []
    for slot in configuration.slots:
        code = codes[slot.key]
        if not (slot.op.in_domain(code) if slot.direct else code < len(slot.domain)):
            return None
        occurrence, context, node = slot.key
        template = codes[occurrence, context, None]
        unit = configuration.fabric.occurrences[occurrence][1]
        templates = configuration.sealed.templates[unit]
        if node is not None and template <= len(templates) and code != slot.inactive()[1] and (
                not template or node not in templates[template - 1].nodes):
            return None
        values.append((packed_bits(code, slot.bits) if slot.direct else slot.domain[code]).hex())
    return values


def read_lines(data):
    return [json.loads(line) for line in data.decode().splitlines()]


class Checker:
    def __init__(self, command, folder, keep):
        self.command, self.folder, self.keep = command, folder, keep
        self.counts, self.differences = {}, 0

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def tell(self, kind, seed, difference):
        self.differences += 1
        print(f"DIFFERENCE {kind} {seed}: {difference[:3000]}", flush=True)

    def path(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
        return path

    def case(self, kind, seed):
        """One random case; its own files, so that several may run at once."""
        rng = random.Random(f"{kind}-{seed}")
        difference, outcome = getattr(self, kind)(rng, f"{kind}-{seed}")
        return kind, seed, difference, outcome

    def relation(self, rng, name):
        text = fabric_random.relation_case(rng)
        path = self.path(f"{name}.fabric", text)
        mine = ours(lambda: relations(text))
        return self.end(compare("relation", mine, self.command("relation", "--json", path),
                                read_relations), [path], mine)

    def templates(self, rng, name):
        text = fabric_random.topology_case(rng)
        path = self.path(f"{name}.fabric", text)
        mine = ours(lambda: inventories(text))
        return self.end(compare("templates", mine, self.command("templates", "--json", path),
                                read_inventories), [path], mine)

    def admit(self, rng, name):
        text = fabric_random.admit_case(rng)
        path = self.path(f"{name}.fabric", text)
        mine, difference = self.configure(text, path, rng.random() < 0.2, True)
        if difference is None and mine[0] is None and rng.random() < 0.5:
            difference = self.decode(rng, mine[1], path)
        return self.end(difference, [path], mine)

    def decode(self, rng, configuration, path):
        """An image with some bits turned: are its values legal, and read back?"""
        size = len(configuration.payload)
        bits = int.from_bytes(configuration.payload, "little")
        for _ in range(rng.choice((0, 1, 1, 2, 3)) if size else 0):
            bits ^= 1 << rng.randrange(configuration.bits)
        if size and rng.random() < 0.05:
            bits ^= 1 << rng.randrange(8 * size)
        image = configuration.image()[:-size or None] + bits.to_bytes(size, "little")
        with open(path + ".image", "wb") as out:
            out.write(image)
        fault, data, message = self.command("decode", "--json", "--image", path + ".image", path)
        os.remove(path + ".image")
        values = decoded(configuration, bits)
        if (values is None) != (fault is not None):
            return f"decode {bits:#x}: checker {values}, command {message.strip()}"
        unit = None if fault else json.loads(data)["programming_units"][0]
        if values is not None and [s["value"] for s in unit["slots"]] != values:
            return f"decode {bits:#x}: checker {values}, command {unit}"
        return None

    def text(self, rng, name):
        text = fabric_random.text_case(rng)
        path = self.path(f"{name}.fabric", text)
        mine = ours(lambda: everything(text))
        return self.end(compare("check", mine, self.command("check", "--json", path),
                                read_identities, strict=False), [path], mine)

    def configure(self, text, path, whole, strict):
        """The report, and with `whole` the ABI and the image: (ours, difference)."""
        mine = ours(lambda: report(text))
        difference = compare("configure", (mine[0], mine[1].report() if mine[0] is None
                                           else mine[1]),
                             self.command("configure", "--json", path), json.loads, strict)
        if difference is None and mine[0] is None and whole:
            difference = (compare("abi", (None, mine[1].abi()),
                                  self.command("configure", "--abi", path), bytes.strip)
                          or compare("image", (None, mine[1].image()),
                                     self.command("configure", path), bytes))
        return mine, difference

    def run(self, rng, name):
        case = fabric_random.run_case(rng)
        path = self.path(f"{name}.fabric", case["file"])
        files = [path]
        mine, difference = self.configure(case["file"], path, rng.random() < 0.2, False)
        if difference or mine[0]:
            return self.end(difference, files, mine)
        tokens = fabric_random.token_lines(case["tokens"])
        stalls = fabric_random.stall_lines(case["stalls"])
        if case["spoilt"] == "tokens":
            tokens = fabric_random.spoil_streams(rng, tokens)
        elif case["spoilt"]:
            stalls = fabric_random.spoil_streams(rng, stalls)
        files += [self.path(f"{name}.tokens", tokens), self.path(f"{name}.stalls", stalls)]
        arguments = ["--tokens", files[-2], "--cycles", str(case["cycles"])]
        if stalls:
            arguments += ["--stalls", files[-1]]
        for cycle in case["resets"]:
            arguments += ["--reset", str(cycle)]
        try:
            mine = ours(lambda: outputs(case, tokens, stalls))
        except NotHere:
            return self.end(None, files, ("special function", None))
        theirs = self.command("simulate", *arguments, path)
        difference = compare("simulate " + " ".join(arguments), mine, theirs, read_lines)
        if difference is None and mine[0]:
            difference = same_cycle(mine[1], theirs[2])
        return self.end(difference, files, mine)

    def end(self, difference, files, mine):
        if difference and self.keep:
            os.makedirs(self.keep, exist_ok=True)
            for path in files:
                os.replace(path, os.path.join(self.keep, os.path.basename(path)))
        else:
            for path in files:
                os.remove(path)
        return difference, mine[0] or "holds"


def same_cycle(mine, theirs):
    """A run that ends as Invalid ends in the same cycle."""
    a, b = (re.search(r"cycle (\d+)", text) for text in (mine, theirs))
    if a and b and a.group(1) != b.group(1):
        return f"the run's end: checker {mine}, command {theirs.strip()}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("quipu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = Command(os.path.abspath(arguments.quipu), folder)
        checker = Checker(command, folder, arguments.keep)
        for name, good in fabric_worked.values(command, folder):
            checker.count(f"worked: {'holds' if good else 'DIFFERS'}")
            if not good:
                checker.tell("worked", name, "differs from the text")
        kinds = [arguments.kind] if arguments.kind else list(KINDS)
        jobs = [(kind, seed) for kind in kinds
                for seed in range(arguments.seed, arguments.seed + arguments.cases)]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for kind, seed, difference, outcome in pool.map(lambda j: checker.case(*j), jobs):
                checker.count(f"{kind}: {outcome}")
                if difference:
                    checker.tell(kind, seed, difference)
    for what, count in sorted(checker.counts.items()):
        print(f"{count:7} {what}")
    print(f"{checker.differences} differences")
    return 1 if checker.differences else 0


if __name__ == "__main__":
    sys.exit(main())
