"""Tests of gluon: a hybridized net trains exactly as each op at once does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd, gluon, nd, tape
from byparts_frontend_mxnet.gluon import nn, rnn
from programs import pixels


def _net(*layers: Any, hybrid: bool = False) -> Any:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(*[layer() for layer in layers])
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    return net


CONV = (
    lambda: nn.Conv2D(4, 3, activation="relu"),
    nn.BatchNorm,
    lambda: nn.MaxPool2D(2, 2),
    lambda: nn.Dropout(0.2),
    lambda: nn.Dense(10),
)


def _trained(hybrid: bool, optimizer: str, how: Any, peek: str = "") -> Any:
    """Losses of five steps, and the net."""
    mx.random.seed(3)
    net = _net(*CONV, hybrid=hybrid)
    loss_of, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    trainer = gluon.Trainer(net.collect_params(), optimizer, how)
    x, y = pixels()
    for i in range(5):
        batch = nd.array(x[i * 32 : i * 32 + 32].reshape(32, 1, 8, 8))
        label = nd.array(y[i * 32 : i * 32 + 32])
        with autograd.record():
            loss = loss_of(net(batch), label)
            if peek == "loss":
                loss.asnumpy()
        loss.backward()
        if peek == "gradient":
            net[0].weight.grad().asnumpy()
        trainer.step(32)
        losses.append(loss.mean().asscalar())
    return losses, net


@pytest.mark.parametrize(
    ("optimizer", "how", "peek"),
    [
        ("sgd", {"learning_rate": 0.1}, ""),
        ("sgd", {"learning_rate": 0.1}, "loss"),
        ("sgd", {"learning_rate": 0.1}, "gradient"),
        ("adam", {"learning_rate": 0.01, "wd": 1e-3}, ""),
    ],
)
def test_a_hybridized_net_trains_as_each_op_at_once(optimizer: str, how: Any, peek: str) -> None:
    """The losses, weights and running statistics of five steps, whatever is read on the way."""
    losses, net = _trained(False, optimizer, how)

    hybrid_losses, hybrid_net = _trained(True, optimizer, how, peek)

    np.testing.assert_allclose(hybrid_losses, losses, rtol=1e-5)
    for name, p in net.collect_params().items():
        other = hybrid_net.collect_params()[name].data().asnumpy()
        np.testing.assert_allclose(other, p.data().asnumpy(), rtol=1e-4, atol=1e-6)


def test_a_step_is_one_program() -> None:
    """Forward, backward and update; made once, whatever the number of steps."""
    tape._programs.clear()

    _trained(True, "sgd", {"learning_rate": 0.1})

    assert len(tape._programs) == 1
    assert [len(p.programs) for p in tape._programs.values()] == [1]


def test_gradients_of_a_step_can_be_read_after_it() -> None:
    """They are those of the network that is not hybridized."""
    (_, net), (_, hybrid_net) = (_trained(h, "sgd", {"learning_rate": 0.1}) for h in (False, True))

    trained = {k: p for k, p in net.collect_params().items() if p.grad_req != "null"}
    for name, p in trained.items():
        other = hybrid_net.collect_params()[name].grad().asnumpy()
        assert abs(other).max() > 0
        np.testing.assert_allclose(other, p.grad().asnumpy(), rtol=1e-4, atol=1e-6)


def test_a_gradient_that_was_used_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors: a gradient after its step; set to 0, or in the next step, it is there."""
    monkeypatch.setitem(mx.options, "keep_gradients", False)
    _, net = _trained(True, "sgd", {"learning_rate": 0.1})
    gradient = net[0].weight.grad()
    with pytest.raises(mx.MXNetError, match=r"read it before step\(\)"):
        gradient.asnumpy()
    net[0].weight.zero_grad()
    assert (gradient.asnumpy() == 0).all()

    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with autograd.record():
        y = net(nd.random.normal(shape=(2, 1, 8, 8)))
    y.backward()
    trainer.step(1)

    assert gradient.shape == (4, 1, 3, 3)
    assert abs(gradient.asnumpy()).max() > 0


