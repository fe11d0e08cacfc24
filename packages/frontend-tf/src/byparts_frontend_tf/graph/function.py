"""The graph of a function: it reads tensors of the graphs around it through placeholders.

    graph = FunctionGraph(outer)
    with graph.as_default():
        y = function(x)                  # where it reads a tensor of `outer`, a placeholder stands

Names inside are those of a graph of its own, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Tensor


class FunctionGraph(Graph):
    """The graph of a function.

    Args:
        outer: the graph that it is used in.

    Attributes:
        captures: tensor of `outer` -> what stands for it here.
    """

    def __init__(self, outer: Graph) -> None:
        super().__init__()
        self.outer, self.seed = outer, outer.seed
        self.captures: dict[Tensor, Tensor] = {}
        self._inside: dict[Tensor, Tensor] = {}  # the same, of all graphs around, and constants

    def own(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The tensors, or what stands for them here.

        Raises:
            ValueError: one is of a graph that is not around this one.
        """
        return tuple([t if t.op.graph is self else self._captured(t) for t in inputs])

    def _captured(self, tensor: Tensor) -> Tensor:
        found = self._inside.get(tensor)
        if found is not None:
            return found
        op, outer = tensor.op, tensor
        if op.graph is not self.outer:
            if not isinstance(self.outer, FunctionGraph):
                raise ValueError(f"{tensor} must be from the same graph as the function.")
            (outer,) = self.outer.own([tensor])
        with self.outside(), self.as_default():
            if op.type == "Const":  # its number may decide shapes
                found = op.kind(name=None, **op.attributes)
            else:
                make = upper.functions.placeholder
                found = make(name=op.name, dtype=tensor.dtype.base_dtype, shape=tensor.dims)
                self.captures[outer] = found
        self._inside[tensor] = found
        return found

    @property
    def building_function(self) -> bool:
        """Whether the graph is a function's: always."""
        return True
