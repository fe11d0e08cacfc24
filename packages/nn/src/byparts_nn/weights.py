"""Weights of modules in files: .safetensors or .npz, also those that PyTorch models were saved in.

    save("digits.safetensors", model)
    print(load("digits.safetensors", model))

No file runs code: a pickle (`.pt`, `.pth`, `.bin`) is refused, with the lines that convert it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Union

import numpy as np

from byparts_eager import Cell
from byparts_graph_ir import ArgumentError, FormatError, GraphError
from byparts_nn.module import Module
from byparts_weights import load as load_arrays, save as save_arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_nn.torch_names import Named, Rename

Path = Union[str, PathLike[str]]

_FORMAT = "byparts_nn.format"  # an array that says: our names and layouts, not PyTorch's
_PICKLES = (".pt", ".pth", ".bin", ".ckpt", ".pkl")


@dataclass(frozen=True)
class Report:
    """The use that was made of the arrays of a file; prints as a table.

    Attributes:
        matched: path in the model -> the names in the file that its value comes from.
        transposed: paths whose value is stored with its last two axes exchanged.
        converted: path -> the dtype that the file has it in.
        missing: paths for which the file has nothing; they keep their value.
        unexpected: names in the file that no cell of the model wants.
    """

    matched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    transposed: list[str] = field(default_factory=list)
    converted: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{len(self.matched)} arrays loaded, {len(self.transposed)} of them transposed"]
        for path, names in self.matched.items():
            if (path,) != names:
                turned = ", transposed" if path in self.transposed else ""
                lines.append(f"  {path} = {' + '.join(names)}{turned}")
        lines += [f"  {path} was {dtype}" for path, dtype in self.converted.items()]
        lines += [f"  missing: {path}" for path in self.missing]
        lines += [f"  unexpected: {name}" for name in self.unexpected]
        return "\n".join(lines)


def save(path: Path, model: Module, optimizer: Any = None) -> None:
    """Write the state of a model, and of its optimizer; the file is replaced whole or not at all.

    The names are the paths of the cells, those of the optimizer behind "optimizer.".

    Raises:
        ArgumentError: the path ends as a pickle does, which is never written.
        GraphError: a shape is not known yet; or the format lacks a dtype.
        OSError: the file cannot be written.
        ImportError: the path ends in .safetensors, and that library is not installed.
    """
    if os.fspath(path).endswith(_PICKLES):
        raise ArgumentError(f"save: {path} ends as a pickle does; write a .safetensors or an .npz")
    arrays = arrays_of(cells_of(model, optimizer))
    save_arrays(path, {**arrays, _FORMAT: np.array(1)})


def load(
    path: Path,
    model: Module,
    optimizer: Any = None,
    *,
    layout: str = "auto",
    rename: Rename | None = None,
    strict: bool = True,
) -> Report:
    """Give a model the values of a file: of `save`, or of a PyTorch model's `state_dict`.

    All values are checked before the first one is assigned.  PyTorch's names and layouts are found
    by the classes of the model's layers (`torch_names.py`).

    Args:
        path: the file.
        model: has the structure that was saved; open shapes become those of the file.
        optimizer: likewise; its state is left alone without it.
        layout: "byparts" or "torch": whose names and layouts the file has; "auto": `save` has
            written it, or else PyTorch.
        rename: names in the file to others, before they are looked for: beginnings and what stands
            in their place, or a function.
        strict: whether missing and unexpected arrays are an error.

    Raises:
        FormatError: the file is damaged, or a pickle.
        GraphError: an array does not fit; with `strict`, some are missing or unexpected.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    if name.endswith(_PICKLES):
        raise FormatError(_how_to_convert(name))
    if layout not in ("auto", "byparts", "torch"):
        raise ArgumentError(f"load: layout={layout!r:.60} is none of 'auto', 'byparts', 'torch'")
    from byparts_nn.torch_names import as_ours, renamed  # loads layers that a model need not have

    arrays = load_arrays(name)
    ours = arrays.pop(_FORMAT, None) is not None
    arrays, cells = renamed(arrays, rename), cells_of(model, optimizer)
    if optimizer is None:
        arrays = {n: a for n, a in arrays.items() if not n.startswith("optimizer.")}
    values: Named = {path: (array, (path,), False) for path, array in arrays.items()}
    if layout == "torch" or (layout == "auto" and not ours):
        values = as_ours(model, arrays)
        cells = {path: cell for path, cell in cells.items() if not _is_random(path)}
    report = _report(cells, values)
    if strict and (report.missing or report.unexpected):
        what = f"{name} does not have the arrays of this model"
        raise GraphError(f"{what}; load(..., strict=False) takes what there is\n{report}")
    assign(name, cells, {path: values[path][0] for path in report.matched})
    return report


def cells_of(model: Module, optimizer: Any = None) -> dict[str, Cell]:
    """All state by the names that it has in files."""
    cells = dict(model.cells())
    if optimizer is not None:
        cells |= {f"optimizer.{path}": cell for path, cell in optimizer.cells().items()}
    return cells


def arrays_of(cells: Mapping[str, Cell]) -> dict[str, np.ndarray[Any, Any]]:
    """The values of cells, as arrays that do not change."""
    return {path: np.array(cell.value.numpy()) for path, cell in cells.items()}


def assign(file: str, cells: Mapping[str, Cell], values: Mapping[str, Any]) -> None:
    """Give cells their values, all of them or none.

    Raises:
        GraphError: one does not fit; none was assigned.
    """
    for path, value in values.items():
        shape = cells[path].type.shape or ()
        fits = len(shape) == value.ndim and all(
            n in (None, m) for n, m in zip(shape, value.shape, strict=True)
        )
        if not fits:
            given = ",".join(map(str, value.shape))
            raise GraphError(f"{file}: {path!r} is [{given}]; the model's is {cells[path].type}")
    for path, value in values.items():
        cells[path].assign(value)


def _report(cells: Mapping[str, Cell], values: Named) -> Report:
    report = Report(
        missing=[path for path in cells if path not in values],
        unexpected=[path for path in values if path not in cells],
    )
    for path, cell in cells.items():
        if path in values:
            array, names, transposed = values[path]
            report.matched[path] = names
            if transposed:
                report.transposed.append(path)
            if array.dtype != _dtype_of(cell):
                report.converted[path] = str(array.dtype)
    return report


def _is_random(path: str) -> bool:
    """Whether a cell is the state of random numbers, which PyTorch's files do not have."""
    return path.endswith(("random.seed", "random.position"))


def _dtype_of(cell: Cell) -> Any:
    from byparts_runtime.arrays.dtypes import numpy_dtype

    return numpy_dtype(cell.type.dtype)


def _how_to_convert(name: str) -> str:
    stem = os.path.splitext(name)[0]
    return (
        f"{name} is a pickle, which runs code when it is read; convert it once, where PyTorch is:\n"
        "    import torch; from safetensors.torch import save_file\n"
        f"    save_file(torch.load({name!r}, weights_only=True), {stem + '.safetensors'!r})"
    )
