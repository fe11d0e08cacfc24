extern "C" __global__ void __launch_bounds__(256) byparts_column_sum(
    const float * __restrict__ x,
    float * __restrict__ y) {
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  __shared__ __align__(16) float part[256];
  float total;
  total = 0.0f;
  for (int k = 0; k < 7; ++k) {
    if (((ty + k * 8) < 50) && ((bx * 32 + tx) < 40)) {
      total = total + x[bx * 32 + ty * 40 + tx + k * 320];
    }
  }
  part[ty * 32 + tx] = total;
  __syncthreads();
  if ((ty < 1) && ((bx * 32 + tx) < 40)) {
    total = 0.0f;
    #pragma unroll
    for (int q = 0; q < 8; ++q) {
      total = total + part[tx + q * 32];
    }
    y[bx * 32 + tx] = total;
  }
}
