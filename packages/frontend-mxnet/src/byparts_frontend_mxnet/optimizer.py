"""`mx.optimizer`: optimizers that change weights in place.

The ones here compute new values from old ones (`rule`), on arrays at once and inside programs; the
learning rate and `rescale_grad` are arguments of such a program, so changing them compiles nothing.
One of your own has `create_state` and `update(index, weight, grad, state)` on NDArrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager import Array
from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.context import listed
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.ops.entry import REQUIRED, OpEntry, table
from byparts_frontend_mxnet.stream import stream

Slots = Sequence[Any]
_MOST_RATES = 4  # that are constants of a program
_registry: dict[str, Any] = {}


def register(klass: Any) -> Any:
    """A decorator: the class can be named, as in `optimizer="sgd"`."""
    _registry[klass.__name__.lower()] = klass
    return klass


class Optimizer:
    """The rate, decay, counts and factors that all optimizers have.

    Args:
        rescale_grad: a factor of gradients.
        param_idx2name: index -> name of each weight.
        wd: how much weights are drawn to 0.
        clip_gradient: the largest size of an element of a gradient.
        learning_rate: how far a step goes, unless `lr_scheduler` says it.
        param_dict: index -> parameter of gluon, which has factors `lr_mult` and `wd_mult`.
    """

    slots: Any = 0  # states of a weight
    decays = True  # whether the decay is a part of the gradient
    constant_rate: Any = False  # whether a program is faster if the rate is a constant of it

    def __init__(
        self, rescale_grad: float = 1.0, param_idx2name: Any = None, wd: float = 0.0,
        clip_gradient: Any = None, learning_rate: Any = 0.01, lr_scheduler: Any = None,
        sym: Any = None, begin_num_update: int = 0, multi_precision: bool = False,
        param_dict: Any = None, **others: Any,
    ) -> None:  # fmt: skip
        if others:
            raise MXNetError(
                f"mx.optimizer.{type(self).__name__} has no argument {next(iter(others))!r}; all "
                "have learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler"
            )
        self.rescale_grad, self.wd, self.clip_gradient = rescale_grad, wd, clip_gradient
        self.lr, self.lr_scheduler = learning_rate, lr_scheduler
        if lr_scheduler is not None:
            lr_scheduler.base_lr = learning_rate
        self.num_update = self.begin_num_update = begin_num_update
        self._index_update_count: dict[Any, int] = {}
        self.idx2name = dict(param_idx2name or {})
        self.param_dict = dict(param_dict or {})
        self.sym_info = sym.attr_dict() if sym is not None else {}
        self.set_lr_mult({})
        self.set_wd_mult({})

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Any:
        """The optimizer of this name."""
        if name.lower() not in _registry:
            raise unknown("mx.optimizer", name, _registry)
        return _registry[name.lower()](**kwargs)

    @property
    def learning_rate(self) -> float:
        """The rate now."""
        rate: float = self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)
        return rate

    def set_learning_rate(self, lr: float) -> None:
        """Change the rate."""
        if self.lr_scheduler is not None:
            raise UserWarning("the learning rate is that of lr_scheduler; change its base_lr")
        self.lr = lr

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Give weights, by name or index, factors of the rate."""
        self.lr_mult = {**self._of_symbol("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Give weights factors of the decay; names of neither weights nor gammas have 0."""
        names = self.idx2name.values()
        flat = {n: 0.0 for n in names if not n.endswith(("_weight", "_gamma"))}
        self.wd_mult = {**flat, **self._of_symbol("__wd_mult__"), **args_wd_mult}

    def _of_symbol(self, name: str) -> dict[Any, float]:
        return {n: float(a[name]) for n, a in self.sym_info.items() if name in a}

    def _multiple(self, index: Any, by_name: Mapping[Any, float], field: str) -> float:
        if index in self.param_dict:
            return float(getattr(self.param_dict[index], field))
        name = self.idx2name.get(index, index)
        return by_name.get(index, by_name.get(name, 1.0))

    def _update_count(self, index: Any) -> None:
        count = self._index_update_count.get(index, self.begin_num_update) + 1
        self._index_update_count[index] = count
        self.num_update = max(count, self.num_update)

    def _get_lr(self, index: Any) -> float:
        return self.learning_rate * self._multiple(index, self.lr_mult, "lr_mult")

    def _get_wd(self, index: Any) -> float:
        return self.wd * self._multiple(index, self.wd_mult, "wd_mult")

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """The states of a weight, zeros; `None` where it has none."""
        elements = np.zeros(weight.shape, weight.dtype)
        zeros = [NDArray(Array(elements), weight.context) for _ in range(self.slots)]
        for x in zeros:
            x.storage.as_cell("state")  # programs update it in place
        return tuple(zeros) or None

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Change one weight and its states."""
        self._update_count(index)
        rate = self._get_lr(index) * self.correction(self._index_update_count[index])
        how = (rate, self.rescale_grad, self._get_wd(index))
        self.change([weight], [grad], [state or ()], *how)

    def correction(self, count: int) -> float:
        """A factor of the rate at this number of updates."""
        return 1.0

    def change(
        self, weights: Sequence[NDArray], grads: Sequence[NDArray], states: Sequence[Any],
        rate: Any, rescale: Any, wd: float,
    ) -> None:  # fmt: skip
        """Change weights of one rate and decay, at once or in the program that is traced."""
        ws, gs = [w.read() for w in weights], [g.read() for g in grads]
        slots = [[s[i].read() for i in range(self.slots)] for s in states]
        news = self.rule(ws, gs, slots, rate, rescale, wd)
        for w, s, (new, *new_slots) in zip(weights, states, news, strict=True):
            w.write(new)
            for x, value in zip(s, new_slots, strict=True):
                x.write(value)

    def rule(
        self, ws: Slots, gs: Slots, slots: Sequence[Slots], rate: Any, rescale: Any, wd: float
    ) -> Sequence[Slots]:
        """The next values of each weight and its slots."""
        clip, decay = self.clip_gradient, wd if self.decays else 0
        ds = [_scaled(w, g, rescale, clip, decay) for w, g in zip(ws, gs, strict=True)]
        return [self.one(w, d, s, rate, wd) for w, d, s in zip(ws, ds, slots, strict=True)]

    def one(self, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
        """The next values of one weight and its slots."""
        raise NotImplementedError(f"{type(self).__name__} lacks update(index, weight, grad, state)")

    create_state_multi_precision = create_state
    update_multi_precision = update


def _scaled(w: Any, g: Any, rescale: Any, clip: Optional[float], wd: float) -> Any:
    """The gradient times a factor, clipped, with the decay."""
    d = g * rescale
    d = d if clip is None else ops.clip(d, -clip, clip)
    return d + w * wd if wd else d


One = Callable[[Any, Any, Any, Slots, Any, float], Slots]  # of optimizer, w, d, slots, rate, wd


def _made(name: str, doc: str, one: One, slots: Any, fields: Any = None, **defaults: Any) -> Any:
    """An optimizer whose own arguments are `defaults`, in order; `slots` may depend on them."""

    def start(self: Any, *args: Any, lazy_update: bool = True, **keywords: Any) -> None:
        given = {**defaults, **dict(zip(defaults, args, strict=False)), **keywords}
        for key in defaults:
            if key != "learning_rate":
                setattr(self, key, given.pop(key))
        Optimizer.__init__(self, **given)
        self.slots = slots(self) if callable(slots) else slots

    members = {"__init__": start, "one": one, "__doc__": doc, **(fields or {})}
    return register(type(name, (Optimizer,), members))


def _sgd(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    if not s:  # there is no momentum
        return (w - d * rate,)
    m = s[0] * self.momentum - d * rate
    return w + m, m


def _sgd_of_all(self: Any, ws: Slots, gs: Slots, s: Any, rate: Any, rescale: Any, wd: float) -> Any:
    """Use one op for all weights where there is no momentum, decay or clipping."""
    if not self.constant_rate:
        return Optimizer.rule(self, ws, gs, s, rate, rescale, wd)
    return [(w,) for w in ops.gradient_descent(ws, gs, rate * rescale)]


def _is_plain(self: Any) -> bool:
    return not (self.momentum or self.wd) and self.clip_gradient is None


def _nag(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    if not self.momentum:
        return (w - d * rate,)
    m = s[0] * self.momentum + d
    return w - (d + m * self.momentum) * rate, m


def _sgld(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    noise = stream.normal(w.type.dims)
    root = math.sqrt(rate) if isinstance(rate, float) else ops.sqrt(rate)
    return (w - d * rate / 2 + noise * root,)


def _adam(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    m = s[0] * self.beta1 + d * (1 - self.beta1)
    v = s[1] * self.beta2 + d * d * (1 - self.beta2)
    return w - m / (ops.sqrt(v) + self.epsilon) * rate, m, v


def _adamax(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    m = s[0] * self.beta1 + d * (1 - self.beta1)
    u = ops.maximum(s[1] * self.beta2, ops.abs(d))
    return w - m / (u + 1e-8) * rate, m, u


def _rmsprop(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    n = s[0] * self.gamma1 + d * d * (1 - self.gamma1)
    if not self.centered:
        slots, new = (n,), w - d / ops.sqrt(n + self.epsilon) * rate
    else:
        g = s[1] * self.gamma1 + d * (1 - self.gamma1)
        move = s[2] * self.gamma2 - d / ops.sqrt(n - g * g + self.epsilon) * rate
        slots, new = (n, g, move), w + move  # type: ignore[assignment]  # another length
    clip = self.clip_weights
    return (ops.clip(new, -clip, clip) if clip else new, *slots)


def _adagrad(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    h = s[0] + d * d
    return w - (d / ops.sqrt(h + self.eps) + w * wd) * rate, h


def _adadelta(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    keep, eps = self.rho, self.epsilon
    square = s[0] * keep + d * d * (1 - keep)
    move = ops.sqrt(s[1] + eps) / ops.sqrt(square + eps) * d
    return w - move - w * wd, square, s[1] * keep + move * move * (1 - keep)


def _ftrl(self: Any, w: Any, d: Any, s: Slots, rate: Any, wd: float) -> Slots:
    n = s[1] + d * d
    z = s[0] + d - (ops.sqrt(n) - ops.sqrt(s[1])) * w / rate
    new = (ops.sign(z) * self.lamda1 - z) / ((ops.sqrt(n) + self.beta) / rate + wd)
    return ops.where(ops.greater(ops.abs(z), self.lamda1), new, ops.zeros_like(w)), z, n


_ADAM = {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999}
_APART = {"decays": False}
SGD = _made(
    "SGD", "m' = momentum * m - rate * d, w' = w + m'.", _sgd, lambda s: int(s.momentum != 0),
    {"rule": _sgd_of_all, "constant_rate": property(_is_plain)}, momentum=0.0,
)  # fmt: skip
NAG = _made(
    "NAG", "m' = momentum * m + d, w' = w - rate * (d + momentum * m').", _nag,
    lambda s: int(s.momentum != 0), momentum=0.0,
)  # fmt: skip
SGLD = _made("SGLD", "w' = w - rate / 2 * d + noise of variance rate.", _sgld, 0)
Adam = _made(
    "Adam", "w' = w - rate_t * m / (sqrt(v) + epsilon).", _adam, 2,
    {"correction": lambda s, t: math.sqrt(1 - s.beta2**t) / (1 - s.beta1**t)},
    **_ADAM, epsilon=1e-8,
)  # fmt: skip
Adamax = _made(
    "Adamax", "w' = w - rate_t * m / u, u the largest d so far, times beta2 each time.", _adamax,
    2, {"correction": lambda s, t: 1 / (1 - s.beta1**t)}, **{**_ADAM, "learning_rate": 0.002},
)  # fmt: skip
RMSProp = _made(
    "RMSProp", "w' = w - rate * d / sqrt(n + epsilon), n a running mean of d².", _rmsprop,
    lambda s: 3 if s.centered else 1, learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8,
    centered=False, clip_weights=None,
)  # fmt: skip
AdaGrad = _made(
    "AdaGrad", "w' = w - rate * (d / sqrt(h + eps) + wd * w), h the sum of d² so far.", _adagrad,
    1, _APART, eps=1e-7,
)  # fmt: skip
AdaDelta = _made(
    "AdaDelta", "w' = w - move - wd * w, as long as moves were over as long as gradients were.",
    _adadelta, 2, _APART, rho=0.9, epsilon=1e-5,
)  # fmt: skip
Ftrl = _made(
    "Ftrl", "Follow the regularized leader (McMahan et al. 2013).", _ftrl, 2, _APART, lamda1=0.01,
    learning_rate=0.1, beta=1.0,
)  # fmt: skip
create = Optimizer.create_optimizer


def _as_op(name: str, one: One, aux: str, **own: float) -> None:
    """Let `nd` and `sym` have the formula of an optimizer, whose states are inputs."""
    states = tuple(aux.split())

    def function(
        weight: Any, grad: Any, *slots: Any, lr: float, wd: float, rescale_grad: float,
        clip_gradient: float, **fields: float,
    ) -> tuple[Any, ...]:  # fmt: skip
        """The next weight and states; `lr` has the correction for the count, if there is one."""
        clip = clip_gradient if clip_gradient > 0 else None
        d = _scaled(weight, grad, rescale_grad, clip, wd)
        return tuple(one(SimpleNamespace(**fields), weight, d, slots, lr, wd))

    defaults = {"lr": REQUIRED, **own, "wd": 0.0, "rescale_grad": 1.0, "clip_gradient": -1.0}
    inputs = ("weight", "grad", *states)
    table[name] = OpEntry(
        name, function, inputs, defaults, states, lambda dims, p: dict.fromkeys(inputs[1:], dims),
        lambda p: (), lambda p: ("output",),
    )  # fmt: skip


_as_op("sgd_update", _sgd, "")
_as_op("sgd_mom_update", _sgd, "mom", momentum=0.0)
_as_op("adam_update", _adam, "mean var", beta1=0.9, beta2=0.999, epsilon=1e-8)
_registry["ccsgd"] = SGD


class Updater:
    """A function (index, grad, weight) that keeps the states of each weight."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}

    def __call__(self, index: Any, grad: NDArray, weight: NDArray) -> None:
        self.optimizer.update(index, weight, grad, self.state(index, weight))

    def state(self, index: Any, weight: NDArray) -> Any:
        """The states of a weight, made if there were none."""
        if index not in self.states:
            self.states[index] = self.optimizer.create_state(index, weight)
        return self.states[index]

    def save(self, fname: str) -> None:
        """Write all states and counts to a file."""
        counts = self.optimizer._index_update_count
        named = {f"count.{i}": NDArray(Array(np.array([c]))) for i, c in counts.items()}
        for index, state in self.states.items():
            parts = [(k, s) for k, s in enumerate(listed(state)) if s is not None]
            named |= {f"state.{index}.{k}": s for k, s in parts}
        nd.save(fname, named)

    def load(self, fname: str, weights: Mapping[Any, NDArray]) -> None:
        """Take the states and counts of such a file, of these weights by index."""
        by_name = {str(index): index for index in weights}
        for name, x in nd.load(fname).items():
            kind, index, *rest = name.split(".")
            key = by_name.get(index, index)
            if kind == "count":
                self.optimizer._index_update_count[key] = int(x.asscalar())
                self.optimizer.num_update = max(self.optimizer.num_update, int(x.asscalar()))
            else:
                listed(self.state(key, weights[key]))[int(rest[0])][:] = x


def get_updater(optimizer: Any) -> Updater:
    """A function that updates weights by this optimizer."""
    return Updater(optimizer)


class Update(NamedTuple):
    """An update of weights that becomes part of a program.

    Attributes:
        key: equal for updates that are one program.
        change: takes a function (weight -> its gradient) and the numbers; changes the weights.
        numbers: the rates and `rescale_grad`, unless they are constants.
        used: identities of the weights.
    """

    key: Any
    change: Callable[..., None]
    numbers: Sequence[Any]
    used: set[int]


def planned(updater: Updater, rows: Any, constants: Optional[set[Any]] = None) -> Update:
    """The update of weights, pairs of index and array; those of one rate and decay go together.

    Rates are arguments of the program, so that changing them compiles nothing.  Of `constants`,
    where there is one, the first few become constants: kernels add the update to a product of
    matrices then, so that the gradient is never in memory.
    """
    opt, groups = updater.optimizer, {}  # type: Any, dict[tuple[float, float], list[Any]]
    for i, _ in rows:
        opt._update_count(i)
    for i, weight in rows:
        rate = opt._get_lr(i) * opt.correction(opt._index_update_count[i])
        groups.setdefault((rate, opt._get_wd(i)), []).append(i)
        for s in updater.state(i, weight) or ():
            s.storage.as_cell("state")
    weights, plan = dict(rows), tuple([(wd, tuple(group)) for (_, wd), group in groups.items()])
    values = (*[rate for rate, _ in groups], opt.rescale_grad)
    if constants is not None and opt.constant_rate and len(constants) < _MOST_RATES:
        constants.add(values)
    is_constant = values in (constants or ())

    def change(gradient: Callable[[NDArray], Any], *numbers: Any) -> None:
        *rates, rescale = values if is_constant else numbers
        for rate, (wd, group) in zip(rates, plan, strict=True):
            states, ws = [updater.states[i] or () for i in group], [weights[i] for i in group]
            opt.change(ws, [gradient(w) for w in ws], states, rate, rescale, wd)

    numbers = () if is_constant else [np.asarray(x, np.float32) for x in values]
    key = (updater, opt, plan, values if is_constant else None)
    return Update(key, change, numbers, {id(weight) for _, weight in rows})
