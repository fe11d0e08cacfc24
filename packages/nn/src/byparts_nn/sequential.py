"""Modules made of other modules and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Value
from byparts_nn.module import Module

Layer = Callable[..., Any]


class Sequential(Module):
    """Layers one after the other: modules, or functions such as `ops.relu`."""

    def __init__(self, *layers: Layer) -> None:
        self.layers: list[Any] = list(layers)

    def __call__(self, x: Any) -> Any:
        """The last layer's result; each takes that of the one before."""
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    def __getitem__(self, i: int) -> Any:
        return self.layers[i]


class Residual(Module):
    """y = shortcut(x) + layers(x).

    Args:
        layers: one after the other.
        shortcut: brings x to the shape of the result where they differ; x itself by default.
    """

    def __init__(self, *layers: Layer, shortcut: Layer | None = None) -> None:
        self.body = layers[0] if len(layers) == 1 else Sequential(*layers)
        self.shortcut = shortcut

    def __call__(self, x: Value) -> Value:
        """The sum."""
        around = x if self.shortcut is None else self.shortcut(x)
        y: Value = around + self.body(x)
        return y


class Flatten(Module):
    """[n, ...] -> [n, the rest as one axis]."""

    def __call__(self, x: Value) -> Value:
        """A matrix: a row for each example."""
        return ops.flatten(x)
