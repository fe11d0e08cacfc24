"""CUDA C as tables: types, functions before a kernel, a form for each operation, constants."""

from __future__ import annotations

import struct
from math import isfinite, isnan

from byparts_gpu_ir.emit.inline import bare
from byparts_gpu_ir.emit.thread import KEYWORDS
from byparts_tensor_ir.emit.c_tables import C_FORMS, CPP
from byparts_tensor_ir.emit.language import Fields, Forms, Language
from byparts_tensor_ir.expression import BYTES, FLOATS, HALVES, INDEX, VALUE_BYTES, Expr
from byparts_tensor_ir.functions import FUNCTIONS

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

_UNSIGNED = {"i32": "unsigned", "i64": "unsigned long long"}
_WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
_LOGICAL = {"and": "&&", "or": "||", "xor": "!="}
_BITS = {
    **{("f32", "i32"): "__float_as_int", ("i32", "f32"): "__int_as_float"},
    **{("f32", "u32"): "__float_as_uint", ("u32", "f32"): "__uint_as_float"},
    **{("f64", "i64"): "__double_as_longlong", ("i64", "f64"): "__longlong_as_double"},
    ("f64", "u64"): "(unsigned long long)__double_as_longlong",
    ("u64", "f64"): "__longlong_as_double",
}
_MOST = 1 << 31


def _negative(x: Fields) -> str:
    """A float with the other sign: two signs side by side would be a decrement."""
    return f"-({x['a']})" if x["a"][0] == "-" else f"-{x['a']}"


def _shift(x: Fields) -> str:
    """A shift; by an operator where the number of bits is known."""
    left, by, dtype = x.e.op == "shl", x.e.args[1], x.e.dtype
    if by.op != "const" or not 0 <= by.attr < 8 * VALUE_BYTES[dtype]:
        return f"shift_{'left' if left else 'right'}<{x['type']}>({x['args']})"
    if not left:
        return f"{x['a']} >> {by.attr}"
    text = f"({_UNSIGNED.get(dtype, x['type'])}){x['a']} << {by.attr}"
    return f"({x['memory']})({text})" if VALUE_BYTES[dtype] < 4 else text


_FORMS = Forms(
    {
        **C_FORMS,
        **{(op, "bool"): f"{{a}} {sign} {{b}}" for op, sign in _LOGICAL.items()},
        # In unsigned numbers, which overflow without harm.
        **{
            (op, dtype): f"({kind}){{a}} {sign} {{b}}"
            for dtype, kind in _UNSIGNED.items()
            for op, sign in _WRAPPING.items()
        },
        **{("neg", dtype): f"-({kind}){{a}}" for dtype, kind in _UNSIGNED.items()},
        ("neg", "float"): _negative,
        ("abs", "float"): "fabs{f}({bares})",
        ("abs", "small"): "({type})({a} < 0 ? 0ull - {a} : {a})",
        "abs": "({type})({a} < 0 ? 0ull - {a} : {a})",
        **dict.fromkeys(
            (*FUNCTIONS, "sqrt", "floor", "ceil", "rint", "trunc", "fma"), "{op}{f}({bares})"
        ),
        "floordiv": "floordiv<{type}>({a}, {b})",
        "mod": "floormod<{type}>({a}, {b})",
        "shl": _shift,
        "shr": _shift,
        ("cast", "float", "bool"): "{a} != 0",
        ("cast", "float", "half"): "from_{dtype}(to_{dtype}({bare}))",
        ("cast", "half", "bool"): "{a} != 0",
        # Of a negative number modulo 2^bits.
        **{
            ("cast", "float", u): "({type})unsigned_of({bare})" for u in ("u8", "u16", "u32", "u64")
        },
        ("cast", "float", "small"): "({type})(int){a}",
        **{("bitcast", *kinds): f"{function}({{bare}})" for kinds, function in _BITS.items()},
        ("bitcast", "half", "any"): "to_{source}({bare})",
        ("bitcast", "any", "half"): "from_{dtype}({bare})",
        ("bitcast", "any", "any"): "({type}){a}",
        ("load", "half"): "from_{dtype}({bare})",
        ("load", "bool"): "{a} != 0",
        ("store", "half"): "to_{dtype}({bare})",
    }
)


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


CUDA = Language(
    TYPES,
    VALUE_TYPES,
    _FORMS,
    literal,
    {**CPP.statements, "loop": "for ({kind} {name} = {low}; {name} < {end}; ++{name})"},
    bare,
)
