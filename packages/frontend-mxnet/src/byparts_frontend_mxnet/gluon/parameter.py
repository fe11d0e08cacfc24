"""`Parameter`: weights, one copy for each device, made when their shape is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from byparts_eager import Array
from byparts_frontend_mxnet import autograd, initializer, nd
from byparts_frontend_mxnet.context import Context, current_context, listed
from byparts_frontend_mxnet.errors import DeferredInitializationError, MXNetError, unknown
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.nd.storage import outside


class Version:
    """The number of changes of what parameters there are, which blocks compare."""

    number = 0


class Parameter:
    """Weights of a block.

    Args:
        name: its full name.
        grad_req: "write", "add" or "null".
        shape: sizes; 0 is found when the block is first called, if `allow_deferred_init`.
        dtype: of the elements.
        lr_mult, wd_mult: factors of the optimizer's rate and decay.
        init: its own initializer.
    """

    def __init__(
        self, name: str, grad_req: str = "write", shape: Any = None, dtype: Any = np.float32,
        lr_mult: float = 1.0, wd_mult: float = 1.0, init: Any = None,
        allow_deferred_init: bool = False, differentiable: bool = True,
    ) -> None:  # fmt: skip
        self.name, self.dtype, self.lr_mult, self.wd_mult = name, dtype, lr_mult, wd_mult
        self.shape = (shape,) if isinstance(shape, int) else shape
        self.init, self.allow_deferred_init = init, allow_deferred_init
        self._differentiable = differentiable
        self._grad_req = grad_req if differentiable else "null"
        self._data: dict[Context, NDArray] = {}
        self._deferred: Any = None  # (initializer, devices) until the shape is known

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self.shape}, dtype={np.dtype(self.dtype)})"

    @property
    def grad_req(self) -> str:
        """The way in which `backward` writes its gradient."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        self._grad_req = req if self._differentiable else "null"
        for x in self._data.values():
            self._attach(x)

    def initialize(
        self,
        init: Any = None,
        ctx: Any = None,
        default_init: Any = None,
        force_reinit: bool = False,
    ) -> None:
        """Give it first values, now or as soon as its shape is known.

        Raises:
            MXNetError: its shape has a 0, and `allow_deferred_init` is not set.
        """
        if self._data and not force_reinit:
            return
        devices = listed(ctx or current_context())
        own = init if init is not None else self.init
        chosen = initializer.create(own if own is not None else default_init or "uniform")
        self._deferred = (chosen, devices)
        if self._is_known():
            self._make()
        elif not self.allow_deferred_init:
            raise MXNetError(
                f"initialize: parameter {self.name!r} has the shape {self.shape}, whose 0 is "
                "unknown; give all sizes, as in in_units=..., or allow_deferred_init=True"
            )

    def _is_known(self) -> bool:
        return self.shape is not None and all(d > 0 for d in self.shape)

    def _fits(self, shape: Any) -> bool:
        """Whether it can have this shape: sizes of 0 are open."""
        own = self.shape or shape
        pairs = zip(own, shape, strict=False)
        return len(own) == len(shape) and all([a in (0, b) for a, b in pairs])

    def _make(self) -> None:
        init, devices = self._deferred
        self._deferred = None
        with outside(), autograd.pause():
            first = nd.zeros(self.shape, dtype=self.dtype)
            is_own = not isinstance(init, initializer.Initializer)
            is_own = is_own or isinstance(init, (initializer.Mixed, initializer.Load))
            fill = init if is_own else init._init_weight  # whatever the name ends with
            fill(initializer.InitDesc(self.name), first)
            before, self._data = self._data, {}
            Version.number += 1
            for ctx in devices:
                if ctx in before:  # programs know its cell
                    before[ctx][:] = first
                    self._data[ctx] = before[ctx]
                    continue
                x = self._data[ctx] = NDArray(Array(first.asnumpy()), ctx)
                x.storage.as_cell(self.name)
                self._attach(x)

    def _attach(self, x: NDArray) -> None:
        Version.number += 1
        if self._grad_req == "null":
            x.grad, x.grad_req = None, "null"
            return
        x.attach_grad(self._grad_req)
        assert x.grad is not None, "attached above"
        x.grad.storage.as_cell(f"{self.name}.grad")

    def find_shape(self, shape: Any, op: str) -> NDArray:
        """The data, of the shape that an op asks of this input.

        Raises:
            MXNetError: the op cannot tell, or says something else.
        """
        if shape is None or not self._fits(shape):
            raise MXNetError(
                f"parameter {self.name!r} has the shape {self.shape}, and op {op} says {shape}; "
                "give the parameter all sizes"
            )
        self.shape = tuple(shape)
        self._make()
        return self.data()

    def data(self, ctx: Optional[Context] = None) -> NDArray:
        """The weights on a device.

        Raises:
            DeferredInitializationError: the shape is not known yet.
            MXNetError: it was not initialized, or not on this device.
        """
        if ctx in self._data:
            return self._data[ctx]
        if self._data and (ctx is None or len(self._data) == 1):
            return next(iter(self._data.values()))
        if self._data:
            raise MXNetError(
                f"parameter {self.name!r} is on {list(self._data)}, not on {ctx}; "
                "initialize(ctx=[...]) with all devices"
            )
        if self._deferred is not None:
            raise DeferredInitializationError(
                f"parameter {self.name!r} has no values yet: its shape {self.shape} is found when "
                "the block is first called; call the net on one batch before"
            )
        raise MXNetError(
            f"parameter {self.name!r} has not been initialized; call net.initialize() or "
            "net.collect_params().initialize() before, and make the Trainer after that"
        )

    def list_data(self) -> list[NDArray]:
        self.data()
        return list(self._data.values())

    def grad(self, ctx: Optional[Context] = None) -> NDArray:
        """The gradient on a device.

        Raises:
            MXNetError: its grad_req is "null".
        """
        gradient: Optional[NDArray] = self.data(ctx).grad
        if gradient is None:
            raise MXNetError(f"parameter {self.name!r} has no gradient: its grad_req is 'null'")
        return gradient

    def list_grad(self) -> list[NDArray]:
        return [self.grad(ctx) for ctx in self._data]

    def list_ctx(self) -> list[Context]:
        return list(self._data) or (list(self._deferred[1]) if self._deferred else [])

    def zero_grad(self) -> None:
        for x in self._data.values():
            if x.grad is not None:
                x.grad[:] = 0

    def set_data(self, data: Any) -> None:
        """Write the weights of all devices.

        Raises:
            MXNetError: the shape is another.
        """
        if not self._fits(data.shape):
            raise MXNetError(f"parameter {self.name!r} is {self.shape}, and cannot be {data.shape}")
        if not self._data:
            self.shape = tuple(data.shape)
            devices = self._deferred[1] if self._deferred else [current_context()]
            self._deferred = (initializer.Zero(), devices)
            self._make()
        with outside():
            for x in self._data.values():
                x[:] = data

    def reset_ctx(self, ctx: Any) -> None:
        first = self.data()
        self._deferred = (initializer.Zero(), listed(ctx))
        self._make()
        self.set_data(first)

    def var(self) -> Any:
        """A symbol that stands for it."""
        from byparts_frontend_mxnet import symbol  # which not every program needs

        shape = self.shape if self._is_known() else None
        how = {"lr_mult": self.lr_mult, "wd_mult": self.wd_mult, "init": self.init}
        return symbol.Variable(self.name, shape=shape, **how)


