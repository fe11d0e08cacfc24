"""Programs within a budget of bytes, of real parts: fewer bytes, more work, the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_backend import notes

from byparts_graph_ir import Backend, Graph, Input
from byparts_kernels_numpy import make
from byparts_memplan import peak_bytes
from byparts_opset.conv2d import Conv2d
from byparts_recompute import BudgetError, rematerialize
from byparts_runtime import Program, Store, Variable, build
from limited_memory import network

HERE = Path(__file__).parent
MORE_BYTES, BUDGET_BYTES = 450_000_000, 170_000_000  # for an arena of 525 MB

QUICK, SQRT = partial(rematerialize, effort=0.0), partial(rematerialize, strategy="sqrt")

linux = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS binds on Linux")


@pytest.fixture(params=["numpy", "torch"])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "numpy":
        return make()
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    from byparts_kernels_torch import make as make_torch

    return make_torch()


@cache
def step() -> Graph:
    """Eight blocks: loss, gradients, and new values of 54 weights and velocities each."""
    return network(8)[0]


def variables() -> tuple[Variable, ...]:
    """Alike each time."""
    random, store = np.random.default_rng(0), Store()
    weights = [v for v in step().inputs[2:] if isinstance(v, Input)]
    values = {v.name: random.standard_normal(v.type.dims) / 9 for v in weights}
    return tuple(store.create(name, x.astype(np.float32)) for name, x in values.items())


def feeds() -> tuple[Any, ...]:
    random = np.random.default_rng(1)
    images = random.standard_normal(step().inputs[0].type.dims).astype(np.float32)
    return images, random.integers(0, 10, step().inputs[1].type.dims)


def trained(graph: Graph, backend: Backend, **options: Any) -> tuple[Program, list[bytes]]:
    """A program, and the bits of all that two steps of it give."""
    held = variables()
    program = build(graph, backends=(backend,), variables=held, updates=held, **options)
    found = [y for _ in range(2) for y in program(*feeds())]
    return program, [y.tobytes() for y in (*found, *(v.read() for v in held))]


def outside(graph: Graph) -> frozenset[int]:
    return frozenset(range(2, len(graph.inputs)))


def largest_workspace(program: Program) -> int:
    """What comes on top of a budget that was met before the kernels were known."""
    return max(program.kernels(node).workspace_bytes for node in program.graph.nodes)


def convolutions(program: Program) -> int:
    return sum(isinstance(s.node.op, Conv2d) for s in program.steps)


def test_a_program_keeps_its_budget(backend: Backend) -> None:
    """A third of the bytes; some convolutions run twice, all values are the same to the bit."""
    plain, expected = trained(step(), backend)
    budget = plain.plan.arena_bytes // 3
    program, found = trained(step(), backend, budget_bytes=budget)

    assert found == expected
    assert program.plan.arena_bytes <= budget
    assert convolutions(program) > convolutions(plain) == 17


@pytest.mark.long
def test_the_least_memory_for_some_more_work() -> None:
    """A tenth more work, and no more, saves a good deal."""
    plain, expected = trained(step(), make())
    program, found = trained(step(), make(), max_extra_cost=0.1, rematerialize=QUICK)

    work = [
        sum(n.op.flops(*[v.type for v in n.inputs]) for n in p.graph.nodes)
        for p in (plain, program)
    ]
    assert found == expected
    assert program.plan.arena_bytes < 0.8 * plain.plan.arena_bytes
    assert work[0] < work[1] <= 1.1 * work[0]


def test_a_graph_rematerialised_before_stays_so(backend: Backend) -> None:
    """Equal nodes are merged by `optimize`, and these are not; nothing is left of the barriers."""
    plain, expected = trained(step(), backend)
    graph = step()
    budget = peak_bytes(graph, outside(graph)) // 2
    again = rematerialize(graph, budget, external=outside(graph), effort=0.0)
    program, found = trained(again, backend)

    assert found == expected
    assert program.plan.arena_bytes <= 1.02 * budget + largest_workspace(program)
    assert convolutions(program) > convolutions(plain)
    assert {n.op.name for n in program.graph.nodes} == {n.op.name for n in plain.graph.nodes}


@pytest.mark.long
@pytest.mark.parametrize("options", [{"passes": ()}, {"legalize": None}, {"order": None}])
def test_whatever_passes_are_there(options: dict[str, Any]) -> None:
    graph = step()
    budget = peak_bytes(graph, outside(graph)) // 2
    again = rematerialize(graph, budget, external=outside(graph), effort=0.0)
    program, found = trained(again, make(), **options)

    assert found == trained(step(), make(), **options)[1]
    assert program.plan.arena_bytes <= 1.02 * budget + largest_workspace(program)


@pytest.mark.long
def test_measured_costs_decide_what_runs_again() -> None:
    """Those of one program are of use to the next: nothing is unknown, and all still fits."""
    plain, expected = trained(step(), make())
    costs = plain.costs(*feeds(), runs=2)
    budget = plain.plan.arena_bytes // 2
    limits: dict[str, Any] = {"budget_bytes": budget, "costs": costs, "rematerialize": QUICK}
    program, found = trained(step(), make(), **limits)

    assert found == expected
    assert program.plan.arena_bytes <= budget
    assert all((n.op, tuple(v.type for v in n.inputs)) in costs.known for n in program.graph.nodes)


def test_a_budget_that_cannot_be_met_says_what_could() -> None:
    """Nothing is lost: the variables are as they were."""
    held = variables()
    before = [v.read().tobytes() for v in held]
    with pytest.raises(BudgetError, match="no schedule within a budget of 1,000 bytes") as error:
        build(step(), variables=held, updates=held, budget_bytes=1000, rematerialize=SQRT)

    assert "for an arena of at most 1,000 bytes" in notes(error.value)
    assert [v.read().tobytes() for v in held] == before


@pytest.mark.long
@linux
def test_a_deep_network_trains_where_there_is_no_room_for_it() -> None:
    """A step fails under `RLIMIT_AS`; within a budget it runs, to the bits of one without limit.

    250 blocks with a batch of 64 have the arena of a thousand with 16, and are built in a quarter
    of the time.
    """
    limits = f"--more-bytes {MORE_BYTES} --budget-bytes {BUDGET_BYTES}".split()
    network = ["--blocks", "250", "--batch", "64"]
    command = [sys.executable, str(HERE / "limited_memory.py"), *network]
    running = [
        subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True)
        for more in ([], limits)
    ]
    free, limited = (json.loads(p.communicate(timeout=600)[0]) for p in running)

    assert free["arena_bytes"] > MORE_BYTES
    assert limited["error"][0].startswith(f"cannot allocate {free['arena_bytes']:,} bytes")
    assert "budget_bytes" in limited["error"][-1]
    assert limited["before"] and limited["changed"]
    assert limited["arena_bytes"] <= BUDGET_BYTES
    assert limited["steps"] > free["steps"] > 4_000
    assert all(limited[name] == free[name] for name in ("loss", "gradients", "weights"))
