"""Connectionist temporal classification: its loss, and labels of scores (Graves et al. 2006).

The loss and its gradient are computed together on the host, for all of a batch at once, one step
of time after the other; as TensorFlow does.  The last class is the blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.custom_gradient import with_gradient
from byparts_frontend_tf.api.sparse.dense import sparse
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32, int64
from byparts_tf_files.shape import Dims

_NEVER = -1e30  # the logarithm of no chance; finite, so that differences are no nan


def log_softmax(x: Any) -> Any:
    """Along the last axis, in float64."""
    wide = np.asarray(x, np.float64)
    wide = wide - wide.max(-1, keepdims=True)
    return wide - np.log(np.exp(wide).sum(-1, keepdims=True))


def _rows(indices: Any, values: Any, batch: int, collapse: bool) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(batch)]
    for (row, _), v in zip(indices.tolist(), values.tolist(), strict=True):
        if not (collapse and rows[row] and rows[row][-1] == v):
            rows[row].append(v)
    return rows


def _with_blanks(rows: list[list[int]], blank: int) -> tuple[Any, Any]:
    """Labels with a blank before, between and after: [batch, places]; how many places each has."""
    lengths = np.array([2 * len(r) + 1 for r in rows], np.int64)
    places = np.full((len(rows), int(lengths.max(initial=1))), blank, np.int64)
    for i, row in enumerate(rows):
        places[i, 1 : 2 * len(row) : 2] = row
    return places, lengths


def _check(rows: list[list[int]], steps: Any, classes: int, ignore: bool) -> Any:
    """Mask of the rows of labels that fit into their time steps.

    Raises:
        ValueError: a label is no class, or a row has too many.
    """
    fits = np.ones(len(rows), bool)
    for i, row in enumerate(rows):
        if any(not 0 <= v < classes - 1 for v in row):
            raise ValueError(
                f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
                f"{i} num_classes: {classes} labels: {row}"
            )
        needed = len(row) + sum([a == b for a, b in pairwise(row)])
        fits[i] = needed <= steps[i]
        if not fits[i] and not ignore:
            raise ValueError(
                f"Not enough time for target transition sequence (required: {needed}, available: "
                f"{steps[i]}) {i}; you can turn the error into a warning by using the flag "
                "ignore_longer_outputs_than_inputs"
            )
    return fits


def _moved(x: Any, by: int) -> Any:
    """Columns moved to the right (left, where negative), nothing where none was."""
    made = np.full_like(x, _NEVER)
    if by > 0:
        made[:, by:] = x[:, :-by]
    else:
        made[:, :by] = x[:, -by:]
    return made


def _forward(emit: Any, skips: Any, steps: Any) -> Any:
    """Log chances of all ways to each place, with its own emission: [time, batch, places]."""
    made = np.full(emit.shape, _NEVER)
    made[0, :, :2] = emit[0, :, :2]
    for t in range(1, len(emit)):
        before = made[t - 1]
        ways = np.logaddexp(before, _moved(before, 1))
        ways = np.where(skips, np.logaddexp(ways, _moved(before, 2)), ways)
        made[t] = np.where((t < steps)[:, None], ways + emit[t], before)
    return made


def _backward(emit: Any, skips: Any, steps: Any, lengths: Any) -> Any:
    """Log chances of all ways from each place to the end, without its own emission."""
    batch = np.arange(emit.shape[1])
    ends = np.full(emit.shape[1:], _NEVER)
    ends[batch, lengths - 1] = 0.0
    ends[batch[lengths > 1], lengths[lengths > 1] - 2] = 0.0
    from_next = np.zeros_like(skips)
    from_next[:, :-2] = skips[:, 2:]
    made = np.full(emit.shape, _NEVER)
    later = ends
    for t in range(len(emit) - 1, -1, -1):
        if t + 1 < len(emit):
            after = later + emit[t + 1]
            ways = np.logaddexp(after, _moved(after, -1))
            ways = np.where(from_next, np.logaddexp(ways, _moved(after, -2)), ways)
            later = np.where((t + 1 < steps)[:, None], ways, ends)
        made[t] = later
    return made


def _loss(
    indices: Any, values: Any, x: Any, steps: Any, *, collapse: bool, ignore: bool
) -> tuple[Any, Any]:
    """Losses [batch] and their gradient [time, batch, classes]."""
    time, batch, classes = x.shape
    rows = _rows(indices, values, batch, collapse)
    steps = np.asarray(steps, np.int64)
    if (steps > time).any():
        raise ValueError(f"sequence_length(b) <= time: {steps.max()} > {time}")
    fits = _check(rows, steps, classes, ignore)
    places, lengths = _with_blanks(rows, classes - 1)
    scores = log_softmax(x)
    emit = np.take_along_axis(scores, np.broadcast_to(places, (time, *places.shape)), 2)
    emit[:, np.arange(places.shape[1]) >= lengths[:, None]] = _NEVER
    skips = np.zeros(places.shape, bool)
    skips[:, 2:] = (places[:, 2:] != classes - 1) & (places[:, 2:] != places[:, :-2])
    ahead, behind = _forward(emit, skips, steps), _backward(emit, skips, steps, lengths)
    total = np.logaddexp.reduce(ahead[0] + behind[0], axis=-1)
    gamma = np.exp(np.minimum(ahead + behind - total[:, None], 0.0))
    gradient = np.exp(scores)
    t, b = np.ogrid[:time, :batch]
    for place in range(places.shape[1]):
        np.subtract.at(gradient, (t, b, places[None, :, place]), gamma[:, :, place])
    gradient[(np.arange(time)[:, None] >= steps) | ~fits] = 0.0
    none = ~fits | (steps == 0)
    return np.where(none, 0.0, -total), gradient


def _loss_shapes(inputs: Sequence[Tensor], **_: Any) -> list[Dims]:
    dims = inputs[2].dims
    return [None if dims is None else (dims[1],), dims]


LOSS = Kind(
    "CTCLoss",
    host=_loss,
    shape=_loss_shapes,
    dtype=lambda inputs, **_: [inputs[2].dtype.base_dtype] * 2,
    gradient=False,
)


@symbol("nn.ctc_loss")
def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """-log of the chance of labels [batch, ...] (int32, sparse), of scores [time, batch, classes].

    Raises:
        TypeError: the labels are not sparse.
        ValueError: scores are not of rank 3.
    Raises at run time:
        InvalidArgumentError: a label is no class, or a row has more labels than time.
    """
    if not hasattr(labels, "dense_shape"):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    if not ctc_merge_repeated:
        raise NotImplementedError("ctc_loss with ctc_merge_repeated=False: leave it out")
    y = sparse(labels)
    x = convert_to_tensor(inputs if logits is None else logits, name="inputs")
    x.shape.assert_has_rank(3)
    x = x if time_major else transpose(x, [1, 0, 2])
    made, slope = LOSS.outputs(
        y.indices,
        y.values,
        x,
        convert_to_tensor(sequence_length, int32),
        collapse=bool(preprocess_collapse_repeated),
        ignore=bool(ignore_longer_outputs_than_inputs),
    )
    return with_gradient([made], [x, slope], lambda op, dy: [dy[:, None] * slope, None])[0]


def _sparse_rows(rows: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    shape = [len(rows), max([len(row) for row in rows], default=0)]
    values = np.array([v for row in rows for v in row], np.int64)
    return np.array(places, np.int64).reshape(-1, 2), values, np.array(shape, np.int64)


def _collapsed(row: Sequence[int]) -> list[int]:
    return [v for i, v in enumerate(row) if i == 0 or v != row[i - 1]]


def _greedy(x: Any, steps: Any, *, merge: bool) -> tuple[Any, ...]:
    best, classes = x.argmax(-1), x.shape[2]
    rows, scores = [], np.zeros((x.shape[1], 1), x.dtype)
    for b, count in enumerate(np.asarray(steps).tolist()):
        row = best[:count, b].tolist()
        scores[b, 0] = -x[:count, b].max(-1).sum() if count else 0.0
        rows.append([v for v in (_collapsed(row) if merge else row) if v != classes - 1])
    return (*_sparse_rows(rows), scores)


def _decoded_shapes(paths: int, inputs: Sequence[Tensor]) -> list[Dims]:
    dims = inputs[0].dims
    last: Dims = (None if dims is None else dims[1], paths)
    return [(None, 2)] * paths + [(None,)] * paths + [(2,)] * paths + [last]


GREEDY = Kind(
    "CTCGreedyDecoder",
    host=_greedy,
    shape=lambda inputs, merge: _decoded_shapes(1, inputs),
    dtype=lambda inputs, merge: [int64, int64, int64, inputs[0].dtype.base_dtype],
    gradient=False,
)


@symbol("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The best class at each time, without blanks (and repeats); minus the sum of their scores."""
    x, steps = convert_to_tensor(inputs), convert_to_tensor(sequence_length, int32)
    at, values, shape, scores = GREEDY.outputs(x, steps, merge=bool(merge_repeated))
    return [SparseTensor(at, values, shape)], scores


