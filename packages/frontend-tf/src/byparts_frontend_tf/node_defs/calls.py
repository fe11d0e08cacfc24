"""TensorFlow's operations that are made by a few lines of ours, and of variables as resources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.random.random import Random
from byparts_frontend_tf.api.variables.variables import variable_op
from byparts_frontend_tf.graph.convert import constant_of
from byparts_frontend_tf.graph.kind import KINDS
from byparts_frontend_tf.node_defs.functions import FUNCTIONS, Made, function
from byparts_frontend_tf.node_defs.node import Node
from byparts_tf_files.dtypes import float32, int32, int64


def _constant(node: Node) -> Made:
    return constant_of(node.attribute("value"), node.name)


def _strided_slice(node: Node) -> Made:
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    bits = {m: int(node.attribute(m, 0)) for m in masks}
    return tf.strided_slice(*node.inputs[:4], **bits, name=node.name)


def _string_join(node: Node) -> Made:
    called = function("string_join")
    if called is None:
        return NotImplemented
    return called(node.inputs, node.attribute("separator", ""), name=node.name)


def _pad(node: Node) -> Made:
    more = {"constant_values": node.inputs[2]} if len(node.inputs) > 2 else {}
    mode = node.attribute("mode", "CONSTANT")
    return tf.pad(node.inputs[0], node.inputs[1], mode, name=node.name, **more)


def _reduce(node: Node) -> Made:
    """A reduction along axes that are found when it runs."""
    called = function(f"reduce_{node.type.lower()}")
    assert called is not None, "all reductions are there"
    kept = bool(node.attribute("keep_dims", False))
    axes: Any = node.inputs[1]
    if axes.op.type == "Range" and axes.op.inputs[1].op.type == "Rank":
        axes = None  # all of them, of a tensor whose rank is not known
    return called(node.inputs[0], axes, kept, node.name)


def _concat(node: Node) -> Made:
    (axis,) = node.numbers(0)
    return tf.concat(node.inputs[1:], axis, name=node.name)


def _gather(node: Node) -> Made:
    return tf.gather(node.inputs[0], node.inputs[1], axis=0, name=node.name)


def _global_norm(node: Node) -> Made:
    x, mean, variance, beta, gamma = node.inputs
    scaled = bool(node.attribute("scale_after_normalization", True))
    epsilon = float(node.attribute("variance_epsilon", 1e-3))
    return tf.nn.batch_norm_with_global_normalization(
        x, mean, variance, beta, gamma, epsilon, scaled, name=node.name
    )


def _fused_norm(node: Node) -> Made:
    x, scale, offset, mean, variance = node.inputs
    training = bool(node.attribute("is_training", True))
    given = {} if training else {"mean": mean, "variance": variance}
    return tf.nn.fused_batch_norm(
        x,
        scale,
        offset,
        **given,
        epsilon=float(node.attribute("epsilon", 1e-4)),
        data_format=node.attribute("data_format", "NHWC"),
        is_training=training,
        name=node.name,
    )


def _drawn(name: str, **fixed: float) -> Callable[[Node], Made]:
    def draw(node: Node) -> Made:
        seeds = [int(node.attribute(a, 0)) for a in ("seed", "seed2")]
        kind = KINDS[name]
        assert isinstance(kind, Random), f"{name} draws"
        return kind.seeded(
            *node.inputs,
            name=node.name,
            seed=seeds[1] or seeds[0] or None,
            dtype=node.attribute("dtype", node.attribute("Tout", float32)),
            **fixed,
        )

    return draw


def _multinomial(node: Node) -> Made:
    logits, count = node.inputs
    kind = node.attribute("output_dtype", int64)
    seed = int(node.attribute("seed2", 0)) or int(node.attribute("seed", 0)) or None
    return tf.multinomial(logits, count, seed, node.name, kind)


def _variable_handle(node: Node) -> Made:
    return variable_op(node.attribute("shape"), node.attribute("dtype", float32), node.name)


def _of_variable(name: str, count: int = 2) -> Callable[[Node], Made]:
    """An operation on the memory of a variable."""

    def call(node: Node) -> Made:
        kind = KINDS[name]
        more = {"validate_shape": False} if name == "Assign" else {}
        return kind.operation(node.inputs[:count], node.name, **more)

    return call


def _resource_gather(node: Node) -> Made:
    return tf.gather(tf.identity(node.inputs[0]), node.inputs[1], name=node.name)


def _shapes(node: Node) -> Made:
    return [tf.shape(t, out_type=node.attribute("out_type", int32)) for t in node.inputs]


def _scalar_summary(node: Node) -> Made:
    tag = node.constant(0)
    if tag is None:
        return NotImplemented
    return KINDS["ScalarSummary"](node.inputs[1], name=node.name, tag=tag.item().decode())


def _print(node: Node) -> Made:
    kept = {k: int(node.attribute(k, d)) for k, d in (("first_n", -1), ("summarize", 3))}
    message = node.attribute("message", "")
    return tf.Print(node.inputs[0], node.inputs[1:], message, **kept, name=node.name)


def _assert(node: Node) -> Made:
    summarize = int(node.attribute("summarize", 3))
    return tf.Assert(node.inputs[0], node.inputs[1:], summarize, name=node.name)


def _identities(node: Node) -> Made:
    return [tf.identity(t) for t in node.inputs]


def _like(number: int) -> Callable[[Node], Made]:
    def call(node: Node) -> Made:
        return (tf.ones_like if number else tf.zeros_like)(
            node.inputs[0], name=node.name, optimize=False
        )

    return call


def _guarantee(node: Node) -> Made:
    return tf.identity(node.inputs[0], name=node.name)


def _top(node: Node) -> Made:
    return list(tf.nn.top_k(node.inputs[0], int(node.attribute("k", 1)), name=node.name))


CALLS: dict[str, Callable[[Node], Made]] = {
    **FUNCTIONS,
    "Assert": _assert,
    "AssignAddVariableOp": _of_variable("AssignAdd"),
    "AssignSubVariableOp": _of_variable("AssignSub"),
    "AssignVariableOp": _of_variable("Assign"),
    "BatchNormWithGlobalNormalization": _global_norm,
    "Concat": _concat,
    "Const": _constant,
    "FusedBatchNorm": _fused_norm,
    "FusedBatchNormV2": _fused_norm,
    "FusedBatchNormV3": _fused_norm,
    "Gather": _gather,
    "GuaranteeConst": _guarantee,
    "IdentityN": _identities,
    "MirrorPad": _pad,
    "Multinomial": _multinomial,
    "OnesLike": _like(1),
    "Pad": _pad,
    "PadV2": _pad,
    "Print": _print,
    "RandomShuffle": _drawn("RandomShuffle"),
    "RandomStandardNormal": _drawn("RandomStandardNormal"),
    "RandomUniform": _drawn("RandomUniform", low=0.0, high=1.0),
    "RandomUniformInt": _drawn("RandomUniformInt"),
    "ReadVariableOp": _guarantee,
    "ResourceScatterAdd": _of_variable("ScatterAdd", 3),
    "ResourceScatterSub": _of_variable("ScatterSub", 3),
    "ScalarSummary": _scalar_summary,
    "ResourceGather": _resource_gather,
    "ShapeN": _shapes,
    "Snapshot": _guarantee,
    "StridedSlice": _strided_slice,
    "StringJoin": _string_join,
    "TopK": _top,
    "TruncatedNormal": _drawn("TruncatedNormal"),
    "VarHandleOp": _variable_handle,
    "VarIsInitializedOp": _of_variable("IsVariableInitialized", 1),
    "Variable": _variable_handle,
    "ZerosLike": _like(0),
}
REDUCTIONS = frozenset(("Sum", "Mean", "Prod", "Max", "Min", "All", "Any"))
LATE: dict[str, Callable[[Node], Made]] = dict.fromkeys(REDUCTIONS, _reduce)
