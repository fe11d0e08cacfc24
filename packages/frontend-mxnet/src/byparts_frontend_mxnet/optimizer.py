"""`mx.optimizer`: optimizers that change weights in place.

The ones here compute new values from old ones (`rule`), on arrays at once and inside programs; the
learning rate and `rescale_grad` are arguments of such a program, so changing them compiles nothing.
One of your own has `create_state` and `update(index, weight, grad, state)` on NDArrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Array
from byparts_frontend_mxnet.errors import unknown
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.random import stream

Slots = Sequence[Any]
_registry: dict[str, Any] = {}


def register(klass: Any) -> Any:
    """A decorator: the class can be named, as in `optimizer="sgd"`."""
    _registry[klass.__name__.lower()] = klass
    return klass


class Optimizer:
    """What all have in common.

    Args:
        rescale_grad: a factor of gradients.
        param_idx2name: index -> name of each weight.
        wd: how much weights are drawn to 0.
        clip_gradient: the largest size of an element of a gradient.
        learning_rate: how far a step goes, unless `lr_scheduler` says it.
        param_dict: index -> parameter of gluon, which has factors `lr_mult` and `wd_mult`.
    """

    slots = 0  # states of a weight
    constant_rate = False  # whether a program is faster if the rate is a constant of it
    default_rate = 0.01

    def __init__(
        self, rescale_grad: float = 1.0, param_idx2name: Any = None, wd: float = 0.0,
        clip_gradient: Any = None, learning_rate: Any = None, lr_scheduler: Any = None,
        sym: Any = None, begin_num_update: int = 0, multi_precision: bool = False,
        param_dict: Any = None,
    ) -> None:  # fmt: skip
        self.rescale_grad, self.wd, self.clip_gradient = rescale_grad, wd, clip_gradient
        self.lr = self.default_rate if learning_rate is None else learning_rate
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is not None and learning_rate is not None:
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
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)  # type: ignore[no-any-return]

    def set_learning_rate(self, lr: float) -> None:
        """Change the rate."""
        self.lr = lr
        if self.lr_scheduler is not None:
            raise UserWarning("the learning rate is that of lr_scheduler; change its base_lr")

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
        slots = [[s[i].read() for s in states] for i in range(self.slots)]
        news, new_slots = self.rule(ws, gs, slots, rate, rescale, wd)
        for w, new in zip(weights, news, strict=True):
            w.write(new)
        for i, values in enumerate(new_slots):
            for s, new in zip(states, values, strict=True):
                s[i].write(new)

    def rule(
        self, ws: Slots, gs: Slots, slots: Sequence[Slots], rate: Any, rescale: Any, wd: float
    ) -> tuple[Slots, Sequence[Slots]]:
        """The next values of weights, and of each slot."""
        ds = self.scaled(ws, gs, rescale, wd)
        rows = list(
            zip(*[self.one(*row, rate) for row in zip(ws, ds, *slots, strict=True)], strict=True)
        )
        return rows[0], rows[1:]

    def scaled(self, ws: Slots, gs: Slots, rescale: Any, wd: float) -> list[Any]:
        """Gradients times `rescale`, clipped, plus the decay."""
        ds = [g * rescale for g in gs]
        if self.clip_gradient is not None:
            ds = [ops.clip(d, -self.clip_gradient, self.clip_gradient) for d in ds]
        return [d + w * wd for w, d in zip(ws, ds, strict=True)] if wd else ds

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """The next values of one weight and its slots; `rest` are the slots, then the rate."""
        raise NotImplementedError(f"{type(self).__name__} lacks update(index, weight, grad, state)")

    create_state_multi_precision = create_state
    update_multi_precision = update


@register
class SGD(Optimizer):
    """m' = momentum * m - rate * d, w' = w + m'; without momentum w' = w - rate * d."""

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.momentum, self.slots = momentum, int(momentum != 0)

    @property
    def constant_rate(self) -> bool:
        """Whether it is a sum alone."""
        return not (self.momentum or self.wd) and self.clip_gradient is None

    def rule(
        self, ws: Slots, gs: Slots, slots: Sequence[Slots], rate: Any, rescale: Any, wd: float
    ) -> tuple[Slots, Sequence[Slots]]:
        """Without momentum, decay and clipping one op for all weights."""
        if not self.constant_rate:
            return super().rule(ws, gs, slots, rate, rescale, wd)
        return ops.gradient_descent(ws, gs, rate * rescale), ()

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """With momentum or without."""
        if not self.momentum:
            return (w - d * rest[-1],)
        m = rest[0] * self.momentum - d * rest[-1]
        return w + m, m


@register
class NAG(SGD):
    """m' = momentum * m + d, w' = w - rate * (d + momentum * m')."""

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """Nesterov's look ahead."""
        if not self.momentum:
            return (w - d * rest[-1],)
        m = rest[0] * self.momentum + d
        return w - (d + m * self.momentum) * rest[-1], m


@register
class SGLD(Optimizer):
    """w' = w - rate / 2 * d + noise of variance rate."""

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """Draws from the stream of random numbers."""
        noise = stream.normal(w.type.dims)
        root = math.sqrt(rest[-1]) if isinstance(rest[-1], float) else ops.sqrt(rest[-1])
        return (w - d * rest[-1] / 2 + noise * root,)


@register
class Adam(Optimizer):
    """w' = w - rate_t * m / (sqrt(v) + epsilon), rate_t corrected for the count of updates."""

    slots, default_rate = 2, 0.001

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999,
        epsilon: float = 1e-8, lazy_update: bool = True, **keywords: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate=learning_rate, **keywords)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def correction(self, count: int) -> float:
        """sqrt(1 - beta2^t) / (1 - beta1^t)."""
        return math.sqrt(1 - self.beta2**count) / (1 - self.beta1**count)

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """Means of d and of d²."""
        mean, square, rate = rest
        m = mean * self.beta1 + d * (1 - self.beta1)
        v = square * self.beta2 + d * d * (1 - self.beta2)
        return w - m / (ops.sqrt(v) + self.epsilon) * rate, m, v


