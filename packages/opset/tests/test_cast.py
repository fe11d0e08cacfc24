import math

import numpy as np
import pytest
from numeric import Array, check_gradient

from byparts_graph_ir import Graph, Input, ShapeError, TensorType, specialize
from byparts_opset.cast import Cast, cast


@pytest.mark.parametrize(
    ("x", "dtype", "expected"),
    [
        (np.array([1.9, -1.9]), "i32", [1, -1]),
        (np.array([300, -1]), "u8", [44, 255]),
        (np.array([0.0, -0.0, 0.5, math.nan]), "bool", [False, False, True, True]),
        (np.array([True, False]), "f32", [1.0, 0.0]),
        (np.array([1e300]), "f32", [math.inf]),
        (np.array([257.0]), "bf16", [256.0]),
        (np.array([259.0]), "bf16", [260.0]),
    ],
)
def test_casts(x: Array, dtype: str, expected: list[float]) -> None:
    """Floats to integers towards 0, integers wrap, bools are 0 and 1, halves to even."""
    assert expected == Cast(dtype).evaluate(x)[0].tolist()


def test_gradient_passes_between_floats_only() -> None:
    """f64 to f64; not through integers."""
    check_gradient(Cast("f64"), np.array([1.5]), unranked=True)
    node = Cast("i32")(Input(TensorType("f32", (2,)))).node
    assert node is not None
    assert node.op.gradient(node, Input(TensorType("i32", (2,)))) == (None,)


def test_no_cast_where_none_is_needed() -> None:
    """At once by the function, later by `specialize`."""
    x = Input(TensorType("f32", (2,)))

    assert x is cast(x, "f32")
    assert specialize(Graph.of((x,), [Cast("f32")(x)])).nodes == ()


def test_unknown_dtypes_are_refused() -> None:
    """With the one that was meant."""
    with pytest.raises(ShapeError, match="unknown dtype 'float32'; did you mean 'f32'"):
        cast(Input(TensorType("f64", (2,))), "float32")
