"""LLVM IR for values: expressions as numbers, or as vectors where they vary over lanes.

Where C computes lane by lane, LLVM has masks: an arm of a `select` that could read outside of its
buffer is loaded in the lanes that choose it, and no other lane touches memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from llvmlite import ir

from byparts_tensor_ir.access import EmitError, flat_index, is_safe, step_of
from byparts_tensor_ir.emit.llvm_operations import (
    I1,
    I32,
    I64,
    POINTER,
    VOID,
    LlvmOperations,
    memory_type,
    scalar_type,
    type_name,
)
from byparts_tensor_ir.expression import BYTES, HALVES, Expr, const
from byparts_tensor_ir.lane_forms import Varying
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Buffer
from byparts_tensor_ir.substitute import substituted
from byparts_tensor_ir.vector import Lanes


@dataclass(frozen=True)
class MaskedLanes(Lanes):
    """Lanes of which some may be switched off.

    Attributes:
        mask: the lanes that are computed, as a vector of bool; `None` for all.
        arm: whether they are in an arm of a `select`, where all lanes may be off.
    """

    mask: Any = None
    arm: bool = False


class LlvmValues:
    """The values computed so far.

    Attributes:
        operations: what makes instructions of operations.
        scopes: expression -> value, of each open block.
        numbers: loop variables, sizes and registers -> value.
        accumulators: registers -> where their value is kept.
        memory: buffer -> its address.
    """

    def __init__(self, operations: LlvmOperations) -> None:
        self.operations, self.builder = operations, operations.builder
        self.varying = Varying()
        self.scopes: list[dict[Expr, Any]] = [{}]
        self.numbers: dict[Expr, Any] = {}
        self.accumulators: dict[Expr, Any] = {}
        self.memory: dict[Buffer, Any] = {}
        self.proved: dict[Expr, bool] = {}

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Values computed here are known only here."""
        self.scopes.append({})
        yield
        self.scopes.pop()

    def safe(self, e: Expr) -> bool:
        """`is_safe`, asked once for each expression."""
        if e not in self.proved:
            self.proved[e] = is_safe(e)
        return self.proved[e]

    def value(self, e: Expr, lanes: MaskedLanes | None = None) -> Any:
        """The value of e: a number where it is the same in all lanes, else a vector.

        In an arm of a `select` what could read outside of its buffer is a vector too: all lanes may
        be off.
        """
        e = expanded(e)
        if (
            lanes is not None
            and not self.varying.varies(e, lanes)
            and (self.safe(e) or not lanes.arm)
        ):
            lanes = None
        if e.op == "const":
            return ir.Constant(scalar_type(e.dtype), e.attr)
        if e in self.numbers:
            return self.numbers[e]
        if e in self.accumulators:
            place = self.accumulators[e]
            return self.builder.load(place, typ=place.allocated_type)
        if e.op == "lane mask":
            assert lanes is not None
            return lanes.mask
        for scope in reversed(self.scopes):
            if e in scope:
                return scope[e]
        computed = self.computed(e, lanes)
        self.scopes[-1][e] = computed
        return computed

    def computed(self, e: Expr, lanes: MaskedLanes | None) -> Any:
        """Instructions for e, which has no value yet."""
        if e.op == "select":
            condition, a, b = e.args
            choose = self.rare if e.attr == "rare" else self.chosen
            return choose(condition, a, b, lanes)
        if e.op in ("and", "or") and e.dtype == "bool" and not self.safe(e.args[1]):
            left, right = e.args
            known = const(e.op == "or", "bool")
            a, b = (right, known) if e.op == "and" else (known, right)
            return self.chosen(left, a, b, lanes)
        if e.op == "load":
            return self.load(e, lanes)
        if lanes is None:
            return self.operations.operation(e, [self.value(a) for a in e.args])
        if e is lanes.var:
            iota = ir.Constant(ir.VectorType(I64, lanes.lanes), list(range(lanes.lanes)))
            return self.builder.add(
                iota, self.operations.splat(self.value(lanes.base), lanes.lanes)
            )
        return self.operations.operation(e, [self.wide(a, lanes) for a in e.args])

    def wide(self, e: Expr, lanes: MaskedLanes) -> Any:
        """The value as a vector."""
        x = self.value(e, lanes)
        return x if isinstance(x.type, ir.VectorType) else self.operations.splat(x, lanes.lanes)

    def of(self, e: Expr, lanes: MaskedLanes | None) -> Any:
        """The value as a number outside of vectorized loops, as a vector inside."""
        return self.value(e) if lanes is None else self.wide(e, lanes)

    def deep(self, e: Expr, lanes: MaskedLanes | None) -> Any:
        """Compute the value as `of` does, operands first, so that any depth fits Python's stack."""
        for x in self.varying.operands_first(e, lanes):
            self.value(x, lanes)
        return self.of(e, lanes)

    def chosen(self, condition: Expr, a: Expr, b: Expr, lanes: MaskedLanes | None) -> Any:
        """A select: both arms, or only the chosen one where the other may read outside."""
        test = self.value(condition, lanes)
        if self.safe(a) and self.safe(b):
            return self.builder.select(test, self.of(a, lanes), self.of(b, lanes))
        if not isinstance(test.type, ir.VectorType):
            return self.branches(test, a, b, lanes)
        assert lanes is not None
        arms = self.arm(a, test, lanes), self.arm(b, self.builder.not_(test), lanes)
        return self.builder.select(test, *arms)

    def rare(self, condition: Expr, a: Expr, b: Expr, lanes: MaskedLanes | None) -> Any:
        """A select whose first arm is computed only if some lane chooses it."""
        test, usual = self.value(condition, lanes), self.of(b, lanes)
        some = test
        if isinstance(test.type, ir.VectorType):
            some = self.operations.called(
                f"llvm.vector.reduce.or.{type_name(test.type)}", I1, [test]
            )
        before = self.builder.block
        with self.builder.if_then(some, likely=False), self.scope():
            mixed = self.builder.select(test, self.of(a, lanes), usual)
            inside = self.builder.block
        merged = self.builder.phi(usual.type)
        merged.add_incoming(usual, before)
        merged.add_incoming(mixed, inside)
        return merged

    def arm(self, arm: Expr, mask: Any, lanes: MaskedLanes) -> Any:
        """An arm of a select, right in the lanes that choose it."""
        if self.safe(arm):
            return self.wide(arm, lanes)
        both = mask if lanes.mask is None else self.builder.and_(lanes.mask, mask)
        with self.scope():
            return self.wide(arm, replace(lanes, mask=both, arm=True))

    def branches(self, test: Any, a: Expr, b: Expr, lanes: MaskedLanes | None) -> Any:
        """The arm that all lanes choose."""
        ends = []
        with self.builder.if_else(test) as heads:
            for head, arm in zip(heads, (a, b), strict=True):
                with head, self.scope():
                    ends.append((self.of(arm, lanes), self.builder.block))
        merged = self.builder.phi(ends[0][0].type)
        for x, block in ends:
            merged.add_incoming(x, block)
        return merged

    # -- memory --------------------------------------------------------------------------------

    def address(self, buffer: Buffer, position: Any) -> Any:
        """The address of an element, or a vector of addresses."""
        item = memory_type(buffer.dtype)
        at = self.builder.gep(self.memory[buffer], [position], inbounds=True, source_etype=item)
        if isinstance(position.type, ir.VectorType):
            at.type = ir.VectorType(POINTER, position.type.count)
        return at

    def load(self, e: Expr, lanes: MaskedLanes | None) -> Any:
        flat = flat_index(e.attr, e.args)
        if lanes is None:
            item = memory_type(e.dtype)
            at = self.address(e.attr, self.value(flat))
            x = self.builder.load(at, typ=item, align=BYTES[e.dtype])
        else:
            x = self.vector_load(e, flat, lanes)
        if e.dtype in HALVES:
            return self.operations.from_half(x, e.dtype)
        if e.dtype != "bool":
            return x
        return self.builder.icmp_unsigned("!=", x, ir.Constant(x.type, None))

    def vector_load(self, e: Expr, flat: Expr, lanes: MaskedLanes) -> Any:
        """Neighbours in memory as one block, other elements gathered."""
        vector = ir.VectorType(memory_type(e.dtype), lanes.lanes)
        try:
            block = step_of(flat, lanes) == 1 and (self.safe(flat) or not lanes.arm)
        except EmitError:
            block = False
        if not block:
            return self.masked_load(e, "gather", self.wide(flat, lanes), lanes)
        first = self.value(substituted(flat, {lanes.var: lanes.base}))
        if lanes.mask is not None:
            return self.masked_load(e, "load", first, lanes)
        return self.builder.load(self.address(e.attr, first), typ=vector, align=BYTES[e.dtype])

    def masked_load(self, e: Expr, how: str, position: Any, lanes: MaskedLanes) -> Any:
        """Elements in the lanes of the mask, 0 in the others."""
        vector = ir.VectorType(memory_type(e.dtype), lanes.lanes)
        at = self.address(e.attr, position)
        args = [at, I32(BYTES[e.dtype]), self.mask_of(lanes), ir.Constant(vector, None)]
        name = f"llvm.masked.{how}.{type_name(vector)}.{type_name(at.type)}"
        return self.operations.called(name, vector, args)

    def mask_of(self, lanes: MaskedLanes) -> Any:
        """The mask, also where all lanes are computed."""
        every = ir.Constant(ir.VectorType(I1, lanes.lanes), [1] * lanes.lanes)
        return every if lanes.mask is None else lanes.mask

    def write(self, buffer: Buffer, index: tuple[Expr, ...], x: Any, lanes: Any) -> None:
        """Store a number or a vector."""
        flat = flat_index(buffer, index)
        if buffer.dtype == "bool":
            x = self.builder.zext(x, self.operations.shaped(memory_type("bool"), x))
        if buffer.dtype in HALVES:
            x = self.operations.to_half(x, buffer.dtype)
        if lanes is None:
            at = self.address(buffer, self.value(flat))
            self.builder.store(x, at, align=BYTES[buffer.dtype])
            return
        block = step_of(flat, lanes) == 1
        if block:
            position = self.value(substituted(flat, {lanes.var: lanes.base}))
        else:
            position = self.wide(flat, lanes)
        at = self.address(buffer, position)
        one = block and lanes.count is const(1)
        if one:  # LLVM 22 stores 8 bytes of one i64 that is truncated to i32 under a mask
            x = self.builder.extract_element(x, I32(0))
        if one or (block and lanes.mask is None):
            self.builder.store(x, at, align=BYTES[buffer.dtype])
            return
        name = f"llvm.masked.{'store' if block else 'scatter'}"
        args = [x, at, I32(BYTES[buffer.dtype]), self.mask_of(lanes)]
        self.operations.called(f"{name}.{type_name(x.type)}.{type_name(at.type)}", VOID, args)
