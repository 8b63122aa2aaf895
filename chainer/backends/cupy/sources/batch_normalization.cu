// Batch normalization of arrays (batch, channels, positions). P is the type of the parameters, R that of
// the running statistics; A is the type of the arithmetic and of all statistics.
//
// A reduction to channels is made in two steps: blocks reduce parts of each channel, then one thread for
// each channel joins the parts. Where there are positions, blocks are (threads, 1) and belong to one
// channel; else they are (32, 8) and belong to 32 channels, so that adjacent threads read adjacent elements.

struct Lane {
  Index channel, first, step, last;
  bool used;
  __device__ __forceinline__ Lane(
      bool columns, Index channels, Index count, Index part, Index parts) {
    const Index length = (count + parts - 1) / parts;
    const Index start = part * length;
    last = smaller(start + length, count);
    channel = columns ? (Index)blockIdx.x * 32 + threadIdx.x : (Index)blockIdx.x;
    first = start + (columns ? (Index)threadIdx.y : (Index)threadIdx.x);
    step = columns ? (Index)blockDim.y : (Index)blockDim.x;
    used = channel < channels;
    if (!used) last = first;
  }
};

// Sum over the threads of a channel; each of them gets it.
__device__ __forceinline__ A reduce_channel(A value, bool columns) {
  if (!columns) return reduce_row<Sum>(value);
  __shared__ A table[8][32];
  __syncthreads();
  table[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  value = 0;
  for (int k = 0; k < 8; ++k) value += table[k][threadIdx.x];
  return value;
}

__device__ __forceinline__ Index place(Index e, Index channel, Index channels, Index positions) {
  return (e / positions * channels + channel) * positions + e % positions;
}

// partial: (2, parts, channels), the means of the parts and the sums of squares around them.
extern "C" __global__ void batch_statistics(
    const T* x, A* partial, long long channels, long long count, long long positions, bool columns) {
  const Index part = blockIdx.y, parts = gridDim.y;
  const Lane lane(columns, (Index)channels, (Index)count, part, parts);
  const Index length = (Index)((count + parts - 1) / parts);
  const Index size = larger((Index)0, smaller(length, (Index)count - part * length));
  A sum = 0;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    sum += (A)x[place(e, lane.channel, (Index)channels, (Index)positions)];
  }
  const A mean = reduce_channel(sum, columns) / (A)larger(size, (Index)1);
  A squares = 0;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    const A value = (A)x[place(e, lane.channel, (Index)channels, (Index)positions)] - mean;
    squares += value * value;
  }
  squares = reduce_channel(squares, columns);
  if (lane.used && (columns ? threadIdx.y : threadIdx.x) == 0) {
    partial[part * (Index)channels + lane.channel] = mean;
    partial[(parts + part) * (Index)channels + lane.channel] = squares;
  }
}

// Updates the running statistics of a channel; squares is the sum of squares around the mean.
__device__ __forceinline__ void keep_running(
    R* running_mean, R* running_var, A mean, A squares, A count, double decay) {
  const A unbiased = squares / larger(count - (A)1, (A)1);
  *running_mean = (A)*running_mean * (A)decay + mean * (A)(1 - decay);
  *running_var = (A)*running_var * (A)decay + unbiased * (A)(1 - decay);
}

// Joins the parts; running statistics may be null.
extern "C" __global__ void batch_finish(
    const A* partial, A* mean, A* inv_std, R* running_mean, R* running_var, long long channels,
    long long count, long long parts, double eps, double decay) {
  CHAINER_EACH(c, channels) {
    const Index length = (Index)((count + parts - 1) / parts);
    A total = 0, average = 0, squares = 0;
    for (Index part = 0; part < (Index)parts; ++part) {
      const A size = larger((Index)0, smaller(length, (Index)count - part * length));
      if (size == (A)0) break;
      const A other = partial[part * (Index)channels + c];
      const A difference = other - average, joined = total + size;
      average += difference * (size / joined);
      squares += partial[((Index)parts + part) * (Index)channels + c];
      squares += difference * difference * (total * (size / joined));
      total = joined;
    }
    mean[c] = average;
    inv_std[c] = (A)1 / sqrt_(squares / total + (A)eps);
    if (running_mean) keep_running(running_mean + c, running_var + c, average, squares, total, decay);
  }
}

// y = gamma * (x - mean) * inv_std + beta.
extern "C" __global__ void batch_normalize(
    const T* x, const P* gamma, const P* beta, const A* mean, const A* inv_std, T* y,
    long long channels, long long positions, long long n) {
  CHAINER_EACH(i, n) {
    const Index c = i / (Index)positions % (Index)channels;
    y[i] = ((A)x[i] - mean[c]) * ((A)gamma[c] * inv_std[c]) + (A)beta[c];
  }
}

