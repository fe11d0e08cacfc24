"""`byparts new KIND NAME`: writes a new part, which installs, runs and passes its tests as it is.

Its files are those of `templates/` with `$name` and other variables substituted.  A name that a
folder, a distribution, a module, a part or an op has already is refused before a file is written.
"""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from string import Template

import byparts_graph_ir
from byparts_graph_ir.formats.attributes import OWN
from byparts_graph_ir.model.op_name import snake_case
from byparts_graph_ir.parts.hub import PartError, parts

Files = dict[str, str]  # path in the new folder -> name of its template

_ONE_MODULE: Files = {
    "pyproject.toml": "pyproject.toml",
    "$module.py": "$kind.py",
    "tests/test_$kind.py": "${kind}_test.py",
}
_PACKAGE: Files = {
    "pyproject.toml": "pyproject.toml",
    "$module/__init__.py": "$kind.py",
    "$module/plugin.py": "${kind}_plugin.py",
    "tests/test_$kind.py": "${kind}_test.py",
}
_RUN = ("byparts-kernels-numpy", "byparts-runtime")
_KIT = (*_RUN, "byparts-autodiff", "byparts-conformance")


@dataclass(frozen=True)
class _Kind:
    """Names, records and templates of the parts of one kind.

    Attributes:
        prefix: of the names of the distribution and the part.
        provides: the kind of the record that the part provides.
        tests_need: the distributions that its tests import.
        files: path in the new folder -> name of its template.
    """

    prefix: str
    provides: str
    tests_need: tuple[str, ...]
    files: Files


KINDS = {
    "backend": _Kind("kernels", "backends", ("byparts-conformance",), _ONE_MODULE),
    "op": _Kind("op", "ops", _KIT, _PACKAGE),
    "pass": _Kind("pass", "passes", (), _ONE_MODULE),
    "planner": _Kind("planner", "planners", _RUN, _ONE_MODULE),
    "frontend": _Kind("frontend", "frontends", (), _ONE_MODULE),
}


@dataclass(frozen=True)
class New:
    """A part that was written.

    Attributes:
        files: their paths.
        advice: the shell commands that install the part and run its tests.
    """

    files: tuple[Path, ...]
    advice: str


def new_part(kind: str, name: str, folder: str = ".") -> New:
    """Write a part to the new folder `folder`/byparts-...-`name`.

    Raises:
        ValueError: the name cannot be used, or is taken; nothing was written.
        OSError: a folder of this name exists, and nothing was written; or it cannot be written.
    """
    recipe = KINDS[kind]
    substitutions = _substitutions(kind, name)
    root = Path(folder, substitutions["distribution"])
    _refuse_taken(kind, substitutions, root)
    paths = []
    for path, template in recipe.files.items():
        file = root / _filled(path, substitutions)
        template_name = f"{_filled(template, substitutions)}.txt"
        text = files("byparts_graph_ir.parts") / "templates" / template_name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_filled(text.read_text(encoding="utf-8"), substitutions), encoding="utf-8")
        paths.append(file)
    install, tests = f"pip install -e {quote(str(root))}", quote(str(root / "tests"))
    check = f"byparts check {name}" if kind == "backend" else f"python -m pytest {tests}"
    return New(tuple(paths), f"{install} && {check}")


def _substitutions(kind: str, name: str) -> dict[str, str]:
    """The values of the variables in the templates.

    Raises:
        ValueError: the name cannot be used.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        form = "lower case, digits, hyphens"
        raise ValueError(f"{name!r} is no name for a part: {form}, as in my-{kind}")
    word = name.replace("-", "_")
    if keyword.iskeyword(word) or keyword.issoftkeyword(word) or name == "auto":
        raise ValueError(f"{name!r} has another meaning; take another name, as in my-{name}")
    if word in sys.stdlib_module_names:
        raise ValueError(f"{name!r} is a module of Python; take another name, as in my-{name}")
    recipe, named = KINDS[kind], "".join(map(str.capitalize, name.split("-")))
    module = f"byparts_{recipe.prefix}_{word}"
    package = recipe.files is _PACKAGE
    return {
        "kind": kind,
        "name": name,
        "part": f"{recipe.prefix}-{name}",
        "distribution": f"byparts-{recipe.prefix}-{name}",
        "module": module,
        "plugin": f"{module}.plugin" if package else module,
        "include": module if package else f"{module}.py",
        "test": ", ".join(['"pytest"', *(f'"{need}>=0.1,<1"' for need in recipe.tests_need)]),
        "Class": named,
        "op": snake_case(named),
    }


def _refuse_taken(kind: str, substitutions: dict[str, str], root: Path) -> None:
    if root.exists():
        raise FileExistsError(f"{root} exists already")
    try:
        distribution(substitutions["distribution"])
    except PackageNotFoundError:
        pass
    else:
        raise ValueError(f"{substitutions['distribution']} is installed already; take another name")
    if find_spec(substitutions["module"]) is not None:
        raise ValueError(f"there is a module {substitutions['module']} already; take another name")
    for part in parts.all():
        if substitutions["part"] == part.name:
            raise ValueError(f"{part.distribution} is a part of the name {part.name} already")
    for part, record in parts.records(KINDS[kind].provides):
        if substitutions["name"] == record.name:
            raise ValueError(f"{part.distribution} has a {kind} of the name {record.name} already")
    if kind == "op":
        _refuse_taken_op(substitutions["op"], substitutions["Class"])


def _refuse_taken_op(op: str, named: str) -> None:
    try:
        known = op in OWN or op in parts.ops()
    except PartError as error:
        raise ValueError(str(error)) from error
    if known or hasattr(byparts_graph_ir, named):
        raise ValueError(f"there is an op or a type {named} ({op} in text) already")


def _filled(text: str, substitutions: dict[str, str]) -> str:
    return Template(text).substitute(substitutions)
