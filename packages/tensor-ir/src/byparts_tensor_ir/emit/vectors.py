"""The C that emitted code begins with: vector types of GCC and clang, and what they lack.

A vector of 16 f32 is `f32x16`.  Loads and stores need no alignment.  `_part` touches only the first
n lanes in memory; the others are 0.  `fma` rounds once whatever the flags are.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, isnan

from byparts_tensor_ir.emit.halves import SCALARS, half_vectors
from byparts_tensor_ir.expression import BYTES, FLOATS, HALVES, INDEX, Expr

C_TYPES = {
    "bool": "uint8_t",
    "f32": "float",
    "f64": "double",
    **{f"{c}{b}": f"{'u' if c == 'u' else ''}int{b}_t" for c in "iu" for b in (8, 16, 32, 64)},
    **dict.fromkeys(HALVES, "uint16_t"),
}
VALUE_TYPES = C_TYPES | dict.fromkeys(HALVES, "float") | {"bool": "int", INDEX: "int64_t"}

# Without <math.h>, which in C++ is 28 ms of the 77 that a small file takes: functions are builtins.
INCLUDES = """#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
"""

# Functions of numbers, for any C++.
NUMBERS = """#define INLINE static inline __attribute__((always_inline, unused))
// By zero both are 0, as in NumPy; the least number by -1 wraps.
template <class T> INLINE T floordiv(T a, T b) {
  if (b == 0) return 0;
  if ((T)-1 < 0 && b == (T)-1) return (T)(0 - a);
  return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
template <class T> INLINE T floormod(T a, T b) {
  if (b == 0 || ((T)-1 < 0 && b == (T)-1)) return 0;
  T r = (T)(a % b);
  return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
}
// Of as many bits as there are or more, nothing is left but the sign.
template <class T> INLINE T shift_left(T a, T b) {
  return (uint64_t)b < 8 * sizeof(T) ? (T)(a << b) : (T)0;
}
template <class T> INLINE T shift_right(T a, T b) {
  if ((uint64_t)b < 8 * sizeof(T)) return (T)(a >> b);
  return (T)(a < 0 ? -1 : 0);
}
template <class T> INLINE uint64_t unsigned_of(T a) {
  return a < 0 ? (uint64_t)(int64_t)a : (uint64_t)a;
}
INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
"""
NUMBERS += SCALARS
_STREAM_END = """// Stores past the caches are ordered before what other threads do next.
INLINE void stream_end() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
"""
HEADER = INCLUDES + NUMBERS + _STREAM_END

# What shares a loop among threads is put into the variable; without it the caller does all.
PARALLEL = """extern "C" {
void (*byparts_parallel)(int64_t, int64_t, void (*)(void *, int64_t, int64_t), void *) = 0;
}
template <class F> INLINE void in_parallel(int64_t low, int64_t end, F f) {
  if (!byparts_parallel) return f(low, end);
  byparts_parallel(
      low, end, [](void *f, int64_t low, int64_t end) { (*(F *)f)(low, end); }, &f);
}
"""

# Of one vector type: loads, stores, the number of each lane.
_TYPE = """typedef {c} {v} __attribute__((vector_size({bytes})));
typedef {c} {v}u __attribute__((vector_size({bytes}), aligned({item}), may_alias));
INLINE {v} load_{v}(const {c} *p) {{ return *(const {v}u *)p; }}
INLINE void store_{v}({c} *p, {v} x) {{ *({v}u *)p = x; }}
// Past the caches, where `wanted` and the place is aligned.
INLINE void stream_{v}({c} *p, {v} x, bool wanted) {{
#if {stream_feature}
  if (wanted && (uintptr_t)p % {bytes} == 0) return {stream};
#endif
  store_{v}(p, x);
}}
"""
_STREAMS = {
    16: ("defined(__SSE2__)", "_mm_stream_si128((__m128i *)p, (__m128i)x)"),
    32: ("defined(__AVX__)", "_mm256_stream_si256((__m256i *)p, (__m256i)x)"),
    64: ("defined(__AVX512F__)", "_mm512_stream_si512((__m512i *)p, (__m512i)x)"),
}

_PART = """INLINE {v} load_part_{v}(const {c} *p, int64_t n) {{
  {v} x = {{}};
  memcpy(&x, p, n * {item});
  return x;
}}
INLINE void store_part_{v}({c} *p, {v} x, int64_t n) {{ memcpy(p, &x, n * {item}); }}
"""

# With masks of AVX-512 or AVX2, where it has registers of this width.
_PART_512 = """#if {needs}
INLINE {v} load_part_{v}(const {c} *p, int64_t n) {{
  return ({v})_mm{w}_maskz_loadu_{s}((__mmask{m})((1u << n) - 1), p);
}}
INLINE void store_part_{v}({c} *p, {v} x, int64_t n) {{
  _mm{w}_mask_storeu_{s}(p, (__mmask{m})((1u << n) - 1), ({r})x);
}}
#elif defined(__AVX2__) && {bytes} <= 32 && {item} >= 4
typedef int{bits}_t {v}m __attribute__((vector_size({bytes})));
INLINE {i} mask_{v}(int64_t n) {{
  return ({i})(({v}m){{{iota}}} < (int{bits}_t)n - ({v}m){{}});
}}
INLINE {v} load_part_{v}(const {c} *p, int64_t n) {{
  return ({v})_mm{w}_maskload_{s}(({given} *)p, mask_{v}(n));
}}
INLINE void store_part_{v}({c} *p, {v} x, int64_t n) {{
  _mm{w}_maskstore_{s}(({given} *)p, mask_{v}(n), ({r})x);
}}
#else
{plain}#endif
"""

# Whether a lane of a mask is set.
_ANY = """INLINE int any_{v}({v} m) {{
#if {feature}
  return {intrinsic};
#else
  int any = 0; for (int i = 0; i < {lanes}; i++) any |= m[i]; return any;
#endif
}}
"""
_ANY_FEATURES = {
    16: ("defined(__SSE4_1__)", "!_mm_testz_si128((__m128i)m, (__m128i)m)"),
    32: ("defined(__AVX__)", "!_mm256_testz_si256((__m256i)m, (__m256i)m)"),
    64: ("defined(__AVX512F__)", "_mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0"),
}

_SUFFIX = {"f32": "ps", "f64": "pd", "i32": "epi32", "i64": "epi64", "i16": "epi16"}

_FMA = """INLINE {v} fma_{v}({v} a, {v} b, {v} c) {{
#if {feature}
  return ({v}){intrinsic};
#elif {half_feature}
  return {halves};
#else
  {v} r; for (int i = 0; i < {lanes}; i++) r[i] = {builtin}(a[i], b[i], c[i]); return r;
#endif
}}
INLINE {v} sqrt_{v}({v} a) {{
#if {feature_sqrt}
  return ({v}){sqrt};
#else
  {v} r; for (int i = 0; i < {lanes}; i++) r[i] = {builtin_sqrt}(a[i]); return r;
#endif
}}
"""

_FMA_FEATURES = {
    **{128: "defined(__FMA__)", 256: "defined(__FMA__)", 512: "defined(__AVX512F__)"},
}

# The product of the lower halves; a multiplication of whole u64 takes three of them.
_HALF_PRODUCT = """INLINE {v} half_product_{v}({v} a, {v} b) {{
#if {feature}
  return ({v})_mm{w}_mul_epu32((__m{width}i)a, (__m{width}i)b);
#else
  return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#endif
}}
"""

_ROUND = """INLINE {v} {name}_{v}({v} a) {{
#if {feature}
  return ({v}){intrinsic};
#else
  {v} r; for (int i = 0; i < {lanes}; i++) r[i] = __builtin_{name}{f}(a[i]); return r;
#endif
}}
"""
# `a < b ? a : b` and `a > b ? a : b`, also of NaN and of zeros of two signs.
_LIMIT = """INLINE {v} {name}_{v}({v} a, {v} b) {{
#if {feature}
  return ({v}){intrinsic};
#else
  return a {sign} b ? a : b;
#endif
}}
"""
_LIMITS = {"lesser": ("min", "<"), "greater": ("max", ">")}
_MODES = {"rint": 8, "floor": 9, "ceil": 10, "trunc": 11}


def vector_name(dtype: str, lanes: int) -> str:
    """The name of a vector type; bool is kept as bytes in memory only."""
    return f"{_NAMES.get(dtype, dtype)}x{lanes}"


_NAMES = {"bool": "u8", INDEX: "i64"}


def vector_types(used: Iterable[tuple[str, int]]) -> str:
    """The declarations of these vector types (dtype, lanes)."""
    out = []
    types = {(_NAMES.get(d, d), n) for d, n in used}
    halves = sorted([x for x in types if x[0] in HALVES])
    types |= {(d, n) for _, n in halves for d in ("f32", "i32", "i16")}
    for dtype, lanes in sorted(types - {*halves}):
        item, c, v = BYTES[dtype], C_TYPES[dtype], vector_name(dtype, lanes)
        width = item * lanes
        names = {"c": c, "v": v, "bytes": width, "item": item, "lanes": lanes}
        names["stream_feature"], names["stream"] = _STREAMS.get(width, ("0", ""))
        out.append(_TYPE.format(**names))
        plain = _PART.format(**names)
        if dtype in _SUFFIX and width in (16, 32, 64):
            w = "" if width == 16 else str(8 * width)
            register = f"__m{8 * width}" + {"f32": "", "f64": "d"}.get(dtype, "i")
            names |= {"w": w, "m": max(8, lanes), "s": _SUFFIX[dtype], "r": register}
            names |= {"i": f"__m{8 * width}i", "bits": 8 * item}
            names |= {"iota": ", ".join(map(str, range(lanes)))}
            names["needs"] = "defined(__AVX512VL__)" + " && defined(__AVX512BW__)" * (item < 4)
            names["given"] = {"i64": "long long", "i32": "int"}.get(dtype, c)
            out.append(_PART_512.format(**names, plain=plain))
        else:
            out.append(plain)
        if dtype == "i32":
            feature, intrinsic = _ANY_FEATURES.get(width, ("0", "0"))
            out.append(_ANY.format(**names, feature=feature, intrinsic=intrinsic))
        if dtype == "u64":
            needs = {16: "__SSE2__", 32: "__AVX2__", 64: "__AVX512F__"}.get(width)
            out.append(
                _HALF_PRODUCT.format(
                    v=v,
                    w="" if width == 16 else 8 * width,
                    width=8 * width,
                    feature=f"defined({needs})" if needs else "0",
                )
            )
        if dtype in ("f32", "f64"):
            out.append(_float_functions(dtype, lanes, names))
    return "".join(out + [half_vectors(*x) for x in halves])


def _float_functions(dtype: str, lanes: int, names: dict[str, object]) -> str:
    """fma, sqrt and roundings of one vector type of floats."""
    width = 8 * BYTES[dtype] * lanes
    s, f = _SUFFIX[dtype], "f" if dtype == "f32" else ""
    w = "" if width == 128 else str(width)
    register = f"__m{width}" + ("" if dtype == "f32" else "d")
    known = width in (128, 256, 512)
    sqrt_feature = {512: "defined(__AVX512F__)", 256: "defined(__AVX__)"}.get(
        width, "defined(__SSE2__)"
    )
    round_feature = {512: "defined(__AVX512F__)", 256: "defined(__AVX__)"}.get(
        width, "defined(__SSE4_1__)"
    )
    a, b, c = (f"({register}){x}" for x in "abc")
    text = _FMA.format(
        **names,
        feature=_FMA_FEATURES.get(width, "0"),
        intrinsic=f"_mm{w}_fmadd_{s}({a}, {b}, {c})",
        half_feature=_FMA_FEATURES.get(width // 2, "0"),
        halves=_halves(f"_mm{width // 2}_fmadd_{s}", lanes),
        feature_sqrt=sqrt_feature if known else "0",
        sqrt=f"_mm{w}_sqrt_{s}({a})",
        builtin=f"__builtin_fma{f}",
        builtin_sqrt=f"__builtin_sqrt{f}",
    )
    for name, mode in _MODES.items():
        how = "roundscale" if width == 512 else "round"
        intrinsic = f"_mm{w}_{how}_{s}({a}, {mode})"
        text += _ROUND.format(
            **names, name=name, f=f, feature=round_feature if known else "0", intrinsic=intrinsic
        )
    for name, (instruction, sign) in _LIMITS.items():
        intrinsic = f"_mm{w}_{instruction}_{s}({a}, {b})"
        feature = sqrt_feature if known else "0"
        text += _LIMIT.format(**names, name=name, sign=sign, feature=feature, intrinsic=intrinsic)
    return text


def _halves(function: str, lanes: int) -> str:
    """A function of a, b, c on both halves of vectors that are too wide for it."""
    first, second = range(lanes // 2), range(lanes // 2, lanes)
    calls = []
    for part in (first, second):
        picked = [f"__builtin_shufflevector({x}, {x}, {', '.join(map(str, part))})" for x in "abc"]
        calls.append(f"{function}({', '.join(picked)})")
    return f"__builtin_shufflevector({', '.join([*calls, *map(str, range(lanes))])})"


def literal(e: Expr) -> str:
    """C for a constant, exact: floats that are no small integers in hexadecimal."""
    x = e.attr
    if e.dtype in (INDEX, "i64"):
        return f"INT64_C({x})" if x > -(1 << 63) else "INT64_MIN"
    if e.dtype not in FLOATS:
        if BYTES[e.dtype] < 4 and e.dtype != "bool":
            return f"({C_TYPES[e.dtype]}){int(x)}"
        return f"{int(x)}{'u' if e.dtype[0] == 'u' else ''}"
    f = "" if e.dtype == "f64" else "f"
    if isnan(x):
        return f'__builtin_nan{f}("")'
    if not isfinite(x):
        return f"{'-' if x < 0 else ''}__builtin_inf{f}()"
    return f"{x.hex()}{f}" if x != int(x) or abs(x) > 1e6 else f"{x!r}{f}"
