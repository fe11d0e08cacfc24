"""The walk: each node of a lowered program, by the rule for its op."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from byparts_frontend_torch.decompose import Decomposed
from byparts_frontend_torch.dtypes import dtype_name, type_of
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.promotion import as_value
from byparts_frontend_torch.rules import Rule, Rules
from byparts_frontend_torch.signature import Signature
from byparts_frontend_torch.stream import Stream, drawing_from
from byparts_frontend_torch.symbols import calling, size_of, unbacked
from byparts_frontend_torch.where import line_of
from byparts_graph_ir import GraphError, Value, add_note, compatible, inherit

# Where numbers stand, not which they are.
_PLACEMENT = ("device", "layout", "pin_memory", "memory_format", "non_blocking")
# Checks of what the export has proved or assumed; they compute nothing.
_CHECKS = (
    "aten._assert_tensor_metadata.default",
    "aten._assert_scalar.default",
    "aten._assert_async.msg",
    "aten.sym_constrain_range_for_size.default",
    "aten.sym_constrain_range.default",
)


def read(
    program: Decomposed, signature: Signature, rules: Rules, stream: Stream | None
) -> dict[str, Value]:
    """Name of a node -> value, for what the program gives.

    Raises:
        UnsupportedOp: a rule refuses; `error.op` is the overload.
        GraphError: a rule fails, or gives something of another type than torch does.
    """
    known: dict[str, Any] = dict(signature.known)
    with drawing_from(stream):
        for node in program.exported.graph.nodes:
            if node.op == "call_function" and target_of(node) not in _CHECKS:
                known[node.name] = _value(node, known, rules)
    names = (*signature.outputs, *signature.updates.values())
    return {
        n: known[n] if isinstance(known[n], Value) else as_value(known[n], "i64") for n in names
    }


def check_supported(graph: Any, rules: Rules) -> None:
    """Every op has a rule.

    Raises:
        UnsupportedOp: names all that have none, how often and where they are, and what to write.
    """
    missing: dict[str, list[Any]] = {}
    for node in graph.nodes:
        if node.op == "call_function" and not _is_known(node, rules):
            missing.setdefault(target_of(node), []).append(node)
    if missing:
        plural = "s have" if len(missing) > 1 else " has"
        lines = "\n".join(_advice(name, nodes) for name, nodes in missing.items())
        raise UnsupportedOp(
            f"{len(missing)} op{plural} no rule in byparts_frontend_torch:\n{lines}"
        )


def target_of(node: Any) -> str:
    """The overload, as "aten.add.Tensor", or the name of what is called."""
    target = node.args[1] if _has_effect(node) else node.target
    if hasattr(target, "overloadpacket"):
        return str(target)
    return f"{getattr(target, 'namespace', 'python')}.{getattr(target, '__name__', target)}"


def _has_effect(node: Any) -> bool:
    """Whether torch keeps the order of this call by a token: `with_effects(token, op, ...)`."""
    return getattr(node.target, "__name__", "") == "with_effects"


def _is_known(node: Any, rules: Rules) -> bool:
    if _has_effect(node):
        return False
    name = target_of(node)
    # Arithmetic of sizes: what it computes stands in the node, as an expression.
    size = name.startswith(("python.", "aten.sym_"))
    return size or name in _CHECKS or name in rules


def _advice(name: str, nodes: list[Any]) -> str:
    first = line_of(nodes[0])
    place = f", first at {first}" if first else ""
    times = f"{len(nodes)} x {name}{place}"
    if name.startswith("higher_order."):
        return (
            f"  {times}; control flow is not imported: choose with torch.where, or export each way"
        )
    if _has_effect(nodes[0]):
        return f"  {times}; it has an effect, which is not imported: export the model without it"
    if any(map(_is_complex, (nodes[0], *nodes[0].all_input_nodes))):
        return f"  {times}; complex numbers are not imported: write out real and imaginary parts"
    if _depends_on_data(nodes[0]):
        return f"  {times}; its result has a shape or a number that depends on data"
    return f'  {times}; add a rule with @rules.on("{name}")'


def _is_complex(node: Any) -> bool:
    return bool(getattr(getattr(node.meta.get("val"), "dtype", None), "is_complex", False))


def _depends_on_data(node: Any) -> bool:
    """Whether a shape, or a number, of a node's result depends on data."""
    value = node.meta.get("val")
    sizes = [value] if hasattr(value, "node") else getattr(value, "shape", ())
    return any(hasattr(s, "node") and unbacked(s) for s in sizes)


def _value(node: Any, known: Mapping[str, Any], rules: Rules) -> Any:
    """The result of a node: a value, several, or a size."""
    meta, name = node.meta.get("val"), target_of(node)
    if hasattr(meta, "node") and name not in rules:
        return size_of(meta)
    args = [_argument(a, known) for a in node.args]
    if node.target is operator.getitem:
        return _element(node, *args)
    kwargs = {k: _argument(a, known) for k, a in node.kwargs.items() if k not in _PLACEMENT}
    rule = rules.get(name)
    assert rule is not None, "check_supported has seen every op"
    line = line_of(node)
    place = f"importing {name}, called at {line or 'an unknown line'}"
    try:
        with inherit(line), calling(meta):
            result = rule(*args, **kwargs)
        _check_types(name, result, meta, rule)
    except GraphError as error:
        if isinstance(error, UnsupportedOp):
            error.op = name  # type: ignore[attr-defined]  # which one to decompose instead
        add_note(error, place)
        raise
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
        raise add_note(
            GraphError(f"{name}: its rule {_named(rule)} does not take this call: {failure}"), place
        ) from error
    return result


def _argument(a: Any, known: Mapping[str, Any]) -> Any:
    """An argument of a node as rules take it."""
    if isinstance(a, (list, tuple)):
        return [_argument(x, known) for x in a]
    if hasattr(a, "op") and hasattr(a, "meta"):
        return known[a.name]
    if type(a).__name__ == "dtype":
        return dtype_name(a)
    return size_of(a)


def _element(node: Any, results: Any, index: int) -> Any:
    result = results[index]
    if result is None and node.users:
        of = node.args[0]
        raise add_note(
            UnsupportedOp(f"{target_of(of)}: output {index} is not imported"),
            f"called at {line_of(of)}",
        )
    return result


def _check_types(name: str, result: Any, meta: Any, rule: Rule) -> None:
    """The rule gives what torch says, as far as both know."""
    several = isinstance(meta, (list, tuple))
    results = list(result) if several else [result]
    for i, (value, tensor) in enumerate(zip(results, meta if several else [meta], strict=False)):
        if value is None or not hasattr(tensor, "dtype"):
            continue
        expected = type_of(tensor)
        if not isinstance(value, Value) or not compatible(value.type, expected):
            got = value.type if isinstance(value, Value) else repr(value)
            place = f" {i}" if several else ""
            raise GraphError(
                f"{name}: output{place} is {expected} in torch, and the rule "
                f"{_named(rule)} gives {got}"
            )


def _named(rule: Rule) -> str:
    return f"{rule.__module__}.{getattr(rule, '__name__', rule)}"
