"""Order in which the operands of an einsum are joined, by the sizes between."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, permutations
from math import prod

import numpy as np
import pytest
from numeric import present

from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.contraction import Contraction
from byparts_opset.einsum import Einsum, einsum

IMAGE = ("ih", "jw", "nhwc"), "nijc", {"i": 8, "j": 8, "h": 256, "w": 256, "n": 1, "c": 3}
CHAIN = ("ab", "bc", "cd", "de"), "ae", {"a": 2, "b": 50, "c": 40, "d": 30, "e": 2}


def cost(contraction: Contraction, joins: Iterable[tuple[int, int]]) -> int:
    """Multiplications, and elements written."""
    return sum(contraction.products(a, b) + contraction.size(a | b) for a, b in joins)


def cheapest(contraction: Contraction) -> int:
    """Cost of the best order of four operands, of all: one after the other, or two and two."""
    orders = list(permutations([1, 2, 4, 8]))
    one_by_one = [[(a, b), (a | b, c), (a | b | c, d)] for a, b, c, d in orders]
    two_and_two = [[(a, b), (c, d), (a | b, c | d)] for a, b, c, d in orders]
    return min(cost(contraction, joins) for joins in (*one_by_one, *two_and_two))


def largest(equation: str, *shapes: tuple[int, ...]) -> int:
    """Elements of the largest value in what an einsum decomposes into."""
    inputs = [Input(TensorType("f32", s)) for s in shapes]
    node = present(einsum(equation, *inputs).node)
    graph = Graph.of(inputs, present(node.op.decompose(*inputs)))
    return max(v.type.size for node in graph.nodes for v in node.outputs)


def test_an_image_meets_one_matrix_and_then_the_other() -> None:
    """The two matrices are not multiplied with each other."""
    assert Contraction(*IMAGE).order() == ((0, 2), (0, 1))


def test_a_chain_begins_at_its_narrow_end() -> None:
    assert Contraction(*CHAIN).order() == ((0, 1), (0, 2), (0, 1))


@pytest.mark.parametrize("seed", range(8))
def test_four_operands_are_joined_in_the_cheapest_order_of_all(seed: int) -> None:
    """With letters of random operands and sizes from 1 to 9, of which most occur twice."""
    random = np.random.default_rng(seed)
    terms = tuple("".join(sorted(random.permutation([*"abcdef"])[:3])) for _ in range(4))
    sizes = {i: int(d) for i, d in zip("abcdef", random.integers(1, 10, 6), strict=True)}
    contraction = Contraction(terms, "", sizes)

    assert cost(contraction, contraction.joins()) == cheapest(contraction)


def test_many_operands_are_joined_greedily() -> None:
    """A chain of thirty matrices keeps to the sizes of matrices."""
    letters = [chr(97 + k) for k in range(26)] + [chr(65 + k) for k in range(5)]
    terms = tuple(a + b for a, b in pairwise(letters))
    contraction = Contraction(terms, letters[0] + letters[-1], dict.fromkeys(letters, 4))

    assert len(contraction.order()) == 29
    assert max(contraction.size(a | b) for a, b in contraction.joins()) == 16


def test_a_size_that_is_not_known_counts() -> None:
    """The batch, a name, is no reason to make the outer product of the rest."""
    sizes = {**IMAGE[2], "n": "n", "c": None}

    assert Contraction(IMAGE[0], IMAGE[1], sizes).order() == ((0, 2), (0, 1))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ih,jw,nhwc->nijc", [(128, 256), (128, 256), (1, 256, 256, 3)]),
        ("ab,bc,cd,de->ae", [(4, 300), (300, 300), (300, 300), (300, 4)]),
        ("a,b,ab->", [(500,), (500,), (500, 500)]),
        ("xi,yj,zk,ijk->xyz", [(20, 20)] * 3 + [(20, 20, 20)]),
    ],
)
def test_nothing_between_is_larger_than_what_is_given(
    equation: str, shapes: list[tuple[int, ...]]
) -> None:
    """Where some order allows it, as in each of these."""
    assert largest(equation, *shapes) <= max(map(prod, shapes))


def test_the_gradient_of_three_operands_is_in_a_cheap_order_too() -> None:
    """The gradient of an image is dy by one matrix, then the other."""
    given = [Input(TensorType("f32", s)) for s in [(9, 50), (9, 50), (50, 50), (9, 9)]]
    node = present(einsum("ih,jw,hw->ij", *given[:3]).node)
    dx = present(present(node.op.gradient(node, given[3])[2]).node)
    assert isinstance(dx.op, Einsum)

    assert largest(dx.op.equation, *[v.type.dims for v in dx.inputs]) == 2500


def test_evaluate_takes_the_cheap_order() -> None:
    """An outer product of these matrices would have 2^40 elements."""
    eye = np.eye(1024, dtype=np.float32)
    (y,) = Einsum("ih,jw,hw->ij").evaluate(eye, eye, np.ones((1024, 1024), np.float32))

    np.testing.assert_array_equal(y, np.ones((1024, 1024)))


def test_operations_are_those_of_the_pairs() -> None:
    """Two for each multiplication: what costs are reckoned by."""
    types = [TensorType("f32", s) for s in ((8, 256), (8, 256), (1, 256, 256, 3))]

    assert Einsum("ih,jw,nhwc->nijc").flops(*types) == 2 * (8 * 256 * 256 * 3 + 8 * 8 * 256 * 3)
