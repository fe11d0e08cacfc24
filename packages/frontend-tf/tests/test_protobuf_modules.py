"""Programs that import protobuf for messages of TensorFlow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import tensorflow as tf
from google.protobuf import text_format
import google.protobuf.text_format as pbtf
from google.protobuf.message import DecodeError

graph = tf.GraphDef()
text_format.Merge('node { name: "a" op: "NoOp" }', graph)
print(text_format.MessageToString(graph.node[0], as_utf8=True).split(), pbtf is text_format)
try:
    tf.GraphDef.FromString(b"\\x0a")
except DecodeError as error:
    print(error)
try:
    pbtf.Parse("nod", tf.GraphDef())
except text_format.ParseError as error:
    print(error)
"""
THEIRS = """
def MessageToString(message, **how):
    return "theirs"
class ParseError(Exception):
    pass
"""


def _output(folder: Path, program: str) -> str:
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "byparts_frontend_tf", str(folder / "program.py")]
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder
class Nothing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "google.protobuf":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Nothing())
"""


@pytest.mark.parametrize("installed", [False, True])
def test_texts_and_errors(installed: bool, tmp_path: Path) -> None:
    """Texts of graphs, and both errors, which a program catches by protobuf's names."""
    if installed:
        pytest.importorskip("google.protobuf", reason="protobuf is not installed")
    (tmp_path / "sitecustomize.py").write_text("" if installed else WITHOUT)
    assert _output(tmp_path, PROGRAM).splitlines() == [
        "['name:', '\"a\"', 'op:', '\"NoOp\"'] True",
        "byte 1: a varint that reaches beyond its end",
        "line 1, column 4: GraphDef has no field 'nod', at ''",
    ]


def test_messages_of_protobuf_go_to_protobuf(tmp_path: Path) -> None:
    """A stand-in for it is installed beside the program."""
    (tmp_path / "google" / "protobuf").mkdir(parents=True)
    for name in ("", "protobuf/"):
        (tmp_path / "google" / f"{name}__init__.py").write_text("")
    (tmp_path / "google" / "protobuf" / "text_format.py").write_text(THEIRS)
    (tmp_path / "google" / "protobuf" / "message.py").write_text(
        "class DecodeError(Exception): ..."
    )
    program = """
import tensorflow as tf
from google.protobuf import text_format
print(text_format.MessageToString(3), text_format.MessageToString(tf.NodeDef(name="a")), end="")
"""
    command = [sys.executable, "-m", "byparts_frontend_tf", "-m", "program"]
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == 'theirs name: "a"\n'
