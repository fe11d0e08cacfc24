"""Programs on i4: weights of four bits, kept as such, computed as f32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, MissingRule, ShapeError, TensorType
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate
from byparts_runtime import Variable, build

pytest.importorskip("ml_dtypes")

INT4 = numpy_dtype("i4")
WEIGHTS = np.arange(-8, 8).reshape(4, 4).astype(INT4)


def dequantised() -> Graph:
    """[n, 4] times a matrix of four bits, whose columns have a scale each."""
    x, scale = Input(TensorType("f32", (2, 4))), Input(TensorType("f32", (4,)))
    q = Input(TensorType("i4", (4, 4)))
    weights = ops.cast(ops.Transpose()(q), "f32") * scale
    return Graph.of((x, q, scale), [ops.MatMul()(x, weights), ops.Reshape((16,))(q)])


@pytest.mark.parametrize("backends", [("numpy",), ("torch", "numpy")])
def test_weights_of_four_bits(backends: tuple[str, ...]) -> None:
    """What torch refuses goes to the next backend; i4 is fed and fetched."""
    if "torch" in backends:
        pytest.importorskip("torch")
    graph, rng = dequantised(), np.random.default_rng(0)
    x, scale = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 4), (4,)))
    program = build(graph, backends=backends)

    y, line = program(x, WEIGHTS, scale)

    np.testing.assert_allclose(y, evaluate(graph, x, WEIGHTS, scale)[0], rtol=1e-5)
    assert (line.dtype, line.tolist()) == (INT4, list(range(-8, 8)))


def test_arithmetic_wraps() -> None:
    """As in `evaluate`: also where numbers are divided by 0."""
    x, y = Input(TensorType("i4", (3,))), Input(TensorType("i4", (3,)))
    program = build(Graph.of((x, y), [x * y + 7, x // y, ops.sum(x)]), backends=("numpy",))

    products, quotients, total = program([-8, 5, 7], [-1, 0, 3])

    assert (products.dtype, products.tolist()) == (INT4, [-1, 7, -4])
    assert (quotients.tolist(), total.tolist()) == ([-8, 0, 2], 4)


def test_arithmetic_that_no_backend_has_is_refused_by_name() -> None:
    """When the program is built, with op, types and backend."""
    pytest.importorskip("torch")
    x = Input(TensorType("i4", (2,)))

    with pytest.raises(MissingRule, match=r"'torch' has no kernel for Add .*i4\[2\].*cast to i8"):
        build(Graph.of((x,), [x + x]), backends=("torch",))


def test_lists_are_taken_as_far_as_they_fit() -> None:
    """Nothing wraps in silence where a program is fed."""
    x = Input(TensorType("i4", (2,)), name="x")
    program = build(Graph.of((x,), [ops.cast(x, "f32")]), backends=("numpy",))

    assert program([-8, 7])[0].tolist() == [-8, 7]
    with pytest.raises(ShapeError, match=r"expected i4\[2\], got 0 to 8, which is out of range"):
        program([0, 8])
    with pytest.raises(ShapeError, match=r'expected i4\[2\], got i8\[2\]; .*astype\("int4"\)'):
        program(np.array([0, 1], np.int8))


def test_variables_of_four_bits(tmp_path: Path) -> None:
    """They are saved, and come back."""
    from byparts_weights import load, save

    v = Variable("w", WEIGHTS)
    save(tmp_path / "w.npz", {"w": v.read()})
    v.write(np.zeros_like(WEIGHTS))
    v.write(load(tmp_path / "w.npz")["w"])

    assert (str(v.type), v.read().tolist()) == ("i4[4,4]", WEIGHTS.tolist())
    with pytest.raises(BufferError):  # NumPy's: the elements would share bytes
        np.from_dlpack(v)


def test_capsules_of_four_bits_are_refused() -> None:
    """DLPack packs two elements into a byte."""
    from byparts_runtime.arrays.dlpack import _dtype, _Tensor

    with pytest.raises(ShapeError, match="elements i4 of DLPack share bytes, ours do not"):
        _dtype(_Tensor(code=0, bits=4, lanes=1), "x")
