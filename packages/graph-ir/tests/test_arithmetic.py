"""Operators on values look up what an op set put there."""

from __future__ import annotations

import pytest
from toy_ops import add, given

from byparts_graph_ir import GraphError, arithmetic


def test_operators_resolve_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """An op set decides what + means."""
    monkeypatch.setitem(arithmetic, "add", add)
    x, y = given("x", 2), given("y", 2)
    node = (x + y).node

    assert node is not None and node.op is add and node.inputs == (x, y)


def test_without_an_op_set_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names what to import."""
    monkeypatch.delitem(arithmetic, "matmul", raising=False)
    with pytest.raises(GraphError, match="values have no 'matmul' yet: import byparts_opset"):
        given("x", 2) @ given("y", 2)


def test_a_value_in_an_if_says_what_to_write() -> None:
    """Building computes nothing, so there is no truth to ask for."""
    with pytest.raises(
        GraphError, match=r"type f32\[2\] has no truth .* select\(condition, x, y\)"
    ):
        bool(given("x", 2))


def test_a_value_is_no_array() -> None:
    """NumPy asks by this name; without an answer it makes an array of one object."""
    with pytest.raises(GraphError, match=r"type f32\[2\] has no numbers until the program runs"):
        given("x", 2).__array__()