// All of the above at once, where a channel is one part; running statistics may be null.
extern "C" __global__ void batch_whole(
    const T* x, const P* gamma, const P* beta, T* y, A* mean, A* inv_std, R* running_mean,
    R* running_var, long long channels, long long count, long long positions, bool columns, double eps,
    double decay) {
  const Lane lane(columns, (Index)channels, (Index)count, 0, 1);
  const Index c = lane.channel;
  A sum = 0;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    sum += (A)x[place(e, c, (Index)channels, (Index)positions)];
  }
  const A average = reduce_channel(sum, columns) / (A)count;
  A squares = 0;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    const A value = (A)x[place(e, c, (Index)channels, (Index)positions)] - average;
    squares += value * value;
  }
  squares = reduce_channel(squares, columns);
  if (!lane.used) return;
  const A scale = (A)1 / sqrt_(squares / (A)count + (A)eps);
  if ((columns ? threadIdx.y : threadIdx.x) == 0) {
    mean[c] = average;
    inv_std[c] = scale;
    if (running_mean) keep_running(running_mean + c, running_var + c, average, squares, (A)count, decay);
  }
  const A factor = (A)gamma[c] * scale, shift = beta[c];
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    const Index i = place(e, c, (Index)channels, (Index)positions);
    y[i] = ((A)x[i] - average) * factor + shift;
  }
}

// partial: (2, parts, channels), the sums of gy and those of gy * (x - mean).
extern "C" __global__ void batch_gradient_sums(
    const T* x, const T* gy, const A* mean, A* partial, long long channels, long long count,
    long long positions, bool columns) {
  const Index part = blockIdx.y, parts = gridDim.y;
  const Lane lane(columns, (Index)channels, (Index)count, part, parts);
  const A center = lane.used ? mean[lane.channel] : (A)0;
  A sum = 0, product = 0;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    const Index i = place(e, lane.channel, (Index)channels, (Index)positions);
    const A gradient = gy[i];
    sum += gradient;
    product += gradient * ((A)x[i] - center);
  }
  sum = reduce_channel(sum, columns);
  product = reduce_channel(product, columns);
  if (lane.used && (columns ? threadIdx.y : threadIdx.x) == 0) {
    partial[part * (Index)channels + lane.channel] = sum;
    partial[(parts + part) * (Index)channels + lane.channel] = product;
  }
}

// Gradients of the parameters, and for batch_gradient the factor and the two summands of each channel.
// For given statistics gmean and gvar (else null) get gradients and nothing flows through them.
extern "C" __global__ void batch_gradient_finish(
    const A* partial, const P* gamma, const A* inv_std, P* ggamma, P* gbeta, P* gmean, P* gvar,
    A* terms, long long channels, long long count, long long parts) {
  CHAINER_EACH(c, channels) {
    A sum = 0, product = 0;
    for (Index part = 0; part < (Index)parts; ++part) {
      sum += partial[part * (Index)channels + c];
      product += partial[((Index)parts + part) * (Index)channels + c];
    }
    const A scale = inv_std[c];
    const A factor = (A)gamma[c] * scale;
    product *= scale;
    ggamma[c] = product;
    gbeta[c] = sum;
    terms[c] = factor;
    if (gmean) {
      gmean[c] = -factor * sum;
      gvar[c] = product * factor * scale * (A)-0.5;
      terms[(Index)channels + c] = 0;
      terms[2 * (Index)channels + c] = 0;
    } else {
      terms[(Index)channels + c] = product * scale / (A)count;
      terms[2 * (Index)channels + c] = sum / (A)count;
    }
  }
}

extern "C" __global__ void batch_gradient(
    const T* x, const T* gy, const A* mean, const A* terms, T* gx, long long channels,
    long long positions, long long n) {
  CHAINER_EACH(i, n) {
    const Index c = i / (Index)positions % (Index)channels;
    const A slope = terms[(Index)channels + c], shift = terms[2 * (Index)channels + c];
    gx[i] = terms[c] * ((A)gy[i] - shift - ((A)x[i] - mean[c]) * slope);
  }
}

// All three gradients at once, where a channel is one part.
extern "C" __global__ void batch_gradient_whole(
    const T* x, const T* gy, const P* gamma, const A* mean, const A* inv_std, T* gx, P* ggamma, P* gbeta,
    P* gmean, P* gvar, long long channels, long long count, long long positions, bool columns) {
  const Lane lane(columns, (Index)channels, (Index)count, 0, 1);
  const Index c = lane.channel;
  const A center = lane.used ? mean[c] : (A)0;
  A sum = 0, product = 0;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    const Index i = place(e, c, (Index)channels, (Index)positions);
    const A gradient = gy[i];
    sum += gradient;
    product += gradient * ((A)x[i] - center);
  }
  sum = reduce_channel(sum, columns);
  product = reduce_channel(product, columns);
  if (!lane.used) return;
  const A scale = inv_std[c];
  const A factor = (A)gamma[c] * scale;
  product *= scale;
  if ((columns ? threadIdx.y : threadIdx.x) == 0) {
    ggamma[c] = product;
    gbeta[c] = sum;
    if (gmean) {
      gmean[c] = -factor * sum;
      gvar[c] = product * factor * scale * (A)-0.5;
    }
  }
  const A slope = gmean ? (A)0 : product * scale / (A)count, shift = gmean ? (A)0 : sum / (A)count;
  for (Index e = lane.first; e < lane.last; e += lane.step) {
    const Index i = place(e, c, (Index)channels, (Index)positions);
    gx[i] = factor * ((A)gy[i] - shift - ((A)x[i] - center) * slope);
  }
}
