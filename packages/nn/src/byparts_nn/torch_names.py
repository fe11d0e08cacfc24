"""PyTorch's names and layouts of weights, as those of our layers.

A `state_dict` names a weight by the fields that lead to it, as we do; what differs stands in two
tables: fields of modules that are called otherwise, and weights that are stored otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from byparts_eager import Cell
from byparts_graph_ir import ShapeError
from byparts_nn.attention import MultiHeadAttention
from byparts_nn.linear import Linear
from byparts_nn.module import Module
from byparts_nn.recurrent import GRU, Bidirectional, Recurrent
from byparts_nn.sequential import Sequential
from byparts_nn.transformer import TransformerBlock

Array = NDArray[Any]
Named = dict[str, tuple[Array, tuple[str, ...], bool]]  # path -> array, names in the file, turned


class Stored(NamedTuple):
    """The way a weight is stored: a sum of arrays, with the last two axes exchanged or not."""

    names: tuple[str, ...]
    transposed: bool = False


# Our field -> PyTorch's; "" where there is none in between.
_FIELDS: list[tuple[type[Module], dict[str, str]]] = [
    (Sequential, {"layers": ""}),
    (Bidirectional, {"forward": "", "backward": ""}),
    (MultiHeadAttention, {"out": "out_proj"}),
    (
        TransformerBlock,
        {"attend": "self_attn", "attend_norm": "norm1", "up": "linear1", "down": "linear2"},
    ),
]
_RECURRENT = {
    "weight_input": Stored(("weight_ih_l0",), True),
    "weight_hidden": Stored(("weight_hh_l0",), True),
}
_WEIGHTS: list[tuple[type[Module], dict[str, Stored]]] = [
    (Linear, {"weight": Stored(("weight",), True)}),
    (
        MultiHeadAttention,
        {"weight": Stored(("in_proj_weight",), True), "bias": Stored(("in_proj_bias",))},
    ),
    (
        GRU,
        {
            **_RECURRENT,
            "bias": Stored(("bias_ih_l0",)),
            "bias_hidden": Stored(("bias_hh_l0",)),
        },
    ),
    (Recurrent, {**_RECURRENT, "bias": Stored(("bias_ih_l0", "bias_hh_l0"))}),
]
_IGNORED = "num_batches_tracked"  # of batch norm; it decides nothing


def as_ours(model: Module, arrays: Mapping[str, Array]) -> Named:
    """The arrays of a `state_dict` by the paths of the model; what is unknown keeps its name.

    Raises:
        ShapeError: an array that is to be transposed has no two axes.
    """
    modules = dict(model.modules())
    values: Named = {}
    used = {name for name in arrays if name.rsplit(".", 1)[-1] == _IGNORED}
    for path, module in modules.items():
        for name, thing in module.parts():
            if isinstance(thing, Cell):
                stored = _stored(path, name, module, modules)
                there = [n for n in stored.names if n in arrays]
                if len(there) == len(stored.names):
                    array = _sum([arrays[n] for n in there])
                    if stored.transposed:
                        array = _turned(there[0], array)
                    own = f"{path}.{name}" if path else name
                    values[own] = array, stored.names, stored.transposed
                    used.update(there)
    return values | {n: (array, (n,), False) for n, array in arrays.items() if n not in used}


def _stored(path: str, name: str, module: Module, modules: Mapping[str, Module]) -> Stored:
    """The whole names by which PyTorch stores the cell `name` of a module."""
    weights = next((table for kind, table in _WEIGHTS if isinstance(module, kind)), {})
    stored = weights.get(name, Stored((name,)))
    prefix, suffix = _theirs(path, modules), ""
    parent = modules.get(path.rpartition(".")[0])
    if isinstance(parent, Bidirectional) and path.endswith("backward"):
        suffix = "_reverse"
    names = [f"{prefix}.{n}{suffix}" if prefix else f"{n}{suffix}" for n in stored.names]
    return Stored(tuple(names), stored.transposed)


def _theirs(path: str, modules: Mapping[str, Module]) -> str:
    parts, here = [], ""
    for part in filter(None, path.split(".")):
        fields: dict[str, str] = {}
        owner = modules.get(here)
        if owner is not None:
            fields = next((table for kind, table in _FIELDS if isinstance(owner, kind)), {})
        if isinstance(owner, TransformerBlock):  # a decoder's block has a third norm
            second = "norm2" if owner.cross is None else "norm3"
            fields = {**fields, "norm": second, "cross": "multihead_attn", "cross_norm": "norm2"}
        parts.append(fields.get(part, part))
        here = f"{here}.{part}" if here else part
    return ".".join(filter(None, parts))


def _sum(arrays: list[Array]) -> Array:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


def _turned(name: str, array: Array) -> Array:
    if array.ndim != 2:
        raise ShapeError(f"load: {name!r} is {list(array.shape)}; PyTorch stores [out, in] there")
    return np.ascontiguousarray(array.T)


Rename = Union[Mapping[str, str], Callable[[str], str]]


def renamed(arrays: Mapping[str, Array], rename: Rename | None) -> dict[str, Array]:
    """The arrays by other names: beginnings that are replaced, or a function of the name."""
    if rename is None:
        return dict(arrays)
    if callable(rename):
        return {rename(name): array for name, array in arrays.items()}
    result = {}
    for name, array in arrays.items():
        begin = max((b for b in rename if name.startswith(b)), key=len, default=None)
        result[name if begin is None else rename[begin] + name[len(begin) :]] = array
    return result
