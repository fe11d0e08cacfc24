from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd, gluon
from programs import mlp, pixels


def _product(**how: Any) -> tuple[Any, Any]:
    """An executor of a * b, and the array of the gradient by a."""
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    arrays = {"a": mx.nd.array([1, 2, 3]), "b": mx.nd.array([4, 5, 6])}
    gradient = mx.nd.ones((3,))
    return (a * b).bind(mx.cpu(), arrays, args_grad={"a": gradient}, **how), gradient


def test_the_program_of_the_slide_learns_digits() -> None:
    """Two layers by simple_bind without a context, trained by hand to over 97 %."""
    x, y = pixels()
    executor = mlp().simple_bind(data=(100, 64))
    draw = np.random.RandomState(0)
    weights = [n for n in executor.arg_dict if n not in ("data", "softmax_label")]
    for name in weights:
        executor.arg_dict[name][:] = draw.uniform(-0.1, 0.1, executor.arg_dict[name].shape)
    for start in list(range(0, 1500, 100)) * 25:
        labels = mx.nd.array(y[start : start + 100])
        executor.forward(is_train=True, data=x[start : start + 100], softmax_label=labels)
        executor.backward()
        for name in weights:
            executor.arg_dict[name] -= executor.grad_dict[name] * 0.005
    right = [
        (executor.forward(data=x[s : s + 100])[0].asnumpy().argmax(1) == y[s : s + 100]).mean()
        for s in (1500, 1600, 1697)
    ]
    assert np.mean(right) > 0.95


def test_recorded_bound_and_hybrid_gradients_agree() -> None:
    """One network by arrays with record, by a symbol, and by a hybrid block with its loss."""
    x, y = pixels()
    data, labels = mx.nd.array(x[:20]), mx.nd.array(y[:20])
    executor = mlp(8).simple_bind(data=(20, 64))
    draw = np.random.RandomState(1)
    for name in ("fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"):
        executor.arg_dict[name][:] = draw.uniform(-0.5, 0.5, executor.arg_dict[name].shape)
    executor.forward(is_train=True, data=data, softmax_label=labels)
    executor.backward()
    own = {n: v.copy() for n, v in executor.arg_dict.items() if n.startswith("fc")}
    for v in own.values():
        v.attach_grad()
    with autograd.record():
        h = mx.nd.FullyConnected(data, own["fc1_weight"], own["fc1_bias"], num_hidden=8)
        h = mx.nd.Activation(h, act_type="relu")
        out = mx.nd.FullyConnected(h, own["fc2_weight"], own["fc2_bias"], num_hidden=10)
        loss = mx.nd.SoftmaxOutput(out, labels)
    loss.backward()
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="relu", in_units=64), gluon.nn.Dense(10, in_units=8))
    net.initialize()
    net.hybridize()
    parameters = list(net.collect_params().values())
    for p, v in zip(parameters, own.values(), strict=True):
        p.set_data(v)
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(data), labels)
    loss.backward()
    for p, (name, v) in zip(parameters, own.items(), strict=True):
        bound = executor.grad_dict[name].asnumpy()
        np.testing.assert_allclose(v.grad.asnumpy(), bound, atol=1e-6)
        np.testing.assert_allclose(p.grad().asnumpy(), bound, atol=1e-6)


def test_gradients_are_written_added_or_not_there() -> None:
    """grad_req is one for all, or by name."""
    head = mx.nd.array([1, 10, 100])
    for req, expected in (("write", [4, 50, 600]), ("add", [9, 101, 1201])):
        executor, gradient = _product(grad_req=req)
        for _ in range(2):
            executor.forward(is_train=True)
            executor.backward(head)
        np.testing.assert_array_equal(gradient.asnumpy(), expected)
    executor, gradient = _product(grad_req={"a": "null"})
    executor.forward(is_train=True)
    executor.backward()
    np.testing.assert_array_equal(gradient.asnumpy(), [1, 1, 1])


