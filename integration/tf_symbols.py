"""Write the tables of TensorFlow's symbols, and the page that lists them.

    python integration/tf_symbols.py        # after adding a symbol; a test says when it is stale

The page has every symbol that 1,871 public programs use (`packages/frontend-tf/tests/data`), in the
order in which adding them makes most programs whole, and whether it is here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import byparts_frontend_tf as tf
from byparts_frontend_tf import names
from byparts_frontend_tf.written_names import text, write
from byparts_graph_ir.parts.hooks import Names

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("frontend-tf", "tf-input", "tf-keras", "tf-estimator", "tf-contrib")
USED = ROOT / "packages/frontend-tf/tests/data/symbols.csv"
PAGE = ROOT / "docs/tf1-symbols.md"


def is_here(symbol: str) -> bool:
    """Whether `tf.symbol` is found."""
    found: object = tf
    try:
        for part in symbol.split("."):
            found = getattr(found, part)
    except AttributeError:
        return False
    return True


def page() -> str:
    """What `docs/tf1-symbols.md` is."""
    return "\n".join([*_lines(), ""])


def _lines() -> Iterator[str]:
    with USED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    here = {row["symbol"]: is_here(row["symbol"]) for row in rows}
    yield "# TensorFlow 1's symbols"
    yield ""
    yield "Written by `python integration/tf_symbols.py`; a test says when it is stale."
    yield ""
    first = sum([here[row["symbol"]] for row in rows[:400]])
    count = sum(here.values())
    yield f"{count} of the {len(rows)} symbols that 1,871 public programs use are here, and {first}"
    yield "of the first 400 in the order in which adding symbols makes most programs whole (the"
    yield "number). Another name is an `AttributeError` that says the nearest. What is missing is"
    yield "struck."
    for theme in dict.fromkeys([row["theme"] for row in rows]):
        own = [row for row in rows if row["theme"] == theme]
        yield ""
        yield f"## {theme}"
        yield ""
        for row in own:
            name = f"`tf.{row['symbol']}`"
            yield (
                f"- {name} {row['order']}"
                if here[row["symbol"]]
                else f"- ~~{name}~~ {row['order']}"
            )


def parts_of_names() -> dict[str, str]:
    """A name, or a namespace all of whose names one part gives, -> that part, if it is another."""
    owners = {
        name: "byparts-" + part
        for part in PARTS[1:]
        for name in Names("tf", f"{module(part)}:names.tsv").resolve()
    }
    spaces: dict[str, set[str]] = {}
    for name in [*owners, *names.own()]:
        for space in _spaces_around(name):
            spaces.setdefault(space, set()).add(owners.get(name, ""))
    whole = {space: min(owner) for space, owner in spaces.items() if len(owner) == 1}
    rows = {**{name: part for name, part in whole.items() if part}, **owners}
    inner = {name for name in rows if any(space in whole for space in _spaces_around(name))}
    return dict(sorted((name, part) for name, part in rows.items() if name not in inner))


def _spaces_around(name: str) -> list[str]:
    return [name[:i] for i, letter in enumerate(name) if letter == "."]


def module(part: str) -> str:
    """The package of a part."""
    return "byparts_" + part.replace("-", "_")


if __name__ == "__main__":
    for part in PARTS:
        write(module(part))
    Path(tf.__file__).with_name("parts.tsv").write_text(text(parts_of_names()), encoding="utf-8")
    for read in (names.own, names.table):
        read.cache_clear()  # what was written now
    PAGE.write_text(page(), encoding="utf-8")
