"""Who is written over whom: never worse than any other choice, and less of it where that places."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest
from planned_ops import Add, AddTo, Copy, Neg, Reshape, Rows, Twins, add, copy, given, neg

from byparts_graph_ir import Graph, Input, Node, Value
from byparts_memplan import check_plan, peak_bytes, plan
from byparts_memplan.buffer import Buffer, lower_bound
from byparts_memplan.kernel_facts import Facts
from byparts_memplan.lifetimes import Values
from byparts_memplan.share import Sharing


def random_graph(seed: int) -> Graph:
    """Some five nodes that may be in place, over vectors of one length."""
    random = Random(seed)
    pool: list[Value] = [given(4), given(4)]
    for _ in range(random.randrange(2, 6)):
        op = random.choice([Neg(), Copy(), Add(), AddTo(), Twins(), Reshape((4,))])
        arity = 1 if isinstance(op, (Neg, Copy, Reshape)) else 2
        pool += Node(op, tuple(random.choices(pool[-4:], k=arity)), "").outputs
    return Graph.of(pool[:2], random.sample(pool[2:], 2))


def every_peak(graph: Graph) -> list[int]:
    """Of each way to choose, for each node, which outputs are written over which inputs."""
    chances: list[list[tuple[tuple[int, int], ...]]] = []
    for node in graph.nodes:
        pairs = [(p, o) for p, o in node.op.inplace if p < len(node.inputs)]
        chances.append([c for n in range(3) for c in combinations(pairs, n)])
    found = (chosen_peak(graph, chosen) for chosen in product(*chances))
    return [peak for peak in found if peak is not None]


def chosen_peak(graph: Graph, chosen: tuple[tuple[tuple[int, int], ...], ...]) -> int | None:
    """Bytes alive at the worst step; `None` if the choice is not allowed."""
    values = Values(graph)
    home: dict[int, int] = {}
    lives: dict[int, list[int]] = {}  # home -> [bytes, born, last]

    def settle(v: int) -> None:
        if values.root[v] == v and v not in home:
            home[v] = v
            lives[v] = [values.size[v], values.born[v], values.last[v]]

    for k in range(len(graph.inputs)):
        settle(k)
    for step, node in enumerate(graph.nodes):
        taken = set()
        for p, o in chosen[step]:
            x, y = values.reads[step][p], values.first[step] + o
            h = home[values.root[x]]
            readers = [q for q, v in enumerate(values.reads[step]) if home[values.root[v]] == h]
            if (
                h in taken
                or values.root[y] != y
                or y in home
                or lives[h][2] != step
                or any((q, o) not in node.op.inplace for q in readers)
            ):
                return None
            taken.add(h)
            home[y] = h
            lives[h][2] = values.last[y]
        for o in range(len(node.outputs)):
            settle(values.first[step] + o)
    return lower_bound([Buffer(size, born, last + 1) for size, born, last in lives.values()])


@pytest.mark.parametrize("seed", range(200))
def test_no_other_choice_has_fewer_bytes_alive(seed: int) -> None:
    graph = random_graph(seed)

    assert peak_bytes(graph) == min(every_peak(graph))


def test_sharing_is_taken_back_where_a_step_has_room() -> None:
    """The report says so."""
    x = given(4)
    graph = Graph.of([x], [neg(neg(copy(x)))])
    tight = Sharing(Values(graph), [0], {})
    loose = Sharing(Values(graph), [0], {}, [0, 16, 0, 0])

    assert (len(tight.size), len(loose.size)) == (1, 2)
    assert [d.reason.partition(":")[0] for d in loose.decisions] == ["not needed", ""]


def test_each_space_has_an_arena_and_nothing_is_shared_between_two() -> None:
    """The copy and its negation are in different memories."""
    x = given(4)
    a = copy(x)
    b = neg(a)
    graph = Graph.of([x], [add(b, copy(b))])
    made = plan(graph, alignment=16, space=lambda v: "near" if v in (x, a) else "far")
    check_plan(graph, made)

    assert made.arenas == {"near": 32, "far": 32}
    assert made.arena_bytes == 64
    assert "they are in 'near' and 'far'" in [d.reason for d in made.decisions]


def test_in_another_space_a_view_is_a_copy() -> None:
    x = given(4)
    graph = Graph.of([x], [Reshape((2, 2))(copy(x))])
    made = plan(graph, space=lambda v: "far" if v.type.dims == (2, 2) else "near")
    check_plan(graph, made)

    assert [d.reason for d in made.decisions] == ["they are in 'near' and 'far'"]
    assert len(made.residents) == 3


@pytest.mark.parametrize(("start", "reasons"), [(1, ["byte 4 is no multiple of 16"]), (4, [""])])
def test_a_view_at_an_odd_byte_is_a_copy_where_kernels_need_it(
    start: int, reasons: list[str]
) -> None:
    """The kernel says so: its memory space has an alignment."""
    x = given(12)
    graph = Graph.of([x], [neg(Rows(start, 8)(copy(x)))])
    facts = Facts(0, (), 16)
    made = plan(graph, kernels=lambda node: facts)
    check_plan(graph, made, lambda node: facts)

    assert [d.reason for d in made.decisions] == reasons
    assert len(made.residents) == (4 if reasons[0] else 3)


def test_a_variable_in_another_space_is_not_written_over() -> None:
    """Neither by its new value nor by what that is written over."""
    x, w = given(4), given(4)
    graph = Graph.of([x, w], [neg(copy(add(x, w)))])
    near = plan(graph, external={1}, donate={1: 0}, space=lambda v: "far" if v is w else "near")
    mixed = plan(
        graph,
        external={1},
        donate={1: 0},
        space=lambda v: "far" if isinstance(v, Input) or v in graph.outputs else "near",
    )
    check_plan(graph, near)
    check_plan(graph, mixed)

    assert (near.donated, mixed.donated) == ((), ((1, 0),))
    assert near.decisions[0].reason == "they are in 'far' and 'near'"
    assert [at.root for at in mixed.locations] == [None, 1, None, None, 1]