def test_output_layers_ignore_gradients_from_behind() -> None:
    """SoftmaxOutput has the gradient of the cross entropy, whatever is given."""
    executor = mlp(8).simple_bind(data=(2, 64))
    executor.forward(is_train=True, data=mx.nd.ones((2, 64)))
    executor.backward()
    without = executor.grad_dict["fc2_bias"].asnumpy()
    executor.backward(mx.nd.full((2, 10), 5))
    np.testing.assert_array_equal(executor.grad_dict["fc2_bias"].asnumpy(), without)
    np.testing.assert_allclose(without, [0.2 - 2, *[0.2] * 9], rtol=1e-6)


def test_dropout_draws_alike_forward_and_backward() -> None:
    """Gradients that are asked for later are of the elements that were kept."""
    net = mx.sym.Dropout(mx.sym.Variable("x"), p=0.5)
    executor = net.simple_bind(x=(100,))
    executor.forward(is_train=True, x=mx.nd.ones((100,)))
    kept = executor.outputs[0].asnumpy()
    executor.backward(mx.nd.ones((100,)))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), kept)
    assert set(kept) == {0.0, 2.0}
    assert executor.forward()[0].asnumpy().sum() == 100


def test_auxiliary_states_follow_training_alone() -> None:
    """The moving mean moves once a training step."""
    net = mx.sym.BatchNorm(mx.sym.Variable("x"), name="bn", momentum=0.5)
    executor = net.simple_bind(x=(2, 1))
    executor.forward(x=mx.nd.array([[2], [4]]))
    assert executor.aux_dict["bn_moving_mean"].asscalar() == 0
    executor.forward(is_train=True)
    assert executor.aux_dict["bn_moving_mean"].asscalar() == 1.5
    executor.backward(mx.nd.ones((2, 1)))
    assert executor.aux_dict["bn_moving_mean"].asscalar() == 1.5


def test_outputs_are_there_before_the_first_run_and_stay() -> None:
    """Loops of 2016 take the outputs once and read them after each run."""
    executor, _ = _product()
    output = executor.outputs[0]
    assert output.shape == (3,)
    executor.forward()
    np.testing.assert_array_equal(output.asnumpy(), [4, 10, 18])


def test_a_view_is_read_as_it_is_at_each_run() -> None:
    """A row that is bound follows its matrix."""
    rows = mx.nd.array([[1, 2], [3, 4]])
    executor = (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": rows[1]})
    rows[:] = 5
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), [10, 10])


def test_reshaping_keeps_the_parameters() -> None:
    """The new executor computes with the same weights."""
    executor = mlp(8).simple_bind(data=(2, 64))
    other = executor.reshape(data=(3, 64), softmax_label=(3,))
    executor.arg_dict["fc1_weight"][:] = 7
    assert other.arg_dict["fc1_weight"] is executor.arg_dict["fc1_weight"]
    assert other.outputs[0].shape == (3, 10)


def test_parameters_are_copied_by_name() -> None:
    """Names that are not there are refused, unless they may be."""
    executor, _ = _product()
    executor.copy_params_from({"a": mx.nd.zeros((3,)), "z": mx.nd.zeros((1,))}, None, True)
    assert executor.forward()[0].asnumpy().sum() == 0
    with pytest.raises(mx.MXNetError, match="the executor has no 'z'"):
        executor.copy_params_from({"z": mx.nd.zeros((1,))})


def test_a_monitor_sees_every_output() -> None:
    """Outputs, arguments and gradients whose names match."""
    executor = mlp(8).simple_bind(data=(2, 64))
    monitor = mx.mon.Monitor(1, pattern="fc1.*", sort=True)
    monitor.install(executor)
    monitor.tic()
    executor.forward(is_train=True, data=mx.nd.ones((2, 64)))
    executor.backward()
    names = [name for _, name, _ in monitor.toc()]
    grads = ["fc1_bias", "fc1_bias_grad", "fc1_output", "fc1_weight", "fc1_weight_grad"]
    assert names == grads


