# SPDX-License-Identifier: Apache-2.0
"""Section 14.3: certificates/<capability>/. The set of digest D has its certificate in D.json, its
graphs in D/<role>.whg1, and, where they are committed, its files in D/set/ and a pin over it in
D/pin.json. The lowering is recomputed from the set's files; without them, the certificate from the
graphs."""

from canonical import NotCanonical, member, read
from certificate import set_certificate
from functions import Refusal
from lower import REGISTERED, lower
from vectors import compare
from whg1 import load


def check_capability(tally, capability, files):
    """Every file below certificates/<capability>/, `files` being their paths in the directory."""
    base = f"certificates/{capability}/"
    names = [file[len(base):] for file in files]
    digests = [name[:-len(".json")] for name in names if name.endswith(".json")
               and "/" not in name]
    for digest in digests:
        below = [name for name in names if name.startswith(f"{digest}/")]
        check_set(tally, capability, base + digest, below)
    for name in names:
        if name.partition("/")[0] not in digests and name[:-len(".json")] not in digests:
            tally.fail(base + name, "a file of no certificate")


def check_set(tally, capability, place, below):
    """One set: `place` is the certificate's path without `.json`, `below` the names of its files
    below the capability's directory."""
    file, digest = place + ".json", place.rpartition("/")[2]
    inside = [name[len(digest) + 1:] for name in below]
    graphs = {name[:-len(".whg1")]: tally.read(f"{place}/{name}") for name in inside
              if name.endswith(".whg1") and "/" not in name}
    members = {name[len("set/"):]: tally.read(f"{place}/{name}") for name in inside
               if name.startswith("set/")}
    data = tally.read(file)
    try:
        value = read(data)
        if members:
            own = from_set(tally, capability, place, members, graphs)
        else:
            own = from_graphs(capability, digest, graph_names(value), graphs)
        tally.write_value(file, own)
        tally.note(file, compare(data, own))
        if "pin.json" in inside:
            check_pin(tally, capability, place)
    except (NotCanonical, Refusal) as problem:
        tally.fail(file, str(problem))


def graph_names(value):
    graphs = member(value, "graphs")
    if not isinstance(graphs, list):
        raise NotCanonical("graphs is no array")
    return [member(graph, "name") for graph in graphs]


def from_set(tally, capability, place, members, graphs):
    """The certificate of a set whose files are there; compares and writes its graphs."""
    lowered = lower(capability, members)
    if lowered.digest != place.rpartition("/")[2]:
        tally.fail(place, f"the set's digest is {lowered.digest}")
    roles = [role for role, _ in lowered.graphs]
    for role, graph in lowered.graphs:
        path = f"{place}/{role}.whg1"
        tally.write_bytes(path, graph.data)
        what = ("not there" if role not in graphs else
                "" if graphs[role] == graph.data else difference(graphs[role], graph.data))
        tally.note(path, what)
    for role in sorted(set(graphs) - set(roles)):
        tally.fail(f"{place}/{role}.whg1", "the lowering has no such role")
    return lowered.certificate()


def difference(data, own):
    """Where the bytes of a graph differ first from the lowering's."""
    at = next((k for k, pair in enumerate(zip(data, own)) if pair[0] != pair[1]),
              min(len(data), len(own)))
    return f"differs from the lowering at byte {at} (of {len(data)}, recomputed {len(own)})"


def from_graphs(capability, digest, names, graphs):
    if set(names) != set(graphs):
        raise NotCanonical("the graphs beside the certificate are not those it names")
    lowering = REGISTERED[capability][0] if capability in REGISTERED else "whg1"
    pairs = [(role, load(graphs[role])) for role in names]
    return set_certificate(pairs, capability, lowering, digest)


def check_pin(tally, capability, place):
    """A pin (payloads.md, section 3). The profile it claims may be one that the set does not
    meet: section 14.3 asks for such a set."""
    file, digest = f"{place}/pin.json", place.rpartition("/")[2]
    data = tally.read(file)
    value = read(data)
    own = {"capability": capability, "sha256": digest}
    for key in ("ops_profile", "tier"):
        if isinstance(value, dict) and isinstance(value.get(key), str):
            own[key] = value[key]
    tally.write_value(file, own)
    tally.note(file, compare(data, own))
