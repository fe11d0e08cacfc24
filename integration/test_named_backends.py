"""Rules of backends for named dimensions: who is asked for which sizes, and what a refusal does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import (
    Backend,
    Graph,
    GraphError,
    Input,
    Kernel,
    KernelFamily,
    Refused,
    Table,
    TensorType,
)
from byparts_kernels_numpy import make
from byparts_opset.elementwise import Unary
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, build
from named_graphs import ROWS, SIZES, numbers


class _Twice(Unary):
    """y = x * 2, an op that backends of these tests compile."""

    def evaluate(self, x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        return (x + x,)


def _compiling(compiled: list[str], symbolic: bool) -> Backend:
    """A backend with a rule that compiles `_Twice`, and notes for which types."""
    host = make()
    backend = Backend("compiling", host.view, Table("kernel"))

    def bind(inputs: Any, outputs: Any, *_: Any) -> Any:
        return lambda: np.add(inputs[0], inputs[0], out=outputs[0])

    def rule(op: Any, types: Any, constants: Any) -> Any:
        compiled.append(str(types[0]))
        if types[0].static:
            return Kernel(bind)
        if types[0].rank == 2:
            raise Refused("rows of columns")
        return KernelFamily(lambda op, types: Kernel(bind))

    backend.kernels.compiles(_Twice, symbolic=symbolic)(rule)
    return backend


@pytest.mark.parametrize(
    ("symbolic", "rank", "expected"),
    [
        (True, 1, ["f32[n]"]),
        (True, 2, ["f32[n,3]", "f32[2,3]", "f32[5,3]"]),
        (False, 1, ["f32[2]", "f32[5]"]),
    ],
    ids=["all sizes", "refused", "knows nothing of it"],
)
def test_who_is_asked_for_what(symbolic: bool, rank: int, expected: list[str]) -> None:
    """A rule for all sizes is asked once; one that refuses, and one of a stranger, at each size."""
    compiled: list[str] = []
    shape = ("n", 3)[:rank]
    x = Input(TensorType("f32", shape), name="x")
    graph = Graph.of([x], _Twice().outputs_of(x))
    program = build(graph, backends=(_compiling(compiled, symbolic), "numpy"))

    for n in (2, 5, 2):
        rows = numbers(*(n, 3)[:rank])
        np.testing.assert_array_equal(program(rows)[0], rows + rows)
    assert compiled == expected


def test_a_rule_that_gives_something_else_is_named() -> None:
    backend = Backend("wrong", make().view, Table("kernel"))
    backend.kernels.compiles(_Twice, symbolic=True)(lambda *_: Kernel(lambda *_: print))
    x = Input(TensorType("f32", ("n",)), name="x")

    with pytest.raises(GraphError, match="return a KernelFamily, or raise Refused"):
        backend.family(_Twice(), [x.type])


def test_a_node_that_is_refused_for_all_sizes_goes_to_the_next_backend() -> None:
    """And not the whole program: `why` says that nothing is compiled again."""
    asked = []

    def refuses(op: Any, types: Any, constants: Any) -> Any:
        asked.append(types)
        if not types[0].static:
            raise Refused("numbers alone")
        return Kernel(lambda inputs, outputs, *_: lambda: np.exp(inputs[0], out=outputs[0]))

    some = Backend("some", make().view, Table("kernel"))
    some.kernels.compiles(ops.Exp, symbolic=True)(refuses)
    graph = Graph.of([ROWS], [ops.exp(ROWS * 2.0)])
    program = build(graph, backends=(some, "numpy"))

    np.testing.assert_allclose(program(numbers(5, 4))[0], np.exp(numbers(5, 4) * 2))
    assert program.why == "compiled once for every size of f32[n,4]"
    assert len(asked) == 1
    alone = build(Graph.of([ROWS], [ops.exp(ROWS)]), backends=(some,))
    np.testing.assert_array_equal(alone(numbers(5, 4))[0], np.exp(numbers(5, 4)))
    assert alone.why.startswith(
        "compiled once for every size of f32[n,4], but for each size anew exp: (f32[n,4])"
    )


def test_two_examples_of_a_convolution_by_steps_of_two_are_enough() -> None:
    """The shape rule says (n-1)//2, where 16 and 17 alone say n - 9."""
    run, w = Executor(backends=("numpy",)), np.ones((4, 3, 3, 3), np.float32)
    whys = []
    for n in (16, 17, 19, 64):
        x, filter = (Input(TensorType("f32", s)) for s in ((2, 3, n, 8), w.shape))
        graph = Graph.of((x, filter), (ops.relu(ops.conv2d(x, filter, (2, 2))),))
        program, image = run.program(graph), numbers(2, 3, n, 8)
        (y,) = program(image, w)
        np.testing.assert_allclose(y, evaluate(graph, image, w)[0], rtol=1e-4, atol=1e-5)
        whys.append(program.why)

    said = "compiled once for every size of f32[2,3,_size_0,8], f32[4,3,3,3]"
    assert whys[1:] == [said] * 3


def test_a_region_of_names_between_ends_of_numbers_is_for_all_sizes() -> None:
    """A sum over what a number was broadcast to; the ends of its region have no name."""
    total = ops.sum(ops.broadcast_to(ops.sum(ROWS), ("n", 2)) * 0.5)
    program = build(Graph.of((ROWS,), (total,)), backends=("native", "numpy"))

    assert program.why == "compiled once for every size of f32[n,4]"
    for n in SIZES:
        x = numbers(n, 4)
        np.testing.assert_allclose(program(x)[0], n * x.sum(), rtol=1e-4, atol=1e-4)
