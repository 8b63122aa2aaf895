// Vectors, and matrices with vectors: levels 1 and 2 of BLAS.
#include "cublas.hpp"

namespace {

// The one-based place of the element of largest (or smallest) magnitude.
template <class T>
int extreme(long n, const T* x, long step, bool largest) {
  long best = 0;
  Real<T> value = 0;
  for (long i = 0; i < n && step > 0; ++i) {
    const Real<T> other = magnitude(load(x[i * step]));
    if (i == 0 || (largest ? other > value : other < value)) {
      best = i;
      value = other;
    }
  }
  return n < 1 || step <= 0 ? 0 : best + 1;
}

template <class T>
Real<T> sum_of_magnitudes(long n, const T* x, long step) {
  double sum = 0;
  for (long i = 0; i < n && step > 0; ++i) sum += magnitude(load(x[i * step]));
  return sum;
}

template <class T>
Real<T> norm(long n, const T* x, long step) {
  double largest = 0, sum = 0;
  for (long i = 0; i < n && step > 0; ++i) {
    const double value = std::abs(load(x[i * step]));
    if (!(value <= largest)) largest = value;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  for (long i = 0; i < n; ++i) sum += std::norm(load(x[i * step]) / largest);
  return largest * std::sqrt(sum);
}

template <class T>
T dot(long n, const T* x, long step_x, const T* y, long step_y, bool conjugated) {
  Sum<T> sum(0);
  x = first(x, n, step_x);
  y = first(y, n, step_y);
  for (long i = 0; i < n; ++i) {
    const Sum<T> value = load(x[i * step_x]);
    sum += (conjugated ? conjugate(value) : value) * load(y[i * step_y]);
  }
  return static_cast<T>(sum);
}

// y = alpha op(A) x + beta y
template <class T>
void multiply(int operation, long m, long n, T alpha, const T* a, long lda, const T* x, long step_x, T beta,
              T* y, long step_y) {
  const long rows = operation == PLAIN ? m : n, columns = operation == PLAIN ? n : m;
  x = first(x, columns, step_x);
  y = first(y, rows, step_y);
  for (long i = 0; i < rows; ++i) {
    Sum<T> sum(0), value(0);
    for (long j = 0; alpha != T(0) && j < columns; ++j)
      sum += element(a, lda, operation, i, j) * load(x[j * step_x]);
    if (alpha != T(0)) value = load(alpha) * sum;
    if (beta != T(0)) value += load(beta) * load(y[i * step_y]);
    y[i * step_y] = static_cast<T>(value);
  }
}

}  // namespace

#define VECTORS(X, x_, NORM, MAGNITUDES, T)                                                                 \
  API cublasI##x_##amax_v2(Handle* handle, int n, const T* x, int step, int* result) {                      \
    CHECK(result);                                                                                          \
    *result = extreme(n, x, step, true);                                                                    \
    return OK;                                                                                              \
  }                                                                                                         \
  API cublasI##x_##amin_v2(Handle* handle, int n, const T* x, int step, int* result) {                      \
    CHECK(result);                                                                                          \
    *result = extreme(n, x, step, false);                                                                   \
    return OK;                                                                                              \
  }                                                                                                         \
  API cublas##MAGNITUDES##_v2(Handle* handle, int n, const T* x, int step, Real<T>* result) {               \
    CHECK(result);                                                                                          \
    *result = sum_of_magnitudes(n, x, step);                                                                \
    return OK;                                                                                              \
  }                                                                                                         \
  API cublas##NORM##_v2(Handle* handle, int n, const T* x, int step, Real<T>* result) {                     \
    CHECK(result);                                                                                          \
    *result = norm(n, x, step);                                                                             \
    return OK;                                                                                              \
  }                                                                                                         \
  API cublas##X##axpy_v2(Handle* handle, int n, const T* alpha, const T* x, int step_x, T* y, int step_y) { \
    CHECK(alpha);                                                                                           \
    const T *from = first(x, n, step_x), factor = *alpha;                                                   \
    T* to = first(y, n, step_y);                                                                            \
    for (long i = 0; i < n; ++i) to[i * step_y] += factor * from[i * step_x];                               \
    return OK;                                                                                              \
  }                                                                                                         \
  API cublas##X##scal_v2(Handle* handle, int n, const T* alpha, T* x, int step) {                           \
    CHECK(alpha);                                                                                           \
    const T factor = *alpha;                                                                                \
    for (long i = 0; i < n && step > 0; ++i) x[i * step] *= factor;                                         \
    return OK;                                                                                              \
  }                                                                                                         \
  API cublas##X##gemv_v2(Handle* handle, int operation, int m, int n, const T* alpha, const T* a, int lda,  \
                         const T* x, int step_x, const T* beta, T* y, int step_y) {                         \
    CHECK(is_operation(operation) && m >= 0 && n >= 0 && lda >= std::max(1, m) && step_x && step_y &&       \
          alpha && beta);                                                                                   \
    if (m && n) multiply(operation, m, n, *alpha, a, lda, x, step_x, *beta, y, step_y);                     \
    return OK;                                                                                              \
  }
VECTORS(S, s, Snrm2, Sasum, float)
VECTORS(D, d, Dnrm2, Dasum, double)
VECTORS(C, c, Scnrm2, Scasum, Complex)
VECTORS(Z, z, Dznrm2, Dzasum, DoubleComplex)

#define DOT(NAME, T, CONJUGATED)                                                                            \
  API cublas##NAME##_v2(Handle* handle, int n, const T* x, int step_x, const T* y, int step_y, T* result) { \
    CHECK(result);                                                                                          \
    *result = dot(n, x, step_x, y, step_y, CONJUGATED);                                                     \
    return OK;                                                                                              \
  }
DOT(Sdot, float, false)
DOT(Ddot, double, false)
DOT(Cdotu, Complex, false)
DOT(Cdotc, Complex, true)
DOT(Zdotu, DoubleComplex, false)
DOT(Zdotc, DoubleComplex, true)

#define GER(NAME, T, CONJUGATED)                                                                          \
  API cublas##NAME##_v2(Handle* handle, int m, int n, const T* alpha, const T* x, int step_x, const T* y, \
                        int step_y, T* a, int lda) {                                                      \
    CHECK(m >= 0 && n >= 0 && step_x && step_y && lda >= std::max(1, m) && alpha);                        \
    x = first(x, m, step_x);                                                                              \
    y = first(y, n, step_y);                                                                              \
    for (long j = 0; j < n; ++j) {                                                                        \
      const Sum<T> value = load(y[j * step_y]);                                                           \
      const Sum<T> factor = load(*alpha) * (CONJUGATED ? conjugate(value) : value);                       \
      for (long i = 0; i < m; ++i) {                                                                      \
        T& to = a[i + j * static_cast<long>(lda)];                                                        \
        to = static_cast<T>(load(to) + load(x[i * step_x]) * factor);                                     \
      }                                                                                                   \
    }                                                                                                     \
    return OK;                                                                                            \
  }
GER(Sger, float, false)
GER(Dger, double, false)
GER(Cgeru, Complex, false)
GER(Cgerc, Complex, true)
GER(Zgeru, DoubleComplex, false)
GER(Zgerc, DoubleComplex, true)
