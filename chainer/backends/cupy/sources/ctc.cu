// Connectionist temporal classification. x: (steps, batch, classes); L is the type of labels, M that of
// lengths. A label sequence of length m becomes a path of 2 m + 1 states: blanks in the even positions,
// labels in the odd ones. One block for each sample; its threads share the states.

#define NEVER ((A)-1e30)

__device__ __forceinline__ A join_paths(A a, A b, A c) {
  const A top = larger(larger(a, b), c);
  return top + log_(exp_(a - top) + exp_(b - top) + exp_(c - top));
}

struct Sample {
  const L* labels;
  Index steps, states;
  long long blank;
  __device__ __forceinline__ Sample(
      const L* t, const M* input_length, const M* label_length, long long width, long long blank_) {
    labels = t + (Index)blockIdx.x * (Index)width;
    steps = (Index)input_length[blockIdx.x];
    states = 2 * (Index)label_length[blockIdx.x] + 1;
    blank = blank_;
  }
  __device__ __forceinline__ Index symbol(Index state) const {
    return state % 2 ? (Index)labels[state / 2] : (Index)blank;
  }
  // Whether lengths and labels are in range.
  __device__ __forceinline__ bool is_valid(Index most_steps, Index width, Index classes) const {
    bool valid = steps >= 0 && steps <= most_steps && states >= 1 && states <= 2 * width + 1;
    for (Index s = 1; valid && s < states; s += 2) {
      valid = (long long)labels[s / 2] >= 0 && (long long)labels[s / 2] < (long long)classes;
    }
    return valid;
  }
  // Whether no state before has the same symbol.
  __device__ __forceinline__ bool is_first(Index state) const {
    const Index own = symbol(state);
    bool first = state == 0 || own != (Index)blank;
    for (Index s = 1; first && s < state; s += 2) first = symbol(s) != own;
    return first;
  }
  // Whether a path may reach the state from two states before.
  __device__ __forceinline__ bool skips(Index state) const {
    return state >= 3 && state % 2 && labels[state / 2] != labels[state / 2 - 1];
  }
};

// log_sums: (steps, batch); rows and threads as in softmax.cu.
extern "C" __global__ void ctc_log_sums(const T* x, A* log_sums, long long rows, long long n) {
  const Index row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
  const bool used = row < (Index)rows;
  const Index start = used ? row * (Index)n : 0;
  const Index count = used ? (Index)n : 0;
  A top = -infinity();
  for (Index k = threadIdx.x; k < count; k += blockDim.x) top = Maximum::join(top, (A)x[start + k]);
  top = reduce_row<Maximum>(top);
  A sum = 0;
  for (Index k = threadIdx.x; k < count; k += blockDim.x) sum += exp_((A)x[start + k] - top);
  sum = reduce_row<Sum>(sum);
  if (used && threadIdx.x == 0) log_sums[row] = top + log_(sum);
}

// trellis: (steps, batch, width of states): log probabilities of all alignments that are in a state at a
// time. log_p: (batch,). What is out of range makes a loss that is not a number.
extern "C" __global__ void ctc_forward(
    const T* x, const L* t, const M* input_length, const M* label_length, const A* log_sums,
    A* trellis, A* log_p, T* losses, long long steps, long long batch, long long classes,
    long long width, long long blank, double impossible) {
  const Sample sample(t, input_length, label_length, width, blank);
  if (!sample.is_valid((Index)steps, (Index)width, (Index)classes)) {
    if (threadIdx.x == 0) {
      log_p[blockIdx.x] = not_a_number();
      losses[blockIdx.x] = (A)not_a_number();
    }
    return;
  }
  const Index row = (Index)(2 * width + 1), jump = (Index)batch * row;
  A* current = trellis + (Index)blockIdx.x * row;
  for (Index step = 0; step < sample.steps; ++step) {
    const Index place = step * (Index)batch + (Index)blockIdx.x;
    const T* scores = x + place * (Index)classes;
    const A* before = current - jump;
    for (Index s = threadIdx.x; s < sample.states; s += blockDim.x) {
      A value = s < 2 ? (A)0 : NEVER;
      if (step > 0) {
        value = join_paths(before[s], s > 0 ? before[s - 1] : NEVER,
                           sample.skips(s) ? before[s - 2] : NEVER);
      }
      current[s] = value + ((A)scores[sample.symbol(s)] - log_sums[place]);
    }
    current += jump;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    A total;
    if (sample.steps == 0) {
      total = sample.states == 1 ? (A)0 : NEVER;
    } else {
      const A* last = current - jump;
      total = join_paths(last[sample.states - 1],
                         sample.states > 1 ? last[sample.states - 2] : NEVER, NEVER);
    }
    log_p[blockIdx.x] = total;
    losses[blockIdx.x] = total > NEVER / 2 ? -total : (A)impossible;
  }
}

// gx must be zero before. beta: (3, batch, width of states), scratch. The shares of the states with one
// symbol are added in their order, so that the result does not depend on the order of threads.
extern "C" __global__ void ctc_backward(
    const T* x, const L* t, const M* input_length, const M* label_length, const A* log_sums,
    const A* trellis, const A* log_p, const A* scale, A* gx, A* beta, long long batch,
    long long classes, long long width, long long blank) {
  const Sample sample(t, input_length, label_length, width, blank);
  const Index row = (Index)(2 * width + 1), jump = (Index)batch * row;
  const A total = log_p[blockIdx.x];
  if (!(total > NEVER / 2)) return;
  const A factor = scale[blockIdx.x];
  A* shares = beta + 2 * jump + (Index)blockIdx.x * row;
  A* rows[2] = {beta + (Index)blockIdx.x * row, beta + jump + (Index)blockIdx.x * row};
  for (Index step = sample.steps - 1; step >= 0; --step) {
    const Index place = step * (Index)batch + (Index)blockIdx.x;
    const T* scores = x + place * (Index)classes;
    A* gradient = gx + place * (Index)classes;
    for (Index k = threadIdx.x; k < (Index)classes; k += blockDim.x) {
      gradient[k] = factor * exp_((A)scores[k] - log_sums[place]);
    }
    __syncthreads();
    // Log probability of reaching the end from each state, the present symbol included in rows but not
    // in value.
    A* now = rows[step % 2];
    const A* after = rows[(step + 1) % 2];
    for (Index s = threadIdx.x; s < sample.states; s += blockDim.x) {
      A value = s + 2 >= sample.states ? (A)0 : NEVER;
      if (step < sample.steps - 1) {
        value = join_paths(after[s], s + 1 < sample.states ? after[s + 1] : NEVER,
                           s + 2 < sample.states && sample.skips(s + 2) ? after[s + 2] : NEVER);
      }
      const Index symbol = sample.symbol(s);
      now[s] = value + ((A)scores[symbol] - log_sums[place]);
      shares[s] = exp_(trellis[place * row + s] + value - total);
    }
    __syncthreads();
    for (Index s = threadIdx.x; s < sample.states; s += blockDim.x) {
      if (!sample.is_first(s)) continue;
      const Index symbol = sample.symbol(s);
      A sum = 0;
      for (Index k = s; k < sample.states; ++k) sum += sample.symbol(k) == symbol ? shares[k] : (A)0;
      gradient[symbol] -= factor * sum;
    }
    __syncthreads();
  }
}
