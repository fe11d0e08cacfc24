"""The history of a training: a row for each epoch, the loss of each step, a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from html import escape
from math import nan
from os import PathLike
from typing import Union

from byparts_graph_ir import GraphError
from byparts_nn.curve import curves_svg

Row = dict[str, float]


class History:
    """Rows of numbers, one for each epoch; shows itself as a table and as curves.

    Attributes:
        rows: name -> number, for each epoch: "epoch", "loss" (the mean of its steps), "val_loss"
            and metrics if it was validated, "rate", "samples_per_s", "seconds".
        losses: of each step.
        reason: why the training ended.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.losses: list[float] = []
        self.reason = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, epoch: int) -> Row:
        return self.rows[epoch]

    @property
    def columns(self) -> list[str]:
        """The names of all columns; a training that went on may have more than it began with."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def column(self, name: str) -> list[float]:
        """The numbers of a column, one for each epoch; NaN where an epoch has none.

        Raises:
            GraphError: there is no such column.
        """
        if self.rows and name not in self.columns:
            there = ", ".join(self.columns)
            raise GraphError(f"history: no column {name!r:.60}; there are {there}")
        return [row.get(name, nan) for row in self.rows]

    def to_csv(self, path: Union[str, PathLike[str], None] = None) -> str:
        """The table as CSV; written to a file too, if there is a path."""
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(out.getvalue())
        return out.getvalue()

    def svg(self) -> str:
        """The curves as SVG: the loss of each step and epoch, and below it the metrics."""
        return curves_svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        head, *rows = (
            "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            for tag, row in zip(["th", *["td"] * len(self.rows)], self._cells(), strict=True)
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"{self.svg()}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        if not self.rows:
            return "no epoch is done"
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
        return "\n".join(lines)

    def _cells(self) -> list[list[str]]:
        """The table as text, the names first."""
        names = self.columns
        rows = [[shown(row[n]) if n in row else "" for n in names] for row in self.rows]
        return [names, *rows]

    def __repr__(self) -> str:
        return f"History({len(self.rows)} epochs, {len(self.losses)} steps: {self.reason})"


def shown(value: float) -> str:
    """A number in four digits, as people read them."""
    if value == int(value) if abs(value) < 1e15 else False:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
