"""The sockets: what a part may provide, and the light records it declares that with.

A part's `plugin.py` *declares*, it does not construct: each record says where the real object
lives, as "package.module:object", so that listing what is installed never imports torch.  The hub
runs that file alone, without its package.

    BYPARTS_API = (1, 0)

    @hookimpl
    def byparts_backends():
        return [Backend("npu", "acme_byparts_npu:make", needs=("acme_npu",))]

    # pyproject.toml
    [project.entry-points."byparts.parts"]
    kernels-npu = "acme_byparts_npu.plugin"

Growing this file: a new hook, or a record field with a default, raises the minor of `API`; taking
anything away raises the major.  A part says the lowest that it needs: 1.1 added commands,
1.2 pictures, 1.3 names, 1.4 kernels.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pluggy

__all__ = [
    "API",
    "GROUP",
    "KINDS",
    "PROJECT",
    "Backend",
    "Command",
    "Frontend",
    "Kernels",
    "Names",
    "Ops",
    "Pass",
    "Picture",
    "Planner",
    "Record",
    "hookimpl",
    "hookspec",
]

PROJECT = "byparts"
GROUP = "byparts.parts"  # entry-point group
API = (1, 4)

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

_LOAD = re.compile(r"\w+(\.\w+)*(:\w+(\.\w+)*)?")


@dataclass(frozen=True, slots=True)
class Record:
    """An object that a part provides, by name.

    Attributes:
        name: what users write.
        load: "module:object", or "module" alone; imported on first use.
        needs: modules that must be findable, e.g. `("torch",)`; looked for without importing them.
        doc: one line for `byparts parts -v`.

    Raises:
        ValueError: `load` has another form, or the name is one that nobody could ask for.
        TypeError: a field of another type; `needs` as one string would be read letter by letter.
    """

    name: str
    load: str
    needs: tuple[str, ...] = ()
    doc: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name in ("", "auto"):
            raise ValueError(f"record {self.name!r}: a name is a text, and neither '' nor 'auto'")
        if not isinstance(self.load, str) or not _LOAD.fullmatch(self.load):
            raise ValueError(f"record {self.name!r}: load is {self.load!r}, not 'module:object'")
        if isinstance(self.needs, str):
            want = f"({self.needs!r},)"
            raise TypeError(f"record {self.name!r}: needs={self.needs!r} is no tuple; write {want}")
        if not isinstance(self.needs, tuple) or {str} < {str, *map(type, self.needs)}:
            raise TypeError(f"record {self.name!r}: needs={self.needs!r} is no tuple of texts")

    def missing(self) -> tuple[str, ...]:
        """Needed modules that are not installed."""
        return tuple(name for name in self.needs if not findable(name.partition(".")[0]))

    def resolve(self) -> Any:
        """Import and return the real object."""
        module, _, path = self.load.partition(":")
        return reduce(getattr, path.split(".") if path else (), import_module(module))


@dataclass(frozen=True, slots=True)
class Ops(Record):
    """A whole op set: `load` names a mapping of op names to op classes."""


@dataclass(frozen=True, slots=True)
class Pass(Record):
    """`load` names a callable from a graph to a graph, or an analysis of one."""


@dataclass(frozen=True, slots=True)
class Planner(Record):
    """`load` names a callable that places values, and workspaces of kernels, in memory.

    `planner(graph, *, external, alignment, donate, kernels)` returns an object with `locations`,
    `arena_bytes` and `workspaces`, for each node the offset of its kernel's workspace.
    `kernels(node)` has `workspace_bytes` and `inplace`.
    """


@dataclass(frozen=True, slots=True)
class Backend(Record):
    """`load` names a callable of no arguments that returns a `byparts_graph_ir.Backend`.

    It raises RuntimeError or OSError where its device is not there; "auto" then tries the next.

    Attributes:
        priority: "auto" takes the highest that start: 0 is NumPy, 10 a library, 20 generated code,
            100 a device; one below 0 is taken where it is named.
        space: the memory it computes in.
    """

    priority: int = 0
    space: str = "host"

    def __post_init__(self) -> None:
        Record.__post_init__(self)  # not `super()`, which `slots` breaks
        if not isinstance(self.priority, int):
            raise TypeError(f"record {self.name!r}: priority={self.priority!r} is no integer")


@dataclass(frozen=True, slots=True)
class Kernels(Record):
    """`load` names a module that registers kernels with the backend whose name the record has.

    It is imported when that backend, of this or another part, first asks for an op that is defined
    in one of the modules `ops`.
    """

    ops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frontend(Record):
    """`load` names the module or function that speaks the API or reads the files of others."""


@dataclass(frozen=True, slots=True)
class Command(Record):
    """`byparts NAME ...`: `load` names a callable of the words behind the name: `list[str]`.

    It gives the exit status: 0 where it did what was asked, 1 where the answer is no, 2 where it
    was asked wrongly.
    """


@dataclass(frozen=True, slots=True)
class Picture(Record):
    """`load` names a function `(graph, layout) -> str` that draws a graph, for `Graph.svg`.

    Its name is the format that it writes, e.g. "svg".
    """


@dataclass(frozen=True, slots=True)
class Names(Record):
    """`load` names a table in a file of a package: "acme_byparts_tf:names.tsv".

    Each line has a name, a tab, and the place of its object, "module:object".  The record's own
    name says whose names they are, e.g. "tf"; any number of parts may add to the same ones.
    """

    def resolve(self) -> dict[str, str]:
        """Read the table; of the package only its `__init__` is imported."""
        package, _, file = self.load.partition(":")
        module: Any = import_module(package)
        path = str(Path(module.__file__).with_name(file))
        text = module.__spec__.loader.get_data(path).decode()  # wheels that are not unpacked, too
        return dict([line.split("\t", 1) for line in text.splitlines()])


KINDS: Mapping[str, type[Record]] = MappingProxyType(
    {
        "ops": Ops,
        "passes": Pass,
        "planners": Planner,
        "backends": Backend,
        "kernels": Kernels,
        "frontends": Frontend,
        "commands": Command,
        "pictures": Picture,
        "names": Names,
    }
)


@hookspec
def byparts_ops() -> Iterable[Ops]:
    """Op sets of this part."""
    return ()


@hookspec
def byparts_passes() -> Iterable[Pass]:
    """Passes and analyses over graphs."""
    return ()


@hookspec
def byparts_planners() -> Iterable[Planner]:
    """Memory planners."""
    return ()


@hookspec
def byparts_backends() -> Iterable[Backend]:
    """Kernel backends."""
    return ()


@hookspec
def byparts_kernels() -> Iterable[Kernels]:
    """Kernels for backends of other parts."""
    return ()


@hookspec
def byparts_frontends() -> Iterable[Frontend]:
    """APIs and importers."""
    return ()


@hookspec
def byparts_commands() -> Iterable[Command]:
    """Commands of `byparts`."""
    return ()


@hookspec
def byparts_pictures() -> Iterable[Picture]:
    """Drawings of graphs."""
    return ()


@hookspec
def byparts_names() -> Iterable[Names]:
    """Names that this part adds to the API of a front-end."""
    return ()


def findable(module: str) -> bool:
    """Whether an import would find it; `find_spec` itself refuses modules made by hand."""
    return sys.modules.get(module) is not None or find_spec(module) is not None
