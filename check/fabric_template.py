# SPDX-License-Identifier: Apache-2.0
"""Section 10 of fabric-tables.md: the checks of an FU, and its capability templates."""

from itertools import product

from fabric_families import FAMILIES
from fabric_relation import Op, element_points
from fabric_text import row_bytes
from fabric_types import Fault, need, u32, u64

TRANSPARENT = ("LoopCarry", "LoopInvariant", "LoopGate")
KIND = {"op": 0, "mux": 1, "demux": 2}


def unit_ref(unit):
    return u32(2) + u64(unit)


def occurrence_ref(occurrence):
    return u32(3) + u64(occurrence)


class Template:
    """Active nodes, their routes, and every traversed wire."""

    def __init__(self, unit, ident, nodes, routes, wires):
        self.unit, self.nodes, self.routes, self.wires = unit, frozenset(nodes), routes, wires
        self.data = self.encode(unit, ident)

    def encode(self, unit, ident):
        ref = unit_ref(ident)

        def node_ref(n):
            return u32(KIND[unit.nodes[n].kind]) + ref + u64(n)

        def endpoint(end):
            if end[0] in ("in", "out"):
                return u32(0) + ref + u32(end[0] == "out") + u64(end[1])
            return u32(1) + node_ref(end[0]) + u32(end[1] == "out") + u64(end[2])
        nodes = sorted(node_ref(n) for n in self.nodes)
        edges = sorted(endpoint(unit.wires[d]) + endpoint(d) for d in self.wires)
        return (u64(len(nodes)) + b"".join(nodes) + u64(len(edges)) + b"".join(edges))

    def ops(self):
        return sorted(n for n in self.nodes if self.unit.nodes[n].kind == "op")

    def origin(self, destination):
        """(source of an active sink through selectors, the narrowest width of the way)."""
        narrow = self.unit.width(destination)[0]
        while True:
            source = self.unit.wires[destination]
            narrow = min(narrow, self.unit.width(source)[0])
            if source[0] == "in" or self.unit.nodes[source[0]].kind == "op":
                return source, narrow
            n = source[0]
            port = self.routes[n] if self.unit.nodes[n].kind == "mux" else 0
            destination = (n, "in", port)
            narrow = min(narrow, self.unit.width(destination)[0])


class Rejected(Exception):
    """A row that derives no template."""


def closure(unit, ident, start, routes, listed=None):
    """The derivation from `start`; `listed` bounds the ops that may become active."""
    readers = {}
    for destination, source in unit.wires.items():
        readers.setdefault(source, []).append(destination)
    nodes, values, wires = set(), set(), set()
    work = [("node", n) for n in start]
    while work:
        what, item = work.pop()
        if what == "node":
            if item not in nodes:
                nodes.add(item)
                work += enter(unit, item, routes, listed)
        elif what == "sink":  # an input that must have its value
            wires.add(item)
            source = unit.wires[item]
            work.append(("value", source))
            if source[0] != "in":
                n = source[0]
                if unit.nodes[n].kind == "demux" and routes.get(n) != source[2]:
                    raise Rejected("another output of a demux, or one without a route")
                work.append(("node", n))
        elif item not in values:
            values.add(item)
            work += broadcast(unit, readers.get(item, ()), routes, wires)
    for value in values:
        if not any(d in wires for d in readers.get(value, ())):
            raise Rejected("an active value has no consumer")
    if any(n not in nodes for n in (*start, *routes)):
        raise Rejected("a listed op or route is unused")
    return Template(unit, ident, nodes, dict(routes), frozenset(wires))


def enter(unit, n, routes, listed):
    """What an active node needs and gives."""
    node = unit.nodes[n]
    if node.kind == "op":
        if listed is not None and n not in listed:
            raise Rejected("an op outside the list becomes active")
        return ([("sink", (n, "in", k)) for k in range(len(node.ins))]
                + [("value", (n, "out", k)) for k in range(len(node.outs))])
    if n not in routes:
        raise Rejected("a reached selector has no route")
    port = routes[n]
    if node.kind == "mux":
        return [("sink", (n, "in", port)), ("value", (n, "out", 0))]
    return [("sink", (n, "in", 0)), ("value", (n, "out", port))]


def broadcast(unit, destinations, routes, wires):
    work = []
    for destination in destinations:
        if destination[0] != "out":
            n = destination[0]
            if unit.nodes[n].kind == "mux" and routes.get(n) != destination[2]:
                continue  # a mux is entered only through its selected input
            work.append(("node", n))
        wires.add(destination)
    return work


