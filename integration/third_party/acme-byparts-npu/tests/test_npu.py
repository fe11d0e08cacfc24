"""The NPU, seen by a user who installed it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from acme_byparts_npu.driver import NpuError
from acme_byparts_npu.ops import OPS, MulAdd
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_autodiff import check_gradient, gradients
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Graph, GraphError, Input, TensorType, Value, parse, specialize
from byparts_graph_ir.parts.hub import parts
from byparts_opset.evaluate import evaluate
from byparts_runtime import Program, Store, build

NETWORK = "dense 8 tanh\ndense 1"


def step(rate: float = 0.1) -> Graph:
    """(x, t, weights) -> (loss, new weights)."""
    network = specialize(
        parts.get("frontends", "acme-layers")(NETWORK, 4), [TensorType("f32", (16, 4))] + [None] * 4
    )
    x, *weights = network.inputs
    t = Input(TensorType("f32", (16, 1)), None, "t")
    loss = ops.mean(ops.square(network.outputs[0] - t))
    new = [w + dw * -rate for w, dw in zip(weights, gradients(loss, weights), strict=True)]
    return Graph.of([x, t, *weights], [loss, *new])


def data() -> tuple[Any, Any]:
    x = np.random.default_rng(0).standard_normal((16, 4)).astype("float32")
    return x, x[:, :1] * x[:, 1:2]


def trainer(backend: str, **options: Any) -> tuple[Program, Store]:
    graph, rng = step(), np.random.default_rng(1)
    store = Store(parts.backend(backend).space)
    for v in graph.inputs[2:]:
        store.create(v.name, rng.standard_normal(v.type.dims).astype("float32"))  # type: ignore[attr-defined]
    variables = tuple(store)
    program = build(graph, backends=(backend,), variables=variables, updates=variables, **options)
    return program, store


def test_the_part_fills_every_socket() -> None:
    (part,) = [p for p in parts.all() if p.name == "acme-npu"]

    assert (part.state, part.distribution, part.version) == ("ok", "acme-byparts-npu", "1.2.0")
    assert set(part.provides) == {"ops", "passes", "planners", "backends", "frontends"}


def test_auto_takes_the_device() -> None:
    assert parts.backend().name == "npu"


@pytest.mark.parametrize("commit", ["auto", "copy"])
@pytest.mark.parametrize("planner", ["shelves", "greedy", None])
def test_training_on_the_npu_is_training_on_numpy(commit: str, planner: str | None) -> None:
    npu, there = trainer("npu", commit=commit, planner=planner)
    numpy, here = trainer("numpy")
    losses = [(float(npu(*data())[0]), float(numpy(*data())[0])) for _ in range(20)]

    assert losses[-1][0] < losses[0][0] / 3
    there_losses, here_losses = np.transpose(losses)
    np.testing.assert_allclose(there_losses, here_losses, rtol=1e-4)
    for ours, theirs in zip(there, here, strict=True):
        np.testing.assert_allclose(ours.read(), theirs.read(), rtol=1e-4, atol=1e-5)


def test_the_backends_own_pass_makes_its_op() -> None:
    program, _ = trainer("npu")

    names = [n.op.name for n in program.graph.nodes]
    assert names.count("mul_add") == 4 and "\njoin-mul-add: " in program.explain()


def test_the_pass_works_on_any_backend() -> None:
    """By name; where nobody has a kernel for `mul_add` it is taken apart again."""
    ours, _ = trainer("numpy", passes=("join-mul-add",))
    theirs, _ = trainer("numpy")

    np.testing.assert_allclose(ours(*data())[0], theirs(*data())[0], rtol=1e-6)


def test_a_saved_store_comes_back(tmp_path: Any) -> None:
    """From the memory of the device, and into it."""
    program, store = trainer("npu")
    program(*data())
    store.save(tmp_path / "weights.npz")
    after = [v.read() for v in store]
    program(*data())

    store.load(tmp_path / "weights.npz")

    assert all(np.array_equal(v.read(), a) for v, a in zip(store, after, strict=True))


def test_its_memory_is_no_memory_of_the_host() -> None:
    """Whoever takes a handle for an array fails, and does not read other bytes."""
    backend = parts.backend("npu")
    memory = backend.space.allocate(64)
    tensor = backend.view(memory, 0, TensorType("f32", (4,)))

    for take in (memoryview, np.frombuffer, bytes, list):
        with pytest.raises(TypeError):
            take(memory)
        with pytest.raises(TypeError):
            take(tensor)
    with pytest.raises(TypeError, match="not on the host: read it through its space"):
        np.asarray(tensor)
    with pytest.raises(TypeError, match="not on the host"):
        np.add(tensor, 1)


def test_backends_of_the_host_have_nothing_to_do_where_it_has_all() -> None:
    """See `test_two_spaces.py` for what it lacks."""
    graph = Graph.of((x := Input(TensorType("f32", (2,))),), (ops.tanh(x),))

    program = build(graph, backends=("npu", "numpy"))

    assert [s.backend for s in program.steps] == ["npu"]
    assert program.plan.arenas.get("host", 0) == 0  # type: ignore[attr-defined]


def test_variables_of_the_host_are_refused() -> None:
    w = Store().create("w", np.zeros(2, "float32"))
    graph = Graph.of((x := Input(w.type),), (ops.tanh(x),))

    with pytest.raises(GraphError, match=r"is in host, the backends are in npu:0"):
        build(graph, backends=("npu",), variables=(w,))


def test_memory_is_given_back() -> None:
    space = parts.backend("npu").space
    offsets = {space.allocate(1 << 20).offset for _ in range(10)}

    assert len(offsets) == 1


def test_a_command_that_fails_is_a_typed_error_and_the_device_goes_on() -> None:
    backend = parts.backend("npu")
    memory = backend.space.allocate(64)
    tensor = backend.view(memory, 0, TensorType("f32", (4,)))
    backend.space.send(
        "melt", json.dumps({"run": "melt", "inputs": [], "outputs": []}).encode() + b"\n"
    )

    with pytest.raises(NpuError, match=r"npu: KeyError: 'melt' .in one of melt"):
        backend.space.synchronize()
    backend.space.write(memory, 0, np.arange(4, dtype="float32").tobytes())
    tensor[...] = tensor
    assert np.frombuffer(backend.space.read(memory, 0, 16), "float32").tolist() == [0, 1, 2, 3]


def test_its_op_differentiates_and_parses() -> None:
    check_gradient(MulAdd(), np.linspace(-1, 1, 6).reshape(2, 3), np.array(0.5), np.ones(3))
    x = Input(TensorType("f32", (2,)), None, "x")
    graph = Graph.of((x,), (MulAdd()(x, x, x),))

    assert parse(str(graph)) == graph and parts.ops()["mul_add"] is OPS["mul_add"]


@given(graph=graphs(effects=False), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_its_planner_and_pass_are_right_for_any_program(graph: Graph, seed: int) -> None:
    program = build(graph, backends=("numpy",), planner="shelves", passes=("join-mul-add",))
    arrays = arguments(graph, seed)

    for got, want in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=1e-4, atol=1e-4)


def test_a_layer_that_is_none_is_named() -> None:
    read = parts.get("frontends", "acme-layers")

    with pytest.raises(ValueError, match="layer 2 is 'sparse 3'; write 'dense WIDTH'"):
        read("dense 8 tanh\nsparse 3", 4)
    y: Value = read("dense 8 tanh\ndense 3", 4).outputs[0]
    assert str(y.type) == "f32[n,3]"
