"""`Trainer`: an optimizer of the parameters of a net."""

from __future__ import annotations

from typing import Any

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.gluon.parameter import Parameter, ParameterDict, Version
from byparts_frontend_mxnet.optimizer import Optimizer, Updater, create, planned


class Trainer:
    """Changes parameters by their gradients.

    After a hybridized net's `backward` the update is part of the same program (`tape.py`).

    Args:
        params: as `collect_params` gives them, or a list.
        optimizer: its name, with `optimizer_params`, or an optimizer.
        kvstore: how gradients of several devices are added; all ways give the same here.
    """

    def __init__(
        self, params: Any, optimizer: Any, optimizer_params: Any = None, kvstore: Any = "device"
    ) -> None:
        rows = list(params.values()) if isinstance(params, (dict, ParameterDict)) else list(params)
        for p in rows:
            if not isinstance(p, Parameter):
                raise MXNetError(f"Trainer: {p!r:.60} is no Parameter; give net.collect_params()")
        self._params = rows
        self._known: Any = None  # what `_rows` gave, and for which version
        self._init_optimizer(optimizer, optimizer_params)

    def _init_optimizer(self, optimizer: Any, optimizer_params: Any) -> None:
        """Begin with another optimizer; programs of 2017 do so to change the rate."""
        named = dict(enumerate(self._params))
        if isinstance(optimizer, Optimizer):
            if optimizer_params:
                raise MXNetError("Trainer: optimizer_params beside an optimizer; give it these")
            self._optimizer = optimizer
            optimizer.param_dict = named
        else:
            self._optimizer = create(optimizer, param_dict=named, **(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._rates: set[tuple[float, ...]] = set()
        self._updaters: dict[Any, Updater] = {}

    @property
    def learning_rate(self) -> float:
        """The rate now."""
        return self._optimizer.learning_rate

    optimizer = property(lambda self: self._optimizer, doc="The optimizer.")

    def set_learning_rate(self, lr: float) -> None:
        """Change the rate."""
        self._optimizer.set_learning_rate(lr)

    def _updater(self, ctx: Any) -> Updater:
        return self._updaters.setdefault(ctx, Updater(self._optimizer))

    def _rows(self) -> list[tuple[int, Parameter, list[Any]]]:
        """(index, parameter, its copies) of those that are trained."""
        if self._known is None or self._known[0] != Version.number:
            trained = [(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"]
            self._known = Version.number, [(i, p, p.list_data()) for i, p in trained]
        rows: list[tuple[int, Parameter, list[Any]]] = self._known[1]
        return rows

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Change all parameters by gradients of a sum over `batch_size` examples.

        Raises:
            UserWarning: a parameter has no new gradient since the last step.
        """
        self._optimizer.rescale_grad = self._scale / batch_size
        rows = self._rows()
        stale = [(p, x) for _, p, xs in rows for x in xs if not x._fresh_grad]
        if stale and not ignore_stale_grad:
            p, x = stale[0]
            raise UserWarning(
                f"the gradient of parameter {p.name!r} on {x.context} is not new: no backward() "
                "reached it since the last step; step(ignore_stale_grad=True) leaves such "
                "parameters as they are"
            )
        fresh = [(i, xs[0]) for i, _, xs in rows if xs[0]._fresh_grad]
        is_alone = all([len(xs) == 1 for _, _, xs in rows])
        if is_alone and fresh and type(self._optimizer).update is Optimizer.update:
            tapes = {x.grad.storage.waits_for for _, x in fresh}
            update = planned(self._updater(None), fresh, self._rates)
            if len(tapes) == 1 and None not in tapes:
                tapes.pop().run(update)
            else:
                update.change(lambda w: w.grad, *map(float, update.numbers))
        else:
            self._update_each([(i, p) for i, p, xs in rows if xs[0]._fresh_grad])
        for _, p, xs in rows:
            for x in xs:
                x._fresh_grad = p.grad_req == "add"

    def _update_each(self, rows: Any) -> None:
        """Add the gradients of all devices, and update each copy."""
        for i, p in rows:
            if len(p._data) > 1:
                total = nd.add_n(*[g.as_in_context(p.list_ctx()[0]) for g in p.list_grad()])
                for g in p.list_grad():
                    g[:] = total
            for k, (w, g) in enumerate(zip(p.list_data(), p.list_grad(), strict=True)):
                self._updater(k or None)(i, g, w)

    def save_states(self, fname: str) -> None:
        """Write the states of the optimizer to a file."""
        self._updater(None).save(fname)

    def load_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        weights = {i: p.data() for i, p in enumerate(self._params)}
        self._updater(None).load(fname, weights)
