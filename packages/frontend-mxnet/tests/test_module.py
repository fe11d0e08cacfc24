from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from programs import batches, fitted, mlp, pixels


def test_fit_learns_digits_and_tells_callbacks(caplog: pytest.LogCaptureFixture) -> None:
    """Training logs metrics; scores and predictions come of the same module."""
    caplog.set_level("INFO")
    module = fitted(
        8, eval_data=batches(1500, 1797), batch_end_callback=mx.callback.Speedometer(100, 5)
    )
    val = batches(1500, 1797)
    assert dict(module.score(val, "acc"))["accuracy"] > 0.95
    assert module.predict(val).shape == (297, 10)
    assert [len(ys) for ys in module.predict(val, merge_batches=False)] == [1, 1, 1]
    assert [n for _, n, _ in module.iter_predict(val)] == [0, 1, 2]
    assert "Epoch[7] Validation-accuracy" in caplog.text and "samples/sec" in caplog.text


def test_the_loop_by_hand_is_that_of_fit() -> None:
    """forward, update_metric, backward, update give the same weights as fit."""
    by_fit = fitted(1).get_params()[0]
    np.random.seed(0)
    mx.random.seed(0)
    train, module, metric = (
        batches(0, 1500, shuffle=True),
        mx.mod.Module(mlp()),
        mx.metric.create("acc"),
    )
    module.bind(train.provide_data, train.provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={"learning_rate": 0.2, "momentum": 0.9})
    for batch in train:
        module.forward(batch)
        module.update_metric(metric, batch.label)
        module.backward()
        module.update()
    for name, x in module.get_params()[0].items():
        np.testing.assert_allclose(x.asnumpy(), by_fit[name].asnumpy(), rtol=1e-5, atol=1e-7)


def test_a_store_of_keys_trains_alike() -> None:
    """Gradients that are pushed and weights that are pulled are those of no store."""
    a, b = (fitted(1, kvstore=kv).get_params()[0] for kv in ("local", mx.kv.create("device")))
    for name in a:
        np.testing.assert_allclose(a[name].asnumpy(), b[name].asnumpy(), rtol=1e-5, atol=1e-7)


def test_a_checkpoint_goes_on_where_training_stood(tmp_path: Path) -> None:
    """Parameters and the states of the optimizer are those that were saved."""
    prefix = str(tmp_path / "net")
    module = fitted(1)
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    again = mx.mod.Module.load(prefix, 1, load_optimizer_states=True)
    for m in (module, again):
        how = {"learning_rate": 0.2, "momentum": 0.9}
        m.fit(batches(0, 500), num_epoch=1, optimizer_params=how)
    for name, x in module.get_params()[0].items():
        np.testing.assert_allclose(x.asnumpy(), again.get_params()[0][name].asnumpy(), rtol=1e-6)
    symbol, arg, _ = mx.model.load_checkpoint(prefix, 1)
    assert symbol.tojson() == module.symbol.tojson() and sorted(arg) == sorted(
        module.get_params()[0]
    )
    predictor = mx.mod.Module.load(prefix, 1)
    shapes = {"data_shapes": [("data", (1, 64))], "label_shapes": predictor._label_shapes}
    predictor.bind(for_training=False, **shapes)
    predictor.forward(mx.io.DataBatch([mx.nd.zeros((1, 64))]))
    assert predictor.get_outputs()[0].shape == (1, 10)


def test_batches_of_other_sizes_take_another_program() -> None:
    """The weights are the same, and going back binds nothing anew."""
    module = fitted(1)
    x, _ = pixels()
    for size in (3, 100, 3):
        module.forward(mx.io.DataBatch([mx.nd.array(x[:size])]), is_train=False)
        assert module.get_outputs()[0].shape == (size, 10)
    assert len(module._executors) == 2


def test_inputs_get_gradients_and_fixed_parameters_none() -> None:
    """What is fixed keeps its value; data has a gradient where it is asked for."""
    module = mx.mod.Module(mlp(), fixed_param_names=["fc1_weight"])
    train = batches(0, 100)
    module.bind(train.provide_data, train.provide_label, inputs_need_grad=True)
    module.init_params(mx.init.Xavier())
    module.init_optimizer()
    before = module.get_params()[0]
    module.forward_backward(next(train))
    module.update()
    after = module.get_params()[0]
    assert (before["fc1_weight"].asnumpy() == after["fc1_weight"].asnumpy()).all()
    assert (before["fc2_weight"].asnumpy() != after["fc2_weight"].asnumpy()).any()
    assert module.get_input_grads()[0].shape == (100, 64)


