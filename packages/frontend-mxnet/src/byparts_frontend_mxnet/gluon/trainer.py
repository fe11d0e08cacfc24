"""`Trainer`: an optimizer of the parameters of a net."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.gluon.parameter import Parameter, ParameterDict
from byparts_frontend_mxnet.optimizer import Optimizer, Updater, create


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
        named = dict(enumerate(rows))
        if isinstance(optimizer, Optimizer):
            if optimizer_params:
                raise MXNetError("Trainer: optimizer_params beside an optimizer; give it these")
            self._optimizer = optimizer
            optimizer.param_dict = named
        else:
            self._optimizer = create(optimizer, param_dict=named, **(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
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

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Change all parameters by gradients of a sum over `batch_size` examples.

        Raises:
            UserWarning: a parameter has no new gradient since the last step.
        """
        self._optimizer.rescale_grad = self._scale / batch_size
        trained = [(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"]
        for _, p in trained:
            for x in p.list_data():
                if not x._fresh_grad and not ignore_stale_grad:
                    raise UserWarning(
                        f"the gradient of parameter {p.name!r} on {x.context} is not new: no "
                        "backward() reached it since the last step; step(ignore_stale_grad=True) "
                        "leaves such parameters as they are"
                    )
        fresh = [(i, p) for i, p in trained if p.list_data()[0]._fresh_grad]
        tapes = {p.grad().storage.waits_for for _, p in fresh if len(p._data) == 1}
        one_program = type(self._optimizer).update is Optimizer.update
        is_alone = all([len(p._data) == 1 for _, p in fresh])
        if one_program and is_alone and len(tapes) == 1 and None not in tapes:
            tapes.pop().run(self._update(fresh))
        elif one_program and is_alone and fresh:
            _, change, more = self._update(fresh)
            change(*[float(x) for x in more])
        else:
            self._update_each(fresh)
        for _, p in fresh:
            for x in p.list_data():
                x._fresh_grad = p.grad_req == "add"

    def _update(self, rows: Any) -> tuple[Any, Any, list[Any]]:
        """(key, function of rates and rescale_grad, these), of parameters on one device."""
        opt = self._optimizer
        groups: dict[tuple[float, float], list[int]] = {}
        for i, _ in rows:
            opt._update_count(i)
            rate = opt._get_lr(i) * opt.correction(opt._index_update_count[i])
            groups.setdefault((rate, opt._get_wd(i)), []).append(i)
        plan = tuple([(wd, tuple(group)) for (_, wd), group in groups.items()])
        for i, p in rows:
            state = self._updater(None).state(i, p.data())
            for s in state or ():
                s.storage.as_cell(f"{p.name}.state")

        def change(*more: Any) -> None:
            *rates, rescale = more
            for rate, (wd, group) in zip(rates, plan, strict=True):
                ws, gs = zip(
                    *[(self._params[i].data(), self._params[i].grad()) for i in group], strict=True
                )
                states = [self._updater(None).states[i] or () for i in group]
                opt.change(ws, gs, states, rate, rescale, wd)

        more = [
            np.asarray(x, np.float32) for x in (*[rate for rate, _ in groups], opt.rescale_grad)
        ]
        return (self, plan), change, more

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
        nd.save(fname, self._updater(None).arrays())

    def load_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        weights = {i: p.data() for i, p in enumerate(self._params)}
        self._updater(None).restore(nd.load(fname), weights)
