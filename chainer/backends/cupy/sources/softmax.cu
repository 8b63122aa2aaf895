// Softmax and its logarithm over the middle axis of arrays (outer, n, inner); outer * inner rows.
// blockDim.x threads share a row, blockDim.y rows share a block.

extern "C" __global__ void softmax_forward(
    const T* x, T* y, long long rows, long long n, long long inner, bool logarithm) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row / (Index)inner * (Index)(n * inner) + row % (Index)inner : 0;
  const Index count = used ? (Index)n : 0;
  A top = -infinity();
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    top = Maximum::join(top, (A)x[start + k * (Index)inner]);
  }
  top = reduce_row<Maximum>(top);
  A sum = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    sum += exp_((A)x[start + k * (Index)inner] - top);
  }
  sum = reduce_row<Sum>(sum);
  const A shift = log_(sum);
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const Index i = start + k * (Index)inner;
    const A value = (A)x[i] - top;
    y[i] = logarithm ? value - shift : exp_(value) / sum;
  }
}

extern "C" __global__ void softmax_backward(
    const T* y, const T* gy, T* gx, long long rows, long long n, long long inner, bool logarithm) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row / (Index)inner * (Index)(n * inner) + row % (Index)inner : 0;
  const Index count = used ? (Index)n : 0;
  A sum = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const Index i = start + k * (Index)inner;
    sum += logarithm ? (A)gy[i] : (A)gy[i] * (A)y[i];
  }
  sum = reduce_row<Sum>(sum);
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const Index i = start + k * (Index)inner;
    const A value = y[i], gradient = gy[i];
    gx[i] = logarithm ? gradient - exp_(value) * sum : value * (gradient - sum);
  }
}
