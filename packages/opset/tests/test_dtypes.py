import numpy as np
import pytest

from byparts_graph_ir import ITEM_BYTES, ShapeError
from byparts_opset.dtypes import dtype_name, narrow, numpy_dtype, wide


@pytest.mark.parametrize("name", ITEM_BYTES)
def test_every_dtype_has_a_numpy_form(name: str) -> None:
    """Names round trip through NumPy, and item sizes agree."""
    dtype = numpy_dtype(name)

    assert (name, ITEM_BYTES[name]) == (dtype_name(dtype), dtype.itemsize)


def test_foreign_dtype_is_refused() -> None:
    """A complex array has no type of ours."""
    with pytest.raises(ShapeError, match=r"unknown dtype dtype\('complex64'\); known: f16, "):
        dtype_name(np.dtype("complex64"))


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_half_types_compute_wide_and_round_once(name: str) -> None:
    """`wide` is f32, `narrow` brings the dtype back, also to a NumPy scalar."""
    x = np.ones(2, numpy_dtype(name))

    assert wide(x).dtype == np.float32
    assert narrow(np.float32(1.5), x.dtype).dtype == x.dtype
    assert isinstance(narrow(np.float32(1.5), x.dtype), np.ndarray)
