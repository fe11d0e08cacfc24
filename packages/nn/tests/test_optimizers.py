"""Optimizers: what they update, by which rate, and that their state is cells."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import numbers

import byparts_eager as bp
import byparts_nn as nn
import byparts_opset as ops
from byparts_graph_ir import GraphError
from byparts_nn import schedules
from byparts_nn.optimizers.muon import orthogonal
from byparts_nn.optimizers.rows import rows_of

X = bp.asarray(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
KINDS: dict[str, Callable[[], nn.Optimizer]] = {
    "SGD": lambda: nn.SGD(0.1),
    "momentum": lambda: nn.SGD(0.1, momentum=0.9),
    "Adam": nn.Adam,
    "AdamW": nn.AdamW,
    "RMSProp": lambda: nn.RMSProp(momentum=0.5),
    "Adagrad": nn.Adagrad,
    "Lion": lambda: nn.Lion(weight_decay=0.1),
    "Muon": nn.Muon,
}


def model_of(seed: int = 0) -> Any:
    nn.seed(seed)
    return nn.Sequential(nn.Linear(3, 4), ops.tanh, nn.Linear(4, 2))


def step_of(model: Any, optimizer: nn.Optimizer) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        loss, gradients = bp.value_and_grad(lambda m: ops.mean(ops.square(m(x))))(model)
        optimizer.update(gradients)
        return loss

    return step


@pytest.mark.parametrize("name", KINDS)
def test_a_compiled_step_is_the_eager_one(name: str) -> None:
    """Weights and state after three steps; the loss gets less."""
    eager, compiled = (model_of(), KINDS[name]()), (model_of(), KINDS[name]())
    losses = [float(step_of(*eager)(X)) for _ in range(3)]
    step = bp.compile(step_of(*compiled))
    assert [float(step(X)) for _ in range(3)] == pytest.approx(losses, rel=1e-5)

    assert losses[-1] < losses[0]
    for a, b in zip(eager, compiled, strict=True):
        for path, cell in a.cells().items():
            np.testing.assert_allclose(cell.value, b.cells()[path].value, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", KINDS)
def test_state_can_be_made_before_a_step_and_moved(name: str) -> None:
    """A new optimizer that has the cells of another one goes on as that."""
    model, optimizer = model_of(), KINDS[name]()
    step_of(model, optimizer)(X)
    other, follower = model_of(), KINDS[name]()
    other.cells()
    follower.follow(other)
    for new, old in ((other, model), (follower, optimizer)):
        for path, cell in new.cells().items():
            cell.value = old.cells()[path].value

    assert float(step_of(other, follower)(X)) == float(step_of(model, optimizer)(X))
    assert list(follower.cells()) == list(optimizer.cells())


@pytest.mark.parametrize("name", KINDS)
def test_half_types_are_updated_in_f32(name: str) -> None:
    """Slots are f32, squares of small gradients do not vanish: the step is that of f32, rounded."""
    layers = [nn.Linear(3, 2, dtype=dtype) for dtype in ("f16", "f32")]
    layers[1].weight, layers[1].bias = (
        ops.cast(v, "f32") for v in (layers[0].weight, layers[0].bias)
    )
    for layer in layers:
        optimizer = KINDS[name]()
        dtype = layer.weight.dtype
        optimizer.update(
            {c: bp.asarray(1e-5 * X[:3, :2], dtype=dtype) for c in [layer.cell("weight")]}
        )
        assert {c.type.dtype for n, c in optimizer.cells().items() if "weight" in n} <= {"f32"}

    np.testing.assert_allclose(layers[0].weight, layers[1].weight, atol=1e-3)


def test_a_pickled_pair_goes_on() -> None:
    """Slots stay with their weights."""
    pair = model_of(), nn.AdamW(schedules.cosine(0.1, 10), groups=[nn.Group("bias", rate=0.5)])
    step_of(*pair)(X)
    model, optimizer = pickle.loads(pickle.dumps(pair))

    assert float(step_of(model, optimizer)(X)) == float(step_of(*pair)(X))
    np.testing.assert_array_equal(model.layers[0].weight, pair[0].layers[0].weight)


def test_the_rate_is_a_cell() -> None:
    """A new one is taken at once, and nothing is compiled anew."""
    model, optimizer = model_of(), nn.SGD(0.1)
    step = bp.compile(step_of(model, optimizer))
    step(X)
    before, optimizer.rate = model.layers[0].weight.numpy().copy(), 0.0
    step(X)

    np.testing.assert_array_equal(model.layers[0].weight, before)
    assert len(step.programs) == 1


def test_a_momentum_is_part_of_the_program() -> None:
    """Changed, it is compiled anew."""
    model, optimizer = model_of(), nn.SGD(0.1, momentum=0.9)
    step = bp.compile(step_of(model, optimizer))
    step(X)
    optimizer.momentum = 0.5
    step(X)

    assert len(step.programs) == 2


def test_a_schedule_is_computed_in_the_step() -> None:
    """Compiled once; the rate can be read."""
    optimizer = nn.SGD(schedules.warmup(2, schedules.polynomial(0.4, 4)))
    step = bp.compile(step_of(model_of(), optimizer))
    rates = []
    for _ in range(6):
        step(X)
        rates.append(float(optimizer.rate))

    assert rates == pytest.approx([0.2, 0.4, 0.4, 0.3, 0.2, 0.1])
    assert len(step.programs) == 1


def test_groups_have_their_own_rate_and_decay() -> None:
    """By a regular expression or a function; the first that fits; frozen weights stay."""
    model = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.Linear(3, 3))
    model.freeze(r"layers\.2\.weight")
    groups = [nn.Group("bias$", rate=0.0), nn.Group(lambda _, cell: cell.type.rank == 1, 2.0, 0.0)]
    optimizer = nn.SGD(0.5, weight_decay=0.2, groups=groups)
    before = {path: c.value.numpy() for path, c in model.parameters().items()}
    _, ds = bp.value_and_grad(lambda m: ops.mean(ops.square(m(X))))(model)
    optimizer.update(ds)
    moved = {p: c.value.numpy() - before[p] for p, c in model.parameters().items()}
    of = {c.name: d.numpy() for c, d in ds.items()}

    assert not moved["layers.0.bias"].any()
    assert not moved["layers.2.weight"].any()
    np.testing.assert_allclose(moved["layers.1.weight"], -of["layers.1.weight"], rtol=1e-4)
    decayed = of["layers.0.weight"] + 0.2 * before["layers.0.weight"]
    np.testing.assert_allclose(moved["layers.0.weight"], -0.5 * decayed, rtol=1e-4, atol=1e-7)


def test_lion_is_its_equations() -> None:
    """By NumPy, ten steps."""
    weight = nn.Linear(3, 2, bias=False, dtype="f64")
    w, m, optimizer = weight.weight.numpy().copy(), np.zeros((3, 2)), nn.Lion(0.5, weight_decay=0.1)
    for k in range(10):
        d = numbers(3, 2, seed=k)
        optimizer.update({weight.cell("weight"): d})
        w = w * (1 - 0.5 * 0.1) - 0.5 * np.sign(0.9 * m + 0.1 * d.numpy())
        m = 0.99 * m + 0.01 * d.numpy()

    np.testing.assert_allclose(weight.weight, w, rtol=1e-9)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5)])
def test_muon_makes_a_step_of_equal_length_in_all_directions(shape: tuple[int, int]) -> None:
    """Singular values between 0.68 and 1.14, as its polynomial has them, and the same vectors."""
    x = numbers(*shape)
    u, values, v = np.linalg.svd(np.asarray(orthogonal(x)), full_matrices=False)
    a, _, b = np.linalg.svd(x.numpy(), full_matrices=False)

    assert values.min() > 0.6
    assert values.max() < 1.2
    np.testing.assert_allclose((u @ v).ravel() @ (a @ b).ravel(), min(shape), rtol=1e-6)


def test_muon_leaves_tables_and_vectors_to_another() -> None:
    """These have the slots of Adam."""
    model = nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 2))
    model.table = model.layers[0]
    model.layers.pop(0)
    optimizer = nn.Muon()
    optimizer.follow(model.parameters().values())

    names = [n for n in optimizer.cells() if n.startswith(("velocity", "otherwise.mean"))]
    assert names == [
        "velocity.layers.0.weight",
        "otherwise.mean.layers.0.bias",
        "otherwise.mean.table.weight",
    ]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_row_is_updated_once_however_often_it_is_asked_for(compiled: bool) -> None:
    """Its gradient is the sum; rows that were not asked for stay, bit for bit."""
    table, optimizer = nn.Embedding(6, 2), nn.SGD(0.1)
    before = table.weight.numpy().copy()

    def step(words: Any) -> Any:
        loss, gradients = bp.value_and_grad(lambda t: ops.sum(t(words)))(table)
        optimizer.update(gradients)
        return loss

    run = bp.compile(step) if compiled else step
    run(bp.asarray(np.array([1, 4, 4, 4])))

    moved = before - table.weight.numpy()
    np.testing.assert_allclose(moved[[1, 4]], [[0.1, 0.1], [0.3, 0.3]], rtol=1e-5)
    np.testing.assert_array_equal(table.weight.numpy()[[0, 2, 3, 5]], before[[0, 2, 3, 5]])


def step_in_rows(lookups: int, scale: float | None = None, words: int = 3) -> list[Any]:
    """Shapes of what `rows_of` finds in the gradient of a table within a compiled step."""
    table, found = nn.Embedding(50, 2), list[Any]()

    def step(words: Any) -> Any:
        loss, ds = bp.value_and_grad(lambda t: sum(ops.sum(t(words)) for _ in range(lookups)))(
            table
        )
        ds = ds if scale is None else nn.clip_by_norm(ds, scale)[0]
        found.extend([d.type.dims for _, d in rows_of(ds[table.cell("weight")]) or ()])
        nn.SGD(0.5).update(ds)
        return loss

    before = table.weight.numpy().copy()
    bp.compile(step)(bp.asarray(np.array([([1, 4, 4] * 20)[:words]])))
    moved = before - table.weight.numpy()
    times = lookups * words / 3
    length = np.sqrt(2 * times**2 * 5)  # of the gradient: of 1 in one row, of 2 in the other
    each = 0.5 * times * (1 if scale is None else scale / length)
    np.testing.assert_allclose(moved[[1, 4]], [[each] * 2, [2 * each] * 2], rtol=1e-4)
    assert not np.delete(moved, [1, 4], 0).any()
    return found


def test_a_compiled_step_takes_rows_and_no_table() -> None:
    """Three rows of 50; of two lookups, and clipped, too; not where it asks for 60 of 50 rows."""
    assert step_in_rows(1) == [(3, 2)]
    assert step_in_rows(2) == [(3, 2), (3, 2)]
    assert step_in_rows(1, scale=0.1) == [(3, 2)]
    assert step_in_rows(1, words=60) == []


def test_a_native_step_writes_the_rows_in_place() -> None:
    """The program has no tensor of its own that is as large as the table."""
    pytest.importorskip("byparts_kernels_native", reason="kernels-native is not installed")
    table, optimizer = nn.Embedding(5000, 4), nn.SGD(0.1)

    @bp.compile(backends=("native", "numpy"))
    def step(words: Any) -> Any:
        loss, gradients = bp.value_and_grad(lambda t: ops.sum(t(words)))(table)
        optimizer.update(gradients)
        return loss

    before = table.weight.numpy().copy()
    step(bp.asarray(np.array([7, 9, 7])))
    moved = np.flatnonzero((table.weight.numpy() != before).any(1))

    assert moved.tolist() == [7, 9]
    assert step.programs[0].plan.arena_bytes < 5000


def test_a_table_that_is_multiplied_has_no_rows() -> None:
    """As where the output layer of a language model is its table."""
    table = nn.Embedding(5, 2)

    def rows(words: Any) -> Any:
        _, ds = bp.value_and_grad(lambda t: ops.sum(t(words) @ ops.transpose(t.weight)))(table)
        assert rows_of(ds[table.cell("weight")]) is None
        return words

    bp.compile(rows)(bp.asarray(np.array([1, 4])))


def test_clipping() -> None:
    """By the length of all together, and element by element; shorter ones stay."""
    model = model_of()
    _, ds = bp.value_and_grad(lambda m: ops.sum(m(X)))(model)
    length = np.sqrt(sum((d.numpy() ** 2).sum() for d in ds.values()))
    short, before = nn.clip_by_norm(ds, 0.5)
    same, _ = nn.clip_by_norm(ds, 1e6)

    assert float(before) == pytest.approx(length, rel=1e-6)
    assert float(nn.norm_of(short)) == pytest.approx(0.5, rel=1e-4)
    assert all((same[c].numpy() == d.numpy()).all() for c, d in ds.items())
    assert max(np.abs(d.numpy()).max() for d in nn.clip_by_value(ds, 0.1).values()) <= 0.1
    with pytest.raises(GraphError, match="the limit is 0"):
        nn.clip_by_value(ds, 0.0)
    with pytest.raises(GraphError, match="no gradients; is every parameter frozen"):
        nn.clip_by_norm({}, 1.0)


def test_gradients_of_parts_add_up_to_that_of_the_batch() -> None:
    """Also compiled, as two functions that take turns."""
    model, optimizer, kept = model_of(), nn.SGD(0.1), nn.Accumulator()
    other, whole = model_of(), nn.SGD(0.1)
    batch = bp.asarray(np.random.default_rng(1).standard_normal((6, 3)).astype(np.float32))
    gradients = bp.grad(lambda m, x: ops.mean(ops.square(m(x))))
    add = bp.compile(lambda x: kept.add(gradients(model, x)))
    update = bp.compile(lambda: optimizer.update(kept.take()))
    for _ in range(2):
        for part in (batch[:2], batch[2:4], batch[4:]):
            add(part)
        update()
        whole.update(gradients(other, batch))

    np.testing.assert_allclose(model.layers[0].weight, other.layers[0].weight, rtol=1e-5)
    assert int(kept.count) == 0
    with pytest.raises(GraphError, match="nothing was added"):
        nn.Accumulator().take()


def test_an_average_begins_at_the_weights() -> None:
    """Then follows them; `swapped` lends it to the model."""
    model = nn.Linear(1, 1, bias=False)
    average = nn.Average(model, decay=0.75)
    update = bp.compile(average.update)
    for w in (1.0, 2.0, 6.0, 6.0, 6.0):
        model.weight = [[w]]
        update()
    wanted = 1.0
    for k, w in enumerate((2.0, 6.0, 6.0, 6.0)):
        wanted += (w - wanted) * max(0.25, 1 / (k + 2))

    with average.swapped():
        assert float(model.weight) == pytest.approx(wanted, rel=1e-6)
    assert float(model.weight) == 6.0
    assert list(average.cells()) == ["count", "mean.weight"]
