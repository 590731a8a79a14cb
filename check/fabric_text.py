# SPDX-License-Identifier: Apache-2.0
"""Section 12 of fabric-tables.md: the text form, read; and section 11's canonical bytes."""

import hashlib
import re
from typing import NamedTuple

from fabric_families import BEHAVIOR_FIELDS, FAMILIES
from fabric_types import (FAST_MATH, FLOAT_PREDICATES, FLOATS, INTEGER_PREDICATES, OVERFLOW,
                          ROUNDED, ROUNDINGS, SCHEMAS, STEPS, TIERS, UNSUPPORTED, Fault,
                          check_shape, need, parse_type, u32, u64)

# ---- the lexer ----

TOKEN = [(kind, re.compile(pattern)) for kind, pattern in (
    ("ID", rb"[A-Za-z_][A-Za-z0-9_]*"),
    ("SCHEMA", rb"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+"),
    ("VAL", rb"%[A-Za-z_][A-Za-z0-9_]*"),
    ("PORT", rb"[A-Za-z_][A-Za-z0-9_]*\.[0-9]+"),
    ("INT", rb"0x[0-9a-f]+|-?[0-9]+"),
    ("TAGGED", rb"[0-9]+t"),
    ("TYPE", rb"[a-z][a-z0-9]*<[0-9a-z]+>"),
    ("MARK", rb"->|[{}()\[\],:=?]"))]
BLANK = re.compile(rb"(?:[ \t\r\n]|#[^\n]*)*")
RUN_ON = re.compile(rb"[A-Za-z0-9_.<]")


class Token(NamedTuple):
    kind: str
    text: str
    place: int


def lex(data):
    tokens, at = [], BLANK.match(data).end()
    while at < len(data):
        found = [(m.end(), kind) for kind, p in TOKEN if (m := p.match(data, at))]
        need(found, f"byte {at}: starts no token")
        end, kind = max(found, key=lambda pair: pair[0])
        need(kind == "MARK" or not RUN_ON.match(data, end), f"byte {end}: a token runs on")
        tokens.append(Token(kind, data[at:end].decode(), at))
        at = BLANK.match(data, end).end()
    tokens.append(Token("END", "", at))
    return tokens


# ---- what is read ----

class Node:
    def __init__(self, kind, name, **fields):
        self.kind, self.name = kind, name  # op, mux or demux
        self.__dict__.update(fields)


class Unit:  # an FU
    def __init__(self, name):
        self.name = name
        self.inputs, self.outputs, self.nodes = [], [], []  # ports: (name, (width, tagged))
        self.wires, self.rows = {}, None  # destination -> source; rows: (ops, routes)

    def width(self, end):
        """end = ("in"|"out", k) of the boundary, or (node, "in"|"out", k)."""
        if end[0] == "in":
            return self.inputs[end[1]][1]
        if end[0] == "out":
            return self.outputs[end[1]][1]
        node = self.nodes[end[0]]
        return node.ins[end[2]] if end[1] == "in" else node.outs[end[2]]


class Fabric:
    def __init__(self, name):
        self.name = name
        self.units, self.occurrences = [], []  # (name, unit index, contexts)


class Actor(NamedTuple):
    schema: str
    operands: list  # value names
    results: list
    attributes: dict
    ins: list  # types
    outs: list


class Graph:
    def __init__(self, name, index):
        self.name, self.index = name, index
        self.inputs, self.actors, self.outputs = [], [], []
        self.types, self.producer = {}, {}  # value -> type; value -> (actor or None, ordinal)

    def bits(self, value):
        return self.types[value].bits(self.index)


class Realization:
    def __init__(self, name, unit, template):
        self.name, self.unit, self.template = name, unit, template
        self.actors, self.rows = [], []  # (actor, node, ins, outs); (actor, dir, ordinal, port)
        self.bind = None  # (occurrence, context)


class Map:
    def __init__(self, name, graph, fabric):
        self.name, self.graph, self.fabric = name, graph, fabric
        self.realizations = []


