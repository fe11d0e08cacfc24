"""Write the tables of TensorFlow's symbols, and the page that lists them.

    python tools/tf_symbols.py        # after adding a symbol; a test says when it is stale

One page has every symbol that 1,871 public programs use (`packages/frontend-tf/tests/data`), in the
order in which adding them makes most programs whole, and whether it is here.  The other says in
which file of `api/` each name is.
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
WHERE = ROOT / "packages/frontend-tf/SYMBOLS.md"
OUTSIDE = (
    "python.",
    "contrib.",
)  # names of the inside and of contrib: beside what they are used with
# Namespaces that are in the folder of another, because they are small or accepted alone.
ELSEWHERE = {"autograph": "compat", "xla": "compat", "resource_loader": "sysconfig"}

WHERE_HEAD = """# Where to find a symbol

Written by `python tools/tf_symbols.py`; a test says when it is stale. All names of TensorFlow are
in `names.tsv`; those of this part are in `src/byparts_frontend_tf/api/`:

- `tf.NAMESPACE.name` is in the folder or file of the namespace: `tf.nn.conv2d` in `nn/`,
  `tf.audio.decode_wav` in `audio.py`. A test keeps this true for each name that is in namespaces
  alone; `autograph` and `xla` are in `compat/`, `resource_loader` is in `sysconfig.py`.
- `tf.name` that a namespace has, too, is there: `tf.exp` is `tf.math.exp`. Variables and scopes are
  in `variables/`, what is accepted or refused of other versions in `compat/`.
- Other names are in files that are called after them: `tf.gather_nd` in `gather.py`.
- Names of `contrib` and of TensorFlow's inside stand beside what they are used with, or in
  `python/`.
- `tf.data`, `tf.keras`, `tf.layers`, `tf.estimator`, `tf.contrib` and what belongs to them are of
  [other parts](README.md#parts-beside-this-one); `tf.Session` is in `running/`, `tf.Graph` in
  `graph/`.
"""


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
    yield "Written by `python tools/tf_symbols.py`; a test says when it is stale."
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


def files() -> dict[str, dict[str, list[str]]]:
    """File of `api/`, as "nn/conv" -> object -> TensorFlow's names of it."""
    start = "byparts_frontend_tf.api."
    result: dict[str, dict[str, list[str]]] = {}
    for name, place in names.own().items():
        if place.startswith(start):
            file, _, attribute = place.removeprefix(start).replace(".", "/").partition(":")
            result.setdefault(file, {}).setdefault(attribute, []).append(name)
    return dict(sorted(result.items()))


def misplaced() -> list[str]:
    """Objects that are not in the folder of a namespace that they are in: none."""
    return [
        f"{file}.py: {attribute} is tf.{', tf.'.join(found)}"
        for file, objects in files().items()
        for attribute, found in objects.items()
        if (spaces := _spaces_to_look_in(found)) and file.partition("/")[0] not in spaces
    ]


def _spaces_to_look_in(found: list[str]) -> set[str]:
    """Folders and files where somebody looks for an object; none: the page says the file."""
    spaces = [name.partition(".")[0] for name in found if "." in name]
    if any("." not in name for name in found):  # `tf.gather`, which no namespace has
        return set()
    return {ELSEWHERE.get(s, s) for s in spaces} - {space.removesuffix(".") for space in OUTSIDE}


def where() -> str:
    """The page `SYMBOLS.md` of frontend-tf."""
    return "\n".join([*_where(), ""])


def _where() -> Iterator[str]:
    yield WHERE_HEAD
    yield "| file | names |"
    yield "|---|---|"
    for file, objects in files().items():
        own = [n for found in objects.values() for n in found if not n.startswith(OUTSIDE)]
        if own:
            listed = ", ".join(sorted(own, key=lambda n: (n.rpartition(".")[2].lower(), n)))
            yield f"| `{file}.py` | {listed} |"


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
    WHERE.write_text(where(), encoding="utf-8")
