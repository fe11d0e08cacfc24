"""Values as numbers: expressions in a language of C's family, each computed once, under a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from byparts_tensor_ir.access import flat_index, is_safe
from byparts_tensor_ir.emit.language import Fields, Form, Language, written
from byparts_tensor_ir.emit.text import Text
from byparts_tensor_ir.expression import INDEX, Expr, const, make
from byparts_tensor_ir.index import not_negative
from byparts_tensor_ir.lane_forms import Varying
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Buffer

INDEX_OPS = ("linear", "mul", "floordiv", "mod", "min", "max")
NAMES = ("var", "register", "name")
_LAZY = ("and", "or")


class Values:
    """Texts of values, and the lines that compute them.

    Attributes:
        language: the tables.
        text: the lines so far.
        safe: whether a value may be computed where it is not chosen.
        element: an element in memory, of a buffer and an index.
        index: an index.
        operand: an operand of an operation.
        name: gives a value, whose text is known, a name of its own, or leaves the text as it is.
        deep_value: the text of a value of any depth.
        one_arm: a select, and the text of its condition, of which one arm may be computed.
    """

    def __init__(self, language: Language, text: Text) -> None:
        self.language, self.text = language, text
        self.varying, self.proved = Varying(), dict[Expr, bool]()
        self.safe: Callable[[Expr], bool] = self.proved_safe
        self.element: Callable[[Buffer, Sequence[Expr]], str] = self.plain_element
        self.index: Callable[[Expr], str] = self.plain_index
        self.operand: Callable[[Expr, Expr], str] = lambda e, a: self.value(a)
        self.name: Callable[[Expr, str], str] = self.named
        self.deep_value: Callable[[Expr], str] = self.operands_first
        self.one_arm: Callable[[Expr, str], str] = self.branches

    def operands_first(self, e: Expr) -> str:
        """Compute the value as `value` does, operands first, so that Python's stack suffices."""
        for x in self.varying.operands_first(e, None):
            self.value(x)
        return self.value(e)

    def value(self, e: Expr) -> str:
        """The text of a value: a constant, or a name, computed in a line above if need be."""
        e = expanded(e)
        if e.op == "const":
            return self.language.literal(e)
        if e.op in NAMES or (e.dtype == INDEX and e.op in INDEX_OPS):
            return self.index(e)
        known = self.text.value(e)
        if known is not None:
            return known
        if e.op == "select":
            return self.chosen(e)
        if e.dtype == "bool" and e.op in _LAZY and not self.safe(e.args[1]):
            return self.only_if_undecided(e)
        return self.name(e, self.operation(e))

    def operation(self, e: Expr) -> str:
        """The text of one operation."""
        if e.op == "load":
            return self.of_memory(e, self.element(e.attr, e.args))
        return self.of_texts(e, [self.operand(e, a) for a in e.args])

    def of_texts(self, e: Expr, args: Sequence[str]) -> str:
        """The text of an operation on operands of these texts."""
        return written(self.language.forms.of(e), Fields(e, args, self.language))

    def of_memory(self, e: Expr, element: str) -> str:
        """The value of an element in memory, which may be of another type."""
        return self.of_texts(e, [element])

    def stored(self, dtype: str, value: str) -> str:
        """A value as it stands in memory."""
        return self.of_texts(make("store", (), dtype), [value])

    def named(self, e: Expr, text: str) -> str:
        """The value under a new name."""
        name = self.text.fresh()
        self.text.line(f"const {self.type_of(e)} {name} = {text};")
        self.text.remember(e, name)
        return name

    def type_of(self, e: Expr) -> str:
        """The type of a value."""
        return self.language.value_types[e.dtype]

    # -- choices -------------------------------------------------------------------------------

    def chosen(self, e: Expr) -> str:
        """A select: both arms, or only the chosen one where the other may read outside."""
        condition, a, b = e.args
        if e.attr == "rare":
            return self.rare(e)
        test = self.value(condition)
        if self.safe(a) and self.safe(b):
            return self.name(e, self.of_texts(e, [test, self.value(a), self.value(b)]))
        return self.one_arm(e, test)

    def rare(self, e: Expr) -> str:
        """A select whose first arm is computed only if it is chosen."""
        condition, a, b = e.args
        name, usual, test = self.text.fresh(), self.value(b), self.value(condition)
        self.text.line(f"{self.type_of(e)} {name} = {usual};")
        with self.text.block(self.language.statements["rare"].format(condition=test)):
            self.text.line(f"{name} = {self.value(a)};")
        self.text.remember(e, name)
        return name

    def branches(self, e: Expr, test: str) -> str:
        """A select of which only the chosen arm may be computed, as two blocks."""
        _, a, b = e.args
        trim, others = self.language.trim, outer_selects(b)
        for x in outer_selects(a):  # powers of integers have 31, each in both arms of the next
            if x in others:
                self.value(x)
        name = self.text.fresh()
        self.text.line(f"{self.type_of(e)} {name};")
        for head, arm in ((f"if ({trim(test)})", a), ("else", b)):
            with self.text.block(head):
                self.text.line(f"{name} = {trim(self.value(arm))};")
        self.text.remember(e, name)
        return name

    def only_if_undecided(self, e: Expr) -> str:
        """An `and` or `or` whose second operand is computed if the first one does not decide."""
        a, b = e.args
        arms = (a, b, const(False, "bool")) if e.op == "and" else (a, const(True, "bool"), b)
        name = self.value(make("select", arms, "bool"))
        if not self.text.knows(e):
            self.text.remember(e, name)
        return name

    def proved_safe(self, e: Expr) -> bool:
        """Whether all that a value reads is inside of its buffer; asked once for each."""
        if e not in self.proved:
            self.proved[e] = is_safe(e)
        return self.proved[e]

    # -- memory and indices --------------------------------------------------------------------

    def plain_element(self, buffer: Buffer, index: Sequence[Expr]) -> str:
        """An element of an array."""
        place = self.language.trim(self.index(flat_index(buffer, index)))
        return f"{self.text.name(buffer)}[{place}]"

    def plain_index(self, e: Expr) -> str:
        """An index as a number of 64 bits."""
        if e.op == "const":
            return str(e.attr)
        if e.op in NAMES:
            return self.text.name(e)
        if e.op == "linear":
            pairs = zip(e.args, e.attr[0], strict=True)
            parts = [self.index(a) + (f" * {c}" if c != 1 else "") for a, c in pairs]
            return f"({' + '.join([*parts, str(e.attr[1])] if e.attr[1] else parts)})"
        if e.op not in INDEX_OPS:
            return self.value(e)
        parts = [self.index(a) for a in e.args]
        form: Form = f"({' * '.join(parts)})"
        if e.op in ("floordiv", "mod") and all(map(not_negative, e.args)):
            form = f"({{a}} {'/' if e.op == 'floordiv' else '%'} {{b}})"
        elif e.op != "mul":
            form = self.language.forms[f"index {e.op}"]
        return written(form, Fields(e, parts, self.language))


def outer_selects(e: Expr) -> dict[Expr, None]:
    """The selects that are computed with e, in no arm of another; not those of booleans."""
    outer: dict[Expr, None] = {}
    seen, todo = {e}, [e]
    while todo:
        x = todo.pop()
        if x.op == "select":
            outer[x] = None
        conditional = x.op == "select" or (x.dtype == "bool" and x.op in _LAZY)
        new = [a for a in (x.args[:1] if conditional else x.args) if a not in seen]
        seen.update(new)
        todo += new
    return outer
