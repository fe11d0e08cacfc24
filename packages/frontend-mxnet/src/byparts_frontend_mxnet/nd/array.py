"""`NDArray`: a handle on a place for an array; slices and reshapes are views of their base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Optional
from weakref import ref

import numpy as np

import byparts_opset as ops
from byparts_eager import Array, asarray
from byparts_eager.array import array_of
from byparts_eager.at import At
from byparts_eager.state import state
from byparts_frontend_mxnet.context import Context, current_context, listed
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.nd.storage import Storage, plain
from byparts_frontend_mxnet.ops import find
from byparts_frontend_mxnet.ops.elementwise import OPERATORS
from byparts_frontend_mxnet.ops.entry import OpEntry
from byparts_frontend_mxnet.ops.shape import reshaped
from byparts_graph_ir import GraphError, Value, add_note
from byparts_runtime.arrays.dtypes import numpy_dtype

marked: dict[int, ref[NDArray]] = {}  # arrays that have a gradient, by identity


Two = Callable[[Any, Any], Any]


def _operator(name: str) -> tuple[Two, Two, Two]:
    """An operator of Python by the op of this name, its reflection, and in place."""

    def forward(self: Any, other: Any) -> Any:
        return NotImplemented if other is None else operate(name, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return operate(name, other, self)

    def in_place(self: Any, other: Any) -> Any:
        self.write(operate(name, self, other).read())
        return self

    return forward, reflected, in_place


class NDArray:
    """An array whose elements change in place.

    Attributes:
        storage: the place of its elements; of a view, that of its base.
        context: the device whose label it has.
        grad: the gradient by it, after `attach_grad` and `backward`.
    """

    __slots__ = (
        "__weakref__", "_at", "_base", "_fresh_grad", "_keeps_grad", "_leaf", "context", "grad",
        "grad_req", "storage",
    )  # fmt: skip
    __array_priority__ = 1000.0
    __hash__ = object.__hash__

    def __init__(self, value: Any, ctx: Optional[Context] = None) -> None:
        self.storage = value if value.__class__ is Storage else Storage(value)
        self.context = ctx or current_context()
        self._base: Any = None
        self._at: Any = None
        self.grad: Any = None
        self.grad_req = "null"
        self._leaf: Any = None
        self._fresh_grad = False  # since the last step
        self._keeps_grad = False  # also where an update uses it in the same program

    # What it holds

    def read(self) -> Any:
        """The array or traced value, as an operand of an op."""
        if self._base is not None:
            x = self._base.read()
            if isinstance(self._at, tuple) and self._at[:1] == ("reshape",):
                return ops.reshape(x, self._at[1])
            return _part(x, self._at)
        x = self.storage.get()
        if self.grad_req == "null" or not state.recorders or x.__class__ is not Array:
            return x
        if self._leaf is None or self._leaf[0] is not x:
            self._leaf = x, ops.identity(x)  # one that nothing else reads: the gradient is by it
        return self._leaf[1]

    def write(self, value: Any) -> None:
        """Let the place hold another array of this type.

        Raises:
            MXNetError: while recording, it is an output or has a gradient, which must not change.
        """
        value = asarray(value)
        if value.type != self.type:
            value = ops.broadcast_to(ops.cast(value, self.type.dtype), self.type.dims)
        if self._base is None:
            self._check_writable()
            self.storage.set(value)
        elif isinstance(self._at, tuple) and self._at[:1] == ("reshape",):
            self._base.write(ops.reshape(value, self._base.shape))
        else:
            self._base.put(self._at, value)

    def put(self, index: Any, value: Any) -> None:
        """Write a part."""
        self._check_writable()
        place = self.storage
        in_place = place.private and place.waits_for is None and state.frame is None
        old = self.read() if self._base is not None else place.get()
        if old.__class__ is Array and not state.recorders and not isinstance(value, Value):
            value = asarray(value, dtype=self.type.dtype)
        if old.__class__ is Array and value.__class__ is Array and not state.recorders:
            elements = old.data if in_place else old.numpy().copy()
            new = value.numpy()
            elements[index] = new.reshape(()) if new.size == 1 else new
            if not in_place:
                self.write(array_of(old.kind, elements))
            place.private = self._base is None and place.cell is None
        else:
            self.write(At(old, index).set(value))

    def _check_writable(self) -> None:
        if not state.recorders or state.frame is not None or self._base is not None:
            return
        value = None if self.storage.waits_for is not None else self.storage.get()
        if self.grad_req != "null" or value is None or getattr(value, "node", None) is not None:
            raise MXNetError(
                f"writing in place into an array of shape {self.shape} that autograd.record() "
                "reads: its gradient would be that of other numbers; write y = x + 1 for a new "
                "array, or do it outside of record() or inside autograd.pause()"
            )

    @property
    def type(self) -> Any:
        """The type of the array, as in graphs."""
        return self.storage.type if self._base is None else self.read().type

    @property
    def shape(self) -> Any:
        """The number of elements along each axis."""
        return self.type.dims

    @property
    def dtype(self) -> Any:
        """NumPy's scalar type of the elements."""
        return numpy_dtype(self.type.dtype).type

    size = property(lambda self: self.type.size, doc="The number of elements.")
    ndim = property(lambda self: len(self.shape), doc="The number of axes.")
    ctx = property(lambda self: self.context, doc="The device whose label it has.")
    T = property(lambda self: self.transpose(), doc="With the axes reversed.")
    stype = "default"

    def asnumpy(self) -> Any:
        """The elements, copied."""
        value = self.read()
        return value.numpy().copy() if value.__class__ is Array else value.numpy()

    def asscalar(self) -> Any:
        """The single element, a number of NumPy.

        Raises:
            MXNetError: there are more, or none.
        """
        if self.size != 1:
            raise MXNetError(f"asscalar: an array of shape {self.shape} is no single number")
        return self.asnumpy().reshape(-1)[0]

    def wait_to_read(self) -> None:
        """Compute it, if it was not."""
        self.read()

    wait_to_write = wait_to_read

    def astype(self, dtype: Any) -> NDArray:
        """The elements in another dtype."""
        return invoke(find("Cast"), (self,), {"dtype": dtype})  # type: ignore[no-any-return]

    def copy(self) -> NDArray:
        """A new array with these elements."""
        return invoke(find("_copy"), (self,), {})  # type: ignore[no-any-return]

    def copyto(self, other: Any) -> NDArray:
        """Write the elements into another array, or a new one on a device."""
        if isinstance(other, Context):
            return self.as_in_context(other) if other != self.context else self.copy()
        if other.shape != self.shape:
            raise MXNetError(f"copyto: {self.shape} into an array of shape {other.shape}")
        other.write(plain(self.read()))
        return other  # type: ignore[no-any-return]

    def as_in_context(self, context: Context) -> NDArray:
        """Itself if it is on this device, else a copy that is."""
        if context == self.context:
            return self
        y = self.copy()
        y.context = context
        return y

    def detach(self) -> NDArray:
        """A new handle on the elements, whose history is forgotten."""
        if self.storage.waits_for is not None and state.recorders:
            return NDArray.defer(("_detach",), _detached, [self], ())  # type: ignore[no-any-return]
        return _detached(self)

    def reshape(self, *shape: Any, **keywords: Any) -> NDArray:
        """A view of the elements in another shape, with MXNet's codes."""
        shape = keywords.pop("shape", shape[0] if len(shape) == 1 else shape)
        if state.recorders or state.frame is not None or keywords:
            return invoke(find("Reshape"), (self,), {"shape": shape, **keywords})  # type: ignore[no-any-return]
        return self._view(("reshape", reshaped(self.shape, shape)))

    def attach_grad(self, grad_req: str = "write", stype: Any = None) -> None:
        """Let `backward` compute the gradient by this array: "write", "add" or "null"."""
        zeros = NDArray(Array(np.zeros(self.shape, self.dtype)), self.context)
        if self._base is not None:
            self.storage, self._base = Storage(plain(self.read())), None
        elif self.storage.cell is None:
            self.storage.fill(plain(self.storage.get()))
        self.mark(zeros, grad_req)

    def mark(self, gradient: Any, grad_req: str) -> None:
        """Let `backward` put the gradient by this array into another one.

        Raises:
            MXNetError: `grad_req` is none of write, add and null.
        """
        if grad_req not in ("write", "add", "null"):
            raise MXNetError(f"grad_req={grad_req!r}; it is 'write', 'add' or 'null'")
        self.grad, self.grad_req = (None if grad_req == "null" else gradient), grad_req
        number = id(self)
        marked[number] = ref(self, lambda _: marked.pop(number, None))

    def backward(
        self, out_grad: Any = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Compute the gradients by all arrays that have one attached."""
        heads = None if out_grad is None else [out_grad]
        self.differentiate([self], heads, retain_graph, train_mode)

    differentiate: ClassVar[Any]  # `autograd.backward`, which is made of arrays
    defer: ClassVar[Any]  # `tape.defer`, likewise

    def _view(self, at: Any) -> NDArray:
        view = NDArray(self.storage, self.context)
        view._base, view._at = self, at
        return view

    def __getitem__(self, key: Any) -> Any:
        if self.storage.waits_for is not None and state.recorders and _is_basic(key):
            part = partial(_part_of, key)
            return NDArray.defer(("getitem", repr(key)), part, [self], ())
        key = _index(key)
        if isinstance(key, slice) and key.step in (None, 1):
            return self if key == slice(None) else self._view(key)
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            if not -self.shape[0] <= key < self.shape[0]:
                raise IndexError(f"index {key} of an array of shape {self.shape}")
            return self._view(int(key))
        return NDArray(_part(self.read(), key), self.context)

    def __setitem__(self, key: Any, value: Any) -> None:
        value = value.read() if isinstance(value, NDArray) else value
        if not isinstance(value, Value):
            value = asarray(np.asarray(value), dtype=self.type.dtype)
        key = _index(key)
        whole = key is Ellipsis or (isinstance(key, slice) and key == slice(None))
        self.write(plain(value)) if whole else self.put(key, value)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"the truth of an array of shape {self.shape} is not one bool")
        return bool(self.asscalar())

    __nonzero__ = __bool__

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    __index__ = __int__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.asnumpy() if dtype is None else self.asnumpy().astype(dtype)

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.shape))
        if state.frame is not None:
            return f"<NDArray {sizes} of a hybrid block>"
        return f"\n{self.asnumpy()}\n<NDArray {sizes} @{self.context}>"

    def __reduce__(self) -> Any:
        return _of_numpy, (self.asnumpy(), self.context)

    __add__, __radd__, __iadd__ = _operator("add")
    __sub__, __rsub__, __isub__ = _operator("subtract")
    __mul__, __rmul__, __imul__ = _operator("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _operator("divide")
    __div__, __rdiv__, __idiv__ = _operator("divide")
    __mod__, __rmod__, __imod__ = _operator("modulo")
    __pow__, __rpow__, __ipow__ = _operator("power")
    __eq__, __ne__ = _operator("equal")[0], _operator("not_equal")[0]
    __gt__, __ge__ = _operator("greater")[0], _operator("greater_equal")[0]
    __lt__, __le__ = _operator("lesser")[0], _operator("lesser_equal")[0]

    def __neg__(self) -> Any:
        return invoke(find("negative"), (self,), {})

    def __abs__(self) -> Any:
        return invoke(find("abs"), (self,), {})

    def __getattr__(self, name: str) -> Any:
        """An op of the table as a method: `x.sum(axis=0)`."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in METHODS:
            raise unknown("NDArray", name, [*METHODS, *dir(NDArray)])
        return partial(_method, name, self)


_METHODS = (
    "abs argmax argmax_channel argmin argsort broadcast_to broadcast_axes broadcast_like ceil clip "
    "cos dot exp expand_dims expm1 flatten flip floor log log10 log1p log2 log_softmax max mean "
    "min nansum norm one_hot pad pick prod reciprocal relu repeat reshape_like round rsqrt sigmoid "
    "sign sin slice slice_axis softmax sort split sqrt square squeeze sum swapaxes take tan tanh "
    "tile topk transpose zeros_like ones_like"
)
METHODS = frozenset(_METHODS.split())


def _method(name: str, self: NDArray, *args: Any, **keywords: Any) -> Any:
    if name in ("transpose", "expand_dims") and len(args) > 1:
        args = (args,)
    return invoke(find(name), (self, *args), keywords)


def _of_numpy(elements: Any, context: Context) -> NDArray:
    return NDArray(Array(elements), context)


def _detached(x: NDArray) -> NDArray:
    value = x.read()
    return NDArray(plain(value) if state.frame is None else ops.stop_gradient(value), x.context)


def _is_basic(key: Any) -> bool:
    """Whether an index is made of numbers and slices alone."""
    items = key if isinstance(key, tuple) else (key,)
    return all(isinstance(k, (int, slice, type(None), type(Ellipsis))) for k in items)


def _part_of(key: Any, x: NDArray) -> NDArray:
    return NDArray(_part(x.read(), key), x.context)


def _index(key: Any) -> Any:
    """An index with arrays in the place of handles; floats of MXNet are whole numbers."""
    if isinstance(key, tuple):
        return tuple([_index(k) for k in key])
    if isinstance(key, NDArray):
        return ops.cast(key.read(), "i32")
    return np.asarray(key) if isinstance(key, list) else key


def _part(x: Any, key: Any) -> Any:
    y = x[key]
    return ops.reshape(y, (1,)) if y.type.rank == 0 else y


def is_array(x: Any) -> bool:
    """Whether an argument of an op is an input, not a parameter."""
    return isinstance(x, NDArray)


def invoke(entry: OpEntry, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Apply an op of the table; auxiliary states among the inputs are written.

    Raises:
        MXNetError: an input is missing; with the op and the types where ops of the graph refuse.
    """
    keywords = dict(keywords)
    out, ctx, _ = keywords.pop("out", None), keywords.get("ctx"), keywords.pop("name", None)
    inputs, parameters = entry.bind(args, keywords, is_array)
    names = tuple(inputs) if entry.variadic else entry.needed(parameters)
    for name in names:
        if not isinstance(inputs.get(name), NDArray):
            raise MXNetError(
                f"{entry.name}: input {name!r} is {inputs.get(name)!r:.60}; it takes the NDArrays "
                f"{', '.join(names)}"
            )
    arrays = [inputs[name] for name in names]
    if any([a.__class__ is not NDArray for a in arrays]):  # parameters of gluon without a shape
        known = entry.shapes(arrays[0].shape, parameters)
        pairs = zip(names, arrays, strict=True)
        arrays = [
            a if a.__class__ is NDArray else a.find_shape(known.get(n), entry.name)
            for n, a in pairs
        ]
    context = (ctx if ctx is not None else arrays[0].context) if arrays or ctx else None
    call = partial(apply, entry, names, parameters, context)
    waits = any([a.storage.waits_for is not None for a in arrays])
    if waits and state.recorders and state.frame is None and out is None:
        key = (entry.name, names, tuple(sorted(parameters.items())))
        return NDArray.defer(key, call, arrays, ())
    results = call(*arrays)
    if out is None:
        return results
    for target, y in zip(listed(out), listed(results), strict=False):
        target.write(y.read())
    return out


def apply(
    entry: OpEntry, names: Sequence[str], parameters: Any, context: Any, *arrays: NDArray
) -> Any:
    """The results of an op on handles, at once or traced."""
    values = [a.read() for a in arrays]
    try:
        results = entry(values, parameters)
    except GraphError as error:
        shown = ", ".join(f"{n}: {v.type}" for n, v in zip(names, values, strict=True))
        add_note(error, f"in op {entry.name}({shown})")
        raise
    count = len(results) - len(entry.aux)
    for name, new in zip(entry.aux, results[count:], strict=True):
        i = list(names).index(name)
        if new is not values[i]:
            arrays[i].storage.set(plain(new))
    ys = [NDArray(_alone(v, values), context) for v in results[:count]]
    return ys[0] if count == 1 else ys


def _alone(y: Any, inputs: Sequence[Any]) -> Any:
    """A result that is an input as it is becomes a value of its own."""
    return ops.identity(y) if any([y is x for x in inputs]) else y


def operate(name: str, x: Any, y: Any) -> Any:
    """An op of two arrays, or of an array and a number on either side."""
    arrays, number, reflected = OPERATORS[name]
    if isinstance(y, (np.ndarray, list)):
        y = _of_numpy(np.asarray(y, x.dtype), x.context)
    if isinstance(x, NDArray) and isinstance(y, NDArray):
        return invoke(find(arrays), (x, y), {})
    if isinstance(x, NDArray):
        return invoke(find(number), (x,), {"scalar": float(y)})
    if isinstance(y, NDArray):
        return invoke(find(reflected), (y,), {"scalar": float(x)})
    return {"maximum": max, "minimum": min}[name](x, y)