def _extended(
    beams: dict[tuple[int, ...], tuple[float, float]], scores: Any
) -> dict[tuple[int, ...], list[float]]:
    """Each prefix one step later: log chances that it ends with a blank, and that it does not."""
    blank = len(scores) - 1
    made: dict[tuple[int, ...], list[float]] = {}

    def add(prefix: tuple[int, ...], which: int, chance: float) -> None:
        row = made.setdefault(prefix, [_NEVER, _NEVER])
        row[which] = float(np.logaddexp(row[which], chance))

    for prefix, (with_blank, without) in beams.items():
        either = float(np.logaddexp(with_blank, without))
        add(prefix, 0, either + scores[blank])
        for label in range(blank):
            if prefix and prefix[-1] == label:
                add(prefix, 1, without + scores[label])
                add((*prefix, label), 1, with_blank + scores[label])
            else:
                add((*prefix, label), 1, either + scores[label])
    return made


def _searched(scores: Any, width: int, paths: int) -> list[tuple[tuple[int, ...], float]]:
    """The likeliest labels of scores [time, classes], and their log chances."""
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, _NEVER)}
    for row in scores.tolist():
        made = _extended(beams, row)
        best = sorted(made.items(), key=lambda item: -np.logaddexp.reduce(item[1]))[:width]
        beams = {prefix: (chances[0], chances[1]) for prefix, chances in best}
    found = [(prefix, float(np.logaddexp(*chances))) for prefix, chances in beams.items()]
    return found[:paths]


