"""Every op of this part, by its name in text; an op is imported when it is asked for.

Which there are is said once, in `__init__.py`: a class among the public names is an op.  Its name
in text is that of the class in snake_case, or in one word where a function is called so (`matmul`);
a test compares with what the classes say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import byparts_opset
from byparts_graph_ir import Op
from byparts_graph_ir.lazy_names import homes
from byparts_graph_ir.model.op_name import snake_case


class _Ops(Mapping[str, type[Op]]):
    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, name: str) -> type[Op]:
        op: type[Op] = getattr(byparts_opset, self._classes[name])
        return op

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


def _in_text(name: str, names: Mapping[str, str]) -> str:
    words, word = snake_case(name), name.lower()
    return word if word in names and words not in names else words


_homes = homes("byparts_opset")
OPS: Mapping[str, type[Op]] = _Ops(
    {_in_text(n, _homes): n for n in _homes if n[0].isupper() and n != "OPS"}
)
