// Singular values and eigenvalues.
#include "cusolver.hpp"

namespace {

template <class T>
int svd(char u_job, char v_job, Integer m, Integer n, T* a, Integer lda, Real<T>* s, T* u, Integer ldu, T* vt,
        Integer ldvt) {
  Integer info = 0;
  std::vector<Real<T>> real_room(5 * std::max<Integer>(1, std::min(m, n)));
  with_room<T>([&](T* room, Integer* size) {
    if constexpr (kComplex<T>)
      call<T>("gesvd", &u_job, &v_job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, room, size, real_room.data(),
              &info);
    else
      call<T>("gesvd", &u_job, &v_job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, room, size, &info);
  });
  return info;
}

// As Jacobi's method returns it: V, not its adjoint.
template <class T>
int svd_with_v(bool vectors, bool economic, Integer m, Integer n, T* a, Integer lda, Real<T>* s, T* u,
               Integer ldu, T* v, Integer ldv) {
  const Integer rows = economic ? std::min(m, n) : n, ldvt = std::max<Integer>(1, rows);
  const char job = !vectors ? 'N' : economic ? 'S' : 'A';
  std::vector<T> vt(vectors ? ldvt * n : 1);
  const int info = svd(job, job, m, n, a, lda, s, u, std::max<Integer>(1, ldu), vt.data(), ldvt);
  for (Integer i = 0; vectors && i < rows; ++i)
    for (Integer j = 0; j < n; ++j) {
      const T value = vt[i + j * ldvt];
      if constexpr (kComplex<T>)
        v[j + i * ldv] = std::conj(value);
      else
        v[j + i * ldv] = value;
    }
  return info;
}

template <class T>
int eigen(int vectors, int fill, Integer n, T* a, Integer lda, Real<T>* w) {
  if (!n) return 0;
  Integer info = 0, real_count = -1, integer_count = -1, integer_size;
  Real<T> real_size;
  std::vector<Real<T>> real_room;
  std::vector<Integer> integer_room;
  const char* job = vectors ? "V" : "N";
  with_room<T>([&](T* room, Integer* size) {
    const bool asking = *size < 0;
    Integer* integers = asking ? &integer_size : integer_room.data();
    if constexpr (kComplex<T>)
      call<T>("heevd", job, fill_name(fill), &n, a, &lda, w, room, size,
              asking ? &real_size : real_room.data(), &real_count, integers, &integer_count, &info);
    else
      call<T>("syevd", job, fill_name(fill), &n, a, &lda, w, room, size, integers, &integer_count, &info);
    if (!asking) return;
    integer_room.resize(integer_count = integer_size);
    if (kComplex<T>) real_room.resize(real_count = static_cast<Integer>(real_size) + 16);
  });
  return info;
}

}  // namespace

