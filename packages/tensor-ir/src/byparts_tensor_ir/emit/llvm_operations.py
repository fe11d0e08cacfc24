"""LLVM IR for one operation: the same instructions for numbers and for vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.expression import FLOATS, HALVES, INDEX, VALUE_BYTES, Expr
from byparts_tensor_ir.functions import FUNCTIONS
from byparts_tensor_ir.index import not_negative
from byparts_tensor_ir.target import target

I1, I16, I32, I64, POINTER = *map(ir.IntType, (1, 16, 32, 64)), ir.PointerType()
VOID = ir.VoidType()


def scalar_type(dtype: str) -> Any:
    """The type of a value; a bool is one bit."""
    if dtype in FLOATS:
        return ir.DoubleType() if dtype == "f64" else ir.FloatType()
    return I1 if dtype == "bool" else ir.IntType(8 * VALUE_BYTES[dtype])


def memory_type(dtype: str) -> Any:
    """The type of an element in memory; a bool is a byte, a half its bits."""
    if dtype in HALVES:
        return I16
    return ir.IntType(8) if dtype == "bool" else scalar_type(dtype)


def type_name(kind: Any) -> str:
    """A type as names of intrinsics end: f32, i64, v16f32, p0."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{type_name(kind.element)}"
    return "p0" if isinstance(kind, ir.PointerType) else str(kind.intrinsic_name)


def like(x: Any, number: float) -> Any:
    """A number in the type of x, in each lane of a vector."""
    if isinstance(x.type, ir.VectorType):
        return ir.Constant(x.type, [number] * x.type.count)
    return ir.Constant(x.type, number)


