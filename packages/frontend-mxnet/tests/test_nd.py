"""Tests of arrays, views, and arrays that are recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd, nd


def test_the_slide_of_2017() -> None:
    """Zeros, ones, a sum; an operator in place changes the array that it is."""
    a, b = nd.ones((100, 50)), nd.zeros((100, 50))
    assert a.shape == (100, 50)
    before = b

    b += a * 2

    assert b is before
    assert (b.asnumpy() == 2).all()


def test_parts_and_shapes_are_views() -> None:
    """Rows, slices and reshapes write into their base."""
    x = nd.zeros((3, 4))
    x[1][:] = 1
    x[2:3][:] = 2
    x.reshape((4, 3))[0] = 5
    x[0, 3] = 9
    x[1] += 1

    assert x.asnumpy().tolist() == [[5, 5, 5, 9], [2] * 4, [2] * 4]


def test_numbers_take_the_dtype_of_the_array() -> None:
    """Arrays are f32 unless told; comparisons give 0 and 1; division of integers rounds down."""
    x = nd.array([[1, 2], [3, 4]])
    assert x.dtype == np.float32
    assert (x > 2).asnumpy().tolist() == [[0, 0], [1, 1]]
    assert ((2 / x) - (1 - x) ** 2).asnumpy().tolist()[0] == [2, 0]
    assert (nd.array([5], dtype="int32") / 2).asnumpy().tolist() == [2]
    assert nd.maximum(x, 3).asnumpy().tolist() == [[3, 3], [3, 4]]
    assert x[nd.array([1, 0])].asnumpy().tolist() == [[3, 4], [1, 2]]
    assert nd.sum(x).shape == (1,)
    assert nd.sum(x).asscalar() == 10


def test_out_writes_into_an_array() -> None:
    """`out=` gives the array itself."""
    x, y = nd.ones(3), nd.zeros(3)

    assert nd.elemwise_add(x, x, out=y) is y
    assert y.asnumpy().tolist() == [2, 2, 2]


def test_arrays_go_to_a_file_and_come_back(tmp_path: Path) -> None:
    """Lists and dicts."""
    nd.save(str(tmp_path / "a"), {"x": nd.ones(2), "y": nd.zeros(3)})
    nd.save(str(tmp_path / "b"), [nd.ones(2), nd.zeros(3)])

    assert nd.load(str(tmp_path / "a"))["x"].asnumpy().tolist() == [1, 1]
    assert [x.shape for x in nd.load(str(tmp_path / "b"))] == [(2,), (3,)]


def test_a_seed_begins_the_stream_anew() -> None:
    """Numbers after a seed are those after the seed before."""

    def drawn() -> Any:
        mx.random.seed(7)
        return nd.random.uniform(-1, 1, shape=4), mx.random.normal(0, 2, shape=(2, 2))

    (a, b), (c, d) = drawn(), drawn()
    assert (a == c).asnumpy().all()
    assert (b == d).asnumpy().all()
    assert abs(a.asnumpy()).max() < 1


def test_contexts_are_labels() -> None:
    """New arrays are on the active device; copies go to others."""
    with mx.cpu(1):
        x = nd.ones(2)
    assert str(x.context) == "cpu(1)"
    assert (x + 1).context == mx.cpu(1)
    assert x.as_in_context(mx.gpu(0)).context == mx.gpu(0)
    assert x.as_in_context(mx.cpu(1)) is x
    x.wait_to_read()
    nd.waitall()


def test_backward_writes_adds_or_leaves() -> None:
    """The three values of grad_req, a head gradient, and control flow of Python."""
    x, y, z = (nd.array([1.0, 2.0]) for _ in range(3))
    x.attach_grad()
    y.attach_grad("add")
    z.attach_grad("null")
    for _ in range(2):
        with autograd.record():
            out = x * y * z
            while out.sum().asscalar() < 100:
                out = out * 2
        out.backward(nd.array([1.0, 0.5]))

    assert x.grad.asnumpy().tolist() == [16, 32]
    assert y.grad.asnumpy().tolist() == [32, 64]
    assert z.grad is None


def test_modes_nest() -> None:
    """`record`, `pause`, `train_mode` and `predict_mode`, also as decorators."""
    assert not autograd.is_recording()
    with autograd.record(train_mode=False):
        assert autograd.is_recording()
        assert not autograd.is_training()
        with autograd.pause(train_mode=True):
            assert not autograd.is_recording()
            assert autograd.is_training()
    with autograd.train_mode():
        assert (nd.Dropout(nd.ones(100), p=0.5).asnumpy() == 0).any()
    assert autograd.predict_mode()(autograd.is_training)() is False


def test_gradients_of_gradients() -> None:
    """`grad` with create_graph is recorded, too."""
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (dx,) = autograd.grad(x * x * x, [x], create_graph=True)
        total = dx.sum()
    total.backward()

    assert dx.asnumpy().tolist() == [3, 12]
    assert x.grad.asnumpy().tolist() == [6, 12]


def test_detached_arrays_have_no_history() -> None:
    """`detach` and `BlockGrad` stop gradients."""
    x = nd.array([3.0])
    x.attach_grad()
    with autograd.record():
        y = x * x.detach() + nd.BlockGrad(x) * 2
    y.backward()

    assert x.grad.asscalar() == 3


def test_autograd_refuses_in_sentences() -> None:
    """Errors: outside of record, a second time, without a variable, in place."""
    x = nd.ones(2)
    with pytest.raises(mx.MXNetError, match=r"was not computed inside autograd.record\(\)"):
        x.backward()
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match=r"no array with attach_grad\(\)"):
        y.backward()
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with pytest.raises(mx.MXNetError, match="writing in place into an array of shape"):
            y += 1
        with pytest.raises(mx.MXNetError, match="writing in place into an array of shape"):
            x[:] = 0
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(mx.MXNetError, match="was freed by an earlier backward"):
        y.backward()
    with pytest.raises(mx.MXNetError, match="grad_req='sum'; it is 'write', 'add' or 'null'"):
        x.attach_grad("sum")
    with pytest.raises(AttributeError, match="NDArray has no 'meen'; close names: mean"):
        _ = x.meen
    with pytest.raises(mx.MXNetError, match=r"asscalar: an array of shape \(2,\)"):
        x.asscalar()


def test_functions_of_ones_own() -> None:
    """`autograd.Function` keeps arrays for its backward."""

    class Sigmoid(autograd.Function):
        def forward(self, x: Any) -> Any:
            y = 1 / (1 + nd.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, dy: Any) -> Any:
            (y,) = self.saved_tensors
            return dy * y * (1 - y)

    x = nd.array([0.0, 1.0])
    x.attach_grad()
    with autograd.record():
        y = Sigmoid()(x) * 3
    y.backward()

    s = 1 / (1 + np.exp(-x.asnumpy()))
    np.testing.assert_allclose(x.grad.asnumpy(), 3 * s * (1 - s), rtol=1e-6)


class _Scale(mx.operator.CustomOp):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] * self.factor)
        self.assign(out_data[1], req[1], in_data[0] + in_data[1])
        aux[0][:] += 1

    def backward(
        self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * self.factor + out_grad[1])
        self.assign(in_grad[1], req[1], out_grad[1])


@mx.operator.register("scale_and_add")
class _ScaleProp(mx.operator.CustomOpProp):
    def __init__(self, factor: str) -> None:
        super().__init__()
        self.factor = float(factor)

    def list_arguments(self) -> list[str]:
        return ["a", "b"]

    def list_outputs(self) -> list[str]:
        return ["scaled", "total"]

    def list_auxiliary_states(self) -> list[str]:
        return ["calls"]

    def infer_shape(self, in_shape: Any) -> Any:
        return in_shape, [in_shape[0]] * 2, [(1,)]

    def infer_type(self, in_type: Any) -> Any:
        return in_type, [in_type[0]] * 2, [in_type[0]]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Any:
        return _Scale(self.factor)


def test_ops_of_ones_own() -> None:
    """`CustomOp` has parameters, several outputs, auxiliary states and gradients."""
    a, b, calls = nd.array([1.0, 2.0]), nd.array([3.0, 4.0]), nd.zeros(1)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        scaled, total = nd.Custom(a, b, calls, op_type="scale_and_add", factor=3)
        y = (scaled * total).sum()
    y.backward()

    assert scaled.asnumpy().tolist() == [3, 6]
    assert a.grad.asnumpy().tolist() == [3 * 4 + 3, 3 * 6 + 6]
    assert b.grad.asnumpy().tolist() == [3, 6]
    assert calls.asscalar() == 1
    with pytest.raises(mx.MXNetError, match="Custom has no 'scale'"):
        nd.Custom(a, op_type="scale")


def test_arrays_index_rows() -> None:
    """Indices of either library, and a list of them."""
    x = nd.array([[1, 2], [3, 4], [5, 6]])
    for rows in ([2, 0], np.array([2, 0]), nd.array([2, 0])):
        assert x[rows].asnumpy().tolist() == [[5, 6], [1, 2]]


def test_logs_of_the_probabilities_of_what_is_drawn_have_gradients() -> None:
    """The gradient of log p of the index drawn is 1 / p there: what actor-critic follows."""
    p = nd.array([[0.25, 0.75], [1, 0]])
    p.attach_grad()
    with mx.autograd.record():
        drawn, logs = nd.sample_multinomial(p, get_prob=True)
    logs.backward()
    chosen = np.eye(2)[drawn.asnumpy()] / p.asnumpy().clip(0.1)
    np.testing.assert_allclose(p.grad.asnumpy(), chosen, rtol=1e-6)
    np.testing.assert_allclose(logs.asnumpy(), -np.log(chosen.max(1)), rtol=1e-6)
    assert mx.test_utils.list_gpus() == []


def test_elements_are_set_in_place_until_somebody_reads() -> None:
    """Setting n numbers costs n; what was read before keeps its numbers."""
    x = nd.zeros((3, 2))
    x[0, 1] = 1
    place = x.storage._array.data
    x[1] = 2
    assert x.storage._array.data is place
    copy, sums, elements, y = x.copy(), x + 0, x.asnumpy(), nd.empty((3, 2))
    y[:] = x
    view = x[1]
    x[1, 0] = 7
    y[2] = 5
    before = [[0, 1], [2, 2], [0, 0]]
    assert copy.asnumpy().tolist() == sums.asnumpy().tolist() == elements.tolist() == before
    assert view.asnumpy().tolist() == [7, 2]
    assert y.asnumpy().tolist() == [[0, 1], [2, 2], [5, 5]]
    assert x.asnumpy().tolist() == [[0, 1], [7, 2], [0, 0]]


def test_what_backward_went_through_is_a_number_from_then_on() -> None:
    """A state that goes on to the next batch is not followed into the last one, as in MXNet."""
    x = nd.array([3.0])
    x.attach_grad()
    with autograd.record():
        h, c = x * 2, x * 5
        other = h * 10
        autograd.backward([h + c])
        (h * c * x).backward()
    assert x.grad.asscalar() == 6 * 15
    other.backward()  # recorded before: MXNet asks for retain_graph=True here
    assert x.grad.asscalar() == 20
    with pytest.raises(mx.MXNetError, match="its graph was freed by an earlier backward"):
        h.backward()
