// Matrices: sums and transposes, products with a diagonal or with themselves, triangular systems, LU
// factors of many matrices.
#include "cublas.hpp"

namespace {

// Solves op(A) X = alpha B or X op(A) = alpha B in place, A triangular.
template <class T>
void solve_triangular(int side, int fill, int operation, int diagonal, long m, long n, T alpha, const T* a,
                      long lda, T* b, long ldb) {
  // X op(A) = alpha B is op(A)^T X^T = alpha B^T: A is transposed once more.
  const long size = side == LEFT ? m : n, count = side == LEFT ? n : m;
  const bool transposed = (operation != PLAIN) != (side == RIGHT);
  const bool lower = (fill == LOWER) != transposed;
  std::vector<Sum<T>> matrix(size * size, Sum<T>(0)), x(size);
  for (long i = 0; i < size; ++i)
    for (long j = 0; j < size; ++j) {
      if (fill == LOWER ? i < j : i > j) continue;
      Sum<T> value = i == j && diagonal == UNIT ? Sum<T>(1) : load(a[i + j * lda]);
      if (operation == ADJOINT) value = conjugate(value);
      matrix[transposed ? j + i * size : i + j * size] = value;
    }
  for (long k = 0; k < count; ++k) {
    auto at = [&](long i) -> T& { return side == LEFT ? b[i + k * ldb] : b[k + i * ldb]; };
    for (long i = 0; i < size; ++i) x[i] = alpha == T(0) ? Sum<T>(0) : load(alpha) * load(at(i));
    for (long step = 0; alpha != T(0) && step < size; ++step) {
      const long i = lower ? step : size - 1 - step;
      for (long j = lower ? 0 : i + 1; j < (lower ? i : size); ++j) x[i] -= matrix[i + j * size] * x[j];
      if (diagonal != UNIT) x[i] /= matrix[i + i * size];
    }
    for (long i = 0; i < size; ++i) at(i) = static_cast<T>(x[i]);
  }
}

// A = P L U in place; returns the one-based place of a zero on the diagonal of U, or 0.
template <class T>
int factorize(long n, T* a, long lda, int* pivots) {
  int zero = 0;
  std::vector<Sum<T>> w(n * n);
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) w[i + j * n] = load(a[i + j * lda]);
  for (long j = 0; j < n; ++j) {
    long pivot = j;
    for (long i = j + 1; pivots && i < n; ++i)
      if (magnitude(w[i + j * n]) > magnitude(w[pivot + j * n])) pivot = i;
    if (pivots) pivots[j] = pivot + 1;
    for (long l = 0; pivot != j && l < n; ++l) std::swap(w[j + l * n], w[pivot + l * n]);
    if (w[j + j * n] == Sum<T>(0)) {
      if (!zero) zero = j + 1;
      continue;
    }
    for (long i = j + 1; i < n; ++i) w[i + j * n] /= w[j + j * n];
    for (long l = j + 1; l < n; ++l)
      for (long i = j + 1; i < n; ++i) w[i + l * n] -= w[i + j * n] * w[j + l * n];
  }
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) a[i + j * lda] = static_cast<T>(w[i + j * n]);
  return zero;
}

template <class T>
void swap_rows(const int* pivots, long i, long count, T* b, long ldb) {
  for (long l = 0; pivots && l < count; ++l) std::swap(b[i + l * ldb], b[pivots[i] - 1 + l * ldb]);
}

// Solves op(A) X = B in place, given the factors of A.
template <class T>
void solve(int operation, long n, long count, const T* a, long lda, const int* pivots, T* b, long ldb) {
  const T one(1);
  if (operation == PLAIN) {
    for (long i = 0; i < n; ++i) swap_rows(pivots, i, count, b, ldb);
    solve_triangular(LEFT, LOWER, PLAIN, UNIT, n, count, one, a, lda, b, ldb);
    solve_triangular(LEFT, UPPER, PLAIN, NON_UNIT, n, count, one, a, lda, b, ldb);
  } else {
    solve_triangular(LEFT, UPPER, operation, NON_UNIT, n, count, one, a, lda, b, ldb);
    solve_triangular(LEFT, LOWER, operation, UNIT, n, count, one, a, lda, b, ldb);
    for (long i = n - 1; i >= 0; --i) swap_rows(pivots, i, count, b, ldb);
  }
}

// Returns the one-based place of a zero on the diagonal of U, or 0 where the inverse was computed.
template <class T>
int invert(long n, const T* a, long lda, const int* pivots, T* c, long ldc) {
  for (long j = 0; j < n; ++j)
    if (a[j + j * lda] == T(0)) return j + 1;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i) c[i + j * ldc] = T(i == j);
  solve(PLAIN, n, n, a, lda, pivots, c, ldc);
  return 0;
}

bool fits_triangular(int side, int fill, int operation, int diagonal, int m, int n, int lda, int ldb) {
  return is_flag(side) && is_flag(fill) && is_flag(diagonal) && is_operation(operation) && m >= 0 && n >= 0 &&
         lda >= std::max(1, side == LEFT ? m : n) && ldb >= std::max(1, m);
}

}  // namespace

