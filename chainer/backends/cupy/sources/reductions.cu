// Sums of arrays that are small: one launch, where each result is the work of one block or less.

// The array is one of shape (outer, n, inner), summed over the middle axis; its elements are distances of
// outer_step, step and inner_step apart.

// Where inner is 1: a row for each position in outer. Rows and threads as in softmax.cu.
extern "C" __global__ void sum_rows(
    const T* x, T* y, long long rows, long long n, long long outer_step, long long step) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index count = used ? (Index)n : 0;
  A sum = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    sum += (A)x[row * (Index)outer_step + k * (Index)step];
  }
  sum = reduce_row<Sum>(sum);
  if (used && threadIdx.x == 0) y[row] = sum;
}

// Blocks of (32, 8) threads take 32 positions in inner; blockIdx.y is the position in outer.
extern "C" __global__ void sum_columns(
    const T* x, T* y, long long n, long long inner, long long outer_step, long long step,
    long long inner_step) {
  __shared__ A sums[8][32];
  const Index column = (Index)blockIdx.x * 32 + threadIdx.x;
  const Index start = (Index)blockIdx.y * (Index)outer_step + column * (Index)inner_step;
  A sum = 0;
  if (column < (Index)inner) {
    for (Index k = threadIdx.y; k < (Index)n; k += 8) sum += (A)x[start + k * (Index)step];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < (Index)inner) {
    for (int k = 1; k < 8; ++k) sum += sums[k][threadIdx.x];
    y[(Index)blockIdx.y * (Index)inner + column] = sum;
  }
}