class Reader:
    """A recursive descent over section 12's grammar."""

    def __init__(self, data):
        self.tokens, self.at = lex(data), 0

    @property
    def next(self):
        return self.tokens[self.at]

    def fail(self, expected):
        raise Fault("Invalid", f"byte {self.next.place}: {expected}, not '{self.next.text}'")

    def accept(self, text):
        if self.next.text == text and self.next.kind in ("ID", "MARK"):
            self.at += 1
            return True
        return False

    def expect(self, text):
        if not self.accept(text):
            self.fail(f"'{text}' is due")

    def take(self, kind):
        if self.next.kind != kind:
            self.fail(f"a {kind} is due")
        self.at += 1
        return self.tokens[self.at - 1].text

    def word(self):
        return self.take("ID")

    def number(self, low=0, high=(1 << 32) - 1):
        text = self.take("INT")
        value = int(text, 16) if text.startswith("0x") else int(text)
        if not low <= value <= high:
            raise Fault("Invalid", f"{text} does not fit its place")
        return value

    def list_of(self, item, end):
        """Items parted by commas up to a mark; none at all is an empty list."""
        if self.accept(end):
            return []
        items = [item()]
        while self.accept(","):
            items.append(item())
        self.expect(end)
        return items

    def some(self, item, end):
        items = self.list_of(item, end)
        need(items, "an empty list where one item is due")
        return items

    # ---- file ----

    def file(self):
        raw = []
        while self.next.kind != "END":
            word = self.word()
            if word == "fabric":
                raw.append(("fabric", self.fabric()))
            elif word == "graph":
                raw.append(("graph", self.graph()))
            elif word == "map":
                raw.append(("map", self.map()))
            else:
                raise Fault("Invalid", f"'{word}' begins neither fabric, graph nor map")
        return raw

    # ---- fabric ----

    def width(self):
        if self.next.kind == "TAGGED":
            value = int(self.take("TAGGED")[:-1])
            need(value < 1 << 32, "a width past u32")
            return value, True
        return self.number(), False

    def ports(self):
        def port():
            name = self.word()
            self.expect(":")
            return name, self.width()
        self.expect("(")
        return self.list_of(port, ")")

    def fabric(self):
        fabric, pending = Fabric(self.word()), []
        self.expect("{")
        while not self.accept("}"):
            word = self.word()
            if word == "fu":
                unit = self.unit()
                need(unit.name not in {u.name for u in fabric.units}, f"{unit.name}: twice")
                fabric.units.append(unit)
            elif word == "occ":
                pending.append((self.word(), self.word(),
                                self.number(1) if self.accept("contexts") else 1))
            else:
                raise Fault("Invalid", f"'{word}' in a fabric")
        names = {u.name: k for k, u in enumerate(fabric.units)}
        for name, unit, contexts in pending:
            need(unit in names, f"{name}: there is no FU {unit}")
            need(name not in {o[0] for o in fabric.occurrences}, f"{name}: twice")
            fabric.occurrences.append((name, names[unit], contexts))
        return fabric

    def unit(self):
        unit = Unit(self.word())
        unit.inputs = self.ports()
        self.expect("->")
        unit.outputs = self.ports()
        need(unit.outputs, "an FU without outputs")
        self.expect("{")
        wires, rows = [], []
        while not self.accept("}"):
            word = self.word()
            if word == "template":
                rows.append(self.row())
            elif rows:
                raise Fault("Invalid", "templates stand last")
            elif word == "op":
                unit.nodes.append(self.op())
            elif word in ("mux", "demux"):
                unit.nodes.append(self.selector(word))
            elif word == "wire":
                wires.append(self.wire())
            else:
                raise Fault("Invalid", f"'{word}' in an FU")
        self.finish(unit, wires, rows)
        return unit

    def op(self):
        name, family = self.word(), self.word()
        need(family in FAMILIES, f"{family}: no such family")
        row = FAMILIES[family]
        self.expect("[")
        schemas = self.some(lambda: self.take("SCHEMA"), "]")
        for schema in schemas:
            need(schema in SCHEMAS, f"{schema}: no such schema")
            need(schema in row.schemas, f"{schema}: not of {family}")
        need(len(set(schemas)) == len(schemas), "op_list: a schema twice")

        def widths(word):
            self.expect(word)
            self.expect("(")
            return self.list_of(self.width, ")")
        ins, outs = widths("in"), widths("out")
        self.expect("params")
        return Node("op", name, family=family, schemas=sorted(schemas, key=row.schemas.index),
                    ins=ins, outs=outs, params=read_params(row, self.record()))

    def selector(self, kind):
        name, width, lanes = self.word(), self.width(), self.number()
        need(lanes >= 2, f"{kind} {name}: at least two lanes")
        many, one = [width] * lanes, [width]
        return Node(kind, name, width=width, lanes=lanes,
                    ins=many if kind == "mux" else one, outs=one if kind == "mux" else many)

    def wire(self):
        def end():
            token = self.next
            if token.kind not in ("ID", "PORT"):
                self.fail("a port is due")
            self.at += 1
            return token.text
        source = end()
        self.expect("->")
        return source, end()

    def row(self):
        self.expect("{")
        self.expect("ops")
        self.expect("[")
        ops = self.some(self.word, "]")
        routes = []
        if self.accept("routes"):
            self.expect("[")

            def route():
                name = self.word()
                self.expect("=")
                return name, self.number()
            routes = self.some(route, "]")
        self.expect("}")
        return ops, routes

    def finish(self, unit, wires, rows):
        """Resolve the FU's names."""
        names = [p[0] for p in (*unit.inputs, *unit.outputs)] + [n.name for n in unit.nodes]
        need(len(set(names)) == len(names), f"{unit.name}: a name twice")
        inputs = {p[0]: k for k, p in enumerate(unit.inputs)}
        outputs = {p[0]: k for k, p in enumerate(unit.outputs)}
        nodes = {n.name: k for k, n in enumerate(unit.nodes)}

        def resolve(text, source):
            if "." not in text:
                ports, word = (inputs, "in") if source else (outputs, "out")
                need(text in ports, f"{text}: no such port for a wire")
                return word, ports[text]
            name, ordinal = text.split(".")
            need(name in nodes, f"{name}: no such node")
            node = unit.nodes[nodes[name]]
            need(int(ordinal) < len(node.outs if source else node.ins), f"{text}: no such port")
            return nodes[name], "out" if source else "in", int(ordinal)

        for source, destination in wires:
            a, b = resolve(source, True), resolve(destination, False)
            need(b not in unit.wires, f"{destination}: two sources")
            unit.wires[b] = a
        if rows:
            unit.rows = [self.resolve_row(unit, nodes, *row) for row in rows]

    @staticmethod
    def resolve_row(unit, nodes, ops, routes):
        for name in (*ops, *(r[0] for r in routes)):
            need(name in nodes, f"{name}: no such node")
        need(all(unit.nodes[nodes[n]].kind == "op" for n in ops), "ops: not an op")
        need(len(set(ops)) == len(ops), "ops: one twice")
        taken = {}
        for name, port in routes:
            node = unit.nodes[nodes[name]]
            need(node.kind != "op" and port < node.lanes, f"{name}={port}: no such route")
            need(nodes[name] not in taken, f"{name}: routed twice")
            taken[nodes[name]] = port
        return tuple(sorted(nodes[n] for n in ops)), tuple(sorted(taken.items()))

    # ---- records ----

    def record(self):
        self.expect("{")
        fields = {}
        for name, value in self.list_of(self.field, "}"):
            need(name not in fields, f"{name}: twice in a record")
            fields[name] = value
        return fields

    def field(self):
        return self.word(), self.value() if self.accept("=") else True

    def value(self):
        """INT, WORD, '?', list, record or pair; a word is kept as ("word", text)."""
        if self.next.kind == "INT":
            text = self.take("INT")
            return int(text, 16) if text.startswith("0x") else int(text)
        if self.next.kind == "ID":
            return ("word", self.word())
        if self.accept("?"):
            return "?"
        if self.accept("["):
            return self.list_of(self.value, "]")
        if self.accept("("):
            first = self.value()
            self.expect(",")
            second = self.value()
            self.expect(")")
            return ("pair", first, second)
        if self.next.text == "{":
            return self.record()
        return self.fail("a value is due")

    # ---- graph ----

    def type(self):
        if self.next.kind not in ("ID", "TYPE"):
            self.fail("a type is due")
        self.at += 1
        return parse_type(self.tokens[self.at - 1].text)

    def val(self):
        return self.take("VAL")[1:]

    def graph(self):
        name = self.word()
        index = None
        if self.accept("index"):
            index = self.number()
            need(index in (32, 64), "index: 32 or 64")
        graph = Graph(name, index)
        self.expect("{")
        while self.accept("input"):
            value = self.val()
            self.expect(":")
            declare(graph, value, self.type(), (None, len(graph.inputs)))
            graph.inputs.append(value)
        while self.next.kind == "VAL":
            self.statement(graph)
        while self.accept("output"):
            graph.outputs.append(self.val())
        self.expect("}")
        check_graph(graph)
        return graph

    def statement(self, graph):
        results = [self.val()]
        while self.accept(","):
            results.append(self.val())
        self.expect("=")
        schema = self.take("SCHEMA")
        operands = [self.val()]
        while self.accept(","):
            operands.append(self.val())
        record = self.record() if self.next.text == "{" else {}
        self.expect(":")
        self.expect("(")
        ins = self.some(self.type, ")")
        self.expect("->")
        self.expect("(")
        outs = self.some(self.type, ")")
        need(schema in SCHEMAS, f"{schema}: no such schema")
        need(SCHEMAS[schema].supported and schema != "llvm.getelementptr",
             f"{schema}: no family has it", UNSUPPORTED)
        need(len(ins) == len(operands) and len(outs) == len(results), f"{schema}: its types")
        for k, (value, t) in enumerate(zip(results, outs)):
            declare(graph, value, t, (len(graph.actors), k))
        graph.actors.append(Actor(schema, operands, results,
                                  read_attributes(schema, record, outs, graph.index),
                                  ins, outs))

    # ---- map ----

    def map(self):
        name = self.word()
        self.expect("of")
        graph = self.word()
        self.expect("on")
        raw = {"name": name, "graph": graph, "fabric": self.word(), "realize": [], "bind": []}
        self.expect("{")
        while self.accept("realize"):
            raw["realize"].append(self.realize())
        while self.accept("bind"):
            realization = self.word()
            self.expect("->")
            raw["bind"].append((realization, self.word(),
                                self.number() if self.accept("context") else 0))
        self.expect("}")
        return raw

    def realize(self):
        raw = {"name": self.word(), "actors": [], "rows": []}
        self.expect("fu")
        raw["unit"] = self.word()
        self.expect("template")
        raw["template"] = self.number(high=(1 << 64) - 1)
        self.expect("{")
        while not self.accept("}"):
            if self.accept("actor"):
                value = self.val()
                self.expect("->")
                raw["actors"].append((value, self.word(), self.ords("in"), self.ords("out")))
            else:
                self.expect("bound")
                value, word = self.val(), self.word()
                need(word in ("in", "out"), "bound: in or out")
                ordinal = self.number()
                self.expect("->")
                raw["rows"].append((value, word, ordinal, self.word()))
        return raw

    def ords(self, word):
        self.expect(word)
        self.expect("(")
        return self.list_of(self.number, ")")


