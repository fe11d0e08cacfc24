"""Building and calling programs: feeds, fetches, constants, views, backends, bound feeds."""

from __future__ import annotations

from functools import partial
from threading import Thread
from typing import Any

import numpy as np
import pytest
from toy_backend import (
    TOY,
    Add,
    Full,
    Mul,
    add,
    build_by_hand,
    fail,
    flat,
    given,
    graph_of,
    mul,
    notes,
    product,
    raising,
    unknown,
)

from byparts_graph_ir import (
    ArgumentError,
    Backend,
    GraphError,
    HostSpace,
    MissingRule,
    Node,
    Pass,
    ShapeError,
    Table,
)
from byparts_graph_ir.parts.hub import PartError
from byparts_graph_ir.parts.install import install_command
from byparts_runtime import Variable
from byparts_runtime.arrays.access import view
from byparts_runtime.memory.plan import Separate, SeparateLocation, separate


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def test_a_program_computes() -> None:
    """(x + y) * y, with the fetches in the order asked for."""
    x, y = given("x", 2), given("y", 2)
    s = add(x, y)
    program = build_by_hand(graph_of([x, y], mul(s, y), s))

    p, q = program(np.array([1, 2], np.float32), np.array([3, 4], np.float32))

    assert p.tolist() == [12, 24]
    assert q.tolist() == [4, 6]


def test_results_are_the_callers_own() -> None:
    """A later call does not change what an earlier one gave."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x), x))

    first = program(ones(2))
    program(ones(2) * 5)

    assert [r.tolist() for r in first] == [[2, 2], [1, 1]]


def test_a_0d_result_formats_as_a_number() -> None:
    """`"%g" % loss` is what training loops print."""
    x = given("x")
    program = build_by_hand(graph_of([x], add(x, x)))

    (loss,) = program(0.25)

    assert loss.shape == ()
    assert ("%g" % loss, f"{loss:g}") == ("0.5", "0.5")  # noqa: UP031


def test_empty_tensors_run() -> None:
    """A batch of none is a batch."""
    x = given("x", 0, 3)
    program = build_by_hand(graph_of([x], add(x, x)))

    assert program(ones(0, 3))[0].shape == (0, 3)


def test_no_feeds_and_no_nodes() -> None:
    """The smallest programs: the identity, and a constant."""
    x = given("x", 2)
    constant = Node(Full(3.0, (2,)), ()).outputs[0]

    assert build_by_hand(graph_of([x], x))(ones(2))[0].tolist() == [1, 1]
    assert build_by_hand(graph_of([], constant))()[0].tolist() == [3, 3]


def test_constants_are_computed_once() -> None:
    """A node without inputs is not a step."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], product(x, 2.0, 3.0)))

    assert [s.node.op for s in program.steps] == [Mul(), Mul()]
    assert program(ones(2))[0].tolist() == [6, 6]


def test_a_view_that_the_plan_aliased_is_no_step() -> None:
    """The output is the input's bytes, so nothing has to run."""
    x = given("x", 2, 2)
    graph = graph_of([x], flat(add(x, x)))

    def planner(graph: Any, *, external: Any, alignment: int, **_: Any) -> Separate:
        plan = separate(graph, external=external, alignment=alignment)
        *others, _ = plan.locations  # type: ignore[assignment]
        return Separate((*others, others[-1]), plan.arena_bytes)

    program = build_by_hand(graph, planner=planner)

    assert [s.node.op for s in program.steps] == [Add()]
    assert program(ones(2, 2))[0].tolist() == [2, 2, 2, 2]


def test_feeds_must_have_exactly_their_type() -> None:
    """Nothing is cast in silence; the message names the feed and how to convert."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)))

    with pytest.raises(ShapeError, match=r"feed 'x': expected f32\[2\], got f64\[2\]; .*astype"):
        program(np.ones(2))
    with pytest.raises(ShapeError, match=r"feed 'x': expected f32\[2\], got f32\[3\]"):
        program(ones(3))
    with pytest.raises(ShapeError, match=r"feed 'x': expected f32\[2\], got complex64\[2\]"):
        program(np.ones(2, np.complex64))
    with pytest.raises(ShapeError, match=r"feed 'x': expected f32\[2\], got a list of str"):
        program(["1", "2"])
    with pytest.raises(ShapeError, match=r"feed 'x': expected f32\[2\], got a ragged list"):
        program([[1.0], 2.0])
    with pytest.raises(GraphError, match=r"takes 1 feeds \('x': f32\[2\]\), got 2"):
        program(ones(2), ones(2))


def test_numbers_and_lists_take_the_expected_dtype() -> None:
    """They have none of their own."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)))

    assert program([1, 2.5])[0].tolist() == [2, 5]


