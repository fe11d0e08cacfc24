"""A release changes what it must, builds, and tags; nothing here asks the network."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import release
from combinations.facts import read_parts

PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "byparts-{name}"
dynamic = ["version"]
requires-python = ">=3.10"
license = "Apache-2.0"
license-files = ["LICENSE"]
dependencies = [{needs}]

[tool.hatch.version]
path = "src/byparts_{name}/__init__.py"

[tool.hatch.build.targets.wheel]
packages = ["src/byparts_{name}"]
"""


def add(root: Path, name: str, changes: str, needs: str = "") -> None:
    folder = root / "packages" / name
    source = folder / "src" / f"byparts_{name}"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text('"""A part."""\n\n__version__ = "0.1.0"\n')
    (source / "py.typed").touch()
    (folder / "LICENSE").write_text("as you like\n")
    (folder / "pyproject.toml").write_text(PROJECT.format(name=name, needs=needs))
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n{changes}\n## [0.1.0]\n")


def git(root: Path, *words: str) -> str:
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", *name, *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two parts, of which the second requires the first; `still` has not changed."""
    add(tmp_path, "ir", "\n### Added\n\n- A type.\n")
    add(tmp_path, "ops", "\n### Changed\n\n- An op.\n", '"byparts-ir[bf16]>=0.1,<1", "numpy>=1.26"')
    add(tmp_path, "still", "")
    (tmp_path / ".gitignore").write_text("dist/\n")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def test_parts_with_changes_and_new_parts_are_released(workspace: Path) -> None:
    add(workspace, "new", "")
    source = workspace / "packages/still/src/byparts_still/__init__.py"
    source.write_text('__version__ = "0.2.0"\n')

    releases = release.planned(read_parts(workspace), {"still-v0.2.0"})

    assert [r.tag for r in releases] == ["ir-v0.2.0", "new-v0.2.0", "ops-v0.2.0"]


def test_a_part_without_changes_is_not_released(workspace: Path) -> None:
    source = workspace / "packages/still/src/byparts_still/__init__.py"
    source.write_text('__version__ = "0.2.0"\n')

    parts, tags = read_parts(workspace), {"still-v0.2.0"}
    assert "still" not in [r.part.name for r in release.planned(parts, tags)]
    with pytest.raises(ValueError, match="still has no unreleased changes"):
        release.planned(parts, tags, ["still"])


@pytest.mark.parametrize(
    ("version", "changes", "after"),
    [
        ("0.2.0", "### Fixed\n### Security", "0.2.1"),
        ("0.2.1", "### Added\n### Fixed", "0.3.0"),
        ("1.4.2", "### Changed", "1.5.0"),
    ],
)
def test_fixes_raise_the_patch_number_alone(version: str, changes: str, after: str) -> None:
    assert release.next_version(version, changes) == after


def test_what_a_part_requires_of_others_is_what_it_was_tested_with() -> None:
    text = 'dependencies = ["byparts-ir[bf16]>=0.1,<1", "byparts-far>=0.1", "numpy>=1.26"]'

    raised = release.requirements_raised(text, {"ir": "0.3.1"})

    assert (
        raised == 'dependencies = ["byparts-ir[bf16]>=0.3,<1", "byparts-far>=0.1", "numpy>=1.26"]'
    )


def test_a_dry_run_changes_nothing(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release.release_all(workspace, [], "2026-01-02", "none")

    assert git(workspace, "status", "--porcelain") + git(workspace, "tag") == ""
    assert "byparts-ir               0.1.0 -> 0.2.0" in capsys.readouterr().out


def test_a_release_is_built_committed_and_tagged(workspace: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed, which builds the wheels")

    release.release_all(workspace, [], "2026-01-02")

    assert git(workspace, "tag").split() == ["ir-v0.2.0", "ops-v0.2.0", "still-v0.2.0"]
    assert git(workspace, "status", "--porcelain") == ""
    wheels = {path.name for path in (workspace / "dist").iterdir()}
    assert wheels == {f"byparts_{name}-0.2.0-py3-none-any.whl" for name in ("ir", "ops", "still")}
    parts = read_parts(workspace)
    assert [str(need) for need in parts["ops"].needs] == ["byparts-ir[bf16]<1,>=0.2"]
    log = (workspace / "packages/ir/CHANGELOG.md").read_text()
    assert "## [Unreleased]\n\n## [0.2.0] - 2026-01-02\n\n### Added" in log
    assert release.unreleased(parts["ir"]) == ""


def test_a_checkout_with_changes_is_not_released(workspace: Path) -> None:
    (workspace / "stray").touch()

    with pytest.raises(ValueError, match="changes that are not committed"):
        release.release_all(workspace, [], "2026-01-02")


def test_versions_are_written_to_be_read_before_they_are_tagged(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is unreleased then joins them."""
    pytest.importorskip("hatchling", reason="hatchling is not installed, which builds the wheels")
    release.release_all(workspace, ["ir"], "2026-01-02", "write")
    changelog = workspace / "packages/ir/CHANGELOG.md"
    text = changelog.read_text()
    assert git(workspace, "tag") == "" and "## [0.2.0] - 2026-01-02\n\n### Added" in text
    changelog.write_text(
        text.replace("## [Unreleased]\n", "## [Unreleased]\n\n### Added\n\n- B.\n")
    )
    git(workspace, "commit", "-qam", "written, and a change")

    release.release_all(workspace, ["ir"], "2026-01-03")

    assert "byparts-ir               0.2.0, written and not tagged" in capsys.readouterr().out
    assert git(workspace, "tag").split() == ["ir-v0.2.0"]
    expected = (
        "## [Unreleased]\n\n## [0.2.0] - 2026-01-03\n\n### Added\n\n- B.\n- A type.\n\n## [0.1.0]\n"
    )
    assert changelog.read_text() == f"# Changelog\n\n{expected}"


def test_changes_of_one_heading_stand_together_and_none_is_lost() -> None:
    before = "# Log\n\n## [Unreleased]\n\nA word.\n\n### Added\n\n- A.\n\n### Fixed\n\n- F.\n\n### Added\n- B.\n"

    assert release.with_release(before, "0.2.0", "2026-01-02") == (
        "# Log\n\n## [Unreleased]\n\n## [0.2.0] - 2026-01-02\n\nA word.\n\n"
        "### Added\n\n- A.\n- B.\n\n### Fixed\n\n- F.\n"
    )


def test_no_part_is_older_than_the_first_release() -> None:
    """0.1.0 was never published."""
    parts = read_parts(release.ROOT)
    numbers = {n: tuple(map(int, part.version.split("."))) for n, part in parts.items()}

    assert [name for name, number in numbers.items() if number < release.FIRST] == []
