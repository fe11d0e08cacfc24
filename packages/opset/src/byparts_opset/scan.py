"""A graph repeated along the first axis of some arrays: `lax.scan` of JAX, `Scan` of ONNX.

Its gradient is a scan in the opposite direction, which needs the states before each round.  So the
gradient repeats the forward scan with these states as further rows, and in each round computes
again the other values that the gradient of the body reads.  It keeps length * (bytes of the states
that are read) and the values of one round.  (`share` of byparts-optimize takes out the first scan.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Dimension,
    Graph,
    Input,
    Loop,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    body_for,
    body_inputs,
    graph_flops,
    result_types,
    unify,
)
from byparts_graph_ir.model.frozen import replace
from byparts_opset.bodies import (
    Function,
    kept_types,
    narrowed,
    needed_states,
    read_inputs,
    retyped,
    round_gradient,
    run_round,
    seeded,
    taking,
    traced,
)
from byparts_opset.broadcast import meet_dims
from byparts_opset.composite import is_zero
from byparts_opset.dtypes import Array, dtype_name, numpy_dtype


class Scan(Op):
    """`body` once for each slice of the sequences along axis 0, passing states on.

        (states, slices, invariants) -> (new states, rows)    body, once a round
        (states, sequences, invariants) -> (last states, stacked rows)    the op

    Attributes:
        body: what a round computes.
        states: how many of the inputs are states: they keep their types.
        sequences: how many are sequences, of one size along axis 0, which is the number of rounds.
            The rest are invariants, the same in each round.
        length: the number of rounds; needed if there is no sequence.
        reverse: from the last slice to the first; rows are stacked where their slices stand.

    With 0 rounds the last states are the first, and no row is stacked.
    """

    body: Graph
    states: int
    sequences: int
    length: Optional[int] = None
    reverse: bool = False

    def __post_init__(self) -> None:
        if self.states < 0 or self.sequences < 0 or (self.length or 0) < 0:
            raise ShapeError(f"scan: negative count in {self!r:.200}")
        if self.length is None and not self.sequences:
            raise ShapeError("scan: there is no sequence to scan; give length=...")

    def infer(self, *types: TensorType) -> Types:
        n, given = self._length(types), self._round_types(types)
        results = result_types(self, self.body, given)
        states = kept_types(self, types[: self.states], results[: self.states])
        return (*states, *[_stacked(t, n) for t in results[self.states :]])

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        known = body_inputs(self, self.body, self._round_types(inputs))
        rows = range(self.states, self.states + self.sequences)
        n = self._length(inputs)
        types = [_stacked(t, n) if i in rows else t for i, t in enumerate(known)]
        return tuple([unify(old, new) for old, new in zip(inputs, types, strict=True)])

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        s, q = self.states, self.states + self.sequences
        states, sequences, invariants = list(inputs[:s]), inputs[s:q], inputs[q:]
        n = len(sequences[0]) if sequences else self.length or 0
        rows: dict[int, list[Array]] = {}
        for k in range(n):
            i = n - 1 - k if self.reverse else k
            slices = [np.asarray(x[i]) for x in sequences]
            made = run_round(self, "body", self.body, k + 1, [*states, *slices, *invariants])
            states, rows[i] = made[:s], made[s:]
        stacked = [np.stack([rows[i][j] for i in range(n)]) for j in range(len(rows.get(0, ())))]
        return (*states, *(stacked if n else self._empty(inputs)))

    def _empty(self, inputs: Sequence[Array]) -> list[Array]:
        """The stacked rows of no rounds."""
        types = self._round_types([TensorType(dtype_name(x.dtype), x.shape) for x in inputs])
        rows = body_for(self, self.body, types).outputs[self.states :]
        return [np.zeros((0, *v.type.dims), numpy_dtype(v.type.dtype)) for v in rows]

    def control(self, *types: TensorType) -> Loop:
        body = body_for(self, self.body, self._round_types(types))
        (n,) = TensorType("f32", (self._length(types),)).dims
        return Loop(body, self.states, self.sequences, None, n, self.reverse)

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]]:
        s, q = self.states, self.states + self.sequences
        wanted = tuple(wanted) or (0,)
        states = needed_states(self.body, s, wanted)
        outputs = (*states, *[i for i in wanted if i >= s])
        body = narrowed(self.body, outputs)
        read = set(read_inputs(body)).union(states)
        if self.length is None and not read.intersection(range(s, q)):
            read.add(s)  # something must say how many rounds there are
        inputs = tuple(sorted(read))
        count = sum(s <= i < q for i in inputs)
        op = replace(self, body=taking(body, inputs), states=len(states), sequences=count)
        return op, inputs, outputs

    def covers(
        self, inputs: tuple[Value, ...], other: Op, given: tuple[Value, ...]
    ) -> tuple[int, ...] | None:
        """The outputs of `other`, if this is the same scan with further rows (of a gradient)."""
        if not isinstance(other, Scan) or inputs != given:
            return None
        first = range(len(other.body.outputs))
        if len(self.body.outputs) < len(first) or replace(self, body=other.body) != other:
            return None
        same = narrowed(self.body, first) == narrowed(other.body, first)
        return tuple(first) if same else None

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The scan with its body on the types of the node's inputs."""
        return retyped(node, body=self._round_types([v.type for v in node.inputs]))

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """A scan in the opposite direction, over the states before each round."""
        s, q = self.states, self.states + self.sequences
        body = body_for(self, self.body, self._round_types([v.type for v in node.inputs]))
        seeds = [i for i in seeded(dys) if i >= s]
        back = round_gradient(body, s, q, seeds)
        rows = [i for i in range(s, q) if i in back.dxs and not is_zero(back.dxs[i])]
        visited = [i for i in back.read if i < s]
        given = [i for i in back.read if i >= s]
        if not (visited or any(i < q for i in given) or seeds) and q > s:
            given = [s, *given]  # something must say how many rounds there are
        slices, rest = [i for i in given if i < q], [i for i in given if i >= q]

        round_ = Graph.of(
            (
                *[back.seeds[i] for i in back.moving],
                *back.sums,
                *[body.inputs[i] for i in (*visited, *slices)],
                *[back.seeds[i] for i in seeds],
                *[body.inputs[i] for i in rest],
            ),
            (*[back.dxs[i] for i in back.moving], *back.totals, *[back.dxs[i] for i in rows]),
        )
        sequences = (
            *self._visited(node, body, visited),
            *[node.inputs[i] for i in slices],
            *[dys[i] for i in seeds],
        )
        op = Scan(round_, len(back.carried), len(sequences), self.length, not self.reverse)
        start = back.start(node.inputs, dys)
        outputs = op.outputs_of(*start, *sequences, *[node.inputs[i] for i in rest])
        placed = dict(zip((*back.carried, *rows), outputs, strict=True))
        return tuple([placed.get(i) for i in range(len(node.inputs))])

    def _visited(self, node: Node, body: Graph, which: Sequence[int]) -> tuple[Value, ...]:
        """The states `which` before each round, stacked: rows of a scan that gives them, too."""
        if not which:
            return ()
        states = [body.inputs[i] for i in which]
        kept = Graph(body.inputs, body.nodes, (*body.outputs, *states))
        outputs = Node(replace(self, body=kept), node.inputs, node.where).outputs
        return outputs[len(body.outputs) :]

    def flops(self, *types: TensorType) -> int:
        body = body_for(self, self.body, self._round_types(types))
        (n,) = TensorType("f32", (self._length(types),)).dims
        return n * graph_flops(body)

    def _length(self, types: Sequence[TensorType]) -> Dimension:
        """The number of rounds; unknown while no size along axis 0 is known."""
        n: Dimension = self.length
        for i, t in enumerate(types[self.states : self.states + self.sequences]):
            if t.shape is not None:
                if not t.shape:
                    raise ShapeError(f"scan: sequence {i} is {t}, and has no axis to scan along")
                told = f"sequence {i} is {t}, and there are {n} rounds"
                n = t.shape[0] if n is None else meet_dims("scan", n, t.shape[0], told)
        return n

    def _round_types(self, types: Sequence[TensorType]) -> Types:
        """The types of the inputs of the body."""
        s, q = self.states, self.states + self.sequences
        if len(types) < q:
            raise ShapeError(f"scan: {s} states and {q - s} sequences, got {len(types)} inputs")
        return (*types[:s], *map(_slice, types[s:q]), *types[q:])

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for dtype, n, shape in (
            *(("f32", 3, (2, 4)), ("f64", 3, (2, 2)), ("f32", 2, ())),
            *(("f32", 0, (2, 2)), ("f32", 1, (0, 2)), ("f64", 0, (2,))),
        ):
            t = TensorType(dtype, shape)
            types = (t, _stacked(t, n), t)
            h, x, w = (Input(t, None, "", "") for _ in range(3))
            new = ops.tanh(h * w + x)
            body = Graph.of((h, x, w), (new, new * x))
            yield Sample(cls(body, 1, 1), types)
            yield Sample(cls(body, 1, 1, None, True), types)
        h, w = (Input(TensorType("f64", (2,)), None, "", "") for _ in range(2))
        yield Sample(cls(Graph.of((h, w), (ops.sin(h) * w,)), 1, 0, 4), (h.type, w.type))


