# SPDX-License-Identifier: Apache-2.0
"""Section 11 of fabric-tables.md: verified maps, slots, the default ABI, images, configure."""

import json

from fabric_relation import Direct, admit, cardinality_bits, check_proofs, defined_values
from fabric_template import Sealed, occurrence_ref, unit_ref
from fabric_text import FabricText, MapText, identity
from fabric_types import INADMISSIBLE, need, packed_bits, u32, u64


class Verified:
    """A map that passed every check of section 11; `values` are the ops' projected values."""

    def __init__(self, map_):
        self.map, self.graph = map_, map_.graph
        self.sealed = Sealed(map_.fabric)
        self.place = {}  # actor -> (realization, node)
        self.external = {}  # (actor, operand) -> (realization, FU input)
        self.exits = {}  # (actor, result) -> (realization, FU output)
        self.values = {}  # (realization, node) -> projected value
        self.check_bindings()
        for k in range(len(map_.realizations)):
            self.check_actors(k)
        need(set(self.place) == set(range(len(self.graph.actors))), "an actor is not realized")
        for k in range(len(map_.realizations)):
            self.check_rows(k)
        proven = defined_values(self.graph)
        for actor in self.graph.actors:
            check_proofs(self.graph, actor, proven)
        for k in range(len(map_.realizations)):
            self.check_edges(k)
        self.check_boundaries()

    def check_bindings(self):
        taken = set()
        for r in self.map.realizations:
            need(r.bind is not None, f"{r.name}: not bound")
            occurrence, context = r.bind
            _, unit, contexts = self.map.fabric.occurrences[occurrence]
            need(unit == r.unit, f"{r.name}: the occurrence is of another FU")
            need(context < contexts, f"{r.name}: no such context")
            need(r.bind not in taken, f"{r.name}: its place is taken")
            taken.add(r.bind)
            need(r.template < len(self.sealed.templates[r.unit]), f"{r.name}: no such template")

    def template(self, k):
        r = self.map.realizations[k]
        return self.sealed.templates[r.unit][r.template]

    def check_actors(self, k):
        r = self.map.realizations[k]
        nodes = []
        for actor, node, ins, outs in r.actors:
            need(actor not in self.place, f"{r.name}: an actor twice")
            self.place[actor] = (k, node)
            nodes.append(node)
        need(sorted(nodes) == self.template(k).ops(), f"{r.name}: actors and active ops")
        for actor, node, ins, outs in r.actors:
            self.values[k, node] = admit(self.sealed.ops[r.unit][node], self.graph.actors[actor],
                                         ins, outs, self.graph.index)

    def check_rows(self, k):
        r = self.map.realizations[k]
        unit = self.map.fabric.units[r.unit]
        for actor, word, ordinal, port in r.rows:
            need(self.place[actor][0] == k, f"{r.name}: a row of another realization")
            item = self.graph.actors[actor]
            table, most, ports = ((self.external, item.operands, unit.inputs) if word == "in"
                                  else (self.exits, item.results, unit.outputs))
            need(ordinal < len(most) and port < len(ports), f"{r.name}: a row's ordinals")
            need((actor, ordinal) not in table, f"{r.name}: two rows of one port")
            table[actor, ordinal] = (k, port)

    def check_edges(self, k):
        """Graph edges against template edges, both ways."""
        r = self.map.realizations[k]
        template, unit = self.template(k), self.map.fabric.units[r.unit]
        ports = {node: (actor, ins, outs) for actor, node, ins, outs in r.actors}
        values = {}  # FU input -> graph value
        for (actor, operand), (home, port) in self.external.items():
            if home == k:
                value = self.graph.actors[actor].operands[operand]
                need(values.setdefault(port, value) == value, f"{r.name}: a port of two values")
        exits = {port: key for key, (home, port) in self.exits.items() if home == k}
        need(len(exits) == sum(home == k for home, _ in self.exits.values()), "an output twice")
        for node, (actor, ins, _) in ports.items():
            for p in range(len(unit.nodes[node].ins)):
                source, narrow = template.origin((node, "in", p))
                self.check_operand(k, actor, ins, p, source, narrow, ports, values)
        reached = set()
        for d in template.wires:
            if d[0] == "out":
                source, narrow = template.origin(d)
                reached.add(d[1])
                self.check_exit(r, d[1], source, narrow, ports, exits)
        need(set(exits) <= reached, f"{r.name}: a row at an inactive output")

    def check_operand(self, k, actor, ins, p, source, narrow, ports, values):
        """An active op's input p against the graph."""
        r, item = self.map.realizations[k], self.graph.actors[actor]
        if p not in ins:  # idle
            need(source[0] == "in" and source[1] not in values, f"{r.name}: an idle role is fed")
            return
        operand = ins.index(p)
        value = item.operands[operand]
        row = self.external.get((actor, operand))
        if source[0] == "in":
            need(row == (k, source[1]), f"{r.name}: a boundary edge without its row")
        else:
            need(row is None, f"{r.name}: a row at an inner edge")
            other, _, outs = ports[source[0]]
            need(source[2] in outs and self.graph.actors[other].results[outs.index(source[2])]
                 == value, f"{r.name}: a template edge that is no graph edge")
        need(self.graph.bits(value) <= narrow, f"{r.name}: a narrow segment", INADMISSIBLE)

    def check_exit(self, r, port, source, narrow, ports, exits):
        """An active FU output against the graph."""
        if source[0] == "in":
            need(port not in exits, f"{r.name}: an output without an actor")
            need(False, f"{r.name}: a wire from boundary to boundary")
        actor, _, outs = ports[source[0]]
        if source[2] not in outs:  # idle
            need(port not in exits, f"{r.name}: a row at an idle role")
            return
        result = outs.index(source[2])
        need(exits.get(port) == (actor, result), f"{r.name}: a boundary edge without its row")
        value = self.graph.actors[actor].results[result]
        need(self.graph.bits(value) <= narrow, f"{r.name}: a narrow segment", INADMISSIBLE)

    def check_boundaries(self):
        """Rows exactly where values cross, and ports of one kind."""
        graph = self.graph
        crossing = set()
        for a, actor in enumerate(graph.actors):
            for k, value in enumerate(actor.operands):
                producer, ordinal = graph.producer[value]
                row = self.external.get((a, k))
                if producer is None:
                    need(row, "a graph input without a row")
                elif row:
                    crossing.add((producer, ordinal))
                    need((producer, ordinal) in self.exits, "an external edge without its exit")
                    need(self.kind(row, "in") == self.kind(self.exits[producer, ordinal], "out"),
                         "an external edge of two kinds", INADMISSIBLE)
                else:
                    need(self.place[producer][0] == self.place[a][0], "an edge without rows")
        for value in graph.outputs:
            crossing.add(graph.producer[value])
        need(crossing == set(self.exits), "a result's row that nothing reads, or none")

    def kind(self, row, word):
        unit = self.map.fabric.units[self.map.realizations[row[0]].unit]
        return (unit.inputs if word == "in" else unit.outputs)[row[1]][1][1]


