# SPDX-License-Identifier: Apache-2.0
"""Section 7: the width classes, and the profiles' parameter conditions."""

from functions import fits
from operators import POST

PROFILES = ("acc32", "acc64")

# 7.1: the bits of each class.
WIDTHS = {
    "acc64": {"tensor": 64, "acc": 64, "wide": 128, "product": 128},
    "acc32": {"tensor": 32, "acc": 32, "wide": 32, "product": 64},
}

# The class of each named intermediate of section 5, where it is not `acc`.
CLASSES = {
    "rq.p": "product", "igdn.gx2": "product",
    "igdn.x2": "wide", "igdn.term": "wide", "igdn.N": "wide", "igdn.xr": "wide",
    "ln.S": "wide", "ln.T": "wide", "ln.m": "wide", "ln.v": "wide", "ln.dk": "wide",
    "ln.ng": "wide", "l2.T": "wide", "l2.vk": "wide", "elu.p": "wide",
}


def meets(profile, key, interval):
    """Whether the interval of an intermediate, or of class tensor ("out.<k>"), has its width."""
    kind = "tensor" if key.startswith("out.") else CLASSES.get(key, "acc")
    return fits(WIDTHS[profile][kind], *interval)


def acc32_params(node):
    """7.2: the keys of the parameter conditions the node fails, in the table's order."""
    p, name = node.p, node.op.name
    failed = []

    def condition(key, values, lo=-(2 ** 31), hi=2 ** 31 - 1):
        if any(not lo <= v <= hi for v in values):
            failed.append(key)

    rq = getattr(p, "rq", None)
    if rq is not None:
        condition("rq.mult", rq.mult or ())
        condition("rq.shift", rq.shift, 0, 63)
        condition("rq.post_bias", rq.bias if rq.placement == POST else ())
    if name in ("conv", "conv_transpose"):
        condition("weights", p.weights)
    if name == "chscale":
        condition("chscale.m", p.table)
        condition("chscale.s", (p.shift,), 0, 63)
    if name == "igdn":
        condition("igdn.gamma", p.gamma)
        condition("igdn.shift", (p.gf, p.frac), 0, 63)
    if name == "leaky":
        condition("leaky.a", (p.a,))
    return failed
