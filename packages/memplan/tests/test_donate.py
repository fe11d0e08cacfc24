"""Variables written over their old values.  In each graph input 0 is the variable."""

from planned_ops import Cast, Reshape, Rows, add, add_to, copy, given, neg

from byparts_graph_ir import Graph, Value
from byparts_memplan import Location, Plan, check_plan, plan


def donated(variable: Value, outputs: tuple[Value, ...], *feeds: Value) -> tuple[Graph, Plan]:
    """Output 0 is the new value of the variable."""
    graph = Graph.of((variable, *feeds), outputs, order=())
    made = plan(graph, external={0}, alignment=1, donate={0: 0})
    check_plan(graph, made)
    return graph, made


def reason(made: Plan) -> str:
    (decision,) = [d for d in made.decisions if d.kind == "donation"]
    return decision.reason


def test_the_new_value_is_written_over_the_old() -> None:
    """w - g where subtraction may be in place: no memory at all."""
    w, g = given(4, name="w"), given(4, name="g")
    graph, made = donated(w, (add(w, g),), g)

    assert made.locations[graph.ids[graph.outputs[0]]] == Location(0, 0)
    assert (made.donated, made.arena_bytes) == (((0, 0),), 16)


def test_the_old_value_may_be_dead_already() -> None:
    """Then even an op that is never in place can write over it."""
    w = given(4, name="w")
    _, made = donated(w, (copy(copy(w)),))

    assert made.donated == ((0, 0),)
    assert made.arena_bytes == 16


def test_a_reshaped_new_value_is_followed_to_its_bytes() -> None:
    """The output is a view of what was computed."""
    w, g = given(4, name="w"), given(2, 2, name="g")
    _, made = donated(w, (Reshape((4,))(copy(copy(g))),), g)

    assert made.donated == ((0, 0),)


def test_without_asking_nothing_is_donated() -> None:
    """A failing run would leave the variable changed: that is the caller's choice."""
    w = given(4, name="w")
    graph = Graph.of((w,), (neg(w),))

    assert plan(graph, external={0}).donated == ()


def test_refused_while_the_old_value_is_needed() -> None:
    """It is read by a later step."""
    w = given(4, name="w")
    new = neg(w)
    _, made = donated(w, (new, add(copy(new), w)))

    assert reason(made) == "the bytes are needed until step 2 (add)"


def test_refused_where_the_old_value_is_fetched_too() -> None:
    """Even as a view."""
    w = given(4, name="w")
    _, made = donated(w, (neg(w), Reshape((2, 2))(w)))

    assert reason(made) == "the bytes are an output of the graph"


def test_refused_where_the_writer_reads_and_may_not_overwrite() -> None:
    """Its second input must stay."""
    w, g = given(4, name="w"), given(4, name="g")
    _, made = donated(w, (add_to(g, w),), g)

    assert reason(made) == "input 1 reads the same bytes and may not be overwritten"


def test_refused_for_another_type() -> None:
    """The variable keeps its type."""
    w = given(4, name="w")
    _, made = donated(w, (Cast("i32")(w),))

    assert reason(made) == "types differ: f32[4] and i32[4]"


def test_refused_for_what_nothing_computes() -> None:
    """The new value is another input."""
    w, g = given(4, name="w"), given(4, name="g")
    _, made = donated(w, (g,), g)

    assert reason(made) == "the output is the bytes of input 1, nothing computes it"


def test_refused_for_a_part_of_something_larger() -> None:
    """Its owner would stick out of the variable."""
    w, g = given(2, 2, name="w"), given(4, 2, name="g")
    _, made = donated(w, (Rows(0, 2)(copy(g)),), g)

    assert reason(made) == "the output is only a part of %2"


def test_one_output_for_two_variables_goes_to_the_first() -> None:
    """The second is copied by whoever runs the program."""
    w, u = given(4, name="w"), given(4, name="u")
    new = add(w, u)
    graph = Graph.of((w, u), (new, new))
    made = plan(graph, external={0, 1}, donate={0: 0, 1: 1})
    check_plan(graph, made)

    assert made.donated == ((0, 0),)
    assert made.decisions[1].reason == "the output is written over input 0"


def test_swapped_variables_are_not_donated() -> None:
    """(a, b) to (b, a): nothing is computed, so nothing is overwritten."""
    a, b = given(4, name="a"), given(4, name="b")
    graph = Graph.of((a, b), (b, a))
    made = plan(graph, external={0, 1}, donate={0: 0, 1: 1})
    check_plan(graph, made)

    assert made.donated == ()


def test_variables_that_read_each_other() -> None:
    """(a, b) to (-b, -a): a may be overwritten once -a is computed, b may not."""
    a, b = given(4, name="a"), given(4, name="b")
    graph = Graph.of((a, b), (neg(b), neg(a)), order=())
    made = plan(graph, external={0, 1}, donate={0: 0, 1: 1})
    check_plan(graph, made)

    assert made.donated == ((1, 1),)


def test_what_the_new_value_is_written_over_lies_there_too() -> None:
    """w is read first; then the whole chain up to its new value needs no arena."""
    w, g = given(4, name="w"), given(4, name="g")
    read = copy(w)
    graph = Graph.of((w, g), (neg(neg(copy(g))), read), order=(read,))
    made = plan(graph, external={0}, alignment=1, donate={0: 0})
    check_plan(graph, made)

    assert sum(location.root == 0 for location in made.locations) == 4  # w and three more
    assert made.arena_bytes == 32


def test_of_two_candidates_the_one_that_is_alive_longest_leaves_the_arena() -> None:
    """add may be written over either; `early` waits while `late` is made in two steps."""
    w, g = given(4, name="w"), given(4, name="g")
    read = copy(w)
    early = copy(g)
    late = copy(copy(g))
    graph = Graph.of((w, g), (add(late, early), read), order=(read, early, late))
    made = plan(graph, external={0}, alignment=1, donate={0: 0})
    check_plan(graph, made)

    assert made.locations[graph.ids[early]].root == 0
    assert made.locations[graph.ids[late]].root is None


def test_a_chain_is_not_followed_while_the_old_value_is_needed() -> None:
    """w is read by the last step, which may write over it; g's copy may not lie there before."""
    w, g = given(4, name="w"), given(4, name="g")
    graph, made = donated(w, (add(copy(g), w),), g)

    assert made.donated == ((0, 0),)
    assert made.locations[graph.ids[graph.nodes[0].outputs[0]]].root is None
