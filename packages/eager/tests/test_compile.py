"""Compiled functions: structure, sizes, cells, what they depend on, and errors."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_eager import apply as applying
from byparts_eager.trace import Traced
from byparts_graph_ir import GraphError, producers

NUMPY: Any = {"backends": ("numpy",)}
total: Any = ops.sum  # gives an array for an array
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_a_program_serves_each_size() -> None:
    """The first call is compiled for its size, the second for all sizes."""
    f = bp.compile(lambda x, b: ops.tanh(x) * 2.0 + b, **NUMPY)
    b = np.ones(4, np.float32)
    for rows in (3, 2, 7, 1, 0, 5):
        x = np.ones((rows, 4), np.float32)
        np.testing.assert_array_equal(f(x, b).numpy(), np.tanh(x) * 2 + b)

    assert len(f.programs) == 2
    assert [str(t) for t in f.programs[1].feed_types] == ["f32[n,4]", "f32[4]"]


def test_sizes_may_be_added_and_multiplied() -> None:
    f = bp.compile(lambda x: ops.reshape(x, (x.shape[0] * x.shape[1],)), **NUMPY)

    assert [f(np.ones((n, 4), np.float32)).shape for n in (3, 2, 5)] == [(12,), (8,), (20,)]
    assert len(f.programs) == 2


def test_a_function_that_asks_for_a_size_is_compiled_for_each() -> None:
    def mean(x: Any) -> Any:
        return ops.sum(x) / float(x.shape[0]) if x.shape[0] > 2 else ops.sum(x)

    f = bp.compile(mean, **NUMPY)

    assert [float(f(np.ones((n, 2), np.float32))) for n in (4, 3, 2, 1)] == [2, 2, 4, 2]
    assert len(f.programs) == 4


def test_two_sizes_that_were_equal_may_differ_later() -> None:
    f = bp.compile(lambda x, y: total(x) + total(y), **NUMPY)
    ones = [np.ones(n, np.float32) for n in range(6)]

    assert [float(f(ones[i], ones[j])) for i, j in ((3, 3), (4, 4), (2, 5))] == [6, 8, 7]


def test_many_programs_are_warned_of() -> None:
    f = bp.compile(lambda x, k: x * k, **NUMPY)
    for k in range(7):
        f(X, float(k))

    with pytest.warns(RuntimeWarning, match="compiled 8 times, for other sizes or numbers"):
        f(X, 8.0)


def test_cells_are_variables_and_updates() -> None:
    count, total = bp.Cell(0), bp.Cell(np.zeros(4, np.float32))

    @bp.compile(backends=("numpy",))
    def step(x: Any) -> Any:
        count.value = count.value + 1
        total.value = total.value + ops.sum(x, 0)
        return total.value / ops.cast(count.value, "f32")

    means = [step(X).numpy().tolist() for _ in range(3)]

    assert means == [X.sum(0).tolist()] * 3
    assert (int(count.value), total.value.numpy().tolist()) == (3, (3 * X.sum(0)).tolist())
    total.value = np.zeros(4, np.float32)
    assert step(X).numpy().tolist() == (X.sum(0) / 4).tolist()


def test_a_failed_call_leaves_cells_as_they_were() -> None:
    cell = bp.Cell(np.float32(1))

    @bp.compile(backends=("numpy",))
    def step(x: Any) -> Any:
        cell.value = cell.value + 1.0
        return ops.sum(x) @ x

    with pytest.raises(GraphError, match="matmul"):
        step(X)
    assert float(cell.value) == 1


def test_arrays_from_outside_are_constants_of_the_call() -> None:
    y = bp.asarray([1.0, 2.0, 3.0, 4.0])
    f = bp.compile(lambda x: x * y, **NUMPY)

    assert f(X).numpy().tolist() == (X * y.numpy()).tolist()


def test_structures_go_in_and_come_out() -> None:
    f = bp.compile(lambda t, scale=1.0: {"y": [t["x"] * scale, None], "n": 3}, **NUMPY)

    result: Any = f({"x": X}, scale=2.0)
    assert (result["n"], result["y"][1]) == (3, None)
    assert result["y"][0].numpy().tolist() == (X * 2).tolist()


class Thing:
    """Something with a plain field that decides what is computed."""

    def __init__(self) -> None:
        self.factor = 2.0

    def fingerprint(self) -> object:
        return self.factor

    def __call__(self, x: Any) -> Any:
        bp.depends_on(self)
        return x * self.factor


def test_a_changed_field_compiles_anew() -> None:
    thing = Thing()
    f = bp.compile(lambda x: thing(x), **NUMPY)
    assert f(X).numpy().tolist() == (X * 2).tolist()
    thing.factor = 5.0
    bp.changed()

    assert f(X).numpy().tolist() == (X * 5).tolist()
    bp.changed()
    f(X)
    assert len(f.programs) == 2


def test_the_training_mode_is_part_of_the_key() -> None:
    f = bp.compile(lambda x: x * 2.0 if bp.training() else x, **NUMPY)

    assert float(f(bp.asarray(1.0))) == 1
    with bp.training_mode(True):
        assert float(f(bp.asarray(1.0))) == 2


def test_freezing_a_cell_compiles_anew() -> None:
    class Model:
        w = bp.Cell(np.float32(2), trainable=True, name="w")
        b = bp.Cell(np.float32(1), trainable=True, name="b")

        def cells(self) -> dict[str, bp.Cell]:
            return {"w": self.w, "b": self.b}

        def fingerprint(self) -> object:
            return tuple(c.trainable for c in self.cells().values())

        def __call__(self, x: Any) -> Any:
            bp.depends_on(self)
            return self.w.value * x + self.b.value

    model = Model()

    @bp.compile(backends=("numpy",))
    def step(x: Any) -> None:
        for cell, d in bp.value_and_grad(lambda m: m(x))(model)[1].items():
            cell.value = cell.value - d

    step(bp.asarray(3.0))
    model.w.trainable = False
    step(bp.asarray(3.0))

    assert (float(model.w.value), float(model.b.value)) == (-1, -1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x if ops.sum(x) > 0.0 else -x, r"the truth of a traced value of type bool\[\]"),
        (lambda x: [None] * int(total(x)), r"the integer of a traced value of type f32\[\]"),
        (lambda x: np.asarray(x), r"the NumPy array of a traced value of type f32\[3,4\]"),
    ],
)
def test_numbers_of_traced_values_are_refused(function: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message + r".*test_compile\.py.*cond, while_loop"):
        bp.compile(function, **NUMPY)(X)


def test_a_value_that_outlives_its_function_is_refused() -> None:
    kept: list[Any] = []
    bp.compile(lambda x: kept.append(x * 2.0), **NUMPY)(X)

    with pytest.raises(GraphError, match="belongs to a graph or to a traced function"):
        kept[0] + bp.asarray(X)
    with pytest.raises(GraphError, match="belongs to another traced function, whose tracing"):
        bp.compile(lambda x: x + kept[0], **NUMPY)(X)


def test_a_cell_keeps_its_type() -> None:
    cell = bp.Cell(np.zeros(3, np.float32), name="mean")

    with pytest.raises(GraphError, match=r"cell 'mean' is f32\[3\], and cannot become f32\[2\]"):
        cell.value = [1.0, 2.0]


def test_threads_share_a_compiled_function() -> None:
    f = bp.compile(lambda x: total(ops.tanh(x) @ x), **NUMPY)
    results: list[float] = []
    x = np.eye(4, dtype=np.float32)
    threads = [threading.Thread(target=lambda: results.append(float(f(x)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(results)) == 1
    assert len(f.programs) == 1


def test_open_cells_get_their_shapes_from_use() -> None:
    from byparts_graph_ir import TensorType

    w = bp.Cell(TensorType("f32", (None, 2)), initializer=np.ones, name="w")
    with warnings.catch_warnings(), pytest.raises(GraphError, match=r"nothing has told its shape"):
        _ = w.value
    assert (
        bp.compile(lambda x: x @ w.value, **NUMPY)(X).numpy().tolist()
        == (X @ np.ones((4, 2))).tolist()
    )
    assert str(w.type) == "f32[4,2]"

    v = bp.Cell(TensorType("f32", (None, 5)), initializer=np.ones)
    bp.shapes_from_call(lambda x: x @ v.value, (TensorType("f32", (3, 4)),))
    assert str(v.type) == "f32[4,5]"


def test_tracing_does_not_walk_what_was_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """An op on traced values asks for none of their producers: a long trace takes linear time."""
    walked: list[Any] = []

    def walk(values: Any) -> Any:
        walked.extend(values)
        return producers(values)

    monkeypatch.setattr(applying, "producers", walk)

    def step(x: Any) -> Any:
        return bp.grad(lambda x: total(ops.tanh(ops.tanh(x) * x)))(x)

    bp.compile(step, **NUMPY)(X)
    assert walked and not any(isinstance(v, Traced) for v in walked)
