"""`tf.contrib.graph_editor`: parts of a graph copied, and tensors put in the place of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.saving.graph_walks import (
    get_walks_intersection_ops,
    listed,
    make_list_of_op,
    make_list_of_t,
    select_ops,
)


def _names(name: str, module: str) -> list[str]:
    return [f"contrib.graph_editor.{name}", f"contrib.graph_editor.{module}.{name}"]


@symbol(*_names("SubGraphView", "subgraph"))
class SubGraphView:
    """Operations of a graph, with what they take from outside and give to it."""

    def __init__(self, inside_ops: Any = ()) -> None:
        found = dict.fromkeys(make_list_of_op(inside_ops))
        self.ops = sorted(found, key=lambda op: op.number)
        given = [t for op in self.ops for t in op.inputs if t.op not in found]
        self.inputs = list(dict.fromkeys(given))
        self.outputs = [
            t
            for op in self.ops
            for t in op.outputs
            if not t.consumers() or any(c not in found for c in t.consumers())
        ]

    @property
    def graph(self) -> Optional[Graph]:
        """The graph they are of."""
        return self.ops[0].graph if self.ops else None


@symbol(*_names("sgv", "subgraph"), *_names("make_view", "subgraph"))
def sgv(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of operations, chosen as by `select_ops`."""
    return SubGraphView(select_ops(*args, **kwargs))


class TransformerInfo:
    """A table of operations and tensors and their copies."""

    def __init__(self, ops: Mapping[Operation, Operation], ts: Mapping[Tensor, Tensor]) -> None:
        self._transformed_ops, self._transformed_ts = dict(ops), dict(ts)

    def transformed(self, original: Any, missing_fn: Any = None) -> Any:
        """The copies of operations or tensors, in their structure; or what the function says."""
        if isinstance(original, (list, tuple)):
            return type(original)([self.transformed(x, missing_fn) for x in original])
        table: Any = self._transformed_ts if isinstance(original, Tensor) else self._transformed_ops
        if original not in table:
            return None if missing_fn is None else missing_fn(original)
        return table[original]

    def original(self, transformed: Any, missing_fn: Any = None) -> Any:
        """The original of a copied operation or tensor."""
        table: Any = (
            self._transformed_ts if isinstance(transformed, Tensor) else self._transformed_ops
        )
        for before, after in table.items():
            if after is transformed:
                return before
        return None if missing_fn is None else missing_fn(transformed)


@symbol(*_names("copy_with_input_replacements", "transform"))
def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[Any, Any],
    dst_graph: Any = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies of operations, which take other tensors where they are said.

    Args:
        sgv: the operations.
        replacement_ts: tensor -> what the copies take instead.
        dst_graph: has to be theirs.
        dst_scope: of the names of the copies.
        src_scope: is left out of them.
        reuse_dst_scope: whether the scope is entered again.

    Raises:
        NotImplementedError: another graph is given.
    """
    view = sgv if isinstance(sgv, SubGraphView) else SubGraphView(listed(sgv))
    if dst_graph is not None and dst_graph is not view.graph:
        raise NotImplementedError("graph_editor: copies are made in the graph of what is copied")
    ts: dict[Tensor, Tensor] = dict(replacement_ts)
    ops: dict[Operation, Operation] = {}
    if view.graph is None:
        return SubGraphView(), TransformerInfo({}, {})
    scope = f"{dst_scope}/" if dst_scope and reuse_dst_scope else dst_scope
    with view.graph.as_default(), view.graph.outside(), name_scope(scope or None):
        for op in view.ops:
            name = op.name.removeprefix(f"{src_scope}/") if src_scope else op.name
            inputs = [ts.get(t, t) for t in op.inputs]
            made = op.kind.operation(inputs, name, **op.attributes)
            made._add_control_inputs([ops.get(c, c) for c in op.control_inputs])
            if op.gradient_type is not None:
                made.gradient_type = op.gradient_type
            ops[op] = made
            for before, after in zip(op.outputs, made.outputs, strict=True):
                ts.setdefault(before, after)
    return SubGraphView(list(ops.values())), TransformerInfo(ops, ts)


@symbol(*_names("graph_replace", "transform"))
def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[Any, Any],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Copies of tensors, computed from others where they are said; in the same structure.

    Raises:
        ValueError: no target needs what is replaced.
    """
    flat = make_list_of_t(list(target_ts) if not isinstance(target_ts, Tensor) else [target_ts])
    between = get_walks_intersection_ops(list(replacement_ts), flat)
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    scopes = dst_scope, src_scope, reuse_dst_scope
    _, info = copy_with_input_replacements(SubGraphView(between), replacement_ts, None, *scopes)
    found = [info.transformed(t, lambda same: same) for t in flat]
    return found[0] if isinstance(target_ts, Tensor) else type(target_ts)(found)


@symbol(*_names("reroute_ts", "reroute"))
def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let what takes the second tensors take the first ones; how many inputs were changed.

    Args:
        ts0: tensors that are taken from now on.
        ts1: tensors that are not, one for each.
        can_modify: only these operations are changed.
        cannot_modify: these are not.

    Raises:
        ValueError: there are not as many.
    """
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set(make_list_of_op(cannot_modify or ()))
    changed = 0
    for new, old in zip(make_list_of_t(list(ts0)), make_list_of_t(list(ts1)), strict=True):
        for op in old.consumers():
            if op in forbidden or (allowed is not None and op not in allowed):
                continue
            changed += sum([t is old for t in op.inputs])
            op.inputs = tuple([new if t is old else t for t in op.inputs])
            old._consumers.remove(op)
            new._consumers.append(op)
            op.graph.changed()
    return changed


@symbol(*_names("add_control_inputs", "reroute"))
def add_control_inputs(op: Operation, cops: Any) -> None:
    """Let an operation wait for others.

    Raises:
        ValueError: it waits for one already.
    """
    others = make_list_of_op(cops)
    for other in others:
        if other in op.control_inputs:
            raise ValueError(f"{op.name} is already a control_input of {other.name}")
    op._add_control_inputs(others)


@symbol(*_names("remove_control_inputs", "reroute"))
def remove_control_inputs(op: Operation, cops: Any) -> None:
    """Let an operation wait for others no more.

    Raises:
        ValueError: it does not wait for one.
    """
    others = make_list_of_op(cops)
    for other in others:
        if other not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {other.name}")
    op._control_inputs = tuple([c for c in op.control_inputs if c not in others])
    op.graph.changed()
