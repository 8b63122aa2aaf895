// Layer and group normalization of arrays (rows, n). P is the type of the parameters. Rows and threads as
// in softmax.cu.

// Which element of the parameters belongs to an element of a row.
struct Column {
  __device__ __forceinline__ Index operator()(Index row, Index k) const { return k; }
};

// Rows are groups of channels of samples.
struct Channel {
  Index groups, channels, pixels;
  __device__ __forceinline__ Index operator()(Index row, Index k) const {
    return row % groups * channels + k / pixels;
  }
};

template <class Parameter>
__device__ __forceinline__ void normalize(
    const Parameter& parameter, const T* x, const P* gamma, const P* beta, T* y, A* means,
    A* inv_stds, long long rows, long long n, double eps) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row * (Index)n : 0;
  const Index count = used ? (Index)n : 0;
  A sum = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) sum += (A)x[start + k];
  const A mean = reduce_row<Sum>(sum) / (A)n;
  A squares = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const A value = (A)x[start + k] - mean;
    squares += value * value;
  }
  const A inv_std = (A)1 / sqrt_(reduce_row<Sum>(squares) / (A)n + (A)eps);
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const Index i = parameter(row, k);
    y[start + k] = ((A)x[start + k] - mean) * inv_std * (A)gamma[i] + (A)beta[i];
  }
  if (used && threadIdx.x == 0) {
    means[row] = mean;
    inv_stds[row] = inv_std;
  }
}

extern "C" __global__ void layer_forward(
    const T* x, const P* gamma, const P* beta, T* y, A* means, A* inv_stds, long long rows, long long n,
    double eps) {
  normalize(Column(), x, gamma, beta, y, means, inv_stds, rows, n, eps);
}

extern "C" __global__ void group_forward(
    const T* x, const P* gamma, const P* beta, T* y, A* means, A* inv_stds, long long rows, long long n,
    double eps, long long groups, long long pixels) {
  const Channel channel = {(Index)groups, (Index)(n / pixels), (Index)pixels};
  normalize(channel, x, gamma, beta, y, means, inv_stds, rows, n, eps);
}

template <class Parameter>
__device__ __forceinline__ void differentiate(
    const Parameter& parameter, const T* x, const P* gamma, const T* gy, const A* means,
    const A* inv_stds, T* gx, long long rows, long long n) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row * (Index)n : 0;
  const Index count = used ? (Index)n : 0;
  const A mean = used ? means[row] : (A)0, inv_std = used ? inv_stds[row] : (A)0;
  A sum = 0, product = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const A gradient = (A)gy[start + k] * (A)gamma[parameter(row, k)];
    sum += gradient;
    product += gradient * ((A)x[start + k] - mean);
  }
  sum = reduce_row<Sum>(sum) / (A)n;
  product = reduce_row<Sum>(product) * inv_std / (A)n;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const A gradient = (A)gy[start + k] * (A)gamma[parameter(row, k)];
    gx[start + k] = inv_std * (gradient - sum - ((A)x[start + k] - mean) * inv_std * product);
  }
}

extern "C" __global__ void layer_backward(
    const T* x, const P* gamma, const T* gy, const A* means, const A* inv_stds, T* gx, long long rows,
    long long n) {
  differentiate(Column(), x, gamma, gy, means, inv_stds, gx, rows, n);
}

extern "C" __global__ void group_backward(
    const T* x, const P* gamma, const T* gy, const A* means, const A* inv_stds, T* gx, long long rows,
    long long n, long long groups, long long pixels) {
  const Channel channel = {(Index)groups, (Index)(n / pixels), (Index)pixels};
  differentiate(channel, x, gamma, gy, means, inv_stds, gx, rows, n);
}

// Gradients of the parameters for each sample: rows are channels of samples, (rows, pixels).
extern "C" __global__ void group_backward_parameters(
    const T* x, const T* gy, const A* means, const A* inv_stds, A* products, A* sums, long long rows,
    long long pixels, long long channels) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row * (Index)pixels : 0;
  const Index count = used ? (Index)pixels : 0;
  // channels: those of a group.
  const Index group = used ? row / (Index)channels : 0;
  const A mean = used ? means[group] : (A)0, inv_std = used ? inv_stds[group] : (A)0;
  A sum = 0, product = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    sum += (A)gy[start + k];
    product += (A)gy[start + k] * ((A)x[start + k] - mean);
  }
  sum = reduce_row<Sum>(sum);
  product = reduce_row<Sum>(product) * inv_std;
  if (used && threadIdx.x == 0) {
    sums[row] = sum;
    products[row] = product;
  }
}

// Gradients of the parameters: blocks of 32 columns and 8 rows.
extern "C" __global__ void layer_backward_parameters(
    const T* x, const T* gy, const A* means, const A* inv_stds, P* ggamma, P* gbeta, long long rows,
    long long n) {
  __shared__ A sums[8][32];
  __shared__ A products[8][32];
  const Index column = (Index)blockIdx.x * 32 + threadIdx.x;
  A sum = 0, product = 0;
  if (column < (Index)n) {
    for (Index row = threadIdx.y; row < (Index)rows; row += 8) {
      const A gradient = gy[row * (Index)n + column];
      sum += gradient;
      product += gradient * ((A)x[row * (Index)n + column] - means[row]) * inv_stds[row];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  products[threadIdx.y][threadIdx.x] = product;
  __syncthreads();
  if (threadIdx.y == 0 && column < (Index)n) {
    sum = product = 0;
    for (int k = 0; k < 8; ++k) {
      sum += sums[k][threadIdx.x];
      product += products[k][threadIdx.x];
    }
    gbeta[column] = sum;
    ggamma[column] = product;
  }
}
