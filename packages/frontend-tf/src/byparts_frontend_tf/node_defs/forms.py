"""Kinds whose attributes TensorFlow calls otherwise, or has as inputs: one row for each.

    "GatherV2": Form(axis=Number(2, "axis"))      # our attribute axis is TensorFlow's input 2

A row reads and writes.  What it cannot write (axes of a tensor of unknown rank) is written with our
attributes (`own.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.node_defs.node import Node
from byparts_frontend_tf.node_defs.words import (
    Attribute,
    ChannelsFirst,
    Draft,
    Layout,
    Number,
    Numbers,
    Only,
    OwnDType,
    Padding,
    Ranks,
    Shape,
    Unwritable,
    Window,
    Word,
    ZeroOrOne,
)
from byparts_tf_files.dtypes import DType, float32, int32, int64


class Form:
    """A kind in TensorFlow's words.

    Args:
        words: our attribute -> how it stands there.
    """

    def __init__(self, **words: Word) -> None:
        self._words = words
        self._order: Optional[tuple[int, ...]] = None

    def ordered(self, *places: int) -> Form:
        """Say our inputs' places among TensorFlow's, where they are others."""
        self._order = places
        return self

    def read(self, node: Node) -> tuple[list[Any], dict[str, Any]]:
        """The inputs and attributes that our kind is given.

        Raises:
            ValueError: what has to be constant is not.
        """
        numbers = [w.position for w in self._words.values() if isinstance(w, Numbers)]
        gone = {p % len(node.inputs) for p in numbers}
        inputs = [t for i, t in enumerate(node.inputs) if i not in gone]
        if self._order is not None:
            inputs = [inputs[i] for i in self._order]
        return inputs, {name: word.read(node) for name, word in self._words.items()}

    def write(self, draft: Draft) -> None:
        """Say the attributes in TensorFlow's words.

        Raises:
            Unwritable: it has none.
        """
        if draft.op.attributes.keys() != self._words.keys():
            raise Unwritable(draft.op.type)
        for name, word in self._words.items():
            word.write(draft.op.attributes[name], draft)
        if self._order is not None:
            given = list(draft.made.input)
            del draft.made.input[:]
            draft.made.input.extend([given[self._order.index(i)] for i in range(len(given))])


_IMAGE: Mapping[str, Word] = {
    "strides": Window("strides"),
    "padding": Padding(),
    "layout": Layout(),
}
_CONVOLUTION: Mapping[str, Word] = {**_IMAGE, "dilations": Window("dilations")}
_POOL: Mapping[str, Word] = {**_IMAGE, "ksize": Window("ksize")}
_REDUCTION: Mapping[str, Word] = {
    "axes": Numbers(1, "reduction_indices"),
    "keepdims": Attribute("keep_dims", False),
}
_RUNNING: Mapping[str, Word] = {
    "axis": Number(1, "axis"),
    "exclusive": Attribute("exclusive", False),
    "reverse": Attribute("reverse", False),
}
_PRODUCT = Form(transpose_a=Attribute("adj_x", False), transpose_b=Attribute("adj_y", False))
_MEASURE = Form(dtype=Attribute("out_type", int32))


def _same(names: str, **form: Word) -> dict[str, Form]:
    return {name: Form(**form) for name in names.split()}


FORMS: dict[str, Form] = {
    **_same("Sum Mean Prod Max Min All Any", **_REDUCTION),
    **_same("Cumsum Cumprod", **_RUNNING),
    **_same("Conv2D DepthwiseConv2dNative", **_CONVOLUTION),
    **_same("MaxPool AvgPool", **_POOL),
    **_same("ArgMax ArgMin", dtype=Attribute("output_type", int64)),
    **_same("Softmax LogSoftmax", axis=Only(-1)),
    "BatchMatMul": _PRODUCT,
    "BatchMatMulV2": _PRODUCT,
    "Shape": _MEASURE,
    "Size": _MEASURE,
    "Rank": Form(dtype=Only(int32)),
    "Conv2DBackpropInput": Form(**_CONVOLUTION).ordered(2, 1, 0),
    "MatMul": Form(
        transpose_a=Attribute("transpose_a", False), transpose_b=Attribute("transpose_b", False)
    ),
    "Assign": Form(validate_shape=Attribute("validate_shape", True)),
    "BiasAdd": Form(first=ChannelsFirst()),
    "Cast": Form(dtype=Attribute("DstT", float32)),
    "ConcatV2": Form(axis=Number(-1, "axis")),
    "Einsum": Form(equation=Attribute("equation", "")),
    "ExpandDims": Form(axis=Number(1, "dim")),
    "GatherV2": Form(axis=Number(2, "axis")),
    "LRN": Form(
        radius=Attribute("depth_radius", 5),
        bias=Attribute("bias", 1.0),
        alpha=Attribute("alpha", 1.0),
        beta=Attribute("beta", 0.5),
    ),
    "OneHot": Form(axis=Attribute("axis", -1), dtype=OwnDType()),
    "OnesLike": Form(number=Only(1), dtype=ZeroOrOne()),
    "Pack": Form(axis=Attribute("axis", 0)),
    "Placeholder": Form(dtype=Attribute("dtype", float32), shape=Shape()),
    "PlaceholderWithDefault": Form(shape=Shape()),
    "RestoreV2": Form(dtypes=Attribute("dtypes", ())),
    "ReverseSequence": Form(time=Attribute("seq_dim", 1), batch=Attribute("batch_dim", 0)),
    "ReverseV2": Form(axes=Numbers(1, "axis")),
    "SaveV2": Form(dtypes=Attribute("dtypes", ())),
    "Split": Form(num=Attribute("num_split", 1), axis=Number(0, "split_dim")),
    "SplitV": Form(count=Attribute("num_split", 1), axis=Number(2, "split_dim")),
    "Squeeze": Form(axes=Ranks("squeeze_dims")),
    "Unpack": Form(num=Attribute("num", 1), axis=Attribute("axis", 0)),
    "VariableV2": Form(dtype=Attribute("dtype", float32), shape=Shape()),
    "ZerosLike": Form(number=Only(0), dtype=ZeroOrOne()),
}

# The inputs and the meaning are TensorFlow's own; there is no attribute but dtypes.
ALIKE = frozenset(
    name
    for row in (
        "Abs Acos Acosh Add AddN AddV2 Asin Asinh AssignAdd AssignSub Atan Atan2 Atanh",
        "BroadcastTo Ceil Cos Cosh DivNoNan Elu Equal Erf Erfc Exp Expm1 Fill Floor FloorDiv",
        "FloorMod GatherNd Greater GreaterEqual Identity InTopKV2 IsFinite IsInf IsNan L2Loss",
        "Less LessEqual LinSpace Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mul",
        "Neg NoOp NotEqual Pow PreventGradient Range RealDiv Reciprocal Relu Relu6 Reshape Rint",
        "Round Rsqrt ScatterAdd ScatterNd ScatterSub ScatterUpdate Select SelectV2 Selu Sigmoid",
        "Sign Sin Sinh Slice SoftmaxCrossEntropyWithLogits Softplus Softsign",
        "SparseSoftmaxCrossEntropyWithLogits Sqrt Square SquaredDifference StopGradient Sub Tan",
        "Tanh Tile TopKV2 Transpose TruncateDiv TruncateMod Where",
    )
    for name in row.split()
)


def counted(op: Operation) -> dict[str, Any]:
    """The attributes that TensorFlow derives from the inputs of an operation."""
    given: dict[str, Any] = {}
    if op.type in ("Pack", "ConcatV2", "AddN", "Einsum"):
        given["N"] = len(op.inputs)
    if op.type == "Cast":
        given["SrcT"] = _dtype(op)
    elif op.type == "Placeholder":
        pass
    elif op.inputs:
        given["T"] = _dtype(op)
    return given


def _dtype(op: Operation) -> DType:
    return op.inputs[0].dtype.base_dtype
