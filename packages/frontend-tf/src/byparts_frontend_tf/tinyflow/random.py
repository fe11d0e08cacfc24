"""Random values in pure graphs: a draw is a function of (seed, which draw it is, how many runs).

The first two are constants of the node, the third is a variable of the session that every run with
a draw in it moves on.  So the same program with the same seed gives the same numbers, two draws
differ, and two runs differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from byparts_frontend_tf.tinyflow.names import serial
from byparts_frontend_tf.tinyflow.state import float32, made_by_op
from byparts_graph_ir import TensorType, Value
from byparts_graph_ir.contract import checked
from byparts_opset import random_normal

STRIDE = 1 << 32  # counters set aside for one draw of one run

RUNS = made_by_op(TensorType("i64", ()), "runs")
_seed = [0]


@checked
def set_random_seed(seed: int) -> None:
    """The seed of the draws made from now on."""
    _seed[0] = int(seed)


@checked
def normal(shape: Iterable[int], stdev: float = 1.0, name: str | None = None) -> Value:
    """Normal numbers of mean 0, new ones in each run."""
    key = (_seed[0] << 32) + serial("random draw")
    return random_normal(key, RUNS, tuple(shape), 0.0, float(stdev), float32)


def next_runs() -> Value:
    """The value of `RUNS` after a run."""
    return RUNS + STRIDE
