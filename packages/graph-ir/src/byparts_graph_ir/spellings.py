"""Names under which other libraries know an argument: told in one sentence, with what to write.

`contract.checked` asks here when a function is given a name that it does not have.  An axis is
`axis` everywhere, an int or, where several are meant, a tuple of them.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Taken for the other: the fields of ops, and so programs in text, say `axes`.
_SAME = {"axes": "axis"}
# As others spell it -> as we may; the first that the function has is the one.
_THEIRS = {
    **dict.fromkeys(("dim", "dims", "axis", "axes", "reduction_indices"), ("axis", "permutation")),
    **dict.fromkeys(("keepdim", "keep_dims"), ("keepdims",)),
    **dict.fromkeys(("perm", "order"), ("permutation",)),
    **{"eps": ("epsilon",), "ddof": ("correction",), "ord": ("order",), "reps": ("repeats",)},
    **{"newshape": ("shape",), "indices_or_sections": ("sizes",), "a": ("x",), "input": ("x",)},
}


def spelled(function: str, has: Sequence[str], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords by the names that the function has.

    Raises:
        ArgumentError: it has no such argument; says which one may be meant.
    """
    own: dict[str, Any] = {}
    for name, value in keywords.items():
        known = name if name in has else _SAME.get(name, name)
        if known not in has:
            raise ArgumentError(f"{function} has no argument {name!r}{_advice(name, value, has)}")
        if known in own:
            raise ArgumentError(f"{function}: {name!r} is {known!r}, which is given twice")
        own[known] = value
    return own


def _advice(name: str, value: object, has: Sequence[str]) -> str:
    from difflib import get_close_matches  # only for a message

    meant = [ours for ours in _THEIRS.get(name, ()) if ours in has]
    meant = meant or get_close_matches(name, has, 1)
    if meant:
        return f": write {meant[0]}={value!r:.40}"
    return f"; it takes {', '.join(has)}" if has else "; it takes none"
