"""`tf.contrib.graph_editor`: operations of a graph by name, and by what they need and feed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Optional

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol

Filter = Callable[[Any], Any]


def _names(name: str, module: str = "select") -> list[str]:
    return [f"contrib.graph_editor.{name}", f"contrib.graph_editor.{module}.{name}"]


def listed(given: Any) -> list[Any]:
    """A list of what is given, of one thing or of several."""
    if isinstance(given, Graph):
        return given.get_operations()
    if hasattr(given, "ops"):
        return list(given.ops)
    several = hasattr(given, "__iter__") and not isinstance(given, (Operation, Tensor, str))
    return list(given) if several else [given]


@symbol(*_names("make_list_of_op", "util"))
def make_list_of_op(ops: Any, check_graph: bool = True, **more: Any) -> list[Operation]:
    """Operations: themselves, or those that make tensors."""
    return [x.op if isinstance(x, Tensor) else x for x in listed(ops)]


@symbol(*_names("make_list_of_t", "util"))
def make_list_of_t(ts: Any, check_graph: bool = True, **more: Any) -> list[Tensor]:
    """Tensors: themselves, or all that operations give."""
    if isinstance(ts, Graph):
        return [t for op in ts.get_operations() for t in op.outputs]
    return [t for x in listed(ts) for t in (x.outputs if isinstance(x, Operation) else [x])]


@symbol(*_names("get_tensors", "util"))
def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph."""
    return make_list_of_t(graph)


@symbol(*_names("filter_ops"))
def filter_ops(ops: Any, positive_filter: Any = True) -> list[Operation]:
    """The operations for which the filter holds."""
    found = make_list_of_op(ops)
    return found if positive_filter is True else [op for op in found if positive_filter(op)]


@symbol(*_names("filter_ops_from_regex"))
def filter_ops_from_regex(ops: Any, regex: str) -> list[Operation]:
    """The operations in whose names the expression is found."""
    return filter_ops(ops, lambda op: re.search(regex, op.name))


@symbol(*_names("filter_ts"))
def filter_ts(ops: Any, positive_filter: Any = True) -> list[Tensor]:
    """The tensors that these operations take and give, for which the filter holds."""
    found = make_list_of_op(ops)
    ts = dict.fromkeys(
        [*(t for op in found for t in op.inputs), *(t for op in found for t in op.outputs)]
    )
    return [t for t in ts if positive_filter is True or positive_filter(t)]


@symbol(*_names("filter_ts_from_regex"))
def filter_ts_from_regex(ops: Any, regex: str) -> list[Tensor]:
    """The tensors that these operations take and give in whose names the expression is found."""
    return filter_ts(ops, lambda t: re.search(regex, t.name))


@symbol(*_names("select_ops"))
def select_ops(*args: Any, graph: Optional[Graph] = None, **more: Any) -> list[Operation]:
    """Operations by expressions of their names, and operations.

    Raises:
        ValueError: there are expressions and no graph.
    """
    found: dict[Operation, None] = {}
    for given in args:
        if isinstance(given, str) or hasattr(given, "search"):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regexes.")
            found.update(
                dict.fromkeys(op for op in graph.get_operations() if re.search(given, op.name))
            )
        else:
            found.update(dict.fromkeys(make_list_of_op(given)))
    return list(found)


@symbol(*_names("select_ts"))
def select_ts(*args: Any, graph: Optional[Graph] = None, **more: Any) -> list[Tensor]:
    """Tensors by expressions of their names, and tensors.

    Raises:
        ValueError: there are expressions and no graph.
    """
    found: dict[Tensor, None] = {}
    for given in args:
        if isinstance(given, str) or hasattr(given, "search"):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regexes.")
            found.update(dict.fromkeys(t for t in get_tensors(graph) if re.search(given, t.name)))
        else:
            found.update(dict.fromkeys(make_list_of_t(given)))
    return list(found)


def _walk(
    seeds: Any,
    next_of: Callable[[Operation], Iterable[Operation]],
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Optional[Filter],
) -> list[Operation]:
    """The operations reached from the seeds, wave after wave."""
    first = dict.fromkeys(make_list_of_op(seeds))
    within = None if within_ops is None else set(make_list_of_op(within_ops))
    found, wave = dict(first), list(first)
    while wave:
        reached = dict.fromkeys(op for before in wave for op in next_of(before))
        wave = [
            op
            for op in reached
            if op not in found
            and (within is None or op in within)
            and (within_ops_fn is None or within_ops_fn(op))
        ]
        found.update(dict.fromkeys(wave))
    return [op for op in found if inclusive or op not in first]


@symbol(*_names("get_backward_walk_ops"))
def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Optional[Filter] = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that the seeds need.

    Args:
        seed_ops: operations, or tensors: those that make them.
        inclusive: whether they are among the result.
        within_ops: only these are gone to.
        within_ops_fn: only those for which it holds.
        stop_at_ts: tensors that are not gone through.
        control_inputs: whether what runs before is needed, too.
    """
    stop = set(make_list_of_t(stop_at_ts))

    def before(op: Operation) -> list[Operation]:
        needed = [t.op for t in op.inputs if t not in stop]
        return needed + (op.control_inputs if control_inputs else [])

    return _walk(seed_ops, before, inclusive, within_ops, within_ops_fn)


@symbol(*_names("get_forward_walk_ops"))
def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Optional[Filter] = None,
    stop_at_ts: Any = (),
    control_outputs: Any = None,
) -> list[Operation]:
    """The operations that need the seeds, or take the seeds, if those are tensors."""
    stop = set(make_list_of_t(stop_at_ts))
    seeds = listed(seed_ops)
    if seeds and isinstance(seeds[0], Tensor):
        seeds = list(dict.fromkeys(op for t in seeds for op in t.consumers()))

    def behind(op: Operation) -> list[Operation]:
        reached = [c for t in op.outputs if t not in stop for c in t.consumers()]
        return reached + (control_outputs.get(op) if control_outputs is not None else [])

    return _walk(seeds, behind, inclusive, within_ops, within_ops_fn)


@symbol(*_names("get_walks_intersection_ops"))
def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Optional[Filter] = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    **more: Any,
) -> list[Operation]:
    """The operations that need the first seeds, and that the second ones need."""
    within = within_ops, within_ops_fn
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, *within, control_outputs=control_outputs
    )
    backward = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, *within, control_inputs=control_inputs
    )
    wanted = set(backward)
    return [op for op in forward if op in wanted]


@symbol(*_names("ControlOutputs", "util"))
class ControlOutputs:
    """A table of the operations that wait for each operation."""

    def __init__(self, graph: Graph) -> None:
        self._waiting: dict[Operation, list[Operation]] = {}
        for op in graph.get_operations():
            for before in op.control_inputs:
                self._waiting.setdefault(before, []).append(op)

    def get(self, op: Operation) -> list[Operation]:
        """The operations that wait for `op`."""
        return list(self._waiting.get(op, ()))

    def get_all(self) -> dict[Operation, list[Operation]]:
        """Operation -> those that wait for it."""
        return self._waiting
