"""Layers, losses, optimizers and schedules beside PyTorch's, with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import numbers

import byparts_nn as nn
import byparts_opset as ops
from byparts_eager import asarray, training_mode, value_and_grad
from byparts_nn import schedules

torch = pytest.importorskip("torch", reason="needs torch")

F64 = "f64"
LAYERS: dict[str, tuple[Callable[[], Any], Callable[[], Any], tuple[int, ...]]] = {
    "conv1d": (
        lambda: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2, dtype=F64),
        lambda: torch.nn.Conv1d(4, 6, 3, 2, 1, groups=2),
        (2, 4, 7),
    ),
    "conv2d": (
        lambda: nn.Conv2d(4, 6, (3, 2), dilation=2, padding=(2, 1), dtype=F64),
        lambda: torch.nn.Conv2d(4, 6, (3, 2), padding=(2, 1), dilation=2),
        (2, 4, 5, 6),
    ),
    "conv3d": (
        lambda: nn.Conv3d(
            4,
            6,
            (2, 3, 2),
            stride=(2, 1, 1),
            padding=(1, 0, 1),
            dilation=(2, 1, 1),
            groups=2,
            dtype=F64,
        ),
        lambda: torch.nn.Conv3d(4, 6, (2, 3, 2), (2, 1, 1), (1, 0, 1), (2, 1, 1), 2),
        (2, 4, 5, 6, 3),
    ),
    "conv_transpose1d": (
        lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, dtype=F64),
        lambda: torch.nn.ConvTranspose1d(4, 6, 3, 2, 1, 1),
        (2, 4, 5),
    ),
    "conv_transpose2d": (
        lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2, dilation=2, dtype=F64),
        lambda: torch.nn.ConvTranspose2d(4, 6, 3, 2, groups=2, dilation=2),
        (2, 4, 3, 4),
    ),
    "conv_transpose3d": (
        lambda: nn.ConvTranspose3d(
            4,
            6,
            (2, 3, 2),
            stride=(3, 1, 2),
            padding=(1, 0, 1),
            output_padding=(2, 0, 1),
            groups=2,
            dtype=F64,
        ),
        lambda: torch.nn.ConvTranspose3d(4, 6, (2, 3, 2), (3, 1, 2), (1, 0, 1), (2, 0, 1), 2),
        (2, 4, 3, 3, 2),
    ),
    "group_norm": (
        lambda: nn.GroupNorm(2, 4, dtype=F64),
        lambda: torch.nn.GroupNorm(2, 4),
        (3, 4, 5),
    ),
    "layer_norm": (
        lambda: nn.LayerNorm((4, 5), dtype=F64),
        lambda: torch.nn.LayerNorm((4, 5)),
        (3, 4, 5),
    ),
    "instance_norm": (
        lambda: nn.InstanceNorm(4, affine=True, dtype=F64),
        lambda: torch.nn.InstanceNorm2d(4, affine=True),
        (3, 4, 5, 2),
    ),
    "rms_norm": (lambda: nn.RMSNorm(5, dtype=F64), lambda: torch.nn.RMSNorm(5, eps=1e-6), (3, 5)),
    "max_pool2d": (
        lambda: nn.MaxPool2d(3, stride=2, padding=1),
        lambda: torch.nn.MaxPool2d(3, 2, 1),
        (2, 3, 5, 6),
    ),
    "max_pool3d": (
        lambda: nn.MaxPool3d((1, 2, 3), stride=(2, 1, 2), padding=(0, 1, 1)),
        lambda: torch.nn.MaxPool3d((1, 2, 3), (2, 1, 2), (0, 1, 1)),
        (2, 3, 5, 4, 6),
    ),
    "average_pool1d": (
        lambda: nn.AveragePool1d(3, padding=1),
        lambda: torch.nn.AvgPool1d(3, padding=1),
        (2, 3, 7),
    ),
    "average_pool3d": (
        lambda: nn.AveragePool3d((2, 3, 2), stride=1, padding=(1, 1, 0)),
        lambda: torch.nn.AvgPool3d((2, 3, 2), 1, (1, 1, 0)),
        (2, 3, 4, 5, 3),
    ),
}


def tensor(x: Any) -> Any:
    return torch.from_numpy(np.array(x))


def copied(layer: Any, own: Any) -> Any:
    """A layer of torch in f64, with the weights of ours, which have the same names and layouts."""
    layer = layer.double()
    with torch.no_grad():
        for name, cell in own.parameters().items():
            layer.get_parameter(name).copy_(tensor(cell.value))
    return layer


def close(x: Any, y: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(x.numpy(), y.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_torchs(name: str) -> None:
    """Same weights, same output."""
    ours, theirs, shape = LAYERS[name]
    own, x = ours(), numbers(*shape)

    close(own(x), copied(theirs(), own)(tensor(x)))


def test_batch_norm_is_torchs() -> None:
    """Outputs in training and after it, and the running statistics."""
    own, x = nn.BatchNorm(3, dtype=F64), numbers(4, 3, 2)
    layer = copied(torch.nn.BatchNorm1d(3), own)
    with training_mode(True):
        close(own(x), layer(tensor(x)))

    close(own.running_mean, layer.running_mean)
    close(own.running_var, layer.running_var)
    close(own(x), layer.eval()(tensor(x)))


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_recurrent_layer_is_torchs(name: str) -> None:
    """Matrices are transposed; of torch's two biases one is enough, but for a GRU."""
    own, x = getattr(nn, name)(3, 4, dtype=F64), numbers(2, 5, 3)
    layer = getattr(torch.nn, name)(3, 4, batch_first=True).double()
    cells = {n: tensor(c.value) for n, c in own.cells().items()}
    with torch.no_grad():
        layer.weight_ih_l0.copy_(cells["weight_input"].T)
        layer.weight_hh_l0.copy_(cells["weight_hidden"].T)
        layer.bias_ih_l0.copy_(cells["bias"])
        layer.bias_hh_l0.copy_(cells.get("bias_hidden", torch.zeros(1)))
    outputs, state = layer(tensor(x))

    ys, (h, *_) = own.run(x)
    close(ys, outputs)
    close(h, (state[0] if name == "LSTM" else state)[0])


