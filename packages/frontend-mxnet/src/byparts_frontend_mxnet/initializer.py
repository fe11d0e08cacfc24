"""`mx.init`: first values of parameters, chosen by the end of their names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.stream import numpy_stream


class InitDesc(str):  # noqa: SLOT000  # attributes of text
    """The name of a parameter, with the attributes of its variable."""

    attrs: Any
    global_init: Any

    def __new__(cls, name: str, attrs: Any = None, global_init: Any = None) -> InitDesc:
        desc = super().__new__(cls, name)
        desc.attrs, desc.global_init = attrs or {}, global_init
        return desc


_registry: dict[str, Any] = {}


def register(klass: Any) -> Any:
    """A decorator: the class can be named, as in `initializer="xavier"`."""
    _registry[klass.__name__.lower()] = klass
    return klass


def create(init: Any, **keywords: Any) -> Any:
    """The initializer of this name, or as `dumps` wrote it; an initializer as it is."""
    if not isinstance(init, str):
        return init
    if init.startswith("["):
        init, keywords = json.loads(init)
    name = {"zeros": "zero", "ones": "one", "gaussian": "normal"}.get(init.lower(), init.lower())
    if name not in _registry:
        raise unknown("mx.init", init, _registry)
    return _registry[name](**keywords)


# The end of a name -> the method that fills the array.
_BY_NAME = (
    ("upsampling", "_init_bilinear"), ("weight", "_init_weight"), ("parameters", "_init_weight"),
    ("bias", "_init_bias"), ("gamma", "_init_gamma"), ("beta", "_init_beta"),
    ("moving_mean", "_init_zero"), ("running_mean", "_init_zero"), ("moving_var", "_init_one"),
    ("running_var", "_init_one"), ("moving_inv_var", "_init_zero"), ("moving_avg", "_init_zero"),
    ("state", "_init_zero"), ("state_cell", "_init_zero"),
)  # fmt: skip


class Initializer:
    """Subclass with `_init_weight(name, arr)`, which writes `arr[:]`."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def dumps(self) -> str:
        """Text that `create` reads."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: str, arr: Any) -> None:
        """Fill an array, as the name of its parameter or its variable's `init` says."""
        own = getattr(desc, "attrs", {}).get("__init__")
        if own:
            create(own)._init_weight(desc, arr)
            return
        for end, method in _BY_NAME:
            if desc.endswith(end):
                getattr(self, method)(desc, arr)
                return
        self._init_default(desc, arr)

    def draw(self, shape: tuple[int, ...]) -> Any:
        """The elements of a weight."""
        raise NotImplementedError(f"{type(self).__name__} lacks _init_weight(self, name, arr)")

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[:] = self.draw(arr.shape)

    def _init_zero(self, name: str, arr: Any) -> None:
        arr[:] = 0

    def _init_one(self, name: str, arr: Any) -> None:
        arr[:] = 1

    _init_bias = _init_beta = _init_zero
    _init_gamma = _init_one

    def _init_bilinear(self, name: str, arr: Any) -> None:
        Bilinear()._init_weight(name, arr)

    def _init_default(self, name: str, arr: Any) -> None:
        what = "give the variable its own, as in init='zeros'"
        if name.endswith("label"):
            what = f"of a module, name it a label: Module(symbol, label_names=[{name!r}])"
        raise MXNetError(
            f"initializer: {name!r} ends with none of {', '.join(dict(_BY_NAME))}; {what}"
        )


Draw = Callable[[Any, tuple[int, ...]], Any]


def _class(name: str, draw: Draw, **defaults: Any) -> Any:
    """An initializer whose arguments are `defaults`, in order."""

    def start(self: Any, *args: Any, **keywords: Any) -> None:
        given = dict(zip(defaults, args, strict=False)) | keywords
        wrong = next((k for k in given if k not in defaults), None)
        if wrong is not None:
            raise unknown(f"mx.init.{name}", wrong, defaults)
        Initializer.__init__(self, **{**defaults, **given})
        self.__dict__.update(self._kwargs)

    return register(type(name, (Initializer,), {"__init__": start, "draw": draw}))