def test_feeds_may_be_strided() -> None:
    """They are copied in, so any memory order will do."""
    x = given("x", 2, 3)
    program = build_by_hand(graph_of([x], add(x, x)))
    columns = np.arange(6, dtype=np.float32).reshape(3, 2).T

    assert program(columns)[0].tolist() == (columns * 2).tolist()


def test_bound_feeds_are_read_where_they_are() -> None:
    """Refilled in place, never written, and read again at each call."""
    x, y = given("x", 2), given("y", 2)
    program = build_by_hand(graph_of([x, y], add(add(x, y), y)))
    a, b = ones(2), ones(2)
    bound = program.bind(a, b)

    first = bound()
    a[:] = 10
    second = bound()

    assert [first[0].tolist(), second[0].tolist()] == [[3, 3], [12, 12]]
    assert (a.tolist(), b.tolist()) == ([10, 10], [1, 1])


def test_only_contiguous_arrays_can_be_bound() -> None:
    """Anything else would have to be copied, and refilling it would do nothing."""
    x = given("x", 2, 3)
    program = build_by_hand(graph_of([x], add(x, x)))

    with pytest.raises(GraphError, match="feed 'x' is not contiguous"):
        program.bind(ones(3, 2).T)
    with pytest.raises(ShapeError, match="feed 'x' is no array"):
        program.bind([[1.0]])
    with pytest.raises(ShapeError, match=r"expected f32\[2,3\], got f32\[3,2\]"):
        program.bind(ones(3, 2))


def test_the_first_backend_that_takes_a_node_gets_it() -> None:
    """A rule that refuses is no error while another backend has one."""
    table: Table[Any] = Table("kernel")

    @table.on(Mul)
    def times(op: Mul, inputs: Any, outputs: Any) -> Any:
        return partial(np.multiply, *inputs, *outputs)

    @table.on(Add)
    def refuse(op: Add, inputs: Any, outputs: Any) -> Any:
        raise MissingRule("not for f32")

    x = given("x", 2)
    fast = Backend("fast", view, table)
    program = build_by_hand(graph_of([x], mul(add(x, x), x)), backends=(fast, TOY))

    assert [s.backend for s in program.steps] == ["toy", "fast"]
    assert program(ones(2))[0].tolist() == [2, 2]


def test_functional_rules_run() -> None:
    """The twenty-line backend: results are copied into place."""
    functions: Table[Any] = Table("function")
    functions.on(Add)(lambda op, a, b: a + b)
    x = given("x", 2)
    program = build_by_hand(
        graph_of([x], add(x, x)), backends=(Backend("f", view, functions=functions),)
    )

    assert program(ones(2))[0].tolist() == [2, 2]


def test_a_missing_kernel_says_what_was_tried() -> None:
    """Op, types, the backends, the line that made the node, and what to do."""
    x = given("x", 2)

    with pytest.raises(MissingRule, match=r"no kernel for Unknown on \(f32\[2\]\); tried toy") as e:
        build_by_hand(graph_of([x], unknown(x)))

    assert "test_program.py" in notes(e.value)
    assert f"{install_command('byparts-kernels-numpy')}, backends=" in notes(e.value)


def test_a_rule_must_give_a_callable() -> None:
    """The commonest mistake in a first kernel: computing at once."""
    table: Table[Any] = Table("kernel")
    table.on(Add)(lambda op, inputs, outputs: np.add(*inputs, *outputs))
    x = given("x", 1)

    with pytest.raises(GraphError, match="add: the kernel rule of backend 'eager' gave array"):
        build_by_hand(graph_of([x], add(x, x)), backends=(Backend("eager", view, table),))


