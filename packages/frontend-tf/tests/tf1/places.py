"""The programs of this folder, their logs, and running one of them on our TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Outcome:
    """What a process printed, what it complained of, and how it ended."""

    output: str
    errors: str
    status: int

    def complaint(self) -> str:
        """The last line of an error that ended it, or nothing."""
        lines = [line for line in self.errors.splitlines() if line and line[0] not in " ~^"]
        return lines[-1] if self.status and lines else ""


def names() -> list[str]:
    """The programs, such as "programs/vae" and "idioms/optimizers"."""
    files = [*FOLDER.glob("programs/*.py"), *FOLDER.glob("idioms/*.py")]
    return sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in files)


def program(name: str) -> Path:
    """The file of a program."""
    return FOLDER / f"{name}.py"


def log(name: str) -> Path:
    """The file of what TensorFlow printed for it."""
    return FOLDER / "logs" / f"{name}.txt"


def recorded(name: str) -> str:
    """What TensorFlow printed, without the line that says which TensorFlow."""
    return log(name).read_text().partition("\n")[2]


def run_here(name: str, timeout_s: float = 300.0) -> Outcome:
    """Run a program on our TensorFlow, in a process and a folder of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "byparts_frontend_tf", str(program(name))]
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TMPDIR=folder)
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env=environment,
            timeout=timeout_s,
        )  # fmt: skip
    return Outcome(done.stdout, done.stderr, done.returncode)
