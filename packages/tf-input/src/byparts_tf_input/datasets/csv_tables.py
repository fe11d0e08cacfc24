"""`make_csv_dataset`: batches of files of comma-separated values, whose dtypes are found out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import constant_of
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, float32, float64, int32, int64, string
from byparts_tf_files.file_system import matching_files
from byparts_tf_input.datasets.csv_files import CsvDataset
from byparts_tf_input.datasets.dataset import Dataset
from byparts_tf_input.datasets.decoding import fields_of
from byparts_tf_input.datasets.experimental import ignore_errors as leave_out
from byparts_tf_input.datasets.readers import lines_of

_KINDS = (int32, int64, float32, float64, string)


def files_of(pattern: Any) -> list[str]:
    """The files that fit a pattern or one of several.

    Raises:
        ValueError: there is none.
    """
    found = matching_files(pattern)
    if not found:
        raise ValueError(f"No files match {pattern}.")
    return found


def mixed(dataset: Dataset, epochs: Any, shuffle: bool, size: int, seed: Any) -> Dataset:
    """The elements, repeated, and shuffled where that is asked for."""
    return (dataset.shuffle(size, seed) if shuffle else dataset).repeat(epochs)


@symbol("data.experimental.make_csv_dataset", "contrib.data.make_csv_dataset")
def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Optional[Sequence[str]] = None,
    column_defaults: Optional[Sequence[Any]] = None,
    label_name: Optional[str] = None,
    select_columns: Optional[Sequence[Any]] = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: int = 1,
    sloppy: bool = False,
    num_rows_for_inference: int = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of lines: dicts name -> column, with the label beside them where one is named.

    Args:
        file_pattern: of the files, or a list of patterns.
        batch_size: how many lines.
        column_names: by default those of the first line.
        column_defaults: as those of `CsvDataset`; by default found in the first lines.
        label_name: of the column that is the label.
        select_columns: names or numbers of those that are read.
        field_delim: as that of `CsvDataset`.
        use_quote_delim: likewise.
        na_value: likewise.
        header: likewise.
        num_epochs: how often all lines come; `None`: without end.
        shuffle: whether lines are mixed.
        shuffle_buffer_size: of how many.
        shuffle_seed: of the order.
        prefetch_buffer_size: accepted.
        num_parallel_reads: accepted.
        sloppy: accepted.
        num_rows_for_inference: in how many lines dtypes are looked for.
        compression_type: as that of `CsvDataset`.
        ignore_errors: whether lines that cannot be read are left out.

    Raises:
        ValueError: no file matches, or the label is no column.
    """
    files = files_of(file_pattern)
    how = (field_delim.encode(), use_quote_delim)
    names = list(column_names) if column_names is not None else _first_fields(files[0], *how)
    chosen = _chosen(select_columns, names)
    if column_defaults is None:
        rows = num_rows_for_inference + header
        column_defaults = _inferred(files, rows, header, chosen, how, na_value)
    names = [names[i] for i in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns.")
    given = (compression_type, None, header, field_delim, use_quote_delim, na_value)
    lines = CsvDataset(files, column_defaults, *given, chosen)
    rows_ = mixed(lines, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    whole = rows_.batch(batch_size, drop_remainder=num_epochs is None)

    def by_name(*columns: Any) -> Any:
        found = OrderedDict(zip(names, columns, strict=True))
        return found if label_name is None else (found, found.pop(label_name))

    made = whole.map(by_name)
    if ignore_errors:
        made = made.apply(leave_out())
    return made


def _first_fields(path: str, delimiter: bytes, quotes: bool) -> list[str]:
    with open(path, "rb") as file:
        for line in lines_of(file):
            return [f.decode() for f in fields_of(line, delimiter, quotes)]
    raise ValueError(f"{path} is empty: there are no names of columns")


def _chosen(select: Optional[Sequence[Any]], names: Sequence[str]) -> list[int]:
    """The numbers of the columns that are read."""
    if select is None:
        return list(range(len(names)))
    found = sorted([names.index(c) if isinstance(c, str) else int(c) for c in select])
    if len(set(found)) != len(found):
        raise ValueError("select_columns contains duplicates.")
    return found


def _inferred(
    files: Sequence[str],
    rows: int,
    header: bool,
    chosen: Sequence[int],
    how: tuple[bytes, bool],
    missing: str,
) -> list[Tensor]:
    """For each column that is read a default that says its dtype, and that there is none."""
    ranks: list[Optional[int]] = [None] * len(chosen)
    for path in files:
        with open(path, "rb") as file:
            for i, line in enumerate(lines_of(file)):
                if i >= rows:
                    break
                if i >= header:
                    fields = fields_of(line, *how)
                    ranks = [
                        _rank(fields[c].decode(), r, missing)
                        for c, r in zip(chosen, ranks, strict=True)
                    ]
    kinds = [string if r is None else _KINDS[r] for r in ranks]
    return [constant_of(np.empty(0, k.as_numpy_dtype)) for k in kinds]


def _rank(text: str, least: Optional[int], missing: str) -> Optional[int]:
    """The number of the first kind, from `least` on, that a text fits."""
    if text in ("", missing):
        return least
    return next(i for i in range(least or 0, len(_KINDS)) if _fits(text, _KINDS[i]))


def _fits(text: str, kind: DType) -> bool:
    try:
        if kind.is_integer:
            return bool(kind.min <= int(text) <= kind.max)
        return kind is string or abs(float(text)) < kind.max
    except ValueError:
        return False