def test_modules_in_sequence_train_as_one() -> None:
    """Gradients of the data go back to the module before."""
    hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="f1")
    first = mx.mod.Module(mx.sym.Activation(hidden, act_type="relu"), label_names=[])
    last = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=10, name="f2")
    second = mx.mod.Module(mx.sym.SoftmaxOutput(last, name="softmax"))
    both = mx.mod.SequentialModule().add(first).add(second, take_labels=True, auto_wiring=True)
    how = {"learning_rate": 0.2, "momentum": 0.9}
    both.fit(batches(0, 1500), num_epoch=3, optimizer_params=how, initializer=mx.init.Xavier())
    assert dict(both.score(batches(0, 1500), "acc"))["accuracy"] > 0.9


def test_feed_forward_fits_arrays_and_predicts(tmp_path: Path) -> None:
    """The interface of 2016, with NumPy arrays on both sides."""
    x, y = pixels()
    how = {"learning_rate": 0.2, "momentum": 0.9, "initializer": mx.init.Xavier()}
    model = mx.model.FeedForward(mlp(), num_epoch=5, **how)
    model.fit(x[:1500], y[:1500])
    assert model.score(x[1500:], y[1500:]) > 0.9
    model.save(str(tmp_path / "m"))
    again = mx.model.FeedForward.load(str(tmp_path / "m"), 5)
    np.testing.assert_array_equal(again.predict(x[1500:]), model.predict(x[1500:]))


def test_errors_say_which_parameter_and_which_call() -> None:
    """Missing parameters, calls in the wrong order, names that are not there."""
    module, train = mx.mod.Module(mlp()), batches(0, 100)
    with pytest.raises(mx.MXNetError, match="Module: call bind and init_params first"):
        module.forward(next(train))
    module.bind(train.provide_data, train.provide_label)
    with pytest.raises(mx.MXNetError, match="fc1_bias is not among the parameters that were given"):
        module.init_params(arg_params={"fc1_weight": mx.nd.ones((64, 64))})
    with pytest.raises(mx.MXNetError, match=r"fc1_weight is \(64, 64\), and was given \(2, 2\)"):
        module.init_params(arg_params={"fc1_weight": mx.nd.ones((2, 2))})
    with pytest.raises(mx.MXNetError, match="fit: num_epoch is missing"):
        module.fit(train)
    with pytest.raises(mx.MXNetError, match="the symbol of the module has no 'dta'"):
        mx.mod.Module(mlp(), data_names=["dta"])


def test_arrays_of_a_batch_go_to_the_names_that_it_was_bound_with() -> None:
    """Not to those of the module, in whatever order it has them."""
    net = mx.sym.Variable("a") - mx.sym.Variable("b")
    module = mx.mod.Module(net, data_names=["a", "b"], label_names=None)
    module.bind([("b", (2,)), ("a", (2,))], for_training=False)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2,)), mx.nd.full((2,), 3)]))
    assert module.get_outputs()[0].asnumpy().tolist() == [2, 2]
    with pytest.raises(mx.MXNetError, match="the batch has 1 arrays of data; the module was bound"):
        module.forward(mx.io.DataBatch([mx.nd.ones((2,))]))


def test_metrics_of_several_outputs_take_theirs_by_name() -> None:
    """A group of two outputs, with a metric for one."""
    data = mx.sym.Variable("data")
    one = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=10), name="a")
    two = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=2), name="b")
    x, y = pixels()
    train = mx.io.NDArrayIter(x[:500], {"a_label": y[:500], "b_label": y[:500] % 2}, 100)
    module: Any = mx.mod.Module(mx.sym.Group([one, two]), label_names=["a_label", "b_label"])
    metric = mx.metric.Accuracy(output_names=["b_output"], label_names=["b_label"])
    module.fit(train, eval_metric=metric, num_epoch=10, optimizer_params={"learning_rate": 0.5})
    assert dict(module.score(train, metric))["accuracy"] > 0.8


def _bound(**how: Any) -> Any:
    """A module that is ready to train on 100 digits, with known weights."""
    mx.random.seed(1)
    module, train = mx.mod.Module(mlp(8)), batches(0, 100)
    module.bind(train.provide_data, train.provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(**how)
    return module


@pytest.mark.parametrize("name", ["adam", "rmsprop", "nag", "adagrad"])
def test_an_update_in_the_step_is_that_of_arrays(name: str) -> None:
    """Who reads the outputs in between has three programs, and the same weights."""
    how = {"optimizer": name, "optimizer_params": {"learning_rate": 0.01, "wd": 0.1}}
    whole, parts = _bound(**how), _bound(**how)
    for _ in range(3):
        batch = next(batches(0, 100))
        for module in (whole, parts):
            module.forward_backward(batch)
            if module is parts:
                assert np.isfinite(module.get_outputs()[0].asnumpy()).all()
            module.update()
    a, b = whole.get_params()[0], parts.get_params()[0]
    for n in a:
        np.testing.assert_allclose(a[n].asnumpy(), b[n].asnumpy(), rtol=1e-5, atol=1e-7)


def test_a_rate_that_changes_compiles_nothing() -> None:
    """Rates are arguments of the program."""
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5)
    module = _bound(optimizer_params={"learning_rate": 0.5, "lr_scheduler": schedule})
    for _ in range(4):
        module.forward_backward(next(batches(0, 100)))
        module.update()
    (step,) = module._exec._programs.values()
    assert len(step.programs) == 1


