"""Runs the groups of checks that fit the parts which should be here."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from proof.spec import Answer, Check, Spec, read_spec, write

# Module of the group -> the parts that it imports.
GROUPS = {
    "presence": (),
    "graph": ("graph-ir",),
    "plan": ("memplan",),
    "meaning": ("opset",),
    "gradient": ("autodiff",),
    "passes": ("optimize",),
    "run": ("runtime",),
    "tensorflow": ("frontend-tf",),
    "tinyflow": ("tinyflow",),
    "exported": ("frontend-torch",),
    "kit": ("conformance",),
    "absence": ("graph-ir",),
}


def main(spec_file: str, result_file: str) -> None:
    """Write an answer for each check."""
    spec = read_spec(Path(spec_file))
    answers: list[Answer] = []
    for group, needs in GROUPS.items():
        if spec.has(*needs) and not (group == "exported" and spec.lacks):
            answers += _group(group, spec)
    write(Path(result_file), answers)


def _group(group: str, spec: Spec) -> list[Answer]:
    answers: list[Answer] = []
    try:
        checks: Iterable[Check] = import_module(f"proof.{group}").checks(spec)
        for check in checks:
            answers.append(_answer(group, check))  # noqa: PERF401  (kept if a later one raises)
    except Exception:  # an import that fails is an answer as well
        answers.append(Answer(group, "loads", False, traceback.format_exc(limit=-3)))
    return answers


def _answer(group: str, check: Check) -> Answer:
    claim = check.__name__.replace("_", " ")
    try:
        return Answer(group, claim, True, check() or "")
    except Exception:
        return Answer(group, claim, False, traceback.format_exc(limit=-3))


if __name__ == "__main__":
    main(*sys.argv[1:])