def test_backends_of_several_spaces_need_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """That copies values between them."""
    other = HostSpace()
    other.name = "npu:0"
    x = given("x", 1)

    class Empty:
        def get(self, kind: str, name: str) -> None:
            raise PartError(f"no {kind} {name!r}")

    monkeypatch.setattr("byparts_runtime.building.discover._hub", Empty)

    with pytest.raises(PartError, match="no passes 'transfer'") as raised:
        build_by_hand(graph_of([x], x), backends=(TOY, Backend("npu", view, space=other)))
    said = str([str(raised.value), *getattr(raised.value, "__notes__", ())])
    assert "the backends are of several spaces: toy in host, npu in npu:0" in said


def test_bad_arguments_are_refused() -> None:
    """No backend at all, a backend and a pass that nobody provides."""
    x = given("x", 1)
    graph = graph_of([x], x)

    with pytest.raises(GraphError, match=r"backends=\(\): give .auto., or a tuple"):
        build_by_hand(graph, backends=())
    with pytest.raises((GraphError, PartError), match="numpi"):
        build_by_hand(graph, backends=("numpi",))
    with pytest.raises(PartError, match="no pass 'fould'; installed"):
        build_by_hand(graph, passes="auto+fould")


def test_unknown_dimensions_are_refused_with_advice() -> None:
    """Memory needs numbers, or names for which each call has numbers."""
    x = given("x", None, 3)

    with pytest.raises(ShapeError, match=r"input 'x' is f32\[\?,3\], .* name its dimensions"):
        build_by_hand(graph_of([x], add(x, x)))


def test_passes_run_in_order() -> None:
    """Each is a function, and a stage of its own."""
    x = given("x", 1)
    seen = []

    def look(graph: Any) -> Any:
        seen.append(len(graph.nodes))
        return graph

    program = build_by_hand(graph_of([x], add(x, x)), passes=(look, look))

    assert seen == [1, 1]
    assert [s.name for s in program.stages] == ["specialize", "look", "look", "hoist"]


def test_passes_of_a_backend_leave_alone_what_one_before_it_runs() -> None:
    """Here one turns sums into products: by itself, and not where another has a kernel of Add."""
    x = given("x", 1)
    graph = graph_of([x], add(x, x))
    turn = Pass("turn", lambda g: g.rewrite(lambda n: (mul(*n.inputs),) if n.op is add else None))
    turning = Backend("turning", TOY.view, TOY.kernels, passes=(turn,))

    alone, behind = [build_by_hand(graph, backends=b) for b in ((turning,), (TOY, turning))]

    assert [n.op for n in alone.graph.nodes] == [mul]
    assert [n.op for n in behind.graph.nodes] == [add]


def test_a_failing_pass_is_named() -> None:
    """Which of how many."""
    x = given("x", 1)

    def broken(graph: Any) -> Any:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError, match="no") as e:
        build_by_hand(graph_of([x], x), passes=(broken,))

    assert "while running pass broken (2 of 2)" in notes(e.value)


def test_legalize_is_asked_with_all_backends() -> None:
    """An op is legal if any backend of the list has it."""
    x = given("x", 1)
    answers: list[bool] = []

    def legalize(graph: Any, supports: Any) -> Any:
        answers.extend(supports(node) for node in graph.nodes)
        return graph

    table: Table[Any] = Table("kernel")
    backends = (Backend("empty", view, table), TOY)
    build_by_hand(graph_of([x], add(x, x)), backends=backends, legalize=legalize)

    assert answers == [True]