def declare(graph, value, type_, producer):
    need(value not in graph.types, f"%{value}: twice")
    graph.types[value] = type_
    graph.producer[value] = producer


def check_graph(graph):
    read = set(graph.outputs)
    for actor in graph.actors:
        for value, t in zip(actor.operands, actor.ins):
            need(value in graph.types, f"%{value}: not defined")
            need(graph.types[value] == t, f"%{value}: its type")
            read.add(value)
        types = (*actor.ins, *actor.outs)
        need(graph.index or not any(t.has_index() for t in types), "index: its width is needed")
        check_shape(actor.schema, actor.ins, actor.outs, actor.attributes, graph.index)
    need(graph.index or not any(t.has_index() for t in graph.types.values()), "index is needed")
    need(len(set(graph.outputs)) == len(graph.outputs), "an output twice")
    for value in graph.outputs:
        need(value in graph.producer and graph.producer[value][0] is not None,
             f"%{value}: an output names a result")
    need(read == set(graph.types), "every input and every result is read")


# ---- params and attributes ----

def words_of(value, vocabulary, name):
    """A list of words as a set in the vocabulary's order."""
    need(isinstance(value, list), f"{name}: a list")
    words = [word_of(v, vocabulary, name) for v in value]
    need(len(set(words)) == len(words), f"{name}: one twice")
    return tuple(sorted(words, key=vocabulary.index))


