"""From tensor expressions to loops: one nest for each rule, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import Expr, ExpressionError, const, variable
from byparts_tensor_ir.functions import select
from byparts_tensor_ir.statement import Buffer, For, Func, If, Statement, Store, walk
from byparts_tensor_ir.substitute import (
    buffers_replaced,
    expressions,
    in_statements,
    loads,
    renewed,
    subexpressions,
    substituted,
    variables,
)
from byparts_tensor_ir.tensor import Reduction, Tensor, identity_values


def lower(
    params: Sequence[Buffer], name: str = "main", names: Mapping[Buffer, str] | None = None
) -> Func:
    """The function that computes those of its parameters that have a rule.

    Each rule becomes one perfect nest of serial loops, `NAME_axis` for each axis, around one store.
    Tensors that are read and are not parameters become local buffers.

    Args:
        params: placeholders and computed tensors, in the order of the call.
        name: of the function.
        names: of the tensors, if not `tensor_names(params)`.

    Raises:
        ExpressionError: a placeholder is read that is not a parameter, or a buffer has the name of
            a size, or two axes of a rule have one name.
    """
    order = computation_order(params)
    names = tensor_names(order) if names is None else names
    outputs = tuple([p for p in params if isinstance(p, Tensor) and _computed(p)])
    body: list[Statement] = []
    known = set(params)
    for tensor in order:
        if not _computed(tensor) and tensor not in known:
            raise ExpressionError(
                f"{tensor} is read and is neither computed nor a parameter of {name}"
            )
        body += _nest_of(tensor, names)
    locals = [t for t in order if _computed(t) and t not in known]
    func = Func(name, tuple(params), outputs, _sizes(params, body), tuple(body), tuple(locals))
    func = _renamed(func, {b: replace(b, name=names[b]) for b in order if names[b] != b.name})
    _check_names(func)
    return func


def computation_order(params: Sequence[Buffer]) -> list[Tensor]:
    """The tensors that are needed, placeholders included, each after all that its rule reads."""
    order: list[Tensor] = []
    for p in params:
        _visit(p, order, ())
    return order


def tensor_names(order: Sequence[Tensor]) -> dict[Buffer, str]:
    """A name for each tensor: its own, with a number where an earlier tensor has that name."""
    names: dict[Buffer, str] = {}
    used: set[str] = set()
    for tensor in order:
        r = tensor.recurrence
        for one in (tensor,) if r is None else (r.init, r.update, tensor):
            name, k = one.name, 1
            while name in used:
                name, k = f"{one.name}{k}", k + 1
            used.add(name)
            names[one] = name
    return names


def _renamed(func: Func, by: dict[Buffer, Buffer]) -> Func:
    """The function with these buffers in place of others."""
    if not by:
        return func
    params, outputs, locals = (
        tuple([by.get(b, b) for b in buffers])
        for buffers in (func.params, func.outputs, func.locals)
    )
    body = buffers_replaced(func.body, by)
    return replace(func, params=params, outputs=outputs, locals=locals, body=body)


def _computed(tensor: Buffer) -> bool:
    return isinstance(tensor, Tensor) and (tensor.rule is not None or tensor.recurrence is not None)


def _visit(tensor: Buffer, order: list[Tensor], hidden: tuple[Buffer, ...]) -> None:
    """Append the tensor after all that its rule reads."""
    if not isinstance(tensor, Tensor) or tensor in order or tensor in hidden:
        return
    if tensor.recurrence is not None:
        r = tensor.recurrence
        for inner in (r.init, r.update):
            for read in _reads(inner):
                _visit(read, order, (*hidden, r.state))
    for read in _reads(tensor):
        _visit(read, order, hidden)
    for one in tensor.group or (tensor,):
        if one not in order:
            order.append(one)


def _reads(tensor: Tensor) -> list[Buffer]:
    rules = [t.rule for t in tensor.group if t.rule is not None]
    buffers: dict[Buffer, None] = {}
    for rule in rules:
        values = (rule,) if isinstance(rule, Expr) else (*rule.values, rule.where)
        for value in [v for v in values if v is not None]:
            buffers.update(dict.fromkeys(load.attr for load in loads(value)))
    return list(buffers)


def _nest_of(tensor: Tensor, names: Mapping[Buffer, str]) -> tuple[Statement, ...]:
    """The loops that compute a tensor, with those of its group that share a reduction."""
    if tensor.recurrence is not None:
        return _scan_nest(tensor, names)
    rule, loops = tensor.rule, loop_names(tensor, names)
    if rule is None:
        return ()
    if isinstance(rule, Expr):
        store = Store(names[tensor], (tensor,), tensor.axes, (rule,))
        return _nest(tensor.axes, store, loops)
    if tensor.group[0] is not tensor:
        return ()
    values = rule.values
    if rule.where is not None:
        identity = identity_values(rule.reducer, tensor.group)
        values = tuple(select(rule.where, v, i) for v, i in zip(values, identity, strict=True))
    block = block_name(tensor, names)
    store = Store(block, tensor.group, tensor.axes, values, rule.reducer, rule.axes, True)
    return _nest((*tensor.axes, *rule.axes), store, loops)


def block_name(tensor: Tensor, names: Mapping[Buffer, str]) -> str:
    """The block that computes a tensor; a reduction computes all tensors of its group."""
    if isinstance(tensor.rule, Reduction) and len(tensor.group) > 1:
        return names[tensor.group[0]][:-1]
    return names[tensor]


def loop_names(tensor: Tensor, names: Mapping[Buffer, str]) -> dict[Expr, str]:
    """The name of the loop of each axis of a tensor's rule."""
    block = block_name(tensor, names)
    name = tensor.name if len(tensor.group) < 2 else tensor.name[:-1]
    loops = {a: block + a.attr.name.removeprefix(name) for a in tensor.axes}
    if isinstance(tensor.rule, Reduction):
        loops |= {a: f"{block}_{a.attr.name}" for a in tensor.rule.axes}
    return loops


