"""CUDA C for values: what is written otherwise than for a CPU."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import isfinite, isnan, prod

from byparts_gpu_ir.emit.inline import MOST_LETTERS, NeedsLine, bare, enclosed, inlines, uses_of
from byparts_gpu_ir.emit.thread import KEYWORDS, LOCAL, ThreadCode
from byparts_tensor_ir.expression import BYTES, FLOATS, HALVES, INDEX, VALUE_BYTES, Expr
from byparts_tensor_ir.functions import FUNCTIONS
from byparts_tensor_ir.index import lower_bound, not_negative, upper_bound
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Func

TYPES = {"bool": "unsigned char", "f32": "float", "f64": "double", "i8": "signed char"}
TYPES |= {"i16": "short", "i32": "int", "i64": "long long", "u8": "unsigned char"}
TYPES |= {"u16": "unsigned short", "u32": "unsigned", "u64": "unsigned long long"}
TYPES |= dict.fromkeys(HALVES, "unsigned short")
VALUE_TYPES = TYPES | dict.fromkeys(HALVES, "float") | {"bool": "bool", INDEX: "long long"}

# Names that no buffer or loop may have.
_WORDS = (
    "threadIdx blockIdx blockDim gridDim warpSize min max abs fabs exp log sin cos tan pow sqrt "
    "floor ceil rint trunc fma erf erfc tanh half"
)
RESERVED = (*KEYWORDS, *_WORDS.split())

# Functions before a kernel, for what C leaves undefined or rounds otherwise.
_FUNCTION = "static __device__ __forceinline__ "
HELPERS = {
    "floordiv": f"""// By zero both are 0, as in NumPy; the least number by -1 wraps.
template <class T> {_FUNCTION}T floordiv(T a, T b) {{
  if (b == 0) return 0;
  if ((T)-1 < 0 && b == (T)-1) return (T)(0ull - (unsigned long long)a);
  return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}}
""",
    "floormod": f"""template <class T> {_FUNCTION}T floormod(T a, T b) {{
  if (b == 0 || ((T)-1 < 0 && b == (T)-1)) return 0;
  T r = (T)(a % b);
  return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
}}
""",
    "shift_left": f"""// Of as many bits as there are or more, nothing is left but the sign.
template <class T> {_FUNCTION}T shift_left(T a, T b) {{
  return (unsigned long long)b < 8 * sizeof(T) ? (T)((unsigned long long)a << b) : (T)0;
}}
""",
    "shift_right": f"""template <class T> {_FUNCTION}T shift_right(T a, T b) {{
  if ((unsigned long long)b < 8 * sizeof(T)) return (T)(a >> b);
  return (T)(a < 0 ? -1 : 0);
}}
""",
    "unsigned_of": f"""template <class T> {_FUNCTION}unsigned long long unsigned_of(T a) {{
  return a < 0 ? (unsigned long long)(long long)a : (unsigned long long)a;
}}
""",
    "from_f16": f"""{_FUNCTION}float from_f16(unsigned short x) {{
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}}
""",
    "to_f16": f"""{_FUNCTION}unsigned short to_f16(float x) {{
  unsigned short y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}}
