"""Torch's own lowering to core ATen, which leaves alone what has a rule here.

It forgets `torch.no_grad()`: what was computed under it is inlined.  We would differentiate through
that, so what comes out of such a part is detached first.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import Rules
from byparts_frontend_torch.where import line_of


@dataclass(frozen=True, eq=False)
class Decomposed:
    """A lowered program.

    Attributes:
        exported: the `ExportedProgram`.
        kept: overloads that torch could have decomposed, and did not because of their rules.
    """

    exported: Any
    kept: frozenset[str]


def decomposed(exported: Any, rules: Rules, refused: frozenset[str]) -> Decomposed:
    """Core ATen, and the ops that have a rule which has not refused."""
    import torch  # whoever has an exported program has it loaded

    table = torch.export.default_decompositions()
    kept = set()
    for name in rules:
        overload = None if name in refused else _overload(torch.ops, name)
        if overload is not None and overload in table:
            table.pop(overload)
            kept.add(name)
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning):  # of what torch itself does
            warnings.simplefilter("ignore", category)
        try:
            return Decomposed(_detached(exported).run_decompositions(table), frozenset(kept))
        except UnsupportedOp:
            raise
        except Exception as error:
            raise UnsupportedOp(
                f"torch cannot decompose this program: {type(error).__name__}: {_first(error)}; "
                "exported.run_decompositions() shows where"
            ) from error


def _first(error: Exception) -> str:
    """The first line of a message; torch's go on for pages."""
    return next((line for line in str(error).splitlines() if line.strip()), "")


def _overload(ops: Any, name: str) -> Any:
    """The overload, or `None` where this version of torch has none, or it is not loaded."""
    for part in name.split("."):
        ops = getattr(ops, part, None)
    return ops


def _detached(exported: Any) -> Any:
    """The program in which no gradient comes through a part under `no_grad`.

    What such a part reads is detached first, and what it gives behind it; what it writes to in
    place must be seen by others, and is left.

    Raises:
        UnsupportedOp: it writes to a tensor that is used later and may get a gradient: torch
            passes that on as if nothing had been written.
    """
    if not any(map(_is_without_gradient, exported.graph.nodes)):
        return exported
    import torch

    module = deepcopy(exported.graph_module)
    trained = _with_gradient(exported, module.graph)
    for part in filter(_is_without_gradient, list(module.graph.nodes)):
        written, results = _written(module, part)
        for x in written & trained:
            _check_unread([x, *results[x]], part)
        for x in dict.fromkeys(part.args[2:]):
            if x in trained and x not in written:
                with module.graph.inserting_before(part):
                    new = module.graph.call_function(torch.ops.aten.detach.default, (x,))
                new.meta = dict(x.meta)
                part.replace_input_with(x, new)
        for result in list(part.users):
            _detach(module.graph, result, torch.ops.aten.detach.default)
    return torch.export.ExportedProgram(
        module,
        module.graph,
        exported.graph_signature,
        exported.state_dict,
        exported.range_constraints,
        exported.module_call_graph,
        exported.example_inputs,
        exported.constants,
        verifiers=exported.verifiers,  # in training, of a program with ops in place
    )


def _is_without_gradient(node: Any) -> bool:
    name = getattr(node.target, "__name__", "")
    return bool(name == "wrap_with_set_grad_enabled" and node.args[0] is False)


def _with_gradient(exported: Any, graph: Any) -> set[Any]:
    """The nodes that a gradient may come to: of parameters, of inputs, and what they make."""
    specs = exported.graph_signature.input_specs
    known = {s.arg.name for s in specs if s.kind.name in ("PARAMETER", "USER_INPUT")}
    nodes: set[Any] = set()
    for node in graph.nodes:
        reads = node.name in known if node.op == "placeholder" else nodes & {*node.all_input_nodes}
        if reads and _is_float(node.meta.get("val")) and not _is_without_gradient(node):
            nodes.add(node)
    return nodes


def _is_float(value: Any) -> bool:
    """Whether a result has floats; one of several results may be asked for later."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_float, value))
    return bool(hasattr(value, "dtype") and value.dtype.is_floating_point)


def _written(module: Any, part: Any) -> tuple[set[Any], dict[Any, list[Any]]]:
    """The nodes outside that a part writes to, also through views; node -> results that are it."""
    inner = getattr(module, part.args[1].target).graph
    inputs = dict(zip(inner.find_nodes(op="placeholder"), part.args[2:], strict=True))
    written = [
        _memory_of(x) for node in inner.nodes for x, alias in _aliases(node) if alias.is_write
    ]
    results: dict[Any, list[Any]] = {x: [] for x in inputs.values()}
    (given,) = inner.output_node().args
    for result in part.users:
        origin = inputs.get(_memory_of(given[result.args[1]]))
        if origin is not None:
            results[origin].append(result)
    return {inputs[x] for x in written if x in inputs}, results


def _memory_of(node: Any) -> Any:
    """The node that a chain of views and of writes in place begins with."""
    while aliases := _aliases(node):
        node = aliases[0][0]
    return node


def _aliases(node: Any) -> list[tuple[Any, Any]]:
    """The arguments of an op of torch whose memory it writes to or gives, and torch's note."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return []
    pairs = zip(node.args, schema.arguments, strict=False)
    return [(x, a.alias_info) for x, a in pairs if a.alias_info is not None and hasattr(x, "op")]


def _check_unread(written: list[Any], part: Any) -> None:
    """Nothing behind the part reads one of these; `written[1:]` are results of it."""
    behind = False
    for node in part.graph.nodes:
        reads = set(written) & set(node.all_input_nodes) and node not in written
        if behind and reads and node.op != "output":
            place = line_of(node) or "an unknown line"
            raise UnsupportedOp(
                f"no_grad: {written[0].name!r} is written to in place under no_grad, and read "
                f"at {place}: its gradient is not imported; write to x.clone(), or without no_grad"
            )
        behind = behind or node is part


def _detach(graph: Any, result: Any, detach: Any) -> None:
    """Users of a result see it detached; what the program gives stays under its name."""
    with graph.inserting_after(result):
        new = graph.call_function(detach, (result,))
    new.meta = dict(result.meta)
    result.replace_all_uses_with(
        new, delete_user_cb=lambda user: user is not new and user.op != "output"
    )
