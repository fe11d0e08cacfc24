"""Writes the numbers of a training where TensorBoard finds them; needs the part tf-files."""

from __future__ import annotations

import os
from os import PathLike
from typing import Union

from byparts_graph_ir.errors import PartError
from byparts_nn.events import Callback, EpochDone, Event, StepDone, TrainingEnded


def event_files(folder: Union[str, PathLike[str]]) -> Callback:
    """A callback that writes losses of steps, and the columns of epochs, into a folder.

    Raises:
        PartError: the part tf-files is not installed.
    """
    try:
        from byparts_tf_files.event_file import FileWriter
        from byparts_tf_files.summaries import scalar_summary
    except ImportError as error:
        what = "fit(events=...) needs the part tf-files"
        raise PartError(f"{what}: pip install byparts-tf-files") from error
    writer, step = FileWriter(os.fspath(folder)), 0

    def write(event: Event) -> None:
        nonlocal step
        if isinstance(event, StepDone):
            step = event.step
            writer.add_summary(scalar_summary("step/loss", event.loss), step)
            if event.rate is not None:
                writer.add_summary(scalar_summary("step/rate", event.rate), step)
        elif isinstance(event, EpochDone):
            for name, value in event.row.items():
                if name != "epoch":
                    writer.add_summary(scalar_summary(f"epoch/{name}", value), step)
            writer.flush()
        elif isinstance(event, TrainingEnded):
            writer.close()

    return write
