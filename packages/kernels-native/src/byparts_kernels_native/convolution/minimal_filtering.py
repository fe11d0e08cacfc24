"""Minimal filtering: sums of products with fewer multiplications than products.

m neighbouring results of a filter of r elements take m r multiplications one by one, and
n = m + r - 1 by Winograd's method (Arithmetic Complexity of Computations, 1980; for images: Lavin
and Gray, https://arxiv.org/abs/1509.09308):

    y = A [(G w) * (B x)]        x: n elements, w: r, y: m; for squares, along both dimensions

To each row of G and B belongs a point: 0, pairs +p and -p, and infinity.  The points decide about
rounding.  With these, the root mean square error of a sum in f32 is 0.7 (n = 4), 2.3 (n = 6) and 6
(n = 8) times that of adding up one product after the other, on standard normal images and filters;
with 1 and 2 instead of 3/4 and 3/2 it is 4.6 times for n = 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod

Matrix = list[list[Fraction]]
_PAIRS = {4: "1", 6: "3/4 3/2", 8: "1/2 1 2"}
POINTS = {
    n: [Fraction(0), *(sign * Fraction(p) for p in pairs.split() for sign in (1, -1))]
    for n, pairs in _PAIRS.items()
}


def matrices(m: int, r: int) -> tuple[Matrix, Matrix, Matrix]:
    """A (m, n), G (n, r) and B (n, n), for an n = m + r - 1 of `POINTS`; B depends on n alone."""
    n = m + r - 1
    points = POINTS[n]
    others = [[q for q in points if q != p] for p in points]
    scale = [prod(p - q for q in rest) for p, rest in zip(points, others, strict=True)]
    a = [[p**i for p in points] + [Fraction(i == m - 1)] for i in range(m)]
    g = [[p**k / d for k in range(r)] for p, d in zip(points, scale, strict=True)]
    b = [[*_with_roots(rest), Fraction(0)] for rest in others]
    return a, [*g, [Fraction(k == r - 1) for k in range(r)]], [*b, _with_roots(points)]


def _with_roots(roots: Iterable[Fraction]) -> list[Fraction]:
    """Coefficients of the product of (x - root), from that of x^0 on."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted, same = [Fraction(0), *coefficients], [*coefficients, Fraction(0)]
        coefficients = [a - root * b for a, b in zip(shifted, same, strict=True)]
    return coefficients


class Statements:
    """C: y[i * t] = sum over j of matrix[i][j] * x[j * s], on vectors V, with `multiply_add`.

    Columns that are equal but for signs are added and subtracted first; rows that are equal but for
    the signs of some elements share the sums of both kinds.
    """

    def __init__(self, matrix: Matrix) -> None:
        self.lines: list[str] = []
        self.names = [f"load(x + {j} * s)" for j in range(len(matrix[0]))]
        self.rows = [list(row) for row in matrix]
        self._join_columns()
        done: set[int] = set()
        for i in range(len(self.rows)):
            if i not in done:
                done |= self._write_row(i)

    def _join_columns(self) -> None:
        columns = list(zip(*self.rows, strict=True))
        for a, b in _mirrored_pairs(columns):
            x, z = self.names[a], self.names[b]
            self.names += [self._named(f"{x} + {z}"), self._named(f"{x} - {z}")]
            for row in self.rows:  # c x + c z = c (x + z), c x - c z = c (x - z)
                same = row[a] == row[b]
                row += [row[a] * same, row[a] * (not same)]
                row[a] = row[b] = Fraction(0)

    def _write_row(self, i: int) -> set[int]:
        """The number of the row that is written with it."""
        row = self.rows[i]
        pairs = [k for a, k in _mirrored_pairs(self.rows) if a == i]
        if not pairs or sum(map(bool, row)) < 3:
            self.lines.append(f"store(y + {i} * t, {self._sum(row)});")
            return set()
        other = self.rows[pairs[0]]
        same = self._named(self._sum([c * (c == d) for c, d in zip(row, other, strict=True)]))
        apart = self._named(self._sum([c * (c != d) for c, d in zip(row, other, strict=True)]))
        self.lines.append(f"store(y + {i} * t, {same} + {apart});")
        self.lines.append(f"store(y + {pairs[0]} * t, {same} - {apart});")
        return {pairs[0]}

    def _named(self, expression: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"const V {name} = {expression};")
        return name

    def _sum(self, row: Sequence[Fraction]) -> str:
        """Write the sum of coefficient * name as C; terms with coefficient 1 or -1 come first."""
        terms = [(c, name) for c, name in zip(row, self.names, strict=True) if c]
        (c, name), *rest = sorted(terms, key=lambda t: (abs(t[0]) != 1, t[0] < 0))
        text = name if c == 1 else f"-{name}" if c == -1 else f"{_number(c)} * {name}"
        for c, name in rest:
            if abs(c) == 1:
                text = f"({text} {'+' if c > 0 else '-'} {name})"
            else:
                text = f"multiply_add(V{{}} + {_number(c)}, {name}, {text})"
        return text


def _mirrored_pairs(rows: Sequence[Sequence[Fraction]]) -> list[tuple[int, int]]:
    """Pairs of rows that are equal but for signs, of which some and not all differ."""
    return [
        (a, b)
        for b in range(len(rows))
        for a in range(b)
        if [abs(x) for x in rows[a]] == [abs(x) for x in rows[b]]
        and {x == y for x, y in zip(rows[a], rows[b], strict=True) if x} == {True, False}
    ]


def _number(c: Fraction) -> str:
    return f"{float(c)!r}f"


def transform(name: str, matrix: Matrix) -> str:
    """C: `NAME(x, s, y, t)` with y = M x M^T, of vectors at x + (row * columns + column) * s."""
    out, n = len(matrix), len(matrix[0])
    lines = "\n".join(f"  {line}" for line in Statements(matrix).lines)
    return f"""INLINE void {name}_line(const T *x, int64_t s, T *y, int64_t t) {{
{lines}
}}
static void {name}(const T *x, int64_t s, T *y, int64_t t) {{
  alignas(64) T half[{out * n} * VL];
#pragma GCC unroll 1
  for (int b = 0; b < {n}; b++)
    {name}_line(x + b * s, {n} * s, half + b * VL, {n} * VL);
#pragma GCC unroll 1
  for (int a = 0; a < {out}; a++)
    {name}_line(half + a * {n} * VL, VL, y + a * {out} * t, t);
}}
"""
