"""Torch's own operator database through `from_exported`: each sample, against what torch computes.

python integration/torch_operators.py                        # every op, 4 samples each: an hour
python integration/torch_operators.py --only nn.functional   # those whose name holds this
python integration/torch_operators.py --samples 20 --only scatter index_put

`torch.testing._internal.common_methods_invocations.op_db` lists the ops of torch, and for each a
generator of samples that torch's own tests use.  A sample is exported and imported, then evaluated
by the reference, the NumPy kernels and the torch kernels, and compared with torch; in f64 so is
the gradient of a weighted sum of its outputs, with torch's autograd.  The verdicts:

    right      values, dtypes, shapes and gradients are torch's; dtypes and shapes of random numbers
    refused    `from_exported` raised a `GraphError`: an op without a rule, a dtype we have not
    wrong      something differs
    raw        any other error, or an imported graph that does not run
    known      its gradient differs where we follow central differences, not torch: `KNOWN`
    skipped    torch cannot export the sample, or what it gives is not determined

The samples of an op are one program, for an export takes about a second whatever is in it; an op
whose program is not right is tried again sample by sample.
"""

from __future__ import annotations

import argparse
import random
import sys
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_frontend_torch import Imported, from_exported
from byparts_graph_ir import FLOATS, Graph, GraphError, Value
from byparts_opset.dtypes import dtype_name, numpy_dtype
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

# Relative to the largest element of the result.
TOLERANCES = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-9}
# What they give is memory that nobody has written.
UNDETERMINED = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
                "new_empty_strided")  # fmt: skip
# Torch's own have seven digits in f64.
IN_F32 = ("special.bessel_j0", "special.bessel_j1")
# Their columns (rows) may be turned to their negative: absolute values are compared.
GAUGED = ("qr", "linalg.qr", "linalg.eigh", "svd", "linalg.svd")
# Where torch's answer is not the one we want; anything else that differs is wrong.
KNOWN = {
    "nn.functional.hardsigmoid": "torch's gradient in f64 is by 1/6 rounded to f32",
    "index_fill": "torch counts the gradient of a value twice where an index comes twice",
    "cholesky_inverse": "torch gives the triangle that it does not read a gradient",
    "cholesky_solve": "torch gives the triangle that it does not read a gradient",
    "linalg.pinv.hermitian": "torch takes the gradient at the matrix, the value at its triangle",
    "nextafter": "torch gives the first operand the gradient 1, though it moves in steps",
    "nn.functional.max_unpool": "of places that come twice torch gives each the gradient",
}
VERDICTS = ("right", "refused", "wrong", "raw", "known", "skipped")
WORST = ("raw", "wrong", "known", "right", "refused", "skipped")  # which an op is counted under


@dataclass(frozen=True)
class Case:
    """A sample of an op: what to call, its tensors, and whether to take gradients."""

    label: str
    function: Callable[..., Any]
    tensors: tuple[torch.Tensor, ...]
    gradient: bool


@dataclass(frozen=True)
class Verdict:
    """What became of a case; `why` is empty for what is right."""

    label: str
    kind: str
    why: str = ""


def database() -> list[Any]:
    """Torch's `OpInfo`s.

    Torch's test module imports `expecttest`, of which it needs a base class and a flag here.
    """
    if "expecttest" not in sys.modules:
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase, stand_in.ACCEPT = unittest.TestCase, False
        sys.modules["expecttest"] = stand_in
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's test module
        from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def cases(op: Any, samples: int) -> list[Case]:
    """Samples in f32 and f64 (with gradients), or in the first dtype that the op takes.

    Seeded by the name of the op.  Spread evenly over torch's own samples.
    """
    if "float32" in map(_dtype_name, op.dtypes):
        wide = torch.float64 in op.dtypes and op.name not in IN_F32
        dtypes = [torch.float32, *([torch.float64] if wide else [])]
    else:
        dtypes = [d for d in (torch.int64, torch.bool, torch.uint8) if d in op.dtypes][:1]
    return [case for dtype in dtypes for case in _cases(op, dtype, samples)]