def test_t15_an_error_keeps_its_type_and_says_where() -> None:
    """T15: the kernel's own exception, with step, op, types and the user's line."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], fail(add(x, x))))
    raising.append(ZeroDivisionError("planted"))
    try:
        with pytest.raises(ZeroDivisionError, match="planted") as e:
            program(ones(2))
    finally:
        raising.clear()

    assert "in step 2 of 2 on 'toy', fail: (f32[2]) -> (f32[2])" in notes(e.value)
    assert "test_program.py" in notes(e.value)
    assert program(ones(2))[0].tolist() == [2, 2]


def test_a_plan_that_leaves_its_memory_is_refused() -> None:
    """A third-party planner cannot make us read what is not ours."""
    x = given("x", 2)

    def outside(graph: Any, *, external: Any, alignment: int, **_: Any) -> Separate:
        return Separate((SeparateLocation(None, 0), SeparateLocation(None, 4)), 8)

    def short(graph: Any, *, external: Any, alignment: int, **_: Any) -> Separate:
        return Separate((), 8)

    def foreign(graph: Any, *, external: Any, alignment: int, **_: Any) -> Separate:
        return Separate((SeparateLocation(None, 0), SeparateLocation(0, 0)), 64)

    with pytest.raises(GraphError, match=r"value 1 has bytes \[4, 12\) of only 8"):
        build_by_hand(graph_of([x], add(x, x)), planner=outside)
    with pytest.raises(GraphError, match="0 locations for 2 values"):
        build_by_hand(graph_of([x], add(x, x)), planner=short)
    with pytest.raises(GraphError, match="value 1 is in input 0, which is not external"):
        build_by_hand(graph_of([x], add(x, x)), planner=foreign)


def test_threads_take_turns() -> None:
    """Four threads on one arena each get the answers to their own feeds."""
    x = given("x", 64)
    program = build_by_hand(graph_of([x], product(x, *[2.0] * 20)))
    wrong: list[float] = []

    def work(k: int) -> None:
        for i in range(200):
            (y,) = program(np.full(64, k * 1000 + i, np.float32))
            if not (y == np.float32(k * 1000 + i) * 2**20).all():
                wrong.append(k)

    threads = [Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert wrong == []


def test_a_program_that_is_only_bound_keeps_one_memory() -> None:
    """The arena of its own is given back, and made again when it is called after all."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)))
    array = np.ones(2, np.float32)

    bound = program.bind(array)
    assert program._own is None

    assert bound()[0].tolist() == program(array)[0].tolist() == [2, 2]
    program.bind(array)
    assert program._own is not None


def test_a_pass_that_forgets_to_return_is_named() -> None:
    """Also where it is given to `build`, as the order or to make the program legal; a planner too."""
    x = given("x", 2)
    graph = graph_of([x], add(x, x))

    def forgets(graph: Any, *more: Any, **options: Any) -> None:
        pass

    for where in ("passes", "legalize", "order"):
        option: Any = (forgets, forgets) if where == "passes" else forgets
        with pytest.raises(GraphError, match=r"forgets \(.*returned None, and a pass returns a G"):
            build_by_hand(graph, **{where: option})
    with pytest.raises(GraphError, match=r"plan: None has no `locations`.* lack a `return`"):
        build_by_hand(graph, planner=forgets)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"passes": 3}, r"passes=3: give a tuple"),
        ({"passes": (3,)}, "3 is no pass: give a function of a graph, or a name"),
        ({"planner": 3}, "planner=3 is no planner: give a function planner"),
        ({"legalize": 3}, "3 is no pass"),
        ({"backends": 3}, "backends=3: give .auto., or a tuple of some"),
        ({"backends": (3,)}, "backends: 3 is no backend"),
        ({"results": 3}, 'results=3: give "numpy", or a backend'),
    ],
)
def test_options_of_the_wrong_kind_are_refused(option: Any, message: str) -> None:
    x = given("x", 2)
    with pytest.raises(ArgumentError, match=message):
        build_by_hand(graph_of([x], add(x, x)), **option)


class Frame:
    """As pandas' frames: no dtype of its own, and an array by its method."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


def test_feeds_that_would_lose_something_are_refused() -> None:
    """A mask, a byte order, digits; and what is no array at all."""
    x = given("x", 2)
    program = build_by_hand(graph_of([x], add(x, x)))
    wrongs: dict[str, Any] = {
        "masked array, whose mask would be lost": np.ma.masked_array(ones(2), [True, False]),
        r"expected f32\[2\], got >f4\[2\]; convert it with": ones(2).astype(">f4"),
        r"expected f32\[2\], got object\[2\]": np.array([1, None], object),
        r"expected f32\[2\], got f64\[2\]": Frame(np.ones(2)),
        r"expected f32\[2\], got str 'ab'": "ab",
        r"expected f32\[2\], got NoneType None": None,
        "has no numbers until the program runs": [x, x],
    }

    for message, wrong in wrongs.items():
        with pytest.raises(GraphError, match=message):
            program(wrong)
    read_only = ones(4)[::2]
    read_only.flags.writeable = False
    assert program(read_only)[0].tolist() == program(Frame(ones(2)))[0].tolist() == [2, 2]
    with pytest.raises(GraphError, match="masked array, whose mask"):
        Variable("w", np.ma.masked_array(ones(2), [True, False]))
