"""The works in PyTorch, eager or by `torch.compile(dynamic=True)`; `torch.optim.Adam(fused=True)`.

The LSTM is torch's own in both: its loop written in Python would be compiled for each length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as nn
from works import BLOCKS, CELLS, RATE, TRAINED, WIDTH, WORDS, Arrays, dense_layers, weights

torch.set_num_threads(1)


def make(work: str, compiled: bool = False) -> Callable[[Arrays], Any]:
    """A call of a work."""
    w = {k: torch.from_numpy(a) for k, a in weights(work).items()}
    models: dict[str, Any] = {"tagger": tagger(w), "cnn": cnn, "mlp": mlp}
    forward = models.get(work, blocks)

    def loss(x: Any, t: Any) -> Any:
        y = forward(x, w)
        return nn.cross_entropy(y, t) if work == "mlp" else nn.mse_loss(y, t)

    step: Any = loss if work in TRAINED else lambda x: forward(x, w)
    run = torch.compile(step, dynamic=True) if compiled else step

    def infer(given: Arrays) -> Any:
        with torch.inference_mode():
            return run(torch.from_numpy(given["x"])).numpy()

    if work not in TRAINED:
        return infer
    for a in w.values():
        a.requires_grad_()
    adam = torch.optim.Adam(w.values(), lr=RATE, fused=True)

    def train(given: Arrays) -> Any:
        adam.zero_grad()
        value = run(*map(torch.from_numpy, given.values()))
        value.backward()
        adam.step()
        return value.detach().numpy()

    return train


def blocks(x: Any, w: Arrays) -> Any:
    n = x.shape[1]
    for i in range(BLOCKS):
        h = nn.layer_norm(x, (WIDTH,), w[f"g{i}"], w[f"b{i}"])
        parted = [(h @ w[f"{c}{i}"]).reshape(1, n, 4, -1).transpose(1, 2) for c in "qkv"]
        a = nn.scaled_dot_product_attention(*parted, is_causal=True)
        x = x + a.transpose(1, 2).reshape(1, n, WIDTH) @ w[f"o{i}"]
        h = nn.layer_norm(x, (WIDTH,), w[f"gg{i}"], w[f"bb{i}"])
        x = x + nn.gelu(h @ w[f"u{i}"]) @ w[f"d{i}"]
    return x


def tagger(w: Arrays) -> Callable[[Any, Arrays], Any]:
    """A forward function; the weights are copied into torch's LSTM here."""
    lstm = torch.nn.LSTM(WORDS, CELLS)
    if "wx" in w:
        with torch.no_grad():
            lstm.weight_ih_l0.copy_(w["wx"].T)
            lstm.weight_hh_l0.copy_(w["wh"].T)
            lstm.bias_ih_l0.copy_(w["b"])
            lstm.bias_hh_l0.zero_()
    return lambda x, w: lstm(x)[0] @ w["wo"]


def cnn(x: Any, w: Arrays) -> Any:
    for i in range(3):
        x = nn.relu(nn.conv2d(x, w[f"c{i}"], w[f"b{i}"], 2 if i == 0 else 1, 1))
        x = nn.max_pool2d(x, 2) if i == 1 else x
    return x.mean((2, 3)) @ w["wo"]


mlp = partial(dense_layers, nn.relu)
