"""Errors for what cannot be taken from a model in ONNX."""

from __future__ import annotations

from collections.abc import Iterable

from byparts_graph_ir import GraphError


class UnsupportedOp(GraphError):
    """An operator of ONNX without a rule here, or a use of one that its rule does not cover."""


class Undetermined(GraphError):
    """A number that decides a shape, and that depends on an input or on a named size.

    `from_onnx` with a feed fixes these to the feed and starts again.

    Args:
        what: which number, of which node.
        inputs: names of inputs of the model whose elements it depends on.
        sizes: names of dimensions that it depends on.
    """

    def __init__(self, what: str, inputs: Iterable[str] = (), sizes: Iterable[str] = ()) -> None:
        self.inputs, self.sizes = tuple(inputs), tuple(sizes)
        names = [f"input {n!r}" for n in self.inputs] + [f"size {n!r}" for n in self.sizes]
        super().__init__(f"{what} decides a shape and depends on {', '.join(names) or 'the data'}")
