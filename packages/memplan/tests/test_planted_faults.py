"""Faults planted in plans of random graphs: each that changes what is said is caught and named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given as forall, settings, strategies as st
from random_kernels import Kernels, any_kernels, random_kernels, said
from test_check_plan import graphs

from byparts_graph_ir import Graph, Kernel, Node
from byparts_memplan import Plan, PlanError, check_plan, plan

Fault = Callable[[Plan, Random], Plan]


def changed(items: tuple[Any, ...], random: Random, **fields: Any) -> tuple[Any, ...]:
    """One of them with other fields; what is given as a function, of its old value."""
    k = random.randrange(len(items))
    new = {f: x(getattr(items[k], f)) if callable(x) else x for f, x in fields.items()}
    return (*items[:k], replace(items[k], **new), *items[k + 1 :])


def retargeted(items: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    """But for donations that were refused: what was asked for is not in a plan."""
    k = random.choice([k for k, d in enumerate(items) if d.taken or d.kind != "donation"])
    return (*items[:k], replace(items[k], target=items[k].target + 1), *items[k + 1 :])


def swapped(items: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    i, j = random.sample(range(len(items)), 2)
    row = list(items)
    row[i], row[j] = row[j], row[i]
    return tuple(row)


def less(items: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    k = random.randrange(len(items))
    return (*items[:k], *items[k + 1 :])


def twice(items: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    return (*items, random.choice(items))


def of_plan(field: str, change: Callable[..., Any], **fields: Any) -> Fault:
    def fault(made: Any, random: Random) -> Any:
        new: dict[str, Any] = {field: change(getattr(made, field), random, **fields)}
        return replace(made, **new)

    return fault


def of_arena(field: str, change: Callable[..., Any], **fields: Any) -> Fault:
    inside: Any = of_plan(field, change, **fields)
    return lambda made, random: replace(made, placement=inside(made.placement, random))


def more(by: int) -> Callable[..., int]:
    return lambda number, *_: number + by


def shifted(offsets: tuple[int, ...], random: Random, by: int) -> tuple[int, ...]:
    k = random.randrange(len(offsets))
    return (*offsets[:k], offsets[k] + by, *offsets[k + 1 :])


def rescratched(offsets: tuple[int, ...], random: Random, by: int | None) -> tuple[int, ...]:
    """A workspace elsewhere; `None`: nowhere."""
    k = random.choice([k for k, at in enumerate(offsets) if at])
    return (*offsets[:k], 0 if by is None else offsets[k] + by, *offsets[k + 1 :])


FAULTS: dict[str, Fault] = {
    "a value lies higher": of_plan("locations", changed, offset=more(16)),
    "a value lies lower": of_plan("locations", changed, offset=more(-16)),
    "a value is not aligned": of_plan("locations", changed, offset=more(1)),
    "two values lie in each other's place": of_plan("locations", swapped),
    "a value is in an input": of_plan("locations", changed, root=0, offset=0),
    "a value has no place": of_plan("locations", less),
    "a buffer lies higher": of_arena("offsets", shifted, by=16),
    "two buffers lie in each other's place": of_arena("offsets", swapped),
    "two buffers are one another": of_arena("buffers", swapped),
    "a buffer is larger": of_arena("buffers", changed, size_bytes=more(16)),
    "a buffer is smaller": of_arena("buffers", changed, size_bytes=lambda n: max(0, n - 16)),
    "a buffer begins sooner": of_arena("buffers", changed, born=more(-1)),
    "a buffer begins later": of_arena("buffers", changed, born=more(1)),
    "a buffer ends sooner": of_arena("buffers", changed, dies=more(-1)),
    "a buffer ends later": of_arena("buffers", changed, dies=more(1)),
    "a buffer is aligned otherwise": of_arena("buffers", changed, alignment=8),
    "a buffer is in another space": of_arena("buffers", changed, space="far"),
    "the arena is larger": of_arena("arena_bytes", more(16)),
    "the arena is smaller": of_arena("arena_bytes", more(-16)),
    "the bound is lower": of_arena("lower_bound_bytes", more(-1)),
    "the bound is above the arena": of_arena("lower_bound_bytes", more(1 << 20)),
    "naive is less": of_plan("naive_bytes", more(-16)),
    "the alignment is finer": of_plan("alignment", more(-8)),
    "a buffer holds nothing": of_plan("residents", lambda rows, _: (*rows[:-1], ())),
    "a resident is in two buffers": of_plan("residents", twice),
    "two buffers hold each other's": of_plan("residents", swapped),
    "two buffers have each other's names": of_plan("labels", swapped),
    "an input is not outside": of_plan("external", less),
    "an input is outside twice": of_plan("external", twice),
    "a donation is not there": of_plan("donated", less),
    "a donation is there twice": of_plan("donated", twice),
    "something is decided twice": of_plan("decisions", twice),
    "something is decided at another step": of_plan("decisions", changed, step=more(1)),
    "something is decided on another value": of_plan("decisions", retargeted),
    "a decision is of another kind": of_plan("decisions", changed, kind="by chance"),
    "a workspace lies higher": of_plan("workspaces", rescratched, by=16),
    "a workspace lies lower": of_plan("workspaces", rescratched, by=-16),
    "a workspace is not aligned": of_plan("workspaces", rescratched, by=1),
    "a workspace lies beyond the arena": of_plan("workspaces", rescratched, by=1 << 20),
    "a workspace has no place": of_plan("workspaces", rescratched, by=None),
    "two steps have each other's workspaces": of_plan("workspaces", swapped),
    "a step is forgotten": of_plan("workspaces", less),
}


@pytest.mark.parametrize("name", FAULTS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@forall(
    graph=graphs(),
    outside=st.sets(st.integers(0, 3)),
    kernels=any_kernels(),
    seed=st.integers(0, 99),
)
def test_a_planted_fault_is_caught_and_named(
    name: str, graph: Graph, outside: set[int], kernels: Kernels | None, seed: int
) -> None:
    """With the value, the buffer or the number that is wrong."""
    random = Random(seed)
    external = {k for k in outside if k < len(graph.inputs)}
    donate = {k: random.randrange(len(graph.outputs)) for k in sorted(external)}
    made = plan(graph, external=external, donate=donate, alignment=16, kernels=kernels)
    try:
        broken = FAULTS[name](made, random)
    except (IndexError, ValueError, PlanError):
        assume(False)  # nothing of that kind in this plan
    assume(broken != made and made.residents)

    with pytest.raises(PlanError, match=r"\d"):
        check_plan(graph, broken, kernels)


@settings(max_examples=150, deadline=None)
@forall(graphs(), st.integers(0, 999))
def test_a_workspace_over_anything_alive_is_refused(graph: Graph, seed: int) -> None:
    """Inputs, outputs, values that wait for others: also where its buffer is said to be there."""
    kernels, random = random_kernels(seed), Random(seed)
    made = plan(graph, alignment=8, kernels=kernels)
    buffers, offsets = made.placement.buffers, made.placement.offsets
    able = [
        (w, i)
        for w, ids in enumerate(made.residents)
        for i, b in enumerate(buffers)
        if not ids and i != w and b.size_bytes and b.born <= buffers[w].born < b.dies
    ]
    assume(able)
    w, i = random.choice(able)
    step = buffers[w].born
    moved = (*made.workspaces[:step], offsets[i], *made.workspaces[step + 1 :])
    there = replace(made.placement, offsets=(*offsets[:w], offsets[i], *offsets[w + 1 :]))

    for broken in (
        replace(made, workspaces=moved),
        replace(made, workspaces=moved, placement=there),
    ):
        with pytest.raises(PlanError, match=rf"step {step}\b|buffers|buffer {w}"):
            check_plan(graph, broken, kernels)


@settings(max_examples=150, deadline=None)
@forall(graphs(), st.integers(0, 999))
def test_what_is_in_place_against_a_kernel_is_refused(graph: Graph, seed: int) -> None:
    """A result that lies over an input, where the kernel of that step may not do so."""
    kernels, random = random_kernels(seed), Random(seed)
    made = plan(graph, alignment=8, kernels=kernels)
    taken = [d for d in made.decisions if d.taken and d.kind == "in place"]
    assume(taken)
    step = random.choice(taken).step
    careful = graph.nodes[step]

    def others(node: Node) -> Kernel:
        return said(kernels(node).workspace_bytes) if node is careful else kernels(node)

    refused = rf"^step {step} .* which it may not$|^in place at step {step}: no op lets .* lie in"
    with pytest.raises(PlanError, match=refused):
        check_plan(graph, made, others)


@settings(max_examples=100, deadline=None)
@forall(graphs(), st.integers(0, 999), st.sampled_from([-8, 8, 64]))
def test_a_workspace_of_another_size_is_refused(graph: Graph, seed: int, more: int) -> None:
    """The kernel asks for more than was planned, or for less."""
    kernels, random = random_kernels(seed, 8), Random(seed)
    made = plan(graph, alignment=8, kernels=kernels)
    assume(made.workspace_bytes)
    greedy = graph.nodes[random.choice([*made.workspace_bytes])]

    def others(node: Node) -> Kernel:
        kernel = kernels(node)
        return replace(kernel, workspace_bytes=kernel.workspace_bytes + more * (node is greedy))

    with pytest.raises(PlanError, match="workspace"):
        check_plan(graph, made, others)