class Deferred(NDArray):
    """Stands for a parameter in a call that tells its shape."""

    __slots__ = ("_parameter",)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(None)
        self._parameter = parameter

    def find_shape(self, shape: Any, op: str) -> NDArray:
        if self._parameter._data:
            return self._parameter.data()
        return self._parameter.find_shape(shape, op)

    def read(self) -> Any:
        """The data, or the error that it has none."""
        return self._parameter.data().read()


class ParameterDict(dict[str, Parameter]):
    """Parameters by name, each with the prefix of its block."""

    def __init__(self, prefix: str = "", shared: Optional[ParameterDict] = None) -> None:
        super().__init__()
        self.prefix, self._shared = prefix, shared

    def get(self, name: str, **kwargs: Any) -> Parameter:  # type: ignore[override]  # as MXNet's
        """The parameter of this name, made if there is none.

        Raises:
            MXNetError: there is one of another shape.
        """
        full, shared = self.prefix + name, self if self._shared is None else self._shared
        if full not in self and full not in shared:
            shared[full] = Parameter(full, **kwargs)
        found = self[full] = self[full] if full in self else shared[full]
        pairs = zip(kwargs.get("shape") or (), found.shape or (), strict=False)
        if any(a and b and a != b for a, b in pairs):
            asked = kwargs["shape"]
            raise MXNetError(f"parameter {full!r} is {found.shape}, and asked for as {asked}")
        return found

    def initialize(
        self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False
    ) -> None:
        """Give all of them first values."""
        default = initializer.create(init) if init is not None else initializer.Uniform()
        for p in self.values():
            p.initialize(None, ctx, default, force_reinit)

    def zero_grad(self) -> None:
        for p in self.values():
            p.zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        for p in self.values():
            p.reset_ctx(ctx)

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all, `grad_req` for example."""
        for p in self.values():
            setattr(p, name, value)

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Write all to a file."""
        nd.save(filename, {n.removeprefix(strip_prefix): p.data() for n, p in self.items()})

    def load(
        self, filename: str, ctx: Any = None, allow_missing: bool = False,
        ignore_extra: bool = False, restore_prefix: str = "",
    ) -> None:  # fmt: skip
        """Read all from a file.

        Raises:
            MXNetError: the names of the file are others.
        """
        given: Mapping[str, NDArray] = nd.load(filename)
        named = {restore_prefix + re.sub("^(arg|aux):", "", n): x for n, x in given.items()}
        for name in self:
            if name not in named and not allow_missing:
                raise unknown(f"the file {filename!r}", name, named)
        for name, x in named.items():
            if name in self:
                if ctx is not None and not self[name]._data:
                    self[name].initialize("zeros", ctx)
                self[name].set_data(x)
            elif not ignore_extra:
                raise unknown("the block", name, self)

    def __repr__(self) -> str:
        rows = "\n".join(f"  {p}" for p in self.values())
        return f"{self.prefix} (\n{rows}\n)"
