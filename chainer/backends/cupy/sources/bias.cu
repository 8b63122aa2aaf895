// y (rows, n) += bias (n).
extern "C" __global__ void add_bias(T* y, const T* bias, long long n, long long count) {
  CHAINER_EACH(i, count) {
    y[i] = (A)y[i] + (A)bias[i % (Index)n];
  }
}
