"""Random training steps: hybridized nets compute what each op at once does.

Nets of random layers are applied one after the other, some outputs are read, detached or changed on
the way, losses are added, gradients are written or added, and trainers take steps.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd, gluon, nd
from byparts_frontend_mxnet.gluon import nn

LAYERS: list[Callable[[], Any]] = [
    lambda: nn.Dense(5),
    lambda: nn.Dense(3, activation="tanh"),
    nn.BatchNorm,
    lambda: nn.LeakyReLU(0.1),
    lambda: nn.Activation("sigmoid"),
]
OPTIMIZERS: list[Any] = [
    {"learning_rate": 0.1},
    {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
]


def _net(choose: random.Random, hybrid: bool) -> Any:
    net = nn.HybridSequential()
    net.add(*[choose.choice(LAYERS)() for _ in range(choose.randint(1, 3))], nn.Dense(4))
    net.initialize(mx.init.Xavier())
    net(nd.ones((5, 4)))
    is_one_of_many = choose.random() < 0.85  # also where nothing is hybridized: one stream
    net.hybridize(hybrid and is_one_of_many)
    return net


def _forward(choose: random.Random, nets: Any, x: Any, y: Any, seen: list[Any]) -> Any:
    """The sum of the losses after each of some nets, and the nets."""
    loss_of, losses, used = gluon.loss.L2Loss(), [], []
    for _ in range(choose.randint(1, 3)):
        used.append(choose.choice(nets))
        x, chance = used[-1](x), choose.random()
        if chance < 0.15:
            x = x.detach()
        elif chance < 0.3:
            seen.append(x.asnumpy())
        elif chance < 0.45:
            x = nd.tanh(x) + x[:, 0:1]
        losses.append(loss_of(x, y))
    total = nd.add_n(*losses) if len(losses) > 1 else losses[0]
    return (total.mean() if choose.random() < 0.3 else total), used


def _run(seed: int, hybrid: bool) -> list[Any]:
    """Everything that was read, then all parameters and the outputs of all nets."""
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    mx.random.seed(seed)
    nets = [_net(choose, hybrid) for _ in range(choose.randint(1, 2))]
    trainers = {
        n: gluon.Trainer(n.collect_params(), "sgd", choose.choice(OPTIMIZERS)) for n in nets
    }
    if choose.random() < 0.3:
        nets[0].collect_params().setattr("grad_req", "add")
    marked, seen = nd.array(numbers.standard_normal((5, 4))), list[Any]()
    marked.attach_grad()
    for _ in range(3):
        x, y = (nd.array(numbers.standard_normal((5, 4))) for _ in "xy")
        with autograd.record():
            start = marked * 1.0 + x if choose.random() < 0.3 else x
            total, used = _forward(choose, nets, start, y, seen)
        reads_loss, reads_gradient = choose.random() < 0.2, choose.random() < 0.3
        if reads_loss:
            seen.append(total.asnumpy())
        try:
            total.backward()
        except mx.MXNetError as error:
            seen.append(np.array(str(error)[:20]))  # all was detached
            continue
        if reads_gradient:
            last = list(used[-1].collect_params(".*dense.*weight").values())[-1]
            seen.append(last.grad().asnumpy())
        for net in dict.fromkeys(used):
            trainers[net].step(5, ignore_stale_grad=True)
            if choose.random() < 0.5:
                net.collect_params().zero_grad()
        seen.append(total.asnumpy())
    weights = [p.data().asnumpy() for n in nets for p in n.collect_params().values()]
    return [*seen, *weights, *[n(nd.ones((5, 4))).asnumpy() for n in nets]]


@pytest.mark.parametrize("seed", range(12))
def test_random_steps_are_those_of_each_op_at_once(seed: int) -> None:
    """Outputs, losses, gradients, parameters and running means of three random steps."""
    expected = _run(seed, False)

    values = _run(seed, True)

    assert len(values) == len(expected)
    for value, other in zip(values, expected, strict=True):
        if value.dtype.kind == "U":
            assert value == other
        else:
            np.testing.assert_allclose(value, other, rtol=2e-3, atol=2e-5)
