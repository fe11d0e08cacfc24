"""Functions of the folders above that tensors and graphs call, such as operators and `eval`.

`x + y` is a function of `api/`, `tensor.eval()` one of `running/`, `graph.as_graph_def()` one of
`node_defs/`, and these folders import this one.  So the package says once where they are
(`fill`, called by its `__init__`), and the graph asks for one when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Upper(Protocol):
    """Functions of the folders above; each is imported when it is first read, and then kept."""

    @property
    def operators(self) -> Any:
        """The module with Python's operators on tensors: `add`, `neg` and so on."""

    @property
    def getitem(self) -> Callable[..., Any]:
        """Elements of a tensor, as `x[1:, ...]` names them."""

    @property
    def stack(self) -> Callable[..., Any]:
        """`tf.stack`."""

    @property
    def placeholder(self) -> Callable[..., Any]:
        """The kind of `tf.placeholder`."""

    @property
    def densify(self) -> Callable[..., Any]:
        """From `IndexedSlices` to the tensor that they are rows of."""

    @property
    def sparse_math(self) -> Any:
        """The module with products and quotients of a `SparseTensor` and a tensor."""

    @property
    def session_for(self) -> Callable[[Any, Any, str], Any]:
        """The session that a graph's `eval` and `run` use."""

    @property
    def node_def(self) -> Callable[..., Any]:
        """From an operation to TensorFlow's `NodeDef`."""

    @property
    def graph_def(self) -> Callable[..., Any]:
        """From a graph to TensorFlow's `GraphDef`."""

    @property
    def attribute_of(self) -> Callable[[Any], Any]:
        """From TensorFlow's `AttrValue` to a value of Python."""

    @property
    def variable_def(self) -> Callable[..., Any]:
        """Make the message `VariableDef` of TensorFlow's files."""

    def load_kinds(self) -> None:
        """Have the modules of all folders, and of parts beside this one, say their kinds."""


functions: Upper  # what `fill` was given


def fill(given: Upper) -> None:
    """Say where the functions are.  The package does so when it is imported."""
    global functions
    functions = given
