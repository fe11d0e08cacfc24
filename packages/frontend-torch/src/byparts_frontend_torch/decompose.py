"""Torch's own lowering to core ATen, which leaves alone what has a rule here.

It forgets `torch.no_grad()`: what was computed under it is inlined.  We would differentiate through
that, so what comes out of such a part is detached first.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from byparts_frontend_torch.rules import Rules


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
        return Decomposed(_detached(exported).run_decompositions(table), frozenset(kept))


def _overload(ops: Any, name: str) -> Any:
    """The overload, or `None` where this version of torch has none, or it is not loaded."""
    for part in name.split("."):
        ops = getattr(ops, part, None)
    return ops


def _detached(exported: Any) -> Any:
    """The program with a `detach` behind each result of a part under `no_grad`."""
    if not any(map(_is_without_gradient, exported.graph.nodes)):
        return exported
    import torch

    module = deepcopy(exported.graph_module)
    for node in filter(_is_without_gradient, list(module.graph.nodes)):
        for result in list(node.users):
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
    )


def _is_without_gradient(node: Any) -> bool:
    name = getattr(node.target, "__name__", "")
    return bool(name == "wrap_with_set_grad_enabled" and node.args[0] is False)


def _detach(graph: Any, result: Any, detach: Any) -> None:
    """Users of a result see it detached; what the program gives stays under its name."""
    with graph.inserting_after(result):
        new = graph.call_function(detach, (result,))
    new.meta = dict(result.meta)
    result.replace_all_uses_with(
        new, delete_user_cb=lambda user: user is not new and user.op != "output"
    )
