"""Text: printed for people, parsed back, exact about what is wrong."""

from __future__ import annotations

import pytest
from toy_ops import OPS, Call, Cast, Full, Halves, Neg, Scale, chain, given, neg, nest, shout, small

from byparts_graph_ir import (
    FormatError,
    Graph,
    GraphError,
    Node,
    Op,
    TensorType,
    Types,
    parse,
    to_json,
)


def test_nn_ir_text_the_running_example_prints_like_this() -> None:
    """Inputs by name, values by number, types everywhere, the user's line as a comment."""
    text = "\n".join(line.partition("  # ")[0] for line in str(small()).splitlines())

    assert text == (
        "(%x: f32[2], %y: f32[2]) {\n  %2: f32[2] = add(%x, %y)\n  %3: f32[2] = neg(%2)\n  return %3\n}"
    )


class Raw(Op):
    """Has bytes."""

    data: bytes

    def infer(self, x: TensorType) -> Types:
        return (x,)


def odd() -> Graph:
    x, n = given("x", 4), given("n", None, "batch")
    a, b = Halves().outputs_of(x)
    many = [Scale(float(v), repr(v))(a) for v in ("inf", "-inf", "nan", "1e-45", "-0.0")]
    rest = [Scale(2.5, "a # 'b' \"c\" %1\n)(")(b), Full((3, "k"))(), Cast("bool")(n), shout(n)]
    return Graph.of((x, n), (*many, *rest, x, x))


@pytest.mark.parametrize("graph", [small(), odd(), nest(3), Graph.of((), ()), chain(3)], ids=str)
def test_text_round_trip(graph: Graph) -> None:
    """What is printed parses to an equal graph, and prints the same bytes again."""
    again = parse(str(graph), OPS)

    assert again == graph and str(again) == str(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1, column 1: expected '\(', found 'the end'"),
        ("(%x: f32[2]) {", r"column 15: expected a name, found 'the end'"),
        (
            "(%x: f32[2]) {\n  %1: f32[2] = nag(%x) return }",
            r"line 2, column 3: unknown op 'nag'; did you mean 'neg'",
        ),
        (
            "(%x: f32[2]) { %1: f32[2] = neg(%y) return %1 }",
            r"expected a value made before \(%y is not\)",
        ),
        (
            "(%x: f32[2]) { %1: f32[3] = neg(%x) return %1 }",
            r"expected %1 of type f32\[2\], which neg gives",
        ),
        (
            "(%x: f32[2]) { %1: f32[2] = scale(%x, fcator=2.0) return }",
            r"no attribute 'fcator'; did you mean 'factor'",
        ),
        (
            "(%x: f32[2]) { %1: f32[2] = dense(%x, %x) return }",
            r"dense needs the attribute 'units'",
        ),
        (
            "(%x: f32[2]) { %1: f32[2] = add(%x) return }",
            r"add on \(f32\[2\]\): add: takes the inputs \(x, y\)",
        ),
        ("(%x: f32[2], %x: f32[2]) { return }", r"expected a new name \(%x is taken\)"),
        ("(%x: f32[-2]) { return }", "negative dimension -2"),
        ("(%x: f32[1,2e3]) { return }", r"column 12: expected a whole number, found '2e3'"),
        ("(%x: f99[2]) { return }", r"expected a type \(unknown dtype 'f99'"),
        ("(%x: f32[2]) { return %x } ~", r"column 28: '~' begins nothing that is known"),
        ("(%x: f32[2]) { return %x } (", r"expected the end, found '\('"),
        ("() { %0: f32[1] = full(shape=1.5) return }", r"full: shape is 1.5; expected tuple"),
        (
            '() { %0: f32[] = scale(note="\\x0(") return }',
            r"column 30: expected an escape as in repr",
        ),
        ("() { %0: f32[] = scale(note=b'\\x0(') return }", r"found '\\\\x0\('"),
        ("() { %0: f32[] = scale(note='\\N{DIGIT ONE}') return }", "an escape as in repr"),
        ("() { %0: f32[] = scale(note='\\U00110000') return }", "an escape as in repr"),
        ("() { %0: f32[] = scale(note=b'\\u0041') return }", "expected bytes of ASCII letters"),
        ("() { %0: f32[] = scale(note=b'é') return }", "expected bytes of ASCII letters"),
        ("() { %0: f32[] = scale(factor=" + "1" * 5000 + ") return }", "at most 4000 digits"),
        ("(%x: f32[" + "1" * 5000 + "]) { return }", "at most 4000 digits, found '1+[.]{3}1+'$"),
        (f"(%x: f32[{1 << 63}]) {{ return }}", "dimension of more than 63 bits"),
        (
            "() { %0: f32[] = scale(factor=1e999) return }",
            "expected a number that a float can hold",
        ),
        ("() { %0: f32[] = scale(factor=True) return }", "scale: factor is True; expected float"),
        (
            "(%x: f32[2]) { %1: f32[2] = scale(%x, factor=1.0, factor=2.0) return }",
            "a new attribute",
        ),
        ("(%x: f32[2]) { return %x }\0", r"'\\x00' begins nothing that is known"),
        (
            "() { %0: f32[1] = full(shape=" + "(" * 99 + ") return }",
            r"at most 64 tuples inside each other",
        ),
    ],
)
def test_wrong_text_says_where_and_what(text: str, message: str) -> None:
    """Line, column, what was found, what was expected."""
    with pytest.raises(FormatError, match=message):
        parse(text, OPS)


