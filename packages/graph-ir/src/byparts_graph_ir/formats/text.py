"""A graph as text that a person reads and that parses back.

    graph  = "(" [param {"," param}] ")" "{" {node} "return" [ref {"," ref}] "}"
    param  = ref ":" type
    node   = [ref ":" type {"," ref ":" type} "="] op "(" [ref {"," ref}] {"," name "=" literal} ")"
    type   = dtype "[" ("..." | [dim {"," dim}]) "]"
    dim    = integer | name | "?" | an expression of names and integers: model/dimension.py
    literal= integer | float | string | bytes | True | False | None | tuple | type | graph
    ref    = "%" (number | name)

Inputs are called by their names where those are distinct, other values by number; defaults are not
printed; a comment at the end of a node's line is its `where`.  Same bytes every run.
"""

from __future__ import annotations

import re
from math import isfinite

from byparts_graph_ir.errors import FormatError, ShapeError
from byparts_graph_ir.formats.attributes import (
    BYTE_ORDER_MARK,
    MOST_DIGITS,
    Ops,
    installed_ops,
    make_node,
    make_op,
    shown,
)
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.show import DEEPEST
from byparts_graph_ir.model.types import ITEM_BYTES, Dimension, TensorType
from byparts_graph_ir.model.value import Input, Node, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def parse(text: str | bytes, ops: Ops | None = None) -> Graph:
    """The graph of a text.  `ops` maps names to op classes; by default those of installed parts.

    Raises:
        FormatError: with line and column, what was found and what was expected.
    """
    if not isinstance(text, str):
        raise FormatError(f"expected a text, got {type(text).__name__}; decode it first")
    return _Parser(text, installed_ops() if ops is None else ops).parse()


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+) | \#(?P<comment>[^\r\n]*) | (?P<ref>%[\w./-]+)
      | (?P<string>b?(?:'[^'\\\n]*(?:\\.[^'\\\n]*)*'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"))
      | (?P<number>-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|-(?:inf|nan)\b)
      | (?P<name>[^\W0-9][^\s(){}\[\],:=?.#%'"-]*) | (?P<mark>\.\.\.|[(){}\[\],:=?+*/-])""",
    re.VERBOSE,
)
_REPR = re.compile(  # the longest beginning that has the escapes of `repr` alone
    r"""(?:[^\\]+|\\[\\'"nrt]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U00(?:0[0-9a-f]|10)[0-9a-f]{4})*"""
)
_WIDE = re.compile(r"(?<!\\)(?:\\\\)*\\[uU]")
_WORDS = {"True": True, "False": False, "None": None, "inf": float("inf"), "nan": float("nan")}


class _Parser:
    """Parser of a text, in one pass over the tokens; a comment belongs to the token before it."""

    def __init__(self, text: str, ops: Ops) -> None:
        self.text, self.ops, self.at = text, ops, 0
        here = int(text.startswith(BYTE_ORDER_MARK))
        self.tokens: list[tuple[str, str, int]] = []
        self.comments: dict[int, str] = {}  # index of the token before it -> text
        while here < len(text):
            token = _TOKEN.match(text, here)
            if token is None:
                raise FormatError(
                    f"{self._place(here)}: {text[here]!r} begins nothing that is known"
                )
            kind = token.lastgroup or ""
            if kind == "comment":
                self.comments[len(self.tokens) - 1] = token["comment"].strip()
            elif kind != "space":
                self.tokens.append((kind, token[0], here))
            here = token.end()
        self.tokens.append(("end", "the end", len(text)))

    def parse(self) -> Graph:
        """Parse the text, which is one graph and nothing else."""
        graph = self.graph(0)
        if self.tokens[self.at][0] != "end":
            raise self.error("the end")
        return graph

    def graph(self, depth: int) -> Graph:
        if depth > DEEPEST:
            raise self.error(f"at most {DEEPEST} graphs inside each other")
        env: dict[str, Value] = {}
        inputs: list[Value] = []
        self.eat("(")
        while not self.seen(")"):
            name = self.kind("ref")
            self.eat(":")
            inputs.append(self.define(env, name, Input(self.type(), None, self.label(name), "")))
            self.comma(")")
        self.eat("{")
        nodes: list[Node] = []
        while not self.seen("return"):
            nodes.append(self.node(env, depth))
        outputs = [] if self.peek() == "}" else [self.value(env)]
        while self.seen(","):
            outputs.append(self.value(env))
        self.eat("}")
        return Graph(tuple(inputs), tuple(nodes), tuple(outputs))

    def node(self, env: dict[str, Value], depth: int) -> Node:
        start, declared = self.at, self.declared()
        op_name = self.kind("name")
        self.eat("(")
        inputs: list[Value] = []
        attributes: dict[str, Any] = {}
        while not self.seen(")"):
            if self.tokens[self.at][0] == "ref":
                inputs.append(self.value(env))
            else:
                key = self.kind("name")
                if key in attributes:
                    raise self.error(f"a new attribute ({key} is given)", self.at - 1)
                self.eat("=")
                attributes[key] = self.literal(depth + 1)
            self.comma(")")
        node = self.made(op_name, attributes, inputs, start)
        if len(declared) != len(node.outputs):
            raise self.error(f"{len(node.outputs)} names for the outputs of {op_name}", start)
        for (name, stated), value in zip(declared, node.outputs, strict=True):
            if stated != value.type:
                raise self.error(f"{name} of type {value.type}, which {op_name} gives", start)
            self.define(env, name, value)
        return node

    def declared(self) -> list[tuple[str, TensorType]]:
        outputs = []
        while self.tokens[self.at][0] == "ref":
            name = self.kind("ref")
            self.eat(":")
            outputs.append((name, self.type()))
            self.comma("=")
        if outputs:
            self.eat("=")
        return outputs

    def made(self, name: str, attributes: dict[str, Any], inputs: list[Value], start: int) -> Node:
        try:
            op = make_op(name, attributes, self.ops)
            return make_node(op, tuple(inputs), self.comments.get(self.at - 1, ""))
        except FormatError as error:
            raise FormatError(f"{self._place(self.tokens[start][2])}: {error}") from error

    def type(self) -> TensorType:
        start, dtype = self.at, self.kind("name")
        self.eat("[")
        if self.seen("..."):
            self.eat("]")
            return self.typed(dtype, None, start)
        dims: list[Dimension] = []
        while not self.seen("]"):
            dims.append(self.dimension())
            self.comma("]")
        return self.typed(dtype, tuple(dims), start)

    def dimension(self) -> Dimension:
        """Parse a dimension: a number, `?`, a name or an expression, up to the next `,` or `]`."""
        kind, word, start = self.tokens[self.at]
        self.at += 1
        if word == "?" or (kind == "number" and self.peek() in (",", "]")):
            return None if word == "?" else self.integer(self.at - 1)
        if kind not in ("name", "number") and word not in ("(", "-"):
            raise self.error("a dimension", self.at - 1)
        depth = int(word == "(")
        while depth > 0 or self.peek() not in (",", "]"):
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            if self.tokens[self.at][0] not in ("name", "number", "mark"):
                raise self.error("a dimension")
            self.at += 1
        return self.text[start : self.tokens[self.at][2]]

    def typed(self, dtype: str, dims: tuple[Dimension, ...] | None, start: int) -> TensorType:
        try:
            return TensorType(dtype, dims)
        except ShapeError as error:
            raise self.error(f"a type ({error})", start) from error

    def literal(self, depth: int) -> object:
        kind, word, _ = self.tokens[self.at]
        if word == "(":
            return self.graph(depth) if self.graph_ahead() else self.tuple(depth)
        if kind == "name" and word in ITEM_BYTES:
            return self.type()
        self.at += 1
        if kind == "number":
            return self.number(self.at - 1)
        if kind == "string":
            return self.string(self.at - 1)
        if word in _WORDS:
            return _WORDS[word]
        raise self.error("a literal", self.at - 1)

    def number(self, at: int) -> float | int:
        word = self.tokens[at][1]
        if word.lstrip("-").isdigit():
            return self.integer(at)
        value = float(word)
        if not isfinite(value) and word not in ("-inf", "-nan"):
            raise self.error("a number that a float can hold", at)
        return value

    def integer(self, at: int) -> int:
        word = self.tokens[at][1]
        if len(word) > MOST_DIGITS:
            raise self.error(f"a number of at most {MOST_DIGITS} digits", at)
        if not word.lstrip("-").isdigit():
            raise self.error("a whole number", at)
        return int(word)

    def string(self, at: int) -> str | bytes:
        """The text between quotes, with the escapes that `repr` writes."""
        word, here = self.tokens[at][1:]
        start = word.index(word[-1]) + 1
        body = word[start:-1]
        done = _REPR.match(body)
        end = done.end() if done else 0
        if end < len(body):
            place = self._place(here + start + end)
            raise FormatError(f"{place}: expected an escape as in repr, found {body[end:][:10]!r}")
        text = body.encode("ascii", "backslashreplace").decode("unicode_escape")
        if word[0] != "b":
            return text
        if not body.isascii() or _WIDE.search(body):
            raise self.error("bytes of ASCII letters and \\x.. alone", at)
        return text.encode("latin-1")

    def tuple(self, depth: int) -> tuple[object, ...]:
        if depth > DEEPEST:
            raise self.error(f"at most {DEEPEST} tuples inside each other")
        self.eat("(")
        items: list[object] = []
        while not self.seen(")"):
            items.append(self.literal(depth + 1))
            self.comma(")")
        return tuple(items)

    def graph_ahead(self) -> bool:
        ahead = [word for _, word, _ in self.tokens[self.at + 1 : self.at + 3]]
        return ahead[0].startswith("%") or ahead == [")", "{"]

    def value(self, env: Mapping[str, Value]) -> Value:
        name = self.kind("ref")
        if name not in env:
            raise self.error(f"a value made before ({name} is not)", self.at - 1)
        return env[name]

    def define(self, env: dict[str, Value], name: str, value: Value) -> Value:
        if name in env:
            raise self.error(f"a new name ({name} is taken)", self.at - 1)
        env[name] = value
        return value

    def label(self, name: str) -> str:
        return "" if name[1:].isdigit() else name[1:]

    def peek(self) -> str:
        return self.tokens[self.at][1]

    def seen(self, word: str) -> bool:
        if self.tokens[self.at][1] != word:
            return False
        self.at += 1
        return True

    def eat(self, word: str) -> None:
        if not self.seen(word):
            raise self.error(repr(word))

    def kind(self, kind: str) -> str:
        actual, word, _ = self.tokens[self.at]
        if actual != kind:
            raise self.error({"ref": "a value such as %0", "name": "a name"}[kind])
        self.at += 1
        return word

    def comma(self, end: str) -> None:
        if not self.seen(",") and self.peek() != end:
            raise self.error(f"',' or {end!r}")

    def error(self, expected: str, at: int | None = None) -> FormatError:
        _, word, here = self.tokens[self.at if at is None else at]
        return FormatError(f"{self._place(here)}: expected {expected}, found {shown(word)}")

    def _place(self, here: int) -> str:
        line = self.text.count("\n", 0, here)
        return f"line {line + 1}, column {here - (self.text.rfind(chr(10), 0, here) + 1) + 1}"
