"""Index arithmetic in normal form, and bounds of indices.

An index is a sum of products of atoms with numbers in front.  Atoms are variables,
quotients, remainders, minima, loads.  Bounds come from the extents of the loop variables: sizes
that are not known yet are at least 0, and a sum whose every term has a bound has one.
"""

from __future__ import annotations

from math import gcd

from byparts_tensor_ir.expression import INDEX, INDEX_ARITHMETIC, Expr, const, make


def terms(e: Expr) -> tuple[dict[Expr, int], int]:
    """(atom -> coefficient, constant) of an index."""
    if e.op == "const":
        return {}, e.attr
    if e.op == "linear":
        return dict(zip(e.args, e.attr[0], strict=True)), e.attr[1]
    return {e: 1}, 0


def linear(coefficients: dict[Expr, int], constant: int = 0) -> Expr:
    """The sum; `(x // c) * c + x % c` becomes x."""
    kept = {atom: c for atom, c in coefficients.items() if c}
    for atom in [a for a in kept if a.op == "mod"]:
        x, divisor = atom.args
        quotient, factor = product(make("floordiv", (x, divisor), INDEX), divisor)
        if atom in kept and kept.get(quotient, 0) == kept[atom] * factor:
            scale = kept.pop(atom)
            del kept[quotient]
            inner, more = terms(x)
            return linear(
                {a: kept.get(a, 0) + scale * inner.get(a, 0) for a in {**kept, **inner}},
                constant + scale * more,
            )
    if not kept:
        return const(constant)
    atoms = sorted(kept, key=lambda a: a.serial)
    if len(atoms) == 1 and not constant and kept[atoms[0]] == 1:
        return atoms[0]
    return make("linear", tuple(atoms), INDEX, (tuple([kept[a] for a in atoms]), constant))


def product(a: Expr, b: Expr) -> tuple[Expr, int]:
    """The product of two atoms or numbers: (atom, number in front)."""
    factors: list[Expr] = []
    number = 1
    for x in (a, b):
        if x.op == "const":
            number *= x.attr
        else:
            factors += x.args if x.op == "mul" else (x,)
    if not factors:
        return const(1), number
    factors.sort(key=lambda f: f.serial)
    return (factors[0] if len(factors) == 1 else make("mul", tuple(factors), INDEX)), number


def _sum(a: Expr, b: Expr, sign: int = 1) -> Expr:
    result, constant = terms(a)
    more, other = terms(b)
    for atom, c in more.items():
        result[atom] = result.get(atom, 0) + sign * c
    return linear(result, constant + sign * other)


def _times(a: Expr, b: Expr) -> Expr:
    (left, c), (right, d) = terms(a), terms(b)
    result: dict[Expr, int] = {}
    for atom, k in left.items():
        result[atom] = result.get(atom, 0) + k * d
        for other, m in right.items():
            both, _ = product(atom, other)
            result[both] = result.get(both, 0) + k * m
    for other, m in right.items():
        result[other] = result.get(other, 0) + c * m
    return linear(result, c * d)


