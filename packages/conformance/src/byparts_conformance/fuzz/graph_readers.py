"""The readers of graphs, by the names that the command line uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from byparts_conformance.fuzz import graph_json, graph_text
from byparts_conformance.fuzz.reader import Reader

READERS: Mapping[str, Callable[[], Reader]] = {
    "text": graph_text.reader,
    "json": graph_json.reader,
}