def word_of(value, vocabulary, name):
    need(isinstance(value, tuple) and value[0] == "word" and value[1] in vocabulary,
         f"{name}: a word of its vocabulary")
    return value[1]


def number_of(value, name, high=(1 << 32) - 1):
    need(type(value) is int and 0 <= value <= high, f"{name}: a number")
    return value


def read_params(family, record):
    fields = family.fields
    for name in record:
        need(name in fields, f"{name}: no field of {family.record}")
    out = {}
    for name, kind in fields.items():
        if kind[0] == "empty":
            need(record.get(name, []) == [], f"{name}: must be empty")
            continue
        need(name in record, f"{name}: is missing")
        out[name] = read_field(kind, record[name], name)
    return out


def read_field(kind, value, name):
    if kind[0] == "widths":
        need(isinstance(value, list), f"{name}: a list")
        numbers = [number_of(v, name) for v in value]
        need(set(numbers) <= set(kind[1]) and len(set(numbers)) == len(numbers), f"{name}: widths")
        return tuple(sorted(numbers))
    if kind[0] == "words":
        return words_of(value, kind[1], name)
    if kind[0] == "word":
        return word_of(value, kind[1], name)
    if kind[0] == "number":
        return number_of(value, name)
    if kind[0] == "behavior":
        need(isinstance(value, dict) and set(value) == set(BEHAVIOR_FIELDS), "behavior: its lists")
        return {k: words_of(value[k], v, k) for k, v in BEHAVIOR_FIELDS.items()}
    return read_pairs(kind, value, name)