def test_attention_is_torchs() -> None:
    """Of x itself with a mask, and of a memory."""
    own, x, memory = (
        nn.MultiHeadAttention(6, 2, dtype=F64),
        numbers(2, 4, 6),
        numbers(2, 5, 6, seed=1),
    )
    layer = torch.nn.MultiheadAttention(6, 2, batch_first=True).double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(tensor(own.weight).T)
        layer.out_proj.weight.copy_(tensor(own.out.weight).T)
        own.out.bias = own.bias[:6] + 0.5
        layer.out_proj.bias.fill_(0.5)
    a, b = (tensor(v) for v in (x, memory))
    sees = np.tri(4, dtype=bool)

    close(own(x, mask=asarray(sees)), layer(a, a, a, attn_mask=tensor(~sees))[0])
    close(own(x, causal=True), layer(a, a, a, attn_mask=tensor(~sees))[0])
    close(own(x, memory), layer(a, b, b)[0])


CLASSES = np.array([[0, 2], [1, 2], [2, 0]])
WEIGHTS = np.array([0.5, 1.0, 2.0])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("ignore", [None, 2])
def test_cross_entropy_is_torchs(
    reduction: str, weighted: bool, smoothing: float, ignore: int | None
) -> None:
    """Every mixture of smoothing, weights of classes and labels that do not count."""
    logits = numbers(3, 2, 3)
    ours = nn.cross_entropy(
        logits,
        asarray(CLASSES),
        smoothing=smoothing,
        ignore_index=ignore,
        reduction=reduction,
        weights=asarray(WEIGHTS) if weighted else None,
    )
    theirs = torch.nn.functional.cross_entropy(
        tensor(logits).permute(0, 2, 1),
        tensor(CLASSES),
        weight=tensor(WEIGHTS) if weighted else None,
        reduction=reduction,
        label_smoothing=smoothing,
        **({} if ignore is None else {"ignore_index": ignore}),
    )

    close(ours, theirs)


