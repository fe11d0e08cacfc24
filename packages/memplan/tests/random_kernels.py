"""What made-up kernels say: random facts, the same for equal ops on equal types."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis.strategies import SearchStrategy, integers, none

from byparts_graph_ir import Kernel, Node

Kernels = Callable[[Node], Kernel]

SIZES = (0, 0, 1, 8, 24, 40)


def said(workspace_bytes: int = 0, *inplace: tuple[int, int]) -> Kernel:
    """A kernel that nobody runs."""
    return Kernel(_bind, workspace_bytes, inplace=inplace)


def random_kernels(seed: int, unit: int = 1) -> Kernels:
    """A workspace of up to 40 `unit` bytes, and any pairs of inputs and outputs in place.

    More than the op allows, less, or pairs whose types differ.
    """

    def kernels(node: Node) -> Kernel:
        types = [str(v.type) for v in (*node.inputs, *node.outputs)]
        random = Random(f"{seed} {node.op} {types}")
        pairs = [(p, o) for p in range(len(node.inputs)) for o in range(len(node.outputs))]
        chosen = random.sample(pairs, random.randint(0, len(pairs)))
        return said(unit * random.choice(SIZES), *chosen)

    return kernels


def any_kernels() -> SearchStrategy[Kernels | None]:
    """Such, or none given."""
    return none() | integers(0, 999).map(random_kernels)


def as_ops_say(node: Node) -> Kernel:
    """Without workspaces, and in place what the op allows."""
    return said(0, *node.op.inplace)


def _bind(*_: object) -> Callable[[], object]:
    raise AssertionError("a planner binds nothing")