@register
class Adamax(Adam):
    """w' = w - rate / (1 - beta1^t) * m / u, u the largest d so far, times beta2 each time."""

    def correction(self, count: int) -> float:
        """1 / (1 - beta1^t)."""
        return 1 / (1 - self.beta1**count)

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """The mean of d and its running maximum."""
        mean, largest, rate = rest
        m = mean * self.beta1 + d * (1 - self.beta1)
        u = ops.maximum(largest * self.beta2, ops.abs(d))
        return w - m / (u + 1e-8) * rate, m, u


@register
class RMSProp(Optimizer):
    """w' = w - rate * d / sqrt(n + epsilon), n a running mean of d²; `centered` as Graves 2013."""

    default_rate = 0.001

    def __init__(
        self, learning_rate: float = 0.001, gamma1: float = 0.9, gamma2: float = 0.9,
        epsilon: float = 1e-8, centered: bool = False, clip_weights: Any = None, **keywords: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate=learning_rate, **keywords)
        self.gamma1, self.gamma2, self.epsilon = gamma1, gamma2, epsilon
        self.clip_weights, self.slots = clip_weights, 3 if centered else 1

    def one(self, w: Any, d: Any, *rest: Any) -> tuple[Any, ...]:
        """The mean of squares; centered the mean and a velocity, too."""
        n = rest[0] * self.gamma1 + d * d * (1 - self.gamma1)
        if self.slots == 1:
            slots, new = (n,), w - d / ops.sqrt(n + self.epsilon) * rest[-1]
        else:
            g = rest[1] * self.gamma1 + d * (1 - self.gamma1)
            move = rest[2] * self.gamma2 - d / ops.sqrt(n - g * g + self.epsilon) * rest[-1]
            slots, new = (n, g, move), w + move  # type: ignore[assignment]  # another length
        clip = self.clip_weights
        return (ops.clip(new, -clip, clip) if clip else new, *slots)


