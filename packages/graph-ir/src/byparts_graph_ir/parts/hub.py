"""The parts of this Python environment, and how to use what they provide.

    from byparts_graph_ir.parts.hub import parts

    fold = parts.get("passes", "fold")
    backend = parts.backend("numpy")

A real module is imported when something of it is asked for, and what is asked for is resolved once:
hooks are for assembly, never on the hot path.  Everything can also be wired by hand, without this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import ModuleType
from typing import Any
from warnings import warn

from byparts_graph_ir.errors import PartError
from byparts_graph_ir.fork import begin, end, make_lock
from byparts_graph_ir.parts.discover import Part, conflict, discover, one_line
from byparts_graph_ir.parts.hooks import GROUP, KINDS, Backend, Frontend, Kernels, Record
from byparts_graph_ir.parts.install import install_command, provider
from byparts_graph_ir.parts.isolate import captured
from byparts_graph_ir.parts.op_sets import OpSets

# What tells a backend from anything else.  The hub does not import `Backend`: a graph asks the hub
# for what draws it, so nothing that imports the graph may be imported here.
BACKEND_HAS = ("name", "view", "kernels", "space")

__all__ = ["Part", "PartError", "Parts", "parts"]


class Parts:
    """All parts of this Python environment, loaded once, on first use.  Thread-safe.

    The lock covers discovery alone: were it held while a heavy module is imported, a thread inside
    that import that asks for the parts would wait for one that waits for the import.
    """

    def __init__(self, group: str = GROUP) -> None:
        self.group = group
        self._lock = make_lock()
        self._discovered: tuple[Part, ...] | None = None
        self._objects: dict[tuple[str, str], Any] = {}
        self._backends: dict[str, Any] = {}
        self._ops: OpSets | None = None

    def all(self) -> tuple[Part, ...]:
        """Every installed part, usable or not, in name order.

        Raises:
            PartError: a part asked for the parts while it was being loaded.
        """
        if self._lock._is_owned():
            raise PartError(
                "a part asks for the parts while it is being loaded; "
                "ask inside the function that its record names"
            )
        with self._lock:
            if self._discovered is None:
                try:
                    begin(self)
                    discovered = tuple(discover(self.group))
                    _mark_conflicts(discovered)
                    self._discovered = discovered
                finally:
                    end(self)
            return self._discovered

    def records(self, kind: str) -> Iterator[tuple[Part, Record]]:
        """Each record of one kind, e.g. "passes", with the usable part that provides it.

        Raises:
            PartError: there is no such kind.
        """
        if kind not in KINDS:
            raise PartError(f"no kind of part {kind!r}; kinds: {', '.join(KINDS)}")
        for part in self.all():
            if part.usable:
                for record in part.provides.get(kind, ()):
                    yield part, record

    def names(self, kind: str) -> tuple[str, ...]:
        """The names of `records(kind)`, sorted."""
        return tuple(sorted({record.name for _, record in self.records(kind)}))

    def record(self, kind: str, name: str) -> tuple[Part, Record]:
        """The record of one kind and name, and the part that provides it; imports nothing.

        Raises:
            PartError: no part provides it, or more than one does.
        """
        candidates = [(part, record) for part, record in self.records(kind) if record.name == name]
        if len(candidates) > 1:
            what = f"{_word(kind)} {name!r}"
            raise PartError(conflict(what, [part for part, _ in candidates]))
        if not candidates:
            raise PartError(self._missing(kind, name))
        return candidates[0]

    def get(self, kind: str, name: str) -> Any:
        """Import and return one provided object, e.g. `parts.get("passes", "fold")`.

        Raises:
            PartError: nobody provides it, two do, or it cannot be imported.
        """
        if (kind, name) not in self._objects:
            part, record = self.record(kind, name)
            self._objects[kind, name] = resolve(kind, part, record)
        return self._objects[kind, name]

    def ops(self) -> OpSets:
        """The ops of every op set, by name.

        A name that two op sets give to different ops is a PartError when it is looked up.
        """
        if self._ops is None:
            sets, failures = [], []
            for part, record in self.records("ops"):
                try:
                    sets.append((part, resolve("ops", part, record)))
                except PartError as error:
                    failures.append(str(error))
            self._ops = OpSets(sets, failures)
        return self._ops

    def backend(self, name: str = "auto") -> Any:
        """A backend by name, started once; "auto" is the one of highest priority that starts.

        Raises:
            PartError: the backend does not start; for "auto": none does, with the cause for each.
        """
        if name != "auto":
            return self._start(name)
        why: list[str] = []
        for backend in self._working(sorted(self.records("backends"), key=_rank), why):
            return backend
        raise self._none_starts(why)

    def backends(self) -> tuple[tuple[Any, ...], tuple[str, ...]]:
        """All that start, in the memory space of the best one, best first; why others do not.

        A backend of negative priority is for who names it.

        Raises:
            PartError: none starts, with the cause for each.
        """
        ranked = [r for r in sorted(self.records("backends"), key=_rank) if _rank(r)[0] <= 0]
        why: list[str] = []
        working = self._working(ranked, why)
        best = next(working, None)
        if best is None:
            raise self._none_starts(why)
        return (best, *[b for b in working if b.space.name == best.space.name]), tuple(why)

    def forget(self, name: str) -> None:
        """Forget a backend that was started, if it was: the next question starts it anew.

        For who changes what a backend reads when it starts, as an environment variable.
        """
        self._backends.pop(name, None)

    def _working(self, ranked: list[tuple[Part, Record]], why: list[str]) -> Iterator[Any]:
        """Each of these backends that starts; `why` gets a sentence for each other one."""
        started: Any = None
        for candidate in dict.fromkeys(record.name for _, record in ranked):
            records = [r for _, r in ranked if r.name == candidate]
            if started and all(getattr(r, "space", "") != started.space.name for r in records):
                continue  # it would not be taken
            try:
                backend = self._start(candidate)
            except PartError as error:  # e.g. no GPU: the next one may do
                why.append(str(error))
                if len(records) > 1:  # no reason of a device
                    warn(f"going on without it: {error}", RuntimeWarning, stacklevel=4)
            else:
                started = started or backend
                yield backend

    def _none_starts(self, why: list[str]) -> PartError:
        none = [f"none is installed: {install_command('byparts-kernels-numpy')}"]
        causes = "".join(f"\n  {cause}" for cause in why or none)
        return PartError("no backend starts:" + causes + self._unusable())

    def without(self, kind: str, name: str) -> str:
        """The wheel for devices that leaves out what its full wheel provides; "" if none does."""
        for part in self.all():
            if name in part.left_out.get(kind, ()):
                return f"the device wheel {part.distribution} {part.version}"
        return ""

    def _missing(self, kind: str, name: str) -> str:
        """Why no installed part provides a name, and what to install or to write instead."""
        what = f"{_word(kind)} {name!r}"
        if wheel := self.without(kind, name):
            return f"{what} is left out of {wheel}; the full wheel has it"
        names = self.names(kind)
        near = get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        have = ", ".join(names) or "none"
        whose = provider(kind, name)
        if whose and all(part.distribution != whose for part in self.all()):
            hint = f"; it comes with {whose}: {install_command(whose)}"
        return f"no {what}; installed: {have}{hint}{self._unusable()}"

    def _start(self, name: str) -> Any:
        if name not in self._backends:
            make = self.get("backends", name)
            backend = start(*self.record("backends", name), make)
            for _, record in self.records("kernels"):
                if record.name == name and isinstance(record, Kernels) and not record.missing():
                    backend.kernels.look_in(record.load, record.ops)
            self._backends.setdefault(name, backend)
        return self._backends[name]

    def _unusable(self) -> str:
        """A line for each part that might have had what is missing."""
        return "".join(
            f"\n  {p.name} ({p.distribution} {p.version}) is {p.state}: {p.why}"
            for p in self.all()
            if not p.usable
        )


def resolve(kind: str, part: Part, record: Record) -> Any:
    """Import and return what a record names.

    Raises:
        PartError: a module that it needs is missing, it cannot be imported, or it is no such thing.
    """
    what = f"{_word(kind)} {record.name!r} of {part.distribution}"
    if missing := record.missing():
        raise PartError(f"{what} needs {', '.join(missing)}: {_install(missing)}")
    try:
        begin(what)
        with captured(part.notes):
            provided = record.resolve()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PartError(f"{what} cannot be loaded from {record.load}: {one_line(error)}") from error
    finally:
        end(what)
    if kind == "ops" and not isinstance(provided, Mapping):
        raise PartError(f"{what}: {record.load} is no mapping of names to ops: {provided!r:.80}")
    if (
        kind not in ("ops", "names", "kernels")
        and not callable(provided)
        and not _is_frontend(kind, provided)
    ):
        raise PartError(f"{what}: {record.load} is {provided!r:.80}; name a function")
    return provided


def start(part: Part, record: Record, make: Any) -> Any:
    """Call the function that makes a backend.

    Raises:
        PartError: it raises, or gives something else.
    """
    what = f"backend {record.name!r} of {part.distribution}"
    try:
        begin(what)
        with captured(part.notes):
            backend = make()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PartError(f"{what} does not start: {one_line(error)}") from error
    finally:
        end(what)
    # Not `hasattr`: to read a field may import the rest of the backend.
    known = {*dir(backend), *getattr(type(backend), "__match_args__", ())}
    if isinstance(backend, type) or not known.issuperset(BACKEND_HAS):
        raise PartError(f"{what}: {no_backend(record, repr(backend))}")
    return backend


def no_backend(record: Record, returned: str) -> str:
    """The error message for a function that returns no backend; says what to write."""
    how = f"end it with return byparts_graph_ir.Backend({record.name!r}, view, kernels)"
    return f"{record.load} returns {returned:.80}; {how}"


def _is_frontend(kind: str, provided: object) -> bool:
    return KINDS[kind] is Frontend and isinstance(provided, ModuleType)


def _install(modules: tuple[str, ...]) -> str:
    first, *rest = map(install_command, modules)
    return " ".join([first, *(command.removeprefix("pip install ") for command in rest)])


def _mark_conflicts(parts: tuple[Part, ...]) -> None:
    """Mark each part that provides a name which another part provides too."""
    owners: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        for kind, records in part.provides.items():
            # Tables of names of several parts are merged, and kernels for a backend of each.
            for record in records if kind not in ("names", "kernels") else ():
                owners.setdefault((kind, record.name), []).append(part)
    for (kind, name), providers in owners.items():
        for part in providers if len(providers) > 1 else ():
            why = conflict(f"{_word(kind)} {name!r}", providers)
            part.state, part.why = "conflict", "; and ".join(filter(None, (part.why, why)))


def _rank(candidate: tuple[Part, Record]) -> tuple[int, str]:
    record = candidate[1]
    return (-record.priority if isinstance(record, Backend) else 0, record.name)


def _word(kind: str) -> str:
    return KINDS[kind].__name__.lower()


parts = Parts()
