// Updates of parameters, and changes of gradients before them, many in one launch. The arrays of all
// parameters are given by address: a launch needs no table in the memory of the device.
// T is the type of parameters and states, G that of gradients: the same, or one of 16 bits where float
// parameters are updated in place of those of 16 bits, which are rounded copies of them.

#define CHAINER_TENSORS 48
#define CHAINER_ARRAYS 6
#define CHAINER_CHUNK 1024

struct Tensors {
  long long sizes[CHAINER_TENSORS];
  // Addresses of parameter, gradient and states of each tensor, and of its rounded copy (the last one);
  // zero for those left out.
  unsigned long long arrays[CHAINER_ARRAYS][CHAINER_TENSORS];
  // Number of the first block that works on each tensor, and the number of all blocks.
  int blocks[CHAINER_TENSORS + 1];
  int count;
};

struct Hyperparameters {
  double values[10];
  // Gradients are multiples of the true ones.
  double scale;
};

// The part of a tensor that a block works on.
struct Chunk {
  int tensor;
  long long start, end;
  __device__ __forceinline__ explicit Chunk(const Tensors& tensors) {
    int low = 0, high = tensors.count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (tensors.blocks[middle] <= (int)blockIdx.x) low = middle; else high = middle;
    }
    tensor = low;
    start = (long long)((int)blockIdx.x - tensors.blocks[low]) * CHAINER_CHUNK;
    end = smaller(start + CHAINER_CHUNK, tensors.sizes[low]);
  }
};

#define CHAINER_CHUNK_EACH(i, chunk) \
  for (long long i = chunk.start + threadIdx.x; i < chunk.end; i += blockDim.x)

// Calls the update for each element of the chunk of the block.
#define CHAINER_UPDATE(name, arrays_used)                                                             \
  extern "C" __global__ void name(Tensors tensors, Hyperparameters h) {                               \
    const Chunk chunk(tensors);                                                                       \
    T* arrays[CHAINER_ARRAYS];                                                                        \
    for (int k = 0; k < arrays_used; ++k) arrays[k] = (T*)tensors.arrays[k][chunk.tensor];            \
    const G* gradients = (const G*)tensors.arrays[1][chunk.tensor];                                   \
    G* copies = (G*)tensors.arrays[CHAINER_ARRAYS - 1][chunk.tensor];                                 \
    const name##_rule rule(h);                                                                        \
    const bool scaled = h.scale != 1;                                                                 \
    CHAINER_CHUNK_EACH(i, chunk) {                                                                    \
      const A gradient = gradients[i];                                                                \
      rule.apply(arrays, i, scaled ? gradient / (A)h.scale : gradient);                               \
      if (copies) copies[i] = (A)arrays[0][i];                                                        \
    }                                                                                                 \
  }

// weight is that of the value.
__device__ __forceinline__ A average(A mean, A value, A weight) {
  return mean + weight * (value - mean);
}

struct sgd_rule {
  A lr;
  __device__ __forceinline__ sgd_rule(const Hyperparameters& h) : lr(h.values[0]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    a[0][i] = (A)a[0][i] - lr * g;
  }
};
CHAINER_UPDATE(sgd, 2)

struct momentum_sgd_rule {
  A lr, momentum;
  __device__ __forceinline__ momentum_sgd_rule(const Hyperparameters& h)
      : lr(h.values[0]), momentum(h.values[1]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A v = momentum * (A)a[2][i] - lr * g;
    a[2][i] = v;
    a[0][i] = (A)a[0][i] + v;
  }
};
CHAINER_UPDATE(momentum_sgd, 3)

struct corrected_momentum_sgd_rule {
  A lr, momentum;
  __device__ __forceinline__ corrected_momentum_sgd_rule(const Hyperparameters& h)
      : lr(h.values[0]), momentum(h.values[1]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A v = momentum * (A)a[2][i] - g;
    a[2][i] = v;
    a[0][i] = (A)a[0][i] + lr * v;
  }
};
CHAINER_UPDATE(corrected_momentum_sgd, 3)

struct nesterov_ag_rule {
  A lr, momentum;
  __device__ __forceinline__ nesterov_ag_rule(const Hyperparameters& h)
      : lr(h.values[0]), momentum(h.values[1]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A step = lr * g;
    const A v = momentum * (A)a[2][i] - step;
    a[2][i] = v;
    a[0][i] = (A)a[0][i] + momentum * momentum * v - ((A)1 + momentum) * step;
  }
};
CHAINER_UPDATE(nesterov_ag, 3)

