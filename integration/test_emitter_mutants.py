"""Generated code that is wrong by rule, as a wrong emitter would write it, is found by the kit.

Each rule changes the C of a kernel: a bound, the rest of a loop, an operator, what a reduction
begins with.  The kit's first column must tell each changed kernel from the right one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import Op
from byparts_kernels_native import make
from byparts_tensor_ir.compile import compiled
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.target import TARGETS, lacking
from elsewhere import Call, called, recorded_calls

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on the path")
AVX2 = next(t for t in TARGETS if t.name == "avx2")
DRAWS = 8
MARGIN = 4096  # bytes around each block, which a wrong kernel may write

Rule = tuple[str, Callable[[re.Match[str]], str]]
RULES: dict[str, Rule] = {
    "a loop ends early": (r"< (\d+); \+\+", lambda m: f"< {int(m[1]) - 1}; ++"),
    "a loop begins late": (
        r"int64_t (\w+) = 0;(?=[^;]*< \d+; \+\+)",
        lambda m: f"int64_t {m[1]} = 1;",
    ),
    "no rest": (r"if \((i\d+) < (\d+)\) \{", lambda m: "if (0) {"),
    "the rest is one short": (r"(int64_t n\d+ = .*);", lambda m: f"{m[1]} - 1;"),
    "a vector twice as far": (r"(i\d+) \+= (\d+)\)", lambda m: f"{m[1]} += 2 * {m[2]})"),
    "plus for minus": (r"= (t\d+) - (t\d+);", lambda m: f"= {m[1]} + {m[2]};"),
    "minus for plus": (r"= (\w+) \+ (\w+);", lambda m: f"= {m[1]} - {m[2]};"),
    "plus for times": (r"= (t\d+) \* (t\d+);", lambda m: f"= {m[1]} + {m[2]};"),
    "no addend": (r"fma_(\w+)\((.*), (\w+)\);", lambda m: f"fma_{m[1]}({m[2]}, {m[3]} - {m[3]});"),
    "greater for less": (r"\((t\d+) < (t\d+)\)", lambda m: f"({m[1]} > {m[2]})"),
    "the other arm": (r"= (.*) \? (\w+) : (\w+);", lambda m: f"= {m[1]} ? {m[3]} : {m[2]};"),
    "a reduction begins elsewhere": (
        r"\b(acc\d+|t\d+\[0\]) = ([-\w.()]+)",
        lambda m: f"{m[1]} = 3 + {m[2]}",
    ),
    "lanes of one half twice": (r"(\{h?\w+)\[(\d+)\]", lambda m: f"{m[1]}[0]"),
    "stored one further": (r"(store\w*\(out\d+ \+ )", lambda m: f"{m[1]}1 + "),
    "the other half": (
        r"((?:load|store|from|to)\w*_)(b?f16)(\w*\()",
        lambda m: f"{m[1]}{'f16' if m[2] == 'bf16' else 'bf16'}{m[3]}",
    ),
    "loaded one further": (r"(load\w*\(in\d+ \+ )", lambda m: f"{m[1]}1 + "),
}
OPS: list[type[Op]] = [
    *(ops.Add, ops.Sub, ops.Mul, ops.Tanh, ops.Sigmoid, ops.Select, ops.Cast, ops.Relu),
    *(ops.Sum, ops.Mean, ops.Max, ops.Prod, ops.ArgMax, ops.CumSum, ops.Transpose, ops.Slice),
]
OF_HALVES: list[type[Op]] = [ops.Add, ops.Cast, ops.Select, ops.Sum]

# A correction of the last bits, finer than the kit asks for: tensor-ir's test_mathematics.py.
EQUAL = {(ops.Sigmoid, "minus for plus")}


def other_half(dtype: str) -> str:
    """Of f16 bf16, and the reverse; of others themselves."""
    return {"f16": "bf16", "bf16": "f16"}.get(dtype, dtype)


def mutants(call: Call) -> Iterator[tuple[str, Source]]:
    """The source changed by each rule that applies to it, at the first place and at the last."""
    for name, (pattern, change) in RULES.items():
        places = list(re.finditer(pattern, call.source.body))
        for k, m in enumerate(dict.fromkeys([*places[:1], *places[-1:]])):
            text = call.source.body[: m.start()] + change(m) + call.source.body[m.end() :]
            new = f"{call.source.name}_{list(RULES).index(name)}_{k}"
            vectors = call.source.vectors | {(other_half(d), n) for d, n in call.source.vectors}
            yield name, replace(call.source, body=text, vectors=vectors).renamed(new)


@pytest.mark.long
@pytest.mark.skipif(bool(lacking(AVX2)), reason="no AVX2")
def test_every_wrong_kernel_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """None gives what `evaluate` gives in all cases of its op.

    Of 12 elements vectors of 8 make a whole one and a rest.
    """
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    monkeypatch.setenv("BYPARTS_TARGET", AVX2.name)
    calls = [*recorded_calls(make(), OPS), *recorded_calls(make(), OF_HALVES, ("half",))]
    made = [(c, rule, s) for c in calls for rule, s in mutants(c)]
    sources = {s.name: s for _, _, s in made}
    addresses = compiled(list(sources.values()))
    found: dict[tuple[type[Op], str], bool] = {}
    for call, rule, source in made:
        key = (type(call.case.op), rule)
        found[key] = found.get(key, False) or _differs(call, addresses[source.name])
    assert not [
        f"{op.__name__}: {rule}"
        for (op, rule), so in found.items()
        if not so and (op, rule) not in EQUAL
    ]
    assert {rule for _, rule in found} == set(RULES), "a rule that changes nothing"


def _differs(call: Call, address: int) -> bool:
    """Whether it does on one of some draws of its inputs; the largest may be anywhere."""
    return any(_differs_on(call, address, number) for number in range(DRAWS))


def _differs_on(call: Call, address: int, number: int) -> bool:
    given = call.given(number)
    guarded = [np.full(b.size + 2 * MARGIN, 0xFF, "u1") for b in given]
    blocks: list[NDArray[np.uint8]] = [g[MARGIN:-MARGIN] for g in guarded]
    for block, before in zip(blocks, given, strict=True):
        block[:] = before
    called(call, address, blocks)
    return bool(call.wrong(blocks, number))
