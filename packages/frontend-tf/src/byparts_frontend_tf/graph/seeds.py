"""Seeds of random operations: of the graph's seed and the operation's, or of chance.

Streams are our own, counter-based: not TensorFlow's bits.  What holds is: with a seed, two graphs
that are built alike and two sessions give equal numbers, two operations of one seed do, and two
without a seed of their own give different ones.
"""

from __future__ import annotations

import os
from typing import Optional

from byparts_frontend_tf.graph.graph import Graph

DEFAULT_GRAPH_SEED = 87654321
_MASK = (1 << 64) - 1


def get_seed(graph: Graph, op_seed: Optional[int]) -> tuple[Optional[int], Optional[int]]:
    """TensorFlow's two seeds of an operation; `None` twice where there is none."""
    if graph.seed is not None:
        seeds = graph.seed, graph.version if op_seed is None else op_seed
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first, second = [int(s) % (2**31 - 1) for s in seeds]
    return (0, 2**31 - 1) if (first, second) == (0, 0) else (first, second)


def unseeded(bits: int) -> int:
    """A number of at most 64 bits from the system: where no seed says the numbers."""
    return int.from_bytes(os.urandom(8), "little") >> 64 - bits


def stream_key(graph: Graph, op_seed: Optional[int]) -> tuple[int, bool]:
    """The key of an operation's stream, and whether a seed says it."""
    first, second = get_seed(graph, op_seed)
    if first is None or second is None:
        return unseeded(63), False
    return _mixed(first << 32 | second) >> 1, True


def _mixed(x: int) -> int:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014): each bit depends on all."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & _MASK
    return x ^ x >> 31