# ---- slots and the default ABI ----

class Slot:
    def __init__(self, owner, name, residency, op=None, templates=0, unit=None):
        self.owner, self.name, self.context = owner, name, residency or 0
        self.op, self.templates, self.unit = op, templates, unit
        self.data = owner + u64(0) + (u32(0) if residency is None else u32(1) + u64(residency))
        self.selected = None  # a semantic value and its code

    @property
    def domain(self):
        if self.op is None:
            return [u32(0)] + [u32(1) + template_ref(self.unit, t) for t in range(self.templates)]
        return self.op.relation.keys

    @property
    def direct(self):
        return self.op is not None and isinstance(self.op.relation, Direct)

    @property
    def bits(self):
        return (self.op.relation.bits if self.direct
                else max(1, cardinality_bits(len(self.domain))))

    def inactive(self):
        return self.op.inactive() if self.op else (u32(0), 0)

    def value(self):
        return self.selected or self.inactive()

    def select(self, projected):
        if self.direct:
            self.selected = packed_bits(projected, self.bits), projected
        else:
            self.selected = projected, self.domain.index(projected)

    def parts(self):
        """(name, width, value) of each field in the payload."""
        code = self.value()[1]
        if not self.direct:
            return [("behavior" if self.op else "template", self.bits, code)]
        fields = self.op.relation.fields
        return [(name, width, value) for (name, width), value
                in zip(fields, self.op.relation.unpack(code)) if width]


def template_ref(unit, ordinal):
    return unit_ref(unit) + u64(ordinal)


