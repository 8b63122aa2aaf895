// Layer normalisation of arrays (rows, n). P is the type of the parameters. Rows and threads as in
// softmax.cu.

extern "C" __global__ void layer_forward(
    const T* x, const P* gamma, const P* beta, T* y, A* means, A* inv_stds, long long rows, long long n,
    double eps) {
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
    y[start + k] = ((A)x[start + k] - mean) * inv_std * (A)gamma[k] + (A)beta[k];
  }
  if (used && threadIdx.x == 0) {
    means[row] = mean;
    inv_stds[row] = inv_std;
  }
}

extern "C" __global__ void layer_backward(
    const T* x, const P* gamma, const T* gy, const A* means, const A* inv_stds, T* gx, long long rows,
    long long n) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row * (Index)n : 0;
  const Index count = used ? (Index)n : 0;
  const A mean = used ? means[row] : (A)0, inv_std = used ? inv_stds[row] : (A)0;
  A sum = 0, product = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const A gradient = (A)gy[start + k] * (A)gamma[k];
    sum += gradient;
    product += gradient * ((A)x[start + k] - mean);
  }
  sum = reduce_row<Sum>(sum) / (A)n;
  product = reduce_row<Sum>(product) * inv_std / (A)n;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) {
    const A gradient = (A)gy[start + k] * (A)gamma[k];
    gx[start + k] = inv_std * (gradient - sum - ((A)x[start + k] - mean) * inv_std * product);
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