def test_two_nets_play_a_game() -> None:
    """Generator and discriminator, trained in turn, hybridized and not."""

    def game(hybrid: bool) -> Any:
        mx.random.seed(5)
        make = (lambda: nn.Dense(4, activation="tanh"), lambda: nn.Dense(2))
        nets = [_net(*make, hybrid=hybrid) for _ in range(2)]
        trainers = [
            gluon.Trainer(n.collect_params(), "adam", {"learning_rate": 0.05}) for n in nets
        ]
        loss_of, real = gluon.loss.SoftmaxCrossEntropyLoss(), nd.random.normal(2, 1, shape=(8, 2))
        ones, zeros = nd.ones(8), nd.zeros(8)
        for _ in range(3):
            noise = nd.random.normal(shape=(8, 2))
            with autograd.record():
                fake = nets[0](noise)
                error = loss_of(nets[1](real), ones) + loss_of(nets[1](fake.detach()), zeros)
                error.backward()
            trainers[1].step(8)
            with autograd.record():
                error = loss_of(nets[1](nets[0](noise)), ones)
                error.backward()
            trainers[0].step(8)
        return error.asnumpy()

    np.testing.assert_allclose(game(True), game(False), rtol=1e-4)


def test_gradients_by_data_of_a_hybridized_net() -> None:
    """An array of one's own with a gradient, as adversarial examples need."""
    net = _net(lambda: nn.Dense(3), hybrid=True)
    x = nd.ones((2, 4))
    x.attach_grad()

    with autograd.record():
        y = net(x).sum()
    y.backward()

    expected = net[0].weight.data().asnumpy().sum(0)
    np.testing.assert_allclose(x.grad.asnumpy(), np.stack([expected] * 2), rtol=1e-5)


def test_several_devices_hold_equal_weights() -> None:
    """Gradients of the parts of a batch are added; the copies stay equal."""
    contexts = [mx.cpu(0), mx.cpu(1)]
    x, y = (nd.array(a[:32]) for a in pixels())

    def trained(devices: Any, hybrid: bool) -> Any:
        mx.random.seed(1)
        net = nn.HybridSequential()
        net.add(nn.Dense(8, activation="relu"), nn.Dense(10))
        net.initialize(mx.init.Xavier(), ctx=devices)
        net.hybridize(hybrid)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        for _ in range(3):
            parts = [gluon.utils.split_and_load(a, devices) for a in (x, y)]
            with autograd.record():
                losses = [loss_of(net(a), b) for a, b in zip(*parts, strict=True)]
            for loss in losses:
                loss.backward()
            trainer.step(32)
        return [w.asnumpy() for w in net[0].weight.list_data()]

    (one,) = trained(contexts[:1], False)
    for hybrid in (False, True):
        two = trained(contexts, hybrid)
        assert (two[0] == two[1]).all()
        np.testing.assert_allclose(two[0], one, rtol=1e-4, atol=1e-6)


def test_names_shapes_and_files(tmp_path: Path) -> None:
    """Prefixes by scope, shapes by the first call, parameters through a file, shared parameters."""
    net = _net(lambda: nn.Dense(4, activation="tanh"), lambda: nn.Dense(2))
    names = ["net_dense0_weight", "net_dense0_bias", "net_dense1_weight", "net_dense1_bias"]
    assert list(net.collect_params()) == names
    assert list(net.collect_params(".*weight")) == names[::2]
    assert net[0].weight.shape == (4, 0)
    y = net(nd.ones((3, 5)))
    assert net[0].weight.shape == (4, 5)

    net.save_params(str(tmp_path / "p"))
    other = nn.Sequential()
    with other.name_scope():
        other.add(nn.Dense(4, activation="tanh"), nn.Dense(2))
    other.load_parameters(str(tmp_path / "p"))
    shared = nn.Dense(2, in_units=4, params=other[1].params)

    assert (other(nd.ones((3, 5))) == y).asnumpy().all()
    assert shared.weight is other[1].weight
    assert "Dense(5 -> 4, linear)" not in repr(net)
    with pytest.raises(mx.MXNetError, match="has no 'net_conv0_weight'"):
        _net(lambda: nn.Conv2D(2, 3)).load_params(str(tmp_path / "p"))