def test_text_runs_no_code() -> None:
    """A call, a name or an f-string is not a literal."""
    text = "() { %0: f32[] = scale(note=__import__('os')) return }"
    with pytest.raises(FormatError, match=r"expected a literal, found '__import__'"):
        parse(text, OPS)


def test_too_deep_for_text() -> None:
    """Printing nested graphs stops with a sentence, not with the stack."""
    with pytest.raises(GraphError, match="use to_json"):
        str(nest(100))


def test_too_long_for_a_file() -> None:
    """A graph that is in two nodes of one that is in two nodes...: nobody could walk through it."""
    graph = small()
    for _ in range(40):
        x = given("x", 2)
        first = Node(Call(graph), (x,), "")
        graph = Graph((x,), (first, Node(Call(graph), (x,), "")), first.outputs)

    for write in (str, to_json):
        with pytest.raises(
            GraphError, match=r"a graph of \d+ nodes, .* cannot be written; at most"
        ):
            write(graph)


def test_n11_equal_names_stay_two_values() -> None:
    """Names are labels: the second of two equal ones is printed by number."""
    x, y = given("x", 2), given("x", 3)

    assert str(Graph.of((x, y), (y,))).startswith("(%x: f32[2], %1: f32[3])")


def test_unranked_types_have_a_text() -> None:
    """The rank itself may be unknown."""
    graph = parse("(%x: f32[...]) { %1: f32[...] = neg(%x) return %1 }", OPS)

    assert graph.outputs[0].type == TensorType("f32", None) and isinstance(graph.nodes[0].op, Neg)


def test_where_survives_the_round_trip() -> None:
    """The comment at the end of a line is the node's provenance."""
    graph = Graph.of((x := given("x", 2),), (neg(x),))

    where = parse(str(graph), OPS).nodes[0].where
    assert graph.nodes[0].where.endswith(where) and "test_text.py:" in where


@pytest.mark.parametrize(
    "text", ["", "\ud800\0\x7f\u2028é\U0001f600", "\\x0(", "'\"\n\r\t", "a" * 99]
)
def test_every_text_and_all_bytes_come_back(text: str) -> None:
    """Whatever `repr` writes is read."""
    x = given("x", 2)
    both = Graph.of((x,), (Scale(1.0, text)(x), Raw(text.encode("utf-8", "replace"))(x)))

    assert parse(str(both), {**OPS, "raw": Raw}) == both


@pytest.mark.parametrize("name", ["inf", "nan", "ñ", "e\u0301", "True", "f32"])
def test_every_named_dimension_comes_back(name: str) -> None:
    graph = Graph.of((x := given("x", name),), (neg(x),))

    assert parse(str(graph), OPS) == graph
