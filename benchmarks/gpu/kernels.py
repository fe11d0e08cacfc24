"""The conformance kit without pytest: each op on each of its cases, a row for each op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from byparts_conformance import kernel
from byparts_conformance.cases import Case, cases_of
from byparts_graph_ir import Backend
from byparts_graph_ir.parts.hub import parts

LOST = ("CUDA error", "restart the process")  # what torch says, and what we say
HOWS = ("plain", "strided", "in place")


def conformance(backend: Backend, done: list[str], only: list[str]) -> Iterator[dict[str, Any]]:
    """Ops in the order of their names.  Stops where the device is lost for this process."""
    for name, op in sorted(parts.ops().items()):
        if name in done or (only and name not in only):
            continue
        said: Counter[str] = Counter()
        wrong: list[str] = []
        cases = list(filter(_can_be_tried, cases_of(op)))
        kernel.prepare(backend, cases)
        for case in cases:
            for how in HOWS:
                if kernel.applies(case, how):
                    outcome, why = _tried(backend, case, how)
                    said[outcome] += bool(outcome)  # a kernel may not run this way
                    wrong += [why] if why else []
        yield {"backend": backend.name, "op": name, "said": dict(said), "wrong": wrong[:3]}
        if any(word in why for why in wrong for word in LOST):
            return


def _tried(backend: Backend, case: Case, how: str) -> tuple[str, str]:
    assert backend.around is not None, "a GPU has a context"
    try:
        with backend.around():
            return kernel.check(backend, case, how), ""
    except Exception as error:
        text = str(error).partition("\n")[0]
        return "FAIL", f"{case} {how}: {type(error).__name__}: {text:.160}"


def _can_be_tried(case: Case) -> bool:
    """NumPy says what bf16 must give only where ml_dtypes is installed."""
    types = (*case.types, *case.outputs)
    return find_spec("ml_dtypes") is not None or all(t.dtype != "bf16" for t in types)
