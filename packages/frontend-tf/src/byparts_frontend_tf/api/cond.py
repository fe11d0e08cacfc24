"""`tf.cond` and `tf.case`: one of several functions, chosen by values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.arguments import renamed
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import equal
from byparts_frontend_tf.graph.body import Body
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    pack_sequence_as,
)
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.running.branches import lower_cond
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import Dims, agreed


class Branch:
    """A branch of a condition: the operations and results of a function that is called once.

    Attributes:
        body: holds its operations.
        structure: what it gave.
        results: its leaves: tensors; for an operation whether the condition holds, after it.
    """

    def __init__(self, function: Callable[[], Any], holds: bool) -> None:
        self.body = Body(get_default_graph(), "cond")
        with self.body.entered():
            self.structure = function()
            if self.structure is None:
                which = "true_fn" if holds else "false_fn"
                raise ValueError(f"{which} must have a return value.")
            self.results = [_leaf(v, holds) for v in flatten(self.structure)]

    @classmethod
    def of(cls, body: Body, results: list[Any]) -> Branch:
        """A branch whose operations are there already."""
        made = cls.__new__(cls)
        made.body, made.structure, made.results = body, results, results
        return made

    @property
    def tensors(self) -> list[Tensor]:
        """The results that have a value: tensors."""
        return [v for v in self.results if isinstance(v, Tensor)]


def _leaf(given: Any, holds: bool) -> Any:
    if given is None:
        return None
    if isinstance(given, Operation):
        with control_dependencies([given]):
            return identity(holds, name="control_dependency")
    if hasattr(given, "_array_flow"):
        return given._array_flow()
    made = convert_to_tensor(given)
    return identity(made) if made.variable is not None else made


def _branch_shapes(inputs: Sequence[Tensor], *, then: Branch, otherwise: Branch) -> list[Dims]:
    pairs = zip(then.tensors, otherwise.tensors, strict=True)
    return [agreed(a.dims, b.dims) for a, b in pairs]


COND = Kind(
    "If",
    special=lower_cond,
    shape=_branch_shapes,
    dtype=lambda inputs, then, otherwise: [t.dtype.base_dtype for t in then.tensors],
)


@symbol("cond")
def cond(
    pred: Any,
    true_fn: Any = None,
    false_fn: Any = None,
    strict: bool = False,
    name: Optional[str] = None,
    fn1: Any = None,
    fn2: Any = None,
) -> Any:
    """Give the results of `true_fn` where `pred` holds, else those of `false_fn`.

    Only operations made inside a function are conditional.  An operation that a function gives
    stands for whether `pred` holds.

    Raises:
        TypeError: `pred` is no tensor, a function is none, or the two give different things.
        ValueError: they give different numbers of tensors, or dtypes.
    """
    true_fn = renamed(true_fn, fn1, "true_fn", "fn1")
    false_fn = renamed(false_fn, fn2, "false_fn", "fn2")
    if not callable(true_fn) or not callable(false_fn):
        which = "true_fn" if not callable(true_fn) else "false_fn"
        raise TypeError(f"{which} must be callable.")
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        test = convert_to_tensor(pred, name="pred")
        if test.dtype.base_dtype.name != "bool":
            raise TypeError(f"pred must be of dtype bool, and is {test.dtype.name}")
        then, otherwise = Branch(true_fn, True), Branch(false_fn, False)
        _check_alike(then, otherwise)
        made = _joined(test, then, otherwise)
    if not strict and isinstance(made, list) and len(made) == 1:
        return made[0]
    return made


def _check_alike(then: Branch, otherwise: Branch) -> None:
    a, b = then.structure, otherwise.structure
    for x in (a, b):
        if is_nested(x) and not flatten(x):
            raise ValueError("true_fn and false_fn must return at least one result.")
    one, two = _as_list(a), _as_list(b)
    if is_nested(one) != is_nested(two) or len(flatten(one)) != len(flatten(two)):
        raise ValueError(
            "Outputs of true_fn and false_fn must have the same structure: "
            f"{then.structure!r:.80} and {otherwise.structure!r:.80}"
        )
    assert_same_structure(one, two, check_types=False)
    for x, y in zip(then.results, otherwise.results, strict=True):
        if isinstance(x, Tensor) != isinstance(y, Tensor):
            raise TypeError(f"true_fn gives {x!r:.60} where false_fn gives {y!r:.60}")
        if isinstance(x, Tensor) and x.dtype.base_dtype is not y.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{x.dtype.name}, {y.dtype.name}"
            )


def _as_list(structure: Any) -> Any:
    """A list of one is as good as what is in it."""
    if isinstance(structure, (list, tuple)) and len(structure) == 1:
        return structure[0]
    return structure


def _joined(test: Tensor, then: Branch, otherwise: Branch) -> Any:
    captured: dict[Tensor, None] = {}
    waited_for: dict[Operation, None] = {}
    for branch in (then, otherwise):
        tensors, ops = branch.body.captured([v for v in branch.results if v is not None])
        captured.update(dict.fromkeys(tensors))
        waited_for.update(dict.fromkeys(ops))
    op = COND.operation((test, *captured), "If", then=then, otherwise=otherwise)
    op._control_inputs = tuple(dict.fromkeys((*op._control_inputs, *waited_for)))
    outputs = iter(op.outputs)
    leaves = [next(outputs) if isinstance(v, Tensor) else op for v in then.results]
    rebuilt = [
        given._with_flow(leaf) if hasattr(given, "_with_flow") else leaf
        for given, leaf in zip(flatten(then.structure), leaves, strict=True)
    ]
    return pack_sequence_as(then.structure, rebuilt)


@symbol("case")
def case(
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Give the results of the function of the first condition that holds, else of `default`.

    Raises:
        TypeError: the pairs are none.
        ValueError: there is no pair.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    if not pairs:
        raise ValueError("At least one pair is required")
    for test, function in pairs:
        if not callable(function) or isinstance(test, bool):
            raise TypeError("pred_fn_pairs are pairs of a boolean tensor and a function")
    with name_scope(name, "case", [test for test, _ in pairs]):
        last = default
        if last is None:
            last = pairs[-1][1]
            pairs = pairs[:-1]
        for test, function in reversed(pairs):
            last = _either(test, function, last, strict)
        return last()


@symbol("switch_case")
def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """Give the results of the function of a number; of another number `default`'s, else the last's.

    Args:
        branch_index: an integer tensor.
        branch_fns: functions by their numbers, or pairs of a number and a function, or functions.
        default: for other numbers.
        name: of the branches.

    Raises:
        TypeError: there is no function.
    """
    rows = branch_fns.items() if isinstance(branch_fns, dict) else branch_fns
    pairs = [row if isinstance(row, (tuple, list)) else (i, row) for i, row in enumerate(rows)]
    if not pairs:
        raise TypeError("branch_fns must be a non-empty dict, list or tuple")
    index = convert_to_tensor(branch_index, name="branch_index")
    last = sorted(pairs, key=lambda pair: pair[0])[-1][1] if default is None else default
    return case([(equal(index, n), function) for n, function in pairs], last, name=name)


def _either(test: Any, function: Any, otherwise: Any, strict: bool) -> Callable[[], Any]:
    return lambda: cond(test, function, otherwise, strict=strict)


@symbol("contrib.framework.smart_cond", "contrib.layers.smart_cond")
def smart_cond(
    pred: Any,
    true_fn: Any = None,
    false_fn: Any = None,
    name: Optional[str] = None,
    fn1: Any = None,
    fn2: Any = None,
) -> Any:
    """Branch as `cond`; where the condition is known, only the function it chooses is called.

    Args:
        pred: the condition.
        true_fn: called where it holds.
        false_fn: called where it does not.
        name: of the branch.
        fn1: `true_fn`, as contrib's layers call it.
        fn2: `false_fn`, likewise.
    """
    yes, no = fn1 or true_fn, fn2 or false_fn
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, yes, no, name=name)
    return yes() if known else no()


@symbol("contrib.framework.smart_case")
def smart_case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case"
) -> Any:
    """Branch as `case`; of known conditions, call only the function of the first that holds.

    Raises:
        ValueError: all are known, none holds and there is no default.
    """
    pairs = pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    known = [(smart_constant_value(pred), function) for pred, function in pairs]
    if any(holds is None for holds, _ in known):
        return case(pred_fn_pairs, default, exclusive, name=name)
    chosen = next((function for holds, function in known if holds), default)
    if chosen is None:
        raise ValueError("smart_case: no condition holds, and there is no default")
    return chosen()


@symbol("contrib.framework.smart_constant_value")
def smart_constant_value(pred: Any) -> Optional[bool]:
    """Whether a condition holds, where that is known while the graph is built."""
    if not isinstance(pred, Tensor) and not hasattr(pred, "_as_tensor"):
        return bool(pred)
    known = static_value(convert_to_tensor(pred))
    return None if known is None else bool(known)