def scan(
    body: Function,
    states: Sequence[Value],
    sequences: Sequence[Value] = (),
    invariants: Sequence[Value] = (),
    *,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Value, ...]:
    """The last states, then the stacked rows, of `body` applied to one slice after the other.

        last, ys = scan(lambda h, x, w: (tanh(x @ w + h), h), (h,), (xs,), (w,))

    Args:
        body: takes the states, a slice of each sequence (without its axis 0) and the invariants;
            gives the new states and any number of rows.
        states: what changes from round to round, and keeps its type.
        sequences: scanned along axis 0, all of one size.
        invariants: what the body reads and no round changes.
        length: the number of rounds, where there is no sequence.
        reverse: from the last slice to the first.

    Raises:
        ArgumentError: the body reads a value that is none of these.
        ShapeError: a state changes its type, or sequences differ in size; says both.
    """
    inputs = (*states, *sequences, *invariants)
    slices = [_slice(v.type) for v in sequences]
    types = [*[v.type for v in states], *slices, *[v.type for v in invariants]]
    how = "pass it in, as in scan(body, states, sequences, (w,))"
    graph = traced("scan: body", body, types, how)
    return Scan(graph, len(states), len(sequences), length, reverse).outputs_of(*inputs)


def _slice(t: TensorType) -> TensorType:
    """The type of one slice of a sequence."""
    if t.shape == ():
        raise ShapeError(f"scan: a sequence is {t}, and has no axis to scan along")
    return TensorType(t.dtype, None if t.shape is None else t.shape[1:])


def _stacked(t: TensorType, n: Dimension) -> TensorType:
    """The type of n stacked arrays."""
    return TensorType(t.dtype, None if t.shape is None else (n, *t.shape))
