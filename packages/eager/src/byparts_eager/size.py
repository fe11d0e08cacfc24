"""`Size`: a size that differs from call to call of a compiled function, as Python sees it.

Sums, products and quotients of sizes are sizes; what asks for the number itself (a comparison, a
range, an index) cannot be answered for all sizes at once: `NeedsNumber` is raised, and the function
is compiled for each size instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

from byparts_graph_ir import GraphError, Shape, dimension


class NeedsNumber(GraphError):
    """The number of a size that differs from call to call is asked for."""


class Size(str):
    """The name of a size ("n"), or an expression of names ("2*n+1"): a dimension of a type."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _size("a+b", self, other)

    def __radd__(self, other: Any) -> Any:
        return _size("a+b", other, self)

    def __sub__(self, other: Any) -> Any:
        return _size("a-b", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _size("a-b", other, self)

    def __mul__(self, other: Any) -> Any:
        return _size("a*b", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _size("a*b", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _size("a//b", self, other) if isinstance(other, int) and other > 0 else self._ask()

    def __mod__(self, other: Any) -> Any:
        return _size("a%b", self, other) if isinstance(other, int) and other > 0 else self._ask()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Size):
            return str.__eq__(self, other) or self._ask()
        if isinstance(other, str):  # as code of the graph, which compares names, wants it
            return str.__eq__(self, other)
        return self._ask() if isinstance(other, (int, float)) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def _ask(self, *_: object) -> NoReturn:
        raise NeedsNumber(f"the number of the size {str(self)!r}, which differs from call to call")

    __lt__ = __le__ = __gt__ = __ge__ = _ask
    __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __pow__ = __rpow__ = _ask
    __bool__ = __int__ = __float__ = __neg__ = __iter__ = __len__ = _ask


def sizes(shape: Shape) -> Any:
    """A shape with its names as sizes."""
    if shape is None:
        return None
    return tuple([Size(d) if d.__class__ is str else d for d in shape])


def _size(text: str, a: Any, b: Any) -> Any:
    for x in (a, b):
        if not isinstance(x, (int, str)):
            raise NeedsNumber(f"a size beside {x!r:.40}")
    names = {n: str(x) if isinstance(x, str) else int(x) for n, x in (("a", a), ("b", b))}
    result = dimension(text, names)
    return Size(result) if isinstance(result, str) else result
