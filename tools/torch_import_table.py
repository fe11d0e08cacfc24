"""Writes `docs/frontend-torch.md`: which ops of torch are imported, and why others are not.

python tools/torch_import_table.py          # writes the file; needs torch
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from byparts_frontend_torch import rules
from byparts_frontend_torch.all_rules import MODULES

FILE = Path(__file__).parents[1] / "docs" / "frontend-torch.md"
HEAD = """# What frontend-torch imports

Written by `python tools/torch_import_table.py`; a test says when it is stale.

{imported} of the {core} ops of torch's core ATen opset have a rule, and {more} ops beside it that
stay whole instead of being decomposed. Everything else in torch is decomposed into these, or is an
error that names it, and
[a rule of your own](../packages/frontend-torch/README.md#what-has-no-rule) is a function.

"""
# Why a core op has no rule: the first pattern that fits.
WHY = {
    r"_backward$": "a gradient: take it with autodiff",
    r"_fft": "complex numbers",
    r"3d": "images of three axes",
    r"nonzero|masked_scatter|local_scalar": "its shape or its use depends on data",
    r"sym_": "a size: it is read as a number or a symbol",
    r"as_strided|storage|resize": "memory, not numbers",
    r"pool1d": "torch makes it of the pool along two axes",
    r"out$": "writes into a tensor",
    r"_native_batch_norm_legit$": "writes into its statistics; torch makes it functional first",
    r"randperm|grid_sampler|col2im|embedding_bag|pdist": "no op for it in the opset",
    r"": "nobody has written one",
}


def text() -> str:
    """The whole file."""
    core = sorted(_core())
    ours = [name for name in rules if name.startswith("aten.")]
    imported = [name for name in core if name in rules]
    head = HEAD.format(imported=len(imported), core=len(core), more=len(set(ours) - set(imported)))
    return head + "\n".join(_tables(ours, core))


def _core() -> Iterator[str]:
    """Full names of the overloads that torch tags as core."""
    for full in torch._C._dispatch_get_all_op_names():
        space, _, name = full.partition("::")
        if space == "aten":
            packet, _, overload = name.partition(".")
            found: Any = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
            if found is not None and torch.Tag.core in found.tags:
                yield str(found)


def _tables(ours: list[str], core: list[str]) -> Iterator[str]:
    places = {name: getattr(rules.get(name), "__module__", "") for name in ours}
    for module in [m.__name__.rpartition(".")[2] for m in MODULES]:
        here = [n for n, place in places.items() if place.endswith(f".aten.{module}")]
        yield f"## {module}\n"
        listed = _listed("Core", [n for n in here if n in core])
        yield from (*listed, *_listed("Beside it", [n for n in here if n not in core]))
    yield "## Core ops that are not imported\n"
    yield "| op | why |\n| --- | --- |"
    for name in core:
        if name not in rules:
            yield f"| `{_short(name)}` | {_why(name)} |"
    yield ""


def _listed(what: str, names: list[str]) -> Iterator[str]:
    listed = ", ".join(f"`{_short(n)}`" for n in sorted(names))
    if names:
        yield f"{what}: {listed}.\n"


def _short(name: str) -> str:
    return name.removeprefix("aten.").removesuffix(".default")


def _why(name: str) -> str:
    return next(why for pattern, why in WHY.items() if re.search(pattern, _short(name)))


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
