"""Messages behave in Python as protobuf's do."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from byparts_tf_files.message import Message
from byparts_tf_files.messages.checkpoint import CheckpointState
from byparts_tf_files.messages.config import ConfigProto, OptimizerOptions
from byparts_tf_files.messages.example import (
    BytesList,
    Example,
    Feature,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from byparts_tf_files.messages.graph import AttrValue, GraphDef, NodeDef
from byparts_tf_files.messages.summary import Summary

RECORDED = json.loads((Path(__file__).parent / "recorded" / "messages.json").read_text())
CLASSES: dict[str, type[Message]] = {
    k.__name__: k for k in (ConfigProto, AttrValue, CheckpointState, Summary, Example)
}


@pytest.mark.parametrize(("name", "data", "text"), RECORDED, ids=[row[0] for row in RECORDED])
def test_messages_of_protobuf_are_read_and_written_alike(name: str, data: str, text: str) -> None:
    """Bytes and text, both ways."""
    found = CLASSES[name].FromString(bytes.fromhex(data))

    assert found.SerializeToString().hex() == data
    assert str(found) == text


def _features() -> st.SearchStrategy[Feature]:
    integers = st.lists(st.integers(-(1 << 63), (1 << 63) - 1))
    floats = st.lists(st.floats(width=32, allow_nan=False))
    return st.one_of(
        st.builds(lambda v: Feature(bytes_list=BytesList(value=v)), st.lists(st.binary())),
        st.builds(lambda v: Feature(float_list=FloatList(value=v)), floats),
        st.builds(lambda v: Feature(int64_list=Int64List(value=v)), integers),
    )


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), _features()))
def test_an_example_is_read_as_it_was_written(features: dict[str, Feature]) -> None:
    made = Example(features=Features(feature=features))

    found = Example.FromString(made.SerializeToString())

    assert found == made and found.SerializeToString() == made.SerializeToString()
    assert dict(found.features.feature) == features


def test_a_field_that_is_not_there_is_put_there_by_its_first_change() -> None:
    """Reading does not; changing does, however deep."""
    made = Example()
    assert list(made.features.feature) == [] and not made.HasField("features")

    made.features.feature["a"].int64_list.value.append(3)

    assert made.HasField("features")
    assert made == Example.FromString(b"\n\x0c\n\n\n\x01a\x12\x05\x1a\x03\n\x01\x03")


def test_two_reads_of_a_field_that_is_not_there_are_one_message() -> None:
    made = ConfigProto()
    one, two = made.gpu_options, made.gpu_options
    one.allow_growth = True
    two.allocator_type = "BFC"

    assert made.gpu_options.allow_growth and made.gpu_options.allocator_type == "BFC"


def test_of_a_oneof_the_last_one_set_is_there() -> None:
    made = Feature(int64_list=Int64List(value=[1]))
    assert made.WhichOneof("kind") == "int64_list"
    assert not made.float_list.value  # reading changes nothing
    assert made.WhichOneof("kind") == "int64_list"

    made.float_list.value.append(0.5)

    assert made.WhichOneof("kind") == "float_list" and not made.HasField("int64_list")
    assert not made.int64_list.value
    made.ClearField("kind")
    assert made.WhichOneof("kind") is None


def test_a_default_in_a_oneof_is_there() -> None:
    """A summary of 0 is written."""
    made = Summary.Value(simple_value=0)

    assert made.HasField("simple_value") and made.SerializeToString() == b"\x15\0\0\0\0"
    assert not Summary.Value().HasField("simple_value")


def test_scalars_are_checked_when_they_are_set() -> None:
    made = Int64List()
    made.value.extend(np.arange(3))
    with pytest.raises(TypeError, match=r"1.5 has type .*float.*, but expected one of: int"):
        made.value.append(1.5)
    with pytest.raises(ValueError, match="Value out of range: 9223372036854775808"):
        made.value.append(1 << 63)
    with pytest.raises(TypeError, match=r"'text' has type .*str.*, but expected one of: bytes"):
        BytesList(value=["text"])
    with pytest.raises(TypeError, match="expected one of: int, float"):
        FloatList(value=["1"])

    assert made.value == [0, 1, 2] and list(FloatList(value=[0.1]).value) == [
        float(np.float32(0.1))
    ]


def test_only_fields_are_attributes_and_arguments() -> None:
    with pytest.raises(ValueError, match='Protocol message Example has no "feature" field'):
        Example(feature={})
    with pytest.raises(AttributeError, match="Assignment not allowed to message field 'features'"):
        Example().features = Features()
    with pytest.raises(AttributeError, match="Assignment not allowed to repeated field 'value'"):
        Int64List().value = [1]
    with pytest.raises(AttributeError):
        Example().nothing = 1  # type: ignore[attr-defined]  # what is tried
    with pytest.raises(TypeError, match="features must be a Features"):
        Example(features=Feature())
    with pytest.raises(ValueError, match="Can't test non-optional"):
        NodeDef().HasField("name")
    with pytest.raises(ValueError, match='has no oneof "name"'):
        NodeDef().WhichOneof("name")


def test_maps_make_what_is_asked_for() -> None:
    """As protobuf's; `in` and `get` do not."""
    made = NodeDef(attr={"T": AttrValue(type=1)})
    assert "S" not in made.attr and made.attr.get("S") is None

    made.attr["S"].s = b"x"

    assert sorted(made.attr) == ["S", "T"] and made.attr["T"].type == 1
    with pytest.raises(ValueError, match="May not set values directly"):
        made.attr["U"] = AttrValue()
    config = ConfigProto()
    config.device_count["GPU"] = 0
    assert config.device_count["CPU"] == 0 and dict(config.device_count) == {"GPU": 0, "CPU": 0}
    del made.attr["S"]
    assert list(made.attr) == ["T"]


