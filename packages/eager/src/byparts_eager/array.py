"""`Array`: a value of the graph that has data, so that every op function takes it as it is.

graph-ir asks one question where an op is applied (`Value.apply`): an op on arrays alone runs now
(`apply.py`), an op that meets a traced value becomes a node.  Arrays never change: what was
computed from one stays true, views are free, gradients need no version counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import Any, ClassVar, NoReturn, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_eager.dtype import DTYPES, DType, our_name
from byparts_eager.kind import Kind, device_backend, kind_of
from byparts_graph_ir import ArgumentError, GraphError, Node, TensorType, Value
from byparts_runtime.arrays.dtypes import numpy_dtype, type_of

_new = object.__new__
_MOST_CELLS = 400  # of a table in a notebook


class Array(Value):
    """Elements in memory, of a static type.

    Args:
        data: an array of NumPy or of a library that NumPy reads, a number, or lists.  Copied.
        dtype: what the elements are cast to.  Numbers and lists without one become f32 (floats),
            i64 or bool; arrays keep theirs.
        device: the name of the backend that computes with it.

    Raises:
        ShapeError: `data` has a dtype that is none of ours.
    """

    __slots__ = ("__weakref__", "data", "kind", "past")
    __array_priority__: ClassVar[int] = 1000
    __hash__ = object.__hash__

    data: Any
    kind: Kind
    past: Optional[Node]  # the node that made it, if it was recorded

    def __init__(self, data: object, dtype: object = None, device: str = "numpy") -> None:
        elements = _copied(data, dtype)
        kind = kind_of(type_of(elements), device_backend(device))
        _set_kind(self, kind)
        _set_data(self, elements if kind.on_numpy else _moved(elements, kind))
        _set_past(self, None)

    @property
    def type(self) -> TensorType:  # type: ignore[override]  # a slot of Value
        """The static type."""
        return self.kind.type

    @property
    def node(self) -> Optional[Node]:  # type: ignore[override]  # a slot of Value
        """The node that made it, if that was recorded."""
        return self.past

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return self.kind.dims

    @property
    def dtype(self) -> DType:  # type: ignore[override]  # equal to the str
        """The data type, equal to its name: `x.dtype == "f32"`."""
        return DTYPES[self.kind.type.dtype]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.kind.dims)

    @property
    def device(self) -> str:
        """The name of the backend that computes with it."""
        return self.kind.backend.name

    def numpy(self) -> NDArray[Any]:
        """The elements: a view that cannot be written, or a copy of what is on a device."""
        if not self.kind.on_numpy:
            return _fetched(self)
        view: NDArray[Any] = self.data.view()
        view.flags.writeable = False
        return view

    def item(self) -> Any:
        """The single element, as a number of Python.

        Raises:
            GraphError: there are more, or none.
        """
        if self.kind.type.size != 1:
            raise GraphError(f"item: an array of type {self.type} is no single number")
        return self.numpy().item()

    def to_device(self, device: str, /, *, stream: None = None) -> Array:
        """The array on another device; itself if it is there."""
        backend = device_backend(device)
        if backend is self.kind.backend:
            return self
        return Array(self.numpy(), None, device)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> NDArray[Any]:  # type: ignore[override]
        elements = self.numpy()
        if dtype is not None and elements.dtype != dtype:
            return elements.astype(dtype)
        return elements.copy() if copy else elements

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._exported().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        place: tuple[int, int] = self.data.__dlpack_device__()
        return place

    def _exported(self) -> Any:
        """The elements for another library, which may write them: a copy."""
        return self.data.copy() if self.kind.on_numpy else self.data.clone()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:  # type: ignore[override]  # a Value raises
        return bool(self.item())

    def __index__(self) -> int:
        index = self.item()
        if isinstance(index, (bool, float)):
            raise TypeError(f"an array of type {self.type} is no index; cast it to i64")
        return int(index)

    def __len__(self) -> int:
        if not self.kind.dims:
            raise TypeError("an array of no axes has no length")
        return self.kind.dims[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.kind.dims:
            raise TypeError("an array of no axes cannot be iterated")
        rows: Any = (self[i] for i in range(self.kind.dims[0]))
        return iter(rows)

    def __contains__(self, x: object) -> bool:
        return bool((self.numpy() == x).any())

    def __repr__(self) -> str:
        text = np.array2string(self.numpy(), separator=", ", prefix="array(", threshold=200)
        where = "" if self.kind.on_numpy else f", device={self.device!r}"
        return f"array({text}, {self.dtype}{where})"

    def _repr_html_(self) -> str:
        """A table of the elements, for notebooks; of many, as text."""
        caption = f"{self.kind.type}"
        if not (0 < self.ndim <= 2 and 0 < self.kind.type.size <= _MOST_CELLS):
            return f"<pre>{escape(repr(self))}</pre>"
        rows = self.numpy().reshape(-1, self.shape[-1]).tolist()
        cells = [
            [f"<td>{x:.6g}</td>" if isinstance(x, float) else f"<td>{x}</td>" for x in row]
            for row in rows
        ]
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        return f"<table><caption>{escape(caption)}</caption>{body}</table>"

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.kind.type.size == 1 and spec else str(self), spec)

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise TypeError(
            "arrays never change: write x = x.at[index].set(value), or compute with NumPy and make "
            "an array of the result"
        )

    def __reduce__(self) -> tuple[Callable[..., Array], tuple[object, ...]]:
        return Array, (self.numpy().copy(), None, self.device)


_set_kind, _set_data = vars(Array)["kind"].__set__, vars(Array)["data"].__set__
_set_past = vars(Array)["past"].__set__


def array_of(kind: Kind, data: Any) -> Array:
    """An array of this kind around `data`, which nobody else writes; not copied, not checked."""
    array = _new(Array)
    _set_kind(array, kind)
    _set_data(array, data)
    _set_past(array, None)
    return array


def asarray(
    obj: object,
    /,
    *,
    dtype: object = None,
    device: Optional[str] = None,
    copy: Optional[bool] = None,
) -> Any:
    """An array of numbers, nested lists or another library's array; an array as it is.

    Args:
        obj: what `Array` takes, or an array or a traced value.
        dtype: what the elements are cast to.
        device: the name of the backend that computes with it; that of `obj`, or "numpy".
        copy: `False` is refused for what is no array: elements of others may change.

    Raises:
        ValueError: `copy=False`, and a copy is needed.
    """
    import byparts_opset as ops

    if isinstance(obj, Value):
        value = obj if dtype is None or obj.dtype == dtype else ops.cast(obj, our_name(dtype))
        return value.to_device(device) if device is not None and isinstance(value, Array) else value
    if copy is False:
        raise ValueError("asarray: elements of another library may change, so they are copied")
    return Array(obj, dtype, device or "numpy")


def _copied(data: Any, dtype: object) -> NDArray[Any]:
    if isinstance(data, Value) and not isinstance(data, Array):
        raise GraphError(f"an array has numbers, and a value of type {data.type} has none yet")
    try:
        elements = np.array(data.numpy() if isinstance(data, Array) else data, order="C")
        if elements.dtype == object:
            raise ValueError("no numbers")
    except ValueError as error:
        raise ArgumentError(f"no array can be made of {data!r:.60}: {error}") from None
    if dtype is not None:
        return elements.astype(numpy_dtype(our_name(dtype)))
    if elements.dtype == np.float64 and not hasattr(data, "dtype"):
        return elements.astype(np.float32)  # numbers have no dtype; arrays keep theirs
    return elements


def _moved(elements: NDArray[Any], kind: Kind) -> Any:
    """The elements in memory of the kind's device."""
    space = kind.backend.space
    memory = space.allocate(kind.type.size_bytes)
    space.write(memory, 0, np.ascontiguousarray(elements).reshape(-1).view(np.uint8).data)
    return kind.backend.view(memory, 0, kind.type)


def _fetched(array: Array) -> NDArray[Any]:
    """The elements of an array on a device, as NumPy's."""
    array.kind.backend.space.synchronize()
    data = array.data
    on_host = data.detach().cpu() if hasattr(data, "detach") else data
    elements: NDArray[Any] = np.array(np.from_dlpack(on_host))
    return elements.reshape(array.shape)
