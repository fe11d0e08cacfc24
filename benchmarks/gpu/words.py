"""What the workloads say, in ours, in torch and in JAX."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def ours() -> SimpleNamespace:
    """Ops of a graph."""
    import byparts_opset as ops

    return SimpleNamespace(
        relu=ops.relu,
        tanh=ops.tanh,
        sigmoid=ops.sigmoid,
        gelu=lambda x: ops.gelu(x, approximate=True),
        softmax=lambda x: ops.softmax(x, -1),
        cross_entropy=lambda x, y: ops.mean(ops.softmax_cross_entropy(x, y)),
        mean_square=lambda x: ops.mean(ops.square(x)),
        mean_of_rows=lambda x: ops.mean(x, -1, keepdims=True),
        mean_over=ops.mean,
        conv=lambda x, w, stride, padding: ops.conv2d(x, w, stride, padding=padding),
        max_pool=lambda x: ops.max_pool(x, (2, 2), (2, 2)),
        batch_norm=lambda x, g, b: ops.BatchNorm(1, 1e-5).outputs_of(x, g, b)[0],
        layer_norm=ops.layer_norm,
        attention=lambda q, k, v: ops.attention(q, k, v, causal=True),
        reshape=ops.reshape,
        transpose=ops.transpose,
        unstack=lambda x: ops.unstack(x, 0),
        stack=lambda xs: ops.stack(xs, 0),
        split4=lambda x: ops.split(x, 4, 1),
    )


def of_torch() -> SimpleNamespace:
    """Functions of tensors."""
    import torch
    import torch.nn.functional as functional

    return SimpleNamespace(
        relu=torch.relu,
        tanh=torch.tanh,
        sigmoid=torch.sigmoid,
        gelu=lambda x: functional.gelu(x, approximate="tanh"),
        softmax=lambda x: x.softmax(-1),
        cross_entropy=functional.cross_entropy,
        mean_square=lambda x: x.square().mean(),
        mean_of_rows=lambda x: x.mean(-1, keepdim=True),
        mean_over=torch.mean,
        conv=lambda x, w, stride, padding: functional.conv2d(x, w, None, stride, padding),
        max_pool=lambda x: functional.max_pool2d(x, 2, 2),
        batch_norm=lambda x, g, b: functional.batch_norm(x, None, None, g, b, True),
        layer_norm=lambda x, g, b: functional.layer_norm(x, x.shape[-1:], g, b),
        attention=lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        reshape=torch.reshape,
        transpose=torch.permute,
        unstack=lambda x: x.unbind(0),
        stack=torch.stack,
        split4=lambda x: x.chunk(4, 1),
    )


def of_jax() -> SimpleNamespace:
    """Functions of arrays."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(x: Any, w: Any, stride: int, padding: int) -> Any:
        names = ("NCHW", "OIHW", "NCHW")
        pads = [(padding, padding)] * 2
        return lax.conv_general_dilated(x, w, (stride, stride), pads, dimension_numbers=names)

    def max_pool(x: Any) -> Any:
        window = (1, 1, 2, 2)
        return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")

    def normal(x: Any, axes: tuple[int, ...]) -> Any:
        mean = x.mean(axes, keepdims=True)
        return (x - mean) * lax.rsqrt(x.var(axes, keepdims=True) + 1e-5)

    def batch_norm(x: Any, g: Any, b: Any) -> Any:
        return normal(x, (0, 2, 3)) * g[:, None, None] + b[:, None, None]

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = q @ jnp.swapaxes(k, -1, -2) / jnp.sqrt(q.shape[-1]).astype(q.dtype)
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        return jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1) @ v

    return SimpleNamespace(
        relu=jax.nn.relu,
        tanh=jnp.tanh,
        sigmoid=jax.nn.sigmoid,
        gelu=jax.nn.gelu,
        softmax=jax.nn.softmax,
        cross_entropy=lambda x, y: -(jax.nn.log_softmax(x) * y).sum(-1).mean(),
        mean_square=lambda x: jnp.square(x).mean(),
        mean_of_rows=lambda x: x.mean(-1, keepdims=True),
        mean_over=jnp.mean,
        conv=conv,
        max_pool=max_pool,
        batch_norm=batch_norm,
        layer_norm=lambda x, g, b: normal(x, (-1,)) * g + b,
        attention=attention,
        reshape=jnp.reshape,
        transpose=jnp.transpose,
        unstack=tuple,
        stack=jnp.stack,
        split4=lambda x: jnp.split(x, 4, 1),
    )
