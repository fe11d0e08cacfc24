"""`TensorsByName`: what an open checkpoint offers, whatever its format."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from byparts_tf_files.dtypes import DType

Array = NDArray[Any]


class TensorsByName(Mapping[str, Array]):
    """The tensors of a checkpoint by name; each is read when it is asked for.

    Attributes:
        path: what is common to the names of its files.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @abstractmethod
    def dtype(self, name: str) -> DType:
        """The dtype of a tensor.

        Raises:
            KeyError: there is none of that name.
        """

    @abstractmethod
    def dims(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor.

        Raises:
            KeyError: there is none of that name.
        """

    @abstractmethod
    def __getitem__(self, name: str) -> Array:
        """A tensor; of texts, an array of `bytes` objects.

        Raises:
            KeyError: there is none of that name.
            DataLossError: it is damaged.
        """

    @abstractmethod
    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, name: object) -> bool:
        return any(name == known for known in self)
