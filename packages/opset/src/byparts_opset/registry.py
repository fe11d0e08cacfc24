"""Every op of this part, by its name in text.

A module that defines ops lists them in its own `OPS`; adding a module is one line here, and its
public names in `__init__.py`.
"""

from __future__ import annotations

from importlib import import_module

from byparts_graph_ir import Op

MODULES = (
    "constant",
    "identity",
    "cast",
    "unary",
    "trigonometric",
    "hyperbolic",
    "error_function",
    "rounding",
    "activation",
    "activation_gradient",
    "binary",
    "compare",
    "logic",
    "select",
    "like",
    "reduce",
    "prod",
    "argmax",
    "cumulative",
    "reshape",
    "transpose",
    "reverse",
    "broadcast_to",
    "tile",
    "join",
    "slicing",
    "pad",
    "index",
    "top_k",
    "matmul",
    "einsum",
    "conv2d",
    "pool",
    "softmax",
    "cross_entropy",
    "random",
    "random_normal",
    "dropout",
    "batch_norm",
    "layer_norm",
    "attention",
    "optimizer",
)

OPS: dict[str, type[Op]] = {}
for _module in MODULES:
    for _op in import_module(f"byparts_opset.{_module}").OPS:
        assert _op.name not in OPS, f"two ops are named {_op.name}"
        OPS[_op.name] = _op