def test_a_block_of_ones_own_with_either_namespace() -> None:
    """`hybrid_forward` gets F and its parameters, whose shape an op tells."""

    class Twice(gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.w = self.params.get("w", shape=(3, 0), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:  # noqa: N803
            return F.FullyConnected(x, w, num_hidden=3, no_bias=True) * 2

    net = Twice(prefix="twice_")
    net.initialize(mx.init.One())
    eager = net(nd.ones((2, 4)))
    net.hybridize()

    assert (eager.asnumpy() == 8).all()
    assert (net(nd.ones((2, 4))) == eager).asnumpy().all()
    assert net(mx.sym.Variable("data")).list_arguments() == ["data", "twice_w"]


def test_gluon_refuses_in_sentences() -> None:
    """Not initialized, shape unknown, stale gradients, nothing to train."""
    net = nn.Dense(3)
    with pytest.raises(mx.MXNetError, match=r"has not been initialized; call net.initialize\(\)"):
        net(nd.ones((2, 4)))
    net.initialize()
    with pytest.raises(mx.MXNetError, match="call the net on one batch before"):
        net.weight.data()
    net(nd.ones((2, 4)))
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(UserWarning, match=r"is not new: no backward\(\)"):
        trainer.step(2)
    trainer.step(2, ignore_stale_grad=True)
    with pytest.raises(mx.MXNetError, match=r"mx.optimizer has no 'sgdd'; close names: sgd"):
        gluon.Trainer(net.collect_params(), "sgdd")
    with pytest.raises(mx.MXNetError, match=r"give net.collect_params"):
        gluon.Trainer([net], "sgd")
    with pytest.raises(mx.MXNetError, match="whose 0 is unknown"):
        gluon.Parameter("w", shape=(0, 2)).initialize()
    with pytest.raises(mx.MXNetError, match=r"byparts_nn.data.digits\(\)"):
        gluon.data.vision.MNIST(root="/nowhere")


LOSSES: dict[str, Any] = {
    "L2Loss": lambda p, y: (p - y) ** 2 / 2,
    "L1Loss": lambda p, y: abs(p - y),
    "HuberLoss": lambda p, y: np.where(abs(p - y) > 1, abs(p - y) - 0.5, (p - y) ** 2 / 2),
    "HingeLoss": lambda p, y: np.maximum(1 - p * y, 0),
    "SquaredHingeLoss": lambda p, y: np.maximum(1 - p * y, 0) ** 2,
    "LogisticLoss": lambda p, y: np.log1p(np.exp(-p * y)),
    "SigmoidBCELoss": lambda p, y: np.log1p(np.exp(p)) - p * y,
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_the_mean_for_each_example(name: str) -> None:
    """Losses are means of the equation over all axes but the first, times a weight."""
    random = np.random.default_rng(1)
    p = random.standard_normal((4, 3)).astype(np.float32) * 2
    y: Any = np.sign(random.standard_normal((4, 3))).astype(np.float32)
    y = (y + 1) / 2 if name == "SigmoidBCELoss" else y

    loss = getattr(gluon.loss, name)(weight=2.0)(nd.array(p), nd.array(y))

    np.testing.assert_allclose(loss.asnumpy(), 2 * LOSSES[name](p, y).mean(1), rtol=1e-5)


def test_cross_entropies() -> None:
    """Labels as indices or probabilities, predictions as logarithms, large classes, divergence."""
    p = np.random.default_rng(1).standard_normal((3, 200)).astype(np.float32)
    logs, label = nd.log_softmax(nd.array(p)), nd.array([0, 199, 5])
    expected = -logs.asnumpy()[range(3), [0, 199, 5]]
    loss = gluon.loss.SoftmaxCrossEntropyLoss

    for y in (
        loss()(nd.array(p), label),
        loss(from_logits=True)(logs, label),
        loss(sparse_label=False)(nd.array(p), nd.one_hot(label, 200)),
    ):
        np.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-5)
    kl = gluon.loss.KLDivLoss()(logs, nd.softmax(nd.array(p)))
    np.testing.assert_allclose(kl.asnumpy(), 0, atol=1e-6)


def test_recurrent_layers_and_cells_agree() -> None:
    """Two layers at once, and two cells unrolled with their weights; states go on."""
    layer = rnn.LSTM(3, 2, layout="NTC", prefix="x_")
    layer.initialize(mx.init.Uniform(1.0))
    x = nd.random.normal(shape=(2, 5, 4))
    y, states = layer(x, layer.begin_state(2))
    cells = rnn.SequentialRNNCell(prefix="x_")
    for i in range(2):
        cells.add(rnn.LSTMCell(3, prefix=f"x_l{i}_", params=layer.params))
    with pytest.raises(mx.MXNetError, match="not been initialized"):
        cells.unroll(5, x)
    cells = rnn.SequentialRNNCell()
    cells.add(rnn.LSTMCell(3))
    cells.add(rnn.LSTMCell(3))
    cells.initialize()
    cells.unroll(5, x)
    for i in range(2):
        for part in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias"):
            getattr(cells[i], part).set_data(layer.params[f"x_l{i}_{part}"].data())

    outputs, last = cells.unroll(5, x, merge_outputs=True)

    np.testing.assert_allclose(outputs.asnumpy(), y.asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(last[3].asnumpy(), states[1][1].asnumpy(), rtol=1e-5, atol=1e-6)
    both = rnn.GRU(3, bidirectional=True)
    both.initialize()
    assert both(nd.ones((5, 2, 4))).shape == (5, 2, 6)


def test_batches() -> None:
    """Kept, discarded, rolled over; shuffled; transformed; of tuples and of one array."""
    x, y = np.arange(10, dtype=np.float32).reshape(5, 2), np.arange(5)
    data = gluon.data.ArrayDataset(x, y)

    def sizes(**how: Any) -> list[int]:
        return [len(b) for b, _ in gluon.data.DataLoader(data, 2, **how)]

    assert sizes() == [2, 2, 1]
    assert sizes(last_batch="discard") == [2, 2]
    rolled = gluon.data.DataLoader(data, 2, last_batch="rollover")
    assert [[len(b) for b, _ in rolled] for _ in range(2)] == [[2, 2], [2, 2, 2]]
    labels = [n for _, b in gluon.data.DataLoader(data, 2, shuffle=True) for n in b.asnumpy()]
    assert sorted(labels) == [0, 1, 2, 3, 4]
    twice = data.transform(lambda a, b: (a * 2, b))
    assert next(iter(gluon.data.DataLoader(twice, 3)))[0].asnumpy().tolist()[1] == [4, 6]
    assert len(gluon.data.DataLoader(gluon.data.SimpleDataset([1, 2, 3]), 2)) == 2


def test_a_trainer_starts_anew_with_another_optimizer() -> None:
    """The call by which the language model of 2017 lowers its rate; also within a program."""
    net = nn.Dense(1, use_bias=False, in_units=1)
    net.initialize(mx.init.One())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1})
    seen = []
    for name in ("sgd", "adagrad", "sgd"):
        trainer._init_optimizer(name, {"learning_rate": 1, "wd": 0})
        with mx.autograd.record():
            y = net(nd.array([[0.25]]))
        y.backward()
        trainer.step(1)
        seen.append(net.weight.data().asscalar())
    np.testing.assert_allclose(seen, [0.75, -0.25, -0.5], atol=1e-5)
