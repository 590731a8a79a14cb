# SPDX-License-Identifier: Apache-2.0
"""Sections 3, 9 and 12.1 of fabric-tables.md: handshake cases, and the run cycle by cycle."""

import json

from fabric_evaluate import compare_integer, compute, lane, signed
from fabric_mapping import Verified
from fabric_relation import constant_bits
from fabric_template import TRANSPARENT
from fabric_types import UNSUPPORTED, Fault, need


# ---- section 3 ----

class Firing:
    """An enabled case: operands consumed, groups of results {ordinal: value}, the next state."""

    def __init__(self, consumes, groups, state=None):
        self.consumes, self.groups, self.state = consumes, groups, state


def advance(step, x, by, width):
    if step in ("shl", "ashr", "lshr"):
        need(by < width, "stream: a shift past the width")
        x = {"shl": x << by, "lshr": x >> by, "ashr": signed(x, width) >> by}[step]
        return x % (1 << width)
    if step in ("sdiv", "udiv"):
        need(by != 0, "stream: a division by zero")
        if step == "sdiv":
            x, by = signed(x, width), signed(by, width)
            need((x, by) != (-(1 << width - 1), -1), "stream: the least integer by -1")
        x = abs(x) // abs(by) * (1 if (x < 0) == (by < 0) else -1)
    else:
        x = {"add": x + by, "sub": x - by, "mul": x * by}[step]
    return x % (1 << width)


def case_of(actor, state, heads, index):
    """The enabled case's consumed operands, or None; `heads` = {operand: value} offered.
    The second part computes the Firing when it really fires."""
    short = actor.schema.split(".")[1] if actor.schema.startswith("dataflow.") else ""
    every = tuple(range(len(actor.operands)))
    if short == "stream":
        return (every if state is None else ()), stream
    if short == "carry":
        if state is None:
            return (1,), lambda a, s, v, i: Firing((1,), [{0: v[1]}], True)
        if 0 not in heads:
            return None
        if heads[0]:
            return (0, 2), lambda a, s, v, i: Firing((0, 2), [{0: v[2]}], True)
        return (0,), lambda a, s, v, i: Firing((0,), [], None)
    if short == "invariant":
        if state is None:
            return (1,), lambda a, s, v, i: Firing((1,), [{0: v[1]}], (v[1],))
        if 0 not in heads:
            return None
        if heads[0]:
            return (0,), lambda a, s, v, i: Firing((0,), [{0: s[0]}], s)
        return (0,), lambda a, s, v, i: Firing((0,), [], None)
    if short == "gate":
        return every, gate
    if short == "parallelize":
        if 1 not in heads:
            return None
        return ((0, 1) if heads[1] else (1,)), parallelize
    if short == "serialize":
        if 2 not in heads:
            return None
        return (every if heads[2] else (2,)), serialize
    if short == "mux":
        if 0 not in heads:
            return None
        need(heads[0] + 1 < len(every), "mux: a selector out of range")
        return (0, heads[0] + 1), lambda a, s, v, i: Firing(
            (0, v[0] + 1), [{0: v[v[0] + 1]}])
    if short == "demux":
        if 0 in heads and 1 in heads:
            need(heads[0] < len(actor.results), "demux: a selector out of range")
        return every, demux
    return every, stateless


def stateless(actor, state, v, index):
    every = tuple(range(len(actor.operands)))
    if actor.schema == "dataflow.constant":
        return Firing(every, [{0: constant_bits(actor, index)}])
    if actor.schema == "dataflow.sync":
        return Firing(every, [dict(v)])
    return Firing(every, [{0: compute(actor, [v[k] for k in every], index)}])


def demux(actor, state, v, index):
    return Firing((0, 1), [{v[0]: v[1]}])


def stream(actor, state, v, index):
    width = actor.ins[0].bits(index)
    consumes = () if state else (0, 1, 2)
    x, limit, step = state or (v[0], v[1], v[2])
    if not compare_integer(actor.attributes["predicate"], x, limit, width):
        return Firing(consumes, [{1: 0}], None)
    following = advance(actor.attributes["step"], x, step, width)
    return Firing(consumes, [{0: x, 1: 1}], (following, limit, step))


def gate(actor, state, v, index):
    if not state:
        return Firing((0, 1), [{1: v[1]}] if v[0] else [], bool(v[0]) or None)
    if v[0]:
        return Firing((0, 1), [{0: 1, 1: v[1]}], True)
    return Firing((0, 1), [{0: 0}], None)


def parallelize(actor, state, v, index):
    lanes, width = actor.outs[0].lanes, actor.ins[0].bits(index)
    pending, count = state or (0, 0)
    if v[1]:
        pending |= v[0] << (count * width)
        if count + 1 < lanes:
            return Firing((0, 1), [], (pending, count + 1))
        return Firing((0, 1), [{0: pending, 1: (1 << lanes) - 1, 2: 1}], None)
    groups = [{2: 0}]
    if count:
        groups.insert(0, {0: pending, 1: (1 << count) - 1, 2: 1})
    return Firing((1,), groups, None)


