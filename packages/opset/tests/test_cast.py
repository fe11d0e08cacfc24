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


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("shape", [(4,), (2, 2), ()])
def test_f64_is_rounded_to_a_half_once(dtype: str, shape: tuple[int, ...]) -> None:
    """Numbers next to the middle of two halves, further than f32 tells; either sign; infinities."""
    last = 2.0 ** {"f16": -10, "bf16": -7}[dtype]
    middle, least = 1 + last / 2, 1e-12
    for x, wanted in [
        (middle, 1.0),
        (middle + least, 1 + last),
        (-middle - least, -1 - last),
        (middle - least, 1.0),
        (middle + last, 1 + 2 * last),
        (middle + last - least, 1 + last),
        (1e300, math.inf),
        (-math.inf, -math.inf),
        (-1e-300, -0.0),
    ]:
        (y,) = Cast(dtype).evaluate(np.full(shape, x))
        assert y.shape == shape and (y.astype("f8") == wanted).all()
        assert (np.signbit(y.astype("f8")) == np.signbit(wanted)).all()
    assert np.isnan(Cast(dtype).evaluate(np.full(shape, math.nan))[0].astype("f8")).all()


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