def read_pairs(kind, value, name):
    need(isinstance(value, list), f"{name}: a list")
    widths = (1, 8, 16, 32, 64) if kind[0] == "width_pairs" else (8, 16, 32, 64)
    pairs = []
    for item in value:
        need(isinstance(item, tuple) and item[0] == "pair", f"{name}: pairs")
        _, a, b = item
        if kind[0] == "width_pairs" or kind[1] == "integer":
            need(number_of(a, name) in widths, f"{name}: a width")
        else:
            a = word_of(a, FLOATS, name)
        if kind[0] == "width_pairs":
            need(number_of(b, name) in widths, f"{name}: a width")
        else:
            b = word_of(b, FLOATS, name)
        pairs.append((a, b))
    need(len(set(pairs)) == len(pairs), f"{name}: a pair twice")
    return tuple(sorted(pairs, key=lambda p: [FLOATS.index(x) if x in FLOATS else x for x in p]))


CASE_FIELDS = {
    0: (), 16: (), 1: ("fastmath", "rounding"), 2: ("overflow",), 3: ("predicate",),
    4: ("predicate", "fastmath"), 5: ("value",), 6: ("step", "predicate"), 8: ("zero_poison",),
    11: ("exact",), 12: ("nneg",), 15: ("disjoint",), 13: ("position",), 14: ("mask",),
    18: ("fastmath", "accuracy")}
