"""Exercise 5: what the plan of `offsets(buffers)` must be."""

import numpy as np

from byparts_memplan import Buffer, PlanError, check, check_plan, lower_bound, plan, relocate
from byparts_runtime import build
from memory.networks import SMALL, training

MOST = 1.10  # times the bound
NETWORKS = {
    "resnet18": {"batch": 8},
    "gpt2_small": {"batch": 4, "layers": 2, "time": 128, "width": 256},
    "lstm50": {"batch": 8, "time": 8},
    "unet": {"batch": 2},
    "mobilenetv2": {"batch": 8},
}


def arena(student, buffers, names=()):
    """Bytes of the student's arena, which the checker of the part memplan has found valid."""
    offsets = list(student.offsets(buffers))
    try:
        check(buffers, offsets, float("inf"), names)
    except PlanError as error:
        raise AssertionError(f"your plan is not valid: {error}") from None
    return max(offset + b.size_bytes for offset, b in zip(offsets, buffers, strict=True))


def test_together(student):
    """Three buffers that are alive together lie apart."""
    arena(student, [Buffer(64, 0, 3, 64), Buffer(192, 1, 4, 64), Buffer(128, 2, 4, 64)], "abc")


def test_in_turn(student):
    """Buffers that are never alive together share their bytes."""
    size = arena(student, [Buffer(128, 0, 1, 64), Buffer(128, 2, 4, 64)], "ab")
    assert size == 128, f"a and b, of 128 bytes, which are never alive together, take {size} bytes"
    size = arena(student, [Buffer(128, 0, 2, 64), Buffer(128, 2, 4, 64)], "ab")
    assert size == 128, (
        f"a dies at step 2 and b is born at step 2, and they take {size} bytes instead of 128: "
        "in the step in which a dies it is not alive any more, its life is [born, dies)"
    )


def test_a_gap(student):
    """What is in the way may overlap in bytes with something else that is."""
    small, long, late = Buffer(128, 0, 2, 64), Buffer(192, 3, 9, 64), Buffer(64, 1, 5, 64)
    arena(student, [small, long, late], "abc")


def test_five_networks(student):
    """On the training steps of five networks the arena is within 10 % of the bound."""
    for name, sizes in NETWORKS.items():
        graph, weights = training(name, **sizes)
        ours = plan(graph, external=weights, effort=0)
        buffers = ours.placement.buffers
        size, bound = arena(student, buffers, ours.labels), lower_bound(buffers)
        assert size <= MOST * bound, (
            f"{name}: your arena is {100 * size / bound - 100:.1f} % above the bound of {bound:,} bytes, "
            f"for {len(buffers)} buffers; at most {100 * MOST - 100:.0f} % are allowed"
        )


def test_in_build(student):
    """A program whose memory you have placed gives the same numbers."""
    def planner(graph, **more):
        made = plan(graph, **more)
        yours = relocate(made, student.offsets(made.placement.buffers), "by a student")
        check_plan(graph, yours, more.get("kernels"))
        return yours

    graph, _ = training("gpt2_small", 2, **SMALL["gpt2_small"])
    random = np.random.default_rng(0)
    feeds = [
        random.integers(0, 5, v.type.dims) if v.type.dtype == "i64"
        else random.normal(size=v.type.dims).astype("f4")
        for v in graph.inputs
    ]  # fmt: skip
    program = build(graph, planner=planner)
    assert "student" in program.plan.report(), f"the plan that runs is another: {program.plan}"
    for a, b in zip(build(graph)(*feeds), program(*feeds), strict=True):
        assert np.array_equal(a, b), f"a result is {b}, and {a} in the memory that the system plans"


def show(student):
    """The arenas, beside the bound."""
    lines = []
    for name, sizes in NETWORKS.items():
        graph, weights = training(name, **sizes)
        buffers = plan(graph, external=weights, effort=0).placement.buffers
        size, bound = arena(student, buffers), lower_bound(buffers)
        lines.append(f"  {name:<12} {size:>13,} bytes, {100 * size / bound - 100:.2f} % above the bound")
    return "\n".join(lines)
