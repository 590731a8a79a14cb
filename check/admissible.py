# SPDX-License-Identifier: Apache-2.0
"""Section 8.4: the admissible range of a tensor for a profile."""

from bounds import RULES, NodeBounds, Saturating, bounds_pass
from certificate import classed
from functions import I64_MAX, Refusal
from lower import largest
from profiles import meets


def holds_for(graph, node, inputs, profile):
    """Whether every value the node classes meets the profile, on these input intervals."""
    sat = Saturating()
    try:
        intermediates, results = RULES[node.op.name](sat, node, inputs, graph)
    except Refusal:  # past lut16's table: no rule there
        return False
    found = classed(NodeBounds(intermediates, results, inputs, [], sat.saturated))
    return not sat.saturated and all(meets(profile, *each) for each in found.items())


def admissible_range(graph, tensor, profile):
    """[-X*, min(X*, 2^63 - 1)], or None where C(0) fails."""
    consumers = [(node, bounds.inputs) for node, bounds in zip(graph.nodes, bounds_pass(graph))
                 if tensor in node.ins]

    def condition(x):
        return all(holds_for(graph, node, [(-x, x) if t == tensor else interval
                                           for t, interval in zip(node.ins, inputs)], profile)
                   for node, inputs in consumers)

    x = largest(condition)
    return None if x is None else (-x, min(x, I64_MAX))
