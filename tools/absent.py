"""What byparts does not do: a sentence for each, and a check that it is still so.

`docs/why.md` has the sentences, `tools/tests/test_claims.py` runs the checks.  Who adds what a
sentence denies takes the sentence out of this table, and runs `python tools/claims.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from budgets import parts
from byparts_graph_ir import ITEM_BYTES
from byparts_opset import OPS


@dataclass(frozen=True)
class Absent:
    """A sentence that says what there is not, and whether that is so."""

    sentence: str
    holds: Callable[[], bool]


def no_part(*names: str) -> Callable[[], bool]:
    """Whether no part has one of these names."""
    return lambda: not {part.name for part in parts()} & set(names)


def no_dtype(pattern: str) -> Callable[[], bool]:
    """Whether no dtype matches the pattern."""
    return lambda: not [name for name in ITEM_BYTES if re.match(pattern, name)]


def static_ops() -> bool:
    """Whether no op gives a result of unknown shape for inputs of known shapes, loops apart."""
    samples = [s for op in OPS.values() for s in op.samples() if not _has_body(op)]
    static = [sample for sample in samples if all(type.static for type in sample.types)]
    return all(type.static for sample in static for type in sample.op.infer(*sample.types))


def _has_body(op: type) -> bool:
    return any("Graph" in str(text) for text in vars(op).get("__annotations__", {}).values())


ABSENT = (
    Absent(
        "No op of its own whose output shape depends on its data, but a loop whose state grows:\n"
        "  an `Executor` runs such a graph in stages ([loops](loops.md)), `build` refuses it.",
        static_ops,
    ),
    Absent(
        "No complex numbers, no strings and no sparse tensors in graphs.",
        no_dtype(r"c\d|complex|str"),
    ),
    Absent(
        "No quantised types: a quantised value is an integer beside its scale. An i4 takes a byte.",
        lambda: min(ITEM_BYTES.values()) == 1 and no_part("quantize")(),
    ),
    Absent(
        "No training on several devices, and none on several machines.",
        no_part("distributed", "remote"),
    ),
    Absent(
        "No export to C. Models come from `torch.export`, from ONNX and from TensorFlow's files.",
        no_part("export"),
    ),
    Absent(
        "No GPU but NVIDIA's; kernels for those are generated, or PyTorch's.",
        no_part("kernels-hip", "kernels-metal", "kernels-vulkan"),
    ),
)
