"""Kernels that are one call of C on the arrays they are bound to: the call, for any arrays.

A bound rule of the NumPy backend often returns `partial(np.tanh, x, y)`.  On arrays of the same
kinds that call does the same, so nothing has to be bound again.  Only calls are taken whose
arguments are the very inputs, the output and plain constants: whatever may hide an array (a
closure, a view in another shape) is bound each time instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

import numpy as np

from byparts_graph_ir.backend.kernel import in_c

_PLAIN = (int, float, bool, str, type(None), np.generic, np.dtype)


def as_one_call(
    run: Any, inputs: Sequence[Any], outputs: Sequence[Any]
) -> Optional[Callable[..., Any]]:
    """`call(*inputs, output)` that does what `run` does on NumPy arrays; `None` where unsure."""
    if not (len(outputs) == 1 and isinstance(run, partial) and in_c(run)):
        return None
    if outputs[0].__class__ is not np.ndarray or outputs[0].size == 0:
        return None
    if isinstance(getattr(run.func, "__self__", None), np.ndarray):
        return None  # a method of an array
    places = [_place(a, inputs, outputs[0]) for a in run.args]
    named = {name: _place(a, inputs, outputs[0]) for name, a in run.keywords.items()}
    if None in (*places, *named.values()):
        return None
    return _call(run.func, places, named, len(inputs))


def _place(argument: Any, inputs: Sequence[Any], output: Any) -> Optional[tuple[str, Any]]:
    """Find which input an argument is, or the output, or a constant; `None`: it may be a view."""
    if argument is output:
        return "y", None
    for i, x in enumerate(inputs):
        if argument is x:
            return "x", i
    if isinstance(argument, _PLAIN):
        return "constant", argument
    return None


def _call(
    function: Any,
    places: Sequence[Any],
    named: dict[str, Any],
    count: int,
) -> Callable[..., Any]:
    """Write the function that puts inputs and output in their places."""
    if not named and places == [*[("x", i) for i in range(count)], ("y", None)]:
        direct: Callable[..., Any] = function
        return direct
    scope: dict[str, Any] = {"function": function}
    words = []
    for name, (what, which) in [*enumerate(places), *named.items()]:
        if what == "constant":
            scope[f"c_{name}"] = which
        word = {"x": f"x{which}", "y": "y", "constant": f"c_{name}"}[what]
        words.append(word if isinstance(name, int) else f"{name}={word}")
    arguments = ", ".join([*[f"x{i}" for i in range(count)], "y"])
    call: Callable[..., Any] = eval(f"lambda {arguments}: function({', '.join(words)})", scope)
    return call
