"""`mx.lr_scheduler`: the learning rate as a function of the number of updates."""

from __future__ import annotations

from collections.abc import Sequence


class LRScheduler:
    """Subclass with `__call__(num_update)`, which gives the rate."""

    def __init__(self, base_lr: float = 0.01) -> None:
        self.base_lr = base_lr

    def __call__(self, num_update: int) -> float:
        raise NotImplementedError(f"{type(self).__name__} lacks __call__(self, num_update)")


class FactorScheduler(LRScheduler):
    """The rate times `factor` after each `step` updates, but at least `stop_factor_lr`."""

    def __init__(
        self, step: int, factor: float = 1.0, stop_factor_lr: float = 1e-8, base_lr: float = 0.01
    ) -> None:
        super().__init__(base_lr)
        self.step, self.factor, self.stop_factor_lr, self.count = step, factor, stop_factor_lr, 0

    def __call__(self, num_update: int) -> float:
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr = max(self.base_lr * self.factor, self.stop_factor_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """The rate times `factor` after each number of updates in `step`."""

    def __init__(self, step: Sequence[int], factor: float = 1.0, base_lr: float = 0.01) -> None:
        super().__init__(base_lr)
        self.step, self.factor, self.cur_step_ind = list(step), factor, 0

    def __call__(self, num_update: int) -> float:
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.cur_step_ind += 1
            self.base_lr *= self.factor
        return self.base_lr