def _nest(axes: Sequence[Expr], store: Store, names: Mapping[Expr, str]) -> tuple[Statement, ...]:
    """The store inside a loop for each axis, with variables of its own."""
    own = {a: renewed(a, name=names[a]) for a in axes}
    body: tuple[Statement, ...] = in_statements([store], own)
    for a in reversed(axes):
        body = (For(own[a], body),)
    return body


def _scan_nest(tensor: Tensor, names: Mapping[Buffer, str]) -> tuple[Statement, ...]:
    """Init rows, then the update for each later row; all in the buffer of the scan."""
    r = tensor.recurrence
    assert r is not None
    if isinstance(r.init.rule, Reduction) or isinstance(r.update.rule, Reduction):
        raise ExpressionError(f"{tensor.name}: the rules of a scan may not be reductions")
    first = buffers_replaced(_nest_of(r.init, names), {r.init: tensor})
    time, begin = r.update.axes[0], r.init.shape[0]
    if begin.op != "const":
        raise ExpressionError(f"{tensor.name}: the number of first rows {begin} is not a number")
    later = variable(time.attr.name, tensor.shape[0] - begin, begin.attr)
    rule = substituted(r.update.rule, {time: later})  # type: ignore[arg-type]  # no reduction
    axes = (later, *r.update.axes[1:])
    loops = loop_names(r.update, names)
    loops[later] = loops[time]
    nest = _nest(axes, Store(names[tensor], (tensor,), axes, (rule,)), loops)
    return (*first, *buffers_replaced(nest, {r.state: tensor}))


def _sizes(params: Sequence[Buffer], body: Sequence[Statement]) -> tuple[Expr, ...]:
    """The free size variables, in the order in which the shapes of parameters mention them."""
    places = [d for p in params for d in p.shape]
    places += [e for s in walk(body) for e in expressions(s)]
    sizes: dict[Expr, None] = {}
    for place in places:
        for x in subexpressions(place):
            if x.op == "var" and x.attr.extent is None:
                sizes[x] = None
    return tuple(sizes)


