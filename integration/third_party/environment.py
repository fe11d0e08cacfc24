"""A virtual environment that has what this one has, and what a test installs on top: no network.

environment = make(tmp_path)
environment.install(folder)            # pip install, as a wheel
environment.run("-m", "byparts_graph_ir", "parts")
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
NEEDS = [name for name in ("pip", "hatchling") if find_spec(name) is None]  # to install anything

_SWITCHES = ("BYPARTS_ONLY", "BYPARTS_DISABLE", "PYTHONPATH")


@dataclass(frozen=True)
class Environment:
    """Where Python is, and with which variables it runs."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        scripts = "Scripts" if os.name == "nt" else "bin"
        return self.folder / scripts / Path(sys.executable).name

    @property
    def site(self) -> Path:
        """Where its own distributions are."""
        base = {"base": str(self.folder), "platbase": str(self.folder)}
        return Path(sysconfig.get_path("purelib", "venv", base))

    def install(self, *folders: Path, editable: bool = False) -> None:
        """`pip install` from sources, with what is here and nothing from elsewhere."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "-q", "install"]
        flags = ["--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir"]
        given = [a for folder in folders for a in (["-e"] * editable + [str(folder)])]
        done = subprocess.run([*pip, *flags, *given], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(
        self, *arguments: str | Path, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """`python *arguments`; what it printed and how it ended."""
        return subprocess.run(
            [str(self.python), *map(str, arguments)],
            env=self.surroundings(**variables),
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def start(self, *arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
        """`python *arguments`, not waited for; what it prints is read from its `stdout`."""
        return subprocess.Popen(
            [str(self.python), "-u", *map(str, arguments)],
            env=self.surroundings(),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def surroundings(self, **variables: str) -> dict[str, str]:
        """Environment variables: ours without switches, then the given ones."""
        kept = {k: v for k, v in os.environ.items() if k not in _SWITCHES}
        return {**kept, **self.variables, **variables}


def make(folder: Path, **variables: str) -> Environment:
    """An environment in a new folder; it sees all that is installed here, or on PYTHONPATH."""
    venv.create(folder, with_pip=False)
    made = Environment(folder, variables)
    outer = sysconfig.get_path("purelib")
    path = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    lines = [*map(os.path.abspath, path), f"import site; site.addsitedir({outer!r})"]
    (made.site / "outer.pth").write_text("\n".join(lines) + "\n")
    return made
