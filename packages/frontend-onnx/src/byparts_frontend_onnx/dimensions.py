"""Names of dimensions in ONNX files as dimensions of byparts.

A file may call a dimension "batch.size", "seq len", "?" or "past_sequence_length +
sequence_length".  Operators make an expression where its operands are names (a minus only between
spaces: "batch-size" is one name); every other character that no identifier has becomes "_".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from byparts_graph_ir import Dimension, GraphError, ShapeError, dimension, dimension_names

_OPERATOR = re.compile(r"(\s*(?:\+|\*|//)\s*|\s+-\s+|\s*[(),]\s*)")
_LONGEST = 60


class Dimensions:
    """The dimensions of the inputs of one model, each name of the file with its name in byparts."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # of the file -> of byparts

    def shape(self, name: str, dims: Iterable[Any]) -> list[Dimension]:
        """The shape of an input; what has no number and no name gets the name "input_axis"."""
        return [self._dimension(d, f"{name}_{axis}") for axis, d in enumerate(dims)]

    def _dimension(self, dim: Any, otherwise: str) -> Dimension:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return int(dim.dim_value)
        text = dim.dim_param if dim.HasField("dim_param") else ""
        if not re.search(r"\w", text):
            return self.named(otherwise)
        words = _OPERATOR.split(text)
        if len(words) == 1:
            return self.named(text)
        translated = (w if _OPERATOR.fullmatch(w) or w.isdigit() else self._word(w) for w in words)
        try:
            return dimension("".join(translated))
        except ShapeError:  # no expression after all
            return self.named(text)

    def _word(self, word: str) -> str:
        return word if word in ("", "min", "max") else self.named(word)

    def named(self, text: str) -> str:
        """The name in byparts of a name of the file; differs from all others."""
        if text not in self.names:
            plain = re.sub(r"\W", "_", text.strip())[:_LONGEST]
            if not plain.isidentifier() or plain in ("min", "max"):
                plain = f"n_{plain}"
            taken, first, i = set(self.names.values()), plain, 1
            while plain in taken:
                i += 1
                plain = f"{first}_{i}"
            self.names[text] = plain
        return self.names[text]


def with_own_names(shapes: Mapping[str, list[Dimension]]) -> dict[str, tuple[Dimension, ...]]:
    """Shapes in which each name can be told from an array.

    An expression with a name that stands nowhere by itself becomes a name.
    """
    plain = {d for shape in shapes.values() for d in shape if isinstance(d, str)}
    alone = {d for d in plain if d.isidentifier()}
    own = {
        d: d if dimension_names(d) <= alone else re.sub(r"\W+", "_", f"n_{d}").strip("_")
        for d in plain
    }
    return {
        name: tuple(own[d] if isinstance(d, str) else d for d in shape)
        for name, shape in shapes.items()
    }


def replaced(
    name: str, shape: Iterable[Dimension], sizes: Mapping[str, int]
) -> tuple[Dimension, ...]:
    """A shape with numbers in the place of names.

    Raises:
        GraphError: a dimension becomes negative.
    """
    dims = tuple(dimension(d, sizes) for d in shape)
    if any(isinstance(d, int) and d < 0 for d in dims):
        raise GraphError(f"input {name!r} would have the shape {dims} for {dict(sizes)}")
    return dims
