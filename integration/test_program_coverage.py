"""The count of lines that random programs run: functions, lines, reasons, the page."""

from __future__ import annotations

import pytest

from mutation.source import GROUPS
from program_coverage import NOT_SAID, PAGE, functions_of, main, reason, reasons, table

MODULE = "byparts_optimize.merge"


def test_functions_have_the_lines_of_their_bodies() -> None:
    """Those inside of others have lines of their own; the line of `def` runs on import."""
    by_name = {f.name: f for f in functions_of("byparts_runtime.run.moving")}
    outer, inner = by_name["moves"], by_name["moves.move"]

    assert inner.key == "byparts_runtime.run.moving.moves.move"
    assert outer.lines and inner.lines - outer.lines


def test_a_table_names_what_is_never_run() -> None:
    """With all lines of a function but one other, it names the other."""
    functions = functions_of(MODULE)
    run = {MODULE: set(functions[0].lines)}
    text = table(run, {functions[1].key: "an error"})
    line = next(row for row in text.splitlines() if f"`{MODULE}`" in row and row[0] == "|")

    assert f"`{functions[0].name}`" not in line and f"`{functions[1].name}`" in line
    assert f"- `{functions[1].key}`: an error" in text
    assert f"- `{functions[0].key}`" not in text


def test_a_reason_is_of_a_function_or_of_all_that_begin_so() -> None:
    (first, *_) = functions_of(MODULE)

    assert reason(first, {first.key: "a", f"{MODULE}.": "b"}) == "a"
    assert reason(first, {"byparts_optimize.": "c", f"{MODULE}.": "b"}) == "b"
    assert reason(first, {first.name: "d"}) == "d"
    assert reason(first, {}) == NOT_SAID


def test_each_reason_is_of_something_that_exists() -> None:
    functions = [f for name in {m for g in GROUPS.values() for m in g} for f in functions_of(name)]
    keys, names = [f.key for f in functions], {f.name.rsplit(".", 1)[-1] for f in functions}

    starts = tuple([of for of in reasons() if of.endswith(".")])
    assert {of for of in reasons() if of not in starts} <= {*keys, *names}
    assert {s for s in starts if any([k.startswith(s) for k in keys])} == {*starts}


def test_no_programs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A table of nothing would say that nothing is run."""
    with pytest.raises(SystemExit, match="2"):
        main(("--programs", "-3"))

    assert "--programs is -3, and must be at least 1" in capsys.readouterr().err


def test_the_page_has_every_file() -> None:
    """`python integration/program_coverage.py --write` writes it."""
    text = PAGE.read_text(encoding="utf-8")

    assert [m for g in GROUPS.values() for m in g if f"`{m}`" not in text] == []
