"""`Symbol`: outputs of a graph of ops and variables, to be bound to arrays and run.

A symbol is a value: composing makes new nodes and changes none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union

from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.name import new_name, scope_attributes
from byparts_frontend_mxnet.ops.entry import OpEntry, find, table

Place = tuple["Node", int]  # an output of a node


class Node:
    """A variable (`entry` is `None`) or an op on outputs of other nodes.

    Attributes:
        op: the name of the op in MXNet, "null" of a variable.
        entry: the op.
        name: of the node; its outputs are named after it.
        inputs: in the order of `entry.needed(parameters)`.
        parameters: of the op, all of them.
        attributes: texts that users and blocks gave it.
    """

    __slots__ = ("attributes", "entry", "inputs", "name", "op", "parameters")

    def __init__(
        self, op: str, name: str, inputs: Sequence[Place], parameters: Mapping[str, Any],
        attributes: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.op, self.name, self.inputs = op, name, tuple(inputs)
        self.entry: Optional[OpEntry] = None if op == "null" else _entry(op, parameters)
        self.parameters, self.attributes = dict(parameters), dict(attributes)

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs, of the op."""
        assert self.entry is not None, "a variable has no inputs"
        if self.entry.variadic:
            return tuple([f"arg{i}" for i in range(len(self.inputs))])
        return self.entry.needed(self.parameters)

    @property
    def output_names(self) -> list[str]:
        """The names of its outputs."""
        if self.entry is None:
            return [self.name]
        return [f"{self.name}_{n}" for n in self.entry.outputs(self.parameters)]

    @property
    def aux(self) -> list[Node]:
        """The variables that are its auxiliary states."""
        if self.entry is None or not self.entry.aux:
            return []
        pairs = zip(self.input_names, self.inputs, strict=True)
        return [node for name, (node, _) in pairs if name in self.entry.aux]

    def texts(self) -> dict[str, str]:
        """The parameters that are no defaults, and the attributes, as texts."""
        defaults = {} if self.entry is None else self.entry.defaults
        given = {k: v for k, v in self.parameters.items() if k not in defaults or v != defaults[k]}
        return {**{k: str(v) for k, v in given.items()}, **self.attributes}


