// Softmax cross entropy of scores (samples, n, inner) with labels (samples, inner) of type L. The
// softmax is kept in type S.
// Rows and threads as in softmax.cu.

// Position of the label in its row; n where it is out of range.
__device__ __forceinline__ Index label_of(L label, Index n) {
  const long long number = (long long)label;
  const long long wrapped = number < 0 ? number + n : number;
  return wrapped < 0 || wrapped >= (long long)n ? n : (Index)wrapped;
}

// score (null: not kept) gets the softmax. The loss of a label out of range is not a number.
extern "C" __global__ void cross_entropy_forward(
    const T* x, const L* t, const T* weight, T* losses, S* score, long long rows, long long n,
    long long inner, long long ignored) {
  const MiddleRow r(rows, n, inner);
  const RowSoftmax<A> m(x, r, inner);
  if (score) {
    for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
      const Index i = r.start + k * (Index)inner;
      score[i] = exp_((A)x[i] - m.top) / m.sum;
    }
  }
  if (r.used && threadIdx.x == 0) {
    const L label = t[r.row];
    A loss = 0;
    if ((long long)label != ignored) {
      const Index k = label_of(label, (Index)n);
      if (k == (Index)n) {
        loss = not_a_number();
      } else {
        loss = log_(m.sum) - ((A)x[r.start + k * (Index)inner] - m.top);
        if (weight) loss *= (A)weight[k];
      }
    }
    losses[r.row] = loss;
  }
}

// What a row is multiplied with: the number factor, or an element of factors, whose rows are a
// distance of factor_step apart; times the weight of the class.
__device__ __forceinline__ A row_factor(
    L label, const A* factors, long long factor_step, double factor, const T* weight, Index row,
    Index n, long long ignored) {
  if ((long long)label == ignored) return 0;
  A value = factors ? factors[row * (Index)factor_step] : (A)factor;
  if (weight) {
    const Index k = label_of(label, n);
    value *= k < n ? (A)weight[k] : (A)not_a_number();
  }
  return value;
}

extern "C" __global__ void cross_entropy_backward(
    const T* x, const L* t, const T* weight, const A* factors, T* gx, long long rows, long long n,
    long long inner, long long ignored, long long factor_step, double factor) {
  const MiddleRow r(rows, n, inner);
  const RowSoftmax<A> m(x, r, inner);
  if (!r.used) return;
  const L label = t[r.row];
  const A scale = row_factor(label, factors, factor_step, factor, weight, r.row, (Index)n, ignored);
  const Index hit = label_of(label, (Index)n);
  for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
    const Index i = r.start + k * (Index)inner;
    gx[i] = (exp_((A)x[i] - m.top) / m.sum - (k == hit ? (A)1 : (A)0)) * scale;
  }
}

// The same from a kept score; T is its type here, as S.
extern "C" __global__ void cross_entropy_backward_score(
    const T* score, const L* t, const T* weight, const A* factors, T* gx, long long n, long long inner,
    long long ignored, long long factor_step, double factor, long long size) {
  CHAINER_EACH(i, size) {
    const Index sample = i / (Index)(n * inner);
    const Index k = i / (Index)inner % (Index)n;
    const Index row = sample * (Index)inner + i % (Index)inner;
    const L label = t[row];
    const A scale = row_factor(label, factors, factor_step, factor, weight, row, (Index)n, ignored);
    gx[i] = ((A)score[i] - (k == label_of(label, (Index)n) ? (A)1 : (A)0)) * scale;
  }
}

// Sum of losses, divided by count or, if that is negative, by the number of labels (of type L) that are
// not the ignored one; at least by 1. One block, whose first row of threads works.
extern "C" __global__ void loss_mean(
    const T* losses, const L* t, T* loss, A* coefficient, long long size, long long ignored,
    long long count) {
  const Index end = threadIdx.y == 0 ? (Index)size : 0;
  A sum = 0;
  Index counted = 0;
  for (Index k = threadIdx.x; k < end; k += blockDim.x) {
    sum += (A)losses[k];
    if ((long long)t[k] != ignored) ++counted;
  }
  sum = reduce_row<Sum>(sum);
  counted = reduce_row<Sum>(counted);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    const long long divisor = larger(count < 0 ? (long long)counted : count, 1LL);
    *coefficient = (A)1 / (A)divisor;
    *loss = sum * *coefficient;
  }
}