X, Y = numbers(4, 3), numbers(4, 3, seed=1)
SIGNS = np.array([1.0, -1.0, -1.0, 1.0])
F = torch.nn.functional
LOSSES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "binary_cross_entropy": (
        lambda: nn.binary_cross_entropy(X * 100, ops.sigmoid(Y)),
        lambda x, y: F.binary_cross_entropy_with_logits(x * 100, torch.sigmoid(y)),
    ),
    "mse": (lambda: nn.mse(X, Y, reduction="sum"), lambda x, y: F.mse_loss(x, y, reduction="sum")),
    "l1": (lambda: nn.l1(X, Y, reduction="none"), lambda x, y: F.l1_loss(x, y, reduction="none")),
    "huber": (lambda: nn.huber(X, Y, delta=0.7), lambda x, y: F.huber_loss(x, y, delta=0.7)),
    "kl": (
        lambda: nn.kl(ops.log_softmax(X), ops.softmax(Y)),
        lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
    ),
    "cosine": (
        lambda: nn.cosine_distance(X, Y, asarray(SIGNS), margin=0.1),
        lambda x, y: F.cosine_embedding_loss(x, y, tensor(SIGNS), margin=0.1),
    ),
    "hinge": (
        lambda: nn.hinge(X[:, 0], asarray(SIGNS), reduction="none"),
        lambda x, y: F.relu(1 - x[:, 0] * tensor(SIGNS)),
    ),
    "triplet": (
        lambda: nn.triplet(X, Y, X * 2, margin=2.0),
        lambda x, y: F.triplet_margin_loss(x, y, x * 2, margin=2.0, eps=0.0),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_torchs(name: str) -> None:
    """On the same numbers."""
    ours, theirs = LOSSES[name]

    close(ours(), theirs(tensor(X), tensor(Y)))


def test_ctc_is_torchs() -> None:
    """Loss and gradient, for rows of several lengths; infinite where no path gives the labels."""
    logits = numbers(3, 6, 4)
    labels, times, lengths = (
        np.array([[1, 1, 2], [3, 0, 0], [2, 2, 2]]),
        np.array([6, 4, 4]),
        np.array([3, 1, 3]),
    )
    x = tensor(logits).requires_grad_()
    scores = x.log_softmax(-1).transpose(0, 1)
    theirs = F.ctc_loss(scores, *map(tensor, (labels, times, lengths)), reduction="none")
    theirs[:2].sum().backward()

    def loss(x: Any) -> Any:
        return nn.ctc(x, asarray(labels), asarray(times), asarray(lengths), reduction="none")

    close(loss(logits), theirs)
    _, dx = value_and_grad(lambda x: ops.sum(loss(x)[:2]))(logits)
    close(dx[:2], x.grad[:2])


SLOW = schedules.constant(1e-2)
OPTIMIZERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "SGD": (lambda: nn.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "SGD, decay": (
        lambda: nn.SGD(0.1, momentum=0.9, weight_decay=0.1),
        lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.1),
    ),
    "SGD, Nesterov": (
        lambda: nn.SGD(0.1, momentum=0.9, nesterov=True),
        lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True),
    ),
    "Adam": (lambda: nn.Adam(0.05), lambda p: torch.optim.Adam(p, 0.05)),
    "Adam, decay": (
        lambda: nn.Adam(0.05, beta1=0.8, beta2=0.9, weight_decay=0.1),
        lambda p: torch.optim.Adam(p, 0.05, (0.8, 0.9), weight_decay=0.1),
    ),
    "AdamW": (
        lambda: nn.AdamW(0.05, weight_decay=0.1),
        lambda p: torch.optim.AdamW(p, 0.05, weight_decay=0.1),
    ),
    "RMSProp": (lambda: nn.RMSProp(0.02), lambda p: torch.optim.RMSprop(p, 0.02)),
    "RMSProp, momentum": (
        lambda: nn.RMSProp(0.02, alpha=0.9, momentum=0.5, weight_decay=0.1),
        lambda p: torch.optim.RMSprop(p, 0.02, 0.9, momentum=0.5, weight_decay=0.1),
    ),
    "Adagrad": (lambda: nn.Adagrad(0.1), lambda p: torch.optim.Adagrad(p, 0.1)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_is_torchs(name: str) -> None:
    """Twenty steps on a loss that is no sum of the weights', to 1e-6."""
    ours, theirs = OPTIMIZERS[name]
    own = nn.Linear(3, 2, dtype=F64)
    layer = torch.nn.Linear(3, 2).double()
    with torch.no_grad():
        layer.weight.copy_(tensor(own.weight).T)
        layer.bias.copy_(tensor(own.bias))
    x, optimizer, other = numbers(5, 3), ours(), theirs(layer.parameters())
    for _ in range(20):
        _, gradients = value_and_grad(lambda m: ops.mean(ops.sin(m(x)) * m(x)))(own)
        optimizer.update(gradients)
        other.zero_grad()
        y = layer(tensor(x))
        (y.sin() * y).mean().backward()
        other.step()

    close(own.weight, layer.weight.T, 1e-6)
    close(own.bias, layer.bias, 1e-6)


RATES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "step": (
        schedules.step_decay(0.5, 3, 0.2),
        lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.2),
    ),
    "exponential": (
        schedules.exponential(0.5, 0.9),
        lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
    ),
    "cosine": (
        schedules.cosine(0.5, 12, 0.1),
        lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 12, 0.1),
    ),
    "polynomial": (
        schedules.polynomial(0.5, 9, 2.0),
        lambda o: torch.optim.lr_scheduler.PolynomialLR(o, 9, 2.0),
    ),
    "one cycle": (
        schedules.one_cycle(0.5, 12),
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.5, total_steps=12),
    ),
}


@pytest.mark.parametrize("name", RATES)
def test_a_schedule_is_torchs(name: str) -> None:
    """The rates of twelve steps."""
    ours, theirs = RATES[name]
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.5)
    schedule, rates = theirs(optimizer), []
    for _ in range(12):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step() if len(rates) < 12 else None

    np.testing.assert_allclose([float(ours(k)) for k in range(12)], rates, rtol=1e-5)