def serialize(actor, state, v, index):
    if not v[2]:
        return Firing((2,), [{1: 0}])
    width = actor.outs[0].bits(index)
    return Firing((0, 1, 2), [{0: lane(v[0], k, width), 1: 1}
                              for k in range(actor.ins[0].lanes) if v[1] >> k & 1])


# ---- sections 9 and 12.1 ----

class Port:
    """An FU input's queue: `readers` are its sinks, `outside` its graph input or None."""

    def __init__(self, outside):
        self.outside, self.readers = outside, []
        self.tokens, self.taken = [], set()


class Machine:
    def __init__(self, map_, tokens):
        verified = Verified(map_)
        self.graph = map_.graph
        places = [r.bind[0] for r in map_.realizations]
        need(len(set(places)) == len(places), "two contexts of one occurrence", UNSUPPORTED)
        self.verified = verified
        graph = self.graph
        self.transparent = []
        for a in range(len(graph.actors)):
            k, node = verified.place[a]
            unit = map_.fabric.units[map_.realizations[k].unit]
            self.transparent.append(unit.nodes[node].family in TRANSPARENT)
        self.ports = {}
        self.sinks = {v: [] for v in graph.types}  # of a result
        self.connect(tokens)
        self.state = [None] * len(graph.actors)
        self.groups = [[] for _ in graph.actors]  # groups still to publish; the first is offered
        self.left = [set() for _ in graph.actors]  # (result, sink) still owed of the first
        self.outputs = {v: ([], []) for v in graph.outputs}

    def connect(self, tokens):
        graph = self.graph
        for a, actor in enumerate(graph.actors):
            for k, value in enumerate(actor.operands):
                row = self.verified.external.get((a, k))
                if row is None:
                    self.sinks[value].append(("op", a, k))
                    continue
                if row not in self.ports:
                    producer = graph.producer[value][0]
                    self.ports[row] = Port(value if producer is None else None)
                    if producer is None:
                        self.ports[row].tokens = list(tokens.get(value, ()))
                    else:
                        self.sinks[value].append(("queue", row))
                self.ports[row].readers.append(("op", a, k))
        for value in graph.outputs:
            self.sinks[value].append(("output", value))
        self.order = self.forward_order()

    def forward_order(self):
        """Actors so that transparent ones come after the transparent ones that feed them."""
        order, seen = [], set()

        def visit(a):
            if a in seen:
                return
            seen.add(a)
            for k, value in enumerate(self.graph.actors[a].operands):
                producer = self.graph.producer[value][0]
                if producer is not None and self.transparent[producer] and (
                        (a, k) not in self.verified.external):
                    visit(producer)
            order.append(a)
        for a in range(len(self.graph.actors)):
            visit(a)
        return order

    # ---- one cycle ----

    def cycle(self, t, stalled):
        """True if something fired or moved."""
        heads = [{} for _ in self.graph.actors]  # operand -> value offered
        giver = {}  # (actor, operand) -> transparent actor whose firing gives it
        for port in self.ports.values():
            if port.tokens and port.outside not in stalled:
                for reader in port.readers:
                    if reader not in port.taken:
                        heads[reader[1]][reader[2]] = port.tokens[0]
        for a in range(len(self.graph.actors)):
            for result, sink in self.left[a]:
                if sink[0] == "op":
                    heads[sink[1]][sink[2]] = self.groups[a][0][result]
        firings = self.enabled(heads, giver)
        self.settle(firings, giver, stalled)
        return self.commit(t, firings, giver, stalled)

    def enabled(self, heads, giver):
        """Candidate firings with their cases; transparent results are offered onward."""
        firings = {}
        for a in self.order:
            actor = self.graph.actors[a]
            case = case_of(actor, self.state[a], heads[a], self.graph.index)
            if case is None or not all(k in heads[a] for k in case[0]):
                continue
            firing = [case[0], case[1], heads[a], None]
            if self.transparent[a]:
                firing[3] = case[1](actor, self.state[a], heads[a], self.graph.index)
                for group in firing[3].groups:
                    for result, value in group.items():
                        for sink in self.sinks[actor.results[result]]:
                            if sink[0] == "op":
                                heads[sink[1]][sink[2]] = value
                                giver[sink[1], sink[2]] = a
            firings[a] = firing
        return firings

    def takes(self, sink, firings, stalled):
        if sink[0] == "op":
            return sink[1] in firings and sink[2] in firings[sink[1]][0]
        return sink[0] == "queue" or sink[1] not in stalled

    def settle(self, firings, giver, stalled):
        """The largest set: remove what cannot be until nothing changes."""
        changed = True
        while changed:
            changed = False
            for a in list(firings):
                if not self.holds(a, firings, giver, stalled):
                    del firings[a]
                    changed = True

    def holds(self, a, firings, giver, stalled):
        consumes, _, _, firing = firings[a]
        if any((a, k) in giver and giver[a, k] not in firings for k in consumes):
            return False
        if self.transparent[a]:
            return all(self.takes(sink, firings, stalled) for group in firing.groups
                       for result in group
                       for sink in self.sinks[self.graph.actors[a].results[result]])
        if len(self.groups[a]) > 1:
            return False
        return all(self.takes(sink, firings, stalled) for _, sink in self.left[a])

    def commit(self, t, firings, giver, stalled):
        moved = bool(firings)
        arrivals = []
        made = {}
        for a, (consumes, make, heads, firing) in firings.items():
            made[a] = firing or make(self.graph.actors[a], self.state[a], heads, self.graph.index)
        for a in range(len(self.graph.actors)):
            for result, sink in list(self.left[a]):
                if self.takes(sink, firings, stalled):
                    moved = True
                    self.left[a].discard((result, sink))
                    self.deliver(sink, self.groups[a][0][result], t, arrivals)
        for a, firing in made.items():
            if self.transparent[a]:
                for group in firing.groups:
                    for result, value in group.items():
                        for sink in self.sinks[self.graph.actors[a].results[result]]:
                            self.deliver(sink, value, t, arrivals)
        self.take_heads(firings, stalled)
        self.next_groups(made)
        for row, value in arrivals:
            self.ports[row].tokens.append(value)
        return moved

    def deliver(self, sink, value, t, arrivals):
        if sink[0] == "queue":
            arrivals.append((sink[1], value))
        elif sink[0] == "output":
            tokens, cycles = self.outputs[sink[1]]
            tokens.append(value)
            cycles.append(t)

    def take_heads(self, firings, stalled):
        for port in self.ports.values():
            if not port.tokens or port.outside in stalled:
                continue
            port.taken |= {r for r in port.readers
                           if r not in port.taken and self.takes(r, firings, stalled)}
            if len(port.taken) == len(port.readers):
                port.tokens.pop(0)
                port.taken = set()

    def next_groups(self, made):
        for a in range(len(self.graph.actors)):
            if self.groups[a] and not self.left[a]:
                self.groups[a].pop(0)
                self.publish(a)
            if a in made:
                self.state[a] = made[a].state
                if not self.transparent[a]:
                    self.groups[a] = list(made[a].groups)
                    self.publish(a)

    def publish(self, a):
        if self.groups[a]:
            self.left[a] = {(result, sink) for result in self.groups[a][0]
                            for sink in self.sinks[self.graph.actors[a].results[result]]}

    def reset(self):
        for a in range(len(self.graph.actors)):
            self.state[a], self.groups[a], self.left[a] = None, [], set()
        for port in self.ports.values():
            if port.outside is None:
                port.tokens = []
            elif port.taken:
                port.tokens.pop(0)
            port.taken = set()