class LlvmOperations:
    """Instructions for operations.

    Attributes:
        module: holds the function and what it calls.
        builder: where the next instruction goes.
        libm: functions of the C library that it calls.
        converts: whether the CPU has instructions that convert f16.
    """

    def __init__(self, module: Any, builder: Any) -> None:
        self.module, self.builder = module, builder
        self.libm: set[str] = set()
        self.converts = "f16c" in target().features  # f16, by instructions

    def splat(self, x: Any, lanes: int) -> Any:
        """The number in each lane of a vector."""
        kind = ir.VectorType(x.type, lanes)
        if isinstance(x, ir.Constant):
            return ir.Constant(kind, [x.constant] * lanes)
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(nothing, x, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
        return self.builder.shuffle_vector(first, nothing, zeros)

    def called(self, name: str, result: Any, args: Sequence[Any]) -> Any:
        """A call of a function that is declared where it is first called."""
        function = self.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(result, [a.type for a in args])
            function = ir.Function(self.module, kind, name)
        return self.builder.call(function, args)

    def intrinsic(self, name: str, *args: Any) -> Any:
        """An intrinsic on values of one type, by its full name: llvmlite makes none for vectors."""
        return self.called(f"llvm.{name}.{type_name(args[0].type)}", args[0].type, args)

    def operation(self, e: Expr, args: Sequence[Any]) -> Any:
        """The value of e from those of its operands: all numbers, or all vectors.

        Raises:
            EmitError: the operation has no code.
        """
        form = _FORMS.get(e.op)
        if form is None:
            raise EmitError(f"{e.op} has no LLVM: {e}")
        return form(self, e, *args)

    def shaped(self, kind: Any, x: Any) -> Any:
        """The type, or vectors of it where x is a vector."""
        return ir.VectorType(kind, x.type.count) if isinstance(x.type, ir.VectorType) else kind

    def comparison(self, e: Expr, x: Any, y: Any) -> Any:
        sign, dtype = _COMPARISONS[e.op], e.args[0].dtype
        if dtype in FLOATS:
            unequal = sign == "!="
            return (self.builder.fcmp_unordered if unequal else self.builder.fcmp_ordered)(
                sign, x, y
            )
        compare = self.builder.icmp_signed if dtype[0] == "i" else self.builder.icmp_unsigned
        return compare(sign, x, y)

    def linear(self, e: Expr, *args: Any) -> Any:
        """A sum of products with numbers."""
        b, (coefficients, constant) = self.builder, e.attr
        total = None
        for x, c in zip(args, coefficients, strict=True):
            term = x if c == 1 else b.mul(x, like(x, c))
            total = term if total is None else b.add(total, term)
        return b.add(total, like(total, constant)) if constant else total

    def logical(self, e: Expr, x: Any, y: Any) -> Any:
        """Bit by bit."""
        b = self.builder
        return {"and": b.and_, "or": b.or_, "xor": b.xor}[e.op](x, y)

    def rounding(self, e: Expr, *args: Any) -> Any:
        """A function of floats that LLVM knows."""
        return self.intrinsic(e.op, *args)

    def absolute(self, e: Expr, x: Any) -> Any:
        """The size of a number."""
        b = self.builder
        if e.dtype in FLOATS:
            return self.intrinsic("fabs", x)
        negative = b.icmp_signed("<", x, like(x, 0))
        return x if e.dtype[0] == "u" else b.select(negative, b.neg(x), x)

    def negative(self, e: Expr, x: Any) -> Any:
        """The number with the other sign."""
        return self.builder.fneg(x) if e.dtype in FLOATS else self.builder.neg(x)

    def inverse(self, e: Expr, x: Any) -> Any:
        """The other truth value."""
        return self.builder.not_(x)

    def conversion(self, e: Expr, x: Any) -> Any:
        """A value in another dtype."""
        return self.cast(x, e.args[0].dtype, e.dtype)

    def same_bits(self, e: Expr, x: Any) -> Any:
        """The bits of a value as another dtype."""
        source = e.args[0].dtype
        if "bool" in (e.dtype, source):
            return self.cast(x, source, e.dtype)
        if source in HALVES:
            return self.to_half(x, source)
        if e.dtype in HALVES:
            return self.from_half(x, e.dtype)
        return self.builder.bitcast(x, self.shaped(scalar_type(e.dtype), x))

    def arithmetic(self, e: Expr, *args: Any) -> Any:
        """Sums, differences, products, quotients of one type."""
        b = self.builder
        if e.dtype in FLOATS:
            rules = {"add": b.fadd, "sub": b.fsub, "mul": b.fmul, "div": b.fdiv}
        else:
            rules = {"add": b.add, "sub": b.sub, "mul": b.mul}
        result = args[0]
        for x in args[1:]:  # a product of indices has any number of factors
            result = rules[e.op](result, x)
        return result

    def shift(self, e: Expr, x: Any, count: Any) -> Any:
        """Shift x by count bits.  From the dtype's width on, the result is 0, or all sign bits."""
        b, bits = self.builder, 8 * VALUE_BYTES[e.dtype]
        inside = b.icmp_unsigned("<", count, like(count, bits))
        if e.op == "shr" and e.dtype[0] == "i":
            return b.ashr(x, b.select(inside, count, like(count, bits - 1)))
        shifted = (b.shl if e.op == "shl" else b.lshr)(x, b.select(inside, count, like(count, 0)))
        return b.select(inside, shifted, like(x, 0))

    def division(self, e: Expr, x: Any, y: Any) -> Any:
        """Quotient or rest towards minus infinity; by zero both are 0, as NumPy has them."""
        b, (dividend, divisor) = self.builder, e.args
        zero, unsigned = like(x, 0), e.dtype[0] == "u"
        plain = unsigned or (e.dtype == INDEX and not_negative(dividend) and not_negative(divisor))
        unsure = divisor.op != "const" or divisor.attr in (0, -1)
        unsure = unsure and not (e.dtype == INDEX and not_negative(divisor - 1))
        divided = y
        if unsure:  # 1 in place of 0, and of -1, by which the least number has no quotient
            fails = b.icmp_signed("==", y, zero)
            if not unsigned:
                negated = b.icmp_signed("==", y, like(y, -1))
                fails = b.or_(fails, negated)
            divided = b.select(fails, like(y, 1), y)
        quotient, rest = (b.udiv, b.urem) if plain else (b.sdiv, b.srem)
        q, r = quotient(x, divided), rest(x, divided)
        if not plain:
            below = b.and_(
                b.icmp_signed("!=", r, zero), b.icmp_signed("<", b.xor(r, divided), zero)
            )
            q = b.select(below, b.sub(q, like(x, 1)), q)
            r = b.select(below, b.add(r, divided), r)
        if e.op == "mod" or not unsure:
            return r if e.op == "mod" else q
        q = q if unsigned else b.select(negated, b.neg(x), q)
        return b.select(b.icmp_signed("==", y, zero), zero, q)

    def extreme(self, e: Expr, x: Any, y: Any) -> Any:
        """The operand that comes first or last; of floats NaN where one is NaN."""
        b, sign = self.builder, "<" if e.op == "min" else ">"
        if e.dtype in FLOATS:
            first = b.or_(b.fcmp_ordered(sign, x, y), b.fcmp_unordered("uno", x, x))
        else:
            first = (b.icmp_signed if e.dtype[0] == "i" else b.icmp_unsigned)(sign, x, y)
        return b.select(first, x, y)

    def cast(self, x: Any, source: str, target: str) -> Any:
        """Truncated from floats; integers modulo 2^bits."""
        if target in HALVES:
            return self.from_half(self.to_half(x, target), target)
        if source in HALVES:  # a value of f32
            return x
        b, kind = self.builder, self.shaped(scalar_type(target), x)
        if target == "bool":
            compare = b.fcmp_unordered if source in FLOATS else b.icmp_unsigned
            return compare("!=", x, like(x, 0))
        if source in FLOATS and target in FLOATS:
            return (b.fpext if target == "f64" else b.fptrunc)(x, kind)
        if source in FLOATS:
            wide = "i64" if target in ("u32", "i64", "u64", INDEX) else "i32"
            whole = b.fptosi(x, self.shaped(scalar_type(wide), x))
            if target == "u64":
                negative = b.fcmp_ordered("<", x, like(x, 0.0))
                return b.select(negative, whole, b.fptoui(x, kind))
            return whole if whole.type == kind else b.trunc(whole, kind)
        signed = source[0] == "i"
        if target in FLOATS:
            return (b.sitofp if signed else b.uitofp)(x, kind)
        if source != "bool" and VALUE_BYTES[source] >= VALUE_BYTES[target]:
            return x if VALUE_BYTES[source] == VALUE_BYTES[target] else b.trunc(x, kind)
        return (b.sext if signed else b.zext)(x, kind)

    # As `halves.py` has it in C.

    def to_half(self, x: Any, half: str) -> Any:
        """The bits of an f32 as f16 or bf16, to nearest even."""
        b, i16 = self.builder, self.shaped(I16, x)
        if half == "f16" and self.converts:
            return b.bitcast(b.fptrunc(x, self.shaped(ir.HalfType(), x)), i16)
        y = self.bits(x)
        if half == "bf16":
            odd = b.and_(self.shifted(y, 16), like(y, 1))
            rounded = b.add(b.add(y, like(y, 0x7FFF)), odd)
            quiet = b.or_(y, like(y, 0x400000))
            y = b.select(b.fcmp_unordered("uno", x, x), quiet, rounded)
            return b.trunc(self.shifted(y, 16), i16)
        a = b.and_(y, like(y, 0x7FFFFFFF))
        odd = b.and_(self.shifted(a, 13), like(a, 1))
        z = self.shifted(b.add(b.add(a, like(a, 0xFFF - 0x38000000)), odd), 13)
        z = b.select(b.icmp_signed(">", z, like(z, 0x7C00)), like(z, 0x7C00), z)
        size = b.bitcast(a, x.type)
        small = b.sub(self.bits(b.fadd(size, like(size, 0.5))), like(a, 0x3F000000))
        z = b.select(b.icmp_signed("<", a, like(a, 0x38800000)), small, z)
        nan = b.or_(b.and_(self.shifted(a, 13), like(a, 0x1FF)), like(a, 0x7E00))
        z = b.select(b.icmp_signed(">", a, like(a, 0x7F800000)), nan, z)
        return b.trunc(b.or_(z, b.and_(self.shifted(y, 16), like(y, 0x8000))), i16)

    def from_half(self, x: Any, half: str) -> Any:
        """The f32 of these bits."""
        b, f32 = self.builder, self.shaped(ir.FloatType(), x)
        if half == "f16" and self.converts:
            return b.fpext(b.bitcast(x, self.shaped(ir.HalfType(), x)), f32)
        w = b.zext(x, self.shaped(I32, x))
        if half == "bf16":
            return b.bitcast(b.shl(w, like(w, 16)), f32)
        a = b.and_(w, like(w, 0x7FFF))
        y = b.bitcast(b.shl(a, like(a, 13)), f32)
        y = self.bits(b.fmul(y, like(y, 2.0**112)))
        infinite = b.icmp_signed(">", a, like(a, 0x7BFF))
        y = b.or_(y, b.select(infinite, like(a, 0x7F800000), like(a, 0)))
        return b.bitcast(b.or_(y, b.shl(b.and_(w, like(w, 0x8000)), like(w, 16))), f32)

    def bits(self, x: Any) -> Any:
        """Reinterpret the bits of an f32 as an i32."""
        return self.builder.bitcast(x, self.shaped(I32, x))

    def shifted(self, x: Any, by: int) -> Any:
        """x shifted to the right, with its sign."""
        return self.builder.ashr(x, like(x, by))

    def function(self, e: Expr, *args: Any) -> Any:
        """A function of the C library, lane by lane.

        Called by a name that LLVM does not know, so that it is neither folded nor replaced.
        """
        if isinstance(args[0].type, ir.VectorType):
            result = ir.Constant(args[0].type, ir.Undefined)
            for i in range(args[0].type.count):
                lane = [self.builder.extract_element(a, I32(i)) for a in args]
                result = self.builder.insert_element(result, self.function(e, *lane), I32(i))
            return result
        name = e.op + ("f" if e.dtype == "f32" else "")
        self.libm.add(name)
        result = self.called(f"libm.{name}", args[0].type, args)
        function = self.module.globals[f"libm.{name}"]
        function.attributes.add("nounwind")
        function.attributes.add("readnone")
        return result


_COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_FORMS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_COMPARISONS, LlvmOperations.comparison),
    **dict.fromkeys(("add", "sub", "mul", "div"), LlvmOperations.arithmetic),
    **dict.fromkeys(("and", "or", "xor"), LlvmOperations.logical),
    **dict.fromkeys(("shl", "shr"), LlvmOperations.shift),
    **dict.fromkeys(("floordiv", "mod"), LlvmOperations.division),
    **dict.fromkeys(("min", "max"), LlvmOperations.extreme),
    **dict.fromkeys(("fma", "sqrt", "floor", "ceil", "rint", "trunc"), LlvmOperations.rounding),
    **dict.fromkeys(FUNCTIONS, LlvmOperations.function),
    "linear": LlvmOperations.linear,
    "abs": LlvmOperations.absolute,
    "neg": LlvmOperations.negative,
    "not": LlvmOperations.inverse,
    "cast": LlvmOperations.conversion,
    "bitcast": LlvmOperations.same_bits,
}
