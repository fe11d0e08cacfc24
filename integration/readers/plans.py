"""Memplan's files: buffers as CSV, placements and plans as JSON."""

from __future__ import annotations

import json
from random import Random

import byparts_opset as ops
from byparts_conformance.fuzz.mutations import (
    NUMBERS,
    TEXTS,
    changed_bytes,
    changed_json,
    changed_words,
)
from byparts_conformance.fuzz.reader import Data, Reader
from byparts_graph_ir import Graph, Input, TensorType
from byparts_memplan import (
    Buffer,
    Placement,
    Plan,
    place,
    placement_from_json,
    placement_to_json,
    plan,
    plan_from_json,
    plan_to_json,
    read_buffers,
    write_placement,
)

Table = tuple[tuple[str, ...], tuple[Buffer, ...]]
_WORDS: tuple[str, ...] = (
    ",",
    ";",
    "\t",
    '"',
    '""',
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\ufeff",
    "-",
    "2-4",
    "2-4 7-9",
)
_WORDS += ("id", "lower", "size", "gaps", "offset", "pinned", "1.5", "1e3", "", "٣", *TEXTS)


def csv() -> Reader:
    """Tables of buffers, as bytes."""
    columns = "id,lower,upper,size,alignment,gaps,space,offset"
    rows = ["a,0,4,64,8,1-2,,", '"b, c",2,6,100,1,,sram,0', "d,0,9,10,2,2-4 7-8,,20"]
    seeds = ["\n".join([columns, *rows, ""]), "id,lower,upper,size\na,0,2,64\nb,1,3,32\n"]
    return Reader("csv", seeds, _changed_table, _read_table, _check_table)


def placement_json() -> Reader:
    """Placements."""
    buffers = [
        Buffer(64, 0, 4, gaps=((1, 2),)),
        Buffer(100, 2, 6, space="sram"),
        Buffer(8, 1, 3, 4),
    ]
    seeds = [json.loads(placement_to_json(place(buffers)))]
    return Reader("placement", seeds, changed_json, placement_from_json, _check_placement)


def plan_json() -> Reader:
    """Plans of a graph."""
    x, w = Input(TensorType("f32", (8, 4)), None, "x"), Input(TensorType("f32", (4, 4)), None, "w")
    y = ops.tanh(x @ w)
    graph = Graph.of([x, w], [ops.sum(y * y), ops.reshape(y, (-1,))])
    seeds = [json.loads(plan_to_json(plan(graph)))]
    return Reader("plan", seeds, changed_json, plan_from_json, _check_plan)


def _changed_table(random: Random, text: str) -> Data:
    if random.random() < 0.3:
        return changed_bytes(random, text.encode())
    words = (*_WORDS, "9" * 5000, str(random.choice(NUMBERS)))
    return changed_words(random, text, words).encode("utf-8", "surrogatepass")


def _read_table(data: bytes) -> Table:
    return read_buffers(data.splitlines(keepends=True), "t.csv")


def _check_table(table: Table) -> None:
    """Rows that were accepted are placed or pinned apart, and come back."""
    ids, buffers = table
    offsets = tuple([b.pinned or 0 for b in buffers])
    text = write_placement(ids, Placement(buffers, offsets, 0, 0, ""))
    again_ids, again = read_buffers(text.splitlines(keepends=True), "again.csv")
    assert again_ids == ids, "ids do not come back"
    assert [(b.size_bytes, b.born, b.dies, b.gaps, b.space) for b in again] == [
        (b.size_bytes, b.born, b.dies, b.gaps, b.space) for b in buffers
    ], "buffers do not come back"


def _check_placement(found: Placement) -> None:
    assert isinstance(found, Placement)
    assert placement_from_json(placement_to_json(found)) == found, "it does not come back"
    repr(found)


def _check_plan(found: Plan) -> None:
    assert isinstance(found, Plan)
    assert plan_from_json(plan_to_json(found)) == found, "it does not come back"
    repr(found)
