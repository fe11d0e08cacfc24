"""Shapes of variables that only the data tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from byparts_frontend_tf.tinyflow.state import Variable, leaves
from byparts_graph_ir import Graph, Input, TensorType, Value, infer_inputs


def infer_variable_shapes(
    net: Value, feed_dict: Mapping[Any, Sequence[int]]
) -> Iterator[tuple[Variable, str, list[int]]]:
    """Each variable of `net` in depth-first order, with its name and shape.

    Args:
        net: what is computed.
        feed_dict: the shape of each placeholder.

    Raises:
        ValueError: the shapes fed do not determine those of all variables.
    """
    inputs = tuple(leaves([net]))
    graph = Graph.of(inputs, (net,))
    types = [
        TensorType(v.type.dtype, tuple(feed_dict[v])) if v in feed_dict else None for v in inputs
    ]
    for v, kind in zip(inputs, infer_inputs(graph, types), strict=True):
        if not isinstance(v, Variable):
            continue
        if not kind.static:
            fed = ", ".join(f"{getattr(p, 'name', p)}: {list(s)}" for p, s in feed_dict.items())
            raise ValueError(
                f"not sufficient information in feed_dict ({fed}): variable {v.name!r} is {kind}"
                f"{_unfed(inputs, feed_dict)}"
            )
        yield v, v.name, list(kind.dims)


def _unfed(inputs: Sequence[Value], fed: Mapping[Value, Sequence[int]]) -> str:
    names = [
        v.name
        for v in inputs
        if isinstance(v, Input) and not isinstance(v, Variable) and v not in fed
    ]
    return f"; not fed: {', '.join(names)}" if names else ""
