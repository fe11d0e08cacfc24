"""Functions of the cases of a test, compiled by one call of the C compiler.

The compiler takes 0.05 s to start, and the functions of most cases have three lines.  A case still
runs a function of its own.  One that cannot be emitted, or that the compiler refuses, fails alone:
what is not in the common file is built by its case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from byparts_graph_ir import GraphError
from byparts_tensor_ir.build import build, of_arrays
from byparts_tensor_ir.compile import caller, compiled
from byparts_tensor_ir.emit.c import emit_c
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.statement import Func
from byparts_tensor_ir.target import target

Case = tuple[Any, ...]


class Together:
    """`build` of the functions that `make(*case)` gives, all those of C at once.

    Args:
        make: the function of a case.
        cases: (bytes of a vector or `None` for those of the target, arguments of `make`) of each.
    """

    def __init__(self, make: Callable[..., Func], cases: Iterable[tuple[int | None, Case]]) -> None:
        self.make, self._cases = make, tuple(cases)
        self._calls: dict[str, dict[tuple[int | None, Case], Any]] = {}  # by name of the target

    def build(self, emitter: str, vector: int | None, *case: Any) -> Any:
        """The function of NumPy arrays of a case, as `build` of tensor-ir gives it.

        Raises:
            CompilerError: the compiler refuses the function of this case.
        """
        func = self.make(*case)
        if emitter != "c":
            return build(func, vector, emitter)
        name = target().name
        if name not in self._calls:
            self._calls[name] = self._compiled()
        found = self._calls[name].get((vector, case))
        return build(func, vector, "c") if found is None else of_arrays(func, *found)

    def _compiled(self) -> dict[tuple[int | None, Case], Any]:
        sources: dict[tuple[int | None, Case], Source] = {}
        for i, (vector, case) in enumerate(self._cases):
            try:
                source = emit_c(self.make(*case), vector or target().vector_bytes)
            except Exception:  # raised again in its case
                continue
            sources[vector, case] = source.renamed(f"{source.name}_{i}")
        try:
            addresses = compiled(list(sources.values()))
        except GraphError:  # in the case whose function it is
            return {}
        return {
            case: (s, caller(addresses[s.name], s.workspace_bytes)) for case, s in sources.items()
        }
