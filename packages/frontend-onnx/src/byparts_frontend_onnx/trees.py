"""Operators of ai.onnx.ml on numbers: ensembles of trees, linear models, scalers.

All trees of an ensemble are descended together: `place[sample, tree]` is a node of the table, and
as many times as the deepest tree is deep it becomes a child, by a comparison.  A leaf is its own
child.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_graph_ir import Value

Array = NDArray[Any]
_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "BRANCH_LEQ": ops.less_equal,
    "BRANCH_LT": ops.less,
    "BRANCH_GTE": ops.greater_equal,
    "BRANCH_GT": ops.greater,
    "BRANCH_EQ": ops.equal,
    "BRANCH_NEQ": ops.not_equal,
    "BRANCH_MEMBER": lambda x, members: ops.any(ops.equal(ops.expand_dims(x, -1), members), -1),
}
_DEEPEST = 200


@dataclass(frozen=True)
class Forest:
    """Nodes of all trees in one table.

    Attributes:
        features: the column that each node looks at.
        thresholds: what it is compared with.
        modes: the comparison, by name.
        children: [2, nodes]: where to go if it holds, and if not.
        missing: whether nan counts as holding.
        roots: a node for each tree.
        depth: how often to descend.
        members: [nodes, most]: the set that a node with "BRANCH_MEMBER" looks in, filled with nan.
    """

    features: Array
    thresholds: Array
    modes: list[str]
    children: Array
    missing: Array
    roots: Array
    depth: int
    members: Array | None = None

    def leaves(self, x: Value) -> Value:
        """The leaf of each sample in each tree, as places in the table."""
        rows = ops.zeros_like(ops.cast(ops.getitem(x, (slice(None), slice(0, 1))), "i64"))
        place = rows + ops.constant(self.roots.reshape(1, -1))
        tables = [ops.constant(t) for t in (self.features, self.children[0], self.children[1])]
        thresholds = ops.constant(self.thresholds)
        for _ in range(self.depth):
            features, yes, no = (ops.gather(t, place) for t in tables)
            seen = ops.take_along_axis(x, features, 1)
            holds = self._compared(seen, ops.gather(thresholds, place), place)
            if self.missing.any():
                track = ops.gather(ops.constant(self.missing), place)
                holds = ops.logical_or(holds, ops.logical_and(track, ops.is_nan(seen)))
            place = ops.where(holds, yes, no)
        return place

    def _compared(self, seen: Value, limit: Value, place: Value) -> Value:
        names = sorted(set(self.modes) - {"LEAF"}) or ["BRANCH_LEQ"]
        holds: Value | None = None
        for name in names:
            other = limit
            if name == "BRANCH_MEMBER":
                other = ops.gather(ops.constant(self.members), place)
            answer = _COMPARISONS[name](seen, other)
            here = ops.gather(ops.constant(np.array([m == name for m in self.modes])), place)
            holds = answer if holds is None else ops.where(here, answer, holds)
        assert holds is not None
        return holds


def _forest(node: OnnxNode) -> tuple[Forest, dict[tuple[int, int], int]]:
    """The table, and (tree, node) -> its place."""
    trees, ids = node.get("nodes_treeids"), node.get("nodes_nodeids")
    places = {key: i for i, key in enumerate(zip(trees, ids, strict=True))}
    modes = list(node.get("nodes_modes"))
    unknown = sorted(set(modes) - {*_COMPARISONS, "LEAF"} | {*modes} & {"BRANCH_MEMBER"})
    if unknown or len(places) < len(ids):
        raise node.refuse(f"the mode {unknown[0]}" if unknown else "two nodes of one number")
    children = np.array([
        [i if m == "LEAF" else places[t, c] for i, (m, t, c) in enumerate(
            zip(modes, trees, node.get(f"nodes_{way}nodeids"), strict=True))]
        for way in ("true", "false")
    ], np.int64)  # fmt: skip
    roots = sorted({t: i for i, t in reversed(list(enumerate(trees)))}.values())
    tensor = node.get("nodes_values_as_tensor")
    values = node.get("nodes_values") if tensor is None else node.walk.array(tensor)
    missing = node.get("nodes_missing_value_tracks_true") or [0] * len(ids)
    forest = Forest(
        np.array(node.get("nodes_featureids"), np.int64), np.array(values, np.float32), modes,
        children, np.array(missing, bool), np.array(roots, np.int64),
        _depth(node, children, np.array(roots)),
    )  # fmt: skip
    return forest, places


def _depth(node: OnnxNode, children: Array, roots: Array) -> int:
    depth, level = 0, set(roots.tolist())
    while any(children[0, i] != i or children[1, i] != i for i in level):
        level = {int(c) for i in level for c in children[:, i]}
        depth += 1
        if depth > _DEEPEST:
            raise node.refuse(f"a tree that is more than {_DEEPEST} deep")
    return depth


def _weights(node: OnnxNode, kind: str, places: dict[tuple[int, int], int], outputs: int) -> Array:
    """[nodes, outputs]: what each leaf adds to each output."""
    table = np.zeros((len(places), outputs), np.float32)
    columns = node.get(f"{kind}_ids")
    tensor = node.get(f"{kind}_weights_as_tensor")
    weights = node.get(f"{kind}_weights") if tensor is None else node.walk.array(tensor)
    keys = zip(node.get(f"{kind}_treeids"), node.get(f"{kind}_nodeids"), strict=True)
    for key, column, weight in zip(keys, columns, weights, strict=True):
        table[places[key], column] += weight
    return table


def _base(node: OnnxNode) -> Array | None:
    values = node.get("base_values")
    return None if not values else np.array(values, np.float32)


@rules.on("ai.onnx.ml:TreeEnsembleRegressor")
def tree_ensemble_regressor(node: OnnxNode, x: Value) -> Value:
    """The weights of the leaves that each sample reaches, joined over the trees."""
    forest, places = _forest(node)
    table = _weights(node, "target", places, node.get("n_targets"))
    found = ops.gather(ops.constant(table), forest.leaves(ops.cast(x, "f32")))
    how = node.get("aggregate_function")
    joins = {"SUM": ops.sum, "AVERAGE": ops.mean, "MIN": ops.min, "MAX": ops.max}
    if how not in joins:
        raise node.refuse(f"aggregate_function {how!r}")
    y = joins[how](found, 1)
    base = _base(node)
    return transformed(node.get("post_transform"), y if base is None else y + ops.constant(base))


@rules.on("ai.onnx.ml:TreeEnsemble")
def tree_ensemble(node: OnnxNode, x: Value) -> Value:
    """The same, as version 5 has it: leaves in a table of their own, put behind the nodes here."""
    modes = [int(m) for m in node.walk.array(node.get("nodes_modes"))]
    names, weights = list(_COMPARISONS), node.walk.array(node.get("leaf_weights"))
    n, leaves = len(modes), len(weights)
    ends = np.arange(n, n + leaves)
    children = np.stack([
        np.concatenate([np.array(node.get(f"nodes_{way}nodeids"))
                        + n * np.array(node.get(f"nodes_{way}leafs")), ends])
        for way in ("true", "false")
    ])  # fmt: skip
    missing = np.array(node.get("nodes_missing_value_tracks_true") or [0] * n, bool)
    splits = node.walk.array(node.get("nodes_splits"))
    roots = np.array(node.get("tree_roots"), np.int64)
    forest = Forest(
        np.concatenate([np.array(node.get("nodes_featureids"), np.int64), 0 * ends]),
        np.concatenate([splits, np.zeros(leaves, splits.dtype)]),
        [names[m] for m in modes] + ["LEAF"] * leaves,
        children, np.concatenate([missing, np.zeros(leaves, bool)]), roots,
        _depth(node, children, roots), _members(node, modes, n + leaves),
    )  # fmt: skip
    table = np.zeros((n + leaves, node.get("n_targets")), splits.dtype)
    table[ends, np.array(node.get("leaf_targetids"))] = weights
    found = ops.gather(ops.constant(table), forest.leaves(x))
    joins = (ops.mean, ops.sum, ops.min, ops.max)
    transforms = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    y = joins[node.get("aggregate_function")](found, 1)
    return transformed(transforms[node.get("post_transform")], y)


def _members(node: OnnxNode, modes: list[int], rows: int) -> Array | None:
    """The sets of the nodes that look in one, which the file ends with nan, one after another."""
    at = [i for i, m in enumerate(modes) if m == list(_COMPARISONS).index("BRANCH_MEMBER")]
    if not at:
        return None
    values = node.walk.array(node.get("membership_values"))
    ends = np.flatnonzero(np.isnan(values))
    if len(ends) != len(at):
        raise node.refuse(f"membership_values of {len(ends)} sets for {len(at)} nodes")
    sets = np.split(values, ends + 1)[:-1]
    most = max(map(len, sets))
    node.limited(rows, most)
    table = np.full((rows, most), np.nan, values.dtype)
    for row, members in zip(at, sets, strict=True):
        table[row, : len(members)] = members
    return table


@rules.on("ai.onnx.ml:TreeEnsembleClassifier")
def tree_ensemble_classifier(node: OnnxNode, x: Value) -> tuple[Value, Value]:
    """Labels, and a score for each class."""
    labels = _labels(node)
    forest, places = _forest(node)
    table = _weights(node, "class", places, len(labels))
    single = len(set(node.get("class_ids"))) == 1 and len(labels) == 2
    scores = ops.sum(ops.gather(ops.constant(table), forest.leaves(ops.cast(x, "f32"))), 1)
    if not single:
        base = _base(node)
        scores = scores if base is None else scores + ops.constant(base)
        best = ops.argmax(scores, 1)
        return ops.gather(ops.constant(labels), best), transformed(
            node.get("post_transform"), scores
        )
    column = node.get("class_ids")[0]
    one = ops.getitem(scores, (slice(None), slice(column, column + 1)))
    base = _base(node)
    one = one if base is None else one + float(base[min(column, len(base) - 1)])
    positive = bool((table >= 0).all())
    return _of_one_score(node, labels, one, 0.5 if positive else 0.0, positive)


def _of_one_score(
    node: OnnxNode, labels: Array, one: Value, limit: float, probability: bool
) -> tuple[Value, Value]:
    """Labels and scores of two classes by the score of the second, as ONNX Runtime has them."""
    chosen = ops.reshape(ops.cast(one > limit, "i64"), (-1,))
    label = ops.gather(ops.constant(labels), chosen)
    transform = node.get("post_transform")
    if transform == "PROBIT":
        raise node.refuse("PROBIT of one score for two classes")
    if transform == "LOGISTIC":
        one, probability = ops.sigmoid(one), True
    first = 1.0 - one if probability else ops.neg(one)
    return label, ops.concat([first, one], 1)


def _labels(node: OnnxNode) -> Array:
    for name in ("classlabels_int64s", "classlabels_ints"):
        if node.get(name):
            return np.array(node.get(name), np.int64)
    raise node.refuse("a classifier whose labels are texts")


def transformed(name: str, scores: Value) -> Value:
    """Scores after the `post_transform` of this name."""
    if name == "LOGISTIC":
        return ops.sigmoid(scores)
    if name == "SOFTMAX":
        return ops.softmax(scores, -1)
    if name == "SOFTMAX_ZERO":
        nothing = ops.equal(scores, ops.fill(0.0, scores.type.dtype))
        return ops.where(nothing, scores, ops.softmax(scores, -1))
    if name == "PROBIT":
        return ops.erfinv(scores * 2.0 - 1.0) * float(np.sqrt(2.0))
    return scores


@rules.on("ai.onnx.ml:LinearRegressor")
def linear_regressor(node: OnnxNode, x: Value) -> Value:
    """x @ coefficients^T + intercepts."""
    return transformed(node.get("post_transform"), _linear(node, x, node.get("targets")))


def _linear(node: OnnxNode, x: Value, outputs: int) -> Value:
    w = np.array(node.get("coefficients"), np.float32).reshape(outputs, -1)
    y = ops.matmul(ops.cast(x, "f32"), ops.constant(np.ascontiguousarray(w.T)))
    intercepts = node.get("intercepts")
    return y + ops.constant(np.array(intercepts, np.float32)) if intercepts else y


@rules.on("ai.onnx.ml:LinearClassifier")
def linear_classifier(node: OnnxNode, x: Value) -> tuple[Value, Value]:
    """Labels and scores by linear functions."""
    labels = _labels(node)
    outputs = len(node.get("intercepts") or labels)
    scores = _linear(node, x, outputs)
    if outputs == 1 and len(labels) == 2:
        return _of_one_score(node, labels, scores, 0.0, True)
    best = ops.gather(ops.constant(labels), ops.argmax(scores, 1))
    return best, transformed(node.get("post_transform"), scores)


@rules.on("ai.onnx.ml:Scaler")
def scaler(node: OnnxNode, x: Value) -> Value:
    """(x - offset) * scale."""
    offset, scale = (np.array(node.get(n), np.float32) for n in ("offset", "scale"))
    return (ops.cast(x, "f32") - ops.constant(offset)) * ops.constant(scale)


@rules.on("ai.onnx.ml:Normalizer")
def normalizer(node: OnnxNode, x: Value) -> Value:
    """Rows over their norm; 0 where that is 0."""
    x = ops.cast(x, "f32")
    norm = {
        "MAX": lambda: ops.max(x, -1, True),
        "L1": lambda: ops.norm(x, 1.0, -1, True),
        "L2": lambda: ops.norm(x, 2.0, -1, True),
    }[node.get("norm")]()
    nothing = ops.equal(norm, ops.fill(0.0, "f32"))
    return x / ops.where(nothing, ops.fill(1.0, "f32"), norm)


@rules.on("ai.onnx.ml:Binarizer")
def binarizer(node: OnnxNode, x: Value) -> Value:
    """1 above a threshold, else 0."""
    return ops.cast(ops.greater(x, ops.fill(node.get("threshold"), x.type.dtype)), x.type.dtype)


@rules.on("ai.onnx.ml:FeatureVectorizer")
def feature_vectorizer(node: OnnxNode, *parts: Value) -> Value:
    """Columns of all inputs beside each other, as f32."""
    return ops.concat([ops.cast(p, "f32") for p in parts], -1)


@rules.on("ai.onnx.ml:Imputer")
def imputer(node: OnnxNode, x: Value) -> Value:
    """Other numbers in the place of one, of nan for instance."""
    kind = "float" if x.type.dtype in ("f32", "f64") else "int64"
    absent = node.get(f"replaced_value_{kind}")
    new = np.array(node.get(f"imputed_value_{kind}s"), "f4" if kind == "float" else "i8")
    is_absent = ops.is_nan(x) if absent != absent else ops.equal(x, ops.fill(absent, x.type.dtype))
    return ops.where(is_absent, ops.constant(new), x)


@rules.on("ai.onnx.ml:ZipMap")
def zip_map(node: OnnxNode, x: Value) -> Value:
    """Probabilities as they are: maps from labels to them are no tensors."""
    node.walk.note("ZipMap: an array of probabilities is given, and no maps")
    return x


@rules.on("ai.onnx.ml:ArrayFeatureExtractor")
def array_feature_extractor(node: OnnxNode, x: Value, places: Value) -> Value:
    """Elements of the last axis, by their places."""
    y = ops.gather(x, ops.reshape(ops.cast(places, "i64"), (-1,)), rank_of(x) - 1)
    return ops.expand_dims(y, 0) if rank_of(x) == 1 else y