def tried(cases: Sequence[Case]) -> list[Verdict]:
    """Verdicts: of all cases as one program, and where that is not right of each alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(cases) > 1 and _verdict(cases).kind == "right":
            return [Verdict(case.label, "right") for case in cases]
        return [_verdict([case]) for case in cases]


def _dtype_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _cases(op: Any, dtype: Any, samples: int) -> Iterator[Case]:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # torch's samples draw from it
    gradient = dtype == torch.float64 and op.supports_autograd
    found = list(op.sample_inputs("cpu", dtype, requires_grad=gradient))
    step = max(1, len(found) // samples)
    for i, sample in list(enumerate(found))[::step][:samples]:
        given = (sample.input, sample.args, sample.kwargs)
        leaves, tree = pytree.tree_flatten(given)
        at = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        function = partial(_called, op.op, leaves=leaves, tree=tree, at=at)
        if op.name in GAUGED:
            function = partial(_absolute, function)
        name = f"{op.name}{'.' * bool(op.variant_test_name)}{op.variant_test_name}"
        label = f"{name} {_dtype_name(dtype)} #{i}"
        yield Case(label, function, tuple(leaves[k] for k in at), gradient)


def _called(function: Any, *tensors: Any, leaves: Any, tree: Any, at: Any) -> Any:
    """The function, with `tensors` in the places `at` of its flattened arguments."""
    filled = list(leaves)
    for k, t in zip(at, tensors, strict=True):
        filled[k] = t
    first, args, kwargs = pytree.tree_unflatten(filled, tree)
    return function(first, *args, **kwargs)


def _absolute(function: Any, *tensors: Any) -> Any:
    return [t.abs() for t in _tensors(function(*tensors))]


class _Program(torch.nn.Module):  # type: ignore[misc]
    """Several cases as one model; gives the tensors among what they give."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.cases = cases

    def forward(self, *tensors: Any) -> Any:
        rest, results = list(tensors), []
        for case in self.cases:
            count = len(case.tensors)
            results.append(_tensors(case.function(*rest[:count])))
            rest = rest[count:]
        return results