def _fans(shape: tuple[int, ...], factor_type: str) -> float:
    if len(shape) < 2:
        raise MXNetError(f"Xavier: a parameter of shape {shape}; it takes two axes or more")
    window = math.prod(shape[2:])
    ins, outs = shape[1] * window, shape[0] * window
    return {"in": ins, "out": outs, "avg": (ins + outs) / 2}[factor_type]


def _xavier(self: Any, shape: tuple[int, ...]) -> Any:
    scale = math.sqrt(self.magnitude / _fans(shape, self.factor_type))
    if self.rnd_type == "uniform":
        return numpy_stream.uniform(-scale, scale, shape)
    return numpy_stream.normal(0, scale, shape)


def _prelu(self: Any, shape: tuple[int, ...]) -> Any:
    scale = math.sqrt(2 / (1 + self.slope**2) / _fans(shape, self.factor_type))
    return numpy_stream.normal(0, scale, shape)


def _orthogonal(self: Any, shape: tuple[int, ...]) -> Any:
    rows, columns = shape[0], math.prod(shape[1:])
    u, _, v = np.linalg.svd(numpy_stream.normal(0, 1, (rows, columns)), full_matrices=False)
    return self.scale * (u if u.shape == (rows, columns) else v).reshape(shape)


def _bilinear(self: Any, shape: tuple[int, ...]) -> Any:
    f = math.ceil(shape[3] / 2)
    row = 1 - abs(np.arange(shape[3]) / f - (2 * f - 1 - f % 2) / (2 * f))
    return np.broadcast_to(np.outer(row[: shape[2]], row), shape)


Zero = _class("Zero", lambda self, shape: np.zeros(shape))
One = _class("One", lambda self, shape: np.ones(shape))
Constant = _class("Constant", lambda self, shape: np.broadcast_to(self.value, shape), value=0)
Uniform = _class(
    "Uniform", lambda self, s: numpy_stream.uniform(-self.scale, self.scale, s), scale=0.07
)
Normal = _class("Normal", lambda self, shape: numpy_stream.normal(0, self.sigma, shape), sigma=0.01)
Xavier = _class("Xavier", _xavier, rnd_type="uniform", factor_type="avg", magnitude=3)
MSRAPrelu = _class("MSRAPrelu", _prelu, factor_type="avg", slope=0.25)
Orthogonal = _class("Orthogonal", _orthogonal, scale=1.414, rand_type="uniform")
Bilinear = _class("Bilinear", _bilinear)


@register
class LSTMBias(Initializer):
    """0, and `forget_bias` for the forget gate."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def draw(self, shape: tuple[int, ...]) -> Any:
        """The forget gate is the second of four."""
        y = np.zeros(shape)
        y[shape[0] // 4 : shape[0] // 2] = self.forget_bias
        return y

    _init_bias = Initializer._init_weight


class Mixed(Initializer):
    """The initializer of the first pattern that is found in the name."""

    def __init__(self, patterns: Any, initializers: Any) -> None:
        super().__init__()
        self.map = [(re.compile(p), i) for p, i in zip(patterns, initializers, strict=True)]

    def __call__(self, desc: str, arr: Any) -> None:
        for pattern, init in self.map:
            if pattern.match(desc):
                init(desc, arr)
                return
        raise MXNetError(f"Mixed: no pattern fits {desc!r}; add '.*' as the last one")


class Load(Initializer):
    """Arrays of a dict or file by name; `default_init` for others."""

    def __init__(self, param: Any, default_init: Any = None, verbose: bool = False) -> None:
        super().__init__()
        from byparts_frontend_mxnet import nd  # which needs this module

        given: Mapping[str, Any] = nd.load(param) if isinstance(param, str) else param
        self.param = {n.removeprefix("arg:").removeprefix("aux:"): a for n, a in given.items()}
        self.default_init = default_init

    def __call__(self, desc: str, arr: Any) -> None:
        if desc in self.param:
            arr[:] = self.param[desc]
        elif self.default_init is None:
            raise MXNetError(f"Load: there is no {desc!r}; give default_init")
        else:
            self.default_init(desc, arr)