def _binary(op: str, hint: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """An operator: an op of two symbols, or of a symbol and a number."""

    def operate(self: Symbol, other: Any) -> Any:
        if isinstance(other, Symbol):
            return apply(op, self, other, hint=f"_{hint}")
        if not hasattr(other, "__float__") or getattr(other, "ndim", None):
            return NotImplemented
        scalar = f"_{'r' if swapped else ''}{hint}_scalar"
        return apply(scalar, self, scalar=float(other), hint=scalar.replace("_scalar", "scalar"))

    return operate


def _both_ways(op: str, hint: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    return _binary(op, hint), _binary(op, hint, swapped=True)


def _entry(op: str, parameters: Mapping[str, Any]) -> OpEntry:
    """The entry of an op; of `Custom` that of the class that is registered as its `op_type`."""
    if op != "Custom":
        return find(op)
    from byparts_frontend_mxnet.operator import custom_entry  # which needs arrays

    own = {k: v for k, v in parameters.items() if k != "op_type"}
    return custom_entry(parameters.get("op_type", ""), own)


class Symbol:
    """Outputs of nodes; operators and ops make symbols of symbols."""

    # Given by the modules that compute them, `infer.py` and `binding.py`.
    infer_shape: Any
    infer_shape_partial: Any
    infer_type: Any
    bind: Any
    simple_bind: Any
    eval: Any

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = tuple(places)

    @property
    def name(self) -> Optional[str]:
        """The name of the node; `None` of outputs of several."""
        return self.places[0][0].name if len(self.places) == 1 or self._is_one() else None

    def _is_one(self) -> bool:
        return len({node for node, _ in self.places}) == 1

    def nodes(self) -> list[Node]:
        """All nodes that it depends on, inputs before users.  O(nodes), not recursive."""
        order: dict[Node, None] = {}
        stack = [(node, False) for node, _ in reversed(self.places)]
        while stack:
            node, ready = stack.pop()
            if node in order:
                continue
            if ready:
                order[node] = None
            else:
                stack.append((node, True))
                stack += [(x, False) for x, _ in reversed(node.inputs)]
        return list(order)

    def variables(self) -> tuple[list[Node], list[Node]]:
        """The variables that are arguments, and those that are auxiliary states."""
        nodes = self.nodes()
        aux = dict.fromkeys(v for n in nodes for v in n.aux)
        return [n for n in nodes if n.entry is None and n not in aux], list(aux)

    def list_arguments(self) -> list[str]:
        """The names of the arguments: data, weights and labels."""
        return [n.name for n in self.variables()[0]]

    def list_auxiliary_states(self) -> list[str]:
        """The names of states that running changes, as a running mean."""
        return [n.name for n in self.variables()[1]]

    def list_inputs(self) -> list[str]:
        """The names of all variables."""
        return [n.name for n in self.nodes() if n.entry is None]

    def list_outputs(self) -> list[str]:
        """The names of the outputs, as in `fc1_output`."""
        return [node.output_names[i] for node, i in self.places]

    def get_internals(self) -> Symbol:
        """The outputs of all nodes, as one symbol."""
        return Symbol([(n, i) for n in self.nodes() for i in range(len(n.output_names))])

    def get_children(self) -> Optional[Symbol]:
        """The inputs of its nodes; `None` of a variable."""
        places = [p for node in dict.fromkeys(n for n, _ in self.places) for p in node.inputs]
        return Symbol(places) if places else None

    def __getitem__(self, index: Union[int, str, slice]) -> Symbol:
        if isinstance(index, str):
            names = self.list_outputs()
            if index not in names:
                raise unknown(f"the symbol {self.name or 'group'}", index, names)
            index = names.index(index)
        chosen = self.places[index]
        return Symbol(chosen if isinstance(index, slice) else [chosen])  # type: ignore[list-item,arg-type]

    def __iter__(self) -> Iterator[Symbol]:
        return iter([Symbol([p]) for p in self.places])

    def __len__(self) -> int:
        return len(self.places)

    __hash__ = object.__hash__  # == makes a symbol
    __add__ = __radd__ = _binary("elemwise_add", "plus")
    __mul__ = __rmul__ = _binary("elemwise_mul", "mul")
    __sub__, __rsub__ = _both_ways("elemwise_sub", "minus")
    __truediv__, __rtruediv__ = _both_ways("elemwise_div", "div")
    __mod__, __rmod__ = _both_ways("_mod", "mod")
    __pow__, __rpow__ = _both_ways("_power", "power")
    __gt__, __ge__ = _binary("_greater", "greater"), _binary("_greater_equal", "greater_equal")
    __lt__, __le__ = _binary("_lesser", "lesser"), _binary("_lesser_equal", "lesser_equal")
    __eq__, __ne__ = _binary("_equal", "equal"), _binary("_not_equal", "not_equal")

    def __neg__(self) -> Any:
        return apply("_mul_scalar", self, scalar=-1.0)

    def __repr__(self) -> str:
        return f"<Symbol {self.name or 'group [' + ', '.join(self.list_outputs()) + ']'}>"

    def attr(self, key: str) -> Optional[str]:
        """The attribute or parameter of this name, as text."""
        return self.places[0][0].texts().get(key)

    def list_attr(self) -> dict[str, str]:
        """The attributes and parameters of its node."""
        return self.places[0][0].texts()

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes and parameters of all nodes that have some, by name."""
        return {n.name: n.texts() for n in self.nodes() if n.texts()}

    def _set_attr(self, **attributes: str) -> None:
        self.places[0][0].attributes.update(attributes)

    def __call__(self, *args: Symbol, name: Optional[str] = None, **keywords: Symbol) -> Symbol:
        """The same computation of other inputs: symbols in the places of variables.

        Args:
            args: for the arguments, in order; or keywords, by name.
            name: of the node that gives the result.
            keywords: symbols by the names of variables.
        """
        names = self.list_arguments()
        given = {**dict(zip(names, args, strict=False)), **keywords}
        for key in given:
            if key not in names:
                raise unknown(f"the symbol {self.name}, to be composed,", key, names)
        copies: dict[Node, Place] = {}
        for n in self.nodes():
            if n.entry is None and n.name in given:
                copies[n] = given[n.name].places[0]
                continue
            inputs = [copies[x] if x.entry is None else (copies[x][0], i) for x, i in n.inputs]
            changed = any(a[0] is not b[0] for a, b in zip(inputs, n.inputs, strict=True))
            last = name is not None and n is self.places[0][0]
            new = Node(n.op, str(name) if last else n.name, inputs, n.parameters, n.attributes)
            copies[n] = (new if changed or last else n), 0
        return Symbol([copies[n] if n.entry is None else (copies[n][0], i) for n, i in self.places])

    def tojson(self) -> str:
        """The graph as JSON of MXNet 1.0."""
        nodes = self.nodes()
        ids = {n: i for i, n in enumerate(nodes)}
        rows = []
        for n in nodes:
            row: dict[str, Any] = {"op": n.op, "name": n.name}
            texts = n.texts()
            row |= {"attrs": texts} if texts else {}
            rows.append(row | {"inputs": [[ids[x], i, 0] for x, i in n.inputs]})
        ends = [0]
        for n in nodes:
            ends.append(ends[-1] + len(n.output_names))
        content = {
            "nodes": rows,
            "arg_nodes": [i for n, i in ids.items() if n.entry is None],
            "node_row_ptr": ends,
            "heads": [[ids[n], i, 0] for n, i in self.places],
            "attrs": {"mxnet_version": ["int", 10000]},
        }
        return json.dumps(content, indent=2)

    def save(self, fname: str) -> None:
        """Write it to a file, as JSON."""
        with open(fname, "w", encoding="utf-8") as file:
            file.write(self.tojson())

    def __reduce__(self) -> tuple[Callable[[str], Symbol], tuple[str]]:
        return load_json, (self.tojson(),)

    def __copy__(self) -> Symbol:
        return self()

    def __deepcopy__(self, memo: object) -> Symbol:
        return load_json(self.tojson())

    def debug_str(self) -> str:
        """A line for each node: its op, its name, its inputs, its parameters."""
        lines = [f"Symbol Outputs:\n\toutput[{i}]={n}" for i, n in enumerate(self.list_outputs())]
        for n in self.nodes():
            inputs = ", ".join(x.output_names[i] for x, i in n.inputs)
            kind = f"Op:{n.op}, Name={n.name}" if n.entry else f"Variable:{n.name}"
            texts = "".join(f", {k}={v}" for k, v in n.texts().items())
            lines.append(f"{kind}{f', Inputs: {inputs}' if inputs else ''}{texts}")
        return "\n".join(lines)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in table:
            raise unknown(
                f"a symbol ({object.__repr__(self)[:40]}...)", name, [*table, *dir(type(self))]
            )
        return lambda *args, **keywords: apply(name, self, *args, **keywords)


def variable(
    name: str, attr: Optional[Mapping[str, str]] = None, shape: Optional[Sequence[int]] = None,
    lr_mult: Optional[float] = None, wd_mult: Optional[float] = None, dtype: Any = None,
    init: Any = None, **attributes: str,
) -> Symbol:  # fmt: skip
    """A free variable, to which an array is bound.

    Args:
        name: of the array.
        attr: attributes, as texts.
        shape: known before it is bound; 0 stands for what is not.
        lr_mult: factor of the learning rate.
        wd_mult: factor of the weight decay.
        dtype: of the array.
        init: an initializer, or its text, which the arrays of this variable get.
        attributes: more, named `__like_this__`.
    """
    if not isinstance(name, str):
        raise MXNetError(f"Variable: the name is a text, and here is {name!r:.60}")
    known = {
        "shape": shape and tuple(shape),
        "lr_mult": lr_mult,
        "wd_mult": wd_mult,
        "dtype": dtype,
    }
    known["init"] = init.dumps() if hasattr(init, "dumps") else init
    texts = {f"__{k}__": str(v) for k, v in known.items() if v is not None}
    return Symbol(
        [(Node("null", name, (), {}, {**scope_attributes(attr), **texts, **attributes}), 0)]
    )


def group(symbols: Sequence[Symbol]) -> Symbol:
    """A symbol with the outputs of several."""
    if not symbols or not all(isinstance(s, Symbol) for s in symbols):
        raise MXNetError(f"Group takes a list of symbols, and here is {symbols!r:.60}")
    return Symbol([p for s in symbols for p in s.places])


def apply(
    op: str, /, *args: Any, name: Optional[str] = None, attr: Any = None, hint: str = "",
    **keywords: Any,
) -> Symbol:  # fmt: skip
    """An op of symbols; inputs that are missing become variables named after it.

    Raises:
        MXNetError: arguments that the op does not take, or an input with several outputs.
    """
    extra = {k: keywords.pop(k) for k in list(keywords) if k.startswith("__")}
    own = {k: v for k, v in keywords.items() if not isinstance(v, Symbol)}
    entry = _entry(op, own)
    given, parameters = entry.bind(
        args, {k: v for k, v in keywords.items() if op != "Custom" or k not in own}, _is_symbol
    )
    parameters |= own if op == "Custom" else {}
    name = new_name(name, hint or op.lower())
    needed = tuple(given) if entry.variadic else entry.needed(parameters)
    places = []
    for key in needed:
        x = given[key] if key in given else variable(f"{name}_{key}")
        if not isinstance(x, Symbol) or len(x.places) != 1:
            raise MXNetError(
                f"{op}: input {key!r} is {x!r:.80}; give a symbol of one output, as x[0]"
            )
        places.append(x.places[0])
    node = Node(op, name, places, parameters, {**scope_attributes(attr), **extra})
    return Symbol([(node, i) for i in range(len(node.output_names))])


def _is_symbol(x: Any) -> bool:
    return isinstance(x, Symbol)


def load_json(text: str) -> Symbol:
    """A symbol from MXNet's JSON (of versions 0.8 to 1.x).

    Raises:
        MXNetError: it is none.
    """
    try:
        content = json.loads(text)
        rows, heads = content["nodes"], content["heads"]
    except (ValueError, KeyError, TypeError) as error:
        raise MXNetError(
            f"no symbol in JSON: {error!r:.80}; it begins with {text[:40]!r}"
        ) from None
    nodes: list[Node] = []
    for row in rows:
        texts = {**row.get("param", {}), **row.get("attr", {}), **row.get("attrs", {})}
        inputs = [(nodes[i], k) for i, k, *_ in row["inputs"]]
        attributes = {k: v for k, v in texts.items() if k.startswith("__")}
        if row["op"] == "null":
            nodes.append(Node("null", row["name"], (), {}, texts))
            continue
        own = {k: v for k, v in texts.items() if k not in attributes}
        parameters = own
        if row["op"] != "Custom":
            _, parameters = find(row["op"]).bind((), own, _is_symbol)
        nodes.append(Node(row["op"], row["name"], inputs, parameters, attributes))
    return Symbol([(nodes[i], k) for i, k, *_ in heads])


def load(fname: str) -> Symbol:
    """A symbol from a file of JSON."""
    with open(fname, encoding="utf-8") as file:
        return load_json(file.read())
