// Local response normalization of arrays (samples, channels, positions).

__device__ __forceinline__ A power(A x, double exponent) {
  if (exponent == 0.75) return (A)1 / (sqrt_(x) * sqrt_(sqrt_(x)));
  if (exponent == 0.5) return (A)1 / sqrt_(x);
  return pow_(x, (A)-exponent);
}

// The channel of an element, and those that its response is normalized over.
struct Neighbors {
  Index channel, first, last;
  __device__ __forceinline__ Neighbors(Index i, long long channels, long long positions, long long half) {
    channel = i / (Index)positions % (Index)channels;
    first = larger(channel - (Index)half, (Index)0);
    last = smaller(channel + (Index)half, (Index)channels - 1);
  }
};

extern "C" __global__ void response_forward(
    const T* x, T* y, A* scale, long long channels, long long positions, long long half, double k,
    double alpha, double beta, long long n) {
  CHAINER_EACH(i, n) {
    const Neighbors near(i, channels, positions, half);
    A sum = 0;
    for (Index other = near.first; other <= near.last; ++other) {
      const A value = x[i + (other - near.channel) * (Index)positions];
      sum += value * value;
    }
    const A total = (A)k + (A)alpha * sum;
    scale[i] = total;
    y[i] = (A)x[i] * power(total, beta);
  }
}

extern "C" __global__ void response_backward(
    const T* x, const T* y, const T* gy, const A* scale, T* gx, long long channels,
    long long positions, long long half, double alpha, double beta, long long n) {
  CHAINER_EACH(i, n) {
    const Neighbors near(i, channels, positions, half);
    A sum = 0;
    for (Index other = near.first; other <= near.last; ++other) {
      const Index j = i + (other - near.channel) * (Index)positions;
      sum += (A)gy[j] * (A)y[j] / scale[j];
    }
    gx[i] = (A)gy[i] * power(scale[i], beta) - (A)(2 * alpha * beta) * (A)x[i] * sum;
  }
}
