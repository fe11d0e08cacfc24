extern "C" __global__ void __launch_bounds__(96) byparts_sums_of_warps(
    const float * __restrict__ x,
    float * __restrict__ y) {
  const int t = threadIdx.x;
  float value;
  float other;
  value = x[t];
  other = __shfl_xor_sync(0xffffffffu, value, 16);
  value = value + other;
  other = __shfl_xor_sync(0xffffffffu, value, 8);
  value = value + other;
  other = __shfl_xor_sync(0xffffffffu, value, 4);
  value = value + other;
  other = __shfl_xor_sync(0xffffffffu, value, 2);
  value = value + other;
  other = __shfl_xor_sync(0xffffffffu, value, 1);
  value = value + other;
  y[t] = value;
}