#define VALUES(X, T, EIGEN)                                                                                 \
  API cusolverDn##X##gesvd_bufferSize(Handle* handle, int m, int n, int* size) {                            \
    CHECK(m >= n && n >= 0);                                                                                \
    *size = some_room(m, n);                                                                                \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##gesvd(Handle* handle, signed char u_job, signed char v_job, int m, int n, T* a,        \
                           int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt, T* room, int size,          \
                           Real<T>* superdiagonal, int* info) {                                             \
    CHECK(m >= n && n >= 0 && lda >= std::max(1, m) && ldu >= (u_job == 'N' ? 1 : m) &&                     \
          ldvt >= (v_job == 'N' ? 1 : n));                                                                  \
    *info = svd<T>(u_job, v_job, m, n, a, lda, s, u, std::max(1, ldu), vt, std::max(1, ldvt));              \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##gesvdj_bufferSize(Handle* handle, int vectors, int economic, int m, int n, const T* a, \
                                       int lda, const Real<T>* s, const T* u, int ldu, const T* v, int ldv, \
                                       int* size, void* parameters) {                                       \
    CHECK(true);                                                                                            \
    *size = some_room(m, n);                                                                                \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##gesvdj(Handle* handle, int vectors, int economic, int m, int n, T* a, int lda,         \
                            Real<T>* s, T* u, int ldu, T* v, int ldv, T* room, int size, int* info,         \
                            void* parameters) {                                                             \
    CHECK(is_flag(vectors) && m >= 0 && n >= 0 && lda >= std::max(1, m) &&                                  \
          (!vectors || (ldu >= std::max(1, m) && ldv >= std::max(1, n))));                                  \
    *info = svd_with_v(vectors, economic, m, n, a, lda, s, u, ldu, v, ldv);                                 \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##gesvdjBatched_bufferSize(Handle* handle, int vectors, int m, int n, const T* a,        \
                                              int lda, const Real<T>* s, const T* u, int ldu, const T* v,   \
                                              int ldv, int* size, void* parameters, int count) {            \
    CHECK(m <= 32 && n <= 32);                                                                              \
    *size = some_room(m, n);                                                                                \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##gesvdjBatched(Handle* handle, int vectors, int m, int n, T* a, int lda, Real<T>* s,    \
                                   T* u, int ldu, T* v, int ldv, T* room, int size, int* info,              \
                                   void* parameters, int count) {                                           \
    CHECK(is_flag(vectors) && m >= 0 && n >= 0 && m <= 32 && n <= 32 && lda >= std::max(1, m) &&            \
          (!vectors || (ldu >= std::max(1, m) && ldv >= std::max(1, n))));                                  \
    for (Integer i = 0; i < count; ++i)                                                                     \
      info[i] = svd_with_v(vectors, false, m, n, a + i * lda * n, lda, s + i * std::min(m, n),              \
                           u + i * ldu * m, ldu, v + i * ldv * n, ldv);                                     \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##EIGEN##d_bufferSize(Handle* handle, int vectors, int fill, int n, const T* a, int lda, \
                                         const Real<T>* w, int* size) {                                     \
    CHECK(is_flag(vectors) && is_flag(fill) && n >= 0 && lda >= std::max(1, n));                            \
    *size = some_room(n, n);                                                                                \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##EIGEN##d(Handle* handle, int vectors, int fill, int n, T* a, int lda, Real<T>* w,      \
                              T* room, int size, int* info) {                                               \
    CHECK(is_flag(vectors) && is_flag(fill) && n >= 0 && lda >= std::max(1, n));                            \
    *info = eigen(vectors, fill, n, a, lda, w);                                                             \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##EIGEN##jBatched_bufferSize(Handle* handle, int vectors, int fill, int n, const T* a,   \
                                                int lda, const Real<T>* w, int* size, void* parameters,     \
                                                int count) {                                                \
    CHECK(true);                                                                                            \
    *size = some_room(n, n);                                                                                \
    return OK;                                                                                              \
  }                                                                                                         \
  API cusolverDn##X##EIGEN##jBatched(Handle* handle, int vectors, int fill, int n, T* a, int lda,           \
                                     Real<T>* w, T* room, int size, int* info, void* parameters,            \
                                     int count) {                                                           \
    CHECK(is_flag(vectors) && is_flag(fill) && n >= 0 && count >= 0 && lda >= std::max(1, n));              \
    for (Integer i = 0; i < count; ++i) info[i] = eigen(vectors, fill, n, a + i * lda * n, lda, w + i * n); \
    return OK;                                                                                              \
  }
VALUES(S, float, syev)
VALUES(D, double, syev)
VALUES(C, Complex, heev)
VALUES(Z, DoubleComplex, heev)

API cusolverDnXsyevd_bufferSize(Handle* handle, void* parameters, int vectors, int fill, int64_t n, int type,
                                const void* a, int64_t lda, int type_w, const void* w, int compute,
                                size_t* device_bytes, size_t* host_bytes) {
  CHECK(n >= 0 && lda >= std::max<Integer>(1, n));
  *device_bytes = *host_bytes = 256;
  return OK;
}

API cusolverDnXsyevd(Handle* handle, void* parameters, int vectors, int fill, int64_t n, int type, void* a,
                     int64_t lda, int type_w, void* w, int compute, void* device_room, size_t device_bytes,
                     void* host_room, size_t host_bytes, int* info) {
  CHECK(n >= 0 && lda >= std::max<Integer>(1, n) && is_flag(vectors) && is_flag(fill));
  // cudaDataType_t: float, double, and 4 more for complex numbers of them
  if (type == 0 && type_w == 0)
    *info = eigen(vectors, fill, n, static_cast<float*>(a), lda, static_cast<float*>(w));
  else if (type == 1 && type_w == 1)
    *info = eigen(vectors, fill, n, static_cast<double*>(a), lda, static_cast<double*>(w));
  else if (type == 4 && type_w == 0)
    *info = eigen(vectors, fill, n, static_cast<Complex*>(a), lda, static_cast<float*>(w));
  else if (type == 5 && type_w == 1)
    *info = eigen(vectors, fill, n, static_cast<DoubleComplex*>(a), lda, static_cast<double*>(w));
  else
    return INVALID;
  return OK;
}