REQUIRED = {3: ("predicate",), 4: ("predicate",), 5: ("value",), 6: ("step", "predicate"),
            8: ("zero_poison",), 15: ("disjoint",), 13: ("position",), 14: ("mask",),
            18: ("accuracy",)}


def read_attributes(schema, record, outs, index):
    case = SCHEMAS[schema].case
    allowed = CASE_FIELDS[case]
    for name in record:
        need(name in allowed, f"{schema}: no attribute {name}")
        need(name != "rounding" or schema in ROUNDED, f"{schema}: has no rounding")
    for name in REQUIRED.get(case, ()):
        need(name in record, f"{schema}: {name} is required")
    out = {}
    for name in allowed:
        if name in record:
            out[name] = read_attribute(schema, name, record[name], case, outs, index)
    if case == 18 and out["accuracy"] != "CorrectlyRounded":
        need("afn" in out.get("fastmath", ()), f"{schema}: a relaxed accuracy needs afn")
    return out


def read_attribute(schema, name, value, case, outs, index):
    if name in ("exact", "nneg", "disjoint", "zero_poison"):
        need(value is True, f"{name}: a flag")
        return True
    if name == "fastmath":
        return words_of(value, FAST_MATH, name)
    if name == "overflow":
        return words_of(value, OVERFLOW, name)
    if name == "rounding":
        return word_of(value, ROUNDINGS, name)
    if name == "predicate":
        return word_of(value, FLOAT_PREDICATES if case == 4 else INTEGER_PREDICATES, name)
    if name == "step":
        return word_of(value, STEPS, name)
    if name == "accuracy":
        return word_of(value, TIERS, name)
    if name == "position":
        need(isinstance(value, list), "position: a list")
        return [v if v == "?" else number_of(v, name, (1 << 63) - 1) for v in value]
    if name == "mask":
        need(isinstance(value, list) and all(type(v) is int for v in value), "mask: a list")
        return value
    return read_constant(value, outs, index)


def read_constant(value, outs, index):
    """The payload bits: an int, or the list of a vector's lanes."""
    need(len(outs) == 1, "a constant has one result")
    t = outs[0]
    scalar = t.scalar
    need(scalar.kind in ("int", "float", "index"), "a constant of that type")
    need(scalar.kind != "index" or index, "index: its width is needed")
    width = scalar.bits(index)
    low = 0 if scalar.kind == "float" else -(1 << (width - 1))

    def lane(v):
        need(type(v) is int and low <= v < 1 << width, "value: does not fit")
        return v % (1 << width)
    if t.kind != "vector":
        return lane(value)
    need(isinstance(value, list) and len(value) == t.lanes, "value: its lanes")
    return [lane(v) for v in value]


# ---- names of maps ----

def resolve_map(raw, fabrics, graphs):
    need(raw["graph"] in graphs, f"{raw['name']}: no graph {raw['graph']}")
    need(raw["fabric"] in fabrics, f"{raw['name']}: no fabric {raw['fabric']}")
    graph, fabric = graphs[raw["graph"]], fabrics[raw["fabric"]]
    map_ = Map(raw["name"], graph, fabric)
    units = {u.name: k for k, u in enumerate(fabric.units)}
    by_name = {}
    for item in raw["realize"]:
        need(item["name"] not in by_name, f"{item['name']}: twice")
        need(item["unit"] in units, f"{item['unit']}: no such FU")
        unit = fabric.units[units[item["unit"]]]
        r = Realization(item["name"], units[item["unit"]], item["template"])
        nodes = {n.name: k for k, n in enumerate(unit.nodes)}
        for value, node, ins, outs in item["actors"]:
            need(node in nodes, f"{node}: no such node")
            r.actors.append((first_result(graph, value), nodes[node], ins, outs))
        for value, word, ordinal, port in item["rows"]:
            ports = unit.inputs if word == "in" else unit.outputs
            names = [p[0] for p in ports]
            need(port in names, f"{port}: no such port")
            r.rows.append((first_result(graph, value), word, ordinal, names.index(port)))
        by_name[item["name"]] = r
        map_.realizations.append(r)
    occurrences = {o[0]: k for k, o in enumerate(fabric.occurrences)}
    for name, occurrence, context in raw["bind"]:
        need(name in by_name, f"{name}: no such realization")
        need(occurrence in occurrences, f"{occurrence}: no such occurrence")
        need(by_name[name].bind is None, f"{name}: bound twice")
        by_name[name].bind = (occurrences[occurrence], context)
    return map_