@pytest.mark.parametrize("keeps", [True, False])
def test_gradients_are_kept_after_an_update_or_refused_once(
    keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that never left the program; the error says what to do, and the next ones are kept."""
    monkeypatch.setitem(mx.options, "keep_gradients", keeps)
    module = _bound()
    for step in range(2):
        module.forward_backward(next(batches(0, 100)))
        module.update()
        gradient = module._exec.grad_dict["fc1_weight"]
        if step == 0 and not keeps:
            with pytest.raises(mx.MXNetError, match=r"read it before step\(\) or update\(\)"):
                gradient.asnumpy()
        else:
            assert np.abs(gradient.asnumpy()).max() > 0


def test_gradients_are_added_up_by_hand_before_the_update() -> None:
    """As a program of two networks of 2016 does it, on the arrays of each device."""
    once, twice = _bound(), _bound()
    for _ in range(2):
        once.forward_backward(next(batches(0, 100)))
    for module, factor in ((once, 2), (twice, 1)):
        module.forward_backward(next(batches(0, 100)))
        for (gradient,) in module._exec_group.grad_arrays:
            gradient *= factor
        module.update()
    twice_weight = twice.get_params()[0]["fc1_weight"].asnumpy()
    moved = [m.get_params()[0]["fc1_weight"].asnumpy() for m in (once, _bound())]
    np.testing.assert_allclose(moved[0] - moved[1], (twice_weight - moved[1]) * 2, atol=1e-6)


def test_an_optimizer_of_ones_own_updates_arrays() -> None:
    """A class with update(index, weight, grad, state), by its name."""

    @mx.optimizer.register
    class Signs(mx.optimizer.Optimizer):
        def create_state(self, index: Any, weight: Any) -> Any:
            return None

        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            weight[:] = weight - mx.nd.sign(grad) * self.lr

    module = _bound(optimizer="signs", optimizer_params={"learning_rate": 0.25})
    before = module.get_params()[0]["fc2_bias"].asnumpy()
    module.forward_backward(next(batches(0, 100)))
    module.update()
    moved = module.get_params()[0]["fc2_bias"].asnumpy() - before
    assert set(np.abs(moved)) == {0.25}


def test_feed_forward_takes_a_symbol_for_each_bucket() -> None:
    """The interface of 2016 trains a function of the key; the weights are one set."""

    def network(length: int) -> Any:
        words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=5, output_dim=3, name="e")
        y = mx.sym.FullyConnected(mx.sym.sum(words, axis=1), num_hidden=5, name="f")
        return mx.sym.SoftmaxOutput(y, name="softmax")

    class Lengths(mx.io.DataIter):
        default_bucket_key = 4
        provide_data, provide_label = [("data", (2, 4))], [("softmax_label", (2,))]

        def __iter__(self) -> Any:
            for n in (2, 4):
                shapes = [("data", (2, n))], self.provide_label
                arrays = [mx.nd.ones((2, n))], [mx.nd.ones((2,))]
                yield mx.io.DataBatch(*arrays, 0, None, n, *shapes)

    model = mx.model.FeedForward(network, num_epoch=2, learning_rate=0.5)
    model.fit(Lengths(2))
    assert sorted(model.arg_params or {}) == ["e_weight", "f_bias", "f_weight"]
    assert model.module.score(Lengths(2), "acc") == [("accuracy", 1.0)]


def test_a_loss_in_python_trains_the_modules_before_it() -> None:
    """The hinge of several classes, whose gradient is a function of NumPy arrays."""

    def hinge(scores: Any, labels: Any) -> Any:
        x, y = scores.asnumpy(), labels.asnumpy().astype(int)
        rows, grad = np.arange(len(x)), np.zeros_like(x)
        worst = (1 + x - x[rows, y][:, None] - np.eye(10)[y]).argmax(1)
        np.add.at(grad, (rows, worst), 1)
        np.add.at(grad, (rows, y), -1)
        return grad

    score = mx.mod.Module(mlp().get_internals()["fc2_output"], label_names=None)
    loss = mx.mod.PythonLossModule(grad_func=hinge)
    module = mx.mod.SequentialModule().add(score).add(loss, take_labels=True, auto_wiring=True)
    how = {"initializer": mx.init.Xavier(), "optimizer_params": {"learning_rate": 0.1}}
    module.fit(batches(0, 1500), num_epoch=4, **how)
    assert dict(module.score(batches(1500, 1797), "acc"))["accuracy"] > 0.9
    with pytest.raises(NotImplementedError, match="give grad_func="):
        mx.mod.PythonLossModule().backward()
