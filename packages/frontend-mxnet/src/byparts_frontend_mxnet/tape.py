"""Calls that wait: forward, backward and update of a hybridized net become one program.

A hybridized block that is called while recording does not run: its outputs wait for a `Tape`, and
so do the ops on them and the gradients that `backward` asks for.  `Trainer.step` runs the tape with
the update of the weights as one compiled program.  Whoever reads something that waits runs what is
there: forward and backward as one program; before `backward`, each op at once, recorded.

A program is kept by the structure of its tape, so a training loop compiles it once.  What it reads
and is a cell (parameters, auxiliary states, the stream of random numbers) is a variable of it;
other arrays are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional
from weakref import ref

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_eager import Array, compile as compiled, training, training_mode
from byparts_eager.state import state
from byparts_eager.trace import Frame
from byparts_frontend_mxnet.context import listed, options, program_options
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.nd.array import NDArray, marked
from byparts_frontend_mxnet.nd.storage import Storage, outside, owners, plain
from byparts_frontend_mxnet.optimizer import Update
from byparts_frontend_mxnet.stream import stream
from byparts_graph_ir import Value, producers

_MOST_PROGRAMS = 64
_programs: dict[Any, Any] = {}
_types: dict[Any, Any] = {}
_open: list[Any] = []  # tapes with calls that have not run
_replayed: list[Any] = []  # calls that run at once now, with all blocks inside

Function = Callable[..., Any]
NO_VARIABLE = (
    "backward: no array with attach_grad() was used to compute the heads; call attach_grad() "
    "before record()"
)


class Tape:
    """The calls since the first one that waited.

    Attributes:
        calls: (key, function, references of the inputs, outputs, variables that it reads).
        arguments: arrays from outside.
        variables: handles with a gradient that the calls read.
        backwards: (heads, gradients by them), in order.
        reached: variables that heads depend on.
    """

    holds = True  # what a storage that is overwritten must not leave out

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Function, tuple[Any, ...], list[ref[Storage]], Any]] = []
        self.arguments: list[Any] = []
        self.variables: dict[NDArray, Any] = {}
        self.backwards: list[tuple[Any, Any]] = []
        self.reached: dict[NDArray, Any] = {}
        self.grows = True
        self._written: list[Storage] = []
        self._places: dict[int, tuple[Any, ...]] = {}
        self._kept: list[Any] = []  # storages whose ids are keys
        _open.append(self)

    def add(self, key: Any, function: Function, inputs: Sequence[Any], variables: Any) -> Any:
        """The outputs of a call, which wait."""
        references = tuple([self.place(x) for x in inputs])
        key = key, training()
        variables = [*variables, *[x for x in inputs if x.grad_req != "null"]]
        for v in variables:
            if v not in self.variables:
                self.variables[v] = self.place(v)
        types, single, written = _output_types(key, function, [x.type for x in inputs])
        context = inputs[0].context
        outputs = [NDArray(Storage(None, t), context) for t in types]
        for j, y in enumerate(outputs):
            y.storage.waits_for = self
            self._places[id(y.storage)] = ("call", len(self.calls), j)
        for cell in written:  # running means: whoever reads them runs this tape
            owners[cell].waits_for = self
            self._written.append(owners[cell])
        stored = [ref(y.storage) for y in outputs]
        self.calls.append((key, function, references, stored, variables))
        return outputs[0] if single else outputs

    def place(self, x: NDArray) -> tuple[Any, ...]:
        """The reference of an input: ("call", i, j), ("cell", storage) or ("argument", k)."""
        known = self._places.get(id(x.storage)) if x._base is None else None
        if known and (known[0] == "argument" or x.storage.waits_for is self):
            return known
        if x._base is None and x.storage.cell is not None:
            return ("cell", x.storage)
        if x._base is not None and x.storage.waits_for is self:
            self.run()
        value = plain(x.read()) if x.grad_req == "null" else x.storage.get()
        place = ("argument", len(self.arguments))
        self.arguments.append(value)
        if x.grad_req != "null":
            self._places[id(x.storage)] = place
            self._kept.append(x.storage)
        return place

    def backward(self, heads: Sequence[Any], head_grads: Sequence[Any]) -> None:
        """Let the gradients by all variables that heads depend on wait, too.

        Raises:
            MXNetError: there are none.
        """
        places = [self.place(h) for h in heads]
        reached = self._reached_by(places)
        if not reached:
            raise MXNetError(NO_VARIABLE)
        for v in reached:
            before = v.grad.storage.waits_for
            if before is not None and before is not self and before.holds:
                before.run()  # an earlier backward: gradients are written in order
            v.grad.storage.waits_for, v._fresh_grad = self, True
            self.reached[v] = self.variables[v]
        seeds = [None if g is None else self.place(g) for g in head_grads]
        self.backwards.append((places, seeds))
        self.grows = False

    def _reached_by(self, places: Sequence[Any]) -> list[NDArray]:
        """The variables that these outputs depend on."""
        found: dict[NDArray, None] = {}
        waiting, seen = [p[1] for p in places if p[0] == "call"], set()
        while waiting:
            i = waiting.pop()
            key, _, references, _, variables = self.calls[i]
            if i not in seen and key[0][0] != "_detach":
                found.update(dict.fromkeys([v for v in variables if v.grad is not None]))
                waiting += [p[1] for p in references if p[0] == "call"]
            seen.add(i)
        return list(found)

    def end(self) -> None:
        """Take no more calls.  Without a backward, run if that writes states (running means)."""
        self.grows = False
        if not self.backwards:
            stored = [r() for _, _, _, outputs, _ in self.calls for r in outputs]
            if self._written:
                self.run()
            elif all(storage is None for storage in stored):
                _open.remove(self)

    def run(self, update: Optional[Update] = None) -> None:
        """Run what waits; with `update`, change the weights in the same program."""
        _open.remove(self) if self in _open else None
        for state_storage in self._written:
            state_storage.waits_for = None
        if not self.backwards:
            self._run_recorded()
            return
        alive = [
            (i, j, storage)
            for i, (_, _, _, outputs, _) in enumerate(self.calls)
            for j, r in enumerate(outputs)
            if (storage := r()) is not None and storage.waits_for is self
        ]
        used = update.used if update else set()
        by_argument = [(v, p) for v, p in self.reached.items() if p[0] == "argument"]
        used = set() if options["keep_gradients"] else used
        weights = [
            (v, id(v) not in used or v._keeps_grad or v.grad_req == "add")
            for v, p in self.reached.items()
            if p[0] == "cell"
        ]
        for v, _ in by_argument:
            v.grad.storage.waits_for = None
        for v, keeps in weights:
            v.grad.storage.waits_for = None if keeps else Lost(v)
        ends = tuple([(i, j) for i, j, _ in alive])
        calls = tuple([(key, places) for key, _, places, _, _ in self.calls])
        backs = tuple([(tuple(h), tuple(g)) for h, g in self.backwards])
        how = tuple([(p, v.grad_req) for v, p in self.reached.items()])
        kept = tuple([keeps for _, keeps in weights])
        key = (calls, ends, backs, how, kept, update.key if update else None, repr(options))
        program = _programs.get(key)
        if program is None:
            if len(_programs) >= _MOST_PROGRAMS:
                _programs.pop(next(iter(_programs)))
            functions = [(f, places, k[1]) for k, f, places, _, _ in self.calls]
            plan = _Plan(functions, ends, backs, weights, [p for _, p in by_argument], update)
            program = _programs[key] = compiled(plan.run, **program_options())
        with outside():
            more = update.numbers if update else ()
            results = program(tuple(self.arguments), tuple(more))
        for (_, _, storage), value in zip(alive, results, strict=False):
            storage.fill(value)
        for (v, _), value in zip(by_argument, results[len(alive) :], strict=True):
            add_or_write(v, value)
        self.calls, self.arguments = [], []

    def _run_recorded(self) -> None:
        """Call each function now, recorded: a gradient may be asked for later."""
        environment: list[Any] = []
        calls, self.calls = self.calls, []
        frame, overlay, state.frame, state.overlay = state.frame, state.overlay, None, None
        state.recorders += 1
        _replayed.append(self)
        handles = {p: v for v, p in self.variables.items()}
        try:
            for key, function, places, outputs, _ in calls:
                with training_mode(key[1]):
                    inputs = [
                        handles[p] if p in handles else _handle(p, environment, self.arguments)
                        for p in places
                    ]
                    ys = listed(function(*inputs))
                environment.append(ys)
                for r, y in zip(outputs, ys, strict=True):
                    storage = r()
                    if storage is not None:
                        storage.fill(y.read())
        finally:
            _replayed.pop()
            state.recorders -= 1
            state.frame, state.overlay = frame, overlay


class Waiting:
    """Something else that runs when what waits for it is read: a step of an executor."""

    grows, backwards, holds = False, True, True

    def __init__(self, function: Function) -> None:
        self.function = function
        _open.append(self)

    def forget(self) -> None:
        """Take it out of what waits."""
        if self in _open:
            _open.remove(self)

    def run(self) -> None:
        """Run it, once."""
        self.forget()
        self.function()

    def end(self) -> None:
        """Go on to wait."""


class _Plan:
    """The function that a program of a tape is traced from; it holds no arrays."""

    def __init__(
        self, calls: Any, ends: Any, backwards: Any, weights: Any, by: Any, update: Any
    ) -> None:
        self.calls, self.ends, self.backwards, self.weights = calls, ends, backwards, weights
        self.by, self.update = by, update.change if update else None

    def run(self, arguments: Any, more: Any) -> Any:
        """The outputs that somebody has, then the gradients by arguments."""
        environment: list[Any] = []
        leaves = [v.storage.get() for v, _ in self.weights] + [arguments[p[1]] for p in self.by]
        for function, places, mode in self.calls:
            with training_mode(mode):
                inputs = [_handle(p, environment, arguments) for p in places]
                environment.append(listed(function(*inputs)))
        given: list[Any] = []
        own: dict[Any, NDArray] = {}
        for heads, seeds in self.backwards:
            ys = [_handle(p, environment, arguments).read() for p in heads]
            dys = [None if p is None else _handle(p, environment, arguments).read() for p in seeds]
            reached = _reached(ys, leaves)
            by = gradients(ys, reached, dys, unreachable="zeros") if reached else ()
            dxs = dict(zip(reached, by, strict=True))
            for (v, kept), x in zip(self.weights, leaves, strict=False):
                if x in dxs and self.update is not None and not kept:
                    own[v] = NDArray(dxs[x])  # not kept: no memory for it, and it may be fused
                elif x in dxs:
                    add_or_write(v, dxs[x])
            given = [dxs[x] if x in dxs else ops.zeros_like(x) for x in leaves[len(self.weights) :]]
        outputs = [environment[i][j].read() for i, j in self.ends]
        if self.update is not None:
            self.update(lambda v: own.get(v, v.grad), *more)
        return (*outputs, *given)


class Lost:
    """Stands for a gradient that the update in its program used up."""

    holds = False

    def __init__(self, owner: Any) -> None:
        self._owner = owner  # a weight or an executor

    def run(self) -> None:
        """Refuse, and let the next steps keep it.

        Raises:
            MXNetError: always, with what to do.
        """
        self._owner._keeps_grad = True
        raise MXNetError(
            "this gradient was computed and used up inside the program of the update, which did "
            "not keep it; read it before step() or update().  From the next step on it is kept"
        )


def _reached(ys: Sequence[Value], leaves: Sequence[Value]) -> list[Value]:
    """The leaves that ys are computed from."""
    read = {x for node in producers(list(ys)) for x in node.inputs} | set(ys)
    return [x for x in dict.fromkeys(leaves) if x in read]


def add_or_write(variable: Any, gradient: Any) -> None:
    """Put a gradient into that of a variable, or add it, as `grad_req` says."""
    storage = variable.grad.storage
    storage.set(storage.get() + gradient if variable.grad_req == "add" else gradient)


def _handle(place: Any, environment: Any, arguments: Any) -> Any:
    if place[0] == "call":
        return environment[place[1]][place[2]]
    return NDArray(place[1] if place[0] == "cell" else arguments[place[1]])


def _output_types(key: Any, function: Function, types: Sequence[Any]) -> Any:
    """The types of the outputs, whether it is one alone, and the states that are written."""
    known = (key, tuple(types))
    if known not in _types:
        if len(_types) >= 16 * _MOST_PROGRAMS:
            _types.clear()
        with outside(), Frame() as frame:
            result = function(*[NDArray(frame.input(t)) for t in types])
            types = [y.type for y in listed(result)]
            olds = {**frame.inputs, stream.position: frame.values.get(stream.position)}
            written = [c for c, v in frame.values.items() if v is not olds.get(c)]
            _types[known] = types, not isinstance(result, (list, tuple)), written
    return _types[known]


def _has_history(x: Any) -> bool:
    """Whether an array remembers how it was computed from one that has a gradient."""
    if x.storage.waits_for is not None or x.grad_req != "null":
        return False
    value = x.read()
    if value.__class__ is not Array or value.past is None:
        return False
    leaves = {v._leaf[1] for r in list(marked.values()) if (v := r()) is not None and v._leaf}
    return any(y in leaves for node in producers([value]) for y in node.inputs)


def _at_once(function: Function, inputs: Sequence[Any]) -> Any:
    """Call a function whose blocks do not wait either."""
    _replayed.append(None)
    try:
        return function(*inputs)
    finally:
        _replayed.pop()


def types_of(key: Any, function: Function, arrays: Sequence[Any]) -> Any:
    """The types of the outputs of a call on these arrays; shapes of parameters are found, too."""
    return _output_types((key, training()), function, [x.type for x in arrays])


def defer(key: Any, function: Function, inputs: Sequence[Any], variables: Any) -> Any:
    """The outputs of a call of a function of handles, which wait for the open tape.

    They do not wait where an input was computed at once from an array that has a gradient.
    """
    tape = _open[-1] if _open and _open[-1].grows else None
    for x in inputs:
        if x.storage.waits_for not in (None, tape):
            x.storage.get()
    if any([_has_history(x) for x in inputs]):
        return _at_once(function, inputs)
    return (tape or Tape()).add(key, function, inputs, variables)


def runs_at_once() -> bool:
    """Whether blocks are called as part of something that is traced or run now."""
    return state.frame is not None or bool(_replayed)


def begin() -> None:
    """Let the next call that waits begin a new tape."""
    for tape in _open[:]:
        tape.end()


def flush() -> None:
    """Run all that waits."""
    while _open:
        _open[-1].run()


Storage.flush = staticmethod(flush)
NDArray.defer = staticmethod(defer)

__all__ = ["Tape", "defer", "flush", "plain"]
