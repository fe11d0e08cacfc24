from functools import partial

import numpy as np

import byparts_tensor_ir as loops
from byparts import ops, runtime
from byparts_graph_ir import Backend, Graph, Table
from byparts_graph_ir.parts.hub import parts
from byparts_tensor_ir.target import target
from exercise import in_turns, same, values
from loop_counts import loop_counts

N = 512


def scheduled(student, lanes):
    a, b = (loops.placeholder((N, N), name) for name in "AB")
    k = loops.reduce_axis(N, "k")
    c = loops.compute((N, N), lambda i, j: loops.sum(a[i, k] * b[j, k], axis=k), "C")
    s = student.schedule(loops.Schedule(loops.lower([a, b, c], "matmul")), lanes)
    assert isinstance(s, loops.Schedule), f"schedule gives {s!r:.40}; give the schedule, `return s`"
    return s.func


def all_counts(student):
    return [(lanes, loop_counts(scheduled(student, lanes), lanes)) for lanes in (16, 8, 4)]


def test_one_loop_is_vectorized(student):
    """The innermost loops compute whole vectors, of elements that lie side by side."""
    for _, counts in all_counts(student):
        assert counts.vectorized, f"no loop around the sum is vectorized: {counts.loops}"
        for load, step in counts.steps.items():
            far = "not equally far" if step is None else f"{step} elements apart"
            sentence = (
                f"lanes of {counts.vectorized} read {load} {far}, so each is a load of its own"
            )
            assert step in (0, 1), f"{sentence}: copy it into another layout"


def test_sums_stay_in_registers(student):
    """The tile of sums is in registers, and fits."""
    for lanes, counts in all_counts(student):
        name, scope = counts.target
        sentence = f"the sums stand in {name}, in memory: a load and a store for each multiply-add"
        assert scope == "register", f"{sentence}; cache_write"
        sentence = (
            f"{counts.sums} vectors of sums, {counts.width} of B and 1 of A, for {lanes} lanes"
        )
        enough = counts.sums + counts.width + 1 <= (32 if lanes == 16 else 16)
        assert enough, f"{sentence}: there are not enough registers"


def test_few_loads(student):
    """A multiply-add needs at most 0.75 loads."""
    for lanes, counts in all_counts(student):
        sentence = (
            f"with {lanes} lanes there are {counts.loads} loads for {counts.sums} multiply-adds"
        )
        assert counts.loads <= 0.75 * counts.sums, (
            f"{sentence}; a larger tile inside of C_k has fewer"
        )


def test_in_a_program(student):
    """A layer of a program that runs by your kernel gives NumPy's numbers."""
    run, table = loops.build(scheduled(student, target().vector_bytes // 4)), Table("kernel")
    table.on(ops.MatMul)(lambda op, inputs, outputs: partial(run, *inputs, *outputs))
    x, w = values(x=(N, N), w=(N, N))
    graph, numpy = Graph.of([x, w], [ops.matmul(x, w, transpose_b=True)]), parts.backend("numpy")
    program = runtime.build(graph, backends=(Backend("yours", numpy.view, table), numpy))
    assert program.steps[0].backend == "yours", program.explain()
    same(runtime.build(graph), program, 1e-3)


def show(student):
    """The speed beside that of NumPy's BLAS, on one thread, in turns: at least half of it."""
    run = loops.build(scheduled(student, target().vector_bytes // 4))
    a, b, c, d = np.random.default_rng(0).standard_normal((4, N, N)).astype("f4")
    mine, blas = in_turns(lambda: run(a, b, c), lambda: np.matmul(a, b.T, out=d))
    said = f"{blas / mine:.2f} of the speed of NumPy's BLAS, {2e-9 * N**3 / mine:.0f} GFLOP/s"
    assert blas >= 0.5 * mine, f"{said}; half of it is asked for"
    return said
