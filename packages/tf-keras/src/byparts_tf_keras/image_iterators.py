"""Batches of images, from arrays and from folders."""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.data import Sequence
from byparts_tf_keras.images import ENDINGS, img_to_array, load_img
from byparts_tf_keras.state import floatx


@symbol("keras.preprocessing.image.Iterator")
class Iterator(Sequence):
    """Batches of numbered things, in a new order in each epoch if `shuffle`."""

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: Optional[int]) -> None:
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.index_array: Any = None

    def _order(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise ValueError(
                f"Asked to retrieve element {index}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._order()
        begin = self.batch_size * index
        return self._batch(self.index_array[begin : begin + self.batch_size])

    def on_epoch_end(self) -> None:
        """A new order."""
        self._order()

    def reset(self) -> None:
        """Begin anew."""
        self.batch_index = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.batch_index == 0:
            self._order()
        batch = self[self.batch_index]
        self.batch_index = (self.batch_index + 1) % len(self)
        return batch

    next = __next__

    def _batch(self, rows: Any) -> Any:
        raise NotImplementedError


@symbol("keras.preprocessing.image.NumpyArrayIterator")
class NumpyArrayIterator(Iterator):
    """Batches of arrays of images."""

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: Optional[int] = None,
    ) -> None:
        self.x, self.y = np.asarray(x, floatx()), None if y is None else np.asarray(y)
        if self.y is not None and len(self.x) != len(self.y):
            raise ValueError(
                "`x` (images tensor) and `y` (labels) should have the same length. Found: "
                f"x.shape = {self.x.shape}, y.shape = {self.y.shape}"
            )
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self._generator = image_data_generator
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _batch(self, rows: Any) -> Any:
        make = self._generator
        images = np.stack([make.standardize(make.random_transform(self.x[i])) for i in rows])
        more = [a[rows] for a in (self.y, self.sample_weight) if a is not None]
        return (images, *more) if more else images


@symbol("keras.preprocessing.image.DirectoryIterator")
class DirectoryIterator(Iterator):
    """Batches of the image files in a folder, a folder inside for each class."""

    def __init__(
        self,
        directory: Any,
        image_data_generator: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: Optional[str] = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: Optional[int] = None,
        interpolation: str = "nearest",
    ) -> None:
        folder = os.fspath(directory)
        inside = sorted(n for n in os.listdir(folder) if os.path.isdir(os.path.join(folder, n)))
        names = list(classes) if classes else inside
        self.class_indices = {n: i for i, n in enumerate(names)}
        self.filenames: list[str] = []
        labels: list[int] = []
        for name in names:
            for at, _, files in sorted(os.walk(os.path.join(folder, name), followlinks=True)):
                images = [f for f in sorted(files) if f.lower().endswith(ENDINGS)]
                self.filenames += [os.path.relpath(os.path.join(at, f), folder) for f in images]
                labels += [self.class_indices[name]] * len(images)
        self.classes, self.num_classes = np.array(labels, "int32"), len(names)
        self.samples, self.class_mode = len(labels), class_mode
        self.filepaths = [os.path.join(folder, f) for f in self.filenames]
        self._generator, self._size = image_data_generator, tuple(target_size)
        self._color, self._way = color_mode, interpolation
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def labels(self) -> Any:
        """The class of each file."""
        return self.classes

    def _batch(self, rows: Any) -> Any:
        make, images = self._generator, []
        for i in rows:
            image = load_img(
                self.filepaths[i],
                color_mode=self._color,
                target_size=self._size,
                interpolation=self._way,
            )
            x = img_to_array(image, make.data_format)
            images.append(make.standardize(make.random_transform(x)))
        batch, classes = np.stack(images), self.classes[rows]
        if self.class_mode == "categorical":
            return batch, np.eye(self.num_classes, dtype=floatx())[classes]
        if self.class_mode == "binary":
            return batch, classes.astype(floatx())
        if self.class_mode == "sparse":
            return batch, classes
        return (batch, batch.copy()) if self.class_mode == "input" else batch
