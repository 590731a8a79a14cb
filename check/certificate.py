# SPDX-License-Identifier: Apache-2.0
"""Section 8.5: the certificate and the verdict; section 9.2: the accelerator subset."""

import hashlib

from bounds import bounds_pass
from functions import FLOOR, HALF_EVEN, bits, fits
from operators import POST
from profiles import PROFILES, WIDTHS, acc32_params, meets
from whg1 import CHECK, KINDS, POLICIES, STATE

TERMS = {"conv": "conv.term", "conv_transpose": "convT.term", "igdn": "igdn.term",
         "gram": "gram.term", "apply": "apply.term"}
MACS = ("conv", "conv_transpose", "chscale", "mul", "gram", "apply")


def interval_object(interval):
    lo, hi = interval
    return {"bits": bits(lo, hi), "hi": hi, "lo": lo}


# 9.2 The flags of a node

def multipliers(node):
    """The multipliers a node encodes: none where absent."""
    return node.p.table if node.op.name == "chscale" else node.p.rq.mult or ()


def npu_flags(graph, node):
    name, p = node.op.name, node.p
    flags = {name} & {"lut16", "chscale"}
    states = {record.tensor for record in graph.inputs if record.kind == STATE}
    if name in ("add", "chunk_add") and states.intersection(node.ins):
        flags.add("state_add")
    if name == "chscale" or hasattr(p, "rq"):
        rounding, shifts = ((p.rounding, (p.shift,)) if name == "chscale"
                            else (p.rq.rounding, p.rq.shift))
        mults = multipliers(node)
        found = {"rq_half_even": rounding == HALF_EVEN,
                 "rq_floor_mult": rounding == FLOOR and len(mults) > 0,
                 "rq_post_bias": name != "chscale" and p.rq.placement == POST,
                 "rq_neg_mult": any(m < 0 for m in mults),
                 "rq_shift_range": max(shifts) > 31}
        flags.update(flag for flag, there in found.items() if there)
    return sorted(flags)


def npu_reasons(node):
    """Why a node is outside wai-ops/1-npu, the acc32 verdict apart."""
    name, p = node.op.name, node.p
    reasons = set()
    if not node.op.npu:
        reasons.add(f"op:{name}")
    if name == "conv" and (p.groups not in (1, p.cin)
                           or (p.groups == p.cin > 1 and p.cout != p.cin)):
        reasons.add("conv_groups")
    if name == "crop" and any(operand.is_scalar for operand in (p.y0, p.x0, p.h, p.w)):
        reasons.add("crop_scalar")
    return reasons


# 8.5 What a node fits

def classed(bounds):
    """The intermediates and producer results of a node, by key."""
    results = {f"out.{k}": result for k, result in enumerate(bounds.results)}
    return {**bounds.intermediates, **results}


def node_failure(graph, node, bounds, profile):
    """The key of a node's failure of a profile (with its bits, for an interval), or None."""
    if bounds.saturated:
        return {"key": "saturated"}
    wide = [(-bits(*interval), key) for key, interval in classed(bounds).items()
            if not meets(profile, key, interval)]
    if wide:
        negated, key = min(wide)
        return {"bits": -negated, "key": key}
    if profile == "acc32":
        params = acc32_params(node)
        if params:
            return {"key": params[0]}
        if any(graph.tensors[t].policy == CHECK for t in node.outs):
            return {"key": "policy.check"}
    return None


# 8.5 The members

def input_object(graph, record):
    tensor = graph.tensors[record.tensor]
    members = {"hi": tensor.hi, "kind": KINDS[record.kind], "lo": tensor.lo,
               "max_h": record.max_h, "max_w": record.max_w, "policy": POLICIES[tensor.policy],
               "tensor": record.tensor}
    if record.kind == STATE:
        members.update(init=record.init, src=record.src)
    return members


def out_object(graph, tensor, interval, result):
    return {**interval_object(interval), "policy": POLICIES[graph.tensors[tensor].policy],
            "result": interval_object(result), "tensor": tensor}


