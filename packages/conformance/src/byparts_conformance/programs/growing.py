"""The state of a program that grows: its values so far, what each holds, and the dice.

A program is grown on arrays: each new node is evaluated at once, so that makers know what they do
(an index is in range, a cast from a float fits, results stay finite) and no program is nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Optional, TypeVar

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import FLOATS, INTEGERS, UNSIGNED, GraphError, Input, TensorType, Value
from byparts_opset.dtypes import numpy_dtype, wide

Array = NDArray[Any]
T = TypeVar("T")

Maker = Callable[["Growing"], None]
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65)
LARGE_SIZES = (100, 127, 257, 300)
MOST_ELEMENTS = 20_000  # of a value
MOST_FLOAT = {"f16": 1e3, "bf16": 1e6, "f32": 1e6, "f64": 1e9}  # larger results are not kept


@dataclass
class Growing:
    """A program in the making.

    Attributes:
        random: the dice; equal seeds give equal programs.
        sizes: the dimensions of this program, so that shapes often fit each other.
        dtypes: from which inputs are drawn, likely ones several times.
        known: each value so far with the array that it holds.
        inputs: of the program, in the order in which they were made.
        variables: inputs whose new values the program may write.
        makers: functions that add something, likely ones several times.
        depth: how many bodies are around this one.
        plain: whether all values are smooth functions of f64, for gradients.
        not_finite: whether floats may be nan or infinite; else most elements are finite.
    """

    random: Random
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]
    known: dict[Value, Array] = field(default_factory=dict)
    inputs: list[Value] = field(default_factory=list)
    variables: list[Value] = field(default_factory=list)
    makers: Sequence[Callable[[Growing], None]] = ()
    depth: int = 0
    plain: bool = False
    not_finite: bool = False
    used: set[Value] = field(default_factory=set)

    # -- dice ----------------------------------------------------------------------------------

    def any_of(self, choices: Sequence[T]) -> T:
        """A random one of the choices."""
        return choices[self.random.randrange(len(choices))]

    def chance(self, probability: float) -> bool:
        """Whether something happens that has this probability."""
        return self.random.random() < probability

    def value(self, wanted: Callable[[Value], bool] = lambda v: True) -> Optional[Value]:
        """A value of that kind; late ones and those that nothing reads yet more often."""
        candidates = [v for v in self.known if wanted(v)]
        if not candidates:
            return None
        unread = [v for v in candidates if v not in self.used]
        if unread and self.chance(0.5):
            return self.any_of(unread[-4:])
        if self.chance(0.5):
            return self.any_of(candidates[-4:])
        return self.any_of(candidates)

    def value_or(self, other: Value, wanted: Callable[[Value], bool]) -> Value:
        """A value of that kind, or the other one where there is none."""
        x = self.value(wanted)
        return other if x is None else x

    def shape(self) -> tuple[int, ...]:
        """A shape of this program's sizes, of at most 4 dimensions."""
        rank = self.any_of((0, 1, 1, 2, 2, 2, 3, 3, 4))
        dims: tuple[int, ...] = tuple([self.any_of((*self.sizes, 1)) for _ in range(rank)])
        while int(np.prod(dims)) > MOST_ELEMENTS // 4:
            dims = dims[1:]
        return dims

    # -- values --------------------------------------------------------------------------------

    def input(self, dtype: str, shape: tuple[int, ...], variable: bool = False) -> Value:
        """A new input, with an array for it."""
        v = Input(TensorType(dtype, shape), None, f"x{len(self.inputs)}", "")
        self.inputs.append(v)
        self.known[v] = drawn(self.random, dtype, shape, self.plain, self.not_finite)
        if variable:
            self.variables.append(v)
        return v

    def add(
        self, made: Callable[[], Value | Sequence[Value]], *, useful: bool = False
    ) -> Optional[Value]:
        """Evaluate and keep the values that `made` gives, unless they are refused or useless.

        `useful`: they are what is wanted, whatever they hold.

        Returns the first of them, or `None`: the types do not fit, or the results are not finite,
        too large, or one number everywhere, from which nobody could tell other nodes.
        """
        try:
            made_values = made()
            values = (made_values,) if isinstance(made_values, Value) else tuple(made_values)
            arrays = self.evaluated(values)
        except (GraphError, NotImplementedError, ValueError):  # refused, or without a gradient
            return None
        if not useful and not self._is_useful(values, arrays):
            return None
        if sum(a.size for a in arrays) > MOST_ELEMENTS:
            return None
        for v, a in zip(values, arrays, strict=True):
            self.known[v] = a
        return values[0] if values else None

    def _is_useful(self, values: Sequence[Value], arrays: Sequence[Array]) -> bool:
        """Whether values are kept for what they hold; now and then any are."""
        few = 0.3 if self.not_finite else 0.8
        finite = [_useful(v, a, few) for v, a in zip(values, arrays, strict=True)]
        if not all(finite) and not self.chance(0.03):
            return False
        return not all(map(_says_nothing, values, arrays)) or self.chance(0.2)

    def evaluated(self, values: Sequence[Value]) -> list[Array]:
        """The arrays of values that are made of known ones, through any number of new nodes."""
        fresh: dict[Value, Array] = {}

        def held(v: Value) -> Array:
            if v in self.known:
                self.used.add(v)
                return self.known[v]
            if v not in fresh:
                assert v.node is not None, "an input of another program"
                with np.errstate(all="ignore"):
                    made = v.node.op.evaluate(*[held(i) for i in v.node.inputs])
                fresh.update(zip(v.node.outputs, made, strict=True))
            return fresh[v]

        return [held(v) for v in values]

    def array(self, v: Value) -> Array:
        """The array of a value."""
        return self.known[v]

    def number(self, dtype: str) -> int | float:
        """A constant of the dtype, often one that rules of algebra look for."""
        if dtype == "bool":
            return self.random.randrange(2)
        if self.not_finite and dtype in FLOATS and self.chance(0.15):
            return self.any_of(_NOT_FINITE)
        if dtype in FLOATS:
            usual_floats = (0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 3.0, -0.5, 0.25, 10.0, -0.0)
            chosen = self.any_of(usual_floats)
            tie = _TIES[len(self.known) % len(_TIES)]
            return tie if chosen == 10.0 else chosen
        usual = (0, 1, 2, 3, 5, 7, 1, 2) if dtype in UNSIGNED else (0, 1, -1, 2, 3, -2, 7, 5)
        return self.any_of(usual)

    def constant(self, dtype: str, shape: tuple[int, ...] = ()) -> Value:
        """A constant of one number, or now and then of several."""
        if shape and int(np.prod(shape)) <= 64 and self.chance(0.3):
            return ops.constant(drawn(self.random, dtype, shape, self.plain, self.not_finite))
        return ops.fill(self.number(dtype), dtype, shape)


