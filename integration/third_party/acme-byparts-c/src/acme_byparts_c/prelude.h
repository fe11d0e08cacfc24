#include <math.h>
#include <string.h>
#define INLINE static inline __attribute__((always_inline))
/* nan if one is; in two steps, which gcc 12 turns into vectors */
INLINE float larger(float a, float b) { const float c = a > b ? a : b; return a != a ? a : c; }
INLINE float smaller(float a, float b) { const float c = a < b ? a : b; return a != a ? a : c; }
#pragma omp declare reduction(larger : float : omp_out = larger(omp_in, omp_out)) initializer(omp_priv = -INFINITY)
#pragma omp declare reduction(smaller : float : omp_out = smaller(omp_in, omp_out)) initializer(omp_priv = INFINITY)
INLINE float two_to(int n) { n = (n + 127) << 23; float x; memcpy(&x, &n, 4); return x; }
/* 2^n p(r) with x = n ln 2 + r; two factors, so that subnormal results are right.  1 ulp. */
INLINE float exponential(float x) {
  x = x < -104.f ? -104.f : x > 89.f ? 89.f : x;
  const float n = rintf(x * 1.44269504088896341f);
  const float r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f; p = p * r + 8.3334519073e-3f; p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f; p = p * r + 5.0000001201e-1f;
  const int k = n == n ? (int)n : 0, half = k >> 1;
  return (p * (r * r) + r + 1.f) * two_to(half) * two_to(k - half);
}
/* e^-|x| never overflows: 1 / (1 + e^89) would be 0, and x times that -0 where it is -2e-37. */
INLINE float logistic(float x) { const float e = exponential(-fabsf(x)); return (x < 0 ? e : 1.f) / (1.f + e); }
/* x p(x^2) / q(x^2), and exactly 1 or -1 where it rounds to that; 5 ulp. */
INLINE float hyperbolic_tangent(float x) {
  const float s = x * x;
  float p = -2.76076847742355e-16f, q = 1.19825839466702e-06f;
  p = p * s + 2.00018790482477e-13f; p = p * s - 8.60467152213735e-11f; p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f; p = p * s + 6.37261928875436e-04f; p = p * s + 4.89352455891786e-03f;
  q = q * s + 1.18534705686654e-04f; q = q * s + 2.26843463243900e-03f; q = q * s + 4.89352518554385e-03f;
  const float y = fabsf(x) < 4e-4f ? x : x * p / q;
  return x > 7.9f ? 1.f : x < -7.9f ? -1.f : y;
}
