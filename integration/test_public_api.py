"""Every public name of every part, called with arguments of the wrong kind.

A call either works or raises an error of ours, whose message is a sentence about the argument.  The
calls are generated: for each parameter a right argument is guessed from its annotation, and each
wrong one is tried in its place while the others are right; then wrong counts.  What Python itself
says of a missing or an unknown argument (a `TypeError` before anything of ours has run) is fine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Any

import numpy as np
import pytest

import byparts_memplan as memplan
import byparts_opset as ops
import byparts_recompute as recompute
from byparts_conformance import Case
from byparts_graph_ir import HOST, Graph, GraphError, Input, Op, Sample, TensorType, Value
from byparts_kernels_numpy import make
from byparts_runtime import Variable

PARTS = {
    **{"byparts_graph_ir": "", "byparts_opset": "", "byparts_autodiff": "", "byparts_optimize": ""},
    **{
        "byparts_runtime": "",
        "byparts_memplan": "",
        "byparts_recompute": "",
        "byparts_conformance": "",
    },
    **{
        "byparts_weights": "",
        "byparts_kernels_numpy": "",
        "byparts_tinyflow": "",
        "byparts_nn": "",
    },
    **{"byparts_kernels_torch": "torch", "byparts_frontend_torch": "torch"},
}
# Not called: `lazy_names` style machinery and protocols have nothing to check.
SKIPPED = {
    "byparts_runtime.Location": "a protocol",
    "byparts_runtime.Plan": "a protocol",
    "byparts_runtime.Planner": "a type",
    "byparts_kernels_torch.make_cuda": "it needs a GPU; `make` checks its arguments",
    "byparts_graph_ir.Op": "a base class: its methods are the subclass's to write",
}
X = Input(TensorType("f32", (2, 3)), name="x")
GRAPH = Graph.of([X], [ops.tanh(X)])
SAMPLE = Sample(GRAPH.nodes[0].op, (X.type,))
CHAIN = recompute.homogeneous(4, output=1, saved=1)

WRONG: Mapping[str, Callable[[], Any]] = {
    "None": lambda: None,
    "str": lambda: "wrong",
    "int": lambda: 3,
    "float": lambda: 0.5,
    "bool": lambda: True,
    "list": lambda: [1, "a"],
    "empty": lambda: [],
    "object": object,
    "value": lambda: X,
    "array": lambda: np.ones((2, 3), np.float32),
    "dict": lambda: {"a": 1},
    "graph": lambda: GRAPH,
}
# A right argument, by the first of these words in the annotation, or else by the parameter's name.
RIGHT: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("Sequence[Value]", lambda: [X]),
    ("Iterable[Value]", lambda: [X]),
    ("Plan", lambda: memplan.plan(GRAPH)),
    ("Placement", lambda: memplan.place([memplan.Buffer(4, 0, 2)])),
    ("Chain", lambda: CHAIN),
    ("Schedule", lambda: recompute.sqrt_schedule(CHAIN)),
    ("Case", lambda: Case(SAMPLE, "basic")),
    ("Array", lambda: np.ones((2, 3), np.float32)),
    ("Graph", lambda: GRAPH),
    ("Backend", make),
    ("Space", lambda: HOST),
    ("Variable", lambda: [Variable("x", np.ones((2, 3), np.float32))]),
    ("TensorType", lambda: TensorType("f32", (2, 3))),
    ("Types", lambda: (TensorType("f32", (2, 3)),)),
    ("Node", lambda: GRAPH.nodes[0]),
    ("Sample", lambda: SAMPLE),
    ("Callable", lambda: lambda *_: None),
    ("Operand", lambda: X),
    ("Value", lambda: X),
    ("type[Op]", lambda: type(SAMPLE.op)),
    ("Op", lambda: SAMPLE.op),
    ("Mapping", dict),
    ("Sequence[int]", lambda: [1]),
    ("tuple", lambda: (1,)),
    ("Iterable", lambda: [1]),
    ("bool", lambda: True),
    ("int", lambda: 1),
    ("float", lambda: 0.5),
    ("str", lambda: "f32"),
)


def test_the_public_api_refuses_wrong_arguments_by_a_sentence(
    part: str, record_property: Callable[[str, object], None]
) -> None:
    """No bare AttributeError, IndexError, KeyError or TypeError from somewhere inside."""
    tries, failures = 0, list[str]()
    for name, function in public(part):
        for what, args, kwargs in calls(function):
            tries += 1
            problem = trouble(function, args, kwargs)
            if problem:
                failures.append(f"{part}.{name}({what}): {problem}")
    record_property("tries", tries)

    assert tries > 0
    assert not failures, f"{len(failures)} of {tries} tries:\n" + "\n".join(failures)


@pytest.fixture(params=PARTS)
def part(request: pytest.FixtureRequest) -> str:
    needs = PARTS[request.param]
    if needs and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    return str(request.param)


def public(part: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The callables among the public names."""
    module = import_module(part)
    names = getattr(module, "__all__", [n for n in ("make", "make_cuda") if hasattr(module, n)])
    for name in names:
        found = getattr(module, name)
        if callable(found) and f"{part}.{name}" not in SKIPPED and _is_ours(found):
            yield name, found