def slots_of(sealed):
    """Every slot of a fabric, ascending."""
    out = []
    for k, (name, unit, contexts) in enumerate(sealed.fabric.occurrences):
        owner = u32(4) + occurrence_ref(k)
        for residency in range(contexts) if contexts > 1 else [None]:
            out.append(Slot(owner, name, residency, templates=len(sealed.templates[unit]),
                            unit=unit))
            out[-1].key = (k, residency or 0, None)
            for n, op in sealed.ops[unit].items():
                if op.relation is not None:
                    inner = u32(6) + u32(0) + occurrence_ref(k) + u64(n)
                    label = f"{name}.{sealed.fabric.units[unit].nodes[n].name}"
                    out.append(Slot(inner, label, residency, op=op))
                    out[-1].key = (k, residency or 0, n)
    return sorted(out, key=lambda s: s.data)


class Configuration:
    """The slots of a fabric with a map's values (or none), in the default ABI."""

    def __init__(self, fabric, map_=None):
        self.fabric, self.map = fabric, map_
        verified = Verified(map_) if map_ else None
        self.sealed = verified.sealed if verified else Sealed(fabric)
        self.slots = slots_of(self.sealed)
        by_key = {s.key: s for s in self.slots}
        if map_:
            for k, r in enumerate(map_.realizations):
                occurrence, context = r.bind
                by_key[occurrence, context, None].select(
                    u32(1) + template_ref(r.unit, r.template))
                for (home, node), value in verified.values.items():
                    if home == k and value is not None:
                        by_key[occurrence, context, node].select(value)
        self.bits = sum(s.bits for s in self.slots)
        payload, at = 0, 0
        for slot in self.slots:
            slot.offset = at
            payload |= slot.value()[1] << at
            at += slot.bits
        self.payload = packed_bits(payload, self.bits)

    def abi(self):
        """The canonical JSON."""
        fields = []
        for slot in self.slots:
            if slot.direct:
                encoding = {"kind": "direct_bits", "encoded_bit_count": slot.bits}
            else:
                entries = sorted((value, code) for code, value in enumerate(slot.domain))
                encoding = {"kind": "finite_codebook", "encoded_bit_count": slot.bits,
                            "entries": [{"semantic_value": v.hex(),
                                         "physical_code": packed_bits(c, slot.bits).hex()}
                                        for v, c in entries]}
            fields.append({
                "fabric_config_slot_ref": slot.data.hex(), "semantic_encoding": encoding,
                "destination_slices": [{"source_bit_offset": 0,
                                        "destination_bit_offset": slot.offset,
                                        "bit_count": slot.bits}],
                "inactive_value": slot.inactive()[0].hex()})
        return dump({
            "schema": "loom.configuration_abi", "schema_version": "1.0",
            "fabric_ref": {"schema": "loom.fabric", "schema_version": "7.1",
                           "artifact": FabricText(self.fabric).identity},
            "programming_units": [{
                "unit_id": "u0",
                "exact_fabric_resource_closure": sorted({s.owner.hex() for s in self.slots}),
                "programming_model": {"kind": "complete_image_atomic",
                                      "payload_bit_count": self.bits},
                "fields": fields}]})

    def abi_identity(self):
        return identity("loom.configuration_abi", 1, 0, self.abi())

    def header(self):
        return dump({
            "version": "1.0",
            "configuration_abi_ref": {"schema": "loom.configuration_abi", "schema_version": "1.0",
                                      "artifact": self.abi_identity()},
            "programming_unit_id": "u0",
            "source_mapping": {"schema": "loom.mapping", "schema_version": "2.0",
                               "artifact": MapText(self.map).identity},
            "payload_bit_count": self.bits})

    def image(self):
        header = self.header()
        return u32(len(header)) + header + u64(len(self.payload)) + self.payload

    def report(self):
        """The object of `configure --json`."""
        rows = []
        for slot in self.slots:
            at, fields = slot.offset, []
            for name, width, value in slot.parts():
                fields.append({"name": name, "bit_offset": at, "bit_width": width,
                               "value": f"{value:0{(width + 3) // 4}x}"})
                at += width
            rows.append({"slot": slot.data.hex(), "owner": slot.name, "context": slot.context,
                         "selected": slot.selected is not None, "value": slot.value()[0].hex(),
                         "fields": fields})
        return {"fabric": self.fabric.name, "map": self.map.name if self.map else None,
                "programming_units": [{"unit_id": "u0", "payload_bit_count": self.bits,
                                       "payload": self.payload.hex(), "slots": rows}]}


def dump(value):
    return json.dumps(value, separators=(",", ":")).encode()
