"""Classes whose fields are their annotations, without a decorator."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import Any, ClassVar

import pytest

from byparts_graph_ir import Graph, Input, Op, TensorType, parse
from byparts_graph_ir.model.frozen import (
    Frozen,
    field_annotations,
    field_defaults,
    field_names,
    replace as replaced,
)


class Sum(Op):
    """An op with a field to say, one to leave out, and a constant."""

    axes: tuple[int, ...]
    keepdims: bool = False
    cases: ClassVar[tuple[int, ...]] = (1, 2)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)


class ScaledSum(Sum):
    """Its fields come after those of its base; it has another default for one."""

    scale: float = 1.0
    keepdims: bool = True


class Checked(Frozen):
    """A class with a check of its own."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"size {self.size} is negative")


class CheckedSum(Sum, Checked):
    """A class with the fields of both bases."""


class ByParity(Frozen):
    """A class that says itself what is equal."""

    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByParity) and self.number % 2 == other.number % 2

    def __hash__(self) -> int:
        return self.number % 2


def test_fields_are_the_annotations_of_the_class_and_its_bases() -> None:
    """In the order in which they are said; a constant of the class is none."""
    assert field_names(Sum) == ("axes", "keepdims")
    assert field_names(ScaledSum) == ("axes", "keepdims", "scale")
    assert field_defaults(ScaledSum) == {"keepdims": True, "scale": 1.0}
    assert [str(kind) for kind, _ in field_annotations(Sum).values()] == ["tuple[int, ...]", "bool"]


def test_two_bases_give_their_fields_in_the_order_of_dataclasses() -> None:
    """Those of the last base come first; the default of the first base counts."""
    assert field_names(CheckedSum) == ("size", "axes", "keepdims")
    assert CheckedSum(2, (0,)) == CheckedSum(2, axes=(0,), keepdims=False)
    with pytest.raises(ValueError, match="size -1 is negative"):
        CheckedSum(-1, ())


def test_arguments_go_to_fields_by_position_and_by_name() -> None:
    """A base that is used first does not give its `__init__` to a subclass."""
    assert Sum((0,)).keepdims is False

    assert vars(ScaledSum((0,), scale=2.0)) == {"axes": (0,), "keepdims": True, "scale": 2.0}


def test_an_argument_too_many_is_refused() -> None:
    """As Python refuses it, with the name of the class."""
    with pytest.raises(
        TypeError, match=r"Sum\.__init__\(\) got an unexpected keyword argument 'k'"
    ):
        Sum((0,), k=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'axes'"):
        Sum()  # type: ignore[call-arg]


def test_equal_fields_of_one_class_are_equal_and_hash_alike() -> None:
    """Another class with the same fields is not equal."""
    assert Sum((0,)) == Sum((0,), False)
    assert hash(Sum((0,))) == hash(Sum((0,), False))
    assert Sum((0,)) != Sum((1,))
    assert Sum((0,), True) != ScaledSum((0,), True)


def test_a_class_that_defines_equality_keeps_it() -> None:
    """Also its hash."""
    assert ByParity(1) == ByParity(3)
    assert len({ByParity(1), ByParity(3), ByParity(2)}) == 2


def test_instances_cannot_be_changed() -> None:
    """Neither assigned to nor deleted."""
    op: Any = Sum((0,))
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'axes'"):
        op.axes = (1,)
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'axes'"):
        del op.axes


def test_an_instance_prints_its_fields() -> None:
    """As it would be written."""
    assert repr(ScaledSum((0,))) == "ScaledSum(axes=(0,), keepdims=True, scale=1.0)"


def test_an_instance_is_pickled_by_content() -> None:
    """A copy in another process is equal."""
    assert pickle.loads(pickle.dumps(ScaledSum((0,), scale=3.0))) == ScaledSum((0,), scale=3.0)


def test_fields_are_there_for_dataclasses() -> None:
    """The standard library's functions and ours answer alike."""
    assert [f.name for f in dataclasses.fields(ScaledSum)] == ["axes", "keepdims", "scale"]
    assert dataclasses.asdict(Sum((0,))) == {"axes": (0,), "keepdims": False}
    assert dataclasses.is_dataclass(Sum(()))
    op: Any = Sum((0,))  # mypy knows `dataclasses.replace` of decorated classes alone
    assert dataclasses.replace(op, keepdims=True) == replaced(op, keepdims=True)


def test_a_field_that_is_not_there_cannot_be_replaced() -> None:
    """The error says its name."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        replaced(Sum((0,)), axis=1)


def test_fields_are_matched_by_position() -> None:
    """`match` reads the fields in order."""
    match ScaledSum((0,), scale=2.0):
        case ScaledSum(axes, _, scale):
            assert (axes, scale) == ((0,), 2.0)


def test_a_check_runs_when_an_instance_is_made() -> None:
    """Its own error, or one that names the field of the wrong type."""
    with pytest.raises(ValueError, match="size -1 is negative"):
        Checked(-1)
    with pytest.raises(Exception, match="Checked: size"):
        Checked("many")  # type: ignore[arg-type]


def test_a_mutable_default_is_refused() -> None:
    """It would be shared by all instances."""
    with pytest.raises(
        TypeError, match=r"Wrong\.axes: the default \[0\] is mutable or has no hash"
    ):

        class Wrong(Op):
            axes: list[int] = [0]  # noqa: RUF012  # the mistake


def test_a_default_without_a_hash_is_refused() -> None:
    """Instances could not be hashed, and `dataclasses.fields` could not tell the fields."""
    default: Mapping[str, int] = MappingProxyType({})
    wrong = r"Wrong\.arenas: the default mappingproxy\({}\) .* has no hash; use a tuple or None"
    with pytest.raises(TypeError, match=wrong):

        class Wrong(Frozen):
            arenas: Mapping[str, int] = default


def test_a_default_made_by_a_factory_is_refused() -> None:
    """`dataclasses.field` is not read."""
    with pytest.raises(TypeError, match=r"Wrong\.axes: no field\(\.\.\.\) here"):

        class Wrong(Op):
            axes: tuple[int, ...] = dataclasses.field(default=())


def test_a_value_without_an_annotation_is_refused() -> None:
    """It would be the same in all instances, and missing in text."""
    with pytest.raises(TypeError, match=r"Wrong\.axis has no annotation: a field is `axis: int = "):

        class Wrong(Op):
            axis = 0


def test_a_decorated_op_works_as_one_without_decorator() -> None:
    """Whoever writes `@dataclass(frozen=True)` out of habit gets the same op."""

    @dataclasses.dataclass(frozen=True)
    class Habit(Op):
        axis: int = 0

    assert (Habit(1), repr(Habit()).rpartition(".")[2]) == (Habit(axis=1), "Habit(axis=0)")


def test_attributes_go_through_text() -> None:
    """A default is not printed; what is said is read back."""
    x = Input(TensorType("f32", (2,)), None, "x")
    graph = Graph.of([x], [ScaledSum((0,), scale=2.5)(x)])

    assert parse(str(graph), ops={"scaled_sum": ScaledSum}) == graph
    assert "scaled_sum(%x, axes=(0,), scale=2.5)" in str(graph)
