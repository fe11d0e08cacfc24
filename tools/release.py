"""Releases each part that changed: version, changelog, wheel and source, checks, commit and tags.

    python tools/release.py --dry-run           # which parts, from and to which version
    python tools/release.py --write             # versions, changelogs, requirements, to be read
    python tools/release.py                     # all of that; nothing is uploaded
    python tools/release.py graph-ir opset      # these alone

A part is released where its changelog has something under `## [Unreleased]`, or where its version
has no tag `graph-ir-v0.2.0`: that one is written and not released, and what is unreleased joins it.
Before 1.0 the minor number rises, or the patch number where there are only fixes; the first release
is 0.2.0.  What a part requires of other parts rises to their new minor version, which is what it
was tested with.  One commit has all parts.  The last line says how to upload.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from combinations.environment import build_wheels, wheel_of
from combinations.facts import Part, Parts, read_parts

ROOT = Path(__file__).resolve().parent.parent
FIRST = (0, 2, 0)
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", re.MULTILINE | re.DOTALL)
_FIXES = {"Fixed", "Security", "Budget"}  # sections that raise the patch number alone


@dataclass(frozen=True)
class Release:
    """One part, and the version that it gets."""

    part: Part
    version: str

    @property
    def tag(self) -> str:
        """Name in git: `graph-ir-v0.2.0`."""
        return f"{self.part.name}-v{self.version}"

    def __str__(self) -> str:
        if self.part.version == self.version:
            return f"{self.part.distribution:24} {self.version}, written and not tagged"
        return f"{self.part.distribution:24} {self.part.version} -> {self.version}"


def planned(parts: Parts, tags: Collection[str], names: Sequence[str] = ()) -> list[Release]:
    """Releases of the parts with unreleased changes or without a tag, or of those among `names`.

    Raises:
        ValueError: a name of no part, or of one without changes.
    """
    releases = {}
    for name, part in parts.items():
        written = Release(part, _text(max(_numbers(part.version), FIRST)))
        if written.tag not in tags:
            releases[name] = written
        elif changes := unreleased(part):
            releases[name] = Release(part, next_version(part.version, changes))
    for name in names:
        if name not in releases:
            raise ValueError(f"{name} has no unreleased changes in packages/{name}/CHANGELOG.md")
    return [releases[name] for name in sorted(names or releases)]


def unreleased(part: Part) -> str:
    """What the changelog says under `## [Unreleased]`; empty without such a section."""
    match = _UNRELEASED.search(_changelog(part).read_text(encoding="utf-8"))
    return match[1].strip() if match else ""


def next_version(version: str, changes: str) -> str:
    """The version after `version`: a minor one, or a patch where `changes` are fixes alone."""
    major, minor, patch = _numbers(version)
    fixes = set(re.findall(r"^### (\w+)", changes, re.MULTILINE)) <= _FIXES
    return _text((major, minor, patch + 1) if fixes else (major, minor + 1, 0))


def write(releases: Sequence[Release], versions: Mapping[str, str], day: str) -> None:
    """Write the version of each release, its changelog, and what it requires of other parts."""
    for release in releases:
        folder = release.part.folder
        module = folder / "src" / release.part.module / "__init__.py"
        line = f'__version__ = "{release.part.version}"'
        _replace(module, line, f'__version__ = "{release.version}"')
        path = _changelog(release.part)
        path.write_text(
            with_release(path.read_text(encoding="utf-8"), release.version, day), encoding="utf-8"
        )
        project = folder / "pyproject.toml"
        text = project.read_text(encoding="utf-8")
        project.write_text(requirements_raised(text, versions), encoding="utf-8")


def with_release(changelog: str, version: str, day: str) -> str:
    """A changelog whose unreleased changes are those of a version.

    Where the version is there, which was written and not released, they join its sections.
    """
    match = _UNRELEASED.search(changelog)
    before = changelog[: match.start() if match else changelog.index("## [")]
    after = changelog[match.end() if match else len(before) :]
    changes = match[1] if match else ""
    if heading := re.match(rf"## \[{re.escape(version)}\].*\n", after):
        end = after.find("\n## [", 1) + 1 or len(after)
        changes += after[heading.end() : end]
        after = after[end:]
    text = "".join(f"{name}{lines}\n\n" for name, lines in _sections(changes).items())
    return f"{before}## [Unreleased]\n\n## [{version}] - {day}\n\n{text}{after}".rstrip() + "\n"


def _sections(changes: str) -> dict[str, str]:
    """Changes by heading, which ends with an empty line; those of one heading stand together."""
    first, *pieces = re.split(r"^(### .*\n)", changes, flags=re.MULTILINE)
    sections: dict[str, list[str]] = {"": [first.strip()]} if first.strip() else {}
    for heading, text in zip(pieces[::2], pieces[1::2], strict=True):
        sections.setdefault(f"{heading}\n", []).append(text.strip())
    return {heading: "\n".join(texts) for heading, texts in sections.items()}


def requirements_raised(project: str, versions: Mapping[str, str]) -> str:
    """The text of a pyproject.toml whose lower bounds of parts are the minor version of each."""

    def raised(match: re.Match[str]) -> str:
        version = versions.get(match[2])
        return f"{match[1]}>={version.rpartition('.')[0]}" if version else match[0]

    return re.sub(r'("byparts-([\w-]+)(?:\[[\w,-]+\])?)>=[\d.]+', raised, project)


def build(releases: Sequence[Release], out: Path) -> list[Path]:
    """Build a wheel of each, and check what is in it.

    Raises:
        ValueError: a wheel has another version, or lacks what a release must have.
    """
    out.mkdir(parents=True, exist_ok=True)
    parts = read_parts(releases[0].part.folder.parents[1])
    build_wheels({r.part.name: parts[r.part.name] for r in releases}, out)
    wheels = [wheel_of(parts[release.part.name], out) for release in releases]
    for release, wheel in zip(releases, wheels, strict=True):
        if lacking := _lacking(release, wheel):
            raise ValueError(f"{wheel.name} lacks {', '.join(lacking)}")
    return wheels


def _lacking(release: Release, wheel: Path) -> list[str]:
    module, info = release.part.module, f"{release.part.module}-{release.version}.dist-info"
    needed = [f"{module}/__init__.py", f"{module}/py.typed"]
    needed += [f"{info}/METADATA", f"{info}/licenses/LICENSE"]
    with zipfile.ZipFile(wheel) as archive:
        return sorted(set(needed) - set(archive.namelist()))


def _numbers(version: str) -> tuple[int, int, int]:
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def _text(numbers: tuple[int, int, int]) -> str:
    return ".".join(map(str, numbers))


def _changelog(part: Part) -> Path:
    return part.folder / "CHANGELOG.md"


def _replace(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    if before not in text:
        raise ValueError(f"{path} has no line {before.strip()!r}")
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"git {words[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


def release_all(root: Path, names: Sequence[str], day: str, steps: str = "all") -> list[Release]:
    """Do the steps in a clean checkout: "all", "write" for the first alone, "none" to print them.

    Raises:
        ValueError: there is nothing to release, or a step cannot be done.
    """
    parts = read_parts(root)
    releases = planned(parts, _git(root, "tag").split(), names)
    if not releases:
        raise ValueError("nothing to release: no changelog has unreleased changes")
    print(*releases, sep="\n")
    if steps == "none":
        return releases
    if changed := _git(root, "status", "--porcelain"):
        raise ValueError(f"the checkout has changes that are not committed:\n{changed}")
    versions = {name: part.version for name, part in parts.items()}
    versions |= {release.part.name: release.version for release in releases}
    write(releases, versions, day)
    if steps == "write":
        return releases
    wheels = build(releases, root / "dist")
    if _git(root, "status", "--porcelain"):
        _git(root, "commit", "-aqm", "release: " + ", ".join(r.tag for r in releases))
    for release in releases:
        _git(root, "tag", "-a", release.tag, "-m", f"{release.part.distribution} {release.version}")
    print("built, committed and tagged; to publish:")
    print("git push --follow-tags && twine upload", *(wheel.relative_to(root) for wheel in wheels))
    return releases


def main(words: Sequence[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="these alone")
    for option, steps, what in (
        ("--dry-run", "none", "say what would be done"),
        ("--write", "write", "write versions, changelogs and requirements, and stop"),
    ):
        parser.add_argument(
            option, dest="steps", action="store_const", const=steps, default="all", help=what
        )
    arguments = parser.parse_args(words)
    try:
        release_all(ROOT, arguments.parts, date.today().isoformat(), arguments.steps)
    except ValueError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
