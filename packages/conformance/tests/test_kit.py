"""The kit itself: what is right passes, and each kind of wrong is found and named."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byparts_conformance import (
    Mismatch,
    cases_of,
    decomposition,
    difference,
    gradient,
    kernel_check,
    round_trips,
    shape_rule,
    unknown_shapes,
)
from byparts_conformance.backend_rules import BACKEND_RULES, THREADS
from byparts_conformance.cases import APART
from byparts_conformance.enlarge import enlarged
from byparts_conformance.kernel import cell, runs_of
from byparts_graph_ir import (
    Backend,
    MissingRule,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_graph_ir.parts.hub import Parts
from byparts_kernels_numpy import make
from byparts_opset import (
    Add,
    Ceil,
    Erf,
    Erfc,
    Expm1,
    Fill,
    Floor,
    Gather,
    If,
    IsFinite,
    IsNan,
    Less,
    Log,
    Log1p,
    MatMul,
    Maximum,
    Mod,
    Mul,
    Neg,
    Round,
    Scan,
    ScatterAdd,
    Sigmoid,
    Sinh,
    Softmax,
    Softplus,
    Sqrt,
    Sub,
    Tanh,
    Trunc,
    While,
    neg,
)


def f32(*shape: int) -> TensorType:
    return TensorType("f32", shape)


class Double(Op):
    """y = 2x, with one thing wrong in each subclass field."""

    wrong: str = ""

    inplace = ((0, 0),)

    def infer(self, x: TensorType) -> Types:
        if x.dtype == "bool":
            raise ShapeError("double: no bools")
        if self.wrong == "unknown" and not x.static:
            return (f32(7),)
        return (x,)

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        if self.wrong == "shape":
            return (np.append(x, x),)
        if self.wrong == "input":
            x *= 2
            return (x.copy(),)
        return (np.asarray(x * np.array(2, x.dtype)).astype(x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value, ...]:
        return (dy * (3 if self.wrong == "gradient" else 2),)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        return (x + x + x,) if self.wrong == "decompose" else (x + x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(), (f32(2, 3),))
        yield Sample(cls(), (f32(),))
        yield Sample(cls(), (f32(0, 2),))


CHECKS = [shape_rule, unknown_shapes, round_trips, decomposition, gradient]


def test_an_op_that_is_right_passes_in_every_dtype_it_takes() -> None:
    """Nine dtypes, as its shape rule refuses bool; three shapes.  One of them in i4, too."""
    cases = cases_of(Double)
    usual = [c for c in cases if c.column not in APART]

    assert len(usual) == 27
    assert {c.column for c in cases} == {
        *("basic", "0-d", "empty", "f64", "half", "integer", "edges", "long", "rare")
    }
    assert {check(c) for c in cases for check in CHECKS[:4]} == {""}


@pytest.mark.parametrize(
    ("wrong", "check", "message"),
    [
        ("shape", shape_rule, r"output 0 of evaluate is a ndarray, .*\[12\]; infer says f32"),
        ("input", shape_rule, "evaluate changed its input 0"),
        ("unknown", unknown_shapes, r"says f32\[7\], and static types give f32\[2,3\]"),
        ("decompose", decomposition, "decomposed, output 0 differs at"),
        ("gradient", gradient, "the gradient of input 0 at .* is .*, and differences give"),
    ],
)
def test_what_is_wrong_with_an_op_is_said(wrong: str, check: Any, message: str) -> None:
    """One planted mistake of each kind."""
    dtype = "f64" if check is gradient else "f32"
    sample = Sample(Double(wrong), (TensorType(dtype, (2, 3)),))
    case = type(cases_of(Double)[0])(sample, "basic")

    with pytest.raises(AssertionError, match=message):
        assert not (said := check(case)), said


def backend(rule: Any) -> Backend:
    """The NumPy backend with another kernel for neg."""
    made = Backend("other", make().view)
    made.kernels.on(Neg)(rule)
    return made


def _filled(op: Fill, inputs: Any, outputs: Any) -> Any:
    return partial(outputs[0].fill, op.value)


def basic(op: type[Op]) -> Any:
    return next(c for c in cases_of(op) if c.column == "basic")


def test_a_right_kernel_is_ok_and_a_missing_one_absent() -> None:
    """Both are outcomes, not failures."""
    right = backend(lambda op, xs, ys: partial(np.negative, xs[0], ys[0]))

    assert [kernel_check(right, basic(Neg), how) for how in ("plain", "strided", "in place")] == [
        "ok"
    ] * 3
    assert kernel_check(right, basic(Add), "plain") == "-"


def test_what_decomposes_into_what_is_there_is_right() -> None:
    """The backend has add; double is add."""
    assert kernel_check(make(), basic(Double), "plain") == "via decompose"


@pytest.mark.parametrize("op", [If, While, Scan])
def test_loops_are_tried_by_what_is_in_them(op: type[Op]) -> None:
    """The backend has no rule for them; without the ops of their bodies they are absent."""
    numpy = make()
    few = backend(lambda op, xs, ys: partial(np.negative, xs[0], ys[0]))

    for case in cases_of(op)[:12]:
        assert kernel_check(numpy, case, "plain") == "via bodies"
        assert kernel_check(few, case, "in place") == ""
    assert "-" in {kernel_check(few, case, "plain") for case in cases_of(op)}


@pytest.mark.parametrize("op", [If, While, Scan])
def test_a_wrong_kernel_in_a_body_is_found(op: type[Op]) -> None:
    """A backend whose tanh is wrong has wrong loops."""
    wrong = Backend("wrong", make().view)
    for kind in (Add, Sub, Mul, Less, Fill):
        wrong.kernels.on(kind)(make().kernels[kind()] if kind is not Fill else _filled)  # type: ignore[call-arg]
    wrong.kernels.on(Tanh)(lambda op, xs, ys: partial(np.sin, xs[0], ys[0]))

    case = [c for c in cases_of(op) if c.column == "broadcast"][-1]
    with pytest.raises(Mismatch, match="by its bodies: output"):
        kernel_check(wrong, case, "plain")


@pytest.mark.parametrize(
    ("rule", "how", "message"),
    [
        (lambda op, xs, ys: partial(np.positive, xs[0], ys[0]), "plain", "output 0 differs at"),
        (lambda op, xs, ys: lambda: None, "plain", "output 0 differs at .*: 77"),
        (
            lambda op, xs, ys: lambda: np.negative(xs[0], xs[0]) is ys[0].fill(0),
            "plain",
            "differs|changed its input 0",
        ),
        (
            lambda op, xs, ys: partial(
                np.negative,
                xs[0].ravel() if xs[0].flags.c_contiguous else xs[0] * 2,
                ys[0].reshape(-1) if xs[0].flags.c_contiguous else ys[0],
            ),
            "strided",
            "strided: output 0 differs",
        ),
        (
            lambda op, xs, ys: lambda: (ys[0].fill(0), np.subtract(ys[0], xs[0], ys[0])),
            "in place",
            "in place: output 0 differs",
        ),
    ],
    ids=[
        "another function",
        "writes nothing",
        "changes its input",
        "contiguous only",
        "not in place",
    ],
)
def test_what_is_wrong_with_a_kernel_is_found(rule: Any, how: str, message: str) -> None:
    """One planted mistake of each kind."""
    with pytest.raises(Mismatch, match=message):
        kernel_check(backend(rule), basic(Neg), how)


def unary(f: Any) -> Any:
    return lambda op, xs, ys: lambda: ys[0].__setitem__(..., f(xs[0]))


def binary(f: Any) -> Any:
    return lambda op, xs, ys: lambda: ys[0].__setitem__(..., f(*xs))


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (Floor, unary(lambda x: 0)),
        (Ceil, unary(lambda x: 1)),
        (Round, unary(lambda x: 1)),
        (Round, unary(lambda x: np.floor(x + x.dtype.type(0.5)))),
        (Trunc, unary(lambda x: 0)),
        (IsNan, unary(lambda x: False)),
        (IsFinite, unary(lambda x: True)),
        (Maximum, binary(np.fmax)),
        (Mod, binary(np.fmod)),
        (Sigmoid, unary(lambda x: np.exp(x) / (1 + np.exp(x)))),
        (Expm1, unary(lambda x: np.exp(x) - 1)),
        (Log1p, unary(lambda x: np.log(1 + x))),
        (Softplus, unary(lambda x: np.log(1 + np.exp(x)))),
        (Erfc, unary(lambda x: 1 - make_erf(x))),
        (Sinh, unary(lambda x: (np.exp(x) - np.exp(-x)) / 2)),
        (Neg, unary(lambda x: 0 - x)),
        (Sqrt, unary(lambda x: np.power(x, 0.5))),
        (Softmax, unary(lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True))),
    ],
    ids=lambda p: p.__name__ if isinstance(p, type) else "",
)
def test_a_kernel_that_is_right_for_small_numbers_alone_is_found(op: type[Op], rule: Any) -> None:
    """The kit once called the first ten of these right."""
    made = Backend("other", make().view)
    made.kernels.on(op)(rule)

    with pytest.raises(Mismatch, match="differs at"):
        check_all(made, op, "edges")


def check_all(made: Backend, op: type[Op], column: str) -> None:
    for case, how in runs_of(cases_of(op), column):
        kernel_check(made, case, how)


def make_erf(x: Any) -> Any:
    (y,) = Erf().evaluate(x)
    return y


def test_a_kernel_that_goes_wrong_after_64_elements_is_found() -> None:
    """A vector loop that forgets what is left of the last vector; samples have 12 elements."""

    def rule(op: Op, xs: Any, ys: Any) -> Any:
        def run() -> None:
            kept = ys[0].size // 64 * 64 or ys[0].size
            ys[0].reshape(-1)[:kept] = -xs[0].reshape(-1)[:kept]

        return run

    with pytest.raises(Mismatch, match=r"differs at .*: 77"):
        check_all(backend(rule), Neg, "long")


def test_a_kernel_that_writes_beyond_its_memory_is_found() -> None:
    """Into the margin around each array."""

    def rule(op: Op, xs: Any, ys: Any) -> Any:
        def run() -> None:
            np.negative(xs[0], ys[0])
            behind = np.lib.stride_tricks.as_strided(ys[0].reshape(-1), (ys[0].size + 1,))
            behind[-1] = 0

        return run

    with pytest.raises(Mismatch, match="output 0 was written behind its memory, 0 bytes away"):
        kernel_check(backend(rule), basic(Neg), "plain")


def test_subnormal_numbers_may_count_as_zero() -> None:
    """As on a device, or with torch; but an answer of 0 for a normal number is wrong."""

    def flushing(op: Op, xs: Any, ys: Any) -> Any:
        info = np.finfo("float32")

        def run() -> None:
            x = np.where(np.abs(xs[0]) < info.smallest_normal, xs[0] * 0, xs[0])
            ys[0][...] = np.log(x)

        return run

    made = Backend("other", make().view)
    made.kernels.on(Log)(flushing)
    (case,) = (c for c in cases_of(Log) if c.values == "combinations" and c.types[0].dtype == "f32")

    assert kernel_check(made, case, "plain") == "ok"


def test_what_an_op_does_not_read_is_nan() -> None:
    """`ScatterAdd` reads the shape of `like` alone."""
    cases = [c for c in cases_of(ScatterAdd) if c.types[2].dtype == "f32" and c.types[2].size]

    assert cases and all(np.all(np.isnan(c.arrays()[2])) for c in cases)


def test_inputs_stay_in_the_domain_of_an_op() -> None:
    """Indices are inside what they index, also at the edges of their dtype."""
    cases = cases_of(Gather)

    assert "edges" in {c.column for c in cases}
    assert all(c.arrays()[1].min() >= 0 for c in cases if c.types[1].size)


def test_each_free_dimension_is_enlarged_with_those_that_must_be_equal() -> None:
    """The rows of a product alone, its inner dimension in both, its columns alone."""
    sample = Sample(MatMul(), (f32(2, 3), f32(3, 4)))

    assert [[str(t) for t in longer.types] for longer in enlarged(sample)] == [
        ["f32[97,3]", "f32[3,4]"],
        ["f32[2,97]", "f32[97,4]"],
        ["f32[2,3]", "f32[3,97]"],
    ]


def test_differences_are_exact_for_integers_and_scaled_for_floats() -> None:
    """Infinities and NaNs must agree; a last digit may differ; a dtype may not."""
    x = np.array([1.0, np.inf, np.nan, -np.inf], "float32")

    assert difference(x * np.float32(1 + 1e-6), x, f32(4)) == ""
    assert "differs at [1]" in difference(
        np.array([1, -np.inf, np.nan, -np.inf], "float32"), x, f32(4)
    )
    assert "differs at [2]" in difference(np.array([1, np.inf, 0, -np.inf], "float32"), x, f32(4))
    assert "differs at [0]" in difference(np.array([3]), np.array([4]), TensorType("i64", (1,)))
    assert "is float64[4], and must be float32[4]" in difference(x.astype("float64"), x, f32(4))


def test_inputs_are_the_same_every_time_and_within_their_range() -> None:
    """Cases are deterministic; indices stay inside what they index."""
    case = (
        basic(Gather) if any(c.column == "basic" for c in cases_of(Gather)) else cases_of(Gather)[0]
    )
    first, second = case.arrays(), case.arrays()

    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert neg is not None and case.op.evaluate(*first)[0].dtype == first[0].dtype


def test_what_depends_on_the_dtype_is_said_so() -> None:
    """A column is one word for several cases."""
    assert cell({"ok"}) == "ok" and cell({"-"}) == "-" and cell({"ok", "-"}) == "some"
    assert cell({"ok", "via decompose"}) == "via decompose"
    assert cell({"ok", "via bodies"}) == "via bodies"


def everything() -> list[type[Op]]:
    return [Add, Neg, Gather]


@pytest.mark.parametrize("name", BACKEND_RULES)
def test_the_numpy_backend_keeps_to_every_rule(name: str) -> None:
    """And where nothing is wrong, nothing is said."""
    assert BACKEND_RULES[name](make(), everything()) == ""


def reads_at_once(op: Neg, xs: Any, ys: Any) -> Any:
    kept = -xs[0]
    return partial(np.copyto, ys[0], kept)


_SCRATCH: dict[Any, Any] = {}
_ALL_FOUR = threading.Barrier(THREADS)


def shares_scratch(op: Neg, xs: Any, ys: Any) -> Any:
    """All programs of one shape use one piece of memory; all four are in it at once."""
    scratch = _SCRATCH.setdefault((xs[0].shape, xs[0].dtype), np.empty_like(xs[0]))

    def run() -> None:
        _ALL_FOUR.wait(timeout=60)
        scratch[...] = 1
        _ALL_FOUR.wait(timeout=60)
        scratch[...] *= -xs[0]
        _ALL_FOUR.wait(timeout=60)
        ys[0][...] = scratch

    return run


@pytest.mark.parametrize(
    ("rule", "name", "message"),
    [
        (reads_at_once, "values read only when run", "bound before its inputs were written"),
        (
            lambda op, xs, ys: lambda: np.negative(xs[0], ys[0]) is xs[0].fill(0),
            "inputs unchanged",
            "the kernel changed its input 0",
        ),
        (shares_scratch, "four threads", "output 0 differs"),
    ],
)
def test_a_broken_rule_is_reported(rule: Any, name: str, message: str) -> None:
    """One planted mistake of each kind."""
    assert message in BACKEND_RULES[name](backend(rule), [Neg])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda op, x: -x.astype("float64"), r"result 0 is float64\[.*\], and must be float32"),
        (lambda op, x: -x[:1] if x.ndim else x, r"result 0 is .*\[1.*\], and must be"),
    ],
)
def test_a_result_that_would_be_cast_or_repeated_is_found(function: Any, message: str) -> None:
    """Copied into place it would look right."""
    made = Backend("other", make().view)
    made.functions.on(Neg)(function)

    with pytest.raises(AssertionError, match=message):
        raise AssertionError(BACKEND_RULES["dtype and shape kept"](made, [Neg]))


def test_a_backend_that_takes_anything_is_found() -> None:
    """A rule for what it cannot know, or an error that names nothing."""

    class Eager(Backend):
        def compile(self, op: Any, types: Any, constants: Any = frozenset()) -> Any:
            return None

    class Silent(Backend):
        def compile(self, op: Any, types: Any, constants: Any = frozenset()) -> Any:
            raise MissingRule("no")

    check = BACKEND_RULES["unknown op refused by name"]
    assert check(Eager("e", make().view), []) == "an op that it cannot know was compiled"
    assert check(Silent("s", make().view), []) == "the error does not name OpThatNobodyHas: no"


def test_a_heavy_plugin_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part whose plugin imports NumPy would slow every listing down."""
    (tmp_path / "heavy.py").write_text(
        "import numpy\nfrom byparts_graph_ir.parts.hooks import *\nBYPARTS_API = (1, 0)\n"
        "@hookimpl\ndef byparts_backends(): return [Backend('heavy', 'heavy:make')]\n"
    )
    info = tmp_path / "heavy-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: heavy\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[byparts.parts]\nheavy = heavy\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("byparts_conformance.backend_rules.parts", Parts())

    said = BACKEND_RULES["light discovery"](Backend("heavy", make().view), [])
    assert said == "its plugin imports numpy: do that inside make()"
