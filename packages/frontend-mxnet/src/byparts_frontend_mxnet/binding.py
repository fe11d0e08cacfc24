"""Binding: a symbol and arrays, given or made for shapes, become an executor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Optional

from byparts_frontend_mxnet.context import current_context
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.executor import Arrays, Executor, full, known_type
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.symbol.infer import Inferred
from byparts_frontend_mxnet.symbol.symbol import Node, Symbol
from byparts_graph_ir import FLOATS


def bind(
    symbol: Symbol, ctx: Any = None, args: Any = None, args_grad: Any = None,
    grad_req: Any = "write", aux_states: Any = None, group2ctx: Any = None, shared_exec: Any = None,
) -> Executor:  # fmt: skip
    """An executor on arrays of the caller's: lists in the order of the arguments, or dicts.

    Raises:
        MXNetError: an argument has no array, or `grad_req` is none of "write", "add", "null".
    """
    _check_names(symbol)
    names, aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
    arguments = _by_name("args", names, args or {})
    aux = _by_name("aux_states", aux_names, aux_states or {})
    for what, wanted, there in (("args", names, arguments), ("aux_states", aux_names, aux)):
        missing = [n for n in wanted if there.get(n) is None]
        if missing:
            raise MXNetError(f"bind: {what} has no array for {', '.join(missing)}")
    grads = _by_name("args_grad", names, args_grad or {})
    reqs = {n: r if n in grads else "null" for n, r in _requests(names, grad_req).items()}
    return Executor(
        symbol, ctx, {n: arguments[n] for n in names}, grads, reqs, {n: aux[n] for n in aux_names}
    )


def simple_bind(
    symbol: Symbol, ctx: Any = None, grad_req: Any = "write",
    type_dict: Optional[Mapping[str, Any]] = None, group2ctx: Any = None,
    shared_arg_names: Any = None, shared_exec: Optional[Executor] = None, shared_buffer: Any = None,
    **shapes: Any,
) -> Executor:  # fmt: skip
    """An executor on new arrays, whose shapes follow from those that are given by name.

    Args:
        symbol: what is computed.
        ctx: the device; `cpu()` by default.
        grad_req: "write", "add" or "null", for all arguments, or a list or dict of these.
        type_dict: dtypes by name.
        group2ctx: devices by group; all compute in host memory.
        shared_arg_names: as `shared_exec` says.
        shared_exec: an executor whose arrays are taken where name and type agree.
        shared_buffer: as `shared_exec` says.
        shapes: by name.

    Raises:
        MXNetError: the shape of an argument does not follow from those that are given.
    """
    _check_names(symbol)
    inferred = Inferred(symbol, {k: tuple(v) for k, v in shapes.items()}, type_dict)
    arguments, states = symbol.variables()
    missing = inferred.missing()
    if missing:
        given = ", ".join(f"{k}={tuple(v)}" for k, v in shapes.items())
        example = ", ".join(f"{n}=(...)" for n in missing[:3])
        raise MXNetError(
            f"simple_bind({given}): the shapes of {', '.join(missing)} do not follow; give them, "
            f"as in simple_bind({example})"
        )
    reqs = _requests([n.name for n in arguments], grad_req)
    old: list[Arrays] = [getattr(shared_exec, d, {}) for d in ("arg_dict", "grad_dict", "aux_dict")]
    make = partial(_array, inferred, ctx or current_context())
    args = {n.name: make(n, old[0]) for n in arguments}
    wanted = [n for n in arguments if reqs[n.name] != "null" and args[n.name].type.dtype in FLOATS]
    grads = {n.name: make(n, old[1]) for n in wanted}
    reqs = {n: r if n in grads else "null" for n, r in reqs.items()}
    aux = {n.name: make(n, old[2]) for n in states}
    return Executor(symbol, ctx, args, grads, reqs, aux, shared_exec)


def _check_names(symbol: Symbol) -> None:
    """Refuse two variables of one name, which would get one array and one gradient."""
    names = symbol.list_arguments() + symbol.list_auxiliary_states()
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        raise MXNetError(
            f"bind: two variables are named {', '.join(twice)}; use one symbol twice to share an "
            "array, or give other names"
        )


def _array(inferred: Inferred, ctx: Any, node: Node, old: Mapping[str, Any]) -> Any:
    """The array of this name in `old` if it is of the type; else zeros."""
    type, known = known_type(inferred.type((node, 0)), node.name), old.get(node.name)
    return known if known is not None and known.type == type else NDArray(full(type), ctx)


def _requests(names: Sequence[str], grad_req: Any) -> dict[str, str]:
    if isinstance(grad_req, str):
        reqs = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, Mapping):
        reqs = {n: grad_req.get(n, "null") for n in names}
    else:
        reqs = dict(zip(names, grad_req, strict=True))
    for name, req in reqs.items():
        if req not in ("write", "add", "null"):
            raise MXNetError(f"grad_req of {name} is {req!r}; it is write, add or null")
    return reqs


def _by_name(what: str, names: Sequence[str], arrays: Any) -> Arrays:
    if isinstance(arrays, Mapping):
        return {k: v for k, v in arrays.items() if v is not None}
    if len(arrays) != len(names):
        raise MXNetError(f"bind: {what} has {len(arrays)} arrays for {', '.join(names)}")
    return {k: v for k, v in zip(names, arrays, strict=True) if v is not None}


def _eval(self: Symbol, ctx: Any = None, **arrays: Any) -> list[Any]:
    return list(bind(self, ctx, arrays, grad_req="null").forward())


Symbol.bind, Symbol.simple_bind, Symbol.eval = bind, simple_bind, _eval


def _reshape(
    self: Executor, partial_shaping: bool = False, allow_up_sizing: bool = False, **shapes: Any
) -> Executor:
    """An executor for other shapes, whose arrays of the same shapes are these."""
    dtypes = {k: x.dtype for k, x in self.arg_dict.items()}
    how: Arrays = {"grad_req": self._reqs, "type_dict": dtypes, "shared_exec": self}
    return simple_bind(self._symbol, self._ctx, **how, **shapes)


Executor.reshape = _reshape
