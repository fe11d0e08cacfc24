"""An input is of a type, and has a name; anything else is refused where it is made."""

from __future__ import annotations

from typing import Any

import pytest

from byparts_graph_ir import ArgumentError, Input, ShapeError, TensorType

F = TensorType("f32", (2,))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((F, None, 5), "name=5"),
        ((F, None, b"x"), "name=b'x'"),
        ((F, None, None), "name=None"),
        ((F, None, ("x",)), r"name=\('x',\)"),
        ((F, "x"), "node='x'"),
        ((F, 5), "node=5"),
        (("f32",), "type='f32'"),
        ((None,), "type=None"),
        (((2, 3),), r"type=\(2, 3\)"),
    ],
)
def test_an_argument_of_another_kind_is_refused(arguments: tuple[Any, ...], said: str) -> None:
    """With what was given, and how it is written."""
    with pytest.raises(ArgumentError, match=rf'Input: got .*{said}.*Input\(TensorType\("f32"'):
        Input(*arguments)


@pytest.mark.parametrize("kind", [5, None, "f23", object()])
def test_so_is_a_dtype(kind: Any) -> None:
    with pytest.raises(ShapeError, match="unknown dtype"):
        Input(TensorType(kind, (2,)))


@pytest.mark.parametrize("shape", ["ab", (2.5,), (-1,), (True,), ({},)])
def test_so_is_a_shape(shape: Any) -> None:
    with pytest.raises(ShapeError, match=r"shape|dimension"):
        Input(TensorType("f32", shape))
