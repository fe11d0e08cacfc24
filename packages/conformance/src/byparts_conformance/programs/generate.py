"""Random programs from seeds: equal seeds give equal programs, everywhere.

    program = generate(7)
    print(program)                      # its graph
    evaluate(program.graph, *program.arrays)

A program has a theme, which says which dtypes and which kinds of nodes are likely, so that
neighbours work on each other's results and backends form regions; a third of the programs mixes
everything.  It has up to some thirty nodes, several fetches, some of them in the middle, and
variables that it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import byparts_opset as ops
from byparts_conformance.programs import (
    backward,
    contractions,
    control,
    elementwise,
    movement,
    orders,
    reductions,
    rewritten,
    states,
)
from byparts_conformance.programs.effects import with_prints
from byparts_conformance.programs.growing import LARGE_SIZES, SIZES, Growing
from byparts_conformance.programs.program import Program
from byparts_graph_ir import Graph, Value

DTYPES = ("bool", "i4", "i8", "i16", "i32", "i64", "u8", "f16", "bf16", "f32", "f64")
Makers = Sequence[Callable[[Growing], None]]

_ALL: Makers = (
    *elementwise.MAKERS * 2,
    *movement.MAKERS,
    *reductions.MAKERS,
    *contractions.MAKERS,
    *states.MAKERS,
    *control.MAKERS,
    *rewritten.MAKERS,
)
# name -> (likely dtypes, makers)
THEMES: dict[str, tuple[tuple[str, ...], Makers]] = {
    "everything": (DTYPES, _ALL),
    "everything of f32": (("f32", "f32", "f32", "i64", "i32", "bool"), _ALL),
    "integers": (
        ("i8", "i16", "i32", "i64", "i64", "u8", "u8", "i4", "bool"),
        (*elementwise.MAKERS * 2, *movement.MAKERS, *reductions.MAKERS, *rewritten.MAKERS),
    ),
    "rewritten": (
        ("f32", "f32", "f16", "bf16", "f64", "i32", "i64", "i8", "u8", "bool"),
        (*rewritten.MAKERS * 4, *elementwise.MAKERS, *movement.MAKERS, *reductions.MAKERS),
    ),
    "indices": (
        ("i64", "i64", "i32", "f32"),
        (*elementwise.MAKERS, *movement.MAKERS * 2, *(movement.gather, movement.scatter) * 6),
    ),
    "chains": (
        ("f32", "f32", "f64", "f16", "bf16", "i32"),
        (*elementwise.MAKERS * 4, *(reductions.reduce, reductions.rows) * 4, movement.broadcast),
    ),
    "rows": (
        ("f32", "f32", "f32", "f16", "bf16", "f64"),
        (*reductions.MAKERS * 3, *elementwise.MAKERS, *movement.MAKERS),
    ),
    "networks": (
        ("f32", "f32", "f32", "f64", "bf16"),
        (*contractions.MAKERS * 3, *elementwise.MAKERS, *reductions.MAKERS, *states.MAKERS * 2),
    ),
    "halves": (("f16", "bf16", "f16", "bf16", "f32"), _ALL),
    "movement": (
        ("f32", "f32", "i32", "i64", "f16", "i4", "bool"),
        (*movement.MAKERS * 3, *elementwise.MAKERS),
    ),
    "loops": (
        ("f32", "f32", "i32", "i64", "f64"),
        (*control.MAKERS * 4, *elementwise.MAKERS, *movement.MAKERS, *reductions.MAKERS),
    ),
}
_DRAWN = tuple(THEMES)
# For every ninth seed, whatever is drawn for it: so that the others stay what they are.
THEMES["gradients"] = (
    ("f32", "f32", "f32", "f64", "f16", "bf16"),
    (
        *(*backward.MAKERS * 8, *(backward.of_loop,) * 20, *(control.loop,) * 8),
        *(*states.MAKERS, *control.MAKERS, *elementwise.MAKERS),
        *(*reductions.MAKERS * 2, *contractions.MAKERS * 3),
    ),
)
# Likewise for every eleventh seed.
THEMES["orders"] = (
    ("f32", "f32", "f16", "bf16", "f64", "i32", "i64", "i8", "u8", "i4"),
    (*orders.MAKERS * 3, *elementwise.MAKERS, *movement.MAKERS, *reductions.MAKERS),
)
# Likewise for every seventeenth seed.
THEMES["unsigned"] = (
    ("u16", "u32", "u64", "u8", "i64", "f32", "bool"),
    (
        *(*elementwise.MAKERS * 2, *movement.MAKERS, *reductions.MAKERS),
        *(*rewritten.MAKERS, *orders.MAKERS),
    ),
)
_SMOOTH: Makers = (
    *elementwise.SMOOTH * 2,
    *movement.SMOOTH,
    *reductions.SMOOTH,
    *contractions.SMOOTH,
)


def generate(
    seed: int,
    most_nodes: int = 24,
    theme: str = "",
    not_finite: bool | None = None,
    prints: bool | None = None,
) -> Program:
    """A random program.

    Args:
        seed: any number; equal ones give equal programs.
        most_nodes: how often it grows at most; some makers add more than one node.
        theme: one of `THEMES`; by default one that is drawn.
        not_finite: whether inputs and constants hold nan and infinities too; by default those of
            every eighth seed do.
        prints: whether some values are printed; by default every fifth seed's are.
    """
    random = Random(seed)
    drawn = random.choice(_DRAWN)
    drawn = "unsigned" if seed % 17 == 12 else "orders" if seed % 11 == 6 else drawn
    dtypes, makers = THEMES[theme or ("gradients" if seed % 9 == 4 else drawn)]
    growing = Growing(random, _sizes(random), dtypes, makers=makers)
    growing.not_finite = seed % 8 == 7 if not_finite is None else not_finite
    for _ in range(random.randrange(1, 4)):
        growing.input(growing.any_of(dtypes), growing.shape())
    steps, tries = random.randrange(2, most_nodes + 1), 0
    while steps and tries < 4 * most_nodes:
        before = len(growing.known)
        growing.any_of(makers)(growing)
        steps -= len(growing.known) > before
        tries += 1
    for _ in range(2 if growing.not_finite else 0):
        reductions.of_input(growing)
    program = _finished(growing, seed)
    printing = seed % 5 == 2 if prints is None else prints
    return replace(program, graph=with_prints(program.graph, seed)) if printing else program


def smooth(seed: int, most_nodes: int = 10) -> Program:
    """A random program of f64 whose one output, a number, is a smooth function of its inputs."""
    random = Random(seed)
    growing = Growing(random, (1, 2, 3, 4), ("f64",), makers=_SMOOTH, plain=True)
    growing.input("f64", growing.shape())
    for _ in range(random.randrange(1, most_nodes + 1)):
        growing.any_of(_SMOOTH)(growing)
    last = [v for v in growing.known if v.type.dtype == "f64" and v.node is not None][-2:]
    sums = [ops.sum(ops.mul(v, v)) if random.random() < 0.5 else ops.sum(v) for v in last]
    total = ops.add_n(sums) if sums else ops.sum(growing.inputs[0])
    return _as_program(growing, [total], [], seed)


def _sizes(random: Random) -> tuple[int, ...]:
    """A few dimensions, now and then an empty or a large one."""
    sizes = [random.choice(SIZES) for _ in range(2)]
    if random.random() < 0.15:
        sizes.append(random.choice(LARGE_SIZES))
    if random.random() < 0.06:
        sizes.append(0)
    return tuple(sizes)


def _finished(g: Growing, seed: int) -> Program:
    """The program with its fetches, and new values for its variables."""
    made = [v for v in g.known if v.node is not None]
    unread = [v for v in made if v not in g.used]
    fetches = unread[-4:] or made[-1:]
    for _ in range(g.random.randrange(3)):
        if made:
            fetches.append(g.any_of(made))
    if g.chance(0.1):
        fetches.append(g.any_of(g.inputs))
    updates = [(w, new) for w in g.variables if (new := _new_value(g, w)) is not None]
    return _as_program(g, fetches or g.inputs[:1], updates, seed)


def _new_value(g: Growing, w: Value) -> Value | None:
    """A new value for a variable: any of its type, or a step away from its value; or `None`."""
    alike = [v for v in g.known if v.node is not None and v.type == w.type]
    if g.chance(0.2):
        return None
    if alike and g.chance(0.5):
        return g.any_of(alike[-3:])
    step = g.any_of(alike[-3:]) if alike else w
    if w.type.dtype == "bool":
        return g.add(lambda: ops.logical_xor(w, step))
    return g.add(lambda: ops.sub(w, ops.mul(step, g.number(w.type.dtype))))


def _as_program(
    g: Growing, fetches: Sequence[Value], updates: Sequence[tuple[Value, Value]], seed: int
) -> Program:
    updated = [w for w, _ in updates]
    news = [new for _, new in updates]
    order = [v for v in g.known if v.node is not None]
    graph = Graph.of(g.inputs, (*fetches, *news), order=order)
    read = {v for node in graph.nodes for v in node.inputs} | set(graph.outputs)
    variables = [*updated, *[v for v in g.variables if v not in updated and v in read]]
    feeds = [v for v in g.inputs if v not in g.variables and v in read]
    inputs = (*feeds, *variables)
    graph = Graph(inputs, graph.nodes, graph.outputs)
    arrays = tuple([g.array(v) for v in inputs])
    return Program(graph, arrays, len(variables), len(updated), seed)
