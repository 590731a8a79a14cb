# SPDX-License-Identifier: Apache-2.0
"""Scale edges and cumulative tables (rule t4097) from a float codec and what it codes.

h_s gives the logarithm of the scale, so the edges are evenly spaced; table i is for the scales
in (e_{i-1}, e_i]. Each table is a normal law (y) or the learned law (z), mixed with the symbols
that the training pictures gave, the counts weighing more where there are many of them.
"""
import math

import numpy as np

TOTAL = 65536
TABLES = 64
LOW = math.log(0.11)
PRIOR_WEIGHT = 400.0  # the law counts as much as this many observed symbols


def scale_edges(top):
    """Edges in the logarithm of the scale, the last of which is never compared."""
    step = (top - LOW) / (TABLES - 1)
    return LOW + (np.arange(TABLES) + 0.5) * step


def normal_masses(scale, half):
    """The masses of -half .. half under a normal law."""
    def below(v):
        return 0.5 * math.erfc(-v / (scale * math.sqrt(2)))
    return np.array([below(0.5 - abs(k)) - below(-0.5 - abs(k)) for k in range(-half, half + 1)])


def table_of(masses, offset):
    """The (cdf, offset) whose frequencies follow the masses; the rest is the escape's."""
    masses = np.append(np.maximum(masses, 0), max(1 - masses.sum(), 0))
    share = masses / masses.sum() * (TOTAL - len(masses))
    counts = np.floor(share).astype(np.int64)
    order = np.argsort(counts - share, kind="stable")
    counts[order[:TOTAL - len(masses) - counts.sum()]] += 1
    return [0] + np.cumsum(counts + 1).tolist(), offset


def mixed(masses, first, symbols):
    """The masses of first, first + 1, ... mixed with the counts of the symbols."""
    inside = symbols[(symbols >= first) & (symbols < first + len(masses))] - first
    counts = np.bincount(inside, minlength=len(masses))
    return (PRIOR_WEIGHT * masses + counts) / (PRIOR_WEIGHT + len(symbols))


def y_tables(top, index, symbols):
    """One table an edge; `index` names the table of each observed symbol."""
    step, tables = (top - LOW) / (TABLES - 1), []
    for i in range(TABLES):
        scale = math.exp(LOW + i * step)
        half = min(max(2, math.ceil(4.2 * scale)), 2000)
        seen = symbols[index == i]
        tables.append(table_of(mixed(normal_masses(scale, half), -half, seen), -half))
    return tables


def z_tables(law, symbols):
    """One table a channel; law[c] are the masses of -reach .. reach, symbols[c] what was seen."""
    reach, tables = law.shape[1] // 2, []
    for masses, seen in zip(law, symbols):
        likely = np.flatnonzero(masses > 2e-5) - reach
        low = min(int(seen.min()), int(likely.min())) - 1
        high = max(int(seen.max()), int(likely.max())) + 1
        low, high = max(low, -reach), min(high, reach)
        part = masses[low + reach:high + reach + 1]
        tables.append(table_of(mixed(part, low, seen), low))
    return tables
