"""`byparts new backend NAME`: the three files of a backend of your own, which run as they are.

The functional rules of the template are the shortest way to a first green row; a bound rule
(`kernels=`) that computes into the arena is the way to a fast one.
"""

from __future__ import annotations

import re
from pathlib import Path

_FILES = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "byparts-kernels-{name}"
version = "0.1.0"
requires-python = ">=3.10"
dependencies = ["byparts-opset>=0.1,<1", "numpy"]

[project.optional-dependencies]
test = ["byparts-conformance>=0.1,<1"]

[project.entry-points."byparts.parts"]
kernels-{name} = "{module}"

[tool.hatch.build]
dev-mode-dirs = ["."]

[tool.hatch.build.targets.wheel]
only-include = ["{module}.py"]
""",
    "{module}.py": '''\
"""Kernels of {name}: add rules, then run `byparts check {name}`."""

from byparts_graph_ir import hooks

BYPARTS_API = (1, 0)


@hooks.hookimpl
def byparts_backends():
    """Declare the backend; heavy imports stay inside make()."""
    return [hooks.Backend("{name}", "{module}:make", needs=("numpy",))]


def make():
    """The backend: one function for each op it has."""
    import numpy as np
    from byparts_graph_ir import Backend, Table
    from byparts_opset import Add
    from byparts_opset.dtypes import numpy_dtype

    def view(memory, offset, kind):
        return np.ndarray(kind.dims, numpy_dtype(kind.dtype), memory, offset)

    functions = Table("function")
    functions.on(Add)(lambda op, x, y: x + y)
    return Backend("{name}", view, functions=functions)
''',
    "tests/test_conformance.py": '''\
"""What `byparts check {name}` says, inside your own test run."""

import subprocess
import sys


def test_conformance():
    command = [sys.executable, "-m", "byparts_graph_ir", "check", "{name}"]
    assert subprocess.call(command) == 0
''',
}


def new_backend(name: str, folder: str = ".") -> list[Path]:
    """Write the files under `folder`/byparts-kernels-`name`; the first is its pyproject.toml.

    Raises:
        ValueError: the name cannot be one of a distribution and of a module.
        FileExistsError: the folder is there already; nothing was written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(
            f"{name!r} is no name for a backend: lower case, digits, hyphens, as in my-npu"
        )
    root = Path(folder, f"byparts-kernels-{name}")
    if root.exists():
        raise FileExistsError(f"{root} exists already")
    names = {"name": name, "module": "byparts_kernels_" + name.replace("-", "_")}
    made = []
    for path, text in _FILES.items():
        file = root / path.format(**names)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(**names), encoding="utf-8")
        made.append(file)
    return made
