"""Writes `packages/frontend-onnx/NODE_TESTS.md`: what comes of onnx's own tests.

python tools/onnx_node_tests.py          # writes the file; half a minute, NumPy kernels
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from pathlib import Path

_PART = Path(__file__).parents[1] / "packages/frontend-onnx"
sys.path.insert(0, str(_PART / "tests"))

from node_cases import REFUSED, RIGHT, SPECIALISED, all_outcomes, cases, in_scope  # noqa: E402

FILE = _PART / "NODE_TESTS.md"
HEAD = """# Tests of the onnx package

Written by `python tools/onnx_node_tests.py`; a test says when it is stale.

`onnx.backend.test` of onnx {version} builds {all} node tests in memory. {out} are out of scope:
training, texts, sequences, decoders of images, random numbers, and f8, f4 or 2-bit numbers. Of the
other {scope}, on NumPy kernels, {right} are right: {alone} for any input of their shapes, and
{fixed} for the elements of the inputs that decide shapes, which are built in. The rest is
refused; none is wrong.

The models of the wheel ("simple", "pytorch-converted", "pytorch-operator"): {models_right} of
{models} right.

| refused | such as | why |
| --- | --- | --- |
"""


def text() -> str:
    """The whole file."""
    import onnx

    outcomes = [(case, outcome) for _, case, outcome in all_outcomes()]
    count = Counter(outcome.state for _, outcome in outcomes)
    whys: dict[str, list[str]] = {}
    for case, outcome in outcomes:
        if outcome.state == REFUSED:
            whys.setdefault(_reason(outcome.why), []).append(case.name)
    others = [
        outcome
        for kind in ("simple", "pytorch-converted", "pytorch-operator")
        for _, _, outcome in all_outcomes(kind, everything=True)
    ]
    head = HEAD.format(
        version=onnx.__version__,
        all=len(cases()),
        out=sum(not in_scope(case) for case in cases().values()),
        scope=len(outcomes),
        right=count[RIGHT] + count[SPECIALISED],
        alone=count[RIGHT],
        fixed=count[SPECIALISED],
        models=len(others),
        models_right=sum(outcome.state != REFUSED for outcome in others),
    )
    rows = sorted(whys.items(), key=lambda row: (-len(row[1]), row[0]))
    return head + "".join(f"| {len(n)} | {_some(n)} | {why} |\n" for why, n in rows)


def _reason(why: str) -> str:
    missing = re.search(r"\d+ x (\S+), at", why)
    if missing:
        return f"no rule for {missing[1]}"
    return re.sub(r", which byparts has not.*", "", why).replace("|", "\\|")


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name.removeprefix('test_')}`" for name in names[:3])
    return shown + (", ..." if len(names) > 3 else "")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FILE.write_text(text(), encoding="utf-8")
