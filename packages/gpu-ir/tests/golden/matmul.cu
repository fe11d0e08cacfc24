extern "C" __global__ void __launch_bounds__(256) byparts_matmul(
    const float * __restrict__ A,
    const float * __restrict__ B,
    float * __restrict__ C) {
  const int bx = blockIdx.x;
  const int by = blockIdx.y;
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  __shared__ __align__(16) float left[144];
  __shared__ __align__(16) float right[128];
  float acc;
  acc = 0.0f;
  for (int step = 0; step < 3; ++step) {
    if (tx < 8) {
      left[ty * 9 + tx] = (((by * 16 + ty) < 33) && ((tx + step * 8) < 20)) ? A[by * 320 + ty * 20 + tx + step * 8] : 0.0f;
    }
    if (ty < 8) {
      right[ty * 16 + tx] = (((ty + step * 8) < 20) && ((bx * 16 + tx) < 40)) ? B[bx * 16 + ty * 40 + tx + step * 320] : 0.0f;
    }
    __syncthreads();
    #pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      acc = acc + (left[ty * 9 + kk] * right[tx + kk * 16]);
    }
    __syncthreads();
  }
  if (((by * 16 + ty) < 33) && ((bx * 16 + tx) < 40)) {
    C[by * 640 + bx * 16 + ty * 40 + tx] = acc;
  }
}
