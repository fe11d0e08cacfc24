"""Attention with a cache, blocks of transformers, recurrent layers with a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differences import numbers

import byparts_eager as bp
import byparts_nn as nn
import byparts_opset as ops
from byparts_graph_ir import GraphError


@pytest.mark.parametrize("compiled", [False, True])
def test_a_cache_gives_what_the_whole_sequence_gives(compiled: bool) -> None:
    """One token after the other, after a beginning of three; compiled once for all positions."""
    block = nn.TransformerBlock(8, 2, causal=True, dtype="f64")
    tokens = numbers(2, 6, 8)
    cache = block.cache(2, 6)
    step = bp.compile(lambda x: block(x, cache=cache)) if compiled else block
    more: Any = {} if compiled else {"cache": cache}
    parts = [step(tokens[:, :3], **more)]
    parts += [step(tokens[:, i : i + 1], **more) for i in range(3, 6)]

    np.testing.assert_allclose(ops.concat(parts, 1), block(tokens), rtol=1e-9)
    assert int(cache.position) == 6


def test_a_mask_is_an_array_of_numpy_too() -> None:
    """One program serves every time; a token that may look at itself alone gets its own value."""
    attend = nn.MultiHeadAttention(4, 2, dtype="f64")
    call = bp.compile(lambda x, mask: attend(x, mask=mask))
    for time in (3, 4, 6, 5):
        x = numbers(2, time, 4)
        mask: Any = np.eye(time, dtype=bool)
        np.testing.assert_allclose(call(x, mask), attend(x, mask=mask), rtol=1e-9)
        values = (x @ attend.weight + attend.bias)[:, :, 8:]
        np.testing.assert_allclose(attend(x, mask=mask), attend.out(values), rtol=1e-9)

    assert len(call.programs) == 2


def test_a_cache_has_room_for_so_many_tokens() -> None:
    attend = nn.MultiHeadAttention(4, 2, dtype="f64")
    cache = attend.cache(1, 2)

    with pytest.raises(GraphError, match="3 tokens, and there is room for 2"):
        attend(numbers(1, 3, 4), cache=cache)
    attend(numbers(1, 2, 4), cache=cache)
    with pytest.raises(GraphError, match="scatter: index 2"):
        attend(numbers(1, 1, 4), cache=cache)


REFUSED: dict[str, Any] = {
    "2 heads do not divide a width of 5": lambda: nn.MultiHeadAttention(5, 2),
    r"it takes \[n, time, width\]": lambda: nn.MultiHeadAttention(4, 2)(numbers(2, 4)),
    "cross=False, and called with memory": lambda: nn.TransformerBlock(4, 2)(
        numbers(1, 2, 4), numbers(1, 2, 4)
    ),
    "cross=True, and called without memory": lambda: nn.TransformerBlock(4, 2, cross=True)(
        numbers(1, 2, 4)
    ),
    r"LSTM: x is f64\[2,3\]": lambda: nn.LSTM(3, 2)(numbers(2, 3)),
    r"Conv2d: x is f64\[2,3,4\]": lambda: nn.Conv2d(3, 2, 3)(numbers(2, 3, 4)),
    "3 groups of 4 inputs and 6 outputs": lambda: nn.Conv1d(4, 6, 3, groups=3),
    "output_padding is for transposed": lambda: nn.Conv1d(4, 6, 3, output_padding=1),
    "window: .2, 2.; it takes a number, or 3": lambda: nn.Conv3d(4, 6, (2, 2)),
    "MaxPool2d: padding": lambda: nn.MaxPool2d(2, padding=(1, 1, 1)),
    "5 channels cannot be 2 equal groups": lambda: nn.GroupNorm(2, 5),
    r"GroupNorm: x is f64\[2,3\]": lambda: nn.GroupNorm(1)(numbers(2, 3)),
    "nesterov looks ahead": lambda: nn.SGD(nesterov=True),
    "Adam: the rate is -1": lambda: nn.Adam(-1),
    "the decay is 1": lambda: nn.Average(nn.Linear(1, 1), 1.0),
    "where: 3 is no regular expression": lambda: nn.Linear(1, 1).freeze(3),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_fit_is_refused(words: str) -> None:
    """With what was given."""
    with pytest.raises(GraphError, match=words):
        REFUSED[words]()


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_a_recurrent_layer_goes_on_from_a_state(kind: Any) -> None:
    """Two halves are the whole; compiled too; backwards is the layer on reversed time."""
    layer, x = kind(3, 4, dtype="f64"), numbers(2, 6, 3)
    whole, last = layer.run(x)
    first, state = bp.compile(lambda x: layer.run(x))(x[:, :2])
    second, end = layer.run(x[:, 2:], state)

    np.testing.assert_allclose(ops.concat((first, second), 1), whole, rtol=1e-9)
    np.testing.assert_allclose(end[0], last[0], rtol=1e-9)
    layer.reverse = True
    np.testing.assert_allclose(ops.reverse(layer(ops.reverse(x, 1)), 1), whole, rtol=1e-9)


def test_layers_share_weights_only_where_they_are_shared() -> None:
    """Two LSTMs and two tables in one model are apart; one used twice in a pass is one."""
    model = nn.Sequential(nn.LSTM(4, 4), nn.LSTM(4, 4))
    assert len(model.parameters()) == 6
    shared = nn.LSTM(4, 4, dtype="f64")
    twice = nn.Sequential(shared, shared)
    x = numbers(2, 3, 4)

    assert list(twice.parameters()) == [
        f"layers.0.{n}" for n in ("weight_input", "weight_hidden", "bias")
    ]
    np.testing.assert_array_equal(twice(x), shared(shared(x)))


def test_a_layer_that_is_used_twice_gets_both_gradients() -> None:
    """As two layers with equal weights get them, added up."""
    shared, x = nn.Linear(3, 3, dtype="f64"), numbers(2, 3)
    apart = nn.Sequential(nn.Linear(3, 3, dtype="f64"), nn.Linear(3, 3, dtype="f64"))
    for layer in apart:
        layer.weight, layer.bias = shared.weight, shared.bias
    both = bp.grad(lambda m: ops.sum(ops.sin(m(m(x)))))(shared)
    each = bp.grad(lambda m: ops.sum(ops.sin(m(x))))(apart)

    total = sum(each[layer.cell("weight")].numpy() for layer in apart)
    np.testing.assert_allclose(both[shared.cell("weight")], total, rtol=1e-12)


ARGUMENTS: dict[str, Any] = {
    "Linear: outputs is None; it takes int": lambda: nn.Linear(3, None),  # type: ignore[arg-type]
    "Convolution: inputs is str 'a'; it takes int . None": lambda: nn.Conv2d("a", 3, 3),  # type: ignore[arg-type]
    "Adam: rate is str 'fast'; it takes float . Schedule": lambda: nn.Adam("fast"),  # type: ignore[arg-type]
    "mse: y is str 'y'": lambda: nn.mse(numbers(2), "y"),  # type: ignore[arg-type]
    "init: model is function": lambda: nn.init(lambda x: x, numbers(2)),  # type: ignore[arg-type]
    r"Parameter: shape is int 3; it takes sizes": lambda: nn.Parameter(3),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("words", ARGUMENTS)
def test_an_argument_of_another_kind_is_refused_by_a_sentence(words: str) -> None:
    """With the names of the function and of the argument."""
    with pytest.raises(GraphError, match=words):
        ARGUMENTS[words]()
