"""The table of `byparts check` as lines of at most 100 columns: ops down, ways to try them across.

A cell is one short word, so the names of the columns stand on two lines:

    op       basic     empty     f64       integer   strided   edges
                  0-d       broadcast half      rare      in place  long
    add      ok   ok   ok   ok   ok   ok   ok   -    ok   ok   ok   ok
    relu     FAIL FAIL ok   ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from textwrap import fill

from byparts_conformance.cases import COLUMNS

Row = Mapping[str, str]  # column -> what was found, "" where the op has no such case

LONGEST = 79  # characters of a line that is overwritten
WIDE = 5  # characters of a cell with the space behind it
NAMED = 8  # absent ops are named where there are no more than these
LEGEND = {
    "via": "via: by what the op is made of",
    "some": "some: of the dtypes or shapes",
    "-": "-: absent",
}


def header(width: int) -> list[str]:
    """The names of the columns, behind room for the names of ops."""
    upper = "".join(f"{column:{2 * WIDE}}" for column in COLUMNS[::2])
    lower = "".join(f"{column:{2 * WIDE}}" for column in COLUMNS[1::2])
    return [f"{'op':{width}} {upper}".rstrip(), f"{'':{width}} {'':{WIDE}}{lower}".rstrip()]


def line(op: str, row: Row, width: int) -> str:
    """The row of one op."""
    cells = "".join(f"{_word(row.get(column, '')):{WIDE}}" for column in COLUMNS)
    return f"{op:{width}} {cells}".rstrip()


def sentence(rows: Mapping[str, Row]) -> str:
    """Count the ops that are right, wrong and absent."""
    kinds = {op: kind(row) for op, row in rows.items()}
    wrong = [op for op, found in kinds.items() if found == "FAIL"]
    counts = Counter(kinds.values())
    named = f" ({', '.join(wrong)})" if wrong else ""
    made_of_others = counts["via decompose"] + counts["via bodies"]
    return (
        f"{counts['ok'] + counts['some'] + made_of_others} of {len(rows)} ops right, "
        f"{made_of_others} of them decomposed; {len(wrong)} wrong{named}, "
        f"{counts['-']} absent"
    )


def kind(row: Row) -> str:
    """The worst outcome of an op.  "-" counts only if the op is absent everywhere."""
    found = set(row.values())
    return next(
        (k for k in ("FAIL", "ok", "some", "via bodies", "via decompose", "-") if k in found), "-"
    )


def legend(rows: Mapping[str, Row]) -> list[str]:
    """Explain the words that occur in these rows."""
    words = {_word(found) for row in rows.values() for found in row.values()}
    said = [meaning for word, meaning in LEGEND.items() if word in words]
    return ["; ".join(said)] if said else []


def absent(rows: Mapping[str, Row], everything: bool) -> list[str]:
    """The ops that the backend has in no way: their names, or how to have them named."""
    names = [op for op, row in rows.items() if kind(row) == "-"]
    if len(names) > NAMED and not everything:
        return [f"absent: {len(names)} ops; --everything tries and names them"]
    return _wrapped(f"absent: {', '.join(names)}") if names else []


def also(rules: Mapping[str, str]) -> list[str]:
    """The rules of `backend_rules.py`, each with "ok" or what is wrong."""
    width = max(map(len, rules), default=0)
    said = [f"also: {rule:{width}}  {found}" for rule, found in rules.items()]
    return [line for rule in said for line in _wrapped(rule)]


def meaning(tried: Iterable[str], wrong: Iterable[str]) -> list[str]:
    """A line about the ops that were compared with themselves."""
    tried, wrong = set(tried), sorted(set(wrong))
    named = f"{len(wrong)} wrong ({', '.join(wrong)})" if wrong else "ok"
    return [f"meaning: {len(tried)} ops tried without a backend, {named}"] if tried else []


def _wrapped(text: str) -> list[str]:
    return fill(text, 80, subsequent_indent="  ").splitlines()


def _word(found: str) -> str:
    """The word for a cell: "via decompose" is "via"."""
    return found.partition(" ")[0]
