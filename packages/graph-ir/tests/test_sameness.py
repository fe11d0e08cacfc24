"""`x == y` of values: a truth for dictionaries and `if`, an error where a number is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from toy_ops import given

from byparts_graph_ir import ArgumentError

X, Y = given("x", 2), given("y", 2)


def test_values_are_found_by_identity() -> None:
    """In lists, sets, dictionaries, tuples."""
    assert X == X
    assert X != Y
    assert Y in [X, Y]
    assert {X: 1, Y: 2}[Y] == 2
    assert (X, Y) != (Y, X)
    assert [X, Y].index(Y) == 1
    assert str([X == Y, X != Y]) == "[False, True]"


@pytest.mark.parametrize(
    "use",
    [
        lambda same: same * 1.0,
        lambda same: 1 - same,
        lambda same: same & same,
        lambda same: ~same,
        float,
        lambda same: sum([same, same]),
        lambda same: [1, 2][same],
    ],
)
def test_identity_is_no_number(use: Callable[[Any], Any]) -> None:
    """`(x != pad) * 1.0` is a mask elsewhere, and was 1.0 here."""
    with pytest.raises(
        ArgumentError, match=r"^x == y compares identity .*; write ops\.equal\(x, y"
    ):
        use(X == Y)
    with pytest.raises(ArgumentError, match=r"^x != y compares .*; write ops\.not_equal\(x, y\)$"):
        use(X != Y)
