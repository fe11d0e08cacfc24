"""`gluon.data.vision`: MNIST from files that are there; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.gluon.data.dataset import Dataset
from byparts_frontend_mxnet.test_utils import read_mnist


class MNIST(Dataset):
    """Digits of 28 by 28 pixels: u8[28, 28, 1] and a label i32.

    Args:
        root: the folder of the four files.
        train: 60,000 images to train, or 10,000 to test.
        transform: a function of image and label.
    """

    folder = "mnist"

    def __init__(
        self, root: Optional[str] = None, train: bool = True,
        transform: Optional[Callable[..., Any]] = None,
    ) -> None:  # fmt: skip
        root = root or f"~/.mxnet/datasets/{self.folder}"
        self._images, self._labels = read_mnist(root, "train" if train else "t10k")
        self._transform = transform

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, i: Any) -> Any:
        image, label = nd.array(self._images[i][..., None], dtype="uint8"), self._labels[i]
        return (image, label) if self._transform is None else self._transform(image, label)


class FashionMNIST(MNIST):
    """Pictures of clothes in the format of MNIST."""

    folder = "fashion-mnist"
