"""Signatures of ops for `inspect.signature` and `help`, made from their shape rules."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect import Signature
    from typing import Any


class OpSignature:
    """`__signature__` of ops: `(x, /) -> Value` of `tanh`, `(axes, keepdims=False)` of its class.

    Worked out when it is asked for: nobody asks while a program is built.
    """

    def __get__(self, op: Any, kind: Any) -> Signature:
        return _of_class(kind) if op is None else _of_instance(op)


def _of_instance(op: Any) -> Signature:
    """The signature of an instance: a value for each input of its shape rule."""
    from inspect import Parameter, Signature, signature

    parameters = list(signature(op.infer).parameters.values())
    many, one = Parameter.VAR_POSITIONAL, Parameter.POSITIONAL_ONLY
    takes = [
        p.replace(kind=many if p.kind is many else one, annotation="Value")
        for p in parameters
        if p.kind is not Parameter.VAR_KEYWORD
    ]
    return Signature(takes, return_annotation="Value")


def _of_class(kind: Any) -> Signature:
    """The signature of the class: an argument for each field."""
    from inspect import Parameter, Signature

    from byparts_graph_ir.model.frozen import field_defaults, field_names

    defaults, either = field_defaults(kind), Parameter.POSITIONAL_OR_KEYWORD
    takes = [
        Parameter(name, either, default=defaults.get(name, Parameter.empty))
        for name in field_names(kind)
    ]
    return Signature(takes, return_annotation=kind.__name__)
