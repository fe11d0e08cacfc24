"""The works in JAX at sizes that are powers of two: rows that were added weigh nothing in a loss.

The blocks look backwards only, and so does the LSTM, so rows added at the end change no row before
them.  Images are absent: the mean over a larger one is another mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from works import BLOCKS, CELLS, HEADS, RATE, TRAINED, WIDTH, Arrays, dense_layers, weights


def make(work: str) -> Callable[[Arrays], Any]:
    """A call of a work."""
    models: dict[str, Any] = {"tagger": tagger, "mlp": mlp}
    forward = models.get(work, blocks)
    w = {k: jnp.asarray(a) for k, a in weights(work).items()}
    axis = 1 if work in ("gpt", "train") else 0

    def padded(a: Any) -> Any:
        n = a.shape[axis]
        more = [(0, (1 << (n - 1).bit_length()) - n if i == axis else 0) for i in range(a.ndim)]
        return np.pad(a, more)

    run = jax.jit(forward)
    if work not in TRAINED:
        return lambda given: np.asarray(run(padded(given["x"]), w)).take(
            range(given["x"].shape[axis]), axis
        )

    def loss(w: Any, x: Any, t: Any, n: Any) -> Any:
        y = forward(x, w)
        if work == "mlp":
            return -(t * jax.nn.log_softmax(y)).sum() / n  # t of an added row is 0
        return jnp.where(jnp.arange(y.shape[1])[:, None] < n, (y - t) ** 2, 0).sum() / (n * WIDTH)

    def adam(state: Any, x: Any, t: Any, n: Any) -> Any:
        w, m, v, count = state
        value, dw = jax.value_and_grad(loss)(w, x, t, n)
        count = count + 1
        m = jax.tree.map(lambda m, d: 0.9 * m + 0.1 * d, m, dw)
        v = jax.tree.map(lambda v, d: 0.999 * v + 0.001 * d * d, v, dw)
        rate, unbiased = RATE / (1 - 0.9**count), 1 - 0.999**count
        w = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v / unbiased) + 1e-8), w, m, v)
        return value, (w, m, v, count)

    step = jax.jit(adam, donate_argnums=0)
    zeros = [jax.tree.map(jnp.zeros_like, w) for _ in range(2)]
    state = [(w, *zeros, jnp.zeros(()))]

    def train(given: Arrays) -> Any:
        n = np.float32(given["x"].shape[axis])
        value, state[0] = step(state[0], *map(padded, given.values()), n)
        jax.block_until_ready(state[0])
        return np.asarray(value)

    return train


def norm(x: Any, g: Any, b: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + b


def blocks(x: Any, w: Arrays) -> Any:
    n = x.shape[1]
    mask = jnp.tril(jnp.ones((n, n), bool))
    for i in range(BLOCKS):
        h = norm(x, w[f"g{i}"], w[f"b{i}"])
        q, k, v = ((h @ w[f"{c}{i}"]).reshape(n, HEADS, -1).swapaxes(0, 1) for c in "qkv")
        scores = jnp.where(mask, q @ k.swapaxes(1, 2) * (WIDTH // HEADS) ** -0.5, -jnp.inf)
        a = (jax.nn.softmax(scores, -1) @ v).swapaxes(0, 1).reshape(1, n, WIDTH)
        x = x + a @ w[f"o{i}"]
        h = norm(x, w[f"gg{i}"], w[f"bb{i}"])
        x = x + jax.nn.gelu(h @ w[f"u{i}"], approximate=False) @ w[f"d{i}"]
    return x


def tagger(x: Any, w: Arrays) -> Any:
    def round_(state: Any, of_x: Any) -> Any:
        h, c = state
        a, f, g, o = jnp.split(of_x + h @ w["wh"], 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(a) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros(CELLS)
    return jax.lax.scan(round_, (start, start), x @ w["wx"] + w["b"])[1] @ w["wo"]


mlp = partial(dense_layers, jax.nn.relu)
