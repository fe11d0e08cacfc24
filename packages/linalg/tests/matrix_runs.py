"""Runs functions of values on arrays: what the tests of this part share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Backend, Graph, Input, Value
from byparts_opset.dtypes import type_of
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

Array = NDArray[Any]


def graph_of(f: Callable[..., Value | Sequence[Value]], *arrays: Array) -> Graph:
    """The graph of a function on values of the types of these arrays."""
    inputs = [Input(type_of(a)) for a in arrays]
    outputs = f(*inputs)
    return Graph.of(inputs, [outputs] if isinstance(outputs, Value) else outputs)


def computed(f: Callable[..., Value | Sequence[Value]], *arrays: Array) -> list[Array]:
    """What a function of values gives for arrays, by the meaning of its ops."""
    return list(evaluate(graph_of(f, *arrays), *arrays))


def run(backend: Backend, f: Callable[..., Value | Sequence[Value]], *arrays: Array) -> list[Array]:
    """The same on a backend, in a program."""
    return [np.asarray(y) for y in build(graph_of(f, *arrays), backends=(backend,))(*arrays)]


def matrix(*shape: int, seed: int = 0) -> Array:
    """Random matrices in f64, with independent rows or columns."""
    a = np.random.default_rng(seed).standard_normal(shape)
    n = range(min(shape[-2:]))
    a[..., n, n] += 3.0
    return a


def definite(*shape: int, seed: int = 0) -> Array:
    """Random symmetric positive definite matrices in f64."""
    a = matrix(*shape, seed=seed)
    made: Array = a @ np.swapaxes(a, -1, -2)
    return made