def read_streams(text, map_, member):
    """{port: list} of a token or stall file; section 12.1's rules."""
    graph, out = map_.graph, {}
    for line in filter(str.strip, text.split("\n")):
        try:
            pairs = json.loads(line, object_pairs_hook=list)
        except ValueError:
            raise Fault("Invalid", f"no JSON: {line}") from None
        need(isinstance(pairs, list) and sorted(k for k, _ in pairs) == sorted(("port", member)),
             f"a line's members: {line}")
        row = dict(pairs)
        name, values = row["port"], row[member]
        known = graph.inputs if member == "tokens" else [*graph.inputs, *graph.outputs]
        need(name in known and name not in out, f"port {name}: unknown or repeated")
        need(isinstance(values, list), f"{member}: a list")
        read = read_token if member == "tokens" else read_span
        out[name] = [read(v, graph, name) for v in values]
    return out


def read_token(token, graph, name):
    if graph.types[name].kind == "none":
        need(token == "none", f"{name}: a control token is none")
        return 0
    width = graph.bits(name)
    need(isinstance(token, str) and len(token) == (width + 3) // 4
         and set(token) <= set("0123456789abcdef"), f"{name}: a token of other digits")
    need(int(token, 16) < 1 << width, f"{name}: bits past its width")
    return int(token, 16)


def read_span(span, graph, name):
    need(isinstance(span, list) and len(span) == 2 and all(type(x) is int for x in span)
         and 0 <= span[0] <= span[1], f"{name}: a stall")
    return tuple(span)


def simulate(map_, tokens, stalls=None, resets=(), cycles=1000000):
    """{output: (tokens, cycles)} in file order. stalls: {port: [(a, b)]}."""
    machine = Machine(map_, tokens)
    stalls = stalls or {}
    last = max([b for spans in stalls.values() for a, b in spans if a < b] + [0])
    for t in range(cycles):
        if t in resets:
            machine.reset()
            continue
        stalled = {p for p, spans in stalls.items() if any(a <= t < b for a, b in spans)}
        try:
            moved = machine.cycle(t, stalled)
        except Fault as fault:
            raise Fault(fault.kind, f"cycle {t}: {fault}") from None
        if not moved and t >= last and not any(r > t for r in resets):
            break
    return machine.outputs
