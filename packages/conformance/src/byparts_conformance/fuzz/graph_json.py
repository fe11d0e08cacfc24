"""`from_json`: graphs as JSON."""

from __future__ import annotations

import json
from functools import partial

from byparts_conformance.fuzz import graphs
from byparts_conformance.fuzz.mutations import changed_json
from byparts_conformance.fuzz.reader import Reader
from byparts_graph_ir import from_json, to_json


def reader() -> Reader:
    """With values of every kind in every place."""
    seeds = [json.loads(to_json(graph)) for graph in graphs.seeds()]
    read = partial(from_json, ops=graphs.all_ops())
    return Reader("json", seeds, changed_json, read, graphs.check)
