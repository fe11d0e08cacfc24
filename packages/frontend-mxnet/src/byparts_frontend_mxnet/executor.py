"""`Executor`: a symbol bound to arrays; forward and backward are programs of the runtime.

Arguments and auxiliary states are cells, so weights stay in the variables of the programs, and
auxiliary states are updated by them.  Outputs and gradients are what a run gives.  A training step
is one program: after `forward(is_train=True)` and `backward()` outputs and gradients wait, until
`update` runs the three as one or somebody reads an array, which runs the first two as one.  A
`backward` with gradients of the outputs has a program of its own, which draws the same random
numbers again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_eager import Cell, asarray, compile as compiled, training_mode
from byparts_frontend_mxnet import tape
from byparts_frontend_mxnet.context import current_context, options, program_options
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.nd.storage import outside, plain
from byparts_frontend_mxnet.optimizer import Optimizer, Update, planned
from byparts_frontend_mxnet.stream import stream
from byparts_frontend_mxnet.symbol.infer import Inferred, run_node
from byparts_frontend_mxnet.symbol.symbol import Symbol
from byparts_graph_ir import FLOATS, TensorType
from byparts_runtime.arrays.dtypes import numpy_dtype

Arrays = dict[str, Any]


class Executor:
    """Programs of a symbol on arrays; `binding.py` makes them, and gives them `reshape`.

    Args:
        symbol: what is computed.
        ctx: the label of the outputs.
        args: an array for each argument.
        grads: arrays for gradients, of some arguments.
        reqs: argument -> "write", "add" or "null".
        aux: an array for each auxiliary state.
        shared: an executor whose memory is used for values, as programs run one at a time.

    Attributes:
        arg_dict: the arrays of the arguments, by name.
        grad_dict: those of the gradients; `None` where there is none.
        aux_dict: those of the auxiliary states.
        outputs: the arrays of the last run.
    """

    reshape: Any  # of `binding.py`

    def __init__(
        self, symbol: Symbol, ctx: Any, args: Arrays, grads: Arrays, reqs: Mapping[str, str],
        aux: Arrays, shared: Optional[Executor] = None,
    ) -> None:  # fmt: skip
        self._symbol, self._ctx = symbol, ctx or current_context()
        self.arg_dict, self.aux_dict = args, aux
        self.grad_dict: Arrays = {k: grads.get(k) if reqs[k] != "null" else None for k in args}
        self._nodes, self._reqs = symbol.nodes(), dict(reqs)
        bound = {**args, **aux}
        self._cells = {n: _cell(bound[n.name], n.name) for n in self._nodes if n.entry is None}
        self._views = [
            (self._cells[n], bound[n.name]) for n in self._cells if bound[n.name]._base is not None
        ]
        dtypes = {k: x.dtype for k, x in bound.items()}
        inferred = Inferred(symbol, {k: x.shape for k, x in bound.items()}, dtypes)
        self._types = [known_type(inferred.type(p), p[0].name) for p in symbol.places]
        self.outputs = [NDArray(full(t), self._ctx) for t in self._types]
        self._wanted = [k for k, g in self.grad_dict.items() if g is not None]
        self._programs: dict[Any, Any] = {}
        # One arena, once a program is built, for all executors that share arrays.
        self._memory: list[Any] = [] if shared is None else shared._memory
        self._staged: Optional[Sequence[Any]] = None  # gradients that backward() will hand out
        self._heads_come = False  # whether backward was last given gradients of the outputs
        self._start: Any = 0  # position of the random numbers before the last run
        self._wait: Any = None  # the step that has not run
        self._trained = self._back = False  # whether the last forward trained; backward was called
        self._keeps_grad = options["keep_gradients"]  # also those that an update uses
        self._monitor: Optional[Callable[[str, Any], None]] = None

    arg_arrays = property(lambda self: list(self.arg_dict.values()), doc="Arrays, in order.")
    grad_arrays = property(lambda self: list(self.grad_dict.values()), doc="Gradients or `None`.")
    aux_arrays = property(lambda self: list(self.aux_dict.values()), doc="Auxiliary states.")

    @property
    def output_dict(self) -> Arrays:
        """The outputs by name."""
        return dict(zip(self._symbol.list_outputs(), self.outputs, strict=True))

    def forward(self, is_train: bool = False, **arrays: Any) -> list[Any]:
        """The outputs for what the arrays hold now.

        Args:
            is_train: whether layers such as dropout behave as they do while training.
            arrays: are written to the arguments of these names first.

        Raises:
            MXNetError: there is no such argument, or one is of another shape.
        """
        self.settle()
        self.fill(arrays)
        for cell, view in self._views:
            cell.assign(plain(view.read()))
        self._staged, self._trained, self._back = None, is_train, False
        if is_train and self._wanted and not self._heads_come:
            self._wait = tape.Waiting(self._run_step)
            for x in (*self.outputs, *self.aux_dict.values()):
                x.storage.waits_for = self._wait
        else:
            self._start = stream.position.value
            with training_mode(is_train):
                self._give(self._call("forward", self._outputs))
        if self._monitor is not None:
            self._report(self._monitor, is_train)
        return self.outputs

    def settle(self) -> None:
        """Run what waits."""
        if self._wait is not None:
            self._wait.run()

    def _run_step(self, update: Optional[Update] = None) -> None:
        """Run forward and backward, and the update, as one.

        Where gradients are not kept, those of what the update changes stay inside of the program.
        Who reads one afterwards is told so, once.
        """
        self._wait, self._start = None, stream.position.value
        key, change, numbers, used = update or ("both", None, (), ())
        used = () if self._keeps_grad else used
        kept = [n for n in self._wanted if id(self.arg_dict[n]) not in used]
        with training_mode(True):
            step = partial(self._both, change, kept)
            results = self._call((key, self._keeps_grad), step, *numbers)
        for x in self.aux_dict.values():  # from here on: a run that fails is waited for again
            x.storage.waits_for = None
        for name in self._wanted if self._back else ():
            waits = None if name in kept else tape.Lost(self)
            self.grad_dict[name].storage.waits_for = waits
        self._staged = self._give(results)
        if self._back:
            self._hand_out(kept, self._staged)

    def _give(self, results: Sequence[Any]) -> Sequence[Any]:
        """Put the outputs into their arrays; the other results."""
        for y, array in zip(self.outputs, results, strict=False):
            y.storage.fill(array)
        return results[len(self.outputs) :]

    def fill(self, arrays: Mapping[str, Any]) -> None:
        """Write arrays to the arguments of their names."""
        for name, x in arrays.items():
            if name not in self.arg_dict:
                raise unknown("the executor", name, self.arg_dict)
            target = self.arg_dict[name]
            shape = tuple(x.shape if hasattr(x, "shape") else np.shape(x))
            if shape != target.shape:
                raise MXNetError(
                    f"forward: {name!r} has shape {shape} and was bound with {target.shape}; "
                    f"executor.reshape({name}={shape}) makes one for it"
                )
            target[:] = x

    def backward(self, out_grads: Any = None) -> None:
        """The gradients of the last `forward(is_train=True)`, written or added to `grad_dict`.

        Args:
            out_grads: the gradient of each output, an array or a list; ones by default.

        Raises:
            MXNetError: the last forward was none of training.
        """
        if not self._trained:
            raise MXNetError("backward: call forward(is_train=True) first")
        self._heads_come = out_grads is not None
        grads = [self.grad_dict[n] for n in self._wanted]
        if self._wait is not None:
            plain_ones = all([g.storage.cell is None and g._base is None for g in grads])
            if out_grads is None and plain_ones and "add" not in self._reqs.values():
                self._back = True
                for g in grads:
                    g.storage.waits_for = self._wait
                return
            self._wait.run()
        staged = self._staged if out_grads is None else None
        staged = self._by_heads(out_grads) if staged is None and self._wanted else staged
        self._hand_out(self._wanted, staged)

    def _by_heads(self, out_grads: Any) -> Sequence[Any]:
        """The gradients, from those of the outputs; ones where there are none."""
        heads = list(out_grads) if isinstance(out_grads, (list, tuple)) else [out_grads]
        heads = [None] * len(self._types) if out_grads is None else heads
        pairs = zip(heads, self._types, strict=True)
        given = [full(t, 1) if g is None else plain(g.read()) for g, t in pairs]
        after, stream.position.value = stream.position.value, self._start
        with training_mode(True):
            results: Sequence[Any] = self._call("heads", self._from_heads, *given)
        stream.position.value = after
        return results

    def _hand_out(self, names: Sequence[str], results: Any) -> None:
        for name, dx in zip(names, results or (), strict=True):
            target = self.grad_dict[name]
            target.write(target.read() + dx if self._reqs[name] == "add" else dx)

    def update(self, updater: Any, rows: Sequence[tuple[Any, str]]) -> None:
        """Change arguments by their gradients.

        Args:
            updater: of an optimizer.
            rows: the index that the optimizer knows and the name of each argument.
        """
        if type(updater.optimizer).update is not Optimizer.update:
            for i, name in rows:
                updater(i, self.grad_dict[name], self.arg_dict[name])
            return
        update = planned(updater, [(i, self.arg_dict[n]) for i, n in rows])
        if self._wait is not None and self._back:
            self._wait.forget()
            self._run_step(update)
            return
        names = [n for _, n in rows]
        grads = tuple([plain(self.grad_dict[n].read()) for n in names])
        alone = partial(self._change, update.change, names)
        self._call(("update", update.key), alone, grads, *update.numbers)

    def _change(self, change: Any, names: Sequence[str], grads: Sequence[Any], *more: Any) -> None:
        by = {self.arg_dict[n]: NDArray(g) for n, g in zip(names, grads, strict=True)}
        change(by.__getitem__, *more)

    def _call(self, key: Any, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function as a program, which is made for the first call."""
        if key not in self._programs:
            shared = {"arena": self._memory[0]} if self._memory else {}
            self._programs[key] = compiled(function, **program_options(), **shared)
        with outside():
            results = self._programs[key](*args)
        if not self._memory:
            self._memory.append(self._programs[key].programs[0].arena)
        return results

    def _run(self, assign: bool = True) -> tuple[list[Any], dict[str, Any]]:
        """The outputs, and the arguments as the ops read them."""
        values = {(n, 0): ops.identity(cell.value) for n, cell in self._cells.items()}
        arguments = {n.name: values[n, 0] for n in self._cells}
        for n in self._nodes:
            if n.entry is not None:
                for v, new in run_node(n, values).items():
                    if assign and new is not values[v, 0]:
                        values[v, 0] = new  # a state may be that of several nodes
                        self._cells[v].assign(new)
        return [values[p] for p in self._symbol.places], arguments

    def _outputs(self) -> list[Any]:
        return self._run()[0]

    def _both(self, change: Any, kept: Sequence[str], *numbers: Any) -> list[Any]:
        ys, xs = self._run()
        dxs = dict(zip(self._wanted, self._pulled(ys, xs, None), strict=True))
        if change is not None:
            self._change(change, self._wanted, list(dxs.values()), *numbers)
        return [*ys, *[dxs[n] for n in kept]]

    def _from_heads(self, *heads: Any) -> list[Any]:
        return self._pulled(*self._run(assign=False), heads)

    def _pulled(self, ys: Sequence[Any], xs: Arrays, heads: Any) -> list[Any]:
        floats = [i for i, y in enumerate(ys) if y.type.dtype in FLOATS]
        dys = None if heads is None else [heads[i] for i in floats]
        wanted = [xs[k] for k in self._wanted]
        return list(gradients([ys[i] for i in floats], wanted, dys, unreachable="zeros"))

    def set_monitor_callback(self, callback: Callable[[str, Any], None]) -> None:
        """Call `callback(name, array)` with each output of each op after each forward."""
        self._monitor, self._keeps_grad = callback, True

    def _report(self, callback: Callable[[str, Any], None], is_train: bool) -> None:
        values = {(n, 0): plain(cell.value) for n, cell in self._cells.items()}
        self.settle()
        after, stream.position.value = stream.position.value, self._start
        with training_mode(is_train):
            for n in self._nodes:
                if n.entry is not None:
                    run_node(n, values)
                    for i, name in enumerate(n.output_names):
                        callback(name, NDArray(values[n, i], self._ctx))
        stream.position.value = after

    def copy_params_from(
        self, arg_params: Arrays, aux_params: Optional[Arrays] = None,
        allow_extra_params: bool = False,
    ) -> None:  # fmt: skip
        """Write parameters and auxiliary states by name.

        Raises:
            UnknownName: one is not there, unless `allow_extra_params`.
        """
        for own, arrays in ((self.arg_dict, arg_params), (self.aux_dict, aux_params or {})):
            for name, x in arrays.items():
                if name in own:
                    own[name][:] = x
                elif not allow_extra_params:
                    raise unknown("the executor", name, own)

    def debug_str(self) -> str:
        """The symbol, and the plan of each program."""
        programs = [p.explain() for f in self._programs.values() for p in f.programs]
        return "\n\n".join([self._symbol.debug_str(), *programs])


def _cell(array: Any, name: str) -> Cell:
    """The cell of an array; of a view one that gets its value before each run."""
    if array._base is None:
        return array.storage.as_cell(name)  # type: ignore[no-any-return]
    return Cell(plain(array.read()), name=name)


def full(type: TensorType, value: int = 0) -> Any:
    """An array of this type, all of whose elements are `value`."""
    return asarray(np.full(type.dims, value, numpy_dtype(type.dtype)))


def known_type(type: Optional[TensorType], name: str) -> TensorType:
    """The type, refused if it is not known.

    Raises:
        MXNetError: it is not; `name` is in the message.
    """
    if type is None:
        raise MXNetError(f"the shape of {name} does not follow from those of the arguments")
    return type