struct ada_grad_rule {
  A lr, eps;
  __device__ __forceinline__ ada_grad_rule(const Hyperparameters& h)
      : lr(h.values[0]), eps(h.values[1]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A sum = (A)a[2][i] + g * g;
    a[2][i] = sum;
    a[0][i] = (A)a[0][i] - lr * (g / (sqrt_(sum) + eps));
  }
};
CHAINER_UPDATE(ada_grad, 3)

struct ada_delta_rule {
  A weight, eps;
  __device__ __forceinline__ ada_delta_rule(const Hyperparameters& h)
      : weight(1 - h.values[0]), eps(h.values[1]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A msg = average((A)a[2][i], g * g, weight);
    const A dx = sqrt_(((A)a[3][i] + eps) / (msg + eps)) * g;
    a[2][i] = msg;
    a[3][i] = average((A)a[3][i], dx * dx, weight);
    a[0][i] = (A)a[0][i] - dx;
  }
};
CHAINER_UPDATE(ada_delta, 4)

// Values: alpha_t, beta1, beta2, eps, eta, weight_decay_rate, whether there are bounds, bounds. The fifth
// array, vhat, is left out without AMSGrad.
struct adam_rule {
  A rate, weight1, weight2, eps, eta, keep, low, high;
  bool bounded;
  __device__ __forceinline__ adam_rule(const Hyperparameters& h)
      : rate(h.values[0]), weight1(1 - h.values[1]), weight2(1 - h.values[2]), eps(h.values[3]),
        eta(h.values[4]), keep(1 - h.values[4] * h.values[5]), low(h.values[7]), high(h.values[8]),
        bounded(h.values[6] != 0) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A m = average((A)a[2][i], g, weight1);
    const A v = average((A)a[3][i], g * g, weight2);
    A second = v;
    a[2][i] = m;
    a[3][i] = v;
    if (a[4]) {
      second = larger((A)a[4][i], v);
      a[4][i] = second;
    }
    const A denominator = sqrt_(second) + eps;
    const A step = bounded ? smaller(larger(rate / denominator, low), high) * m : rate * (m / denominator);
    a[0][i] = (A)a[0][i] * keep - eta * step;
  }
};
CHAINER_UPDATE(adam, 5)

struct rmsprop_rule {
  A lr, weight, eps;
  bool inside;
  __device__ __forceinline__ rmsprop_rule(const Hyperparameters& h)
      : lr(h.values[0]), weight(1 - h.values[1]), eps(h.values[2]), inside(h.values[3] != 0) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A ms = average((A)a[2][i], g * g, weight);
    a[2][i] = ms;
    a[0][i] = (A)a[0][i] - lr * (g / (inside ? sqrt_(ms + eps) : sqrt_(ms) + eps));
  }
};
CHAINER_UPDATE(rmsprop, 3)

struct rmsprop_graves_rule {
  A lr, weight, momentum, eps;
  __device__ __forceinline__ rmsprop_graves_rule(const Hyperparameters& h)
      : lr(h.values[0]), weight(1 - h.values[1]), momentum(h.values[2]), eps(h.values[3]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A n = average((A)a[2][i], g * g, weight);
    const A mean = average((A)a[3][i], g, weight);
    const A delta = momentum * (A)a[4][i] - lr * (g / sqrt_(n - mean * mean + eps));
    a[2][i] = n;
    a[3][i] = mean;
    a[4][i] = delta;
    a[0][i] = (A)a[0][i] + delta;
  }
};
CHAINER_UPDATE(rmsprop_graves, 5)

struct smorms3_rule {
  A lr, eps;
  __device__ __forceinline__ smorms3_rule(const Hyperparameters& h)
      : lr(h.values[0]), eps(h.values[1]) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A mem = a[2][i];
    const A r = (A)1 / (mem + (A)1);
    const A first = average((A)a[3][i], g, r);
    const A second = average((A)a[4][i], g * g, r);
    const A x = first * first / (second + eps);
    a[2][i] = (A)1 + mem * ((A)1 - x);
    a[3][i] = first;
    a[4][i] = second;
    a[0][i] = (A)a[0][i] - g * smaller(lr, x) / (sqrt_(second) + eps);
  }
};
CHAINER_UPDATE(smorms3, 5)

