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
    named = {f"arg:{k}": v for k, v in arg_params.items()}
    nd.save(f"{prefix}-{epoch:04d}.params", named | {f"aux:{k}": v for k, v in aux_params.items()})


def load_checkpoint(prefix: str, epoch: int) -> tuple[sym.Symbol, Arrays, Arrays]:
    """The symbol, its arguments and its auxiliary states, from such files."""
    symbol, parts = sym.load(f"{prefix}-symbol.json"), {"arg": {}, "aux": {}}  # type: Any, Any
    for key, array in nd.load(f"{prefix}-{epoch:04d}.params").items():
        kind, name = key.split(":", 1)
        if kind not in parts:
            raise MXNetError(f"{prefix}-{epoch:04d}.params: {key!r} begins with no arg: or aux:")
        parts[kind][name] = array
    return symbol, parts["arg"], parts["aux"]
