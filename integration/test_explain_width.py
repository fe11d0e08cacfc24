"""What is printed about a program fits the terminal, and a wide one shows everything."""

from __future__ import annotations

import re

import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, GraphError, Input, TensorType
from byparts_runtime import Program, Variable, build

SHAPES = {
    "mlp": {"w1": (64, 32), "b1": (32,), "w2": (32, 10), "b2": (10,)},
    "cnn": {
        "filter1": (20, 1, 5, 5),
        "filter_bias1": (20, 1, 1),
        "filter2": (50, 20, 5, 5),
        "filter_bias2": (50, 1, 1),
        "weight1": (800, 500),
        "bias1": (500,),
        "weight2": (500, 10),
        "bias2": (10,),
    },
}


def given(name: str, *shape: int, dtype: str = "f32") -> Input:
    return Input(TensorType(dtype, shape), name=name)


def program(name: str) -> Program:
    """A step with Adam: its node reads four arrays for each weight and gives three."""
    labels = given("labels", 100, dtype="i64")
    weights = [given(n, *shape) for n, shape in SHAPES[name].items()]
    if name == "mlp":
        x = given("images", 100, 64)
        w1, b1, w2, b2 = weights
        y = ops.tanh(x @ w1 + b1)
    else:
        x = given("images", 100, 1, 28, 28)
        f1, c1, f2, c2, w1, b1, w2, b2 = weights
        y = ops.max_pool(ops.tanh(ops.conv2d(x, f1) + c1), (2, 2), (2, 2))
        y = ops.max_pool(ops.tanh(ops.conv2d(y, f2) + c2), (2, 2), (2, 2))
        y = ops.tanh(ops.reshape(y, (100, 800)) @ w1 + b1)
    loss = ops.mean(ops.sparse_softmax_cross_entropy(y @ w2 + b2, labels))
    means = [given(f"mean_{w.name}", *w.type.dims) for w in weights]
    squares = [given(f"square_{w.name}", *w.type.dims) for w in weights]
    count = given("count")
    new = ops.adam(weights, means, squares, gradients(loss, weights), 1e-3, count + 1.0)
    state = [*weights, *means, *squares, count]
    news = [v for part in new for v in part]
    step = Graph.of([x, labels, *state], [loss, *news, count + 1.0])
    variables = [Variable(v.name, v.type) for v in state]
    return build(step, variables=variables, updates=variables)


@pytest.fixture(scope="module", params=list(SHAPES))
def built(request: pytest.FixtureRequest) -> Program:
    return program(request.param)


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_explain_stays_within_its_width(built: Program, width: int) -> None:
    lines = built.explain(width=width).splitlines()

    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [80, 100, 200])
def test_columns_stay_aligned(built: Program, width: int) -> None:
    """Each column begins where its head does, and a single type is whole from 80 letters on."""
    head, *rows = built.explain(width=width).split("\n\n")[1].splitlines()
    rows = [row for row in rows if not row.startswith("no room for")]
    outputs = head.index("outputs")

    assert all(row[outputs] == "%" and row[outputs - 1] == " " for row in rows)
    assert not [row for row in rows if re.search(r"f32\[[\d,]*…(?! … )", row)]
    assert len(rows) == len(built.graph.nodes)


def test_long_lists_say_how_long_they_are() -> None:
    """Adam of eight weights: 34 inputs, 24 outputs."""
    made = program("cnn")
    (row,) = [line for line in made.explain(width=100).splitlines() if "  adam  " in line]

    assert "(34)" in row and "(24)" in row


def test_a_wide_table_has_everything(built: Program) -> None:
    """Each name that a step reads, and each type that it makes; nothing is cut."""
    text = built.explain(width=100_000)

    assert "…" not in text and "no room for" not in text
    for value in built.graph.values:
        assert value.node is None or f": {value.type}" in text


def test_the_width_is_the_terminals(monkeypatch: pytest.MonkeyPatch, built: Program) -> None:
    """As `COLUMNS` says, which terminals set; and of the plan's report too."""
    monkeypatch.setenv("COLUMNS", "80")

    assert built.explain() == built.explain(width=80)
    assert max(map(len, built.plan.report().splitlines())) <= 80  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [0, 39, "80", 80.0, True])
def test_a_width_that_is_none_is_refused(built: Program, width: object) -> None:
    with pytest.raises(
        GraphError, match=r"explain: width is .*; give a number of letters, from 40"
    ):
        built.explain(width=width)  # type: ignore[arg-type]
