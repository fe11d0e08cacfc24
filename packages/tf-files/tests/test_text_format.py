"""Protobuf's text format is read and written."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from byparts_tf_files.messages.checkpoint import CheckpointState
from byparts_tf_files.messages.config import ConfigProto
from byparts_tf_files.messages.graph import AttrValue, GraphDef, NodeDef
from byparts_tf_files.text_format import MessageToString, Parse, ParseError

RECORDED = Path(__file__).parent / "recorded"


def test_a_graph_of_tensorflow_is_the_same_in_text_and_in_bytes() -> None:
    found = GraphDef.FromString((RECORDED / "graph.pb").read_bytes())

    text = Parse((RECORDED / "graph.pbtxt").read_text(), GraphDef())

    assert found == text and Parse(str(found), GraphDef()) == found
    assert found.SerializeToString() == (RECORDED / "graph.pb").read_bytes()


@given(st.binary(), st.floats(width=32), st.integers(-(1 << 63), (1 << 63) - 1), st.booleans())
def test_values_are_read_as_they_were_written(s: bytes, f: float, i: int, b: bool) -> None:
    """All but which NaN it is."""
    made = AttrValue(list={"s": [s], "f": [f], "i": [i], "b": [b]})

    assert str(Parse(str(made), AttrValue())) == str(made)


def test_other_ways_to_write_are_read() -> None:
    """Angle brackets, lists, commas, comments, strings in pieces, hexadecimal and octal numbers."""
    text = """
        # a comment
        list < i: [1, 0x10, -010], f: 1.5f; f: -inf f: NaN
               s: "a" 'b\\x41\\101\\n' type: [DT_FLOAT, 77], b: true b: f >
    """
    found = Parse(text, AttrValue()).list

    assert list(found.i) == [1, 16, -8] and found.s == [b"abAA\n"]
    assert str(list(found.f)) == "[1.5, -inf, nan]"
    assert list(found.type) == [1, 77] and list(found.b) == [True, False]


def test_one_line() -> None:
    made = NodeDef(name="a", input=["b"])

    assert MessageToString(made, as_one_line=True) == 'name: "a" input: "b"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: 1", "line 1, column 7: expected a string, at '1'"),
        ("nome: 1", "line 1, column 5: NodeDef has no field 'nome'"),
        ("name 'a'", "expected : after 'name'"),
        ("name: 'a", "line 1, column 7: no token begins here"),
        ("\n\nattr: 1", "line 3, column 7: expected { or <"),
        ("attr { key: 'a'", "expected the name of a field"),
        ("attr { key: 'a' >", "expected the name of a field, at '>'"),
        ("input: ['a' 3]", "expected , or ]"),
        ("name: ['a']", "a list for 'name', which is not repeated"),
        ("attr { value { type: DT_NONE } }", "no value defined for name 'DT_NONE'"),
        ("attr { value { i: 9223372036854775808 } }", "Value out of range"),
        ("attr { value { i: 1.5 } }", "i: invalid literal"),
        ("attr { value { b: maybe } }", "b: 'maybe' has type"),
        ("attr { value { f: x } }", "could not convert"),
        ("name: '\\777'", "an escape of 511"),
        ("name: '\\q'", "no escape is"),
        ("name: '\\377'", "codec can't decode"),
        ("[a.b]: 1", "expected the name of a field"),
        ("attr { " + "value { list { func { attr { " * 30, "more than 100 deep"),
    ],
)
def test_damage_is_named_with_line_and_column(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        Parse(text, NodeDef())


def test_a_map_in_text_has_its_keys_in_order() -> None:
    made = ConfigProto(device_count={"b": 1, "a": 0})
    text = 'device_count {\n  key: "a"\n}\ndevice_count {\n  key: "b"\n  value: 1\n}\n'

    assert str(made) == text and Parse(text, ConfigProto()) == made


def test_texts_are_escaped() -> None:
    made = CheckpointState(model_checkpoint_path="é\n'\"\\")

    assert str(made) == 'model_checkpoint_path: "\\303\\251\\n\\\'\\"\\\\"\n'
