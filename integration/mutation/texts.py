"""Wrong code: C and LLVM IR of regions, changed at one place as a wrong emitter would write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from byparts_kernels_native import code
from byparts_tensor_ir.emit.source import LlvmSource, Source
from mutation.place import Change, Rule, Stage
from test_emitter_mutants import RULES as OF_C, other_half

Edit = Callable[[re.Match[str]], str]


def _for(old: str, new: str) -> tuple[str, Edit]:
    return old, lambda m: new


_LLVM: dict[str, tuple[str, Edit]] = {
    "sub for add": (r"= add (nsw )?(?=[i<])", lambda m: "= sub "),
    "add for sub": (r"= sub (nsw )?(?=[i<])", lambda m: "= add "),
    "add for mul": (r"= mul (nsw )?(?=[i<])", lambda m: "= add "),
    "fsub for fadd": _for("= fadd ", "= fsub "),
    "fadd for fsub": _for("= fsub ", "= fadd "),
    "fadd for fmul": _for("= fmul ", "= fadd "),
    "fmul for fdiv": _for("= fdiv ", "= fmul "),
    "at most for less": _for("icmp slt ", "icmp sle "),
    "less for at most": _for("icmp sle ", "icmp slt "),
    "less for greater": _for("icmp sgt ", "icmp slt "),
    "unequal for equal": _for("icmp eq ", "icmp ne "),
    "equal for unequal": _for("icmp ne ", "icmp eq "),
    "at most for less, floats": _for("fcmp olt ", "fcmp ole "),
    "greater for less, floats": _for("fcmp olt ", "fcmp ogt "),
    "less for greater, floats": _for("fcmp ogt ", "fcmp olt "),
    "no number for a number": _for("fcmp uno ", "fcmp ord "),
    "the sign lost": _for("= sext ", "= zext "),
    "a sign made": _for("= zext ", "= sext "),
    "shift without sign": _for("= ashr ", "= lshr "),
    "and for or": _for("= or <", "= and <"),
    "or for and": _for("= and <", "= or <"),
    "division without sign": _for("= sdiv ", "= udiv "),
    "rest without sign": _for("= srem ", "= urem "),
    "arms exchanged": (
        r"(select .*?%\"[\w.]+\", )([^,<]*), ([^,<]*)$",
        lambda m: f"{m[1]}{m[3]}, {m[2]}",
    ),
    "a number one more": (
        r"(= (?:add|mul|icmp \w+|and|or)[^,\n]* i?\S+, )(\d+)$",
        lambda m: f"{m[1]}{int(m[2]) + 1}",
    ),
    "loaded elsewhere": (
        r"(getelementptr inbounds \w+, ptr %\"\.[1-4]\", i64 )(\d+)$",
        lambda m: f"{m[1]}{int(m[2]) + 1}",
    ),
    "another lane": (
        r"(extractelement .*, i32 )(\d+)$",
        lambda m: f"{m[1]}{1 - min(1, int(m[2]))}",
    ),
    "begins with one": (r"(= phi +i64 \[)0,", lambda m: f"{m[1]}1,"),
}


def _rule(pattern: str, edit: Edit, kind: type[Any]) -> Rule:
    """The rule that changes one match of a pattern."""

    def places(source: Any) -> Iterator[tuple[str, Change]]:
        if not isinstance(source, kind) or source.name in ("walk", "byparts_walk"):
            return
        for m in re.finditer(pattern, source.body, re.MULTILINE):
            line = source.body[source.body.rfind("\n", 0, m.start()) + 1 :].partition("\n")[0]
            yield line.strip()[:110], partial(_changed, source, m, edit)

    return places


def _changed(source: Any, m: re.Match[str], edit: Edit) -> Any:
    body = source.body[: m.start()] + edit(m) + source.body[m.end() :]
    if isinstance(source, LlvmSource):
        return replace(source, body=body)
    vectors = source.vectors | {(other_half(d), n) for d, n in source.vectors}
    return replace(source, body=body, vectors=vectors)


def hook(change: Callable[[Any], Any]) -> None:
    """Have each source go through the change before it is compiled."""
    later = code.later
    code.later = lambda source: later(change(source))


_C_RULES = {name: _rule(pattern, edit, Source) for name, (pattern, edit) in OF_C.items()}
_LLVM_RULES = {name: _rule(pattern, edit, LlvmSource) for name, (pattern, edit) in _LLVM.items()}
OF_LLVM = Stage("emitter of LLVM", _LLVM_RULES, hook, recompiles=True)
OF_C_TEXT = Stage("emitter of C", _C_RULES, hook, recompiles=True)