def check_unit(unit):
    """What every FU must be, whatever its templates."""
    need(any(n.kind == "op" for n in unit.nodes), f"{unit.name}: no op")
    for n, node in enumerate(unit.nodes):
        need(len({t for _, t in (*node.ins, *node.outs)}) == 1, f"{node.name}: of two kinds")
        for k in range(len(node.ins)):
            need((n, "in", k) in unit.wires, f"{node.name}.{k}: no source")
    for k, port in enumerate(unit.outputs):
        need(("out", k) in unit.wires, f"{port[0]}: no source")
    for destination, source in unit.wires.items():
        need(unit.width(destination)[1] == unit.width(source)[1], "a wire joins two kinds")
    check_combinational(unit)


def check_combinational(unit):
    """No cycle of transparent ops and selectors alone (section 9)."""
    def clear(n):
        node = unit.nodes[n]
        return node.kind != "op" or node.family in TRANSPARENT
    follows = {n: {s[0] for d, s in unit.wires.items()
                   if d[0] == n and s[0] != "in" and clear(s[0])}
               for n in range(len(unit.nodes)) if clear(n)}
    while follows:
        free = [n for n, sources in follows.items() if not sources & follows.keys()]
        need(free, f"{unit.name}: a combinational cycle")
        for n in free:
            del follows[n]


def inventory(unit, ident):
    """The templates in the order of their bytes."""
    if unit.rows is None:
        found = free_templates(unit, ident)
        need(len(found) == 1, f"{unit.name}: {len(found)} templates without an authored domain")
        return found
    need(len({row_bytes(r) for r in unit.rows}) == len(unit.rows), f"{unit.name}: a row twice")
    found = []
    for ops, routes in unit.rows:
        try:
            found.append(closure(unit, ident, ops, dict(routes), set(ops)))
        except Rejected as reason:
            raise Fault("Invalid", f"{unit.name}: a template row: {reason}") from None
    return sorted(found, key=lambda t: t.data)


def free_templates(unit, ident):
    """Every op as the only start, every assignment of routes (none = not used)."""
    selectors = [n for n, node in enumerate(unit.nodes) if node.kind != "op"]
    ops = [n for n, node in enumerate(unit.nodes) if node.kind == "op"]
    found = {}
    choices = [[None, *range(unit.nodes[n].lanes)] for n in selectors]
    for assignment in product(*choices):
        routes = {n: p for n, p in zip(selectors, assignment) if p is not None}
        for op in ops:
            try:
                template = closure(unit, ident, (op,), routes)
            except Rejected:
                continue
            found[template.data] = template
    return [found[k] for k in sorted(found)]


class Sealed:
    """A fabric whose FUs, ops and templates are all derived."""

    def __init__(self, fabric):
        self.fabric = fabric
        self.ops, self.templates = [], []
        for ident, unit in enumerate(fabric.units):
            check_unit(unit)
            self.ops.append({n: Op(node) for n, node in enumerate(unit.nodes)
                             if node.kind == "op"})
            self.templates.append(inventory(unit, ident))


def contract_words(node):
    """Section 9's record of an op, as words."""
    family = FAMILIES[node.family].name
    if family in TRANSPARENT:
        n = 4 if family == "LoopGate" else 3
        patterns = [w for i in range(n) for w in (0, i, 0, 0, 1, 0, i, 0, 0, 0, 0, 0)]
        return [1, 0, n, 1, 1, 0, n, *patterns, 1, n, 1, 0]
    if family == "LoopStream":
        patterns = [w for i in range(4) for w in (0, i, 0, 1, 1, 1, i, 0, 1, 1, 0, 1, 0, 0, 0)]
        return [2, 0, 1, 1, 0, 4, 1, 2, 0, 1, 4, *patterns, 1, 4, 2, 0]
    if family in ("FixedVectorParallelize", "FixedVectorSerialize"):
        slots = adapter_slots(node)
        out = [2, 1, 1, 0, 1, 1, 0, len(slots), 1, 3, 0, 1, 1, len(slots)]
        for c, k in enumerate(slots):
            claims = [2, 0, 0, 1, 1, 0, 1, k, *([1, 1] * k)] if k else [1, 0, 0, 1, 0]
            out += [0, c, 0, 2, 1, 1, c, 0, *claims, 0, 0]
        return [*out, 1, len(slots), 3, 0]
    return [1, 1, 1, 0, 1, 1, 3, 0, 1, 1, 1, 0, 0, 0, 2, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 3,
            0]


def adapter_slots(node):
    if node.family == "FixedVectorParallelize":
        return [0, 1, 1, 2]
    narrow = min(t.bits(None) for t in element_points(node.params))
    return [node.params["max_payload_bits"] // narrow, 1]
