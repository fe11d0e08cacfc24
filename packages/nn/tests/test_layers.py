"""Each layer: its shapes, and its gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import check_layer, numbers

import byparts_eager as bp
import byparts_nn as nn
import byparts_opset as ops
from byparts_nn.module import Module

F64 = "f64"
LAYERS: dict[str, tuple[Callable[[], Module], tuple[int, ...], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(None, 4, dtype=F64), (2, 5, 3), (2, 5, 4)),
    "conv1d": (
        lambda: nn.Conv1d(None, 4, 3, stride=2, padding=1, dtype=F64),
        (2, 3, 7),
        (2, 4, 4),
    ),
    "conv2d": (
        lambda: nn.Conv2d(4, 6, (3, 2), padding="SAME", groups=2, dtype=F64),
        (2, 4, 5, 4),
        (2, 6, 5, 4),
    ),
    "conv3d": (
        lambda: nn.Conv3d(None, 4, 2, stride=(1, 2, 1), padding=(1, 0, 1), dtype=F64),
        (2, 2, 3, 4, 3),
        (2, 4, 4, 2, 4),
    ),
    "conv_transpose1d": (
        lambda: nn.ConvTranspose1d(None, 2, 3, stride=2, padding=1, output_padding=1, dtype=F64),
        (2, 3, 4),
        (2, 2, 8),
    ),
    "conv_transpose2d": (
        lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, groups=2, dtype=F64),
        (2, 4, 3, 2),
        (2, 2, 7, 5),
    ),
    "conv_transpose3d": (
        lambda: nn.ConvTranspose3d(None, 2, (2, 3, 2), stride=2, padding=(0, 1, 0), dtype=F64),
        (2, 3, 2, 3, 2),
        (2, 2, 4, 5, 4),
    ),
    "batch_norm": (lambda: nn.BatchNorm(dtype=F64), (4, 3, 2, 2), (4, 3, 2, 2)),
    "layer_norm": (lambda: nn.LayerNorm((None, None), dtype=F64), (3, 4, 5), (3, 4, 5)),
    "group_norm": (lambda: nn.GroupNorm(2, dtype=F64), (3, 4, 5), (3, 4, 5)),
    "instance_norm": (lambda: nn.InstanceNorm(affine=True, dtype=F64), (3, 2, 4, 3), (3, 2, 4, 3)),
    "rms_norm": (lambda: nn.RMSNorm(dtype=F64), (3, 5), (3, 5)),
    "rnn": (lambda: nn.RNN(None, 4, dtype=F64), (2, 3, 5), (2, 3, 4)),
    "lstm": (lambda: nn.LSTM(None, 4, dtype=F64), (2, 3, 5), (2, 3, 4)),
    "gru": (lambda: nn.GRU(None, 4, dtype=F64), (2, 3, 5), (2, 3, 4)),
    "bidirectional": (
        lambda: nn.Bidirectional(nn.GRU(5, 3, dtype=F64), nn.GRU(5, 2, reverse=True, dtype=F64)),
        (2, 3, 5),
        (2, 3, 5),
    ),
    "attention": (lambda: nn.MultiHeadAttention(6, 2, dtype=F64), (2, 4, 6), (2, 4, 6)),
    "block": (lambda: nn.TransformerBlock(6, 2, causal=True, dtype=F64), (2, 4, 6), (2, 4, 6)),
    "block, norm last": (
        lambda: nn.TransformerBlock(6, 2, norm_first=False, dtype=F64),
        (2, 4, 6),
        (2, 4, 6),
    ),
    "residual": (lambda: nn.Residual(nn.Linear(4, 4, dtype=F64), ops.tanh), (3, 4), (3, 4)),
    "max_pool1d": (lambda: nn.MaxPool1d(2), (2, 3, 6), (2, 3, 3)),
    "max_pool2d": (lambda: nn.MaxPool2d(3, stride=2, padding=1), (2, 3, 5, 6), (2, 3, 3, 3)),
    "max_pool3d": (lambda: nn.MaxPool3d(2), (2, 3, 4, 2, 5), (2, 3, 2, 1, 2)),
    "average_pool1d": (lambda: nn.AveragePool1d(3, stride=1, padding=1), (2, 3, 6), (2, 3, 6)),
    "average_pool2d": (lambda: nn.AveragePool2d((2, 3)), (2, 3, 4, 6), (2, 3, 2, 2)),
    "average_pool3d": (lambda: nn.AveragePool3d(2, padding=1), (2, 3, 4, 2, 2), (2, 3, 3, 2, 2)),
    "global_average_pool": (nn.GlobalAveragePool, (2, 3, 4, 2), (2, 3)),
    "global_max_pool": (nn.GlobalMaxPool, (2, 3, 4, 2), (2, 3)),
    "flatten": (nn.Flatten, (2, 3, 4), (2, 12)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_central_differences(name: str) -> None:
    """By every parameter and by the input, in training; the output has the shape that is said."""
    make, given, wanted = LAYERS[name]

    y = check_layer(make(), numbers(*given))

    assert y.shape == wanted


@pytest.mark.parametrize("name", LAYERS)
def test_one_program_serves_every_batch(name: str) -> None:
    """The first is for its size, the second for all others; the answers are the eager ones."""
    make, given, _ = LAYERS[name]
    layer: Any = make()
    call = bp.compile(lambda x: layer(x))
    for n in (2, 3, 5, 4):
        x = numbers(n, *given[1:], seed=n)
        np.testing.assert_allclose(call(x), layer(x), rtol=1e-9, atol=1e-12)

    assert len(call.programs) == 2


@pytest.mark.parametrize("make", [nn.RMSNorm, nn.InstanceNorm, lambda **k: nn.GroupNorm(1, **k)])
def test_half_types_are_normalised_in_f32(make: Any) -> None:
    """Squares of 1000 are not infinite."""
    x = numbers(2, 3, 4) * 1000
    y = make(dtype="f16")(bp.asarray(x, dtype="f16"))

    np.testing.assert_allclose(y, make(dtype="f64")(x), atol=4e-3)


def test_gradients_of_a_decoder_block_are_central_differences() -> None:
    """By all three attentions' weights, with tokens of an encoder of another length."""
    block = nn.TransformerBlock(6, 3, causal=True, cross=True, dtype=F64)

    check_layer(block, numbers(2, 4, 6), numbers(2, 5, 6, seed=5))


def test_gradients_of_a_table_are_central_differences() -> None:
    """Rows that are asked for twice get both slopes."""
    table = nn.Embedding(4, 3, dtype=F64)

    check_layer(table, bp.asarray(np.array([[0, 2], [2, 3]])))