def calls(function: Callable[..., Any]) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Arguments to try, and what they are: one wrong, the others right; too few; too many."""
    parameters = list(inspect.signature(function).parameters.values())
    needed = [p for p in parameters if _is_needed(p)]
    yield "nothing", [], {}
    right = [_right(p) for p in needed]
    for count in {1, len(needed) + 1, len(parameters) + 3}:
        yield f"{count} objects", [object() for _ in range(count)], {}
    for i, p in enumerate(needed):
        for kind, wrong in WRONG.items():
            yield f"{p.name}={kind}", [*right[:i], wrong(), *right[i + 1 :]], {}
    for p in parameters:
        if p not in needed and p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD):
            for kind, wrong in WRONG.items():
                yield f"{p.name}={kind}", list(right), {p.name: wrong()}


def trouble(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> str:
    """What is wrong with how a call ends; nothing where it works, or says why not."""
    try:
        found = function(*args, **kwargs)
        if isinstance(found, Op):  # made; applying it may be what refuses the attributes
            found(X)
    except Exception as error:
        if isinstance(error, GraphError) or type(error).__module__.startswith("byparts_"):
            return "" if len(str(error)) > 10 else f"{type(error).__name__} says only {error!s:.60}"
        if isinstance(error, FileNotFoundError):
            return ""  # the argument was taken for a path
        if isinstance(error, TypeError) and _is_of_the_call(error.__traceback__):
            return ""
        return f"{type(error).__name__}: {str(error).splitlines()[:1]} at {_place(error)}"
    return ""


def _is_of_the_call(trace: TracebackType | None) -> bool:
    """Whether Python refused the arguments: no frame of ours but one that passes them on."""
    inside = list[str]()
    while trace is not None:
        inside.append(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    stand_ins = {"byparts_graph_ir.model.frozen", "byparts_graph_ir.contract", "contextlib"}
    stand_ins |= {"byparts_nn.losses"}  # which makes arrays of NumPy's
    return not set(inside) - {__name__, *stand_ins}


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    assert trace is not None, "it was raised"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"


def _is_ours(found: Any) -> bool:
    """Neither an alias of `typing` nor an error, whose arguments are a message."""
    is_error = isinstance(found, type) and issubclass(found, BaseException)
    return not hasattr(found, "__origin__") and not is_error


def _is_needed(p: inspect.Parameter) -> bool:
    return p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)


def _right(p: inspect.Parameter) -> Any:
    told = str(p.annotation)
    return next((make() for word, make in RIGHT if word in told), X)


def test_values_are_taken_where_they_belong() -> None:
    """The guesses are right where it matters: most ops of one value can be called with them."""
    assert isinstance(_right(inspect.signature(ops.tanh).parameters["x"]), Value)
    assert trouble(ops.tanh, [X], {}) == "" and ops.tanh(X).type == X.type
