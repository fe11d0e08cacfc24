"""`Block` and `HybridBlock`: modules with names, parameters and children."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Optional

from byparts_eager import compile as compiled
from byparts_eager.state import state
from byparts_frontend_mxnet import nd, tape
from byparts_frontend_mxnet.context import Context, program_options
from byparts_frontend_mxnet.errors import DeferredInitializationError
from byparts_frontend_mxnet.gluon.parameter import Deferred, Parameter, ParameterDict, Version
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.nd.storage import plain


class _Scope:
    """The name scope of a block: names of blocks that are made inside begin with its prefix."""

    current: Optional[_Scope] = None
    counts: dict[str, int] = {}  # noqa: RUF012  # of blocks outside of any scope

    def __init__(self, block: Block) -> None:
        self._block, self._counts = block, dict[str, int]()
        self._before: list[Optional[_Scope]] = []

    @staticmethod
    def named(prefix: Optional[str], params: Any, hint: str) -> tuple[str, ParameterDict]:
        """The prefix and the parameters of a new block."""
        current = _Scope.current
        if prefix is None:
            counts = _Scope.counts if current is None else current._counts
            number = counts.get(hint, 0)
            counts[hint] = number + 1
            prefix = f"{hint}{number}_"
        outer = "" if current is None else current._block.prefix
        if params is not None:
            return outer + prefix, ParameterDict(params.prefix, params)
        shared = None if current is None else current._block._params._shared
        return outer + prefix, ParameterDict(outer + prefix, shared)

    def __enter__(self) -> _Scope:
        self._before.append(_Scope.current)
        if self._block._has_scope:
            _Scope.current = self
        return self

    def __exit__(self, *raised: Any) -> None:
        _Scope.current = self._before.pop()


class Block:
    """A module: subclass with `forward`; blocks and parameters that are fields belong to it.

    Args:
        prefix: of the names of its parameters; "dense0_" and so on by default.
        params: a dict whose parameters it shares.
    """

    def __init__(
        self, prefix: Optional[str] = None, params: Optional[ParameterDict] = None
    ) -> None:
        self._has_scope = prefix != ""
        self._prefix, self._params = _Scope.named(prefix, params, self._alias())
        self._scope = _Scope(self)
        self._children: list[Block] = []
        self._reg_params: dict[str, Parameter] = {}

    prefix = property(lambda self: self._prefix, doc="What its names begin with.")
    name = property(lambda self: self._prefix.removesuffix("_"), doc="Its prefix without the end.")
    params = property(lambda self: self._params, doc="Its own parameters.")

    def _alias(self) -> str:
        return type(self).__name__.lower()

    def name_scope(self) -> _Scope:
        """A context in which new blocks have names that begin with its prefix."""
        return self._scope

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Block):
            old = self.__dict__.get(name)
            if isinstance(old, Block) and old in self._children:
                self._children[self._children.index(old)] = value
            else:
                self.register_child(value)
        elif isinstance(value, Parameter):
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def register_child(self, block: Block) -> None:
        """Let a block belong to this one."""
        self._children.append(block)
        self._forget()

    def _forget(self) -> None:
        """Forget what was compiled: what it computes may have changed."""

    def collect_params(self, select: Optional[str] = None) -> ParameterDict:
        """All parameters, its own and those of its children; or those whose name `select` fits."""
        found = ParameterDict(self._params.prefix)
        pattern = re.compile(select or "")
        own = {p.name: p for p in (*self._params.values(), *self._reg_params.values())}
        found.update({n: p for n, p in own.items() if pattern.match(n)})
        for child in self._children:
            found.update(child.collect_params(select))
        return found

    def initialize(
        self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False
    ) -> None:
        """Give all parameters first values."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def save_params(self, filename: str) -> None:
        """Write all parameters to a file; names are without the prefix of this block."""
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> None:
        """Read all parameters from a file."""
        how = (ctx, allow_missing, ignore_extra)
        self.collect_params().load(filename, *how, restore_prefix=self.prefix)

    save_parameters, load_parameters = save_params, load_params

    def hybridize(self, active: bool = True, **how: Any) -> None:
        """Let all hybrid blocks inside run as programs; `how` (static_alloc...) is MXNet's."""
        for child in self._children:
            child.hybridize(active)

    def cast(self, dtype: Any) -> None:
        """Compute in another dtype from now on; before `initialize`."""
        for p in self.collect_params().values():
            p.dtype = dtype

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call a function on all children, then on this block."""
        for child in self._children:
            child.apply(fn)
        fn(self)
        return self

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)

    def forward(self, *args: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks forward(self, x)")

    def __repr__(self) -> str:
        rows = [(k, v) for k, v in self.__dict__.items() if isinstance(v, Block)]
        rows = rows or list(zip(map(str, range(len(self._children))), self._children, strict=True))
        lines = [f"  ({k}): " + repr(v).replace("\n", "\n  ") for k, v in rows]
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)" if lines else self._line()

    def _line(self) -> str:
        return f"{type(self).__name__}({self.name})"


class HybridBlock(Block):
    """A block of ops alone: subclass with `hybrid_forward(F, x, **parameters)`; F is nd or sym.

    After `hybridize()` it runs as one program; while recording it waits, so that the backward pass
    and the update of a `Trainer` are part of the same program (`tape.py`).
    """

    _active = False
    _program: Any = None

    def hybridize(self, active: bool = True, **how: Any) -> None:
        """Let it run as a program from now on, or not."""
        self._active = active
        self._forget()
        super().hybridize(active)

    def _forget(self) -> None:
        self._program = None

    def __call__(self, *args: Any) -> Any:
        is_plain = all([x.__class__ is NDArray for x in args])
        if is_plain and not tape.runs_at_once() and (self._active or _wait(args)):
            if self._program is None:
                self._program = _Program(self)
            return self._program(args)
        with _on([x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]):
            return self.forward(*args)

    def forward(self, x: Any, *args: Any) -> Any:
        if isinstance(x, NDArray):
            data = {k: _data(p, x) for k, p in self._reg_params.items()}
            return self.hybrid_forward(nd, x, *args, **data)
        from byparts_frontend_mxnet import symbol  # which not every program needs

        variables = {k: p.var() for k, p in self._reg_params.items()}
        return self.hybrid_forward(symbol, x, *args, **variables)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks hybrid_forward(self, F, x)")

    def infer_shape(self, *args: Any) -> None:
        """Find the shapes that parameters leave open, for a call on these arrays."""
        tape.types_of(self, self.forward, args)

    def export(self, path: str) -> None:
        """Write the graph to path-symbol.json and the parameters to path-0000.params."""
        from byparts_frontend_mxnet import symbol  # which not every program needs

        graph = self(symbol.Variable("data"))
        graph.save(f"{path}-symbol.json")
        aux = set(graph.list_auxiliary_states())
        named = {f"{'aux' if n in aux else 'arg'}:{n}": p for n, p in self.collect_params().items()}
        nd.save(f"{path}-0000.params", {n: p.data() for n, p in named.items()})


def _wait(args: Any) -> bool:
    """Whether something waits while recording: what is computed from it may wait, too."""
    return state.recorders > 0 and any([x.storage.waits_for is not None for x in args])


def _data(p: Parameter, x: NDArray) -> NDArray:
    """The weights on the device of x; what stands for them until their shape is known."""
    try:
        return p.data(x.context)
    except DeferredInitializationError:
        return Deferred(p)


class _on:  # noqa: N801  # read as `with _on(arrays):`
    """New arrays are on the device of the first of these."""

    def __init__(self, arrays: Any) -> None:
        self._context = arrays[0].context if arrays and isinstance(arrays[0], NDArray) else None

    def __enter__(self) -> None:
        if self._context is not None:
            self._context.__enter__()

    def __exit__(self, *raised: Any) -> None:
        if self._context is not None:
            self._context.__exit__()


class _Program:
    """A hybridized block: it waits while recording, else it runs as a program."""

    def __init__(self, block: HybridBlock) -> None:
        self._block = block
        self._parameters = list(block.collect_params().values())
        self._variables: dict[Context, tuple[int, list[NDArray]]] = {}  # by device, of a version
        self._run = compiled(self._values, **program_options())

    def __call__(self, args: Any) -> Any:
        context = args[0].context
        version, variables = self._variables.get(context, (-1, []))
        if version != Version.number:
            if any([p._deferred is not None for p in self._parameters]):
                self._block.infer_shape(*args)
            data = [p.data(context) for p in self._parameters]
            variables = [x for x in data if x.grad_req != "null"]
            self._variables[context] = Version.number, variables
        if state.recorders:
            return tape.defer((self, context), partial(self._forward, context), args, variables)
        results = self._run(context, *[x.read() for x in args])
        if isinstance(results, tuple):
            return [NDArray(y, context) for y in results]
        return NDArray(results, context)

    def _forward(self, context: Context, *args: NDArray) -> Any:
        for x in args:
            x.context = context  # traced ones have none of their own
        with context:
            return self._block.forward(*args)

    def _values(self, context: Context, *values: Any) -> Any:
        result = self._forward(context, *[NDArray(v) for v in values])
        if isinstance(result, (list, tuple)):
            return tuple([y.read() for y in result])
        return result.read()


class SymbolBlock(HybridBlock):
    """A block around the graph of a symbol; its arguments but the inputs are parameters."""

    def __init__(self, outputs: Any, inputs: Any, params: Optional[ParameterDict] = None) -> None:
        super().__init__(prefix="")
        self._params = ParameterDict("", params)  # names of the symbol are whole names
        from byparts_frontend_mxnet import symbol  # which not every program needs

        self._outputs = symbol.Group(outputs) if isinstance(outputs, (list, tuple)) else outputs
        given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        self._inputs = [x.name for x in given]
        for name in self._outputs.list_arguments():
            if name not in self._inputs:
                self._reg_params[name] = self.params.get(name, allow_deferred_init=True)
        for name in self._outputs.list_auxiliary_states():
            how = {"grad_req": "null", "allow_deferred_init": True}
            self._reg_params[name] = self.params.get(name, **how)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        named = dict(zip(self._inputs, (x, *args), strict=True)) | kwargs
        if F is nd:
            return self._computed(named, x.context)
        return self._outputs(**named)

    def _computed(self, named: dict[str, Any], context: Any) -> Any:
        """The outputs for these arrays; auxiliary states are written."""
        from byparts_frontend_mxnet.symbol.infer import run_node  # which not every program needs

        nodes, known = self._outputs.nodes(), {n: named[n].shape for n in self._inputs}
        if any([isinstance(x, Deferred) for x in named.values()]):
            arguments, _, aux = self._outputs.infer_shape_partial(**known)
            names = self._outputs.list_arguments() + self._outputs.list_auxiliary_states()
            for n, shape in zip(names, arguments + aux, strict=True):
                if isinstance(named[n], Deferred):
                    named[n] = named[n].find_shape(shape, "SymbolBlock")
        values = {(n, 0): named[n.name].read() for n in nodes if n.entry is None}
        for n in [n for n in nodes if n.entry is not None]:
            for variable, new in run_node(n, values).items():
                if new is not values[variable, 0]:
                    named[variable.name].storage.set(plain(new))
        results = [NDArray(values[p], context) for p in self._outputs.places]
        return results[0] if len(results) == 1 else results
