"""Tests of optimizers against their equations, of first values and of schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd, gluon, nd

G = np.array([1.0, -2.0, 0.1])


def _sgd(w: Any, s: Any, t: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) - 0.1 * (G + 0.01 * w)
    return w + s["m"]


def _nag(w: Any, s: Any, t: int) -> Any:
    d = G + 0.01 * w
    s["m"] = 0.9 * s.get("m", 0) + d
    return w - 0.1 * (d + 0.9 * s["m"])


def _adam(w: Any, s: Any, t: int) -> Any:
    d = G + 0.01 * w
    s["m"], s["v"] = 0.9 * s.get("m", 0) + 0.1 * d, 0.999 * s.get("v", 0) + 0.001 * d * d
    rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return w - rate * s["m"] / (np.sqrt(s["v"]) + 1e-8)


def _adamax(w: Any, s: Any, t: int) -> Any:
    d = G + 0.01 * w
    s["m"], s["u"] = 0.9 * s.get("m", 0) + 0.1 * d, np.maximum(0.999 * s.get("u", 0), abs(d))
    return w - 0.1 / (1 - 0.9**t) * s["m"] / (s["u"] + 1e-8)


def _rmsprop(w: Any, s: Any, t: int) -> Any:
    d = G + 0.01 * w
    s["n"] = 0.9 * s.get("n", 0) + 0.1 * d * d
    return w - 0.1 * d / np.sqrt(s["n"] + 1e-8)


def _adagrad(w: Any, s: Any, t: int) -> Any:
    s["h"] = s.get("h", 0) + G * G
    return w - 0.1 * (G / np.sqrt(s["h"] + 1e-7) + 0.01 * w)


def _adadelta(w: Any, s: Any, t: int) -> Any:
    s["g"] = 0.9 * s.get("g", 0) + 0.1 * G * G
    move = np.sqrt(s.get("x", 0) + 1e-5) / np.sqrt(s["g"] + 1e-5) * G
    s["x"] = 0.9 * s.get("x", 0) + 0.1 * move * move
    return w - move - 0.01 * w


def _ftrl(w: Any, s: Any, t: int) -> Any:
    n = s.get("n", 0) + G * G
    s["z"] = s.get("z", 0) + G - (np.sqrt(n) - np.sqrt(s.get("n", 0))) * w / 0.1
    s["n"] = n
    new = (np.sign(s["z"]) * 0.01 - s["z"]) / ((1 + np.sqrt(n)) / 0.1 + 0.01)
    return np.where(abs(s["z"]) > 0.01, new, 0)


EQUATIONS = {"sgd": _sgd, "nag": _nag, "adam": _adam, "adamax": _adamax, "rmsprop": _rmsprop,
             "adagrad": _adagrad, "adadelta": _adadelta, "ftrl": _ftrl}  # fmt: skip


@pytest.mark.parametrize("name", EQUATIONS)
def test_an_optimizer_follows_its_equation(name: str) -> None:
    """Three updates, with decay, of a gradient that is scaled and clipped to what it was."""
    how: dict[str, Any] = {"momentum": 0.9} if name in ("sgd", "nag") else {}
    made = mx.optimizer.create(name, learning_rate=0.1, wd=0.01, rescale_grad=0.5, **how)
    made.clip_gradient = 2.0
    update, w = mx.optimizer.get_updater(made), nd.ones(3)
    state: dict[str, Any] = {}
    expected = np.ones(3)

    for t in range(1, 4):
        update(0, nd.array(G * 2), w)
        expected = EQUATIONS[name](expected, state, t)

    np.testing.assert_allclose(w.asnumpy(), expected, rtol=1e-4)


def test_an_optimizer_of_ones_own() -> None:
    """A class with `update` on arrays, by its name in a trainer."""

    @mx.optimizer.register
    class Signs(mx.optimizer.Optimizer):
        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            self._update_count(index)
            weight[:] = weight - self._get_lr(index) * nd.sign(grad)

    net = gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "signs", {"learning_rate": 0.5})
    with autograd.record():
        y = net(nd.array([[2.0, -3.0]]))
    y.backward()
    trainer.step(1)

    assert net.weight.data().asnumpy().tolist() == [[0.5, 1.5]]


def test_rates_change_and_states_come_back(tmp_path: Path) -> None:
    """A schedule, `set_learning_rate`, factors of parameters, states through a file."""

    def stepped(trainer: Any, net: Any) -> Any:
        with autograd.record():
            y = net(nd.ones((1, 2)))
        y.backward()
        trainer.step(1)
        return net.weight.data().asnumpy().copy()

    def made(**how: Any) -> Any:
        net = gluon.nn.Dense(1, in_units=2)
        net.initialize(mx.init.One())
        net.hybridize()
        return gluon.Trainer(net.collect_params(), "sgd", how), net

    trainer, net = made(learning_rate=0.1)
    net.weight.lr_mult = 2.0
    seen = [stepped(trainer, net)[0, 0]]
    for rate in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):  # at first constants of a program
        trainer.set_learning_rate(rate)
        seen.append(stepped(trainer, net)[0, 0])
    moves = -np.diff([1.0, *seen])
    np.testing.assert_allclose(moves, [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4], rtol=1e-4)

    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5)
    trainer, net = made(learning_rate=0.4, momentum=0.5, lr_scheduler=schedule)
    stepped(trainer, net)
    stepped(trainer, net)
    assert trainer.learning_rate == 0.2
    trainer.save_states(str(tmp_path / "s"))
    again = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.5})
    again.load_states(str(tmp_path / "s"))
    before = net.weight.data().asnumpy().copy()
    np.testing.assert_allclose(before - stepped(again, net), 0.5 * 0.4 + 0.1, rtol=1e-5)


def test_schedules() -> None:
    """Rates change by a factor at numbers of updates."""
    multi = mx.lr_scheduler.MultiFactorScheduler(step=[2, 4], factor=0.1, base_lr=1.0)

    np.testing.assert_allclose([multi(i) for i in (1, 3, 5)], [1, 0.1, 0.01])


def test_first_values() -> None:
    """Initializers go by the end of the name, text, a pattern, arrays."""

    def filled(init: Any, name: str, shape: Any) -> Any:
        x = nd.zeros(shape)
        init(mx.init.InitDesc(name), x)
        return x.asnumpy()

    xavier = mx.init.create(mx.init.Xavier(magnitude=6.0).dumps())
    w = filled(xavier, "fc_weight", (300, 100))
    assert abs(w).max() <= np.sqrt(6 / 200) < abs(w).max() * 1.01
    assert filled(xavier, "fc_bias", 3).tolist() == [0, 0, 0]
    assert filled(xavier, "bn_gamma", 2).tolist() == [1, 1]
    q = filled(mx.init.Orthogonal(scale=2.0), "w_weight", (3, 5))
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)
    assert filled(mx.init.LSTMBias(1.0), "l_bias", 8).tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    mixed = mx.init.Mixed(["fc.*", ".*"], [mx.init.One(), mx.init.Constant(3)])
    assert filled(mixed, "fc_weight", 2).tolist() == [1, 1]
    assert filled(mixed, "conv_weight", 2).tolist() == [3, 3]
    loaded = mx.init.Load({"arg:a_weight": nd.ones(2) * 5}, default_init=mx.init.Zero())
    assert filled(loaded, "a_weight", 2).tolist() == [5, 5]
    with pytest.raises(mx.MXNetError, match="ends with none of upsampling, weight"):
        filled(xavier, "fc_w", (2, 2))
    with pytest.raises(mx.MXNetError, match=r"mx.init has no 'xaver'; close names: xavier"):
        mx.init.create("xaver")
    with pytest.raises(mx.MXNetError, match=r"Module\(symbol, label_names=\['out_label'\]\)"):
        filled(xavier, "out_label", 2)
    with pytest.raises(mx.MXNetError, match="SGD has no argument 'lr'; all have learning_rate"):
        mx.optimizer.create("sgd", lr=1)