def first_result(graph, value):
    need(value in graph.producer, f"%{value}: not defined")
    actor, ordinal = graph.producer[value]
    need(actor is not None and ordinal == 0, f"%{value}: no actor's first result")
    return actor


class File:
    """All that was read: fabrics, graphs and maps by name."""

    def __init__(self, *texts):
        self.fabrics, self.graphs, self.maps = {}, {}, {}
        raws = []
        for text in texts:
            for kind, item in Reader(text).file():
                if kind == "map":
                    raws.append(item)
                    continue
                table = self.fabrics if kind == "fabric" else self.graphs
                need(item.name not in table, f"{kind} {item.name}: twice")
                table[item.name] = item
        for raw in raws:
            need(raw["name"] not in self.maps, f"map {raw['name']}: twice")
            self.maps[raw["name"]] = resolve_map(raw, self.fabrics, self.graphs)


# ---- section 11: canonical bytes ----

def identity(name, major, minor, data):
    head = b"loom.artifact.identity.v1\0" + u32(len(name)) + name.encode()
    return hashlib.sha256(head + u32(major) + u32(minor) + u64(len(data)) + data).hexdigest()


class Names:
    def __init__(self):
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"n{self.count - 1}"


def print_width(width):
    return f"{width[0]}t" if width[1] else str(width[0])


def between(items, left, right):
    return f"{left} {' , '.join(items)} {right}" if items else f"{left} {right}"


def print_value(value):
    if isinstance(value, dict):
        return between([f"{k} = {print_value(v)}" for k, v in value.items()], "{", "}")
    if isinstance(value, (tuple, list)):
        return between([between([str(x) for x in v], "(", ")") if isinstance(v, tuple) else str(v)
                        for v in value], "[", "]")
    return str(value)


class FabricText:
    """A fabric's canonical bytes, and the canonical names that a map uses."""

    def __init__(self, fabric):
        names = Names()
        out = ["fabric", names.fresh(), "{"]
        self.units, self.ports, self.nodes = [], [], []
        for unit in fabric.units:
            out.append(self.unit(unit, names))
        self.occurrences = []
        for _, unit, contexts in fabric.occurrences:
            self.occurrences.append(names.fresh())
            out.append(f"occ {self.occurrences[-1]} {self.units[unit]}"
                       + (f" contexts {contexts}" if contexts > 1 else ""))
        out.append("}")
        self.data = " ".join(out).encode()
        self.identity = identity("loom.fabric", 7, 1, self.data)

    def unit(self, unit, names):
        self.units.append(names.fresh())
        ins, outs = ([names.fresh() for _ in p] for p in (unit.inputs, unit.outputs))
        nodes = [names.fresh() for _ in unit.nodes]
        self.ports.append((ins, outs))
        self.nodes.append(nodes)

        def ports(fresh, ports_):
            return between([f"{n} : {print_width(p[1])}" for n, p in zip(fresh, ports_)], "(", ")")

        def end(e):
            if e[0] == "in":
                return ins[e[1]]
            return outs[e[1]] if e[0] == "out" else f"{nodes[e[0]]}.{e[2]}"
        out = [f"fu {self.units[-1]} {ports(ins, unit.inputs)} -> {ports(outs, unit.outputs)} {{"]
        out += [print_node(node, name) for node, name in zip(unit.nodes, nodes)]
        destinations = sorted(unit.wires, key=lambda e: (1, e[1], 0) if e[0] == "out"
                              else (0, e[0], e[2]))
        out += [f"wire {end(unit.wires[d])} -> {end(d)}" for d in destinations]
        out += [print_row(row, nodes) for row in sorted(unit.rows or (), key=row_bytes)]
        return " ".join([*out, "}"])


