"""Arrays as messages, and back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from byparts_graph_ir import FormatError
from byparts_tf_files.messages.graph import GraphDef
from byparts_tf_files.messages.tensor import TensorProto
from byparts_tf_files.shape import shape_proto
from byparts_tf_files.tensors import make_ndarray, make_tensor_proto

RECORDED = Path(__file__).parent / "recorded"
KINDS = "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128"


@given(st.data())
def test_an_array_is_read_as_it_was_made(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS.split()))
    array = data.draw(hnp.arrays(kind, hnp.array_shapes(min_dims=0, min_side=0)))

    found = make_ndarray(TensorProto.FromString(make_tensor_proto(array).SerializeToString()))

    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype


@given(st.lists(st.binary()))
def test_texts_are_read_as_they_were_made(texts: list[bytes]) -> None:
    array = np.empty(len(texts), object)
    array[:] = texts

    assert make_ndarray(make_tensor_proto(array)).tolist() == texts


def test_tensors_of_a_graph_of_tensorflow() -> None:
    """Half numbers, one number for many, texts."""
    graph = GraphDef.FromString((RECORDED / "graph.pb").read_bytes())
    found = {n.name: n.attr["value"].tensor for n in graph.node if n.op == "Const"}

    np.testing.assert_array_equal(
        make_ndarray(found["half"]), np.arange(6, dtype=np.float16).reshape(2, 3)
    )
    assert make_ndarray(found["Const"]).tolist() == [b"a", b"\xff\n'\""]
    assert make_ndarray(found["filled/value"] if "filled/value" in found else found["filled"]) == 7


@pytest.mark.parametrize(
    ("values", "dtype"),
    [(1, 3), (1.5, 1), ([1, 1 << 40], 9), (True, 10), ("a", 7), (np.float64(1), 2), (1j, 18)],
)
def test_dtypes_are_those_of_tensorflow(values: Any, dtype: int) -> None:
    assert make_tensor_proto(values).dtype == dtype


def test_a_last_element_stands_for_all_that_are_missing() -> None:
    made = make_tensor_proto([1.0, 2.0], shape=[2, 2])

    assert len(made.float_val) == 2 and make_ndarray(made).tolist() == [[1, 2], [2, 2]]
    with pytest.raises(ValueError, match=r"Too many elements provided. Needed at most 1"):
        make_tensor_proto([1, 2], shape=[1])
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2, 2\), got \(2,\)"):
        make_tensor_proto([1, 2], shape=[2, 2], verify_shape=True)


@pytest.mark.parametrize(
    ("message", "error", "text"),
    [
        ({"dtype": 1, "tensor_content": b"abc"}, FormatError, "3 bytes of a tensor"),
        ({"dtype": 10, "tensor_content": b"\2"}, FormatError, "neither 0 nor 1"),
        ({"dtype": 1, "float_val": [1, 2]}, FormatError, "2 elements of a tensor"),
        ({"dtype": 19, "half_val": [-1]}, FormatError, "beyond 16"),
        ({"dtype": 77}, TypeError, "Unsupported tensor type: 77"),
        ({"dtype": 20}, TypeError, "resource"),
        (
            {"dtype": 1, "tensor_shape": shape_proto(None)},
            FormatError,
            "expected sizes of at least",
        ),
        (
            {"dtype": 1, "tensor_shape": shape_proto([-2])},
            FormatError,
            "expected sizes of at least",
        ),
        ({"dtype": 1, "tensor_shape": shape_proto([1 << 30])}, FormatError, "at most 2147483648"),
        (
            {"dtype": 1, "tensor_shape": shape_proto([1] * 40)},
            FormatError,
            "no array has the shape",
        ),
        (
            {"dtype": 7, "tensor_shape": shape_proto([1 << 62])},
            FormatError,
            "no array has the shape",
        ),
    ],
)
def test_a_tensor_that_is_none_is_refused(
    message: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        make_ndarray(TensorProto(**message))