// Values: lr, beta, eta, weight_decay_rate, correction, rho.
struct msvag_rule {
  A weight, scale, keep, inverse, rho, shrink;
  __device__ __forceinline__ msvag_rule(const Hyperparameters& h)
      : weight(1 - h.values[1]), scale(h.values[2] * h.values[0] / h.values[4]),
        keep(1 - h.values[2] * h.values[3]), inverse(1 / h.values[4]), rho(h.values[5]),
        // At the first update rho is one: the variance is unknown and the step not shrunk.
        shrink(h.values[5] < 1 ? 1 / (1 - h.values[5]) : 0.0) {}
  __device__ __forceinline__ void apply(T** a, long long i, A g) const {
    const A m = average((A)a[2][i], g, weight);
    const A v = average((A)a[3][i], g * g, weight);
    a[2][i] = m;
    a[3][i] = v;
    const A square = (m * inverse) * (m * inverse);
    const A total = (v * inverse - square) * shrink * rho + square;
    const A factor = total == (A)0 ? (A)1 : square / total;
    a[0][i] = (A)a[0][i] * keep - factor * m * scale;
  }
};
CHAINER_UPDATE(msvag, 4)

// Changes of gradients. The true gradient is changed, and the result scaled as it was before.
#define CHAINER_GRADIENT(name)                                                                        \
  extern "C" __global__ void name(Tensors tensors, Hyperparameters h) {                               \
    const Chunk chunk(tensors);                                                                       \
    const T* params = (const T*)tensors.arrays[0][chunk.tensor];                                      \
    G* gradients = (G*)tensors.arrays[1][chunk.tensor];                                               \
    const name##_change change(h);                                                                    \
    const bool scaled = h.scale != 1;                                                                 \
    CHAINER_CHUNK_EACH(i, chunk) {                                                                    \
      const A gradient = gradients[i];                                                                \
      const A result = change.apply(params[i], scaled ? gradient / (A)h.scale : gradient);            \
      gradients[i] = scaled ? result * (A)h.scale : result;                                           \
    }                                                                                                 \
  }

struct weight_decay_change {
  A rate;
  __device__ __forceinline__ weight_decay_change(const Hyperparameters& h) : rate(h.values[0]) {}
  __device__ __forceinline__ A apply(A param, A g) const { return g + rate * param; }
};
CHAINER_GRADIENT(weight_decay)

struct lasso_change {
  A rate;
  __device__ __forceinline__ lasso_change(const Hyperparameters& h) : rate(h.values[0]) {}
  __device__ __forceinline__ A apply(A param, A g) const {
    return param > (A)0 ? g + rate : param < (A)0 ? g - rate : g + rate * param;
  }
};
CHAINER_GRADIENT(lasso)

// Values: bounds. The gradients stand in the place of the parameters.
struct clip_change {
  A low, high;
  __device__ __forceinline__ clip_change(const Hyperparameters& h)
      : low(h.values[0]), high(h.values[1]) {}
  __device__ __forceinline__ A apply(A param, A g) const {
    return g < low ? low : g > high ? high : g;
  }
};
CHAINER_GRADIENT(clip)

// Multiplies gradients by a number in the memory of the device.
extern "C" __global__ void scale_gradients(Tensors tensors, const A* factor) {
  const Chunk chunk(tensors);
  G* gradients = (G*)tensors.arrays[1][chunk.tensor];
  CHAINER_CHUNK_EACH(i, chunk) gradients[i] = (A)gradients[i] * factor[0];
}

// sums: one for each block, of the squares of the gradients in its chunk; first: number of the first.
// In double, where squares of float do not overflow: the time is that of reading the gradients.
extern "C" __global__ void sum_squares(Tensors tensors, double* sums, long long first) {
  const Chunk chunk(tensors);
  const G* gradients = (const G*)tensors.arrays[1][chunk.tensor];
  double sum = 0;
  CHAINER_CHUNK_EACH(i, chunk) {
    const double gradient = (A)gradients[i];
    sum += gradient * gradient;
  }
  sum = reduce_row<Sum>(sum);
  if (threadIdx.x == 0) sums[first + blockIdx.x] = sum;
}

// Copies the second array of each tensor to the first, zeros where there is none.
extern "C" __global__ void copy_tensors(Tensors tensors, Hyperparameters h) {
  const Chunk chunk(tensors);
  T* out = (T*)tensors.arrays[0][chunk.tensor];
  const T* source = (const T*)tensors.arrays[1][chunk.tensor];
  CHAINER_CHUNK_EACH(i, chunk) out[i] = source ? (A)source[i] : (A)0;
}
