"""The history of a training: a row for each epoch, the loss of each step, a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from html import escape
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

    def column(self, name: str) -> list[float]:
        """The numbers of a column, one for each epoch.

        Raises:
            GraphError: there is no such column.
        """
        if self.rows and name not in self.rows[0]:
            there = ", ".join(self.rows[0])
            raise GraphError(f"history: no column {name!r:.60}; there are {there}")
        return [row[name] for row in self.rows]

    def to_csv(self, path: Union[str, PathLike[str], None] = None) -> str:
        """The table as CSV; written to a file too, if there is a path."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(self.rows[0]) if self.rows else [], lineterminator="\n")
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
        names = list(self.rows[0]) if self.rows else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{shown(row[name])}</td>' for name in names)}</tr>"
            for row in self.rows
        )
        return f"{self.svg()}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        if not self.rows:
            return "no epoch is done"
        cells = [list(self.rows[0]), *[[shown(v) for v in row.values()] for row in self.rows]]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"History({len(self.rows)} epochs, {len(self.losses)} steps: {self.reason})"


def shown(value: float) -> str:
    """A number in four digits, as people read them."""
    if value == int(value) if abs(value) < 1e15 else False:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
