"""The parts of this Python environment, and how to use what they provide.

    from byparts_graph_ir.hub import parts

    fold = parts.get("passes", "fold")
    backend = parts.backend("numpy")

A real module is imported when something of it is asked for, and what is asked for is resolved once:
hooks are for assembly, never on the hot path.  Everything can also be wired by hand, without this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from threading import RLock
from typing import Any

from byparts_graph_ir.discover import Part, PartError, discover, one_line
from byparts_graph_ir.hooks import GROUP, KINDS, Backend, Record

__all__ = ["Part", "PartError", "Parts", "parts", "table"]


class Parts:
    """All parts of this Python environment, loaded once, on first use.  Thread-safe.

    The lock covers discovery alone: were it held while a heavy module is imported, a thread inside
    that import that asks for the parts would wait for one that waits for the import.
    """

    def __init__(self, group: str = GROUP) -> None:
        self.group = group
        self._lock = RLock()
        self._loading = False
        self._found: tuple[Part, ...] | None = None
        self._objects: dict[tuple[str, str], Any] = {}
        self._backends: dict[str, Any] = {}

    def all(self) -> tuple[Part, ...]:
        """Every installed part, usable or not, in name order.

        Raises:
            PartError: a part asked for the parts while it was being loaded.
        """
        with self._lock:
            if self._loading:
                raise PartError(
                    "a part asks for the parts while it is being loaded; "
                    "ask inside the function that its record names"
                )
            if self._found is None:
                self._found = self._discover()
            return self._found

    def records(self, kind: str) -> Iterator[tuple[Part, Record]]:
        """What the usable parts provide of one kind, e.g. "passes"."""
        if kind not in KINDS:
            raise PartError(f"no kind of part {kind!r}; kinds: {', '.join(KINDS)}")
        for part in self.all():
            if part.state == "ok":
                for record in part.provides.get(kind, ()):
                    yield part, record

    def names(self, kind: str) -> tuple[str, ...]:
        """Their names, sorted."""
        return tuple(sorted({record.name for _, record in self.records(kind)}))

    def get(self, kind: str, name: str) -> Any:
        """Import and return one provided object, e.g. `parts.get("passes", "fold")`.

        Raises:
            PartError: nobody provides it, two do, or it cannot be imported.
        """
        if (kind, name) not in self._objects:
            part, record = self._one(kind, name)
            self._objects[kind, name] = _resolve(part, record)
        return self._objects[kind, name]

    def ops(self) -> dict[str, type]:
        """The ops of every op set, by name.

        Raises:
            PartError: two op sets mean different ops by one name, or one cannot be imported.
        """
        merged: dict[str, type] = {}
        owners: dict[str, Part] = {}
        for part, record in self.records("ops"):
            for name, op in self._op_set(part, record).items():
                if merged.setdefault(name, op) is not op:
                    raise PartError(_conflict(f"op {name!r}", [owners[name], part]))
                owners.setdefault(name, part)
        return merged

    def backend(self, name: str = "auto") -> Any:
        """A backend that started, made once; "auto" is the one of highest priority that starts.

        Raises:
            PartError: it does not start; for "auto", none does, and why for each.
        """
        if name != "auto":
            return self._start(name)
        ranked = sorted(self.records("backends"), key=_rank)
        why = []
        for candidate in dict.fromkeys(record.name for _, record in ranked):
            try:
                return self._start(candidate)
            except PartError as error:  # e.g. no GPU: the next one may do
                why.append(f"\n  {error}")
        none = "\n  none is installed: pip install byparts-kernels-numpy"
        raise PartError("no backend starts:" + ("".join(why) or none) + self._unusable())

    def _discover(self) -> tuple[Part, ...]:
        self._loading = True
        try:
            return tuple(discover(self.group))
        finally:
            self._loading = False

    def _one(self, kind: str, name: str) -> tuple[Part, Record]:
        found = [(part, record) for part, record in self.records(kind) if record.name == name]
        what = f"{_word(kind)} {name!r}"
        if len(found) > 1:
            raise PartError(_conflict(what, [part for part, _ in found]))
        if not found:
            names = self.names(kind)
            near = get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            have = ", ".join(names) or "none"
            raise PartError(f"no {what}; installed: {have}{hint}{self._unusable()}")
        return found[0]

    def _op_set(self, part: Part, record: Record) -> Mapping[str, type]:
        ops = _resolve(part, record)
        if not isinstance(ops, Mapping):
            what = f"ops {record.name!r} of {part.distribution}"
            raise PartError(f"{what}: {record.load} is no mapping of names to ops: {ops!r:.80}")
        return ops

    def _start(self, name: str) -> Any:
        if name not in self._backends:
            make = self.get("backends", name)
            try:
                made = make()
            except (Exception, SystemExit) as error:
                part, _ = self._one("backends", name)
                raise PartError(
                    f"backend {name!r} of {part.distribution} does not start: {one_line(error)}"
                ) from error
            self._backends.setdefault(name, made)
        return self._backends[name]

    def _unusable(self) -> str:
        """A line for each part that might have had what is missing."""
        return "".join(
            f"\n  {p.name} ({p.distribution} {p.version}) is {p.state}: {p.why}"
            for p in self.all()
            if p.state != "ok"
        )


def table(found: Iterable[Part]) -> str:
    """The parts as text; `*` marks what needs a module that is not installed."""
    rows = [("part", "version", "state", "ms", "provides")]
    for p in found:
        text = _provided(p) if p.state == "ok" else p.why
        rows.append((p.name, p.version, p.state, f"{p.load_s * 1e3:.1f}", text))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ("  ".join([*map(str.ljust, row[:4], widths), row[4]]).rstrip() for row in rows)
    return "\n".join(lines)


def _provided(part: Part) -> str:
    return "; ".join(
        f"{kind}: " + ", ".join(r.name + "*" * bool(r.missing()) for r in records)
        for kind, records in part.provides.items()
    )


def _resolve(part: Part, record: Record) -> Any:
    what = f"{type(record).__name__.lower()} {record.name!r} of {part.distribution}"
    if missing := record.missing():
        raise PartError(f"{what} needs {', '.join(missing)}: pip install {' '.join(missing)}")
    try:
        return record.resolve()
    except (Exception, SystemExit) as error:
        raise PartError(f"{what} cannot be loaded from {record.load}: {one_line(error)}") from error


def _conflict(what: str, who: list[Part]) -> str:
    """Which of them to switch off is the user's choice; equal names are told by distribution."""
    same = len({part.name for part in who}) < len(who)
    choices = " or ".join(part.distribution if same else part.name for part in who)
    names = " and ".join(part.distribution for part in who)
    return f"{what} is provided by {names}; set BYPARTS_DISABLE to {choices}"


def _rank(found: tuple[Part, Record]) -> tuple[int, str]:
    record = found[1]
    return (-record.priority if isinstance(record, Backend) else 0, record.name)


def _word(kind: str) -> str:
    return KINDS[kind].__name__.lower()


parts = Parts()
