"""What the pages say of the code is so: sizes, counts, and what there is not."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import budgets
import claims
import weekend
from absent import ABSENT, Absent
from byparts_graph_ir.model.frozen import field_names
from byparts_opset import OPS

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/*.md")),
    *ROOT.glob("packages/*/README.md"),
]


@pytest.fixture(scope="module")
def known() -> dict[str, int]:
    return claims.facts(wheels=find_spec("hatchling") is not None)


@pytest.mark.long
@pytest.mark.parametrize("page", claims.pages(), ids=lambda page: page.name)
def test_numbers_in_the_pages_are_so(page: Path, known: dict[str, int]) -> None:
    """`python tools/claims.py` writes them."""
    if not {"cuda", "native"} <= known.keys():
        pytest.skip("needs a C++ compiler: what is generated is counted")

    assert list(claims.stale(page, known)) == [], "run python tools/claims.py"


def test_a_wrong_number_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the tolerance, and where the sentence is gone."""
    (tmp_path / "page.md").write_text("It has 90 lines.", encoding="utf-8")
    words = (
        claims.Claim("page.md", r"has (\d+) lines", "x", 0.05),
        claims.Claim("page.md", "(no)", "x"),
    )
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    monkeypatch.setattr(claims, "CLAIMS", words)

    assert len(list(claims.stale(tmp_path / "page.md", {"x": 100}))) == 2
    assert len(list(claims.stale(tmp_path / "page.md", {"x": 91}))) == 1


def test_every_part_is_in_the_tables_of_the_readme() -> None:
    """And nothing else is."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(packages/([\w-]+)/README.md\)", text))

    assert named == {p.parent.name for p in ROOT.glob("packages/*/pyproject.toml")}


def test_every_page_is_linked_from_the_first() -> None:
    """From the README, or from the table of docs/README.md that it links."""
    text = "".join((ROOT / p).read_text(encoding="utf-8") for p in ("README.md", "docs/README.md"))

    assert not [p.name for p in (ROOT / "docs").glob("*.md") if p.name not in text]
    assert "docs/memory.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """To files that are there."""
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_are_there(page: Path) -> None:
    """`python tools/x.py` is a file, `hatch run x` a script of hatch.toml."""
    text, scripts = page.read_text(encoding="utf-8"), (ROOT / "hatch.toml").read_text("utf-8")
    files = re.findall(r"python ((?:tools|benchmarks|integration)/[\w/]+\.py)", text)
    names = re.findall(r"hatch run (?:[\w-]+:)?([\w-]+)", text)

    assert [file for file in files if not (ROOT / file).exists()] == []
    assert [n for n in names if not re.search(rf"^{n} = ", scripts, re.MULTILINE)] == []


def test_every_file_that_a_readme_names_is_there() -> None:
    """In the map of files of each part."""
    for readme in ROOT.glob("packages/*/README.md"):
        files = {p.name for p in readme.parent.glob("src/**/*.py")}
        rows = re.findall(r"^\| (`[^|]*) \|", readme.read_text(encoding="utf-8"), re.MULTILINE)
        named = {name for row in rows for name in re.findall(r"`(\w+\.py)`", row)}
        assert not named - files, readme


@pytest.mark.parametrize("claim", ABSENT, ids=lambda claim: claim.sentence[:30])
def test_what_is_said_not_to_be_there_is_not(claim: Absent) -> None:
    """Who adds one takes its sentence out of `tools/absent.py`."""
    assert claim.holds()


def test_a_page_names_every_part() -> None:
    """A new part has its place in docs/architecture.md, in words."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(\.\./packages/([\w-]+)/README.md\)", text))

    assert named == {path.name for path in budgets.parts()}


@pytest.mark.parametrize("page", claims.WEEKEND)
def test_the_folders_to_read_are_named(page: str) -> None:
    """`python tools/weekend.py` prints those that `build` imports."""
    paragraph = re.search(r"files of [\d,]+ lines(.*?)\n\n", (ROOT / page).read_text(), re.DOTALL)
    assert paragraph is not None
    named = set(re.findall(r"`([a-z-]+/[a-z]+)`", paragraph[1]))

    assert named == {name for name in weekend.folders(weekend.closure()) if "/" in name}


def test_loops_and_branches_are_the_ops_with_bodies() -> None:
    """These, and the gradient of a loop without a bound."""
    fields = {
        op: [str(op.__annotations__.get(name)) for name in field_names(op)] for op in OPS.values()
    }
    with_bodies = {op.name for op, types in fields.items() if any("Graph" in t for t in types)}

    assert with_bodies == {"call", "if", "while", "scan", "while_gradient"}
