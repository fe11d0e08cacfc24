"""Finds the installed parts and loads the plugin module of each; one that fails hurts no other.

The metadata of entry points names the modules without an import.  Then each part's `plugin.py` is
run without its package: the `__init__` of a part may import NumPy, and `byparts parts` must not.  A
part that raises, exits, or was made for another API is one line in `byparts parts`.  pluggy's own
`load_setuptools_entrypoints` is not used: it stops at the first part that fails.
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
    """An installed part, and the result of loading its plugin module.

    Attributes:
        name: of its entry point.
        distribution: that it was installed with.
        version: of the distribution.
        state: "ok"; "conflict": usable, but for a name that another part provides too;
            "disabled", "incompatible" or "broken": not usable.
        why: the cause, where the state is not "ok".
        detail: the traceback, where the state is "broken".
        load_s: how long loading took.
        provides: kind -> the records of what it provides, e.g. "passes" -> records of its passes.
        notes: sentences on what it changed or wrote while it was loaded, and should not have.
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
        """Whether `Parts.get` may load what the part provides."""
        return self.state in ("ok", "conflict")


def discover(group: str = GROUP) -> Iterator[Part]:
    """Every installed part, usable or not, in name order, so that all machines list them alike."""
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


def conflict(what: str, owners: list[Part]) -> str:
    """The message that several parts provide `what`; the user chooses which of them to disable.

    Parts of equal names are named by their distributions.
    """
    same = len({part.name for part in owners}) < len(owners)
    choices = " or ".join(part.distribution if same else part.name for part in owners)
    names = " and ".join(part.distribution for part in owners)
    return f"{what} is provided by {names}; set BYPARTS_DISABLE to {choices}"


def _load(plugins: pluggy.PluginManager, entry: EntryPoint, part: Part) -> None:
    """Load the plugin module of a part; write what it provides, or why it fails, to `part`."""
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
    """The object that an entry point names.

    Of "package.module" only the file of the module is run, not the `__init__` of the package.
    """
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
        del sys.modules[name]  # a later import of the package imports the module anew
    return reduce(getattr, attr.split(".") if attr else (), module)


def _api(entry: EntryPoint, module: object) -> tuple[int, int]:
    """The version (major, minor) of the plugin API that the part was made for."""
    version = getattr(module, "BYPARTS_API", None)
    if isinstance(version, tuple) and [type(number) for number in version] == [int, int]:
        return version
    has = f"has BYPARTS_API = {version!r:.60}"
    defines = "does not define BYPARTS_API" if version is None else has
    raise PartError(f"{entry.value} {defines}; write BYPARTS_API = ({API[0]}, 0)")


def _incompatible(part: Part, version: tuple[int, int]) -> str:
    """Why a part that was made for this version of the API cannot be used; "" if it can.

    It can if the major number is that of this API and the minor number is not larger.
    """
    if version[0] == API[0] and version[1] <= API[1]:
        return ""
    stale = "byparts-graph-ir" if version > API else part.distribution
    return (
        f"made for plugin API {version[0]}.{version[1]}, this IR has {API[0]}.{API[1]}: "
        f"{install_command(stale, newer=True)}"
    )


def _declared(plugins: pluggy.PluginManager, key: str) -> dict[str, tuple[Record, ...]]:
    """The records that the hooks of one plugin return, by kind.

    Each hook is called by itself, so that an error names the plugin and the hook.
    """
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
