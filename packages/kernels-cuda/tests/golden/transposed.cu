extern "C" __global__ void __launch_bounds__(256) byparts_transposed_0(
    const float * __restrict__ in0,
    const float * __restrict__ in1,
    float * __restrict__ out0) {
  const int b = blockIdx.x;
  const int t = threadIdx.x;
  __shared__ __align__(16) float tile0[1056];
  #pragma unroll
  for (int read = 0; read < 4; ++read) {
    const bool t1 = (read * 8 + (t / 32) + (b % 2) * 32) < 50;
    if (t1) {
      tile0[(t % 32) + read * 264 + (t / 32) * 33] = in0[(t % 32) + read * 512 + (t / 32) * 64 + (b % 2) * 2048 + (b / 2) * 32];
    }
  }
  __syncthreads();
  #pragma unroll
  for (int write = 0; write < 4; ++write) {
    const bool t2 = ((t % 32) + (b % 2) * 32) < 50;
    if (t2) {
      const float t3 = in1[(t % 32) + write * 400 + (t / 32) * 50 + (b % 2) * 32 + (b / 2) * 1600];
      out0[(t % 32) + write * 400 + (t / 32) * 50 + (b % 2) * 32 + (b / 2) * 1600] = tile0[(t % 32) * 33 + write * 8 + (t / 32)] + t3;
    }
  }
}