def is_number(v: Value) -> bool:
    """Whether arithmetic is defined."""
    return v.type.dtype != "bool"


def is_float(v: Value) -> bool:
    """Whether the value is of floats."""
    return v.type.dtype in FLOATS


def is_integer(v: Value) -> bool:
    """Whether the value is of integers."""
    return v.type.dtype in INTEGERS


def fits(x: Value, y: Value) -> bool:
    """Whether an elementwise op takes both."""
    pairs = zip(reversed(x.type.dims), reversed(y.type.dims), strict=False)
    return x.type.dtype == y.type.dtype and all(a == b or 1 in (a, b) for a, b in pairs)


def drawn(
    random: Random,
    dtype: str,
    shape: tuple[int, ...],
    plain: bool = False,
    not_finite: bool = False,
) -> Array:
    """Random numbers of a dtype: usual ones, and in a third of the arrays edges among them.

    `plain`: no edges.  `not_finite`: in most arrays of floats a few are nan, infinite or zeros of
    either sign; one kind or all, for a nan hides what an infinity would have shown.
    """
    numbers = np.random.default_rng(random.getrandbits(32))
    numpy = numpy_dtype(dtype)
    edges = not plain and random.random() < 0.35
    if dtype == "bool":
        return numbers.integers(0, 2, shape).astype(numpy)
    if dtype in FLOATS:
        x = numbers.normal(0, 1, shape)
        some = numbers.random(shape)
        if not plain:
            x = np.where(some < 0.3, np.round(2 * x) / 2, x)
        if edges:
            x = np.where(some > 0.93, numbers.choice(_FLOAT_EDGES, shape), x)
        if not_finite and random.random() < 0.7:
            kind = random.choice([_NOT_FINITE, *[(one,) for one in _NOT_FINITE], (0.0, -0.0)])
            few = numbers.random(shape) < random.choice([0.02, 0.1, 0.25])
            x = np.where(few, numbers.choice(kind, shape), x)
        with np.errstate(all="ignore"):
            return np.asarray(x).astype(numpy)
    bits = 8 * numpy.itemsize if dtype != "i4" else 4
    low, high = (0, 1 << bits) if dtype in UNSIGNED else (-(1 << bits - 1), 1 << bits - 1)
    whole: Any = np.uint64 if dtype in UNSIGNED else np.int64
    if edges:  # of all sizes, so that sums and products wrap
        wide_numbers = numbers.integers(low, high - 1, shape, whole, endpoint=True)
        few = numbers.choice(np.array([low, low + 1, high - 1, high - 2, 0, 1], whole), shape)
        kept = np.where(numbers.random(shape) < 0.5, wide_numbers, few)
        return np.asarray(kept).astype(numpy)
    return numbers.integers(max(low, -9), min(high, 10), shape).astype(numpy)


_FLOAT_EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 100.0, -100.0, 1e-3, 88.0, -90.0, 1e-7, 0.1, 65504.0),
    # in the middle between two numbers of bf16 or of f16, and of f16 below the normal ones
    *(1 + 2.0**-8, 1 + 3 * 2.0**-8, -257.0, 259.0, 1 + 2.0**-11, -2049.0, 2051.0, 5 * 2.0**-25),
)
# In the middle between two numbers of bf16, and of f16; the nearest even one is the upper.
_TIES = (10.0, 1 + 3 * 2.0**-8, 1 + 3 * 2.0**-11)
_NOT_FINITE = (np.nan, np.inf, -np.inf)


def _useful(v: Value, a: Array, few: float) -> bool:
    """Whether more than so few elements are finite, and none so large that what follows is not."""
    if v.type.dtype not in FLOATS or not a.size:
        return True
    x = np.abs(wide(a).astype(np.float64))
    finite = np.isfinite(x)
    return bool(finite.mean() > few and np.max(x[finite], initial=0.0) < MOST_FLOAT[v.type.dtype])


def _says_nothing(v: Value, a: Array) -> bool:
    """Whether a value that is computed from others is 0 or 1 everywhere, or of equal elements.

    Elements that are nan say nothing beside them.
    """
    if v.node is None or not v.node.inputs or not a.size or v.node.op.pattern == "broadcast":
        return False
    numbers = a[a == a]
    if not numbers.size:
        return True
    first = numbers.reshape(-1)[0]
    return bool(np.all(numbers == first)) and (a.size > 1 or first in (0, 1))
