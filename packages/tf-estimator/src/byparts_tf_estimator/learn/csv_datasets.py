"""`tf.contrib.learn.datasets`: tables in files, and the flowers that come with this part."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.learn.data_files import Dataset, Datasets, maybe_download
from byparts_tf_estimator.learn.mnist import load_mnist
from byparts_tf_files.errors import NotFoundError

IRIS = Path(__file__).parent.parent / "data" / "iris.csv"


def _rows(filename: Any) -> list[list[str]]:
    with open(filename, newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(file) if row]


def _table(rows: list[list[str]], target_dtype: Any, features_dtype: Any, column: int) -> Dataset:
    targets = [row.pop(column) for row in rows]
    return Dataset(
        data=np.array(rows).astype(features_dtype), target=np.array(targets).astype(target_dtype)
    )


@symbol(
    "contrib.learn.datasets.base.load_csv_with_header",
    "contrib.learn.python.learn.datasets.base.load_csv_with_header",
)
def load_csv_with_header(
    filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """A table whose first line begins with the numbers of examples and features.

    Args:
        filename: of the file, with commas.
        target_dtype: of the targets.
        features_dtype: of the data.
        target_column: which column the targets are.

    Raises:
        ValueError: there are other numbers of lines or columns; something is no number.
    """
    header, *rows = _rows(filename)
    count, features = int(header[0]), int(header[1])
    if len(rows) < count:
        raise ValueError(f"{filename}: the first line says {count} examples, there are {len(rows)}")
    found = _table(rows[:count], target_dtype, features_dtype, target_column)
    if found.data.shape[1:] != (features,):
        raise ValueError(f"{filename}: {found.data.shape[1:]} features, expected {features}")
    return found


@symbol(
    "contrib.learn.datasets.base.load_csv_without_header",
    "contrib.learn.python.learn.datasets.base.load_csv_without_header",
)
def load_csv_without_header(
    filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """A table without a first line of numbers.  See `load_csv_with_header`."""
    return _table(_rows(filename), target_dtype, features_dtype, target_column)


@symbol("contrib.learn.datasets.base.load_iris")
def load_iris(data_path: Any = None) -> Dataset:
    """150 flowers: four measures, and one of three species."""
    return load_csv_with_header(data_path or IRIS, target_dtype=int, features_dtype=float)


@symbol("contrib.learn.datasets.base.load_boston")
def load_boston(data_path: Any = None) -> Dataset:
    """The houses of Boston, of a file: it does not come with this part.

    Raises:
        NotFoundError: no file is given.
    """
    if data_path is None:
        raise NotFoundError(
            None, None, "boston_house_prices.csv does not come with this part: give data_path"
        )
    return load_csv_with_header(data_path, target_dtype=float, features_dtype=float)


def load_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> Datasets:
    """Texts with one of 15 classes, of dbpedia_data/dbpedia_csv/train.csv and test.csv.

    Raises:
        NotFoundError: they are not there.
    """
    folder = os.path.join("dbpedia_data", "dbpedia_csv")
    where = "dbpedia_csv.tar.gz, unpacked, from the paper Character-level Convolutional Networks"
    suffix = "_small" if size == "small" else ""
    parts = []
    for name in ("train", "test"):
        small, whole = f"{name}{suffix}.csv", f"{name}.csv"
        there = os.path.exists(os.path.join(folder, small))
        path = maybe_download(small if there else whole, folder, where)
        found = load_csv_without_header(path, np.int32, str, target_column=0)
        if size == "small" and not there:
            found = Dataset(found.data[::1000], found.target[::1000])
        parts.append(found)
    return Datasets(train=parts[0], validation=None, test=parts[1])


DATASETS: dict[str, Callable[..., Any]] = {
    "boston": load_boston,
    "iris": load_iris,
    "mnist": load_mnist,
}
SIZED_DATASETS: dict[str, Callable[..., Any]] = {"dbpedia": load_dbpedia}


@symbol("contrib.learn.datasets.load_dataset")
def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """The data set of a name: iris; mnist, boston and dbpedia from files.

    Raises:
        ValueError: there is none of this name.
    """
    if name in DATASETS:
        return DATASETS[name]()
    if name in SIZED_DATASETS:
        return SIZED_DATASETS[name](size, test_with_fake_data)
    raise ValueError(f"Name of dataset is not found: {name}")


SYMBOLS = {
    "contrib.learn.datasets.DATASETS": "DATASETS",
    "contrib.learn.datasets.SIZED_DATASETS": "SIZED_DATASETS",
    **{
        f"contrib.learn.{part}datasets.base.{name}": name
        for part in ("", "python.learn.")
        for name in ("Dataset", "Datasets")
    },
}
