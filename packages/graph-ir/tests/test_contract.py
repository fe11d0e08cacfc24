"""Arguments are checked against annotations, and become plain Python where numbers are meant."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import pytest
from toy_ops import given

import byparts_graph_ir
from byparts_graph_ir import ArgumentError, Graph, Value
from byparts_graph_ir.contract import checked

Axes = Union[int, Iterable[int], None]


@checked
def taken(
    x: Value,
    axes: Axes = None,
    rate: float = 0.0,
    *,
    keepdims: bool = False,
    dtype: str = "f32",
    names: Optional[Sequence[str]] = None,
    rule: Callable[[], int] | None = None,
    table: Mapping[str, int] = {},
    unknown: Undefined = None,  # type: ignore[name-defined]  # noqa: F821
) -> tuple[Any, ...]:
    """What it was given."""
    return (axes, rate, keepdims, dtype, names)


class Number:
    """As NumPy's scalars are."""

    shape = ()

    def __init__(self, value: float) -> None:
        self.value = value

    def __index__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)


class Numbers:
    """As NumPy's arrays are."""

    shape = (2,)

    def __iter__(self) -> Any:
        return iter((Number(1), Number(2)))

    def tolist(self) -> list[int]:
        return [1, 2]


X: Any = given("x", 2)


def test_numbers_and_arrays_become_plain_python() -> None:
    found = taken(X, Number(1), rate=Number(0.5))  # type: ignore[arg-type]

    assert found == (1, 0.5, False, "f32", None)
    assert (type(found[0]), type(found[1])) == (int, float)
    assert taken(X, (Number(1), -2))[0] == (1, -2)  # type: ignore[arg-type]
    assert taken(X, Numbers())[0] == [1, 2]
    assert taken(X, (i for i in range(3)))[0] == (0, 1, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": None}, "taken: x is None; it takes Value"),
        ({"x": 3.0}, r"taken: x is float 3\.0; it takes Value"),
        ({"axes": "01"}, "taken: axes is str '01'; it takes Axes"),
        ({"axes": True}, "taken: axes is bool True; it takes Axes"),
        ({"axes": [0.5]}, r"taken: axes is list \[0\.5\]; it takes Axes"),
        ({"axes": X}, "taken: axes is Input"),
        ({"rate": "fast"}, "taken: rate is str 'fast'; it takes float"),
        ({"keepdims": "nan"}, "taken: keepdims is str 'nan'; it takes bool"),
        ({"keepdims": 1}, "taken: keepdims is int 1; it takes bool"),
        ({"dtype": float}, "dtype float says no size"),
        ({"names": "abc"}, "taken: names is str 'abc'"),
        ({"names": [1]}, r"taken: names is list \[1\]"),
        ({"rule": 1}, "taken: rule is int 1"),
        ({"table": {"a": "b"}}, "taken: table is dict"),
    ],
)
def test_what_is_of_another_kind_is_refused(options: dict[str, Any], message: str) -> None:
    """By a sentence with the function, the argument, its value and what it takes."""
    with pytest.raises((ArgumentError, byparts_graph_ir.ShapeError), match=message):
        taken(**{"x": X, **options})


@checked
def summed(x: Value, axis: Axes = None, keepdims: bool = False) -> tuple[Any, ...]:
    """What it was given."""
    return (axis, keepdims)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 1}, "summed has no argument 'dim': write axis=1$"),
        ({"keepdim": True}, "summed has no argument 'keepdim': write keepdims=True$"),
        ({"kepdims": True}, "summed has no argument 'kepdims': write keepdims=True$"),
        ({"colour": 3}, "summed has no argument 'colour'; it takes x, axis, keepdims$"),
        ({"axis": 0, "axes": 1}, "summed: 'axes' is 'axis', which is given twice$"),
    ],
)
def test_the_names_of_others_are_told(options: dict[str, Any], message: str) -> None:
    """In one sentence that can be pasted; `axes`, as ops call their field, is taken."""
    with pytest.raises(ArgumentError, match=message):
        summed(X, **options)
    assert summed(X, axes=(0, 1), keepdims=True) == ((0, 1), True)  # type: ignore[call-arg]


def test_what_is_not_understood_is_taken() -> None:
    assert taken(X, unknown=object()) == (None, 0.0, False, "f32", None)


def test_the_functions_of_a_package_are_checked() -> None:
    """They are found where they are used from, and their names and texts are their own."""
    wrong: Any = None
    with pytest.raises(ArgumentError, match="verify: graph is None; it takes Graph"):
        byparts_graph_ir.verify(wrong)
    assert byparts_graph_ir.verify(Graph.of([X], [X])) == Graph.of([X], [X])
    assert byparts_graph_ir.verify.__name__ == "verify" and byparts_graph_ir.verify.__doc__
    assert pickle.loads(pickle.dumps(byparts_graph_ir.verify)) is byparts_graph_ir.verify