def test_repeated_messages_are_copied_into_their_list() -> None:
    node = NodeDef(name="a")
    graph = GraphDef(node=[node])
    graph.node.extend([node])
    graph.node.add(name="b").input.append("a")
    node.name = "changed"

    assert [n.name for n in graph.node] == ["a", "a", "b"] and graph.node[-1].input == ["a"]
    del graph.node[0]
    assert len(graph.node) == 2
    with pytest.raises(TypeError, match="but expected a NodeDef"):
        graph.node.append(GraphDef())
    with pytest.raises(TypeError, match="cannot be assigned"):
        graph.node[0] = node


def test_merging_adds_to_lists_and_merges_messages() -> None:
    made = GraphDef(node=[{"name": "a"}], versions={"producer": 1})
    made.MergeFrom(GraphDef(node=[{"name": "b"}], versions={"min_consumer": 2}))

    assert [n.name for n in made.node] == ["a", "b"]
    assert (made.versions.producer, made.versions.min_consumer) == (1, 2)
    made.CopyFrom(GraphDef(node=[{"name": "c"}]))
    assert [n.name for n in made.node] == ["c"] and not made.HasField("versions")
    with pytest.raises(TypeError, match="must be instance of GraphDef: got NodeDef"):
        made.MergeFrom(NodeDef())


def test_copies_are_their_own() -> None:
    made = SequenceExample()
    made.feature_lists.feature_list["f"].feature.add().int64_list.value.append(1)
    copies: list[Any] = [copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    made.feature_lists.feature_list["f"].feature[0].int64_list.value[0] = 2

    assert [c.feature_lists.feature_list["f"].feature[0].int64_list.value[0] for c in copies] == [
        1,
        1,
    ]


def test_enumerations_take_names_and_numbers() -> None:
    made = OptimizerOptions(opt_level="L0")

    assert made.opt_level == -1 == OptimizerOptions.L0
    assert OptimizerOptions.Level.Name(-1) == "L0" and OptimizerOptions.Level.Value("L1") == 0
    with pytest.raises(ValueError, match="has no value defined for name 'L7'"):
        made.opt_level = "L7"
    made.opt_level = 77  # a number that a later version may name
    assert OptimizerOptions.FromString(made.SerializeToString()).opt_level == 77