def print_node(node, name):
    if node.kind != "op":
        return f"{node.kind} {name} {print_width(node.width)} {node.lanes}"

    def widths(w):
        return between([print_width(x) for x in w], "(", ")")
    return (f"op {name} {node.family} {between(node.schemas, '[', ']')} in {widths(node.ins)} "
            f"out {widths(node.outs)} params {print_value(node.params)}")


def row_bytes(row):
    ops, routes = row
    return (u64(len(ops)) + b"".join(map(u64, ops)) + u64(len(routes))
            + b"".join(u64(s) + u64(p) for s, p in routes))


def print_row(row, nodes):
    ops, routes = row
    text = f"template {{ ops {between([nodes[n] for n in ops], '[', ']')}"
    if routes:
        text += f" routes {between([f'{nodes[s]} = {p}' for s, p in routes], '[', ']')}"
    return text + " }"


class GraphText:
    def __init__(self, graph):
        names = Names()
        head = names.fresh()
        order = [*graph.inputs, *(v for a in graph.actors for v in a.results)]
        self.values = {v: f"%{names.fresh()}" for v in order}
        has_index = any(t.has_index() for t in graph.types.values())
        out = [f"graph {head}" + (f" index {graph.index}" if has_index else "") + " {"]
        out += [f"input {self.values[v]} : {graph.types[v].text()}" for v in graph.inputs]
        out += [self.statement(actor) for actor in graph.actors]
        out += [f"output {self.values[v]}" for v in graph.outputs]
        self.data = " ".join([*out, "}"]).encode()
        self.identity = identity("loom.dataflow", 1, 0, self.data)

    def statement(self, actor):
        def values(names):
            return " , ".join(self.values[v] for v in names)

        def types(items):
            return between([t.text() for t in items], "(", ")")
        fields = []
        for name, value in actor.attributes.items():
            if value is True:
                fields.append(name)
            elif value not in ((), []) or name in ("position", "mask"):
                fields.append(f"{name} = {print_value(value)}")
        record = f" {between(fields, '{', '}')}" if fields else ""
        return (f"{values(actor.results)} = {actor.schema} {values(actor.operands)}{record} : "
                f"{types(actor.ins)} -> {types(actor.outs)}")


class MapText:
    def __init__(self, map_):
        fabric, graph = FabricText(map_.fabric), GraphText(map_.graph)
        names = Names()
        out = [f"map {names.fresh()} of {graph.identity} on {fabric.identity} {{"]
        first = [graph.values[a.results[0]] for a in map_.graph.actors]
        fresh = [names.fresh() for _ in map_.realizations]

        def ords(values):
            return between([str(v) for v in values], "(", ")")
        for name, r in zip(fresh, map_.realizations):
            out.append(f"realize {name} fu {fabric.units[r.unit]} template {r.template} {{")
            for actor, node, ins, outs in sorted(r.actors, key=lambda row: row[0]):
                out.append(f"actor {first[actor]} -> {fabric.nodes[r.unit][node]} "
                           f"in {ords(ins)} out {ords(outs)}")
            for actor, word, ordinal, port in sorted(r.rows):
                ports = fabric.ports[r.unit][word == "out"]
                out.append(f"bound {first[actor]} {word} {ordinal} -> {ports[port]}")
            out.append("}")
        for name, r in zip(fresh, map_.realizations):
            occurrence, context = r.bind
            several = map_.fabric.occurrences[occurrence][2] > 1
            out.append(f"bind {name} -> {fabric.occurrences[occurrence]}"
                       + (f" context {context}" if several else ""))
        self.data = " ".join([*out, "}"]).encode()
        self.identity = identity("loom.mapping", 2, 0, self.data)