def _check_names(func: Func) -> None:
    seen: set[str] = set()
    names_of: list[Expr | Buffer] = [*func.sizes, *func.params, *func.locals]
    for what in names_of:
        name = what.name if isinstance(what, Buffer) else str(what)
        if name in seen or not name.isidentifier():
            raise ExpressionError(
                f"{func.name}: the name {name!r} stands twice or is no identifier"
            )
        seen.add(name)
    names = [s.name for s in walk(func.body) if isinstance(s, For)]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        raise ExpressionError(f"{func.name}: loops of one name: {', '.join(sorted(twice))}")


def placed_identities(func: Func) -> Func:
    """Each reduction's targets hold its identity before the first combination.

    The store of the identity goes before the outermost loop that belongs to the reduction, with
    loops of its own for those further inside that the target's index needs.
    """
    return replace(func, body=_placed(func.body))


def _placed(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, For):
            begun = [x for x in _beginning(s) if s.var in _reduced(x)]
            for store in begun:
                out += identity_nest(s, store)
            body = _finished(s.body, begun)
            out.append(replace(s, body=_placed(body)))
        elif isinstance(s, If):
            out.append(replace(s, body=_placed(s.body)))
        elif isinstance(s, Store) and s.begins:
            out.append(_identity(s))
            out.append(replace(s, begins=False))
        else:
            out.append(s)
    return tuple(out)


def _beginning(loop: For) -> list[Store]:
    return [s for s in walk(loop.body) if isinstance(s, Store) and s.begins]


def _reduced(store: Store) -> set[Expr]:
    """The loop variables that belong to the reduction."""
    return {x for e in store.over for x in variables(e)}


def _identity(store: Store) -> Store:
    assert store.reducer is not None
    values = identity_values(store.reducer, store.targets)
    return Store(f"{store.block}_init", store.targets, store.index, values)


def _finished(statements: Sequence[Statement], begun: Sequence[Store]) -> tuple[Statement, ...]:
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, (For, If)):
            out.append(replace(s, body=_finished(s.body, begun)))
        else:
            out.append(replace(s, begins=False) if isinstance(s, Store) and s in begun else s)
    return tuple(out)


def identity_nest(loop: For, store: Store) -> tuple[Statement, ...]:
    """The store of the identity, in copies of the loops and guards that its index needs."""
    return index_nest([loop], store, _identity(store), "init")


def index_nest(
    body: Sequence[Statement], store: Store, other: Store, suffix: str
) -> tuple[Statement, ...]:
    """Another store with the index of `store`, in copies of the loops and guards it needs.

    Args:
        body: statements, with `store` among them.
        store: of which the loops and guards are.
        other: written in terms of the same variables.
        suffix: of the names of the copies.
    """
    used = {x for i in store.index for x in subexpressions(i) if x.op == "var"}

    def copied(statements: Sequence[Statement]) -> tuple[Statement, ...]:
        out: list[Statement] = []
        for s in statements:
            if isinstance(s, For):
                inner = copied(s.body)
                if inner and s.var in used:
                    var = renewed(s.var, name=f"{s.name}_{suffix}")
                    inner = (For(var, in_statements(inner, {s.var: var}), s.kind),)
                out += inner
            elif isinstance(s, If):
                inner = copied(s.body)
                condition = _part(s.condition, used)
                out += inner if condition.op == "const" or not inner else (If(condition, inner),)
            elif s is store:
                out.append(other)
        return tuple(out)

    return copied(body)


def _part(condition: Expr, used: set[Expr]) -> Expr:
    """The conjuncts of a guard that mention only these variables and sizes."""
    if condition.op == "and":
        return _part(condition.args[0], used) & _part(condition.args[1], used)
    free = {x for x in subexpressions(condition) if x.op == "var" and x.attr.extent is not None}
    return condition if free <= used else const(True, "bool")
