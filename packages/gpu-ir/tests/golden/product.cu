extern "C" __global__ void __launch_bounds__(64) byparts_product_bf16_11(
    const unsigned short * __restrict__ A,
    const unsigned short * __restrict__ B,
    float * __restrict__ C) {
  const int t = threadIdx.x;
  unsigned matrix_a[4];
  unsigned matrix_b[4];
  float accumulator[16];
  #pragma unroll
  for (int j = 0; j < 2; ++j) {
    accumulator[j * 8] = 0.0f;
    accumulator[j * 8 + 1] = 0.0f;
    accumulator[j * 8 + 2] = 0.0f;
    accumulator[j * 8 + 3] = 0.0f;
    accumulator[j * 8 + 4] = 0.0f;
    accumulator[j * 8 + 5] = 0.0f;
    accumulator[j * 8 + 6] = 0.0f;
    accumulator[j * 8 + 7] = 0.0f;
  }
  for (int step = 0; step < 3; ++step) {
    asm volatile("{ .reg .u64 place; cvta.to.global.u64 place, %4; wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%0, %1, %2, %3}, [place], %5; }"
      : "=r"(matrix_a[0]), "=r"(matrix_a[1]), "=r"(matrix_a[2]), "=r"(matrix_a[3])
      : "l"(&A[step * 16 + (t / 32) * 768]), "r"(48) : "memory");
    #pragma unroll
    for (int column = 0; column < 2; ++column) {
      asm volatile("{ .reg .u64 place; cvta.to.global.u64 place, %4; wmma.load.b.sync.aligned.row.m16n16k16.global.bf16 {%0, %1, %2, %3}, [place], %5; }"
        : "=r"(matrix_b[0]), "=r"(matrix_b[1]), "=r"(matrix_b[2]), "=r"(matrix_b[3])
        : "l"(&B[step * 512 + column * 16]), "r"(32) : "memory");
      asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(accumulator[column * 8]), "+f"(accumulator[column * 8 + 1]), "+f"(accumulator[column * 8 + 2]), "+f"(accumulator[column * 8 + 3]), "+f"(accumulator[column * 8 + 4]), "+f"(accumulator[column * 8 + 5]), "+f"(accumulator[column * 8 + 6]), "+f"(accumulator[column * 8 + 7])
        : "r"(matrix_a[0]), "r"(matrix_a[1]), "r"(matrix_a[2]), "r"(matrix_a[3]), "r"(matrix_b[0]), "r"(matrix_b[1]), "r"(matrix_b[2]), "r"(matrix_b[3]) : "memory");
    }
  }
  asm volatile("{ .reg .u64 place; cvta.to.global.u64 place, %8; wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [place], {%0, %1, %2, %3, %4, %5, %6, %7}, %9; }"
    : 
    : "f"(accumulator[0]), "f"(accumulator[1]), "f"(accumulator[2]), "f"(accumulator[3]), "f"(accumulator[4]), "f"(accumulator[5]), "f"(accumulator[6]), "f"(accumulator[7]), "l"(&C[(t / 32) * 512]), "r"(32) : "memory");
  asm volatile("{ .reg .u64 place; cvta.to.global.u64 place, %8; wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [place], {%0, %1, %2, %3, %4, %5, %6, %7}, %9; }"
    : 
    : "f"(accumulator[8]), "f"(accumulator[9]), "f"(accumulator[10]), "f"(accumulator[11]), "f"(accumulator[12]), "f"(accumulator[13]), "f"(accumulator[14]), "f"(accumulator[15]), "l"(&C[(t / 32) * 512 + 16]), "r"(32) : "memory");
}
