"""A program of `torch.export` as a graph of standard ops, with its weights beside it.

    imported = from_exported(torch.export.export(model, (x,)))
    (y,) = evaluate(imported.graph, x, *imported.weights.values())

The program is brought to core ATen by torch's own decompositions, but ops that have a rule stay
whole.  Then each node becomes what its rule makes of it, under the line of the model that called
it, and is checked against the type that torch found.  A rule that refuses what it is given makes
us start again, with that op decomposed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from byparts_frontend_torch.decompose import Decomposed, decomposed
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.read import check_supported, read
from byparts_frontend_torch.rules import Rules, rules
from byparts_frontend_torch.signature import Signature, signature_of
from byparts_frontend_torch.stream import COUNTER, KEY, Stream
from byparts_frontend_torch.symbols import naming
from byparts_frontend_torch.weights import chosen
from byparts_graph_ir import ArgumentError, Graph, Value, add_note
from byparts_graph_ir.contract import checked

Array = NDArray[Any]
Path = Union[str, "PathLike[str]"]


@dataclass(frozen=True, eq=False)
class Imported:
    """A program and its weights.

    Attributes:
        graph: from the user's inputs, then the weights; to the user's outputs, then the new values
            of what the program updates.
        weights: by the names of the model's `state_dict`, in the order of the graph's inputs.
        inputs: names of the user's inputs: tensors, nested ones flattened.
        outputs: names of the user's outputs; `None` and numbers are left out.  What stands in a
            dict or a dataclass has its key as name, nested ones with points: "past.0".
        updates: names of weights (or inputs) whose new values are the last outputs.
        parameters: those weights that are trained.
        tied: other names of weights that are one tensor under several -> the name in `weights`.
        unsaved: weights that the model's `state_dict` leaves out, such as masks.
    """

    graph: Graph
    weights: dict[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    updates: tuple[str, ...]
    parameters: tuple[str, ...]
    tied: Mapping[str, str]
    unsaved: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Value]:
        """Name of a weight -> the input of the graph."""
        first = len(self.graph.inputs) - len(self.weights)
        return dict(zip(self.weights, self.graph.inputs[first:], strict=True))

    def with_weights(self, source: Path | Mapping[str, Array]) -> Imported:
        """The program with other weights, by name; needs no torch.

        Args:
            source: a file of the part weights (.safetensors, .npz), or arrays by name.  Floats are
                cast to the program's dtype.  What the program has not is left; what the state dict
                leaves out, and the stream of random numbers, stay as they are.

        Raises:
            ArgumentError: a weight is missing, or of another shape or kind; all are named.
            ImportError: a path is given, and the part weights is not installed.
        """
        given = source if isinstance(source, Mapping) else _loaded(source)
        return replace(self, weights=chosen(self.weights, given, self.tied, self.unsaved))


@checked
def from_exported(exported: Any, *, seed: int | None = None, rules: Rules = rules) -> Imported:
    """The graph and the weights of a `torch.export.ExportedProgram`.

    Args:
        exported: what `torch.export.export(model, args)` gave.
        seed: of what draws random numbers, such as dropout in training; without one that is an
            error.  Adds the weights "random.key" and "random.counter", and updates the latter.
        rules: what is made of each op.

    Raises:
        UnsupportedOp: there are ops without a rule; all are named, with the lines to write.
        ArgumentError: this is no exported program.
        GraphError: it has a dtype or a dynamic size we cannot say.
    """
    _check(exported)
    import byparts_frontend_torch.all_rules  # noqa: F401  # registers them, when first needed

    refused: frozenset[str] = frozenset()
    while True:
        program = decomposed(exported, rules, refused)
        try:
            with naming(program.exported):
                return _imported(program, rules, None if seed is None else Stream(), seed)
        except _Refused as refusal:
            refused |= {refusal.name}


class _Refused(Exception):
    """No failure: a rule refused, and torch can decompose the op."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _imported(
    program: Decomposed, rules: Rules, stream: Stream | None, seed: int | None
) -> Imported:
    check_supported(program.exported.graph, rules)
    signature = signature_of(program.exported)
    try:
        outputs = read(program, signature, rules, stream)
    except UnsupportedOp as error:
        name = getattr(error, "op", "")
        if name in program.kept:
            raise _Refused(name) from error
        raise
    return _assembled(signature, outputs, stream, seed)


def _assembled(
    signature: Signature, made: Mapping[str, Value], stream: Stream | None, seed: int | None
) -> Imported:
    weights, values = dict(signature.weights), dict(signature.values)
    updates, results = dict(signature.updates), dict(made)
    if stream is not None and stream.used:
        weights |= {KEY: np.asarray(seed, np.int64), COUNTER: np.asarray(0, np.int64)}
        values |= zip((KEY, COUNTER), stream.inputs, strict=True)
        updates[COUNTER], results[COUNTER] = COUNTER, stream.counter
    inputs = (*signature.inputs, *(values[name] for name in weights))
    outputs = (*signature.outputs, *updates.values())
    return Imported(
        Graph.of(inputs, [results[name] for name in outputs]),
        weights,
        tuple(v.name for v in signature.inputs),
        signature.names,
        tuple(updates),
        signature.parameters,
        signature.tied,
        signature.unsaved,
    )


def _check(exported: Any) -> None:
    if hasattr(exported, "graph_signature") and hasattr(exported, "run_decompositions"):
        return
    raise add_note(
        ArgumentError(f"from_exported takes an ExportedProgram, got {type(exported).__name__}"),
        "write from_exported(torch.export.export(model, args))",
    )


def _loaded(path: Path) -> dict[str, Array]:
    try:
        from byparts_weights import load  # an optional part
    except ImportError as error:
        raise ImportError(
            "weights of a file need the part weights: pip install byparts-weights"
        ) from error
    return load(path)
