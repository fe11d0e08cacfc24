"""Random expressions of arrays, each step compared with NumPy on the same elements.

    python packages/eager/tests/random_expressions.py 100000 7     # how many, first seed

A step takes arrays that earlier steps made (views of views included), so what one step leaves in a
wrong state another one finds.  NumPy computes from our elements, so errors do not grow: functions
that are NumPy's own must give its bits, others differ by a few units in the last place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import byparts_eager as bp

FLOATS, SIGNED, ALL_INTEGERS = (
    ("f32", "f64"),
    ("i8", "i16", "i32", "i64"),
    ("i8", "i32", "i64", "u8"),
)
NUMBERS, DTYPES = (*FLOATS, *ALL_INTEGERS), (*FLOATS, *SIGNED, "u8", "bool")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 2.5, -2.5, 1e30, 3.0)
_NAMES = {"f32": "float32", "f64": "float64", "u8": "uint8", "bool": "bool"} | {
    d: d.replace("i", "int") for d in SIGNED
}

words = str.split

# name -> (dtypes it takes, NumPy's name, units in the last place that it may differ by)
ONE: dict[str, tuple[Sequence[str], str, float]] = {
    **{n: (FLOATS, n, 0) for n in words("cos cosh exp expm1 floor log log1p reciprocal sin sinh sqrt "
                                       "tan tanh trunc ceil round")},
    **{n: (FLOATS, n.replace("a", "arc", 1), 0) for n in words("acos acosh asin asinh atan atanh")},
    **{n: (FLOATS, n, 4) for n in ("log2", "log10")},
    **{n: (NUMBERS, n, 0) for n in ("abs", "sign", "square", "negative", "positive", "isnan")},
    **{n: (NUMBERS, n, 0) for n in ("isinf", "isfinite")},
    **{"signbit": (FLOATS, "signbit", 0)},
    **{"logical_not": (("bool",), "logical_not", 0)},
    **{"bitwise_invert": ((*ALL_INTEGERS, "bool"), "invert", 0)},
}  # fmt: skip
TWO: dict[str, tuple[Sequence[str], str, float]] = {
    **{n: (NUMBERS, n, 0) for n in words("add subtract multiply maximum minimum remainder")},
    **{n: (NUMBERS, n, 0) for n in words("floor_divide less less_equal greater greater_equal")},
    **{n: (DTYPES, n, 0) for n in ("equal", "not_equal")},
    **{"divide": (FLOATS, "divide", 0), "pow": (FLOATS, "power", 0)},
    **{n: (FLOATS, n, 0) for n in ("copysign", "nextafter")},
    **{"atan2": (FLOATS, "arctan2", 0), "hypot": (FLOATS, "hypot", 4)},
    **{"logaddexp": (FLOATS, "logaddexp", 4)},
    **{n: (("bool",), n, 0) for n in ("logical_and", "logical_or", "logical_xor")},
    **{n: ((*ALL_INTEGERS, "bool"), n, 0) for n in ("bitwise_and", "bitwise_or", "bitwise_xor")},
}  # fmt: skip
OPERATORS: dict[str, tuple[Sequence[str], Callable[[Any, Any], Any]]] = {
    "+": (NUMBERS, lambda x, y: x + y),
    "-": (NUMBERS, lambda x, y: x - y),
    "*": (NUMBERS, lambda x, y: x * y),
    "/": (FLOATS, lambda x, y: x / y),
    "//": (NUMBERS, lambda x, y: x // y),
    "%": (NUMBERS, lambda x, y: x % y),
    "<": (NUMBERS, lambda x, y: x < y),
    ">=": (NUMBERS, lambda x, y: x >= y),
    "==": (DTYPES, lambda x, y: x == y),
    "!=": (DTYPES, lambda x, y: x != y),
    "&": ((*ALL_INTEGERS, "bool"), lambda x, y: x & y),
    "|": ((*ALL_INTEGERS, "bool"), lambda x, y: x | y),
    "^": ((*ALL_INTEGERS, "bool"), lambda x, y: x ^ y),
}


LARGEST = 40_000  # elements of an array that is kept


class Expression:
    """An expression that grows step by step.

    Attributes:
        values: the arrays so far.
        lines: what was done, to be read beside a failure.
        checks: how many results were compared.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.values: list[Any] = []
        self.lines: list[str] = []
        self.checks = 0
        for _ in range(int(self.rng.integers(2, 4))):
            self.start()

    def start(self) -> Any:
        """Add an array of random shape and dtype, special numbers among its elements."""
        shape = tuple(self.rng.integers(0, 4, self.rng.integers(0, 4)))
        if self.rng.random() < 0.03:  # more bytes than kernels keep memory for
            shape = tuple(self.rng.integers(100, 180, 2))
        dtype = self.pick(DTYPES)
        elements = self.elements(dtype, shape)
        self.values.append(bp.asarray(elements))
        self.lines.append(f"v{len(self.values) - 1} = {elements!r}")
        return self.values[-1]

    def elements(self, dtype: str, shape: tuple[int, ...]) -> Any:
        """Random elements for an array."""
        rng = self.rng
        if dtype == "bool":
            return np.asarray(rng.integers(0, 2, shape) > 0)
        if dtype in FLOATS:
            plain = rng.normal(0, 2, shape)
            special = rng.choice(SPECIAL, shape)
            return np.where(rng.random(shape) < 0.2, special, plain).astype(_NAMES[dtype])
        low, high = (0, 256) if dtype == "u8" else (-100, 100)
        return rng.integers(low, high, shape).astype(_NAMES[dtype])

    def pick(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return options[int(self.rng.integers(len(options)))]

    def of(self, dtypes: Sequence[str]) -> Any:
        """An array of the expression of one of these dtypes, or a new one."""
        known = [v for v in self.values if v.dtype in dtypes]
        if known and self.rng.random() < 0.8:
            return self.pick(known)
        shape = tuple(self.rng.integers(0, 4, self.rng.integers(0, 3)))
        return bp.asarray(self.elements(self.pick(dtypes), shape))

    def partner(self, x: Any, dtypes: Sequence[str]) -> Any:
        """An array that broadcasts with `x`, of a dtype that promotes with its dtype; or a number."""
        if self.rng.random() < 0.2:
            return self.number(x)
        same = [v for v in self.values if v.shape == x.shape and v.dtype in dtypes]
        same = [v for v in same if _promotes(x.dtype.ours, v.dtype.ours)]
        if same and self.rng.random() < 0.4:
            return self.pick(same)  # x itself, at times
        kind = [d for d in dtypes if _promotes(x.dtype.ours, d)]
        shape = [d if self.rng.random() < 0.7 else 1 for d in x.shape]
        shape = shape[int(self.rng.integers(0, len(shape) + 1)) if shape else 0 :]
        return bp.asarray(self.elements(self.pick(kind), tuple(shape)))

    def number(self, x: Any) -> Any:
        """A number of Python that an array of this dtype meets."""
        if x.dtype == "bool":
            return bool(self.rng.integers(2))
        if x.dtype in FLOATS:
            return float(self.pick(SPECIAL))
        return int(self.rng.integers(0, 100))

    def check(self, text: str, ours: Any, theirs: Any, units: float = 0, size: Any = 0) -> None:
        """Compare a result with NumPy's, and keep it.

        Raises:
            AssertionError: they differ; with all lines so far.
        """
        self.lines.append(text)
        self.checks += 1
        wrong = difference(ours, theirs, units, size)
        if wrong:
            raise AssertionError("\n".join([*self.lines, wrong]))
        if ours.size <= LARGEST and len(ours.shape) < 5:
            self.values.append(ours)

    def step(self) -> None:
        """Do something random with the arrays."""
        self.pick(STEPS)(self)


def difference(ours: Any, theirs: Any, units: float = 0, size: Any = 0) -> str:
    """What is wrong with a result beside NumPy's, in a line; nothing if it is right.

    The units in the last place are those of the result, or of `size` where that is greater.

    Dtypes are NumPy's but where it has none of ours (u64); 0.0 is not -0.0, nan is nan.
    """
    wanted = np.asarray(theirs)
    found = ours.numpy()
    if found.shape != wanted.shape:
        return f"shape {found.shape}, NumPy's is {wanted.shape}"
    if wanted.dtype != found.dtype and wanted.dtype != np.uint64:
        return f"dtype {found.dtype}, NumPy's is {wanted.dtype}"
    wanted = wanted.astype(found.dtype)
    if found.dtype.kind != "f":
        return "" if (found == wanted).all() else f"{found!r}\nNumPy: {wanted!r}"
    with np.errstate(all="ignore"):
        largest = np.maximum(np.maximum(np.abs(found), np.abs(wanted)), size)
        near = units * np.spacing(largest)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        same |= np.abs(found - wanted) <= near
        if units == 0:
            same &= np.isnan(found) | (np.signbit(found) == np.signbit(wanted))
    return "" if same.all() else f"{found!r}\nNumPy: {wanted!r}"


def _promotes(a: str, b: str) -> bool:
    try:
        bp.result_type(a, b)
    except TypeError:
        return False
    return True


def _numpy(x: Any) -> Any:
    return x.numpy() if isinstance(x, bp.Array) else x


def _one(e: Expression) -> None:
    name = e.pick(list(ONE))
    dtypes, theirs, units = ONE[name]
    x = e.of(dtypes)
    e.check(f"{name}({x!r})", getattr(bp, name)(x), getattr(np, theirs)(x.numpy()), units)


def _two(e: Expression) -> None:
    name = e.pick(list(TWO))
    dtypes, theirs, units = TWO[name]
    x = e.of(dtypes)
    y = e.partner(x, dtypes)
    wanted = getattr(np, theirs)(x.numpy(), _numpy(y))
    size = np.fmax(abs(x.numpy()), abs(_numpy(y))) if name == "logaddexp" else 0
    e.check(f"{name}({x!r}, {y!r})", getattr(bp, name)(x, y), wanted, units, size)


def _operator(e: Expression) -> None:
    sign = e.pick(list(OPERATORS))
    dtypes, function = OPERATORS[sign]
    x = e.of(dtypes)
    y = e.partner(x, dtypes)
    pair = (x, y) if e.rng.random() < 0.7 else (y, x)
    wanted = function(*map(_numpy, pair))
    e.check(f"{pair[0]!r} {sign} {pair[1]!r}", function(*pair), wanted)


def _ufunc(e: Expression) -> None:
    name = e.pick(("add", "multiply", "maximum", "subtract"))
    x = e.of(NUMBERS)
    y = e.partner(x, NUMBERS)
    ufunc = getattr(np, name)
    if isinstance(y, bp.Array) and e.rng.random() < 0.5:
        e.check(
            f"np.{name}({y!r} of NumPy, {x!r})", ufunc(y.numpy(), x), ufunc(y.numpy(), x.numpy())
        )
        return
    e.check(f"np.{name}({x!r}, {y!r})", ufunc(x, y), ufunc(x.numpy(), _numpy(y)))


def _index(e: Expression) -> None:
    x = e.of(DTYPES)
    index = random_index(e, x)
    try:
        wanted = x.numpy()[index]
    except IndexError:
        return
    ours = tuple([bp.asarray(i) if isinstance(i, np.ndarray) else i for i in index])
    e.check(f"{x!r}[{index}]", x[ours], wanted)
    with bp.record():  # by the ops that gradients go through
        e.check(f"recorded {x!r}[{index}]", x[ours], wanted)


def random_index(e: Expression, x: Any) -> tuple[Any, ...]:
    """An index of `x`: ints, slices, `None`, `...`, and at times an integer or bool array."""
    if e.rng.random() < 0.15:
        return (e.elements("bool", x.shape),)
    items: list[Any] = []
    for size in x.shape[: int(e.rng.integers(0, len(x.shape) + 1))]:
        what = e.rng.random()
        if what < 0.25 and size:
            items.append(int(e.rng.integers(-size, size)))
        elif what < 0.4 and size:
            places = e.rng.integers(-size, size, int(e.rng.integers(1, 4)))
            items.append(places.astype(e.pick(("i8", "i4", "i1"))))
        else:
            ends: list[Any] = [*range(-5, 6), *[None] * 6]
            items.append(slice(e.pick(ends), e.pick(ends), e.pick((None, 1, 2, -1, -2))))
    if e.rng.random() < 0.3:
        new = None if e.rng.random() < 0.8 else True
        items.insert(int(e.rng.integers(0, len(items) + 1)), new)
    if e.rng.random() < 0.3:
        items.append(Ellipsis)
    return tuple(items)


def _axes_of(e: Expression, x: Any) -> Any:
    if not x.shape or e.rng.random() < 0.3:
        return None
    axes = e.rng.permutation(len(x.shape))[: int(e.rng.integers(1, len(x.shape) + 1))]
    signed = [int(a) - (len(x.shape) if e.rng.random() < 0.3 else 0) for a in axes]
    return signed[0] if len(signed) == 1 else tuple(signed)


def _reduce(e: Expression) -> None:
    name = e.pick(("sum", "prod", "max", "min", "any", "all", "count_nonzero"))
    x = e.of(
        {"sum": ALL_INTEGERS, "prod": ALL_INTEGERS, "max": NUMBERS, "min": NUMBERS}.get(
            name, DTYPES
        )
    )
    axis, keepdims = _axes_of(e, x), bool(e.rng.integers(2))
    if name in ("max", "min") and 0 in x.shape:
        return
    wanted = getattr(np, name)(x.numpy(), axis=axis, keepdims=keepdims)
    ours = getattr(bp, name)(x, axis=axis, keepdims=keepdims)
    e.check(f"{name}({x!r}, {axis}, {keepdims})", ours, wanted)


def _moments(e: Expression) -> None:
    """Sums of floats: errors are bounded by the sum of the sizes, since orders of sums differ."""
    x = e.of(FLOATS)
    name, axis = e.pick(("sum", "mean", "var", "std")), _axes_of(e, x)
    a = x.numpy().astype("f8")
    if 0 in x.shape or not np.isfinite(a).all() or np.abs(a).max() > 1e9:
        return
    wanted = getattr(np, name)(a, axis=axis)
    ours = getattr(bp, name)(x, axis=axis)
    power = 1 if name in ("sum", "mean") else 2
    size = np.sum(np.abs(a) ** power, axis=axis) * (
        1 if name == "sum" else np.size(wanted) / a.size
    )
    gap = np.abs(ours.numpy().astype("f8") ** (power if name == "std" else 1)
                 - wanted ** (power if name == "std" else 1))  # fmt: skip
    e.checks += 1
    text = f"{name}({x!r}, {axis}): {ours!r}\nNumPy: {wanted!r}"
    limits = np.finfo(x.numpy().dtype)  # squares of small numbers are 0
    assert (gap <= 8 * limits.eps * size + limits.tiny).all(), "\n".join([*e.lines, text])
    e.values.append(ours)


def _shape(e: Expression) -> None:
    x = e.of(DTYPES)
    n, a = len(x.shape), x.numpy()
    perm = tuple(int(i) for i in e.rng.permutation(n))
    axis = int(e.rng.integers(-n - 1, n + 1))
    name = e.pick(
        ("permute", "expand", "flat", "flip", "roll", "tile", "broadcast", "move", "repeat")
    )
    if name == "permute":
        e.check(f"permute_dims({x!r}, {perm})", bp.permute_dims(x, perm), a.transpose(perm))
    elif name == "expand":
        e.check(
            f"expand_dims({x!r}, {axis})", bp.expand_dims(x, axis=axis), np.expand_dims(a, axis)
        )
    elif name == "flat":
        e.check(f"reshape({x!r}, -1)", bp.reshape(x, (-1,)), a.reshape(-1))
    elif name == "flip":
        axes = _axes_of(e, x)
        e.check(f"flip({x!r}, {axes})", bp.flip(x, axis=axes), np.flip(a, axes))
    elif name == "roll":
        by, along = int(e.rng.integers(-5, 6)), perm[0] if n and axis > 0 else None
        e.check(f"roll({x!r}, {by}, {along})", bp.roll(x, by, axis=along), np.roll(a, by, along))
    elif name == "tile":
        times = tuple(int(i) for i in e.rng.integers(0, 3, int(e.rng.integers(0, 4))))
        e.check(f"tile({x!r}, {times})", bp.tile(x, times), np.tile(a, times))
    elif name == "broadcast":
        shape = (2, *[d if d != 1 else 3 for d in x.shape])
        e.check(
            f"broadcast_to({x!r}, {shape})", bp.broadcast_to(x, shape), np.broadcast_to(a, shape)
        )
    elif name == "move" and n:
        target = int(e.rng.integers(-n, n))
        wanted = np.moveaxis(a, perm[0], target)
        e.check(f"moveaxis({x!r}, {perm[0]}, {target})", bp.moveaxis(x, perm[0], target), wanted)
    elif name == "repeat":
        by, along = int(e.rng.integers(0, 3)), perm[0] if n and axis > 0 else None
        e.check(
            f"repeat({x!r}, {by}, {along})", bp.repeat(x, by, axis=along), np.repeat(a, by, along)
        )


def _join(e: Expression) -> None:
    x = e.of(DTYPES)
    y = bp.asarray(e.elements(e.pick([d for d in DTYPES if _promotes(x.dtype.ours, d)]), x.shape))
    pair = [x.numpy(), y.numpy()]
    if e.rng.random() < 0.5 and x.shape:
        axis = e.pick([None, *range(-len(x.shape), len(x.shape))])
        wanted = np.concatenate(pair, axis)
        e.check(f"concat([{x!r}, {y!r}], {axis})", bp.concat([x, y], axis=axis), wanted)
    else:
        axis = int(e.rng.integers(-len(x.shape) - 1, len(x.shape) + 1))
        e.check(f"stack([{x!r}, {y!r}], {axis})", bp.stack([x, y], axis=axis), np.stack(pair, axis))


def _choose(e: Expression) -> None:
    x = e.of(DTYPES)
    y = e.partner(x, DTYPES)
    condition = bp.asarray(e.elements("bool", x.shape))
    wanted = np.where(condition.numpy(), x.numpy(), _numpy(y))
    e.check(f"where({condition!r}, {x!r}, {y!r})", bp.where(condition, x, y), wanted)


def _bounds(e: Expression) -> None:
    x = e.of(NUMBERS)
    low, high = (e.number(x) if e.rng.random() < 0.8 else None for _ in "ab")
    if low is None and high is None:
        return
    wanted = np.clip(x.numpy(), low, high)
    e.check(f"clip({x!r}, {low}, {high})", bp.clip(x, low, high), wanted + 0, 1)


def _search(e: Expression) -> None:
    x = e.of(NUMBERS)
    axis = e.pick([None, *range(len(x.shape))])
    if 0 in x.shape:
        return
    name, keepdims = e.pick(("argmax", "argmin")), bool(e.rng.integers(2))
    wanted = getattr(np, name)(x.numpy(), axis=axis, keepdims=keepdims)
    ours = getattr(bp, name)(x, axis=axis, keepdims=keepdims)
    e.check(f"{name}({x!r}, {axis}, {keepdims})", ours, wanted)


def _running(e: Expression) -> None:
    x = e.of(NUMBERS)
    if not x.shape or (x.dtype in FLOATS and np.abs(x.numpy()).max(initial=0) > 100):
        return
    axis, first = int(e.rng.integers(-len(x.shape), len(x.shape))), bool(e.rng.integers(2))
    wanted = np.cumulative_sum(x.numpy(), axis=axis, include_initial=first)
    ours = bp.cumulative_sum(x, axis=axis, include_initial=first)
    e.check(f"cumulative_sum({x!r}, {axis}, {first})", ours, wanted, 2)
    wanted = np.cumulative_prod(x.numpy(), axis=axis)
    e.check(f"cumulative_prod({x!r}, {axis})", bp.cumulative_prod(x, axis=axis), wanted, 2)
    e.check(f"diff({x!r}, {axis})", bp.diff(x, axis=axis), np.diff(x.numpy(), axis=axis))


def _order(e: Expression) -> None:
    x = e.of(NUMBERS)
    if not x.shape:
        return
    axis = int(e.rng.integers(-len(x.shape), len(x.shape)))
    e.check(f"sort({x!r}, {axis})", bp.sort(x, axis=axis), np.sort(x.numpy(), axis) + 0, 1)
    places = np.argsort(x.numpy(), axis, stable=True)
    e.check(f"argsort({x!r}, {axis})", bp.argsort(x, axis=axis), places)
    wanted = np.take_along_axis(x.numpy(), places, axis)
    ours = bp.take_along_axis(x, bp.asarray(places), axis=axis)
    e.check(f"take_along_axis({x!r}, {places}, {axis})", ours, wanted)
    row = np.sort(x.numpy().reshape(-1))
    y = e.of([x.dtype.ours])
    if not np.isnan(row).any():
        side = e.pick(("left", "right"))
        wanted = np.searchsorted(row, y.numpy(), side)
        ours = bp.searchsorted(bp.asarray(row), y, side=side)
        e.check(f"searchsorted({row!r}, {y!r}, {side})", ours, wanted)


def _matrices(e: Expression) -> None:
    x = bp.asarray(e.rng.integers(-9, 9, e.rng.integers(0, 4, int(e.rng.integers(1, 4)))))
    n = x.shape[-1]
    shape = e.pick([(n,), (n, 2), *([(*x.shape[:-2], n, 3)] if len(x.shape) > 1 else [])])
    y = bp.asarray(e.rng.integers(-9, 9, shape))
    if e.rng.random() < 0.5:
        x, y = bp.astype(x, "f32"), bp.astype(y, "f64")
    e.check(f"{x!r} @ {y!r}", x @ y, x.numpy() @ y.numpy())
    axes = ((-1,), (-2 if len(shape) > 1 else 0,))
    wanted = np.tensordot(x.numpy(), y.numpy(), axes)
    e.check(f"tensordot({x!r}, {y!r}, {axes})", bp.tensordot(x, y, axes=axes), wanted, 1)


def _cast(e: Expression) -> None:
    x = e.of(DTYPES)
    to = e.pick(DTYPES)
    if x.dtype in FLOATS and to not in FLOATS:
        x = bp.asarray(e.rng.integers(0, 100, x.shape).astype(_NAMES[x.dtype.ours]))
    with np.errstate(all="ignore"):
        e.check(f"astype({x!r}, {to})", bp.astype(x, to), x.numpy().astype(_NAMES[to]))


STEPS = (
    *(
        _one,
        _one,
        _one,
        _two,
        _two,
        _two,
        _operator,
        _operator,
        _operator,
        _ufunc,
        _index,
        _index,
        _reduce,
        _moments,
        _shape,
        _shape,
    ),
    *(_join, _choose, _bounds, _search, _running, _order, _matrices, _cast),
)


def try_expressions(count: int, seed: int, steps: int = 8) -> int:
    """Try random expressions of so many steps each, until `count` results have been compared.

    Raises:
        AssertionError: a result differs from NumPy's; the message begins with the seed.
    """
    done = 0
    while done < count:
        with np.errstate(all="ignore"):
            e = Expression(seed)
            before = [(v, v.numpy().tobytes()) for v in e.values]
            for _ in range(steps):
                try:
                    e.step()
                except Exception as error:
                    raise AssertionError(f"seed {seed}: {error}") from error
        assert all(v.numpy().tobytes() == b for v, b in before), f"seed {seed}: an array changed"
        done, seed = done + e.checks, seed + 1
    return done


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wanted = int(sys.argv[1])
    print(f"{try_expressions(wanted, first)} results from seed {first} on, 0 wrong")