def _beams(x: Any, steps: Any, *, width: int, paths: int, merge: bool) -> tuple[Any, ...]:
    batch = x.shape[1]
    rows: list[list[list[int]]] = [[] for _ in range(paths)]
    chances = np.full((batch, paths), -np.inf, x.dtype)
    for b in range(batch):
        found = _searched(log_softmax(x[: int(steps[b]), b]), width, paths)
        for i in range(paths):
            prefix, chances[b, i] = found[i] if i < len(found) else ((), -np.inf)
            rows[i].append(_collapsed(prefix) if merge else list(prefix))
    parts = [_sparse_rows(r) for r in rows]
    return (*[p[0] for p in parts], *[p[1] for p in parts], *[p[2] for p in parts], chances)


BEAMS = Kind(
    "CTCBeamSearchDecoder",
    host=_beams,
    shape=lambda inputs, paths, **_: _decoded_shapes(paths, inputs),
    dtype=lambda inputs, paths, **_: [int64] * 3 * paths + [inputs[0].dtype.base_dtype],
    gradient=False,
)


@symbol("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    name: Optional[str] = None,
) -> tuple[list[SparseTensor], Tensor]:
    """The `top_paths` likeliest labels, and the logarithms of their chances [batch, top_paths]."""
    x, steps = convert_to_tensor(inputs), convert_to_tensor(sequence_length, int32)
    given = {"width": beam_width, "paths": top_paths, "merge": merge_repeated}
    made = BEAMS.outputs(x, steps, name=name, **given)
    at, values, shapes = (made[i * top_paths : (i + 1) * top_paths] for i in range(3))
    found = [SparseTensor(*parts) for parts in zip(at, values, shapes, strict=True)]
    return found, made[-1]


@symbol("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Decode as `ctc_beam_search_decoder` does; repeats stay."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)
