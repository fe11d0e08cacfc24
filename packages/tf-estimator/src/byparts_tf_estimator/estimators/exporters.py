"""Writes saved models after evaluations: `FinalExporter`, `LatestExporter`, `BestExporter`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.symbols import symbol


@symbol("estimator.Exporter")
class Exporter:
    """Writes a saved model after evaluations."""

    @property
    def name(self) -> str:
        """The name of the folder that is written to."""
        raise NotImplementedError

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Write a saved model; its path, or `None`."""
        raise NotImplementedError


@symbol("estimator.FinalExporter")
class FinalExporter(Exporter):
    """Writes a saved model when the training has ended."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Any = None,
        as_text: bool = False,
    ) -> None:
        if not name:
            raise ValueError('"name" must not be empty')
        self._name, self._receive, self._extra = name, serving_input_receiver_fn, assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The name of the folder that is written to."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Write the last one."""
        if not is_the_final_export:
            return None
        return self._written(estimator, export_path, checkpoint_path)

    def _written(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        return estimator.export_saved_model(
            export_path,
            self._receive,
            assets_extra=self._extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


@symbol("estimator.LatestExporter")
class LatestExporter(FinalExporter):
    """Writes a saved model after each evaluation, and keeps the last few."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Any = None,
        as_text: bool = False,
        exports_to_keep: Optional[int] = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._keep, self._exports = exports_to_keep, list[_Export]()
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be a positive number")

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Write one, and remove the oldest ones that this exporter wrote."""
        made = self._written(estimator, export_path, checkpoint_path)
        self._exports.append(_Export(os.fsdecode(made), _identity(made)))
        while self._keep and len(self._exports) > self._keep:
            self._exports.pop(0).remove()
        return made


class _Export(NamedTuple):
    """A folder that was written: whatever else is called by a number stays."""

    path: str
    identity: tuple[int, int]

    def remove(self) -> None:
        """Remove it with all that is in it, if it is still the same folder."""
        with suppress(OSError):  # it has been removed
            if _identity(self.path) == self.identity:
                shutil.rmtree(self.path, ignore_errors=True)


def _identity(folder: Any) -> tuple[int, int]:
    stat = os.lstat(folder)
    return stat.st_dev, stat.st_ino


def _smaller_loss(best_eval_result: Any, current_eval_result: Any) -> bool:
    for found in (best_eval_result, current_eval_result):
        if not found or "loss" not in found:
            raise ValueError("best_eval_result cannot be empty or no loss is found in it.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


@symbol("estimator.BestExporter")
class BestExporter(LatestExporter):
    """Writes a saved model after each evaluation that is better than all before.

    Raises:
        ValueError: `compare_fn` does not take `best_eval_result` and `current_eval_result`.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: Any = None,
        compare_fn: Callable[..., bool] = _smaller_loss,
        assets_extra: Any = None,
        as_text: bool = False,
        exports_to_keep: Optional[int] = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        wanted = signature(compare_fn).parameters
        for argument in ("best_eval_result", "current_eval_result"):
            if argument not in wanted:
                raise ValueError(f"compare_fn ({compare_fn}) must include {argument} argument.")
        self._compare, self._best = compare_fn, None

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Write one if it is better."""
        better = self._best is None or self._compare(
            best_eval_result=self._best, current_eval_result=eval_result
        )
        if not better:
            return None
        self._best = eval_result
        given = (estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        return super().export(*given)
