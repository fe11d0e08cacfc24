"""What TensorFlow 1.15.5 answered, and how a module is held against it.

`data/answers/spec.json` has expressions (`cases`) with their inputs, and short programs (`scripts`);
`arrays.npz` has the arrays.  Of a case are recorded: the values, the gradients (with grad_ys drawn
from a seed that its id says), and static shapes for inputs that are known, known but for their
first dimension, and not known; or the kind of the error.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import byparts_frontend_tf as tf

DATA = Path(__file__).parent / "data" / "answers"
FLOATS = ("float32", "float64")
ALIKE = {("ValueError", "InvalidArgumentError"), ("InvalidArgumentError", "ValueError")}


@cache
def recorded() -> dict[str, Any]:
    """The cases and scripts."""
    found: dict[str, Any] = json.loads((DATA / "spec.json").read_text(encoding="utf-8"))
    return found


@cache
def arrays() -> dict[str, Any]:
    """The arrays, by key."""
    return dict(np.load(DATA / "arrays.npz", allow_pickle=False))


def exists(symbol: str) -> bool:
    """Whether there is such a symbol."""
    found: Any = tf
    try:
        for part in symbol.split(".")[1:]:
            found = getattr(found, part)
    except AttributeError:
        return False
    return True


def flatten(x: Any) -> list[Any]:
    """The leaves of lists, tuples and dicts."""
    if isinstance(x, dict):
        return [leaf for k in sorted(x) for leaf in flatten(x[k])]
    if isinstance(x, (list, tuple)):
        return [leaf for v in x for leaf in flatten(v)]
    return [x]


def structure(x: Any) -> Any:
    """The nest around the leaves, with the names of its tuples; a leaf is 0."""
    if isinstance(x, dict):
        return {"dict": [[k, structure(x[k])] for k in sorted(x)]}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        fields = [[f, structure(v)] for f, v in zip(x._fields, x, strict=True)]
        return {"nt": type(x).__name__, "fields": fields}
    return [structure(v) for v in x] if isinstance(x, (list, tuple)) else 0


def _seed(text: str) -> int:
    return zlib.crc32(text.encode()) & 0x7FFFFFFF


def _static(t: Any) -> Any:
    shape = t.get_shape()
    return None if shape.ndims is None else [None if d is None else int(d) for d in shape.as_list()]


class Case:
    """One expression.

    Args:
        case: as recorded.
    """

    def __init__(self, case: dict[str, Any]) -> None:
        self.case, self.expect = case, case["expect"]
        self.rtol, self.atol = case.get("rtol", 1e-5), case.get("atol", 1e-6)

    def problems(self) -> list[str]:
        """What differs from TensorFlow."""
        try:
            found = self._compare()
        except Exception as error:
            return self._raised(error)
        if "error" in self.expect:
            return [f"no error, want {self.expect['error']['type']}"]
        return found

    def _raised(self, error: Exception) -> list[str]:
        kind = type(error).__name__
        if "error" not in self.expect:
            return [f"{kind}: {error}"]
        wanted = self.expect["error"]["type"]
        return [] if kind == wanted or (wanted, kind) in ALIKE else [f"{kind}, want {wanted}"]

    def _compare(self) -> list[str]:
        with tf.Graph().as_default() as graph:
            out, feeds = self._built(lambda a: list(a.shape))
            if structure(out) != self.expect["struct"]:
                return [f"structure {structure(out)}, want {self.expect['struct']}"]
            leaves = flatten(out)
            tensors = [t for t in leaves if hasattr(t, "get_shape") and hasattr(t, "dtype")]
            gradients = self._gradients(tensors, feeds)
            with tf.Session(graph=graph) as session:
                values = session.run(tensors, {p: a for p, a in feeds if p is not None})
                rest = iter(values)
                results = [next(rest) if any(v is t for t in tensors) else v for v in leaves]
                problems = [
                    compared(w, g, self.rtol, self.atol)
                    for w, g in zip(self.expect["outs"], results, strict=True)
                ]
                problems += self._compare_gradients(session, gradients, values, tensors, feeds)
        problems += self._compare_shapes(leaves)
        return [p for p in problems if p]

    def _built(self, shape: Callable[[Any], Any]) -> tuple[Any, list[tuple[Any, Any]]]:
        names: dict[str, Any] = {"tf": tf, "np": np}
        feeds: list[tuple[Any, Any]] = []
        for given in self.case["inputs"]:
            array = arrays()[given["key"]]
            if given.get("const"):
                names[given["name"]] = array
                feeds.append((None, array))
                continue
            static = given.get("static", shape(array))
            names[given["name"]] = tf.placeholder(getattr(tf, given["dtype"]), static)
            feeds.append((names[given["name"]], array))
        return eval(self.case["expr"], names), feeds  # recorded expressions of our own

    def _gradients(self, tensors: list[Any], feeds: list[tuple[Any, Any]]) -> Any:
        if not self.case.get("grad", True) or "grads" not in self.expect:
            return None
        ys = [t for t in tensors if t.dtype.base_dtype.name in FLOATS]
        xs = [
            (i, p)
            for i, (p, _) in enumerate(feeds)
            if p is not None
            and self.case["inputs"][i]["dtype"] in FLOATS
            and self.case["inputs"][i].get("grad", True)
        ]
        if not ys or not xs:
            return None
        seeds = [tf.placeholder(t.dtype, t.get_shape()) for t in ys]
        found = tf.gradients(ys, [p for _, p in xs], grad_ys=seeds)
        dense = [None if g is None else tf.convert_to_tensor(g) for g in found]
        return ys, seeds, {str(i): g for (i, _), g in zip(xs, dense, strict=True)}

    def _compare_gradients(
        self, session: Any, gradients: Any, values: Any, tensors: Any, feeds: Any
    ) -> list[str | None]:
        if gradients is None:
            return []
        ys, seeds, found = gradients
        fed = {p: a for p, a in feeds if p is not None}
        known = {id(t): v for t, v in zip(tensors, values, strict=True)}
        for k, (y, seed) in enumerate(zip(ys, seeds, strict=True)):
            draw = np.random.RandomState(_seed(f"{self.case['id']}:gy{k}"))
            value = known[id(y)]
            fed[seed] = draw.uniform(-1, 1, np.shape(value)).astype(np.asarray(value).dtype)
        live = {k: g for k, g in found.items() if g is not None}
        made = session.run(live, fed) if live else {}
        return [self._gradient_problem(k, key, made) for k, key in self.expect["grads"].items()]

    def _gradient_problem(self, k: str, key: Any, made: dict[str, Any]) -> str | None:
        if key is None:
            return f"gradient {k} is not None" if k in made and np.any(made[k]) else None
        if k not in made:
            return f"gradient {k} is None"
        found = close(arrays()[key], made[k], max(self.rtol, 1e-4), max(self.atol, 1e-5))
        return f"gradient {k}: {found}" if found else None

    def _compare_shapes(self, leaves: list[Any]) -> list[str | None]:
        problems = [self._shape_problem("static", leaves)]
        if not self.case.get("shapes", True):
            return problems
        partly: Callable[[Any], Any] = lambda a: [None, *a.shape[1:]] if a.ndim else []  # noqa: E731
        for name, shape in (("static_partial", partly), ("static_unknown", lambda a: None)):
            if isinstance(self.expect.get(name), list):
                with tf.Graph().as_default():
                    inputs = [{**i} for i in self.case["inputs"]]
                    for given in inputs:
                        given.pop("static", None)
                    out, _ = Case({**self.case, "inputs": inputs})._built(shape)
                    problems.append(self._shape_problem(name, flatten(out)))
        return problems

    def _shape_problem(self, name: str, leaves: list[Any]) -> str | None:
        wanted = self.expect.get(name)
        if not isinstance(wanted, list) or name in self.case.get("v2_differs", ()):
            return None
        found = [_static(t) if hasattr(t, "get_shape") else None for t in leaves]
        for w, g in zip(wanted, found, strict=True):
            knows_more = isinstance(g, list) and (
                w is None
                or (len(w) == len(g) and all(a in (None, b) for a, b in zip(w, g, strict=True)))
            )
            if w != g and not knows_more:
                return f"{name} shape {g}, want {w}"
        return None


def close(want: Any, got: Any, rtol: float, atol: float) -> str | None:
    """What differs between two arrays."""
    want, got = np.asarray(want), np.asarray(got)
    if want.dtype != got.dtype or want.shape != got.shape:
        return f"{got.dtype}{got.shape}, want {want.dtype}{want.shape}"
    if want.dtype.kind in "fc":
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        if want.dtype == np.float16:
            rtol, atol = max(rtol, 2e-3), max(atol, 2e-3)
        near = np.isclose(got.astype(wide), want.astype(wide), rtol, atol, equal_nan=True)
        return None if near.all() else f"{got.ravel()[:6]}, want {want.ravel()[:6]}"
    same = want.dtype.kind not in "biu" or np.array_equal(want, got)
    return None if same else f"{got.ravel()[:6]}, want {want.ravel()[:6]}"


def compared(want: Any, got: Any, rtol: float, atol: float) -> str | None:
    """What differs between what was recorded of a result and a result."""
    if isinstance(want, dict) and "key" in want:
        return close(arrays()[want["key"]], got, rtol, atol)
    if isinstance(want, dict) and "float" in want:
        near = np.isclose(float(got), float(want["float"]), max(rtol, 1e-5), max(atol, 1e-6), True)
        return None if near else f"{got!r}, want {want['float']!r}"
    if isinstance(want, dict) and "bytes" in want:
        text = got.decode("latin1") if isinstance(got, bytes) else str(got)
        return (
            None if text[:200] == want["bytes"] else f"{text[:60]!r}, want {want['bytes'][:60]!r}"
        )
    if isinstance(want, dict) and "obj" in want:
        flat = [x.decode("latin1") if isinstance(x, bytes) else str(x) for x in np.ravel(got)]
        same = flat[:50] == want["obj"] and list(np.shape(got)) == want["shape"]
        return None if same else f"{flat[:6]!r}, want {want['obj'][:6]!r}"
    if want is None:
        return None if got is None else f"{got!r:.60}, want None"
    got = got.item() if isinstance(got, np.generic) else got
    got = got.decode("latin1") if isinstance(got, bytes) else got
    same = got == want and isinstance(got, bool) == isinstance(want, bool)
    return None if same else f"{got!r}, want {want!r}"


def script_problems(script: dict[str, Any]) -> list[str]:
    """What a short program gives otherwise than with TensorFlow."""
    with tf.Graph().as_default():
        env = _environment()
        exec(compile(script["code"], script["id"], "exec"), env)  # recorded programs of our own
        found = flatten(env["out"])
    wanted = script["expect"]["outs"]
    if len(found) != len(wanted):
        return [f"{len(found)} results, want {len(wanted)}"]
    pairs = enumerate(zip(wanted, found, strict=True))
    compared_all = [(i, compared(w, g, 1e-4, 1e-5)) for i, (w, g) in pairs]
    return [f"item {i}: {p}" for i, p in compared_all if p]


def _environment() -> dict[str, Any]:
    def fill(session: Any, scale: float = 1.0) -> None:
        with session.graph.as_default():
            for v in tf.global_variables():
                kind = np.dtype(v.dtype.base_dtype.as_numpy_dtype)
                if kind.kind == "f":
                    draw = np.random.RandomState(_seed(v.name.split(":")[0]))
                    v.load(
                        scale * (draw.rand(*v.get_shape().as_list()) - 0.5).astype(kind), session
                    )

    def err(function: Callable[[], Any]) -> str:
        try:
            function()
        except Exception as error:
            return type(error).__name__
        return "no error"

    return {
        "tf": tf,
        "np": np,
        "fill": fill,
        "err": err,
        "names": lambda given: [str(x.name) for x in given],
        "rng": lambda seed=0: np.random.RandomState(seed),
    }
