"""Dimensions that are expressions of names."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from toy_ops import neg

from byparts_graph_ir import (
    Graph,
    Input,
    ShapeError,
    TensorType,
    dimension,
    dimension_names,
    from_json,
    parse,
    specialize,
    to_json,
)

NUMBERS = {"n": st.integers(0, 40), "m": st.integers(0, 7)}
ATOMS = st.one_of(st.sampled_from(["n", "m"]), st.integers(0, 9).map(str))


def _larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(parts, parts)
    return st.one_of(
        st.tuples(parts, st.sampled_from("+-*"), parts).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        two.map(lambda t: f"min({t[0]}, {t[1]})"),
        two.map(lambda t: f"max({t[0]}, {t[1]})"),
        st.tuples(parts, st.sampled_from(["//", "%"]), st.integers(1, 6)).map(
            lambda t: f"({t[0]}){t[1]}{t[2]}"
        ),
    )


EXPRESSIONS = st.recursive(ATOMS, _larger, max_leaves=6)


@given(EXPRESSIONS, st.fixed_dictionaries(NUMBERS))
def test_the_normal_form_has_the_number_that_python_computes(
    text: str, numbers: dict[str, int]
) -> None:
    """For all numbers of the names; negative quotients round down."""
    wanted = eval(text, {"min": min, "max": max}, numbers)

    assert wanted == dimension(text, numbers)
    assert wanted == dimension(dimension(text), numbers)


@given(EXPRESSIONS)
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    """So a printed type parses back to an equal one."""
    normal = dimension(text)

    assert normal == dimension(normal)
    assert dimension_names(normal) <= {"n", "m"}


@given(EXPRESSIONS, EXPRESSIONS, st.fixed_dictionaries(NUMBERS))
def test_expressions_stand_for_names(text: str, inner: str, numbers: dict[str, int]) -> None:
    """Replacing a name by an expression and then by a number is the same in either order."""
    number = dimension(inner, numbers)
    assert isinstance(number, int)

    replaced = dimension(dimension(text, {"n": f"{inner}"}), numbers)

    # A name is never negative, which the normal form uses; an expression for it must not be either.
    assert number < 0 or replaced == dimension(text, {**numbers, "n": number})


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1 + 2*n - n", "n+1"),
        ("n * (m + 1)", "m*n+n"),
        ("8 - n", "8-n"),
        ("min(512, n, n + 1)", "min(n,512)"),
        ("max(n, 0)", "n"),
        ("max(n - 3, 0)", "max(n-3,0)"),
        ("max(0, 3*n - 1)", "max(3*n-1,0)"),
        ("(2*n + 3) // 2", "n+1"),
        ("(n//2)//3", "n//6"),
        ("(6*n + 1) // 4", "n+n//2"),
        ("n % 8", "n-8*(n//8)"),
        ("0 * n", 0),
        ("2 * 3", 6),
    ],
)
def test_normal_forms(text: str, normal: str | int) -> None:
    """Like terms are collected, and values that another one bounds are left out."""
    assert normal == dimension(text)


def test_what_is_unknown_stays_unknown() -> None:
    """An unknown name makes the dimension unknown, and so does a result too large to write."""
    assert dimension("n+m", {"n": None}) is None
    assert dimension(None, {"n": 2}) is None
    assert dimension("a*b", {"a": "+".join(f"a{i}" for i in range(9)), "b": "b0+b1"}) is not None
    many = {"a": "+".join(f"a{i}" for i in range(20)), "b": "+".join(f"b{i}" for i in range(20))}
    assert dimension("a*b", many) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n+", r"'n\+': expected a number, a name, min, max or \( at character 2, got the end"),
        ("n//0", "expected a positive number after // at character 3, got '0'"),
        ("n//m", "expected a positive number after // at character 3, got 'm'"),
        ("n 3", "expected nothing more at character 2, got '3'"),
        ("n$", "at character 1, got '\\$'"),
        ("(n,2)", "expected one expression in parentheses"),
        ("(" * 40 + "n" + ")" * 40, "at most 30 parentheses inside each other"),
        ("n+" * 300 + "n", "has 601 characters, of 400 at most"),
        ("*".join(["(a+b+c+d+e)", "(f+g+h+i+j)", "(k+l+m+n+o)"]), "more than 50 terms"),
        ("", "got the end"),
        ("2 - 5", "negative dimension -3"),
    ],
)
def test_what_is_no_dimension_is_refused(text: str, message: str) -> None:
    """Says at which character, and what was expected."""
    with pytest.raises(ShapeError, match=message):
        TensorType("f32", (text,))


def test_types_print_and_load_back() -> None:
    """In text and in JSON, where commas inside parentheses belong to the dimension."""
    x = Input(TensorType("f32", ("n + 1", "2*m", "min(n//2, 512)", "8 - n", None, 3)), name="x")
    graph = Graph.of([x], [neg(x)])

    assert "f32[n+1,2*m,min(n//2,512),8-n,?,3]" in str(graph)
    assert parse(str(graph), {"neg": type(graph.nodes[0].op)}) == graph
    assert from_json(to_json(graph), {"neg": type(graph.nodes[0].op)}) == graph


def test_specialize_replaces_names_in_expressions() -> None:
    """From the input that has the name alone, or from an expression of one name."""
    x, y = Input(TensorType("f32", ("n",))), Input(TensorType("f32", ("2*n+1", "min(n,4)")))
    graph = Graph.of([x, y], [neg(y)])

    for types in ([TensorType("f32", (3,)), None], [None, TensorType("f32", (7, 3))]):
        small = specialize(graph, types)
        assert [v.type.shape for v in small.inputs] == [(3,), (7, 3)]
        assert small.outputs[0].type.shape == (7, 3)


def test_an_expression_that_does_not_fit_is_refused() -> None:
    """Says the numbers of its names, or that there is none."""
    x, y = Input(TensorType("f32", ("n",))), Input(TensorType("f32", ("2*n+1",)))
    graph = Graph.of([x, y], [neg(y)])
    with pytest.raises(ShapeError, match=r"'2\*n\+1' is 9 with n = 4, and 7 at input"):
        specialize(graph, [TensorType("f32", (4,)), TensorType("f32", (7,))])
    with pytest.raises(ShapeError, match=r"'2\*n\+1' is never 6"):
        specialize(graph, [None, TensorType("f32", (6,))])