def _tensors(result: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def _verdict(cases: Sequence[Case]) -> Verdict:
    label = cases[0].label
    given = [t.detach() for case in cases for t in case.tensors]
    try:
        wanted = [t for case in cases for t in _tensors(case.function(*case.tensors))]
        program = torch.export.export(_Program(cases), tuple(t.clone() for t in given))
    except Exception as error:
        return Verdict(label, "skipped", f"torch: {_first_line(error)}")
    try:
        made, drawn = _imported(program)
    except GraphError as error:
        own = error.__cause__ is None or isinstance(error.__cause__, GraphError)
        return Verdict(label, "refused" if own else "raw", _reason(error))
    except Exception as error:
        return Verdict(label, "raw", f"{type(error).__name__}: {_first_line(error)}")
    name = label.split(" ")[0]
    if drawn and [(y.type.dtype, y.type.dims) for y in made.graph.outputs[: len(wanted)]] == [
        (dtype_name(_array(t).dtype), tuple(t.shape)) for t in wanted
    ]:
        return Verdict(label, "right")
    if name in UNDETERMINED:
        return Verdict(label, "skipped", "its result is not determined")
    try:
        differing = _difference(made, cases, given, wanted)
    except Exception as error:
        return Verdict(label, "raw", f"when run: {type(error).__name__}: {_first_line(error)}")
    known = [why for op, why in KNOWN.items() if name.startswith(op) and "gradient" in differing]
    if differing and known:
        return Verdict(label, "known", f"{known[0]}: {differing}")
    return Verdict(label, "wrong", differing) if differing else Verdict(label, "right")


def _imported(program: Any) -> tuple[Imported, bool]:
    """The graph, and whether it draws random numbers: of those only types can be compared."""
    made = from_exported(program, seed=0)
    return made, "random.key" in made.weights


def _difference(
    made: Imported, cases: Sequence[Case], given: Sequence[Any], wanted: Sequence[Any]
) -> str:
    """What differs from torch, or ""."""
    outputs = list(made.graph.outputs[: len(made.outputs)])
    wants = [_array(t) for t in wanted]
    if len(outputs) != len(wants):
        return f"{len(outputs)} outputs, and torch gives {len(wants)}"
    names = [f"output {i}" for i in range(len(wants))]
    if any(case.gradient for case in cases):
        by, more = _gradient(made, cases, outputs, wanted)
        outputs += by
        wants += more
        names += [f"gradient {i}" for i in range(len(more))]
    graph = Graph.of(made.graph.inputs, outputs)
    arrays = (*map(_array, given), *made.weights.values())
    for how, run in _ways(graph):
        for name, got, want in zip(names, run(*arrays), wants, strict=True):
            if wrong := _differs(np.asarray(got), want):
                return f"{how}: {name}: {wrong}"
    return ""


def _ways(graph: Graph) -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "reference", partial(evaluate, graph)
    yield "numpy", build(graph, backends=("numpy",))
    yield "torch", build(graph, backends=("torch", "numpy"))


def _gradient(
    made: Imported, cases: Sequence[Case], outputs: Sequence[Value], wanted: Sequence[Any]
) -> tuple[list[Value], list[Any]]:
    """Gradients of a weighted sum of the outputs, and torch's."""
    pairs = [(v, t) for v, t in zip(outputs, wanted, strict=True)
             if t.requires_grad and v.type.dtype in FLOATS]  # fmt: skip
    inputs = dict(zip(made.inputs, made.graph.inputs, strict=False))
    values = list(inputs.values())
    tensors = [t for case in cases for t in case.tensors]
    by = [(v, t) for v, t in zip(values, tensors, strict=True) if t.requires_grad]
    if not pairs or not by:
        return [], []
    ours = ops.add_n([ops.sum(ops.cast(v, "f64") * ops.constant(_weights(t))) for v, t in pairs])
    theirs = sum((t.double() * torch.from_numpy(_weights(t))).sum() for _, t in pairs)
    leaves = [t for _, t in by]
    given = torch.autograd.grad(theirs, leaves, allow_unused=True)
    want = [torch.zeros_like(t) if d is None else d for t, d in zip(leaves, given, strict=True)]
    found = gradients(ours, [v for v, _ in by], unreachable="zeros")
    return list(found), [_array(d) for d in want]


def _weights(t: Any) -> Any:
    """Numbers, so that every element counts differently."""
    return np.cos(np.arange(t.numel(), dtype="f8")).reshape(t.shape)


def _array(t: Any) -> Any:
    """As NumPy has it; bf16 as ml_dtypes has it."""
    t = t.detach().contiguous()
    if t._is_zerotensor():  # a gradient of torch that has no memory
        t = torch.zeros(t.shape, dtype=t.dtype)
    if t.dtype == torch.bfloat16:
        return t.float().numpy().astype(numpy_dtype("bf16"))
    return t.numpy()


def _differs(got: Any, want: Any) -> str:
    """Where two arrays differ most, or ""."""
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype}{list(got.shape)}, and torch gives {want.dtype}{list(want.shape)}"
    name = dtype_name(want.dtype)
    if name not in FLOATS:
        wrong = got != want
    else:
        got, want = got.astype("f8"), want.astype("f8")
        finite = np.isfinite(want)
        scale = max(1.0, float(np.abs(want[finite]).max(initial=0)))
        limit = TOLERANCES[name] * scale
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        with np.errstate(all="ignore"):
            wrong = ~same & ~(np.abs(got - want) <= limit)
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} differ: at {list(at)} {got[at]}, torch {want[at]}"


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else ""


def _reason(error: Exception) -> str:
    """A refusal in one line: of ops without a rule their names."""
    lines = str(error).splitlines()
    return " ".join(line.strip().split(", first at")[0] for line in lines)[:200]


def main() -> None:
    """The table; the exit status is 1 if something is wrong or raw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="names, or parts of names, of ops")
    parser.add_argument("--samples", type=int, default=4, help="at most so many of each dtype")
    parser.add_argument("--refused", action="store_true", help="list the refused ones, too")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    best: Counter[str] = Counter()
    listed = ("wrong", "raw", "known", *(["refused", "skipped"] if options.refused else []))
    chosen = [op for op in database() if not options.only or _matches(op.name, options.only)]
    for op in chosen:
        verdicts = tried(cases(op, options.samples))
        counts.update(v.kind for v in verdicts)
        kinds = {v.kind for v in verdicts}
        best[next((k for k in WORST if k in kinds), "skipped")] += 1  # none of our dtypes
        for v in verdicts:
            if v.kind in listed:
                print(f"{v.kind:8} {v.label}: {v.why}", flush=True)
    print(f"\n{'':8} {'ops':>6} {'samples':>8}")
    for kind in VERDICTS:
        print(f"{kind:8} {best[kind]:6} {counts[kind]:8}")
    print(f"{'all':8} {len(chosen):6} {counts.total():8}")
    sys.exit(1 if counts["wrong"] or counts["raw"] else 0)


def _matches(name: str, parts: Sequence[str]) -> bool:
    return any(part in name for part in parts)


if __name__ == "__main__":
    main()