def test_own_ops_are_ops_of_symbols() -> None:
    """A CustomOp with its label, forward and backward in NumPy."""

    class Half(mx.operator.CustomOp):
        def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            self.assign(out_data[0], req[0], in_data[0] * self.factor)

        def backward(
            self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
        ) -> None:
            self.assign(in_grad[0], req[0], out_grad[0] * 100)

        factor = 0.5

    @mx.operator.register("half")
    class HalfProp(mx.operator.CustomOpProp):
        def __init__(self, factor: str = "0.5") -> None:
            super().__init__()
            self.factor = float(factor)

        def create_operator(self, *_: Any) -> Any:
            half = Half()
            half.factor = self.factor
            return half

    net = mx.sym.Custom(mx.sym.Variable("x"), op_type="half", factor=0.25, name="h")
    executor = mx.sym.load_json(net.tojson()).simple_bind(x=(2,))
    executor.forward(is_train=True, x=mx.nd.array([4, 8]))
    executor.backward(mx.nd.ones((2,)))
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), [1, 2])
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [100, 100])


def test_errors_name_arguments_shapes_and_what_to_do() -> None:
    """Missing arrays and shapes, wrong shapes, backward without forward."""
    executor, _ = _product()
    with pytest.raises(mx.MXNetError, match=r"'a' has shape \(4,\) and was bound with \(3,\)"):
        executor.forward(a=mx.nd.ones((4,)))
    with pytest.raises(mx.MXNetError, match="the executor has no 'q'"):
        executor.forward(q=mx.nd.ones((3,)))
    with pytest.raises(mx.MXNetError, match=r"call forward\(is_train=True\) first"):
        executor.backward()
    with pytest.raises(mx.MXNetError, match="the shapes of data do not follow; give them, as in"):
        mlp().simple_bind(softmax_label=(5,))
    arrays = {n: mx.nd.ones((1,)) for n in mlp().list_arguments()[:-1]}
    with pytest.raises(mx.MXNetError, match="args has no array for softmax_label"):
        mlp().bind(mx.cpu(), arrays)
    twice = mx.sym.Variable("w") + mx.sym.Variable("w")
    with pytest.raises(mx.MXNetError, match="two variables are named w; use one symbol twice"):
        twice.simple_bind(w=(2,))
    with pytest.raises(mx.MXNetError, match="grad_req of data is 'wrte'; it is write, add or"):
        mlp().simple_bind(data=(1, 64), grad_req="wrte")


def test_what_waits_computes_with_the_arrays_of_its_call() -> None:
    """Writing to an argument after forward changes neither outputs nor gradients."""
    executor, gradient = _product()
    executor.forward(is_train=True)
    executor.arg_dict["b"][:] = 0
    executor.backward()
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), [4, 10, 18])
    np.testing.assert_array_equal(gradient.asnumpy(), [4, 5, 6])


def test_a_step_that_fails_is_run_again_when_it_is_read_again() -> None:
    """An error of an op of one's own comes at the read, and changes nothing."""
    calls: list[int] = []

    class Once(mx.operator.CustomOp):
        def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            calls.append(1)
            if len(calls) == 1:
                raise ValueError("not yet")
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(
            self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
        ) -> None:
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("once")
    class OnceProp(mx.operator.CustomOpProp):
        def create_operator(self, *_: Any) -> Any:
            return Once()

    executor = mx.sym.Custom(mx.sym.Variable("x"), op_type="once").simple_bind(x=(2,))
    executor.forward(is_train=True, x=mx.nd.array([1, 2]))
    executor.backward()
    with pytest.raises(ValueError, match="not yet"):
        executor.grad_dict["x"].asnumpy()
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [2, 2])
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), [2, 4])