""",
    "from_bf16": f"""{_FUNCTION}float from_bf16(unsigned short x) {{
  return __uint_as_float((unsigned)x << 16);
}}
""",
    "to_bf16": f"""{_FUNCTION}unsigned short to_bf16(float x) {{
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}}
""",
}

_UNSIGNED = {"i32": "unsigned", "i64": "unsigned long long", INDEX: "unsigned long long"}
_LOGICAL = {"and": "&&", "or": "||", "xor": "!="}
_WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
_BITS = {
    **{("f32", "i32"): "__float_as_int", ("i32", "f32"): "__int_as_float"},
    **{("f32", "u32"): "__float_as_uint", ("u32", "f32"): "__uint_as_float"},
    **{("f64", "i64"): "__double_as_longlong", ("i64", "f64"): "__longlong_as_double"},
    ("f64", "u64"): "(unsigned long long)__double_as_longlong",
    ("u64", "f64"): "__longlong_as_double",
}
_ROUNDINGS = {"abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "rint": "rint"}
_ROUNDINGS |= {"trunc": "trunc", "fma": "fma"}
_MOST = 1 << 31


class CudaValues(ThreadCode):
    """Names of values in CUDA C.

    Attributes:
        helpers: names of the functions of `HELPERS` that are called.
    """

    helpers: set[str]

    def __init__(self, func: Func) -> None:
        super().__init__(func, RESERVED)
        self.helpers = set()
        self.fitting: dict[Expr, bool] = {}
        self.uses = uses_of(self.all_statements())
        self.root: Expr | None = None  # the value that is stored next
        self.constant: set[str] = set()  # names of values
        self.deep = False  # whether a chain is being computed that is too long for Python's stack
        self.in_line = False  # whether an arm is being written that may have no line of its own

    def type_of(self, e: Expr, lanes: object, text: str = "") -> str:
        return VALUE_TYPES[e.dtype]

    def value(self, e: Expr, lanes: object = None) -> str:
        if e.op == "load" and not e.attr.shape and e.attr.scope in LOCAL and e.dtype not in HALVES:
            return self.names[e.attr]
        return literal(e) if e.op == "const" else super().value(e, None)

    def named(self, e: Expr, text: str, lanes: object) -> str:
        """The value under a name of its own, or its text where it is used but once."""
        if e is self.root and len(text) <= 2 * MOST_LETTERS:
            return text
        if not self.deep and inlines(e, text, self.uses):
            return enclosed(text)
        name = super().named(e, bare(text), None)
        self.constant.add(name)
        return name

    def deep_value(self, e: Expr, lanes: object) -> str:
        for x in self.operands_first(e, None):
            self.deep = True
            self.value(x)
        self.root = expanded(e)
        text = self.value(e)
        self.root, self.deep = None, False
        return text

    def one_arm(self, e: Expr, test: str) -> str:
        """C computes one arm of `?:`, if both can be written in one line."""
        if self.in_line:
            return self.named(e, self.both_arms(e, test), None)
        kept, depth, self.in_line = self.count, len(self.scopes), True
        self.scopes.append({})
        try:
            text = self.both_arms(e, test)
        except NeedsLine:
            text, self.count = "", kept
        finally:
            self.in_line = False
            del self.scopes[depth:]
        return self.named(e, text, None) if text else super().one_arm(e, test)

    def both_arms(self, e: Expr, test: str) -> str:
        """Both arms as one text.  A line in one of them ends all that are being written so."""
        return f"{test} ? {self.arm(e.args[1])} : {self.arm(e.args[2])}"

    def line(self, text: str) -> None:
        if self.in_line:
            raise NeedsLine
        super().line(text)

    def arm(self, e: Expr) -> str:
        if e.op == "load" and not self.known(e):
            return enclosed(self.scalar(e))  # whether another arm reads it too or not
        return self.value(e)

    def computed(self, values: Sequence[Expr]) -> list[str]:
        texts = super().computed(values)
        if len(values) == 1:
            return texts
        return [self.held(v, text) for v, text in zip(values, texts, strict=True)]

    def held(self, e: Expr, text: str) -> str:
        """A name for a value that no store changes."""
        if text in self.constant:
            return text
        name = self.fresh()
        self.line(f"const {self.type_of(e, None)} {name} = {bare(text)};")
        return name

    def scalar(self, e: Expr) -> str:
        op, dtype = e.op, e.dtype
        if op == "load":
            text = super().scalar(e)
            return f"{text} != 0" if dtype == "bool" else text
        if op in _LOGICAL and dtype == "bool" and e.args[0].dtype == "bool":
            return f" {_LOGICAL[op]} ".join(map(self.value, e.args))
        if op in _WRAPPING and dtype in _UNSIGNED:
            a, b = (self.operand(x) for x in e.args)
            return f"({_UNSIGNED[dtype]}){a} {_WRAPPING[op]} {b}"  # overflows without harm
        if op == "neg" and dtype in _UNSIGNED:
            return f"-({_UNSIGNED[dtype]}){self.operand(e.args[0])}"
        if op == "neg" and dtype in FLOATS:
            text = self.value(e.args[0])
            return f"-({text})" if text[0] == "-" else f"-{text}"
        if op == "abs" and dtype not in FLOATS:
            a = self.operand(e.args[0])
            return f"({VALUE_TYPES[dtype]})({a} < 0 ? 0ull - {a} : {a})"
        if op in COMPARISONS and e.args[0].dtype == INDEX:
            return f" {COMPARISONS[op]} ".join(map(self.index, e.args))
        if op in ("floordiv", "mod", "shl", "shr"):
            return self.of_integers(e)
        if op in ("cast", "bitcast"):
            return self.converted_value(e)
        if op in _ROUNDINGS or op in FUNCTIONS:
            args = ", ".join([bare(self.value(a)) for a in e.args])
            return f"{_ROUNDINGS.get(op, op)}{'' if dtype == 'f64' else 'f'}({args})"
        return super().scalar(e)

    def operand(self, e: Expr) -> str:
        """The value, of the type that its dtype has: an index may be written shorter."""
        text = self.value(e)
        return f"(long long){text}" if e.dtype == INDEX and self.fits(e) else text

    def narrow(self, text: str, e: Expr) -> str:
        return f"({TYPES[e.dtype]})({text})" if VALUE_BYTES[e.dtype] < 4 else text

    def of_integers(self, e: Expr) -> str:
        """Divisions and shifts."""
        a, b = (self.operand(x) for x in e.args)
        kind, by = VALUE_TYPES[e.dtype], e.args[1]
        if e.op in ("shl", "shr") and by.op == "const" and 0 <= by.attr < 8 * VALUE_BYTES[e.dtype]:
            if e.op == "shr":
                return f"{a} >> {by.attr}"
            return self.narrow(f"({_UNSIGNED.get(e.dtype, kind)}){a} << {by.attr}", e)
        name = {"floordiv": "floordiv", "mod": "floormod"}.get(e.op) or (
            "shift_left" if e.op == "shl" else "shift_right"
        )
        return self.call_of(name, f"{a}, {b}").replace("(", f"<{kind}>(", 1)

    def converted_value(self, e: Expr) -> str:
        """Another dtype, or the same bits as another."""
        (x,) = e.args
        text, kind = self.value(x), VALUE_TYPES[e.dtype]
        if x.dtype in HALVES or e.dtype in HALVES:
            return self.half(e, text)
        if e.op == "bitcast":
            function = _BITS.get((x.dtype, e.dtype))
            return f"{function}({bare(text)})" if function else f"({kind}){text}"
        if e.dtype == "bool":
            return f"{text} != 0"
        if x.dtype in FLOATS and e.dtype[0] == "u":  # of a negative number modulo 2^bits
            return f"({kind}){self.call_of('unsigned_of', text)}"
        if x.dtype in FLOATS and VALUE_BYTES[e.dtype] < 4:
            return f"({kind})(int){text}"
        return f"({kind}){text}"

    def half(self, e: Expr, text: str) -> str:
        """To or from a half, whose value is an f32."""
        (x,) = e.args
        if e.op == "bitcast":
            to = x.dtype in HALVES
            return self.call_of(f"to_{x.dtype}" if to else f"from_{e.dtype}", text)
        if x.dtype in HALVES:
            return f"{text} != 0" if e.dtype == "bool" else text
        return self.call_of(f"from_{e.dtype}", self.call_of(f"to_{e.dtype}", text))

    def call_of(self, function: str, text: str) -> str:
        self.helpers.add(function)
        return f"{function}({text if ',' in text else bare(text)})"

    # -- indices -------------------------------------------------------------------------------

    def index(self, e: Expr) -> str:
        """C for an index: an int where `fits`, else a long long."""
        if e.op == "const":
            return str(e.attr) if self.fits(e) else literal(e)
        if e.op == "var" or e.op not in _INDEX_OPS:
            return super().index(e)
        whole = self.fits(e)
        part = self.index if whole else self.long
        if e.op in ("linear", "mul"):
            if whole or _most(e) < 1 << 63:
                return f"({self.sum_or_product(e, part)})"
            text = self.sum_or_product(e, lambda a: f"(unsigned long long){part(a)}")
            return f"((long long)({text}))"  # overflows without harm
        a, b = map(part, e.args)
        if e.op in ("min", "max"):
            return f"{e.op}({a}, {b})"
        if not_negative(e.args[0]) and not_negative(e.args[1]):
            return f"({a} {'/' if e.op == 'floordiv' else '%'} {b})"
        name = "floordiv" if e.op == "floordiv" else "floormod"
        self.helpers.add(name)
        return f"{name}<{'int' if whole else 'long long'}>({a}, {b})"

    def sum_or_product(self, e: Expr, part: Callable[[Expr], str]) -> str:
        if e.op == "mul":
            return " * ".join(map(part, e.args))
        coefficients, constant = e.attr
        pairs = zip(e.args, coefficients, strict=True)
        products = [(c < 0, _product(part(a), abs(c))) for a, c in pairs]
        if constant:
            products.append((constant < 0, _magnitude_text(constant)))
        products.sort(key=lambda term: term[0])  # what is added first
        first, *others = products
        signs = "".join([f" {'-' if minus else '+'} {text}" for minus, text in others])
        return f"{'-' if first[0] else ''}{first[1]}{signs}"

    def long(self, e: Expr) -> str:
        """C for an index, as a long long."""
        if e.op == "const":
            return literal(e)
        text = self.index(e)
        return f"(long long){text}" if self.fits(e) else text

    def fits(self, e: Expr) -> bool:
        """Whether the C of an index is an int: no part of it can be 2^31 or more."""
        known = self.fitting.get(e)
        if known is None:
            known = self.fitting[e] = self._fits(e)
        return known

    def _fits(self, e: Expr) -> bool:
        if e.op == "const":
            return abs(int(e.attr)) < _MOST
        if e.op == "var":
            return _magnitude(e) < _MOST
        if e.op not in _INDEX_OPS or not all(map(self.fits, e.args)):
            return False
        return e.op not in ("linear", "mul") or _most(e) < _MOST


def _most(e: Expr) -> int:
    """A number that no part of a sum or product is further from zero than."""
    if e.op == "mul":
        return prod(max(1, _magnitude(a)) for a in e.args)
    pairs = zip(e.args, e.attr[0], strict=True)
    return int(abs(e.attr[1]) + sum(abs(c) * _magnitude(a) for a, c in pairs))


def _magnitude(e: Expr) -> int:
    """A number that e is never further from zero than; 2^63 where none is known."""
    low, high = lower_bound(e), upper_bound(e)
    return 1 << 63 if low is None or high is None else max(abs(low), abs(high))


def _product(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {_magnitude_text(factor)}"


def _magnitude_text(number: int) -> str:
    """C for the number without its sign, of as many bits as it needs."""
    size = abs(number)
    return f"{size}{'' if size < _MOST else 'LL' if size < 1 << 63 else 'ull'}"


def literal(e: Expr) -> str:
    """CUDA C for a constant, exact: floats in the fewest decimal digits."""
    x = e.attr
    if e.dtype == "bool":
        return "true" if x else "false"
    if e.dtype in FLOATS:
        return _float_literal(float(x), e.dtype)
    if VALUE_BYTES[e.dtype] == 8:
        end = "ull" if e.dtype == "u64" else "LL"
        return f"{x}{end}" if x > -(1 << 63) else "(-9223372036854775807LL - 1)"
    if e.dtype == "i32" and x == -_MOST:
        return "(-2147483647 - 1)"
    return (
        f"{x}u" if e.dtype == "u32" else f"{x}" if BYTES[e.dtype] == 4 else f"({TYPES[e.dtype]}){x}"
    )


def _float_literal(x: float, dtype: str) -> str:
    if dtype == "f64":
        bits = struct.unpack("<q", struct.pack("<d", x))[0]
        return repr(x) if isfinite(x) else f"__longlong_as_double({_bits(x, bits, 64)})"
    rounded = _nearest(x)
    if not isfinite(rounded):
        bits = struct.unpack("<I", struct.pack("<f", rounded))[0]
        return f"__int_as_float({_bits(rounded, bits, 32)})"
    texts = [f"{rounded:.{digits}g}" for digits in range(1, 10)]
    return f"{float(next(t for t in texts if _nearest(float(t)) == rounded))!r}f"


def _nearest(x: float) -> float:
    """The f32 nearest to a number."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def _bits(x: float, bits: int, width: int) -> str:
    if isnan(x):
        return "0x7fc00000" if width == 32 else "0x7ff8000000000000LL"
    if width == 32:
        return f"0x{bits:08x}"
    return f"0x{bits & (1 << 64) - 1:016x}ull"


COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_INDEX_OPS = ("linear", "mul", "floordiv", "mod", "min", "max")
