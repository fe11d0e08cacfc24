"""Facts of the kernel of a node that a plan must know: workspace, in place, alignment.

A *workspace* is scratch memory of one step.  The kernel writes and reads it while the step runs;
what it holds before is undefined, and nobody needs it afterwards.  It is disjoint from the inputs
and outputs of the step, and from all else that is alive then; another step may have the same bytes.
A kernel also knows best which outputs it may write over which inputs: one generated for a `Fused`
region may, where the op says nothing.  Kernels of some memories take no array that begins at an odd
byte: there a view whose bytes would begin so is no view, and the kernel of its node makes a copy.

Facts are asked of a function of the node, because order and recomputation make nodes anew.
"""

from __future__ import annotations

from operator import index

from byparts_graph_ir import Node
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import PlanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    Pairs = tuple[tuple[int, int], ...]

    class KernelFacts(Protocol):
        """The interface of the result of `kernels(node)`; a `Kernel` of graph-ir has both.

        It may have `alignment`, bytes: views begin at a multiple of it in the value they are of.
        """

        @property
        def workspace_bytes(self) -> int:
            """Scratch memory while the step runs."""

        @property
        def inplace(self) -> Pairs:
            """(input, output) positions that this kernel may put into the same bytes."""

    Kernels = Callable[[Node], KernelFacts]


class Facts(Frozen):
    """The facts of a kernel, checked."""

    workspace_bytes: int
    inplace: Pairs
    alignment: int = 1


class KnownKernels:
    """Asks `kernels` about each node once, and checks the answer; `facts` are known already.

    Raises:
        PlanError: when called: the answer lacks a fact, or bytes are negative; names the node.
    """

    __slots__ = ("_facts", "_kernels")

    def __init__(self, kernels: Kernels, facts: Mapping[Node, Facts] | None = None) -> None:
        self._kernels, self._facts = kernels, dict(facts or ())

    def __call__(self, node: Node) -> Facts:
        facts = self._facts.get(node)
        if facts is None:
            facts = self._facts[node] = checked_facts(node, self._kernels(node))
        return facts


def known_kernels(kernels: Kernels | None) -> KnownKernels | None:
    """`kernels` as a function that asks once for each node; `None`: ops say what is in place.

    Raises:
        PlanError: it is no function.
    """
    if kernels is None or isinstance(kernels, KnownKernels):
        return kernels
    if not callable(kernels):
        raise PlanError(
            f"kernels is {kernels!r:.60}; expected a function from a Node to its kernel, such as "
            "lambda node: backend.compile(node.op, [v.type for v in node.inputs])"
        )
    return KnownKernels(kernels)


def checked_facts(node: Node, kernel: Any) -> Facts:
    """Check what the kernel of a node says.

    Raises:
        PlanError: one is missing, or no number that could be meant; names the node.
    """
    try:
        return Facts(
            _bytes(kernel.workspace_bytes),
            tuple([(_position(p), _position(o)) for p, o in kernel.inplace]),
            getattr(kernel, "alignment", 1),
        )
    except (AttributeError, TypeError, ValueError) as error:
        line = f" ({node.where})" if node.where else ""
        raise PlanError(
            f"kernels gives {kernel!r:.60} for {node.op.name}{line}: {error}; expected an object "
            "with workspace_bytes, 0 or more, and inplace, pairs (input, output)"
        ) from error


def _bytes(value: object) -> int:
    size = index(value)  # type: ignore[arg-type]  # its TypeError is what we want
    if size < 0:
        raise ValueError(f"workspace_bytes is {size}")
    return size


def _position(value: object) -> int:
    position = index(value)  # type: ignore[arg-type]  # likewise
    if position < 0:
        raise ValueError(f"inplace has position {position}")
    return position
