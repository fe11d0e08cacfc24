"""Finds the installed parts, each loaded alone, and records what became of it.

Entry-point metadata first (no import), then each part's `plugin.py`, run without the package around
it: the `__init__` of a part may import NumPy, a listing must not.  A part that raises, exits, or
was made for another API becomes one line in `byparts parts` and disturbs no other; pluggy's own
`load_setuptools_entrypoints` and its multicall stop at the first bad one.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

import pluggy

from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts import hooks
from byparts_graph_ir.parts.entry_points import EntryPoint, entry_points
from byparts_graph_ir.parts.hooks import API, GROUP, KINDS, PROJECT, Record
from byparts_graph_ir.parts.install import install_command
from byparts_graph_ir.parts.isolate import captured, restored


@dataclass
class Part:
    """One installed plugin and what became of it.

    Attributes:
        state: "ok"; "conflict": usable, but for a name that another part provides too;
            "disabled", "incompatible" or "broken": not usable.
        why: the cause, where the state is not "ok".
        detail: the traceback of a broken one.
        notes: what it did while it was loaded that it should not have done.
        left_out: kind -> names that the full wheel provides and this one, for devices, does not.
    """

    name: str
    distribution: str
    version: str
    state: str = "ok"
    why: str = ""
    detail: str = ""
    load_s: float = 0.0
    provides: dict[str, tuple[Record, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether what it provides can be asked for."""
        return self.state in ("ok", "conflict")


def discover(group: str = GROUP) -> Iterator[Part]:
    """Every installed part, usable or not, in name order; paths are not stable between machines."""
    plugins = pluggy.PluginManager(PROJECT)
    plugins.add_hookspecs(hooks)
    off, only = switch("BYPARTS_DISABLE"), switch("BYPARTS_ONLY")
    for entry in entry_points(group):
        part = Part(entry.name, entry.distribution, entry.version)
        names = {part.name, part.distribution}
        if names & off or (only and not names & only):
            part.state = "disabled"
            part.why = "by BYPARTS_DISABLE" if names & off else "not in BYPARTS_ONLY"
        else:
            _load(plugins, entry, part)
        yield part


def switch(variable: str) -> set[str]:
    """The names in a comma-separated environment variable: of parts or of distributions."""
    return {name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()}


def one_line(error: BaseException) -> str:
    """Type and message, short enough for a table."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300].removesuffix(": ")


def conflict(what: str, who: list[Part]) -> str:
    """Which of them to switch off is the user's choice; equal names are told by distribution."""
    same = len({part.name for part in who}) < len(who)
    choices = " or ".join(part.distribution if same else part.name for part in who)
    names = " and ".join(part.distribution for part in who)
    return f"{what} is provided by {names}; set BYPARTS_DISABLE to {choices}"


def _load(plugins: pluggy.PluginManager, entry: EntryPoint, part: Part) -> None:
    start = time.perf_counter()
    key = f"{part.distribution}:{part.name}"
    try:
        with captured(part.notes), restored(part.notes):
            module = _plugin(entry)
            part.why = _incompatible(part, _api(entry, module))
            if part.why:
                part.state = "incompatible"
                return
            plugins.register(module, key)
            plugins.check_pending()  # a hook nobody declared is a typo
            part.provides = _declared(plugins, key)
            part.left_out = getattr(module, "LEFT_OUT", {})
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a part must never take the others down, nor end the process
        part.state, part.why, part.detail = "broken", one_line(error), traceback.format_exc()
        if plugins.has_plugin(key):
            plugins.unregister(name=key)
    finally:
        part.load_s = time.perf_counter() - start


def _plugin(entry: EntryPoint) -> object:
    """What the entry point names; of "package.module", only the module is run."""
    name, attr = entry.split()
    package, _, rest = name.partition(".")
    parent = find_spec(package) if rest and "." not in rest else None
    if parent is None or name in sys.modules:
        return entry.load()
    spec = PathFinder.find_spec(name, parent.submodule_search_locations)
    if spec is None or spec.loader is None:
        return entry.load()  # which says what is missing
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]  # a later import of the package makes its own, whole
    return reduce(getattr, attr.split(".") if attr else (), module)


def _api(entry: EntryPoint, module: object) -> tuple[int, int]:
    """The version of the plugin API that the part was made for."""
    wants = getattr(module, "BYPARTS_API", None)
    if isinstance(wants, tuple) and [type(number) for number in wants] == [int, int]:
        return wants
    defines = "does not define BYPARTS_API" if wants is None else f"has BYPARTS_API = {wants!r:.60}"
    raise PartError(f"{entry.value} {defines}; write BYPARTS_API = ({API[0]}, 0)")


def _incompatible(part: Part, wants: tuple[int, int]) -> str:
    """Why a part made for this API cannot be used; "" if majors agree and its minor is known."""
    if wants[0] == API[0] and wants[1] <= API[1]:
        return ""
    stale = "byparts-graph-ir" if wants > API else part.distribution
    return (
        f"made for plugin API {wants[0]}.{wants[1]}, this IR has {API[0]}.{API[1]}: "
        f"{install_command(stale, newer=True)}"
    )


def _declared(plugins: pluggy.PluginManager, key: str) -> dict[str, tuple[Record, ...]]:
    """What one plugin's hooks return, asked one by one, so that blame is exact."""
    provides: dict[str, tuple[Record, ...]] = {}
    for kind, expected in KINDS.items():
        for hook in getattr(plugins.hook, f"{PROJECT}_{kind}").get_hookimpls():
            if hook.plugin_name == key:
                provides[kind] = _checked(kind, expected, hook.function())
    return {kind: records for kind, records in provides.items() if records}


def _checked(kind: str, expected: type[Record], returned: object) -> tuple[Record, ...]:
    records = tuple(returned) if isinstance(returned, Iterable) else (returned,)
    for i, record in enumerate(records):
        if not isinstance(record, expected):
            want = f"hooks.{expected.__name__}"
            raise PartError(f"hook {PROJECT}_{kind} must give {want} records, not {record!r}")
        if any(record.name == other.name for other in records[:i]):
            raise PartError(f"hook {PROJECT}_{kind} gives {record.name!r} twice")
    return records
