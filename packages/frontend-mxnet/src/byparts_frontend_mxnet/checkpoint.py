"""Checkpoints: a symbol and its parameters in two files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from byparts_frontend_mxnet import nd, symbol as sym
from byparts_frontend_mxnet.errors import MXNetError

Arrays = dict[str, Any]


def save_checkpoint(
    prefix: str, epoch: int, symbol: Any, arg_params: Mapping[str, Any],
    aux_params: Mapping[str, Any],
) -> None:  # fmt: skip
    """Write `prefix-symbol.json` and `prefix-0001.params` (of epoch 1)."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json")
    save_arrays(f"{prefix}-{epoch:04d}.params", arg_params, aux_params)


def save_arrays(fname: str, arg: Mapping[str, Any], aux: Mapping[str, Any]) -> None:
    """Write parameters and auxiliary states to a file, as "arg:name" and "aux:name"."""
    nd.save(fname, {f"arg:{k}": v for k, v in arg.items()} | {f"aux:{k}": aux[k] for k in aux})


def load_arrays(fname: str) -> tuple[Arrays, Arrays]:
    """The parameters and the auxiliary states of such a file.

    Raises:
        MXNetError: a name begins otherwise.
    """
    parts: dict[str, Arrays] = {"arg": {}, "aux": {}}
    for key, array in nd.load(fname).items():
        kind, _, name = key.partition(":")
        if kind not in parts:
            raise MXNetError(f"{fname}: {key!r} begins with no arg: or aux:")
        parts[kind][name] = array
    return parts["arg"], parts["aux"]


def load_checkpoint(prefix: str, epoch: int) -> tuple[sym.Symbol, Arrays, Arrays]:
    """The symbol, its arguments and its auxiliary states, from the files of a checkpoint."""
    return sym.load(f"{prefix}-symbol.json"), *load_arrays(f"{prefix}-{epoch:04d}.params")
