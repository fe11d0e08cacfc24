"""Gives names to the dimensions of feeds that are not known, so that one family serves all sizes.

    x: f32[?,784], y: i64[?]    fed with 32 rows each    ->    x: f32[_size_0,784], y: i64[_size_0]

Dimensions that a graph leaves open and that are equal in a call get one name, which says as much of
the next calls: a call in which they differ has other names, and so another family.  (PyTorch's
`torch.compile` guesses likewise: "duck shaping".)  Named dimensions keep their names.  What the
shape rules find out of an open dimension when they run both ways becomes a number.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Dimension, Graph, GraphError, TensorType, Types, infer_inputs
from byparts_graph_ir.passes.specialize import OF_THE_PROGRAM, names_of


def named_types(feeds: Sequence[TensorType], types: Types) -> Types:
    """The types of the feeds as the graph has them, with names in the place of open dimensions.

    Args:
        feeds: the types of the graph's feeds.
        types: those of the arrays of a call, of the same ranks.
    """
    names: dict[int, str] = {}
    return tuple([_named(old, new, names) for old, new in zip(feeds, types, strict=True)])


def check_names(feeds: Types) -> None:
    """Refuse names that the runtime gives itself.

    Raises:
        GraphError: a dimension of a feed has such a name.
    """
    for kind in feeds:
        for name in [n for d in kind.shape or () for n in names_of(d)]:
            if name.startswith(OF_THE_PROGRAM):
                raise GraphError(
                    f"dimension {name!r} of {kind}: names that begin with {OF_THE_PROGRAM!r} are "
                    "given by the runtime; take another one"
                )


def known_types(graph: Graph, types: Types) -> Types:
    """The types with numbers for names that the shape rules of the graph determine."""
    all_types = (*types, *[v.type for v in graph.inputs[len(types) :]])
    return infer_inputs(graph, all_types)[: len(types)]


def _named(old: TensorType, new: TensorType, names: dict[int, str]) -> TensorType:
    if old.static:
        return old
    sizes = new.dims
    shape = old.shape if old.shape is not None else (None,) * len(sizes)
    pairs = zip(shape, sizes, strict=True)
    return TensorType(old.dtype, tuple([_dimension(d, size, names) for d, size in pairs]))


def _dimension(d: Dimension, size: int, names: dict[int, str]) -> Dimension:
    if d is not None:
        return d
    return names.setdefault(size, f"{OF_THE_PROGRAM}{len(names)}")
