"""Random programs written as TensorFlow 1 graphs, with placeholders of unknown size.

    graph of a named dimension -> tf.placeholder("float32", [None, 4]), tf.nn.relu(...), ...
    session.run(fetches, feeds of six sizes)    ==    what the program of each size means

A node becomes TensorFlow's function where there is one that means the same, and else an operation
whose kind is the op itself.  Numbers that depend on the size come from `tf.shape` of a feed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

import byparts_frontend_tf as tf
import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_conformance.programs.generate import generate
from byparts_conformance.programs.named import at_size, meaning_of, resized, surely_wrong, with_name
from byparts_conformance.programs.program import Array, Program
from byparts_frontend_tf.graph.kind import Kind
from byparts_graph_ir import FLOATS, Graph, GraphError, Node, Op, TensorType, dimension
from byparts_graph_ir.model.frozen import replace as changed

_NO_PLACEHOLDER = ("i4", "u16", "u32", "u64")  # the front-end computes with none of these
_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "u8": "uint8"}
# Ops whose function in TensorFlow has their name.  Not among them: maximum and minimum, whose
# gradient at a tie is there that of the first alone.
_NAMED_ALIKE = (
    *("abs", "exp", "tanh", "sigmoid", "square", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "asinh", "acosh", "atanh", "floor", "ceil", "sign", "log", "log1p"),
    *("expm1", "erf", "erfc", "sqrt", "rsqrt", "pow", "squared_difference", "greater"),
    *("greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or"),
    *("logical_not", "floordiv", "identity", "stop_gradient", "is_nan", "is_inf"),
)
_ALIKE: dict[str, Any] = {
    **{name: getattr(tf, name) for name in _NAMED_ALIKE},
    **{name: getattr(tf.nn, name) for name in ("relu", "relu6", "selu", "elu", "softplus")},
    **{"neg": tf.negative, "add": tf.add, "sub": tf.subtract, "mul": tf.multiply},
    **{"mod": tf.floormod, "softsign": tf.nn.softsign},
}
_REDUCTIONS = {
    **{"sum": tf.reduce_sum, "mean": tf.reduce_mean, "max": tf.reduce_max, "min": tf.reduce_min},
    **{"prod": tf.reduce_prod, "all": tf.reduce_all, "any": tf.reduce_any},
    "logsumexp": tf.reduce_logsumexp,
}


@dataclass
class TfReport:
    """The findings about programs written for TensorFlow.

    Attributes:
        programs: how many were tried.
        sizes: at how many sizes, all together.
        raised: at how many the graph or its evaluation raises.
        functions, kinds: how many nodes became functions of TensorFlow, and how many did not.
        served: what the session says of its programs -> how many of them.
        failures: a sentence for each that was wrong.
    """

    programs: int = 0
    sizes: int = 0
    raised: int = 0
    functions: int = 0
    kinds: int = 0
    served: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        nodes = f"{self.functions:,} nodes as functions of TensorFlow, {self.kinds:,} as ops"
        head = f"{self.programs:,} programs at {self.sizes:,} sizes ({nodes})"
        wrong = f"{len(self.failures)} wrong, {self.raised:,} raised"
        served = [f"{count:6} {why}" for why, count in self.served.most_common(12)]
        return "\n".join([*self.failures, f"{head}: {wrong}; programs:", *served])


def tf_campaign(
    backends: Sequence[Any], count: int, seed: int = 0, *, most_failures: int = 5
) -> TfReport:
    """Try so many programs of named dimensions through sessions, each at six sizes."""
    report = TfReport()
    while report.programs < count and len(report.failures) < most_failures:
        number = Random(seed)
        # variables are fed too: what a session does with them is not asked here
        program = replace(generate(seed), variables=0, updates=0)
        seed += 1
        feeds = program.graph.inputs[: program.feeds]
        sizes = sorted({d for v in feeds for d in v.type.dims if d > 1})
        dtypes = {v.type.dtype for v in program.graph.values}
        # a session runs no print that nobody fetches
        if not sizes or dtypes & {*_NO_PLACEHOLDER} or program.graph.has_effect:
            continue
        size = number.choice(sizes)
        graph = with_name(program, size)
        if graph is None:
            continue
        named = replace(program, graph=graph)
        report.programs += 1
        others = [size, 2, size + 3, 1, 2 * size + 1, 0]
        if number.random() < 0.5:
            number.shuffle(others)
        _try(named, others, tuple(backends), number.random() < 0.4, report)
    return report


def _try(
    program: Program, sizes: Sequence[int], backends: Any, trains: bool, report: TfReport
) -> None:
    """Write a named program for TensorFlow, run it at each of the sizes, note what is wrong."""
    with tf.Graph().as_default():
        written = Written(program.graph, report)
        fetches, xs = list(written.fetches), []
        if trains:
            dxs = _gradients_of(written)
            xs = [i for i, dx in enumerate(dxs) if dx is not None]
            fetches += [dxs[i] for i in xs]
        if not fetches:
            return
        with tf.Session(backends=backends) as session:
            whys = _recorded(session, report)
            for size in sizes:
                report.sizes += 1
                meaning: Any = at_size(replace(program, arrays=resized(program, size)))
                if not isinstance(meaning, str):
                    meaning = _with_gradients(meaning, xs)
                wanted = None if isinstance(meaning, str) else meaning_of(meaning)
                if wanted is None:
                    report.raised += 1  # a session may drop what raises
                    continue
                feeds = dict(zip(written.feeds, meaning.arrays, strict=True))
                given = _run(session, fetches, feeds)
                said = given if isinstance(given, str) else surely_wrong(meaning, given, wanted)
                if said:
                    text = f"seed {program.seed}, n = {size}: {said}; {whys[-1:]}"
                    report.failures.append(f"{text}\n{meaning.graph}")
                    return


class Written:
    """A graph of a named dimension, as operations of the default graph of TensorFlow.

    Attributes:
        feeds: the placeholders.
        fetches: the tensors of its outputs.
    """

    def __init__(self, graph: Graph, report: TfReport) -> None:
        self.feeds = [tf.placeholder(_dtype(v.type), _dims(v.type)) for v in graph.inputs]
        self._number = self._numbers(graph)
        tensors: dict[Any, Any] = dict(zip(graph.inputs, self.feeds, strict=True))
        for node in graph.nodes:
            given = [tensors[v] for v in node.inputs]
            made = self._function(node, given)
            report.functions += made is not None
            report.kinds += made is None
            made = self._kind(node, given) if made is None else made
            tensors.update(zip(node.outputs, made, strict=True))
        self.fetches = [tensors[v] for v in graph.outputs]

    def _numbers(self, graph: Graph) -> Any:
        """The size, as a tensor."""
        for v, feed in zip(graph.inputs, self.feeds, strict=True):
            if "n" in (v.type.shape or ()):
                return tf.shape(feed)[list(v.type.shape or ()).index("n")]
        raise AssertionError("no input has the name")

    def _shape(self, shape: Sequence[int | str]) -> Any:
        """A shape as TensorFlow has it: a list, or a tensor where it depends on the size."""
        if all([isinstance(d, int) for d in shape]):
            return list(shape)
        names = {"n": self._number, "min": tf.minimum, "max": tf.maximum}
        # an expression of names is one of Python, of whole numbers that are tensors here
        return tf.stack([eval(str(d), {"__builtins__": {}}, names) for d in shape])

    def _function(self, node: Node, given: Sequence[Any]) -> Sequence[Any] | None:
        """The outputs by a function of TensorFlow; `None` where it has none, or refuses."""
        rule = _ALIKE.get(node.op.name) if not node.op.shape_fields else None
        try:
            if rule is not None:
                return [rule(*given)]
            if node.op.name in _REDUCTIONS:
                op: Any = node.op
                return [_REDUCTIONS[node.op.name](*given, axis=op.axes, keepdims=op.keepdims)]
            return self._other(node.op, given)
        except (TypeError, ValueError):  # a dtype or a shape that TensorFlow does not take
            return None

    def _other(self, op: Op, given: Sequence[Any]) -> Sequence[Any] | None:
        match op:
            case ops.Reshape():
                return [tf.reshape(given[0], self._shape(op.shape))]
            case ops.BroadcastTo():
                return [tf.broadcast_to(given[0], self._shape(op.shape))]
            case ops.Fill():
                value = np.asarray(op.value).astype(_dtype(TensorType(op.dtype, ())).as_numpy_dtype)
                return [tf.fill(self._shape(op.shape), tf.constant(value))]
            case ops.Cast():
                return [tf.cast(given[0], _dtype(TensorType(op.dtype, ())))]
            case ops.MatMul():
                flags = {"transpose_a": op.transpose_a, "transpose_b": op.transpose_b}
                alike = given[0].shape.ndims == given[1].shape.ndims
                return [tf.matmul(*given, **flags)] if alike else None
            case ops.Softmax():
                return [tf.nn.softmax(given[0], op.axis)]
            case ops.LogSoftmax():
                return [tf.nn.log_softmax(given[0], op.axis)]
            case ops.Transpose():
                return [tf.transpose(given[0], op.permutation)]
            case ops.Concat():
                return [tf.concat(list(given), op.axis)]
            case ops.Tile():
                return [tf.tile(given[0], list(op.repeats))]
            case ops.Gather():
                return [tf.gather(*given, axis=op.axis)]
            case ops.CumSum():
                return [tf.cumsum(given[0], op.axis, op.exclusive, op.reverse)]
            case ops.Slice():
                steps = op.steps or (1,) * len(op.starts)
                return [given[0][tuple(map(slice, op.starts, op.stops, steps))]]
            case ops.Pad() if op.mode == "constant":
                return [tf.pad(given[0], op.paddings, constant_values=op.value)]
            case ops.ArgMax() if not op.keepdims:
                return [tf.argmax(given[0], op.axis)]
            case ops.Split() if all(isinstance(size, int) for size in op.sizes):
                return list(tf.split(given[0], list(op.sizes), op.axis))
            case ops.SparseSoftmaxCrossEntropy():
                return None  # its second output is none of TensorFlow's
        return None

    def _kind(self, node: Node, given: Sequence[Any]) -> Sequence[Any]:
        """The outputs by an operation whose meaning is the op itself, at the size."""
        op, types = node.op, [v.type for v in node.outputs]

        def meaning(*values: Any) -> Any:
            *inputs, n = values
            fields = {f: _at(getattr(op, f), int(n)) for f in op.shape_fields}
            return (changed(op, **fields) if fields else op).outputs_of(*inputs)

        kind = Kind(
            f"Own{type(op).__name__}",
            meaning,
            values=(-1,),
            shape=lambda *_, **__: [tuple(_dims(t)) for t in types],
            dtype=[_dtype(t) for t in types],
        )
        return list(kind.outputs(*given, self._number))


def _at(shape: Any, n: int) -> Any:
    return tuple([dimension(d, {"n": n}) for d in shape])


def _dims(kind: TensorType) -> list[int | None]:
    return [d if isinstance(d, int) else None for d in kind.shape or ()]


def _dtype(kind: TensorType) -> Any:
    name = kind.dtype
    return tf.as_dtype(_NAMES.get(name, name.replace("i", "int") if name[0] == "i" else name))


def _gradients_of(written: Written) -> list[Any]:
    """The gradients of the fetches of floats; `None` for feeds that none reaches."""
    ys = [y for y in dict.fromkeys(written.fetches) if y.dtype.is_floating]
    xs = [x if x.dtype.is_floating else None for x in written.feeds]
    some = [x for x in xs if x is not None]
    if not ys or not some:
        return [None] * len(xs)
    try:
        # of a gather: slices with their indices
        dxs = iter(
            [dx if dx is None else tf.convert_to_tensor(dx) for dx in tf.gradients(ys, some)]
        )
    except (LookupError, ValueError):  # an op without a gradient
        return [None] * len(xs)
    return [None if x is None else next(dxs) for x in xs]


def _with_gradients(program: Program, positions: Sequence[int]) -> Any:
    """The program with gradients of the sum of its fetches; or what it raises."""
    graph = program.graph
    ys = [y for y in dict.fromkeys(graph.outputs) if y.type.dtype in FLOATS]
    if not positions:
        return program
    try:
        dxs = gradients(ys, [graph.inputs[i] for i in positions], unreachable="zeros")
    except GraphError as error:
        return f"raises {type(error).__name__}: {error}"
    return replace(program, graph=Graph.of(graph.inputs, (*graph.outputs, *dxs)))


def _recorded(session: Any, report: TfReport) -> list[str]:
    """Count what the session's programs say of themselves, from now on."""
    whys: list[str] = []
    program = session.executor.program

    def recorded(*arguments: Any, **options: Any) -> Any:
        made = program(*arguments, **options)
        whys.append(made.why.partition(" f")[0].partition(" i")[0][:70])
        report.served[whys[-1]] += 1
        return made

    session.executor.program = recorded
    return whys


def _run(session: Any, fetches: Sequence[Any], feeds: dict[Any, Array]) -> Any:
    """The arrays of a run, or what it raises."""
    try:
        return tuple(map(np.asarray, session.run(fetches, feeds)))
    except Exception as error:  # any: the program of that size has a meaning
        return f"raises {type(error).__name__}: {error}"
