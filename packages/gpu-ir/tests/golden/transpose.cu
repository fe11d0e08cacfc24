extern "C" __global__ void __launch_bounds__(256) byparts_transpose(
    const float * __restrict__ x,
    float * __restrict__ y) {
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  __shared__ __align__(16) float tile[1056];
  for (int k = 0; k < 4; ++k) {
    if (((by * 32 + ty + k * 8) < 40) && ((bx * 32 + tx) < 50)) {
      tile[ty * 33 + tx + k * 264] = x[by * 1600 + bx * 32 + ty * 50 + tx + k * 400];
    }
  }
  __syncthreads();
  for (int q = 0; q < 4; ++q) {
    if (((by * 32 + tx) < 40) && ((bx * 32 + ty + q * 8) < 50)) {
      y[by * 32 + bx * 1280 + ty * 40 + tx + q * 320] = tile[ty + tx * 33 + q * 8];
    }
  }
}
