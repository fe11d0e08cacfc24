"""Arithmetic with dimensions whose numbers are not known yet: "n + 1", "2 * n", "min(n, 512)".

A dimension that is more than one name is written as an expression of names and whole numbers:

    sum     = ["-"] product {("+" | "-") product}
    product = factor {"*" factor | ("//" | "%") factor}
    factor  = number | name | ("min" | "max") "(" sum {"," sum} ")" | "(" sum ")"

`//` rounds down, as in Python, and the right side of `//` and `%` is a positive number.  A name
stands for a number that is not negative.

`dimension` brings an expression into one normal form, which is again a text: a polynomial in the
names and in the quotients, minima and maxima that cannot be simplified, like terms collected.  Two
dimensions with equal normal forms are equal for all numbers; the converse holds for polynomials
(without quotients, minima and maxima).  So shapes compare, hash, print and parse as plain tuples.

A polynomial is a mapping from products of atoms to coefficients: `2*n*m + 1` is
`{(m, n): 2, (): 1}`.  The cost is that of multiplying out, which `MOST_TERMS` bounds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import gcd

from byparts_graph_ir.errors import ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

# The text of an atom; whether its number can be negative; whether a product needs parentheses.
Atom: TypeAlias = "tuple[str, bool, bool]"
Polynomial: TypeAlias = "dict[tuple[Atom, ...], int]"

# Bounds, so that no file keeps the parser busy.
LONGEST = 400  # characters of an expression
DEEPEST = 30  # parentheses inside parentheses
MOST_TERMS = 50  # of a polynomial
_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+)|(?P<name>[^\W\d]\w*)|(?P<mark>//|[-+*%(),]))")


def dimension(
    text: int | str | None, names: Mapping[str, int | str | None] | None = None
) -> int | str | None:
    """Replace names in a dimension by numbers, names or expressions, and normalise the result.

    Args:
        text: the dimension; a number and `None` (unknown) are returned as they are.
        names: what stands for each name; a name that is absent stays, and `None` is unknown.

    Returns:
        A number if no name is left, which may be negative; `None` if an unknown name counts, or if
        the result is too large to be written; otherwise the normal form: `dimension("1 + n*2")` is
        "2*n+1".

    Raises:
        ShapeError: `text` is no expression; says at which character.
    """
    if not isinstance(text, str):
        return text
    if not names:
        return _normal(text)
    if text.isidentifier():
        return dimension(names[text]) if text in names else text
    try:
        result = _text(_Parser(text, names).whole())
    except (_UnknownError, _TooLargeError):
        return None
    return result if isinstance(result, int) or len(result) <= LONGEST else None


def dimension_names(text: int | str | None) -> frozenset[str]:
    """The names in a dimension: `n` and `m` in "n*m+1"."""
    if not isinstance(text, str):
        return frozenset()
    return frozenset(
        name
        for name, call in re.findall(r"([^\W\d]\w*)\s*(\(?)", text)
        if not (call and name in ("min", "max"))
    )


def split(shape: str) -> list[str]:
    """Split the text of a shape at the commas outside parentheses: "2,min(n,512)" has two."""
    words, depth = [""], 0
    for c in shape:
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            words.append("")
        else:
            words[-1] += c
    return words


def solve(text: str, size: int) -> tuple[str, int] | None:
    """The name and its number, from the number of an expression: "2*n+1" = 7 gives `n` = 3.

    Returns:
        `None` if the expression is not `a * name + b`, so that it does not determine one number.

    Raises:
        ShapeError: no number of the name that is not negative gives `size`.
    """
    terms = dict(_Parser(text, {}).whole())
    constant = terms.pop((), 0)
    (factors, a), *more = terms.items() if terms else [((), 0)]
    if more or len(factors) != 1 or not factors[0][0].isidentifier():
        return None
    number, left = divmod(size - constant, a)
    if left or number < 0:
        raise ShapeError(f"dimension {text!r} is never {size}")
    return factors[0][0], number


class _UnknownError(Exception):
    """A name whose number is not known counts."""


class _TooLargeError(ShapeError):
    """A polynomial has too many terms."""


@lru_cache(maxsize=4096)
def _normal(text: str) -> int | str:
    return text if text.isidentifier() else _text(_Parser(text, {}).whole())


class _Parser:
    """Parser of an expression, in one pass; each rule returns the polynomial of what it read."""

    def __init__(self, text: str, names: Mapping[str, int | str | None]) -> None:
        self.text, self.names, self.at, self.depth = text, names, 0, 0
        if len(text) > LONGEST:
            raise ShapeError(
                f"dimension {text[:40]!r}... has {len(text)} characters, of {LONGEST} at most"
            )
        self.kind, self.word, self.start = "", "", 0
        self.next()

    def whole(self) -> Polynomial:
        value = self.sum()
        if self.kind:
            raise self.error("nothing more")
        return value

    def next(self) -> str:
        """Step to the next token; returns the word before."""
        before, token = self.word, _TOKEN.match(self.text, self.at)
        rest = self.text[self.at :]
        self.start = self.at + len(rest) - len(rest.lstrip())
        if token is not None:
            self.kind, self.word, self.at = token.lastgroup or "", token[0].strip(), token.end()
        elif rest.strip():
            self.kind, self.word = "", rest.strip()[0]
            raise self.error("a number, a name or one of + - * // % min max ( )")
        else:
            self.kind, self.word = "", ""
        return before

    def error(self, expected: str) -> ShapeError:
        seen = repr(self.word) if self.word else "the end"
        return ShapeError(
            f"dimension {self.text!r}: expected {expected} at character {self.start}, got {seen}"
        )

    def sum(self) -> Polynomial:
        sign = -1 if self.word == "-" else 1
        if sign < 0:
            self.next()
        value = _scaled(self.product(), sign)
        while self.word in ("+", "-"):
            sign = 1 if self.next() == "+" else -1
            value = _added(value, _scaled(self.product(), sign))
        return value

    def product(self) -> Polynomial:
        value = self.factor()
        while self.word in ("*", "//", "%"):
            operator = self.next()
            start, right = self.start, self.factor()
            if operator == "*":
                value = _multiplied(value, right)
                continue
            by = _number(right)
            if by is None or by < 1:
                self.start, self.word = start, _shown(right)
                raise self.error(f"a positive number after {operator}")
            quotient = _divided(value, by)
            value = quotient if operator == "//" else _added(value, _scaled(quotient, -by))
        return value

    def factor(self) -> Polynomial:
        if self.kind == "number":
            return _constant(int(self.next()))
        if self.kind == "name":
            name = self.next()
            if self.word == "(" and name in ("min", "max"):
                return _extreme(name, self.bracket())
            return self.named(name)
        if self.word == "(":
            (value, *more) = self.bracket()
            if more:
                raise self.error("one expression in parentheses")
            return value
        raise self.error("a number, a name, min, max or (")

    def bracket(self) -> list[Polynomial]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"at most {DEEPEST} parentheses inside each other")
        self.next()
        values = [self.sum()]
        while self.word == ",":
            self.next()
            values.append(self.sum())
        if self.word != ")":
            raise self.error(")")
        self.next()
        self.depth -= 1
        return values

    def named(self, name: str) -> Polynomial:
        if name not in self.names:
            return {((name, False, False),): 1}
        value = self.names[name]
        if value is None:
            raise _UnknownError
        return _constant(value) if isinstance(value, int) else _Parser(value, {}).whole()


def _constant(number: int) -> Polynomial:
    return {(): number} if number else {}


def _number(p: Polynomial) -> int | None:
    """The polynomial as a number, or `None` if it has names."""
    return p.get((), 0) if not p or set(p) == {()} else None


def _scaled(p: Polynomial, by: int) -> Polynomial:
    return {term: c * by for term, c in p.items()} if by else {}


def _added(p: Polynomial, q: Polynomial) -> Polynomial:
    both = {term: p.get(term, 0) + q.get(term, 0) for term in {**p, **q}}
    return {term: c for term, c in both.items() if c}


def _multiplied(p: Polynomial, q: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for a, c in p.items():
        result = _added(result, {tuple(sorted(a + b)): c * d for b, d in q.items()})
        if len(result) > MOST_TERMS:
            raise _TooLargeError(f"a dimension of more than {MOST_TERMS} terms: {_shown(q)} * ...")
    return result


def _divided(p: Polynomial, by: int) -> Polynomial:
    """p // by.  What the divisor divides leaves the quotient: (2n + 3) // 2 = n + 1 + 1 // 2."""
    common = gcd(by, *[c for term, c in p.items() if term])
    if common > 1:  # (2n + 1) // 4 = n // 2
        p, by = {term: c // common for term, c in p.items() if c // common}, by // common
    whole = {term: c // by for term, c in p.items() if c // by}
    rest = {term: c % by for term, c in p.items() if c % by}
    if set(rest) <= {()}:  # a constant smaller than the divisor
        return whole
    text = _shown(rest)
    ((term, c), *more) = rest.items()
    if not more and c == 1 and len(term) == 1 and term[0][2]:  # (a // 2) // 3 = a // 6
        inner, _, first = text.rpartition("//")
        by *= int(first)
    else:
        inner = text if text.isidentifier() else f"({text})"
    return _added(whole, {((f"{inner}//{by}", _lowest(rest) is None, True),): 1})


def _extreme(name: str, values: Sequence[Polynomial]) -> Polynomial:
    """The minimum or the maximum, without the values that another one makes superfluous."""
    sign = 1 if name == "min" else -1
    kept: list[Polynomial] = []
    for value in values:
        if not any(_at_least(value, k, sign) for k in kept):
            kept = [k for k in kept if not _at_least(k, value, sign)] + [value]
    if len(kept) == 1:
        return kept[0]
    lowest = [_lowest(k) for k in kept]
    sure = [low is not None and low >= 0 for low in lowest]
    negative = not (all(sure) if name == "min" else any(sure))
    texts = sorted(map(_shown, kept), key=lambda t: (t.isdigit(), t))  # numbers last
    text = f"{name}({','.join(texts)})"
    return {((text, negative, False),): 1}


def _at_least(p: Polynomial, q: Polynomial, sign: int) -> bool:
    """Whether p >= q (p <= q where `sign` is -1) for all numbers, as far as can be told."""
    low = _lowest(_scaled(_added(p, _scaled(q, -1)), sign))
    return low is not None and low >= 0


def _lowest(p: Polynomial) -> int | None:
    """A number that p is never below, or `None`: a name that can be anything is subtracted."""
    if any(c < 0 or any(atom[1] for atom in term) for term, c in p.items() if term):
        return None
    return p.get((), 0)


def _text(p: Polynomial) -> int | str:
    number = _number(p)
    return _shown(p) if number is None else number


def _shown(p: Polynomial) -> str:
    """The terms in the order of their texts, the constant after them, negative ones last."""
    if not p:
        return "0"
    order = sorted(p.items(), key=lambda item: (item[1] < 0, not item[0], item[0]))
    text = "".join(("-" if c < 0 else "+") + _term(term, abs(c)) for term, c in order)
    return text.removeprefix("+")


def _term(atoms: tuple[Atom, ...], c: int) -> str:
    if len(atoms) == 1 and c == 1:
        return atoms[0][0]
    factors = [f"({text})" if quotient else text for text, _, quotient in atoms]
    return "*".join(factors if atoms and c == 1 else [str(c), *factors])
