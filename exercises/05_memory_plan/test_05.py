from byparts_memplan import Buffer, check, check_plan, lower_bound, plan, relocate
from byparts_runtime import build
from exercise import same
from memory.networks import SMALL, training

GPT = {"layers": 2, "time": 128, "width": 256}
NETWORKS = {"resnet18": {}, "gpt2_small": GPT, "lstm50": {"time": 8}, "unet": {}, "mobilenetv2": {}}


def arena(student, buffers, names=()):
    offsets = list(student.offsets(buffers))
    check(buffers, offsets, float("inf"), names)  # or PlanError says which two overlap
    return max(offset + b.size_bytes for offset, b in zip(offsets, buffers, strict=True))


def test_together(student):
    """Buffers that are alive together lie apart."""
    for lives in ((0, 3, 1, 4, 2, 4), (3, 9, 0, 2, 1, 5)):
        three = zip((192, 128, 64), lives[::2], lives[1::2], strict=True)
        arena(student, [Buffer(size, born, dies, 64) for size, born, dies in three], "abc")


def test_in_turn(student):
    """Buffers that are never alive together share their bytes."""
    for born in (3, 2):
        size = arena(student, [Buffer(128, 0, 2, 64), Buffer(128, born, 4, 64)], "ab")
        why = f"a dies at step 2 and b is born at step {born}: at step 2 it is not alive any more"
        assert size == 128, f"two buffers of 128 bytes, which can share them, take {size}; {why}"


def test_five_networks(student):
    """On the training steps of five networks the arena is within 10 % of the bound."""
    for name, sizes in NETWORKS.items():
        graph, weights = training(name, 8, **sizes)
        ours = plan(graph, external=weights, effort=0)
        buffers = ours.placement.buffers
        over = arena(student, buffers, ours.labels) / lower_bound(buffers) - 1
        sentence = f"{name}: your arena is {100 * over:.1f} % above the bound, and 10 % are allowed"
        assert over <= 0.1, sentence


def test_in_build(student):
    """A program whose memory you have placed gives the same numbers."""

    def planner(graph, **more):
        made = plan(graph, **more)
        yours = relocate(made, student.offsets(made.placement.buffers), "by a student")
        check_plan(graph, yours, more.get("kernels"))
        return yours

    graph, _ = training("gpt2_small", 2, **SMALL["gpt2_small"])
    program = build(graph, planner=planner)
    assert "by a student" in program.plan.report(), f"another plan runs: {program.plan.report()}"
    same(build(graph), program)
