"""C that converts f16 and bf16: `from_` and `to_` their bits, `rounded_` for both in turn.

f16 by instructions where the target has them (F16C, AVX-512, NEON), else by integer arithmetic
after F. Giesen, "float->half variants" (https://gist.github.com/rygorous/2156668); bf16 is the
upper half of an f32.  To nearest even; what is too large becomes an infinity, subnormal numbers
stay, and a NaN keeps its sign and its first digits.  No two of these ways differ in a bit, but for
NaNs that signal.
"""

from __future__ import annotations

SCALARS = """INLINE float float_of(int32_t x) { float y; memcpy(&y, &x, 4); return y; }
INLINE int32_t bits_of(float x) { int32_t y; memcpy(&y, &x, 4); return y; }
INLINE float from_bf16(uint16_t x) { return float_of((int32_t)((uint32_t)x << 16)); }
INLINE uint16_t to_bf16(float x) {
  const int32_t b = bits_of(x);
  return (uint16_t)((x != x ? b | 0x400000 : b + 0x7FFF + (b >> 16 & 1)) >> 16);
}
INLINE float from_f16(uint16_t x) {
#if defined(__F16C__)
  return _cvtsh_ss(x);
#elif defined(__aarch64__)
  __fp16 y; memcpy(&y, &x, 2); return y;
#else
  const int32_t b = x & 0x7FFF, sign = (int32_t)((uint32_t)(x & 0x8000) << 16);
  const int32_t y = bits_of(float_of(b << 13) * 0x1p112f);
  return float_of(y | sign | (b > 0x7BFF ? 0x7F800000 : 0));
#endif
}
INLINE uint16_t to_f16(float x) {
#if defined(__F16C__)
  return _cvtss_sh(x, 0);
#elif defined(__aarch64__)
  const __fp16 y = x; uint16_t z; memcpy(&z, &y, 2); return z;
#else
  const int32_t b = bits_of(x), a = b & 0x7FFFFFFF;
  int32_t y = (a + 0xFFF + (a >> 13 & 1) - 0x38000000) >> 13;
  y = y > 0x7C00 ? 0x7C00 : y;
  y = a < 0x38800000 ? bits_of(float_of(a) + 0.5f) - 0x3F000000 : y;
  y = a > 0x7F800000 ? 0x7E00 | (a >> 13 & 0x1FF) : y;
  return (uint16_t)(y | (b >> 16 & 0x8000));
#endif
}
INLINE float rounded_bf16(float x) { return from_bf16(to_bf16(x)); }
INLINE float rounded_f16(float x) { return from_f16(to_f16(x)); }
"""

_VECTORS = """typedef {f} {v};
INLINE {v} from_{v}({h} x) {{
{read}
}}
INLINE {h} to_{v}({v} x) {{
{write}
}}
INLINE {v} rounded_{v}({v} x) {{
{round}
}}
INLINE {v} load_{v}(const uint16_t *p) {{ return from_{v}(load_{h}((const int16_t *)p)); }}
INLINE void store_{v}(uint16_t *p, {v} x) {{ store_{h}((int16_t *)p, to_{v}(x)); }}
INLINE void stream_{v}(uint16_t *p, {v} x, bool wanted) {{
  stream_{h}((int16_t *)p, to_{v}(x), wanted);
}}
INLINE {v} load_part_{v}(const uint16_t *p, int64_t n) {{
  return from_{v}(load_part_{h}((const int16_t *)p, n));
}}
INLINE void store_part_{v}(uint16_t *p, {v} x, int64_t n) {{
  store_part_{h}((int16_t *)p, to_{v}(x), n);
}}
"""

_BF16 = {
    "read": "  return ({v})(__builtin_convertvector(x, {i}) << 16);",
    "write": """  const {i} b = ({i})x, y = x != x ? b | 0x400000 : b + 0x7FFF + (b >> 16 & 1);
  return __builtin_convertvector(y >> 16, {h});""",
    "round": """  const {i} b = ({i})x, y = x != x ? b | 0x400000 : b + 0x7FFF + (b >> 16 & 1);
  return ({v})(y & -0x10000);""",
}

_F16 = {
    "read": """#if {feature}
  return ({v}){from_intrinsic};
#else
  const {i} w = __builtin_convertvector(x, {i}), b = w & 0x7FFF;
  const {i} y = ({i})(({f})(b << 13) * 0x1p112f);
  return ({v})(y | (w & INT32_MIN) | ((b > 0x7BFF) & 0x7F800000));
#endif""",
    "write": """#if {feature}
  return ({h}){to_intrinsic};
#else
  const {i} b = ({i})x, a = b & 0x7FFFFFFF;
  {i} y = (a + 0xFFF + (a >> 13 & 1) - 0x38000000) >> 13;
  y = y > 0x7C00 ? 0x7C00 - ({i}){{}} : y;
  y = a < 0x38800000 ? ({i})(({f})a + 0.5f) - 0x3F000000 : y;
  y = a > 0x7F800000 ? 0x7E00 | (a >> 13 & 0x1FF) : y;
  return __builtin_convertvector(y | (b >> 16 & 0x8000), {h});
#endif""",
    "round": "  return from_{v}(to_{v}(x));",
}

# Lanes -> feature, from f16, to f16.
_F16_INTRINSICS = {
    16: ("defined(__AVX512F__)", "_mm512_cvtph_ps((__m256i)x)", "_mm512_cvtps_ph((__m512)x, 0)"),
    8: ("defined(__F16C__)", "_mm256_cvtph_ps((__m128i)x)", "_mm256_cvtps_ph((__m256)x, 0)"),
    4: (
        "defined(__aarch64__)",
        "vcvt_f32_f16(vreinterpret_f16_s16((int16x4_t)x))",
        "vreinterpret_s16_f16(vcvt_f16_f32((float32x4_t)x))",
    ),
}


def half_vectors(dtype: str, lanes: int) -> str:
    """The functions of one vector type of f16 or bf16, which is one of f32 in registers.

    After those of as many f32, i32 and i16.
    """
    names = {"v": f"{dtype}x{lanes}"}
    names |= {letter: f"{name}x{lanes}" for letter, name in (("f", "f32"), ("i", "i32"))}
    names["h"] = f"i16x{lanes}"
    keys = ("feature", "from_intrinsic", "to_intrinsic")
    names |= dict(zip(keys, _F16_INTRINSICS.get(lanes, ("0", "x", "x")), strict=True))
    bodies = _F16 if dtype == "f16" else _BF16
    return _VECTORS.format(**names, **{k: text.format(**names) for k, text in bodies.items()})
