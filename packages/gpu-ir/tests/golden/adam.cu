// fit.py:3
extern "C" __global__ void __launch_bounds__(64) byparts_adam(
    const float * __restrict__ w,
    const float * __restrict__ dw,
    const float * __restrict__ m,
    const float * __restrict__ v,
    float * __restrict__ new_w,
    float * __restrict__ new_m,
    float * __restrict__ new_v) {
  const int bx = blockIdx.x;
  const int t = threadIdx.x;
  if ((bx * 256 + t * 4) < 600) {
    __align__(16) float v1[4];
    *(float4 *)v1 = *(const float4 *)&w[bx * 256 + t * 4];
    __align__(16) float v2[4];
    *(float4 *)v2 = *(const float4 *)&m[bx * 256 + t * 4];
    __align__(16) float v3[4];
    *(float4 *)v3 = *(const float4 *)&dw[bx * 256 + t * 4];
    __align__(16) float v4[4];
    *(float4 *)v4 = *(const float4 *)&v[bx * 256 + t * 4];
    __align__(16) float v5[4];
    __align__(16) float v6[4];
    __align__(16) float v7[4];
    #pragma unroll
    for (int v_1 = 0; v_1 < 4; ++v_1) {
      const float t8 = (v2[v_1] * 0.9f) + (v3[v_1] * 0.1f);
      const float t9 = (v4[v_1] * 0.999f) + ((v3[v_1] * v3[v_1]) * 0.001f);
      const float t10 = v1[v_1] - ((t8 * 0.01f) / (sqrtf(t9) + 1e-08f));
      v5[v_1] = t10;
      v6[v_1] = t8;
      v7[v_1] = t9;
    }
    *(float4 *)&new_w[bx * 256 + t * 4] = *(float4 *)v5;
    *(float4 *)&new_m[bx * 256 + t * 4] = *(float4 *)v6;
    *(float4 *)&new_v[bx * 256 + t * 4] = *(float4 *)v7;
  }
}
