// LU, Cholesky and QR factors, and what is solved with them.
#include "cusolver.hpp"

namespace {

template <class T>
int lu(Integer m, Integer n, T* a, Integer lda, int* pivots) {
  const Integer count = std::min(m, n);
  Integer info = 0;
  std::vector<Integer> p(count + 1);
  if (count) call<T>("getrf", &m, &n, a, &lda, p.data(), &info);
  std::copy_n(p.begin(), count, pivots);
  return info;
}

template <class T>
int lu_solve(int operation, Integer n, Integer columns, const T* a, Integer lda, const int* pivots, T* b,
             Integer ldb) {
  Integer info = 0;
  const std::vector<Integer> p(pivots, pivots + n);
  call<T>("getrs", operation_name(operation, true), &n, &columns, a, &lda, p.data(), b, &ldb, &info);
  return info;
}

template <class T>
int cholesky(int fill, Integer n, T* a, Integer lda) {
  Integer info = 0;
  call<T>("potrf", fill_name(fill), &n, a, &lda, &info);
  return info;
}

template <class T>
int cholesky_solve(int fill, Integer n, Integer columns, const T* a, Integer lda, T* b, Integer ldb) {
  Integer info = 0;
  call<T>("potrs", fill_name(fill), &n, &columns, a, &lda, b, &ldb, &info);
  return info;
}

template <class T>
int qr(Integer m, Integer n, T* a, Integer lda, T* tau) {
  Integer info = 0;
  with_room<T>([&](T* room, Integer* size) { call<T>("geqrf", &m, &n, a, &lda, tau, room, size, &info); });
  return info;
}

template <class T>
int make_q(const char* name, Integer m, Integer n, Integer k, T* a, Integer lda, const T* tau) {
  Integer info = 0;
  with_room<T>([&](T* room, Integer* size) { call<T>(name, &m, &n, &k, a, &lda, tau, room, size, &info); });
  return info;
}

template <class T>
int multiply_by_q(const char* name, int side, int operation, Integer m, Integer n, Integer k, const T* a,
                  Integer lda, const T* tau, T* c, Integer ldc) {
  Integer info = 0;
  with_room<T>([&](T* room, Integer* size) {
    call<T>(name, side == 0 ? "L" : "R", operation_name(operation, kComplex<T>), &m, &n, &k, a, &lda, tau, c,
            &ldc, room, size, &info);
  });
  return info;
}

}  // namespace

#define FACTORS(X, T, ORGQR, ORMQR)                                                                          \
  API cusolverDn##X##getrf_bufferSize(Handle* handle, int m, int n, T* a, int lda, int* size) {              \
    CHECK(m >= 0 && n >= 0 && lda >= std::max(1, m));                                                        \
    *size = some_room(m, n);                                                                                 \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##getrf(Handle* handle, int m, int n, T* a, int lda, T* room, int* pivots, int* info) {   \
    CHECK(m >= 0 && n >= 0 && lda >= std::max(1, m) && pivots);                                              \
    *info = lu(m, n, a, lda, pivots);                                                                        \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##getrs(Handle* handle, int operation, int n, int columns, const T* a, int lda,           \
                           const int* pivots, T* b, int ldb, int* info) {                                    \
    CHECK(operation >= 0 && operation <= 2 && n >= 0 && columns >= 0 && lda >= std::max(1, n) &&             \
          ldb >= std::max(1, n) && pivots);                                                                  \
    *info = lu_solve(operation, n, columns, a, lda, pivots, b, ldb);                                         \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##potrf_bufferSize(Handle* handle, int fill, int n, T* a, int lda, int* size) {           \
    CHECK(is_flag(fill) && n >= 0 && lda >= std::max(1, n));                                                 \
    *size = some_room(n, n);                                                                                 \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##potrf(Handle* handle, int fill, int n, T* a, int lda, T* room, int size, int* info) {   \
    CHECK(is_flag(fill) && n >= 0 && lda >= std::max(1, n));                                                 \
    *info = cholesky(fill, n, a, lda);                                                                       \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##potrfBatched(Handle* handle, int fill, int n, T* const* a, int lda, int* info,          \
                                  int count) {                                                               \
    CHECK(is_flag(fill) && n >= 0 && count >= 0 && lda >= std::max(1, n));                                   \
    for (int i = 0; i < count; ++i) info[i] = cholesky(fill, n, a[i], lda);                                  \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##potrs(Handle* handle, int fill, int n, int columns, const T* a, int lda, T* b, int ldb, \
                           int* info) {                                                                      \
    CHECK(is_flag(fill) && n >= 0 && columns >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));        \
    *info = cholesky_solve(fill, n, columns, a, lda, b, ldb);                                                \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##potrsBatched(Handle* handle, int fill, int n, int columns, T* const* a, int lda,        \
                                  T* const* b, int ldb, int* info, int count) {                              \
    CHECK(is_flag(fill) && n >= 0 && columns == 1 && lda >= std::max(1, n) && ldb >= std::max(1, n));        \
    *info = 0;                                                                                               \
    for (int i = 0; i < count; ++i) cholesky_solve<T>(fill, n, columns, a[i], lda, b[i], ldb);               \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##geqrf_bufferSize(Handle* handle, int m, int n, T* a, int lda, int* size) {              \
    CHECK(m >= 0 && n >= 0 && lda >= std::max(1, m));                                                        \
    *size = some_room(m, n);                                                                                 \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##geqrf(Handle* handle, int m, int n, T* a, int lda, T* tau, T* room, int size,           \
                           int* info) {                                                                      \
    CHECK(m >= 0 && n >= 0 && lda >= std::max(1, m));                                                        \
    *info = qr(m, n, a, lda, tau);                                                                           \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##ORGQR##_bufferSize(Handle* handle, int m, int n, int k, const T* a, int lda,            \
                                        const T* tau, int* size) {                                           \
    CHECK(m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && lda >= std::max(1, m));                          \
    *size = some_room(m, n);                                                                                 \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##ORGQR(Handle* handle, int m, int n, int k, T* a, int lda, const T* tau, T* room,        \
                           int size, int* info) {                                                            \
    CHECK(m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && lda >= std::max(1, m));                          \
    *info = make_q(#ORGQR, m, n, k, a, lda, tau);                                                            \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##ORMQR##_bufferSize(Handle* handle, int side, int operation, int m, int n, int k,        \
                                        const T* a, int lda, const T* tau, const T* c, int ldc, int* size) { \
    CHECK(true);                                                                                             \
    *size = some_room(m, n);                                                                                 \
    return OK;                                                                                               \
  }                                                                                                          \
  API cusolverDn##X##ORMQR(Handle* handle, int side, int operation, int m, int n, int k, const T* a,         \
                           int lda, const T* tau, T* c, int ldc, T* room, int size, int* info) {             \
    CHECK(is_flag(side) && operation >= 0 && operation <= 2 && m >= 0 && n >= 0 && k >= 0 &&                 \
          lda >= std::max(1, side == 0 ? m : n) && ldc >= std::max(1, m));                                   \
    *info = multiply_by_q(#ORMQR, side, operation, m, n, k, a, lda, tau, c, ldc);                            \
    return OK;                                                                                               \
  }
FACTORS(S, float, orgqr, ormqr)
FACTORS(D, double, orgqr, ormqr)
FACTORS(C, Complex, ungqr, unmqr)
FACTORS(Z, DoubleComplex, ungqr, unmqr)