def floordiv(a: Expr, b: Expr) -> Expr:
    """a // b: what b divides leaves the quotient; a rest between 0 and b - 1 vanishes."""
    if b.op == "const" and a.op == "const" and b.attr:
        return const(a.attr // b.attr)
    if b is const(1):
        return a
    quotient, rest = _divided(a, b)
    if _between(rest, b):
        return quotient
    if rest.op == "floordiv" and rest.args[1].op == b.op == "const":
        return _sum(quotient, floordiv(rest.args[0], const(rest.args[1].attr * b.attr)))
    if b.op == "const" and b.attr > 0:
        coefficients, constant = terms(rest)
        common = gcd(b.attr, *coefficients.values())
        if common > 1:
            inner = linear({x: c // common for x, c in coefficients.items()}, constant // common)
            return _sum(quotient, floordiv(inner, const(b.attr // common)))
    return _sum(quotient, make("floordiv", (rest, b), INDEX))


def mod(a: Expr, b: Expr) -> Expr:
    """a % b, with the sign of b."""
    if b.op == "const" and a.op == "const" and b.attr:
        return const(a.attr % b.attr)
    if b is const(1):
        return const(0)
    _, rest = _divided(a, b)
    if _between(rest, b):
        return rest
    if b.op == "const" and b.attr > 0:  # 4 i % 12 is 4 (i % 3), which is seen to be a multiple of 4
        coefficients, constant = terms(rest)
        common = gcd(b.attr, constant, *coefficients.values())
        if common > 1:
            inner = linear({x: c // common for x, c in coefficients.items()}, constant // common)
            return _times(const(common), mod(inner, const(b.attr // common)))
    return make("mod", (rest, b), INDEX)


def _divided(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Split a into (quotient, rest) with a == quotient * b + rest, term by term."""
    factors = {b: 1} if b.op not in ("linear", "const") else terms(b)[0]
    number = b.attr if b.op == "const" else 1
    if len(factors) > 1 or number <= 0 or (b.op == "linear"):
        return const(0), a
    divisor = list(b.args) if b.op == "mul" else list(factors)
    coefficients, constant = terms(a)
    quotient: dict[Expr, int] = {}
    rest: dict[Expr, int] = {}
    for atom, c in coefficients.items():
        left = list(atom.args) if atom.op == "mul" else [atom]
        if c % number == 0 and all(left.count(f) >= divisor.count(f) for f in divisor):
            for f in divisor:
                left.remove(f)
            what, _ = const(1), 0
            for f in left:
                what, _ = product(what, f) if what.op != "const" else (f, 1)
            quotient[what] = quotient.get(what, 0) + c // number
        else:
            rest[atom] = c
    ones = quotient.pop(const(1), 0)
    if not divisor:
        ones, constant = ones + constant // number, constant % number
    return linear(quotient, ones), linear(rest, constant)


def _between(rest: Expr, b: Expr) -> bool:
    """Whether 0 <= rest < b whatever the variables are."""
    return not_negative(rest) and not_negative(_sum(_sum(b, rest, -1), const(1), -1))


def not_negative(e: Expr) -> bool:
    """Whether e >= 0 follows from the extents of its variables and from sizes being at least 0."""
    low = lower_bound(e)
    return low is not None and low >= 0


def lower_bound(e: Expr) -> int | None:
    """A number that e is never less than; `None` where none is known."""
    return _bound(e, 0)


def upper_bound(e: Expr) -> int | None:
    """A number that e is never greater than; `None` where none is known."""
    return _bound(e, 1)


def _bound(e: Expr, side: int) -> int | None:
    """Replace bounded atoms by their least (side 0) or greatest (side 1) values, inner loops first.

    O(terms squared).  Atoms with an extent are replaced by expressions, so that `m - 1 - i` is not
    negative where the extent of i is the size m.
    """
    for _ in range(64):
        coefficients, constant = terms(e)
        bounded = [f for atom in coefficients for f in _factors(atom) if _limits(f) is not None]
        if not bounded:
            return _sum_of_intervals(coefficients, constant, side)
        atom = max(bounded, key=lambda f: f.serial)
        slope: dict[Expr, int] = {}
        rest: dict[Expr, int] = {}
        ones = 0
        for term, c in coefficients.items():
            left = list(_factors(term))
            if atom not in left:
                rest[term] = c
                continue
            left.remove(atom)
            if atom in left:
                return None
            if not left:
                ones += c
                continue
            what = left[0] if len(left) == 1 else make("mul", tuple(left), INDEX)
            slope[what] = slope.get(what, 0) + c
        steep = linear(slope, ones)
        rising, falling = not_negative(steep), not_negative(_times(steep, const(-1)))
        if not rising and not falling:
            return None
        which = side if rising else 1 - side
        end = (_limits(atom) or ())[which]
        if end is None:
            return None
        ends = [_sum(_times(steep, x), linear(rest, constant)) for x in _ends(atom, end, which)]
        if len(ends) > 1:
            known = [x for x in [_bound(other, side) for other in ends] if x is not None]
            return (min if side else max)(known, default=None)
        (e,) = ends
    return None


def _ends(atom: Expr, end: Expr, which: int) -> list[Expr]:
    """The limits of an atom: several where its extent is the lesser of some, by sizes.

    Where a loop has a round at all, an extent max(x, 0) is x.
    """
    extent = atom.attr.extent if atom.op == "var" else None
    if not which or extent is None or not _has_size(extent):
        return [end]
    if extent.op == "max" and const(0) in extent.args:
        (extent,) = [x for x in extent.args if x is not const(0)]
    ends = extent.args if extent.op == "min" else (extent,)
    return [_sum(x, const(atom.attr.low - 1)) for x in ends]


def _has_size(e: Expr) -> bool:
    """Whether a size, which no number bounds, stands in an index."""
    if e.op == "var":
        return e.attr.extent is None
    return any(map(_has_size, e.args))


def _factors(atom: Expr) -> tuple[Expr, ...]:
    return atom.args if atom.op == "mul" else (atom,)


def _limits(atom: Expr) -> tuple[Expr | None, Expr | None] | None:
    """The least and greatest value of a loop variable or a remainder; `None` for other atoms."""
    if atom.op == "var" and atom.attr.extent is not None:
        low = const(atom.attr.low)
        return low, _sum(_sum(atom.attr.extent, low), const(1), -1)
    if atom.op == "mod" and not_negative(atom.args[1]):
        return const(0), _sum(atom.args[1], const(1), -1)
    if atom.op == "floordiv" and (extent := _extent(atom.args[0])) is not None:
        quotient, rest = _divided(extent, atom.args[1])
        if rest is const(0):
            return const(0), _sum(quotient, const(1), -1)
    return None


def _extent(e: Expr) -> Expr | None:
    """The extent of a loop variable that begins at 0."""
    return e.attr.extent if e.op == "var" and e.attr.low == 0 else None


def _sum_of_intervals(coefficients: dict[Expr, int], constant: int, side: int) -> int | None:
    total = constant
    for atom, c in coefficients.items():
        low, high = 1, 1
        for f in _factors(atom):
            a, b = _interval(f)
            if len(_factors(atom)) == 1:
                low, high = a, b  # type: ignore[assignment]  # may be None
            elif a is None or a < 0 or low is None:
                low = high = None  # type: ignore[assignment]
                break
            else:
                low = low * a
                high = None if high is None or b is None else high * b  # type: ignore[assignment]
        end = high if (side == 1) == (c > 0) else low
        if end is None:
            return None
        total += c * end
    return total


def _interval(atom: Expr) -> tuple[int | None, int | None]:
    """Numbers that bound an atom without an extent."""
    if atom.op == "var":
        return atom.attr.low, None
    ends = [(lower_bound(a), upper_bound(a)) for a in atom.args if a.dtype == INDEX]
    if atom.op == "floordiv" and atom.args[1].op == "const" and atom.args[1].attr > 0:
        return tuple([None if x is None else x // atom.args[1].attr for x in ends[0]])  # type: ignore[return-value]
    if atom.op == "floordiv" and not_negative(atom.args[0]) and not_negative(atom.args[1]):
        return 0, ends[0][1]
    if atom.op in ("min", "max", "select") and len(ends) == 2:
        lows, highs = [x for x, _ in ends], [x for _, x in ends]
        return _least(lows, atom.op), _greatest(highs, atom.op)
    if atom.op == "cast":
        return _RANGES.get(atom.args[0].dtype, (None, None))
    return None, None


_RANGES: dict[str, tuple[int | None, int | None]] = {
    "bool": (0, 1),
    **{f"u{bits}": (0, (1 << bits) - 1) for bits in (8, 32)},
    **{f"i{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32)},
}


def _least(ends: list[int | None], op: str) -> int | None:
    """The lower bound of min, max or select of two that have these."""
    known = [x for x in ends if x is not None]
    if op == "max":
        return max(known, default=None)
    return min(known) if len(known) == 2 else None


def _greatest(ends: list[int | None], op: str) -> int | None:
    known = [x for x in ends if x is not None]
    if op == "min":
        return min(known, default=None)
    return max(known) if len(known) == 2 else None


INDEX_ARITHMETIC.update(
    add=_sum,
    sub=lambda a, b: _sum(a, b, -1),
    mul=_times,
    floordiv=floordiv,
    mod=mod,
)
