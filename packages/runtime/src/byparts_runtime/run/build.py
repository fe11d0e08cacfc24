"""`build`: a program of a graph, for its types, or for every size of its named dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_graph_ir import Graph
from byparts_runtime.building.build import build_program
from byparts_runtime.building.options import DEFAULTS, BuildOptions, with_changes
from byparts_runtime.building.signature import VariablesArgument, bind_variables
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.program import Program


def build(
    graph: Graph,
    *,
    variables: VariablesArgument = (),
    updates: Sequence[Variable] = (),
    arena: Optional[Arena] = None,
    options: BuildOptions = DEFAULTS,
    **changes: Any,
) -> Program:
    """Make a program of a graph, in five steps, each of which gives a frozen value that prints.

    Args:
        graph: its inputs are the feeds and the old values of `variables`; its outputs are the
            fetches, then the new values of `updates`.
        variables: each is the value of the input of its name, in any order; those that name no
            input go to the last inputs, which have no names, in order.  Or `{input: variable}`,
            or a `Store`: those of its variables that inputs are named after.
        updates: what the last outputs are written to, in order (outputs have no names), all at
            once, when everything has run.
        arena: memory to share with other programs, which then run one at a time; by default the
            program has its own.
        options: how to build; see `BuildOptions`.
        changes: options by name, as in `build(graph, backends=("torch", "numpy"))`.

    A graph of named dimensions gives a `SymbolicProgram`: its graph is lowered and its kernels are
    compiled now, for all sizes, and each call places and binds what its feeds' sizes need.

    A backend that fails (no compiler runs, a full disk) is left out, with a warning, where others
    are left.  A build that takes longer than a second says so on a terminal (`progress.py`).

    Raises:
        GraphError, ShapeError, MissingRule, PartError: it cannot be built; nothing has changed.
        MemoryError: there is no memory for its arena; likewise.
    """
    options = with_changes(options, changes)
    bound = bind_variables(graph, variables)
    feeds = [v for i, v in enumerate(graph.inputs) if i not in bound]
    if any([_is_named(v.type.shape) for v in feeds]):
        from byparts_runtime.run.symbolic_program import SymbolicProgram  # few programs need it

        return SymbolicProgram(graph, bound, updates, arena, options)
    return build_program(graph, variables, updates, arena, options)


def _is_named(shape: Any) -> bool:
    """Whether all dimensions are numbers and names, and some are names."""
    return shape is not None and None not in shape and any([isinstance(d, str) for d in shape])
