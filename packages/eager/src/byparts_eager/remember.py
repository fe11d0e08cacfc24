"""Functions of ops on arrays, remembered: the plans that ran the first time run again.

What `ops.softmax(x, -1)` does depends on the kind of x and on -1, never on the elements of x.  So
the first call is recorded, and a later call on arrays of these kinds runs the recorded plans in
order, without asking the function again: a microsecond instead of ten.

graph-ir hands the calls of checked functions over (`Value.remembered`); arguments that cannot be a
key (functions, lists of values) make an ordinary call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any, Optional

from byparts_eager.apply import record_node
from byparts_eager.array import Array, array_of
from byparts_eager.kind import caches
from byparts_eager.plan import plans
from byparts_eager.state import record, state
from byparts_graph_ir import Node

_MOST = 1 << 14  # calls that are remembered; then all are forgotten
_known: dict[Any, Optional[_Call]] = {}
caches.append(_known)


class _Call:
    """The steps that a call ran, on numbered arrays, of which the first are the arguments.

    Attributes:
        constants: arrays that it made of numbers, numbered after the arguments.
        steps: op, plan, numbers of the inputs; outputs take the next numbers.
        results: numbers of what it returned.
        several: whether it returned a tuple.
    """

    __slots__ = ("constants", "only", "results", "several", "steps")

    def __init__(
        self,
        constants: Sequence[Array],
        steps: Sequence[tuple[Any, Any, tuple[int, ...]]],
        results: Sequence[int],
        several: bool,
        arguments: int,
    ) -> None:
        self.constants, self.steps = tuple(constants), tuple(steps)
        self.results, self.several = tuple(results), several
        is_plain = len(steps) == 1 and not several and steps[0][2] == tuple(range(arguments))
        self.only = steps[0][1] if is_plain and self.results == (arguments,) else None

    def __call__(self, arguments: Sequence[Array]) -> Any:
        if self.only is not None and not state.recorders:
            return self.only(*arguments)[0]
        arrays = [*arguments, *self.constants]
        recording = state.recorders
        for op, plan, places in self.steps:
            inputs = tuple([arrays[i] for i in places])
            outputs = plan(*inputs)
            arrays += record_node(op, inputs, outputs) if recording else outputs
        if self.several:
            return tuple([arrays[i] for i in self.results])
        return arrays[self.results[0]]


def remembered(
    function: Callable[..., Any],
    call: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """The result of a function of ops, whose first argument is an array.

    Args:
        function: of arrays and plain attributes.
        call: the same with its arguments checked, for the first time.
        args: the first is an array.
        keywords: more arguments, by name.
    """
    if len(args) == 1 and not keywords and args[0].__class__ is Array:  # the way of most calls
        known = _known.get((function, args[0].kind))
        if known is not None:
            return known(args)
    arguments: list[Array] = []
    key: list[Any] = [function, len(args), *keywords]  # f(x, "axis", 1) is not f(x, axis=1)
    for x in (*args, *keywords.values()):
        if x.__class__ is Array:
            arguments.append(x)
            key.append(x.kind)
        elif not _add(key, x):
            return call(*args, **keywords)
    whole = tuple(key)
    try:
        known = _known[whole]
    except KeyError:
        return _first_call(whole, arguments, call, args, keywords)
    return call(*args, **keywords) if known is None else known(arguments)


def _add(key: list[Any], x: Any) -> bool:
    """Add an attribute to a key; False where it cannot be one."""
    kind = x.__class__
    if kind is int or kind is str or x is None or x is Ellipsis:
        key.append(x)
    elif kind is float:
        if x != x:
            return False  # nan is not equal to itself
        key += (kind, x, copysign(1.0, x))
    elif kind is tuple:
        key += (kind, len(x))  # f(x, (1,)) is not f(x, 1, 1)
        return all([_add(key, item) for item in x])
    elif kind is slice:
        key.append(kind)
        return all([_add(key, item) for item in (x.start, x.stop, x.step)])
    elif kind is bool:
        key += (kind, x)
    else:
        return False
    return True


def _first_call(
    key: Any,
    arguments: Sequence[Array],
    call: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """Make the call, recorded, and learn what it ran."""
    if len(set(map(id, arguments))) < len(arguments):
        return call(*args, **keywords)  # which argument a step reads could not be told
    with record():
        result = call(*args, **keywords)
    if len(_known) >= _MOST:
        _known.clear()
    _known[key] = _learnt(arguments, result)
    if state.recorders:
        return result
    if result.__class__ is Array:
        return _without_node(result, arguments)
    if isinstance(result, tuple):
        return tuple([_without_node(y, arguments) for y in result])
    return result


def _without_node(y: Any, arguments: Sequence[Array]) -> Any:
    """An array that was recorded to learn, as if it had not been."""
    if y.__class__ is not Array or any(y is x for x in arguments):
        return y
    return array_of(y.kind, y.data)


def _learnt(arguments: Sequence[Array], result: Any) -> Optional[_Call]:
    """The steps that made a result of these arrays; `None` where it is no array, or one of them."""
    results = result if isinstance(result, tuple) else (result,)
    if not all(y.__class__ is Array and y.past is not None for y in results):
        return None
    numbers: dict[Any, int] = {x: i for i, x in enumerate(arguments)}
    if any(y in numbers for y in results):
        return None
    nodes = _between(numbers, results)
    constants: list[Array] = []
    for node in nodes:
        for x in node.inputs:
            if x.node is None and x not in numbers:
                if x.__class__ is not Array:
                    return None
                numbers[x] = len(numbers)
                constants.append(x)
    steps = []
    for node in nodes:
        if node.op.effect:
            return None
        plan = _plan(node)
        if plan is None:
            return None  # another thread has made all be forgotten
        steps.append((node.op, plan, tuple([numbers[x] for x in node.inputs])))
        for y in node.outputs:
            numbers[y] = len(numbers)
    ends = [numbers[y] for y in results]
    return _Call(constants, steps, ends, isinstance(result, tuple), len(arguments))


def _between(arguments: Any, results: Sequence[Any]) -> list[Node]:
    """The nodes between arguments and results, inputs first; what made the arguments is older."""
    seen: dict[Node, None] = {}
    todo = [(y.node, False) for y in results]
    while todo:
        node, is_ready = todo.pop()
        if is_ready:
            seen[node] = None
        elif node not in seen:
            todo.append((node, True))
            todo += [(x.node, False) for x in node.inputs if x.node and x not in arguments]
    return list(seen)


def _plan(node: Node) -> Any:
    inputs: Any = node.inputs
    key = (node.op, *[x.kind for x in inputs])
    return plans.get(key)


Array.remembered = staticmethod(remembered)
