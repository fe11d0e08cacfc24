"""Attributes that are read are of the types that fields are annotated with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, Optional, Union

import pytest
from toy_ops import f32, given, small

from byparts_graph_ir import Dimension, Graph, Op, TensorType, Types
from byparts_graph_ir.model.field_types import misfit

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]  # only type checkers know it

Pair = tuple[int, int]
Count = NewType("Count", int)


class Everything(Op):
    switch: bool
    count: int
    factor: float
    note: str
    data: bytes
    nothing: None
    axes: Optional[tuple[int, ...]]
    pair: Pair
    padding: Union[str, tuple[Pair, Pair]]
    shape: tuple[Dimension, ...] | None
    layout: Literal["NCHW", 4]
    kind: TensorType
    body: Graph
    named: Count
    remark: Annotated[int, "of something"]
    any: Any
    row: tuple  # type: ignore[type-arg]  # of anything
    unknown: Unknown

    def infer(self, x: TensorType) -> Types:
        return (x,)


class Lazy(Op):
    axes: tuple[int, ...] = ()
    keepdims: bool = False


class Derived(Lazy):
    keepdims: int = 0  # type: ignore[assignment]  # another type than its base says


BODY = Graph.of((x := given("x", 2),), (x,))
RIGHT: dict[str, list[object]] = {
    "switch": [True], "count": [-1], "factor": [0.5, 1, 1 << 1000], "note": ["", "\ud800"],
    "data": [b""], "nothing": [None], "axes": [None, (), (1,), (1, 2, 3)], "pair": [(1, 2)],
    "padding": ["SAME", ((1, 2), (3, 4))], "shape": [None, (), (1, "n", None)],
    "layout": ["NCHW", 4], "kind": [f32(2)], "body": [small()], "named": [1], "remark": [1],
    "any": [1, None], "row": [(), (1, "a")], "unknown": [1, "a", None],
}  # fmt: skip
WRONG: dict[str, list[object]] = {
    "switch": [1, 0, None, "true"], "count": [True, 1.0, "1"], "factor": [True, "nan", 1 << 2000],
    "note": [b"", None], "data": [""], "nothing": [0, False], "axes": [1, (1.0,), (True,), [1]],
    "pair": [(1,), (1, 2, 3), (1, None), "ab"], "padding": [((1, 2),), (1, 2), None],
    "shape": [(1.5,), (True,)], "layout": ["NHWC", 4.0, True], "kind": ["f32[2]"], "body": [None],
    "named": ["1"], "remark": [None], "row": [1],
}  # fmt: skip


@pytest.mark.parametrize("field", RIGHT)
def test_what_the_annotation_says_passes(field: str) -> None:
    assert [misfit(Everything, {field: value}) for value in RIGHT[field]] == [None] * len(
        RIGHT[field]
    )


@pytest.mark.parametrize("field", WRONG)
def test_anything_else_does_not(field: str) -> None:
    """A bool is no int, a number no text, a list no tuple."""
    for value in WRONG[field]:
        found = misfit(Everything, {field: value})
        assert found is not None, value
        assert found[0] == field


def test_the_type_is_named() -> None:
    """Aliases are written out."""
    assert misfit(Everything, {"padding": 1}) == (
        "padding",
        "str | tuple[tuple[int, int], tuple[int, int]]",
    )
    assert misfit(Everything, {"axes": 1}) == ("axes", "tuple[int, ...] | None")
    assert misfit(Everything, {"layout": 1}) == ("layout", "'NCHW' | 4")


def test_a_lazy_class_is_checked_like_another() -> None:
    """And a field that a subclass says again is the subclass's."""
    assert misfit(Lazy, {"axes": (1,), "keepdims": "nan"}) == ("keepdims", "bool")
    assert misfit(Derived, {"axes": (1,), "keepdims": 3}) is None
    assert misfit(Derived, {"axes": 1, "keepdims": 3}) == ("axes", "tuple[int, ...]")
