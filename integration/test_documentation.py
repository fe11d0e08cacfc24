"""Runs every code block of the documentation and compares what it prints.

In Markdown, the ```python blocks of one file share a namespace, in order.  A plain block (``` or
```text) right after one is what it prints.  A block marked ```python raises ends in an error, and
the block after it is that error with its notes.  A block of `>>>` lines is a doctest.  In
`docs/tutorial.py` the lines under `# prints:` are what the code above them prints.

Not compared: the line numbers of `file.md:12`, and times.  A file that needs a part that is not
installed is skipped; what it needs is what it imports, and what `<!-- needs: ... -->` names.

    python integration/test_documentation.py docs/tutorial.py    # writes what is printed now

rewrites the outputs in a file; look at the difference before you commit it.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any
from unittest.mock import patch

import pytest

from byparts_graph_ir import Op, Table

ROOT = Path(__file__).parent.parent
TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
READMES = [*ROOT.glob("packages/*/README.md"), ROOT / "distribution" / "README.md"]
PAGES = sorted([*TOP, *READMES, *ROOT.glob("docs/**/*.md")])
LONG = [ROOT / "docs" / "memory.md", ROOT / "docs" / "your-own-backend.md"]  # seconds to run
SCRIPTS = [ROOT / "docs" / "tutorial.py"]

RUN, RAISES, OUTPUT = "python", "python raises", ("", "text")
NOT_RUN = ("sh", "toml", "pycon")  # commands, configuration, sessions on other machines

_FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"<!-- needs: ([\w -]+) -->")
_PRINTS = re.compile(r"^# prints:\n(?P<body>(?:#[^\n]*\n)+)", re.MULTILINE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True)
def _kernels_stay_with_their_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a page registers in a table is gone when the page is."""
    register, made = Table._register, []

    def recording(table: Table[Any], ops: Sequence[type[Op]], form: set[type[Op]] | None) -> Any:
        made.append((table, ops))
        return register(table, ops, form)

    monkeypatch.setattr(Table, "_register", recording)
    yield
    for table, ops in made:
        for op in ops:
            if getattr(table.get(op), "__module__", "") == "__main__":
                del table._rules[op]
                table._with_workspace.discard(op)
                table._compiled.discard(op)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of 3.12, at a fork
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] if page in LONG else []) for page in PAGES],
    ids=map(name_of, PAGES),
)
def test_page(page: Path) -> None:
    """The blocks of a page run, and print what stands below them."""
    text = page.read_text(encoding="utf-8")
    _skip_if_absent("\n".join(b.body for b in blocks(text)), _NEEDS.findall(text))

    for block, printed in run_page(text, page.name):
        assert plain(printed) == plain(block.body), f"{name_of(page)}:{block.line}"


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_script(script: Path) -> None:
    """A script prints what stands under `# prints:`."""
    text = script.read_text(encoding="utf-8")
    _skip_if_absent(text, _NEEDS.findall(text))

    for line, expected, printed in run_script(text, script.name):
        assert plain(printed) == plain(expected), f"{name_of(script)}:{line}"


