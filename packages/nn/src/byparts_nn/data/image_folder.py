"""Pictures in folders, one folder for each class."""

from __future__ import annotations

import os
from os import PathLike
from typing import Union

import numpy as np

from byparts_graph_ir import FormatError
from byparts_graph_ir.errors import PartError
from byparts_nn.data.samples import Array

_ENDINGS = (".png", ".bmp", ".jpg", ".jpeg", ".gif")


class ImageFolder:
    """Pairs of a picture, f32 [channels, height, width] in [0, 1], and the number of its class.

    A sequence for `Data`.  `folder/cat/1.png` is a picture of class "cat"; classes and files are
    in the order of their names.  The part tf-files reads PNG and BMP, with Pillow also the others.

    Args:
        folder: the folder of the folders.
        channels: 1 (grey), 3 (colours) or 4 (with alpha); other pictures are converted.

    Raises:
        FormatError: there is no picture.
        OSError: the folder cannot be read.
    """

    def __init__(self, folder: Union[str, PathLike[str]], channels: int = 3) -> None:
        self.folder, self.channels = os.fspath(folder), channels
        entries = sorted(os.listdir(self.folder))
        self.classes = [e for e in entries if os.path.isdir(os.path.join(self.folder, e))]
        self.files = [
            (os.path.join(self.folder, name, file), number)
            for number, name in enumerate(self.classes)
            for file in sorted(os.listdir(os.path.join(self.folder, name)))
            if file.lower().endswith(_ENDINGS)
        ]
        if not self.files:
            endings = ", ".join(_ENDINGS)
            what = f"{self.folder} has {len(self.classes)} folders, and in them no {endings}"
            raise FormatError(f"{what}; expected a folder for each class, with its pictures")

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Array, int]:
        path, number = self.files[index]
        with open(path, "rb") as file:
            pixels = _decoded(path, file.read(), self.channels)
        scale = np.float32(np.iinfo(pixels.dtype).max)
        return np.ascontiguousarray(np.moveaxis(pixels, -1, 0)) / scale, number


def _decoded(path: str, data: bytes, channels: int) -> Array:
    """The picture of a file: uint8 or uint16 [height, width, channels]."""
    try:
        from byparts_tf_files.pictures import decoded  # a part that need not be there
    except ImportError as error:
        how = "pip install byparts-tf-files"
        raise PartError(f"{path}: pictures are read by the part tf-files: {how}") from error
    try:
        pixels: Array = decoded(data, channels)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    except NotImplementedError as error:  # a JPEG, and Pillow is not installed
        raise PartError(f"{path}: {error}") from error
    return pixels if pixels.ndim == 3 else pixels[0]  # the first frame of a GIF
