"""Tests that each op of the table computes what NumPy does, for arrays and for symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mxnet_op_cases import CASES, M, random

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.ops import table

NAMES = [f"{i}-{case[0]}" for i, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_an_op_on_arrays_computes_what_numpy_does(case: Any) -> None:
    """`nd.op(...)` has the elements, the shape and the dtype of the answer."""
    name, inputs, parameters, expected = case

    y = getattr(nd, name)(*map(nd.array, inputs), **parameters)

    assert y.shape == np.shape(expected)
    np.testing.assert_allclose(y.asnumpy(), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_symbol_gives_the_shapes_of_the_table(case: Any) -> None:
    """`sym.op(...)` infers the shape that the op on arrays gives."""
    name, inputs, parameters, expected = case
    symbols = [mx.sym.Variable(f"x{i}") for i in range(len(inputs))]

    graph = getattr(mx.sym, name)(*symbols, **parameters)
    given = {f"x{i}": x.shape for i, x in enumerate(inputs) if f"x{i}" in graph.list_arguments()}

    assert graph.infer_shape(**given)[1] == [np.shape(expected)]


def test_every_op_has_a_docstring_or_a_row() -> None:
    """The aliases of an op are one entry's function."""
    assert table["elemwise_add"].function is table["_plus"].function
    assert len(table) > 230


def test_ops_refuse_with_the_names_and_values() -> None:
    """Unknown ops, unknown parameters, missing inputs and shapes that differ are told."""
    with pytest.raises(AttributeError, match=r"mx.nd has no 'FullConnected'; close names: FullyC"):
        nd.FullConnected(nd.ones(3))
    with pytest.raises(mx.MXNetError, match=r"op FullyConnected has no 'num_hiden'.*num_hidden"):
        nd.FullyConnected(nd.ones(3), nd.ones(3), num_hiden=3)
    with pytest.raises(mx.MXNetError, match="FullyConnected: parameter 'num_hidden' is missing"):
        nd.FullyConnected(nd.ones(3), nd.ones(3))
    with pytest.raises(mx.MXNetError, match="FullyConnected: input 'bias' is None; it takes"):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 3)), num_hidden=4)
    with pytest.raises(mx.MXNetError, match=r"so 3 features meet 5"):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 5)), num_hidden=4, no_bias=True)
    with pytest.raises(mx.MXNetError, match=r"\(2, 3\) has 6 elements; \(4, -1\) means"):
        nd.ones((2, 3)).reshape((4, -1))


def test_batch_norm_follows_the_batch_while_training() -> None:
    """The running statistics move by 1 - momentum, the variance over n."""
    x, mean, var = nd.array(random.normal(1, 2, (8, 3))), nd.zeros(3), nd.ones(3)

    with mx.autograd.record():
        y = nd.BatchNorm(x, nd.ones(3), nd.zeros(3), mean, var, momentum=0.5, eps=0)

    np.testing.assert_allclose(y.asnumpy().std(0), 1, rtol=1e-4)
    np.testing.assert_allclose(mean.asnumpy(), x.asnumpy().mean(0) / 2, rtol=1e-5)
    np.testing.assert_allclose(var.asnumpy(), (x.asnumpy().var(0) + 1) / 2, rtol=1e-5)


def _gradient(name: str, *inputs: Any, **parameters: Any) -> Any:
    arrays = [nd.array(x) for x in inputs]
    arrays[0].attach_grad()
    with mx.autograd.record():
        y = getattr(nd, name)(*arrays, **parameters)
    y.backward(nd.ones(y.shape) * 100)  # which output layers ignore
    return arrays[0].grad.asnumpy()


def test_the_gradient_of_an_output_layer_is_that_of_its_loss() -> None:
    """Softmax less one_hot(label), scaled, ignoring labels, whatever comes from behind."""
    p = nd.softmax(nd.array(M)).asnumpy()
    hot, label = np.eye(4)[[2, 0, 1]], np.array([2, 0, 1])

    np.testing.assert_allclose(_gradient("SoftmaxOutput", M, label), p - hot, rtol=1e-5)
    batch = _gradient("SoftmaxOutput", M, label, normalization="batch", grad_scale=6.0)
    np.testing.assert_allclose(batch, (p - hot) * 2, rtol=1e-5)
    how = {"use_ignore": True, "ignore_label": 0, "normalization": "valid"}
    valid = _gradient("SoftmaxOutput", M, label, **how)
    np.testing.assert_allclose(valid, (p - hot) * [[1], [0], [1]] / 2, rtol=1e-5, atol=1e-7)
    many = _gradient("SoftmaxOutput", M[None], np.ones((1, 4)), multi_output=True)
    columns = nd.softmax(nd.array(M), axis=0).asnumpy() - np.eye(3)[[1]].T
    np.testing.assert_allclose(many[0], columns / 4, rtol=1e-5)
    np.testing.assert_allclose(_gradient("LinearRegressionOutput", M, M - 1), np.ones((3, 4)) / 4)
    np.testing.assert_allclose(_gradient("MAERegressionOutput", M, M + 1), -np.ones((3, 4)) / 4)
    np.testing.assert_allclose(_gradient("MakeLoss", M, grad_scale=3.0), np.full((3, 4), 3.0))


@pytest.mark.parametrize("mode", ["rnn_relu", "rnn_tanh", "lstm", "gru"])
def test_the_fused_layers_are_the_cells_unrolled(mode: str) -> None:
    """`RNN` on one vector of weights gives what cells of gluon with these weights give."""
    cell = {"lstm": mx.gluon.rnn.LSTMCell, "gru": mx.gluon.rnn.GRUCell}.get(mode)
    made = cell(3) if cell else mx.gluon.rnn.RNNCell(3, activation=mode.removeprefix("rnn_"))
    made.initialize(mx.init.Uniform(1.0))
    x = nd.array(random.standard_normal((4, 2, 5)))
    ys, states = made.unroll(4, x, layout="TNC", merge_outputs=True)
    order = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    vector = nd.concat(*[getattr(made, n).data().reshape((-1,)) for n in order], dim=0)

    zeros = [nd.zeros((1, 2, 3)) for _ in states]
    how = {"state_size": 3, "num_layers": 1, "mode": mode, "state_outputs": True}
    y, *last = nd.RNN(x, vector, *zeros, **how)

    np.testing.assert_allclose(y.asnumpy(), ys.asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(last[0][0].asnumpy(), states[0].asnumpy(), rtol=1e-5, atol=1e-6)


def test_draws_with_the_logarithms_of_their_probabilities() -> None:
    """`sample_multinomial` draws what has a chance; the logarithm has a gradient, 1 / p."""
    p = nd.array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]])
    p.attach_grad()
    with mx.autograd.record():
        drawn, logs = nd.sample_multinomial(p, get_prob=True)
    logs.backward()

    chances = p.asnumpy()[range(2), drawn.asnumpy()]
    np.testing.assert_allclose(logs.asnumpy(), np.log(chances), rtol=1e-6)
    np.testing.assert_allclose(p.grad.asnumpy()[range(2), drawn.asnumpy()], 1 / chances, rtol=1e-6)
    assert nd.sample_multinomial(p, shape=(2, 2)).shape == (2, 2, 2)
