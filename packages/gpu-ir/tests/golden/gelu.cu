// model.py:7
extern "C" __global__ void __launch_bounds__(64) byparts_gelu(
    const float * __restrict__ x,
    const float * __restrict__ g,
    const float * __restrict__ b,
    float * __restrict__ y) {
  const int row = blockIdx.x;
  const int part = blockIdx.y;
  const int t = threadIdx.x;
  __align__(16) float v1[4];
  *(float4 *)v1 = *(const float4 *)&x[row * 512 + part * 256 + t * 4];
  __align__(16) float v2[4];
  *(float4 *)v2 = *(const float4 *)&g[part * 256 + t * 4];
  __align__(16) float v3[4];
  *(float4 *)v3 = *(const float4 *)&b[part * 256 + t * 4];
  __align__(16) float v4[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float t5 = (v1[v] * v2[v]) + v3[v];
    const float t6 = t5 * 0.70710677f;
    const float t7 = fabsf(t6);
    const float t8 = t6 * t6;
    const float t9 = fmaf(fmaf(7.889119e-05f, t8, -0.0008020841f), t8, 0.005189535f);
    const float t10 = fmaf(fmaf(fmaf(t9, t8, -0.026854444f), t8, 0.112836f), t8, -0.37612626f);
    const float t11 = (t7 < 0.0f) ? 0.0f : t7;
    const float t12 = (4.0f < t11) ? 4.0f : t11;
    const float t13 = fmaf(fmaf(2.149622e-05f, t12, -0.00043910756f), t12, 0.0041936166f);
    const float t14 = fmaf(fmaf(fmaf(t13, t12, -0.025178982f), t12, 0.1083725f), t12, 0.6332626f);
    const float t15 = -fmaf(fmaf(t14, t12, 1.1295569f), t12, -0.00018344587f);
    const float t16 = (t15 < -17.5f) ? -17.5f : t15;
    const float t17 = (89.0f < t16) ? 89.0f : t16;
    const float t18 = fmaf(t17, 1.442695f, 12582912.0f);
    const float t19 = t18 - 12582912.0f;
    const float t20 = fmaf(t19, -1.4286068e-06f, fmaf(t19, -0.69314575f, t17));
    const float t21 = fmaf(fmaf(0.0001991357f, t20, 0.001394102f), t20, 0.008333274f);
    const float t22 = fmaf(fmaf(fmaf(t21, t20, 0.041666355f), t20, 0.16666667f), t20, 0.5f);
    const int t23 = __float_as_int(t18);
    const int t24 = (unsigned)t23 - 1262485504;
    const bool t25 = 30 < t24;
    const int t26 = t25 ? 30 : t24;
    const int t27 = -(unsigned)t26;
    const int t28 = (unsigned)t27 + 127;
    const int t29 = (unsigned)t28 << 23;
    const float t30 = fmaf(t22, t20 * t20, t20) + (1.0f - (t25 ? 0.0f : __int_as_float(t29)));
    const int t31 = t24 >> 1;
    const int t32 = (unsigned)t31 + 127;
    const int t33 = (unsigned)t32 << 23;
    const int t34 = (unsigned)t24 - t31;
    const int t35 = (unsigned)t34 + 127;
    const int t36 = (unsigned)t35 << 23;
    const float t37 = (t15 == 0.0f) ? t15 : ((t30 * __int_as_float(t33)) * __int_as_float(t36));
    const int t38 = __float_as_int(-t37);
    const int t39 = __float_as_int(t6);
    const int t40 = t39 & (-2147483647 - 1);
    const int t41 = t38 | t40;
    const float t42 = (t7 < 1.0f) ? fmaf(fmaf(t10, t8, 0.12837917f), t6, t6) : __int_as_float(t41);
    v4[v] = (t5 * 0.5f) * (t42 + 1.0f);
  }
  *(float4 *)&y[row * 512 + part * 256 + t * 4] = *(float4 *)v4;
}