def test_pictures_are_drawn_by_the_library() -> None:
    """`python tools/pictures.py` would change nothing."""
    script = ROOT / "tools" / "pictures.py"
    _skip_if_absent(script.read_text(encoding="utf-8"), [])
    drawn = run_path(str(script))["pictures"]()
    folder = ROOT / "docs" / "pictures"

    there = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    stale = [name for name in drawn.keys() | there.keys() if drawn.get(name) != there.get(name)]
    assert stale == [], "run python tools/pictures.py"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """A link or picture that is no address is a file."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) + re.findall(r'src="([^"]+)"', text)
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]

    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_what_they_are(page: Path) -> None:
    """No block escapes by a kind that nobody runs."""
    kinds = {b.kind for b in blocks(page.read_text(encoding="utf-8"))}

    assert kinds <= {RUN, RAISES, *OUTPUT, *NOT_RUN}


@dataclass(frozen=True)
class Block:
    """One fenced block; `follows` says that nothing stands between it and the block before."""

    kind: str
    body: str
    line: int  # of the opening fence
    follows: bool
    span: tuple[int, int]  # of the body in the text


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        follows = bool(found) and not text[end : match.start()].strip()
        found.append(Block(match["kind"].strip(), match["body"], line, follows, match.span("body")))
        end = match.end()
    return found


def run_page(text: str, name: str) -> Iterator[tuple[Block, str]]:
    """Each block of expected output, with what the block before it printed."""
    space: dict[str, Any] = {"__name__": "__main__"}
    printed, before = "", ""
    for block in blocks(text):
        if block.kind in OUTPUT and block.follows and before in (RUN, RAISES):
            yield block, printed
        elif block.kind == RUN and block.body.startswith(">>>"):
            _run_doctest(block, name, space)
        elif block.kind in (RUN, RAISES):
            run = partial(run_code, block.body, name, block.line, space)
            printed = run() if block.kind == RUN else _message(run, f"{name}:{block.line}")
        before = block.kind


def run_script(text: str, name: str) -> Iterator[tuple[int, str, str]]:
    """For each `# prints:` its line, what it says, and what the code above it printed."""
    space: dict[str, Any] = {"__name__": "__main__"}
    here = 0
    for match in _PRINTS.finditer(text):
        code, line = text[here : match.start()], text.count("\n", 0, here)
        expected = "".join(f"{part[4:]}\n" for part in match["body"].splitlines())
        yield line, expected, run_code(code, name, line, space)
        here = match.end()
    rest = run_code(text[here:], name, text.count("\n", 0, here), space)
    assert rest == "", f"printed at the end of {name}, and nothing says so: {rest}"


def run_code(code: str, name: str, line: int, space: dict[str, Any]) -> str:
    """What the code prints; errors and `where` have the line in the file."""
    out = io.StringIO()
    with redirect_stdout(out), patch.dict(os.environ, COLUMNS="100"):  # as without a terminal
        exec(compile("\n" * line + code, name, "exec", dont_inherit=True), space)
    return out.getvalue()


def plain(text: str) -> str:
    """Without what differs from run to run: line numbers, times, spaces at the ends of lines."""
    text = re.sub(r"\b([\w-]+\.(?:md|py)):\d+", r"\1:N", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|us|s)\b", r"N \2", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _message(run: partial[str], place: str) -> str:
    """The error as a traceback ends with it: type, message, notes."""
    try:
        run()
    except Exception as error:
        notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
        return f"{type(error).__name__}: {error}{notes}\n"
    raise AssertionError(f"{place} is marked `raises`, and ran through")


def _run_doctest(block: Block, name: str, space: dict[str, Any]) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    test = parser.get_doctest(block.body, space, name, name, block.line)
    said: list[str] = []
    runner.run(test, out=said.append, clear_globs=False)
    space.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


def _skip_if_absent(code: str, named: list[str]) -> None:
    modules = {f"byparts_{part.replace('-', '_')}" for line in named for part in line.split()}
    modules |= set(re.findall(r"^\s*(?:from|import) (byparts_\w+|torch)\b", code, re.MULTILINE))
    absent = sorted(m for m in modules if find_spec(m) is None)
    if absent:
        pytest.skip(f"needs {', '.join(absent)}")


def _update(path: Path) -> str:
    """The text of a file with its outputs as they are now."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        for block, printed in reversed(list(run_page(text, path.name))):
            if plain(printed) != plain(block.body):
                text = text[: block.span[0]] + printed + text[block.span[1] :]
        return text
    made = iter([printed for _, _, printed in run_script(text, path.name)])
    return _PRINTS.sub(lambda match: "# prints:\n" + _commented(next(made)), text)


def _commented(printed: str) -> str:
    return "".join(f"#   {line}".rstrip() + "\n" for line in printed.splitlines()) or "#\n"


if __name__ == "__main__":
    for argument in sys.argv[1:] * 2:  # twice: an output that grows moves the lines below it
        path = Path(argument)
        if (text := _update(path)) != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
