"""The compiled step of a training: loss, gradients, what is done to them, new weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from warnings import warn

import numpy as np

from byparts_eager import Cell, compile as compiled, value_and_grad
from byparts_graph_ir import FLOATS, GraphError, ShapeError, add_note
from byparts_nn.average import Average
from byparts_nn.calls import init
from byparts_nn.evaluate import Batch, Loss
from byparts_nn.finite import NotFinite, all_finite, blame, kept_unless, without_change
from byparts_nn.gradients import Accumulator, clip_by_norm
from byparts_nn.module import Module
from byparts_nn.optimizers.optimizer import Optimizer
from byparts_nn.weights import cells_of


class Step:
    """A step that may be called batch after batch.

    Args:
        model: the module.
        optimizer: changes its weights.
        loss: of (prediction, target).
        clip: the longest that all gradients together may be; `None`: any length.
        accumulate: how many batches make one update.
        average: takes in the weights after each update.
        guarded: whether a step that makes a NaN or an infinity changes nothing, and is an error.
        options: of `compile`.
    """

    def __init__(
        self,
        model: Module,
        optimizer: Optimizer,
        loss: Loss,
        *,
        clip: float | None,
        accumulate: int,
        average: Average | None,
        guarded: bool,
        options: Mapping[str, Any],
    ) -> None:
        self.model, self.optimizer, self.average = model, optimizer, average
        self._clip, self._accumulate, self._guarded = clip, accumulate, guarded
        self._sums = Accumulator() if accumulate > 1 else None
        self._objective = lambda model, *batch: loss(model(*batch[:-1]), batch[-1])
        wrap = self._unless_finite if guarded else (lambda f: f)
        self._update = compiled(wrap(self._updated), **options)
        self._add = compiled(wrap(self._added), **options)
        self._prepared = self._warned = False

    def __call__(self, batch: Batch, number: int) -> float:
        """The loss of step `number`, from 1 on.

        Raises:
            NotFinite: if guarded; nothing has changed.
        """
        if not self._prepared:
            self.prepare(batch)
        result = (self._add if number % self._accumulate else self._update)(*batch)
        loss = float(result[0] if self._guarded else result)
        if self._guarded and not bool(result[1]):
            cells = list(self.cells().values())
            why = without_change(cells, lambda: blame(self.model, self._objective, batch))
            raise NotFinite(f"step {number}: {why}")
        if not (self._warned or math.isfinite(loss)):
            self._warned = True
            what = f"the loss of step {number} is {loss}"
            warn(f'{what}; fit(nan="stop") says which module made it', RuntimeWarning, 6)
        return loss

    def rehearse(self, batch: Batch) -> None:
        """Make the programs for batches like this one; all state is as before."""
        self.prepare(batch)
        programs = [self._update, self._add][: min(self._accumulate, 2)]
        without_change(list(self.cells().values()), lambda: [run(*batch) for run in programs])

    def prepare(self, batch: Batch) -> None:
        """Give all state its shape, from a batch.

        Raises:
            GraphError: the model cannot be called on its inputs, or has nothing to train.
        """
        try:
            init(self.model, *batch[:-1])
        except ShapeError as error:
            add_note(error, f"the inputs of a batch are {', '.join(map(_described, batch[:-1]))}")
            raise
        trained = [cell for cell in self.model.cells().values() if cell.trainable]
        if not trained:
            raise GraphError("fit: the model has no parameter to train: unfreeze() some")
        self.optimizer.follow(self.model)
        if self.average is not None:
            self.average.follow()
        if self._sums is not None:
            self._sums.follow(trained)
        self._prepared = True

    def cells(self) -> dict[str, Cell]:
        """All state by the names that it has in checkpoints."""
        cells = cells_of(self.model, self.optimizer)
        for name, thing in (("average", self.average), ("sums", self._sums)):
            if thing is not None:
                cells |= {f"{name}.{path}": cell for path, cell in thing.cells().items()}
        return cells

    def _updated(self, *batch: Any) -> Any:
        loss, gradients = value_and_grad(self._objective)(self.model, *batch)
        if self._sums is not None:
            self._sums.add(gradients)
            gradients = self._sums.take()
        if self._clip is not None:
            gradients, _ = clip_by_norm(gradients, self._clip)
        self.optimizer.update(gradients)
        if self.average is not None:
            self.average.update()
        return loss

    def _added(self, *batch: Any) -> Any:
        loss, gradients = value_and_grad(self._objective)(self.model, *batch)
        assert self._sums is not None, "an update at each step otherwise"
        self._sums.add(gradients)
        return loss

    def _unless_finite(self, step: Any) -> Any:
        """The step with one result more: whether all was finite; otherwise nothing changes."""

        def guarded(*batch: Any) -> Any:
            cells = list(self.cells().values())
            old = {cell: cell.value for cell in cells}
            loss = step(*batch)
            changed = [cell.value for cell in cells if cell.value is not old[cell]]
            finite = all_finite([loss, *[v for v in changed if v.type.dtype in FLOATS]])
            kept_unless(finite, cells, old)
            return loss, finite

        return guarded


def _described(array: Any) -> str:
    hint = {"float64": "; x.astype('float32')", "uint8": "; x.astype('float32') / 255"}
    name = np.asarray(array).dtype.name
    return f"{name}{list(np.shape(array))}{hint.get(name, '')}"
