"""A dataset of files of comma-separated values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import string
from byparts_tf_input.datasets.dataset import Dataset
from byparts_tf_input.datasets.decoding import Columns, check_select, defaults_of
from byparts_tf_input.datasets.elements import Row, Spec
from byparts_tf_input.datasets.pipeline import Context, Next, Pipeline
from byparts_tf_input.datasets.readers import lines_of, of_files, text


@symbol("data.experimental.CsvDataset", "contrib.data.CsvDataset")
class CsvDataset(Dataset):
    """The lines of files of comma-separated values, as tuples of scalars.

    Args:
        filenames: a path, a list of them, or a tensor.
        record_defaults: for each column a value for empty fields, or a dtype: it is required.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: accepted.
        header: whether the first line of each file is left out.
        field_delim: between fields.
        use_quote_delim: whether `"` may stand around a field.
        na_value: a text that counts as an empty field.
        select_cols: the numbers of the columns to be read, ascending.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Optional[Sequence[int]] = None,
    ) -> None:
        check_select(select_cols, len(record_defaults))
        defaults = defaults_of(record_defaults)
        dtypes = [t.dtype.base_dtype for t in defaults]
        given = (field_delim, use_quote_delim, na_value, select_cols)

        def read(source: Any, context: Context) -> Iterator[Row]:
            for i, line in enumerate(_whole_lines(lines_of(source), use_quote_delim)):
                if i or not header:
                    yield (text(line),)

        lines = of_files(filenames, read, compression_type)

        def start(context: Context) -> Next:
            columns = Columns([context.value(t) for t in defaults], dtypes, *given)
            get = lines.start(context)
            return lambda: _typed(columns.read(get()[0].item(), 0), dtypes)

        element = tuple([Spec(d, ()) for d in dtypes])
        super().__init__(Pipeline(element, start, (lines,), tuple(defaults)))


def _whole_lines(lines: Iterator[bytes], quotes: bool) -> Iterator[bytes]:
    """Lines, joined where a quoted field has several."""
    parts: list[bytes] = []
    for line in lines:
        parts.append(line)
        if not quotes or sum([p.count(b'"') for p in parts]) % 2 == 0:
            yield b"\n".join(parts)
            parts = []
    if parts:
        yield b"\n".join(parts)


def _typed(values: Sequence[Any], dtypes: Sequence[Any]) -> Row:
    return tuple(
        [
            text(v) if d is string else np.array(v, d.as_numpy_dtype)
            for v, d in zip(values, dtypes, strict=True)
        ]
    )
