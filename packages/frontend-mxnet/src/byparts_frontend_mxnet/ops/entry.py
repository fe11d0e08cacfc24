"""The one table of MXNet's ops, which `nd` and `sym` share.

An entry is a function of values (arrays or graph values, mixed): its positional arguments are the
inputs, its keywords the parameters with MXNet's defaults.  It gives one value or a tuple, and after
the outputs the next value of each auxiliary state.

    @op("Activation")
    def activation(data, *, act_type="relu"): ...
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from byparts_eager.dtype import our_name
from byparts_frontend_mxnet.errors import MXNetError, unknown

Dims = tuple[int, ...]
Parameters = Mapping[str, Any]
_IGNORED = ("workspace", "cudnn_off", "cudnn_tune", "num_args", "ctx")  # how MXNet computes it
REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "REQUIRED"})()


@dataclass(frozen=True)
class OpEntry:
    """An op.

    Attributes:
        name: MXNet's.
        function: as the module says; one argument `args` takes any number of inputs.
        inputs: their names in order, auxiliary states last.
        defaults: parameter -> its default, or `REQUIRED`.
        aux: which inputs are auxiliary states.
        shapes: (shape of the first input, parameters) -> shapes of inputs that are made
            automatically, by name.
        absent: parameters -> names of inputs that they switch off.
        outputs: parameters -> names of the outputs.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    defaults: Mapping[str, Any]
    aux: tuple[str, ...]
    shapes: Callable[[Dims, Parameters], Mapping[str, Dims]]
    absent: Callable[[Parameters], Sequence[str]]
    outputs: Callable[[Parameters], Sequence[str]]

    @property
    def variadic(self) -> bool:
        """Whether it takes any number of inputs."""
        return self.inputs == ("args",)

    def needed(self, parameters: Parameters) -> tuple[str, ...]:
        """The names of the inputs that it has with these parameters."""
        absent = self.absent(parameters)
        return tuple([name for name in self.inputs if name not in absent])

    def bind(
        self, args: Sequence[Any], keywords: Parameters, is_input: Callable[[Any], bool]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The inputs by name (of a variadic op "arg0", "arg1" and on), and all parameters.

        Args:
            args: inputs, then parameters in order; `None` leaves an input out.
            keywords: inputs and parameters by name.
            is_input: whether something is an input; else it is a parameter.

        Raises:
            MXNetError: too many arguments, a parameter is missing.
            UnknownName: a parameter that the op does not have.
        """
        if self.variadic:
            given = [x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]
            named = {k: x for k, x in keywords.items() if is_input(x)}
            rest = [x for x in given if not is_input(x)]
            inputs = {f"arg{i}": x for i, x in enumerate([x for x in given if is_input(x)])} | named
        else:
            inputs = {n: x for n, x in zip(self.inputs, args, strict=False) if x is not None}
            inputs |= {n: keywords[n] for n in self.inputs if keywords.get(n) is not None}
            rest = list(args[len(self.inputs) :])
        names = list(self.defaults)
        if len(rest) > len(names):
            raise MXNetError(
                f"{self.name}: {len(args)} arguments; it takes inputs "
                f"({', '.join(self.inputs)}) and parameters ({', '.join(names)})"
            )
        given_by_name = {k: v for k, v in keywords.items() if k not in inputs and v is not None}
        parameters = dict(self.defaults) | dict(zip(names, rest, strict=False))
        for name, value in given_by_name.items():
            if name not in self.defaults:
                if name in (*_IGNORED, *self.inputs):
                    continue
                raise unknown(f"op {self.name}", name, [*self.defaults, *self.inputs])
            parameters[name] = value
        for name, value in parameters.items():
            if value is REQUIRED:
                raise MXNetError(f"{self.name}: parameter {name!r} is missing; write {name}=...")
            parameters[name] = parsed(value, self.defaults[name])
        return inputs, parameters

    def __call__(self, inputs: Sequence[Any], parameters: Parameters) -> tuple[Any, ...]:
        """The outputs, then the next auxiliary states; `inputs` are those that `needed` names."""
        if self.variadic:
            result = self.function(*inputs, **parameters)
        else:
            named = dict(zip(self.needed(parameters), inputs, strict=True))
            result = self.function(*[named.get(n) for n in self.inputs], **parameters)
        return result if isinstance(result, tuple) else (result,)


table: dict[str, OpEntry] = {}


def op(
    *names: str,
    aux: Sequence[str] = (),
    shapes: Callable[[Dims, Parameters], Mapping[str, Dims]] = lambda dims, p: {},
    absent: Callable[[Parameters], Sequence[str]] = lambda p: ("bias",) if p.get("no_bias") else (),
    outputs: Callable[[Parameters], Sequence[str]] = lambda p: ("output",),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under MXNet's names; the first one is that of the entry."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        arguments = signature(function).parameters.values()
        inputs = tuple([a.name for a in arguments if a.kind is not a.KEYWORD_ONLY])
        keywords = {
            a.name: REQUIRED if a.default is a.empty else a.default
            for a in arguments
            if a.kind is a.KEYWORD_ONLY
        }
        how = (keywords, tuple(aux), shapes, absent, outputs)
        for name in names:
            assert name not in table, f"op {name} is registered twice"
            table[name] = OpEntry(names[0], function, inputs, *how)
        return function

    return register


def op_table(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Register functions under the names, parted by spaces, that are their keys."""
    for names, function in functions.items():
        op(*names.split())(function)


def find(name: str) -> OpEntry:
    """The entry of this name.

    Raises:
        UnknownName: there is none, with close names.
    """
    if name not in table:
        raise unknown("the table of MXNet's ops", name, table)
    return table[name]


def parsed(value: Any, default: Any) -> Any:
    """A parameter as Python has it: files of symbols keep "(2, 2)" and "True" as text."""
    if isinstance(value, str) and not isinstance(default, str):
        try:
            value = literal_eval(value)
        except (ValueError, SyntaxError):
            return value
    if isinstance(value, (list, tuple)):
        return tuple([parsed(v, None) for v in value])
    return value.item() if isinstance(value, np.generic) else value


def dtype_name(dtype: Any) -> str:
    """The name in types of the graph of a dtype as MXNet's programs write it."""
    return our_name("float32" if dtype is None else np.dtype(dtype).name)


def pair(value: Any, count: int, default: int = 0) -> Dims:
    """`count` numbers, of a number, as many, or an empty tuple."""
    if isinstance(value, int):
        return (value,) * count
    return tuple(value) or (default,) * count
