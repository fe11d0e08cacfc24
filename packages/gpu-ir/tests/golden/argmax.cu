extern "C" __global__ void __launch_bounds__(32) byparts_argmax(
    const float * __restrict__ x,
    int * __restrict__ y) {
  const int row = blockIdx.x;
  const int t = threadIdx.x;
  float best;
  float other;
  int at;
  int other_at;
  best = __int_as_float(0xff800000);
  at = 70;
  for (int k = 0; k < 3; ++k) {
    if ((t + k * 32) < 70) {
      const float t1 = x[row * 70 + t + k * 32];
      const int t2 = (int)(t + k * 32);
      const bool t3 = (best < t1) || ((t1 == best) && (t2 < at));
      const float t4 = t3 ? t1 : best;
      const int t5 = t3 ? t2 : at;
      best = t4;
      at = t5;
    }
  }
  other = __shfl_down_sync(0xffffffffu, best, 16);
  other_at = __shfl_down_sync(0xffffffffu, at, 16);
  const bool t6 = (best < other) || ((other == best) && (other_at < at));
  const float t7 = t6 ? other : best;
  const int t8 = t6 ? other_at : at;
  best = t7;
  at = t8;
  other = __shfl_down_sync(0xffffffffu, best, 8);
  other_at = __shfl_down_sync(0xffffffffu, at, 8);
  const bool t9 = (best < other) || ((other == best) && (other_at < at));
  const float t10 = t9 ? other : best;
  const int t11 = t9 ? other_at : at;
  best = t10;
  at = t11;
  other = __shfl_down_sync(0xffffffffu, best, 4);
  other_at = __shfl_down_sync(0xffffffffu, at, 4);
  const bool t12 = (best < other) || ((other == best) && (other_at < at));
  const float t13 = t12 ? other : best;
  const int t14 = t12 ? other_at : at;
  best = t13;
  at = t14;
  other = __shfl_down_sync(0xffffffffu, best, 2);
  other_at = __shfl_down_sync(0xffffffffu, at, 2);
  const bool t15 = (best < other) || ((other == best) && (other_at < at));
  const float t16 = t15 ? other : best;
  const int t17 = t15 ? other_at : at;
  best = t16;
  at = t17;
  other = __shfl_down_sync(0xffffffffu, best, 1);
  other_at = __shfl_down_sync(0xffffffffu, at, 1);
  const bool t18 = (best < other) || ((other == best) && (other_at < at));
  const float t19 = t18 ? other : best;
  const int t20 = t18 ? other_at : at;
  best = t19;
  at = t20;
  if (t < 1) {
    y[row] = at;
  }
}