#define MATRICES(X, T)                                                                                       \
  API cublas##X##geam(Handle* handle, int op_a, int op_b, int m, int n, const T* alpha, const T* a, int lda, \
                      const T* beta, const T* b, int ldb, T* c, int ldc) {                                   \
    CHECK(is_operation(op_a) && is_operation(op_b) && m >= 0 && n >= 0 && alpha && beta &&                   \
          lda >= std::max(1, op_a == PLAIN ? m : n) && ldb >= std::max(1, op_b == PLAIN ? m : n) &&          \
          ldc >= std::max(1, m));                                                                            \
    const bool in_place_a = c == a && *alpha != T(0), in_place_b = c == b && *beta != T(0);                  \
    CHECK(!in_place_a || (op_a == PLAIN && lda == ldc));                                                     \
    CHECK(!in_place_b || (op_b == PLAIN && ldb == ldc));                                                     \
    for (long j = 0; j < n; ++j)                                                                             \
      for (long i = 0; i < m; ++i) {                                                                         \
        Sum<T> value(0);                                                                                     \
        if (*alpha != T(0)) value += load(*alpha) * element(a, lda, op_a, i, j);                             \
        if (*beta != T(0)) value += load(*beta) * element(b, ldb, op_b, i, j);                               \
        c[i + j * ldc] = static_cast<T>(value);                                                              \
      }                                                                                                      \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##dgmm(Handle* handle, int side, int m, int n, const T* a, int lda, const T* x, int step,     \
                      T* c, int ldc) {                                                                       \
    CHECK(is_flag(side) && m >= 0 && n >= 0 && lda >= std::max(1, m) && ldc >= std::max(1, m));              \
    x = first(x, side == LEFT ? m : n, step);                                                                \
    for (long j = 0; j < n; ++j)                                                                             \
      for (long i = 0; i < m; ++i) c[i + j * ldc] = a[i + j * lda] * x[(side == LEFT ? i : j) * step];       \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##syrk_v2(Handle* handle, int fill, int operation, int n, int k, const T* alpha, const T* a,  \
                         int lda, const T* beta, T* c, int ldc) {                                            \
    CHECK(is_flag(fill) && is_operation(operation) && n >= 0 && k >= 0 && alpha && beta &&                   \
          lda >= std::max(1, operation == PLAIN ? n : k) && ldc >= std::max(1, n));                          \
    const int operation_ = operation == PLAIN ? PLAIN : TRANSPOSED;                                          \
    for (long j = 0; j < n; ++j)                                                                             \
      for (long i = fill == LOWER ? j : 0; i < (fill == LOWER ? n : j + 1); ++i) {                           \
        Sum<T> sum(0), value(0);                                                                             \
        for (long l = 0; *alpha != T(0) && l < k; ++l)                                                       \
          sum += element(a, lda, operation_, i, l) * element(a, lda, operation_, j, l);                      \
        if (*alpha != T(0)) value = load(*alpha) * sum;                                                      \
        if (*beta != T(0)) value += load(*beta) * load(c[i + j * ldc]);                                      \
        c[i + j * ldc] = static_cast<T>(value);                                                              \
      }                                                                                                      \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##trsm_v2(Handle* handle, int side, int fill, int operation, int diagonal, int m, int n,      \
                         const T* alpha, const T* a, int lda, T* b, int ldb) {                               \
    CHECK(alpha && fits_triangular(side, fill, operation, diagonal, m, n, lda, ldb));                        \
    solve_triangular<T>(side, fill, operation, diagonal, m, n, *alpha, a, lda, b, ldb);                      \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##trsmBatched(Handle* handle, int side, int fill, int operation, int diagonal, int m, int n,  \
                             const T* alpha, const T* const* a, int lda, T* const* b, int ldb, int count) {  \
    CHECK(alpha && count >= 0 && fits_triangular(side, fill, operation, diagonal, m, n, lda, ldb));          \
    for (long i = 0; i < count; ++i)                                                                         \
      solve_triangular<T>(side, fill, operation, diagonal, m, n, *alpha, a[i], lda, b[i], ldb);              \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##getrfBatched(Handle* handle, int n, T* const* a, int lda, int* pivots, int* info,           \
                              int count) {                                                                   \
    CHECK(n >= 0 && count >= 0 && lda >= std::max(1, n) && (info || !count));                                \
    for (long i = 0; i < count; ++i) info[i] = factorize(n, a[i], lda, pivots ? pivots + i * n : nullptr);   \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##getriBatched(Handle* handle, int n, const T* const* a, int lda, const int* pivots,          \
                              T* const* c, int ldc, int* info, int count) {                                  \
    CHECK(n >= 0 && count >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n));                           \
    for (long i = 0; i < count; ++i)                                                                         \
      info[i] = invert(n, a[i], lda, pivots ? pivots + i * n : nullptr, c[i], ldc);                          \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##getrsBatched(Handle* handle, int operation, int n, int columns, const T* const* a, int lda, \
                              const int* pivots, T* const* b, int ldb, int* info, int count) {               \
    CHECK(info && is_operation(operation) && n >= 0 && columns >= 0 && lda >= std::max(1, n) &&              \
          ldb >= std::max(1, n) && count >= 0);                                                              \
    *info = 0;                                                                                               \
    for (long i = 0; i < count; ++i)                                                                         \
      solve(operation, n, columns, a[i], lda, pivots ? pivots + i * n : nullptr, b[i], ldb);                 \
    return OK;                                                                                               \
  }
MATRICES(S, float)
MATRICES(D, double)
MATRICES(C, Complex)
MATRICES(Z, DoubleComplex)
