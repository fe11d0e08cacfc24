// train.py:41
extern "C" __global__ void __launch_bounds__(64, 1) byparts_softmax(
    const float * __restrict__ x,
    float * __restrict__ y) {
  const int row = blockIdx.x;
  const int t = threadIdx.x;
  __shared__ __align__(16) float red[2];
  float most;
  float total;
  float other;
  most = __int_as_float(0xff800000);
  for (int k = 0; k < 4; ++k) {
    if ((t + k * 64) < 200) {
      const float t1 = x[row * 200 + t + k * 64];
      most = (most > t1 || most != most) ? most : t1;
    }
  }
  other = __shfl_down_sync(0xffffffffu, most, 16);
  most = (most > other || most != most) ? most : other;
  other = __shfl_down_sync(0xffffffffu, most, 8);
  most = (most > other || most != most) ? most : other;
  other = __shfl_down_sync(0xffffffffu, most, 4);
  most = (most > other || most != most) ? most : other;
  other = __shfl_down_sync(0xffffffffu, most, 2);
  most = (most > other || most != most) ? most : other;
  other = __shfl_down_sync(0xffffffffu, most, 1);
  most = (most > other || most != most) ? most : other;
  if ((t % 32) == 0) {
    red[t / 32] = most;
  }
  __syncthreads();
  if (t < 32) {
    most = (t < 2) ? red[t] : __int_as_float(0xff800000);
    other = __shfl_down_sync(0xffffffffu, most, 16);
    most = (most > other || most != most) ? most : other;
    other = __shfl_down_sync(0xffffffffu, most, 8);
    most = (most > other || most != most) ? most : other;
    other = __shfl_down_sync(0xffffffffu, most, 4);
    most = (most > other || most != most) ? most : other;
    other = __shfl_down_sync(0xffffffffu, most, 2);
    most = (most > other || most != most) ? most : other;
    other = __shfl_down_sync(0xffffffffu, most, 1);
    most = (most > other || most != most) ? most : other;
    if (t < 1) {
      red[0] = most;
    }
  }
  __syncthreads();
  most = red[0];
  __syncthreads();
  total = 0.0f;
  for (int k = 0; k < 4; ++k) {
    if ((t + k * 64) < 200) {
      const float t2 = x[row * 200 + t + k * 64] - most;
      const float t3 = (t2 < -104.0f) ? -104.0f : t2;
      const float t4 = (89.0f < t3) ? 89.0f : t3;
      const float t5 = fmaf(t4, 1.442695f, 12582912.0f);
      const float t6 = t5 - 12582912.0f;
      const float t7 = fmaf(t6, -1.4286068e-06f, fmaf(t6, -0.69314575f, t4));
      const float t8 = fmaf(fmaf(0.0001991357f, t7, 0.001394102f), t7, 0.008333274f);
      const float t9 = fmaf(fmaf(fmaf(t8, t7, 0.041666355f), t7, 0.16666667f), t7, 0.5f);
      const int t10 = __float_as_int(t5);
      const int t11 = (unsigned)t10 - 1262485504;
      const int t12 = t11 >> 1;
      const int t13 = (unsigned)t12 + 127;
      const int t14 = (unsigned)t13 << 23;
      const int t15 = (unsigned)t11 - t12;
      const int t16 = (unsigned)t15 + 127;
      const int t17 = (unsigned)t16 << 23;
      const float t18 = ((fmaf(t9, t7 * t7, t7) + 1.0f) * __int_as_float(t14)) * __int_as_float(t17);
      total = total + t18;
    }
  }
  other = __shfl_down_sync(0xffffffffu, total, 16);
  total = total + other;
  other = __shfl_down_sync(0xffffffffu, total, 8);
  total = total + other;
  other = __shfl_down_sync(0xffffffffu, total, 4);
  total = total + other;
  other = __shfl_down_sync(0xffffffffu, total, 2);
  total = total + other;
  other = __shfl_down_sync(0xffffffffu, total, 1);
  total = total + other;
  if ((t % 32) == 0) {
    red[t / 32] = total;
  }
  __syncthreads();
  if (t < 32) {
    total = (t < 2) ? red[t] : 0.0f;
    other = __shfl_down_sync(0xffffffffu, total, 16);
    total = total + other;
    other = __shfl_down_sync(0xffffffffu, total, 8);
    total = total + other;
    other = __shfl_down_sync(0xffffffffu, total, 4);
    total = total + other;
    other = __shfl_down_sync(0xffffffffu, total, 2);
    total = total + other;
    other = __shfl_down_sync(0xffffffffu, total, 1);
    total = total + other;
    if (t < 1) {
      red[0] = total;
    }
  }
  __syncthreads();
  total = red[0];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if ((t + k * 64) < 200) {
      const float t19 = x[row * 200 + t + k * 64] - most;
      const float t20 = (t19 < -104.0f) ? -104.0f : t19;
      const float t21 = (89.0f < t20) ? 89.0f : t20;
      const float t22 = fmaf(t21, 1.442695f, 12582912.0f);
      const float t23 = t22 - 12582912.0f;
      const float t24 = fmaf(t23, -1.4286068e-06f, fmaf(t23, -0.69314575f, t21));
      const float t25 = fmaf(fmaf(0.0001991357f, t24, 0.001394102f), t24, 0.008333274f);
      const float t26 = fmaf(fmaf(fmaf(t25, t24, 0.041666355f), t24, 0.16666667f), t24, 0.5f);
      const int t27 = __float_as_int(t22);
      const int t28 = (unsigned)t27 - 1262485504;
      const int t29 = t28 >> 1;
      const int t30 = (unsigned)t29 + 127;
      const int t31 = (unsigned)t30 << 23;
      const int t32 = (unsigned)t28 - t29;
      const int t33 = (unsigned)t32 + 127;
      const int t34 = (unsigned)t33 << 23;
      const float t35 = ((fmaf(t26, t24 * t24, t24) + 1.0f) * __int_as_float(t31)) * __int_as_float(t34);
      y[row * 200 + t + k * 64] = t35 / total;
    }
  }
}
