"""Data sets of files, and where their files are: nothing is downloaded."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.errors import NotFoundError

Dataset = namedtuple("Dataset", ["data", "target"])
Datasets = namedtuple("Datasets", ["train", "validation", "test"])


@symbol(
    "contrib.learn.datasets.base.maybe_download",
    "contrib.learn.python.learn.datasets.base.maybe_download",
)
def maybe_download(filename: str, work_directory: Any, source_url: str) -> str:
    """The path of a file that is in a folder.

    Raises:
        NotFoundError: it is not: nothing is downloaded.
    """
    path = os.path.join(os.fspath(work_directory), filename)
    if not os.path.exists(path):
        raise NotFoundError(
            None, None, f"{path} is not there, and nothing is downloaded: put there {source_url}"
        )
    return path