@register
class AdaGrad(Optimizer):
    """w' = w - rate * (d / sqrt(h + eps) + wd * w), h the sum of d² so far."""

    slots = 1

    def __init__(self, eps: float = 1e-7, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.float_stable_eps = eps

    def rule(
        self, ws: Slots, gs: Slots, slots: Sequence[Slots], rate: Any, rescale: Any, wd: float
    ) -> tuple[Slots, Sequence[Slots]]:
        """The decay is no part of h."""
        ds = self.scaled(ws, gs, rescale, 0.0)
        hs = [h + d * d for h, d in zip(slots[0], ds, strict=True)]
        moves = [d / ops.sqrt(h + self.float_stable_eps) for d, h in zip(ds, hs, strict=True)]
        return [w - (m + w * wd) * rate for w, m in zip(ws, moves, strict=True)], (hs,)


@register
class AdaDelta(Optimizer):
    """w' = w - move - wd * w, move as long as moves were, over as long as gradients were."""

    slots = 2

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.rho, self.epsilon = rho, epsilon

    def rule(
        self, ws: Slots, gs: Slots, slots: Sequence[Slots], rate: Any, rescale: Any, wd: float
    ) -> tuple[Slots, Sequence[Slots]]:
        """Means of d² and of moves²; there is no rate."""
        keep, eps = self.rho, self.epsilon
        ds = self.scaled(ws, gs, rescale, 0.0)
        squares = [s * keep + d * d * (1 - keep) for s, d in zip(slots[0], ds, strict=True)]
        rows = zip(ds, squares, slots[1], strict=True)
        moves = [ops.sqrt(old + eps) / ops.sqrt(s + eps) * d for d, s, old in rows]
        lengths = [o * keep + m * m * (1 - keep) for o, m in zip(slots[1], moves, strict=True)]
        return [w - m - w * wd for w, m in zip(ws, moves, strict=True)], (squares, lengths)


@register
class Ftrl(Optimizer):
    """Follow the regularized leader (McMahan et al. 2013)."""

    slots, default_rate = 2, 0.1

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **keywords: Any
    ) -> None:
        super().__init__(learning_rate=learning_rate, **keywords)
        self.lamda1, self.beta = lamda1, beta

    def rule(
        self, ws: Slots, gs: Slots, slots: Sequence[Slots], rate: Any, rescale: Any, wd: float
    ) -> tuple[Slots, Sequence[Slots]]:
        """z and n of the paper."""
        news, zs, ns = [], [], []
        for w, d, z, n in zip(ws, self.scaled(ws, gs, rescale, 0.0), *slots, strict=True):
            n2 = n + d * d
            z2 = z + d - (ops.sqrt(n2) - ops.sqrt(n)) * w / rate
            new = (ops.sign(z2) * self.lamda1 - z2) / ((ops.sqrt(n2) + self.beta) / rate + wd)
            news.append(ops.where(ops.greater(ops.abs(z2), self.lamda1), new, ops.zeros_like(w)))
            zs.append(z2)
            ns.append(n2)
        return news, (zs, ns)


create = Optimizer.create_optimizer
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

    def arrays(self) -> dict[str, NDArray]:
        """All states and counts by name, for a file."""
        counts = self.optimizer._index_update_count
        named = {f"count.{i}": NDArray(Array(np.array([c]))) for i, c in counts.items()}
        for index, state in self.states.items():
            parts = state if isinstance(state, (list, tuple)) else [state]
            named |= {f"state.{index}.{k}": s for k, s in enumerate(parts) if s is not None}
        return named

    def restore(self, named: Mapping[str, NDArray], weights: Mapping[Any, NDArray]) -> None:
        """Take the states and counts that `arrays` gave."""
        by_name = {str(index): index for index in weights}
        for name, x in named.items():
            kind, index, *rest = name.split(".")
            key = by_name.get(index, index)
            if kind == "count":
                self.optimizer._index_update_count[key] = int(x.asscalar())
                self.optimizer.num_update = max(self.optimizer.num_update, int(x.asscalar()))
            else:
                state = self.state(key, weights[key])
                parts = state if isinstance(state, (list, tuple)) else [state]
                parts[int(rest[0])][:] = x


def get_updater(optimizer: Any) -> Updater:
    """A function that updates weights by this optimizer."""
    return Updater(optimizer)
