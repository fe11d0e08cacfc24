"""An environment for each combination: wheels, what they declare, and nothing else.

`Linked` puts unpacked wheels and links on the path of a bare interpreter: a few milliseconds.
`Installed` makes a virtual environment with pip, as a user would: what the nightly run does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns
from threading import Lock

from combinations.facts import Part, Parts, part_name, requirements
from combinations.plan import Combination
from combinations.third_party import Missing, Packages

PROOF = Path(__file__).parent.parent / "proof"
_BUILD = """
import os, sys, pathlib
from hatchling.build import build_wheel
wheels = pathlib.Path(sys.argv[1])
for folder in map(pathlib.Path, sys.argv[2:]):
    os.chdir(folder)
    try:
        build_wheel(str(wheels))
    except Exception as error:
        (wheels / (folder.name + ".error")).write_text(type(error).__name__ + ": " + str(error))
"""


@dataclass(frozen=True)
class Environment:
    """How to run Python with one combination.

    Attributes:
        python: the interpreter.
        path: what `PYTHONPATH` holds; empty where all is installed.
        packages: the third-party packages that are there on purpose; `None`: whatever pip took.
    """

    python: Path
    path: tuple[Path, ...]
    packages: tuple[str, ...] | None

    def run(self, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
        """`python *arguments`, in the folder `home`, with nothing else around."""
        path = {"PYTHONPATH": os.pathsep.join(map(str, self.path))} if self.path else {}
        return subprocess.run(
            [str(self.python), *arguments],
            env={**clean_variables(), **path},
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )


class Linked:
    """Environments on the path; `python` is bare, `packages` are somebody else's.

    Where `older` has the wheel of a part, it is taken when some other part requires that part.
    """

    def __init__(
        self,
        parts: Parts,
        wheels: Path,
        python: Path,
        packages: Packages,
        older: Path | None = None,
    ) -> None:
        self._parts, self._wheels, self._older = parts, wheels, older
        self._python, self._packages = python, packages
        self._one_at_a_time = Lock()  # of those who fill the shared folders

    def make(self, combination: Combination) -> Environment:
        """The environment of a combination.

        Raises:
            Missing: a package that it needs is not here.
        """
        with self._one_at_a_time:
            return self._make(combination)

    def _make(self, combination: Combination) -> Environment:
        wanted = requirements(combination.parts, self._parts)
        names = self._packages.closure(wanted, combination.lacks)
        brought = {part_name(r) for name in combination.parts for r in self._parts[name].needs}
        own = [self._wheel(self._parts[n], n in brought) for n in sorted(combination.parts)]
        if not combination.zipped:
            own = list(map(_unpacked, own))
        return Environment(self._python, (*own, *self._packages.path(names)), tuple(names))

    def _wheel(self, part: Part, brought: bool) -> Path:
        older = list(self._older.glob(f"{part.module}-*.whl")) if self._older and brought else []
        return older[0] if older else wheel_of(part, self._wheels)


class Installed:
    """A new virtual environment for each combination; pip finds what the wheels declare."""

    def __init__(
        self, parts: Parts, wheels: Path, python: Path, folder: Path, constraints: Path
    ) -> None:
        self._parts, self._wheels, self._python = parts, wheels, python
        self._folder, self._constraints = folder, constraints

    def make(self, combination: Combination) -> Environment:
        """The environment of a combination.

        Raises:
            Missing: pip failed; what it said.
        """
        own = [str(wheel_of(self._parts[name], self._wheels)) for name in combination.parts]
        python = virtual_environment(self._python, self._folder / combination.id)
        install(python, [*sorted(own)], self._constraints)
        return Environment(python, (), None)


def build_wheels(parts: Parts, wheels: Path) -> None:
    """One wheel for each part, in one process: 0.3 s for all, where pip takes seconds for each.

    What cannot be built is missed by the combinations that need it.

    Raises:
        Missing: nothing can be built here; why.
    """
    wheels.mkdir(parents=True, exist_ok=True)
    folders = [str(part.folder) for part in parts.values()]
    command = [sys.executable, "-c", _BUILD, str(wheels), *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"the wheels cannot be built:\n{done.stderr.strip()}")


def _unpacked(wheel: Path) -> Path:
    """What pip does with a pure-Python wheel, once for all combinations."""
    folder = wheel.with_suffix("")
    if not folder.exists():
        with zipfile.ZipFile(wheel) as file:
            file.extractall(folder)
    return folder


def wheel_of(part: Part, wheels: Path) -> Path:
    """Its file.

    Raises:
        Missing: it could not be built; why.
    """
    for found in wheels.glob(f"{part.module}-*.whl"):
        return found
    error = wheels / f"{part.name}.error"
    why = error.read_text(encoding="utf-8") if error.exists() else "it was not built"
    raise Missing(f"{part.distribution} has no wheel: {why}")


def virtual_environment(python: Path, folder: Path) -> Path:
    """A new one, empty; its interpreter."""
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(folder)], check=True)
    name = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    return folder / name


def install(python: Path, what: list[str], constraints: Path) -> None:
    """`pip install` for another interpreter, with the pip of this one.

    Raises:
        Missing: pip failed; its last line.
    """
    # Without the constraint an open range such as torch>=2.4 takes the newest build: gigabytes.
    variables = {**clean_variables(), "PIP_CONSTRAINT": str(constraints)}
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", *what]
    done = subprocess.run(pip, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no word of why"]
        raise Missing(f"pip cannot install it: {said[-1]}")


def proof_home(folder: Path) -> Path:
    """A folder with the package `proof` and nothing else, to run `python -m proof` in."""
    copytree(PROOF, folder / "proof", ignore=ignore_patterns("__pycache__"))
    return folder


def clean_variables() -> Mapping[str, str]:
    """The environment variables, without those that bring in other packages or switch parts off."""
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "BYPARTS_"))}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**mine, **threads, "PYTHONNOUSERSITE": "1"}
