"""The node tests of the onnx package, built in memory and tried on NumPy kernels.  Not a test file.

A case is right from its file, from its file with parameters fixed to the feed, refused, or wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx.backend.test.loader as loader
from onnx import ModelProto, TensorProto, numpy_helper

from byparts_frontend_onnx import from_onnx
from byparts_graph_ir import GraphError
from byparts_runtime import build

RIGHT, SPECIALISED, REFUSED = "right", "right, for the values of the feed", "refused"
# Parts of names of cases that are no inference on tensors of numbers.
_OUT_OF_SCOPE = (
    *("training", "adagrad", "adam", "momentum", "gradient_of", "sequence_", "optional"),
    *("string", "strnorm", "tfidf", "regex", "image_decoder", "bernoulli"),
    *("loop13_seq", "loop16_seq", "identity_sequence", "if_seq", "if_opt", "identity_opt"),
    *("train_dropout", "split_to_sequence", "flexattention", "randomuniform"),
)
_LEFT_OUT_TYPES = {
    getattr(TensorProto, name)
    for name in ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0",
                 "FLOAT4E2M1", "INT2", "UINT2", "STRING")
    if hasattr(TensorProto, name)
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
        state: `RIGHT`, `SPECIALISED` or `REFUSED`.
        why: the first line of the refusal.
        fixed: inputs and sizes that were fixed.
    """

    state: str
    why: str = ""
    fixed: tuple[str, ...] = ()


@cache
def cases(kind: str = "node") -> dict[str, Any]:
    """All cases by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: _filled(case) for case in loader.load_model_tests(kind=kind)}


def _filled(case: Any) -> Any:
    """A case with its model and first data set, which some kinds have in files."""
    if case.model is not None or case.model_dir is None:
        return case
    folder = Path(case.model_dir)
    model = ModelProto.FromString((folder / "model.onnx").read_bytes())
    sets = folder / "test_data_set_0"
    arrays = [
        [TensorProto.FromString((sets / f"{what}_{i}.pb").read_bytes()) for i in range(count)]
        for what, count in (
            ("input", len(list(sets.glob("input_*.pb")))),
            ("output", len(list(sets.glob("output_*.pb")))),
        )
    ]
    return replace(case, model=model, data_sets=[arrays])


def in_scope(case: Any) -> bool:
    """Whether it is inference on tensors of numbers of 4, 8 or more bits."""
    if any(part in case.name for part in _OUT_OF_SCOPE):
        return False
    return not (_types(case.model) & _LEFT_OUT_TYPES)


def _types(model: ModelProto) -> set[int]:
    values = (*model.graph.input, *model.graph.output, *model.graph.value_info)
    types = {v.type.tensor_type.elem_type for v in values}
    for node in model.graph.node:
        types |= {a.i for a in node.attribute if a.name in ("to", "output_dtype")}
    return types


def tried(case: Any) -> Outcome:
    """Import a case with its feed as the example, and run it on all data sets that it has.

    Raises:
        AssertionError: a result is wrong.
    """
    inputs, outputs = case.data_sets[0]
    model = case.model
    given = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in given]
    feed = {n: _array(x) for n, x in zip(names, inputs, strict=False)}
    try:
        imported = from_onnx(model, feed={n: a for n, a in feed.items() if a is not None})
    except GraphError as error:
        if str(error).startswith("wrong"):
            raise
        return Outcome(REFUSED, " ".join(str(error).split("\n")[:2]))
    arguments = [feed[n] for n in imported.inputs]
    results = build(imported.graph, backends=("numpy",))(*arguments, *imported.weights.values())
    for got, want in zip(results, outputs, strict=True):
        _check(np.asarray(got), _array(want), case)
    fixed = (*imported.values, *imported.sizes)
    return Outcome(SPECIALISED if fixed else RIGHT, fixed=fixed)


def _array(x: Any) -> Any:
    if isinstance(x, TensorProto):
        return numpy_helper.to_array(x)
    return None if isinstance(x, list) else np.asarray(x)


def _check(got: Any, want: Any, case: Any) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{got.dtype}{got.shape}"
    # Two units in the last place of halves; bf16 has eight bits.
    least = {"bfloat16": 2**-6, "float16": 2**-9}.get(got.dtype.name, 1e-3)
    rtol = max(case.rtol, least)
    made, expected = (a if a.dtype.kind in "iub" else a.astype(np.float64) for a in (got, want))
    np.testing.assert_allclose(made, expected, rtol=rtol, atol=max(case.atol, 1e-5))


def all_outcomes(
    kind: str = "node", everything: bool = False
) -> Iterator[tuple[str, Any, Outcome]]:
    """Name, case and outcome of all in scope, or of all."""
    for name, case in cases(kind).items():
        if everything or in_scope(case):
            yield name, case, tried(case)
