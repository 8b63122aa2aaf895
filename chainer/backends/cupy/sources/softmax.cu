// Softmax and its logarithm over the middle axis of arrays (outer, n, inner); outer * inner rows.
// blockDim.x threads share a row, blockDim.y rows share a block.

extern "C" __global__ void softmax_forward(
    const T* x, T* y, long long rows, long long n, long long inner, bool logarithm) {
  const MiddleRow r(rows, n, inner);
  const RowSoftmax<A> m(x, r, inner);
  const A shift = log_(m.sum);
  for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
    const Index i = r.start + k * (Index)inner;
    const A value = (A)x[i] - m.top;
    y[i] = logarithm ? value - shift : exp_(value) / m.sum;
  }
}

extern "C" __global__ void softmax_backward(
    const T* y, const T* gy, T* gx, long long rows, long long n, long long inner, bool logarithm) {
  const MiddleRow r(rows, n, inner);
  A sum = 0;
  for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
    const Index i = r.start + k * (Index)inner;
    sum += logarithm ? (A)gy[i] : (A)gy[i] * (A)y[i];
  }
  sum = reduce_row<Sum>(sum);
  for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
    const Index i = r.start + k * (Index)inner;
    const A value = y[i], gradient = gy[i];
    gx[i] = logarithm ? gradient - exp_(value) * sum : value * (gradient - sum);
  }
}
