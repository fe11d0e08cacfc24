"""Writes the public names into `byparts_opset/__init__.py`, from what its modules define.

python tools/opset_names.py        # after adding an op; `ops_table.py` does it, too

A module of ops gives its op classes, its op instances (`sinh = Sinh()`), and its functions that
return values, each unless its name begins with an underscore.  Modules keep the order that they
have in the file; a new one is put last.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from textwrap import fill
from types import FunctionType, ModuleType

import byparts_opset
from byparts_graph_ir import Op
from byparts_graph_ir.lazy_names import homes

FILE = Path(byparts_opset.__file__)
MARK = "# From here on written by `python tools/opset_names.py`; a test says when stale.\n"
# Public names that are neither ops nor functions that return values, or stand in no module of ops.
OTHERS = {
    **{"registry": "OPS", "arithmetic": "lift", "conv2d_transpose": "conv2d_transpose"},
    **{"composite": "gradient_by_decomposition is_zero"},
}
HEAD = """TYPE_CHECKING = False
if TYPE_CHECKING:
{imports}

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
{names}
    )
    import byparts_opset.arithmetic

    byparts_opset.arithmetic.register(byparts_opset)  # Python's operators on values
"""


def text() -> str:
    """The whole file."""
    names = public_names()
    imports = "\n".join(f"    {_import(module)}" for module in sorted(names))
    pairs = "\n".join(_keyword(module, listed) for module, listed in names.items())
    written = FILE.read_text(encoding="utf-8").partition(MARK)[0]
    return written + MARK + HEAD.format(imports=imports, names=pairs)


def write() -> bool:
    """Write the file; whether that changed it."""
    new, old = text(), FILE.read_text(encoding="utf-8")
    FILE.write_text(new, encoding="utf-8")
    return new != old


def public_names() -> dict[str, list[str]]:
    """Module -> its public names, sorted."""
    known = list(dict.fromkeys(homes("byparts_opset").values()))
    there = [m.name for m in iter_modules(byparts_opset.__path__)]
    ordered = [*(m for m in known if m in there), *(m for m in there if m not in known)]
    modules = {name: import_module(f"byparts_opset.{name}") for name in ordered}
    public = {name: _public(module) for name, module in modules.items()}
    return {name: listed for name, listed in public.items() if listed}


def _public(module: ModuleType) -> list[str]:
    name = module.__name__.rpartition(".")[2]
    if name in OTHERS:
        return OTHERS[name].split()
    own = {n: v for n, v in vars(module).items() if n[0] != "_" and _is_made_in(v, module)}
    ops = [n for n, v in own.items() if _is_op(v)]
    made = [n for n, v in own.items() if isinstance(v, FunctionType) and _returns_values(v)]
    return sorted([*ops, *made]) if ops else []


def _is_made_in(value: object, module: ModuleType) -> bool:
    maker = value if isinstance(value, (type, FunctionType)) else type(value)
    return maker.__module__ == module.__name__


def _is_op(value: object) -> bool:
    """Whether it is an op or an instance of one; a class that has subclasses is a family."""
    kind = value if isinstance(value, type) else type(value)
    return issubclass(kind, Op) and not kind.__subclasses__()


def _returns_values(function: FunctionType) -> bool:
    return "Value" in str(function.__annotations__.get("return", ""))


def _import(module: str) -> str:
    """What type checkers read."""
    if module in OTHERS:
        listed = ",\n".join(f"        {n} as {n}" for n in OTHERS[module].split())
        return f"from byparts_opset.{module} import (\n{listed},\n    )"
    return f"from byparts_opset.{module} import *  # noqa: F403"


def _keyword(module: str, names: list[str]) -> str:
    line = f'        {module}="{" ".join(names)}",'
    if len(line) <= 100:
        return line
    rows = fill(" ".join(names), 84).splitlines()
    rows = [f'            "{row} "' for row in rows[:-1]] + [f'            "{rows[-1]}"']
    return "\n".join([f"        {module}=(", *rows, "        ),"])


if __name__ == "__main__":
    write()