def k_c(interval):
    """K_c of section 6."""
    p = max(abs(interval[0]), abs(interval[1]))
    return "unbounded" if p == 0 else (2 ** 31 - 1) // p


def mac_object(node, bounds):
    mac = {"a_bits": [bits(*interval) for interval in bounds.inputs]}
    weights = node.p.table if node.op.name == "chscale" else getattr(node.p, "weights", None)
    if weights:
        mac["w_bits"] = bits(min(weights), max(weights))
    return mac


def node_object(graph, node, bounds):
    name = node.op.name
    members = {
        "acc32_params": acc32_params(node),
        "fits": [p for p in PROFILES if node_failure(graph, node, bounds, p) is None],
        "index": node.index,
        "intermediates": {key: interval_object(v) for key, v in bounds.intermediates.items()},
        "npu_flags": npu_flags(graph, node),
        "op": name,
        "out": [out_object(graph, *each)
                for each in zip(node.outs, bounds.outputs, bounds.results)],
        "saturated": bounds.saturated,
    }
    if name in TERMS:
        members["k_c"] = k_c(bounds.intermediates[TERMS[name]])
    if name in MACS:
        members["mac"] = mac_object(node, bounds)
    return members


# 8.5 The verdict, first failures and the accelerator verdict

def first_failure(graph, found, profile, role):
    width = WIDTHS[profile]["tensor"]
    ranges = [("input", k, graph.tensors[record.tensor][3:5])
              for k, record in enumerate(graph.inputs)]
    ranges += [("scalar", k, scalar) for k, scalar in enumerate(graph.scalars)]
    for where, k, interval in ranges:
        if not fits(width, *interval):
            return {"bits": bits(*interval), "graph": role, "index": k, "key": "range",
                    "where": where}
    for node, bounds in zip(graph.nodes, found):
        failure = node_failure(graph, node, bounds, profile)
        if failure:
            return {**failure, "graph": role, "index": node.index, "where": "node"}
    return None


def set_failure(graphs, profile):
    """The first failure over a set's graphs: each is (role, graph, its bounds)."""
    failures = (first_failure(graph, found, profile, role) for role, graph, found in graphs)
    return next(filter(None, failures), None)


def set_verdict(graphs):
    members = {}
    for profile in PROFILES:
        failure = set_failure(graphs, profile)
        members[profile] = failure is None
        if failure:
            members[f"{profile}_first_failure"] = failure
    nodes = [(graph, node) for _, graph, _ in graphs for node in graph.nodes]
    reasons = set() if members["acc32"] else {"acc32"}
    reasons = reasons.union(*(npu_reasons(node) for _, node in nodes))
    flags = set().union(*(npu_flags(*each) for each in nodes))
    members.update(npu=not reasons, npu_flags=sorted(flags), npu_reasons=sorted(reasons))
    return members


def verdict(graph, found, role="graph"):
    """The verdict of one graph certified on its own."""
    return set_verdict([(role, graph, found)])


def graph_object(role, graph, found):
    return {
        "graph_sha256": hashlib.sha256(graph.data).hexdigest(),
        "inputs": [input_object(graph, record) for record in graph.inputs],
        "name": role,
        "nodes": [node_object(graph, *each) for each in zip(graph.nodes, found)],
        "scalars": [{"hi": hi, "index": k, "lo": lo}
                    for k, (lo, hi) in enumerate(graph.scalars)],
    }


def set_certificate(graphs, capability, lowering, set_sha256):
    """The certificate of a set: `graphs` are pairs (role, graph), in the order of the roles."""
    found = [(role, graph, bounds_pass(graph)) for role, graph in graphs]
    return {
        "capability": capability,
        "certificate": "wai-ops/1 bounds",
        "graphs": [graph_object(*each) for each in found],
        "lowering": lowering,
        "set_sha256": set_sha256,
        "verdict": set_verdict(found),
    }


def certificate(graph, role="graph"):
    """The certificate of one graph certified on its own."""
    return set_certificate([(role, graph)], None, "whg1", None)
