"""The frame of a function in a language of C's family: parameters, sizes, local buffers.

void byparts_NAME(void **a);  // buffers in order, workspace, `int64_t *` of the sizes
"""

from __future__ import annotations

from collections.abc import Callable

from byparts_tensor_ir.access import elements_of
from byparts_tensor_ir.emit.language import Language
from byparts_tensor_ir.emit.text import Text
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.placement import placement
from byparts_tensor_ir.statement import Buffer, For, Func, walk


class Function:
    """The lines of one function, of which the frame is written here.

    Attributes:
        name: in the code; no name of the C library.
        text: the lines so far.
        placement: where local buffers stand.
        after_parameters: writes what else depends on them.
    """

    def __init__(self, func: Func, language: Language, aliased: set[Buffer]) -> None:
        self.name, self.func, self.language = f"byparts_{func.name}", func, language
        names = [b.name for b in (*func.params, *func.locals)] + [str(x) for x in func.sizes]
        names += [s.name for s in walk(func.body) if isinstance(s, For)]
        self.text, self.aliased, self.placement = Text(names), aliased, placement(func)
        self.after_parameters: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """Write what stands before the statements."""
        n, forms = len(self.func.params), self.language.statements
        self.parameters()
        for i, size in enumerate(self.func.sizes):
            self.text.line(forms["size"].format(name=size.attr.name, table=n + 1, i=i))
        for b, offset in self.placement.offsets.items():
            kind = self.language.types[b.dtype]
            place = forms["workspace"].format(kind=kind, name=b.name, i=n, offset=offset)
            self.text.line(place)
        self.declare(None)

    def parameters(self) -> None:
        """Write the addresses of inputs and outputs."""
        for i, p in enumerate(self.func.params):
            kind = self.language.types[p.dtype]
            kind = kind if p in self.func.outputs else f"const {kind}"
            form = self.language.statements["alias" if p in self.aliased else "parameter"]
            self.text.line(form.format(kind=kind, name=p.name, i=i))
        self.after_parameters()

    def declare(self, place: Expr | None) -> None:
        """Declare the local buffers that live in the loop of this variable, in whole blocks."""
        for b in self.placement.within.get(place, ()):
            n = elements_of(b)
            if b.shape:  # `lane_forms.is_padding`
                n = -(-n * BYTES[b.dtype] // 64) * 64 // BYTES[b.dtype]
            form, kind = self.language.statements["local"], self.language.types[b.dtype]
            self.text.line(form.format(type=kind, name=b.name, count=max(1, n)))

    def whole(self) -> str:
        """The text of the function."""
        head = self.language.statements["function"].format(name=self.name)
        return "\n".join([f"{head} {{", *self.text.lines, "}\n"])
