"""The inputs and outputs of an exported program, by the names people know.

Torch gives every parameter and buffer a placeholder, also twice where two layers share a tensor.
Here a shared tensor is one weight, so its gradients add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import byparts_opset as ops
from byparts_frontend_torch.dtypes import as_array, type_of
from byparts_frontend_torch.symbols import Expression, size_of
from byparts_graph_ir import GraphError, Input, TensorType, Value
from byparts_opset.dtypes import dtype_name

_WEIGHTS, _MUTATIONS = ("PARAMETER", "BUFFER"), ("BUFFER", "PARAMETER", "USER_INPUT")


@dataclass(frozen=True, eq=False)
class Signature:
    """Inputs, weights and outputs of a program.

    Attributes:
        known: placeholder -> value.
        inputs: those of the user.
        weights: name -> array.
        values: name of a weight -> input of the graph.
        parameters: the weights that are trained.
        tied: name of a weight that is another one, too -> that.
        outputs: nodes whose values are the user's outputs.
        names: of those outputs.
        unsaved: weights that the state dict leaves out, such as masks.
        updates: weight or input -> node whose value it takes.
    """

    known: Mapping[str, Value]
    inputs: tuple[Input, ...]
    weights: Mapping[str, NDArray[Any]]
    values: Mapping[str, Input]
    parameters: tuple[str, ...]
    tied: Mapping[str, str]
    outputs: tuple[str, ...]
    names: tuple[str, ...]
    unsaved: tuple[str, ...]
    updates: Mapping[str, str]


def signature_of(exported: Any) -> Signature:
    """Inputs and weights as values; outputs by the names of their nodes.

    Raises:
        GraphError: an input or an output that is no tensor, a dtype, a layout or a dynamic
            dimension that we have not.
    """
    specs = _read_specs(exported)
    tensors = {s.target: _tensor(exported, s.target) for s in specs if s.kind.name in _WEIGHTS}
    tied = _tied(tensors)
    weights = {n: as_array(t, n) for n, t in tensors.items() if n not in tied}
    values = {n: _input(n, a) for n, a in weights.items()}
    given = _user_inputs(exported)
    known: dict[str, Value] = dict(given)
    for s in specs:
        if s.kind.name in _WEIGHTS:
            known[s.arg.name] = values[tied.get(s.target, s.target)]
        elif s.kind.name == "CONSTANT_TENSOR":
            known[s.arg.name] = ops.constant(as_array(exported.constants[s.target], s.target))
        elif s.kind.name != "USER_INPUT":
            what = s.kind.name.lower().replace("_", " ")
            raise GraphError(f"input {s.arg.name!r} is a {what}: only tensors are imported")
    parameters = (s.target for s in specs if s.kind.name == "PARAMETER")
    trained = [tied.get(n, n) for n in parameters if tensors[n].requires_grad]
    outputs, updates = _results(exported.graph_signature.output_specs, tied)
    inputs, unique = tuple(given.values()), tuple(dict.fromkeys(trained))
    unsaved = tuple(s.target for s in specs if s.persistent is False and s.target in weights)
    names = _output_names(exported, outputs)
    return Signature(known, inputs, weights, values, unique, tied, outputs, names, unsaved, updates)


def _read_specs(exported: Any) -> list[Any]:
    """All inputs, but buffers that the state dict leaves out (masks) and that nothing reads."""
    idle = {n.name for n in exported.graph.nodes if n.op == "placeholder" and not n.users}
    specs = exported.graph_signature.input_specs
    return [s for s in specs if s.persistent is not False or s.arg.name not in idle]


def _tensor(exported: Any, name: str) -> Any:
    state = exported.state_dict
    return state[name] if name in state else exported.constants[name]


def _tied(tensors: Mapping[str, Any]) -> dict[str, str]:
    """Tensors that are the same elements of the same memory as one before, with its name."""
    first: dict[Any, str] = {}
    tied = {}
    for name, t in tensors.items():
        place = (t.data_ptr(), t.shape, t.stride(), t.dtype) if t.numel() else name
        if first.setdefault(place, name) != name:
            tied[name] = first[place]
    return tied


def _input(name: str, array: NDArray[Any]) -> Input:
    return Input(TensorType(dtype_name(array.dtype), array.shape), None, name)


def _user_inputs(exported: Any) -> dict[str, Input]:
    """The tensors among them; what is a number or `None` was built in by the export."""
    names = {s.arg.name for s in exported.graph_signature.input_specs if _is_user(s)}
    inputs = {}
    for node in exported.graph.nodes:
        tensor = node.meta.get("val")
        if node.op == "placeholder" and node.name in names and hasattr(tensor, "dtype"):
            inputs[node.name] = Input(_input_type(node.name, tensor), None, node.name)
    return inputs


def _is_user(spec: Any) -> bool:
    return bool(spec.kind.name == "USER_INPUT")


def _input_type(name: str, tensor: Any) -> TensorType:
    for axis, d in enumerate(map(size_of, tensor.shape)):
        if isinstance(d, Expression):
            raise GraphError(
                f"input {name!r}: dimension {axis} is {d.text}, an expression; "
                "export it with that dimension fixed, or free of others"
            )
    try:
        return type_of(tensor)
    except GraphError as error:
        raise GraphError(f"input {name!r}: {error}") from None


def _results(specs: Any, tied: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Nodes of the user's outputs; weight or input -> node of its new value."""
    outputs, updates = [], {}
    for s in specs:
        kind, mutated = s.kind.name, s.kind.name.removesuffix("_MUTATION")
        if kind in ("USER_OUTPUT", "LOSS_OUTPUT"):
            # A constant (None, a number) has a value, and no node.
            outputs += [] if hasattr(s.arg, "value") else [s.arg.name]
        elif mutated in _MUTATIONS:
            updates[tied.get(s.target, s.target)] = s.arg.name
        else:
            what = kind.lower().replace("_", " ")
            raise GraphError(f"output {s.arg.name!r} is a {what}: only tensors are imported")
    return tuple(outputs), updates


def _output_names(exported: Any, nodes: tuple[str, ...]) -> tuple[str, ...]:
    """The place of each output in what the model gives, "past.0"; else its node's name.

    Keys of dicts, fields of named tuples and of dataclasses that torch knows are names.
    """
    user = [s for s in exported.graph_signature.output_specs if s.kind.name.startswith("USER_OUT")]
    paths = _paths(exported.call_spec.out_spec, ())
    if len(paths) != len(user):
        return nodes
    kept = [p for p, s in zip(paths, user, strict=True) if not hasattr(s.arg, "value")]
    named = [any(isinstance(key, str) for key in path) for path in kept]
    return tuple(
        ".".join(map(str, path)) if is_named else node
        for path, is_named, node in zip(kept, named, nodes, strict=True)
    )


def _paths(spec: Any, before: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    """The keys that lead to each leaf of a tree of torch, an int where it has no name."""
    if spec.is_leaf():
        return [before]
    children, context = spec.children(), spec.context
    lists = context if isinstance(context, (list, tuple)) else ()
    keys: Any = range(len(children))
    for names in (context, getattr(context, "_fields", None), *lists):
        is_list = isinstance(names, (list, tuple)) and len(names) == len(children)
        if is_list and all(isinstance(name, str) for name in names):
            keys = names
    pairs = zip(keys, children, strict=True)
    return [path for key, child in pairs for path in _paths(child, (*before, key))]
