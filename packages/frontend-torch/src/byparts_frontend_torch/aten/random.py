"""Draws, from the stream of the program."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p, pi
from typing import Any

import byparts_opset as ops
from byparts_frontend_torch.aten.creation import zeros
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.stream import next_draw
from byparts_frontend_torch.symbols import Size
from byparts_graph_ir import Value


@rules.on("aten.native_dropout.default")
def native_dropout(x: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    """y, and which elements are kept."""
    if train is False or p == 0:
        return x, ops.cast(ops.ones_like(x), "bool")
    if p >= 1:
        raise UnsupportedOp(f"dropout with p = {p} leaves nothing")
    key, counter = next_draw(x)
    dropped = ops.bernoulli(key, counter, x, float(p))
    return ops.Dropout(float(p))(x, dropped), ops.logical_not(dropped)


@rules.on("aten.rand.default")
def rand(size: Sequence[Size], dtype: str | None = None) -> Value:
    return rand_like(zeros(size, dtype))  # type: ignore[no-any-return]


@rules.on("aten.randn.default")
def randn(size: Sequence[Size], dtype: str | None = None) -> Value:
    return randn_like(zeros(size, dtype))  # type: ignore[no-any-return]


@rules.on("aten.rand_like.default")
def rand_like(x: Value, dtype: str | None = None) -> Value:
    key, counter = next_draw(x)
    return ops.random_uniform(key, counter, x, dtype=dtype or x.type.dtype)


@rules.on("aten.randn_like.default")
def randn_like(x: Value, dtype: str | None = None) -> Value:
    key, counter = next_draw(x)
    return ops.random_normal(key, counter, x, dtype=dtype or x.type.dtype)


def _by_uniform(function: Any) -> Any:
    """A rule that makes a draw of this distribution out of u, uniform in (0, 1), by its inverse."""

    def rule(x: Value, *numbers: float) -> Value:
        u = ops.maximum(rand_like(x), _LEAST[x.type.dtype])
        return ops.cast(function(u, *numbers), x.type.dtype)

    return rule


_LEAST = {"f16": 6e-8, "bf16": 1e-30, "f32": 1e-30, "f64": 1e-300}
_INVERSES: dict[str, Any] = {
    "exponential.default": lambda u, rate=1.0: -ops.log(u) / rate,
    "cauchy.default": lambda u, median=0.0, sigma=1.0: ops.tan((u - 0.5) * pi) * sigma + median,
    "geometric.default": lambda u, p: ops.ceil(ops.log(u) / log1p(-p)),
    "uniform.default": lambda u, low=0.0, high=1.0: u * (high - low) + low,
    "bernoulli.p": lambda u, p: ops.less(u, float(p)),
}
for _name, _function in _INVERSES.items():
    rules.on(f"aten.{_name}")(_by_uniform(_function))


@rules.on("aten.rrelu_with_noise_functional.default")
def rrelu(
    x: Value, noise: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> tuple[Value, Value]:
    """x above 0; below it x times a slope, which in training is drawn for each element."""
    if training and upper > lower:
        slope = rand_like(x) * (upper - lower) + lower
        noise = ops.where(ops.greater(x, 0), 1.0, slope)
    else:
        noise = ops.where(ops.greater(x, 0), ops.ones_like(x), (lower + upper) / 2)
    return x * noise, noise


@rules.on("aten.bernoulli.default")
def bernoulli(p: Value) -> Value:
    return ops.cast(ops.less(rand_like(p), p), p.type.dtype)


@rules.on("aten.normal.default", "aten.normal_functional.default")
def normal(x: Value, mean: float = 0.0, std: float = 1.0) -> Value:
    draw: Value = randn_like(x) * std + mean
    return draw


@rules.on("aten.log_normal.default")
def log_normal(x: Value, mean: float = 1.0, std: float = 2.0) -> Value:
    return ops.exp(normal(x, mean, std))


@rules.on("aten.normal.Tensor_Tensor", "aten.normal.Tensor_float", "aten.normal.float_Tensor")
def normal_around(mean: Any, std: Any = 1.0) -> Value:
    like = mean + std
    draw: Value = randn_like(like) * std + mean
    return draw


@rules.on("aten.normal.float_float")
def normal_of(mean: float, std: float, size: Sequence[Size], dtype: str | None = None) -> Value:
    return normal(zeros(size, dtype), mean, std)  # type: ignore[no-any-return]


@rules.on("aten.randint.default")
def randint(high: int, size: Sequence[Size], dtype: str | None = None) -> Value:
    return randint_like_from(zeros(size, dtype or "i64"), 0, high)  # type: ignore[no-any-return]


@rules.on("aten.randint.low")
def randint_from(low: int, high: int, size: Sequence[Size], dtype: str | None = None) -> Value:
    return randint_like_from(zeros(size, dtype or "i64"), low, high)  # type: ignore[no-any-return]


@rules.on("aten.randint_like.default")
def randint_like(x: Value, high: int, dtype: str | None = None) -> Value:
    return randint_like_from(x, 0, high, dtype)  # type: ignore[no-any-return]


@rules.on("aten.randint_like.low_dtype")
def randint_like_from(x: Value, low: int, high: int, dtype: str | None = None) -> Value:
    key, counter = next_draw(x)
    return ops.cast(ops.random_int(key, counter, x, low, high, "i64"), dtype or x.type.dtype)


@rules.on("aten.randperm.default")
def randperm(n: Size, dtype: str | None = None) -> Value:
    return ops.cast(ops.argsort(rand([n], "f64"), 0), dtype or "i64")


@rules.on("aten.multinomial.default")
def multinomial(p: Value, count: int, replacement: bool = False) -> Value:
    """Places of the greatest log(p) + Gumbel noise; one after the other, or the first so many."""
    drawn = range(count) if replacement else range(1)
    noisy = [
        ops.log(p) - ops.log(-ops.log(ops.maximum(rand_like(p), _LEAST[p.type.dtype])))
        for _ in drawn
    ]
    if replacement:
        return ops.stack([ops.cast(ops.argmax(y, -1), "i64") for y in noisy], -1)
    return ops.cast(ops.top_k(noisy[0], count)[1], "i64")
