"""Facts of the kernels of installed backends on the nodes of a graph: `byparts plan --backend`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from byparts_graph_ir import MissingRule, Node
from byparts_graph_ir.parts.hub import parts
from byparts_memplan.kernel_facts import Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import KernelFacts


class BackendKernels:
    """Compiles each node on the first backend that has a kernel for it; nothing is run.

    The graph is taken as it is.  What `build` runs may have been decomposed or fused, so an op that
    no backend has is no error: it counts without a workspace, in place as the op says.

    Attributes:
        names: of the backends, in the order in which they are asked.
        missing: names of the ops that none of them has, in order of first use.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """Start the backends.

        Raises:
            PartError: one is not installed, or does not start.
        """
        self.names = tuple(names)
        self.missing: dict[str, None] = {}
        self._backends = [parts.backend(name) for name in names]

    def __call__(self, node: Node) -> KernelFacts:
        """The kernel of a node, or what the op says if no backend has one."""
        types = [v.type for v in node.inputs]
        for backend in self._backends:
            try:
                kernel: KernelFacts = backend.compile(node.op, types)
            except MissingRule:
                continue  # the next one may have it
            return kernel
        self.missing[node.op.name] = None
        return Facts(0, node.op.inplace)

    def __str__(self) -> str:
        """The names of the backends, and the ops that they lack; one line."""
        lacking = f"; none for {', '.join(self.missing)}" if self.missing else ""
        return f"kernels of {', '.join(self.names)}{lacking}"


def kernels_of(options: argparse.Namespace) -> BackendKernels | None:
    """The kernels of the backends that the options name; `None` if they name none."""
    names = [name for text in options.backend for name in text.split(",") if name]
    if not names:
        return None
    return BackendKernels(names)
