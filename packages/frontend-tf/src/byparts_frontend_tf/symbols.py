"""The names of TensorFlow's API: how a module says them, and how a program's access finds them.

    @symbol("nn.relu")                     # in a module of `api/`: this is tf.nn.relu
    def relu(features, name=None): ...

    SYMBOLS = {"AUTO_REUSE": "AUTO_REUSE"}  # likewise, of objects that are no functions or classes

`python tools/tf_symbols.py` writes them all into `names.tsv` (`names.py`), and from there a
name is found without importing more than the module it is in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Optional, TypeVar

from byparts_frontend_tf.names import PACKAGE, is_space, place, provider, table

F = TypeVar("F")
MARKED: list[tuple[str, str, str]] = []  # symbol, module, name in it


def symbol(*names: str) -> Callable[[F], F]:
    """The function or class below is these names of TensorFlow's, without the "tf."."""

    def mark(given: F) -> F:
        found: Any = given
        MARKED.extend([(name, found.__module__, found.__qualname__) for name in names])
        return given

    return mark


class Namespace(ModuleType):
    """A part of the API, such as `tf.nn`: its names are found when they are first used."""

    def __init__(self, name: str, prefix: str) -> None:
        super().__init__(name, f"TensorFlow's tf.{prefix}.")
        self.__dict__.update(_prefix=prefix, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # `from tensorflow.keras.layers import *`
            return names_in(self._prefix)
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return resolve(self, self._prefix, name)

    def __dir__(self) -> list[str]:
        return names_in(self._prefix)


def resolve(module: ModuleType, prefix: str, name: str) -> Any:
    """The object that is `name` in the namespace `prefix` ("" is `tf` itself), kept in `module`.

    Raises:
        AttributeError: there is none; the message names the nearest that there is.
    """
    from byparts_frontend_tf.inside import is_namespace, place_of

    full = f"{prefix}.{name}" if prefix else name
    where = place_of(full)
    found: Any
    if where is not None:
        found = _at(where)
    elif is_namespace(full) and not _absent(full):
        found = import_module(f"{module.__name__}.{name}")
    else:
        raise AttributeError(Missing(full))
    setattr(module, name, found)
    return found


def named(name: str) -> Any:
    """The object that is `tf.NAME`, from whichever module gives it, imported now.

    Raises:
        AttributeError: there is none.
    """
    where = place(name)
    if where is None:
        raise AttributeError(Missing(name))
    return _at(where)


def _at(where: str) -> Any:
    """The object "module:name"."""
    module_name, _, attribute = where.partition(":")
    found: Any = import_module(module_name)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def names_in(prefix: str) -> list[str]:
    """The names in a namespace, sorted."""
    start = f"{prefix}." if prefix else ""
    found = {s[len(start) :].partition(".")[0] for s in table() if s.startswith(start)}
    for inside, public in _PUBLIC.items():
        if start.startswith(inside):
            found.update(names_in(public + start[len(inside) : -1]))
    return sorted(found)


# Parts of the inside and of other versions whose names are those of a public part.
_PUBLIC = {
    "compat.v1.": "",
    "python.keras.": "keras.",
    "contrib.keras.": "keras.",
    "python.ops.rnn_cell.": "nn.rnn_cell",
    "python.ops.rnn_cell_impl.": "nn.rnn_cell",
}


def _absent(full: str) -> str:
    """The part that gives a namespace, or a name in one, and is not installed; "": none does."""
    if is_space(full):
        return ""
    part = provider(full)
    for inside, public in {**_PUBLIC, "compat.v2.": ""}.items():
        if not part and f"{full}.".startswith(inside):
            below = full[len(inside) :]
            name = f"{public.removesuffix('.')}.{below}".strip(".")
            part = "" if is_space(name) else provider(name)
    return part


class Missing:
    """The message for a name that is not here; the nearest name is looked for when it is read.

    That takes 0.1 s, and whoever asks `hasattr(tf, name)` reads no message: programs that run on
    several versions of TensorFlow do, and pytest does for each file of tests that imports `tf`.
    """

    def __init__(self, full: str) -> None:
        self._full = full

    def __str__(self) -> str:
        return _missing(self._full)


def _missing(full: str) -> str:
    from difflib import get_close_matches  # only for a message

    if part := _absent(full):
        from byparts_graph_ir.parts.install import install_command

        return f"tf.{full} is in {part}, which is not installed: {install_command(part)}"

    last = full.rpartition(".")[2]
    same = sorted([s for s in table() if s.rpartition(".")[2] == last])
    alike = [] if same else get_close_matches(last, {s.rpartition(".")[2] for s in table()}, 1)
    same = same or sorted([s for s in table() if s.rpartition(".")[2] in alike], key=len)
    near = same or get_close_matches(full, table(), 1, cutoff=0.0)
    return f"tf.{full} is not here; the nearest that is: tf.{near[0]}" if near else f"tf.{full}"


# Modules and folders of this part: no namespaces of the API, and imported before names are read.
_OWN = frozenset(
    (
        *("absl_modules", "api", "assembly", "graph", "inside", "names", "node_defs", "old_names"),
        *("old_numpy", "plugin", "running", "symbols", "written_names", "__main__"),
    )
)


class NamespaceFinder(MetaPathFinder, Loader):
    """Lets `import byparts_frontend_tf.nn` work: a namespace of the API is a module.

    Args:
        package: the name that stands for `tf`.
    """

    def __init__(self, package: str = PACKAGE) -> None:
        self._package = package

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        """Find a namespace for Python's import, which asks here after all others."""
        package, _, full = name.partition(".")
        if package != self._package or full.partition(".")[0] in _OWN:
            return None
        from byparts_frontend_tf.inside import is_namespace

        if _absent(full):
            raise ModuleNotFoundError(_missing(full), name=name)
        return ModuleSpec(name, self, is_package=True) if is_namespace(full) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A namespace; the same one under each name of the package."""
        name = spec.name.partition(".")[2]
        if self._package != PACKAGE:
            return import_module(f"{PACKAGE}.{name}")
        return Namespace(spec.name, name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: names are found when they are used."""


def install_namespaces() -> None:
    """Let namespaces be imported as modules; once."""
    if not any(isinstance(finder, NamespaceFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, NamespaceFinder())  # before folders of this part of such a name


def install_as(name: str) -> None:
    """Let `import name` and `import name.nn` give this part; `name` is "tensorflow", mostly."""
    sys.modules[name] = import_module(PACKAGE)
    sys.meta_path.insert(0, NamespaceFinder(name))
