// Products of matrices: gemm, its batched forms, and gemmEx of several types.
#include "cublas.hpp"

namespace {

// C = alpha op(A) op(B) + beta C. C is not read where beta is 0.
template <class TA, class TB, class TC, class S>
void multiply(int op_a, int op_b, long m, long n, long k, S alpha, const TA* a, long lda, const TB* b,
              long ldb, S beta, TC* c, long ldc) {
  static const bool idle = std::getenv("CHAINER_EMULATION_IDLE");
  if (idle) return;
  const bool any = k > 0 && alpha != S(0);
  std::vector<S> packed(any ? m * k : 0), column(m), factors(std::max(k, 1L));
  for (long l = 0; any && l < k; ++l)
    for (long i = 0; i < m; ++i) packed[l * m + i] = element(a, lda, op_a, i, l);
  for (long j = 0; j < n; ++j) {
    std::fill(column.begin(), column.end(), S(0));
    for (long l = 0; any && l < k; ++l) factors[l] = element(b, ldb, op_b, l, j);
    S* __restrict to = column.data();
    long l = 0;
    // Four at a time, for speed.
    for (; any && l + 4 <= k; l += 4) {
      const S* __restrict p = &packed[l * m];
      const S f0 = factors[l], f1 = factors[l + 1], f2 = factors[l + 2], f3 = factors[l + 3];
      for (long i = 0; i < m; ++i) to[i] += p[i] * f0 + p[m + i] * f1 + p[2 * m + i] * f2 + p[3 * m + i] * f3;
    }
    for (; any && l < k; ++l)
      for (long i = 0; i < m; ++i) to[i] += packed[l * m + i] * factors[l];
    for (long i = 0; i < m; ++i) {
      S value = any ? alpha * to[i] : S(0);
      if (beta != S(0)) value += beta * static_cast<S>(load(c[i + j * ldc]));
      store(c[i + j * ldc], value);
    }
  }
}

bool fits(int op_a, int op_b, long m, long n, long k, long lda, long ldb, long ldc, const void* alpha,
          const void* beta) {
  return is_operation(op_a) && is_operation(op_b) && m >= 0 && n >= 0 && k >= 0 && alpha && beta &&
         lda >= std::max(1L, op_a == PLAIN ? m : k) && ldb >= std::max(1L, op_b == PLAIN ? k : n) &&
         ldc >= std::max(1L, m);
}

}  // namespace

#define GEMM(X, T)                                                                                           \
  API cublas##X##gemm_v2(Handle* handle, int op_a, int op_b, int m, int n, int k, const T* alpha,            \
                         const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {           \
    CHECK(fits(op_a, op_b, m, n, k, lda, ldb, ldc, alpha, beta));                                            \
    multiply<T, T, T, Sum<T>>(op_a, op_b, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);                   \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##gemmStridedBatched(Handle* handle, int op_a, int op_b, int m, int n, int k, const T* alpha, \
                                    const T* a, int lda, long long step_a, const T* b, int ldb,              \
                                    long long step_b, const T* beta, T* c, int ldc, long long step_c,        \
                                    int count) {                                                             \
    CHECK(count >= 0 && fits(op_a, op_b, m, n, k, lda, ldb, ldc, alpha, beta));                              \
    for (long i = 0; i < count; ++i)                                                                         \
      multiply<T, T, T, Sum<T>>(op_a, op_b, m, n, k, *alpha, a + i * step_a, lda, b + i * step_b, ldb,       \
                                *beta, c + i * step_c, ldc);                                                 \
    return OK;                                                                                               \
  }                                                                                                          \
  API cublas##X##gemmBatched(Handle* handle, int op_a, int op_b, int m, int n, int k, const T* alpha,        \
                             const T* const* a, int lda, const T* const* b, int ldb, const T* beta,          \
                             T* const* c, int ldc, int count) {                                              \
    CHECK(count >= 0 && fits(op_a, op_b, m, n, k, lda, ldb, ldc, alpha, beta));                              \
    for (long i = 0; i < count; ++i)                                                                         \
      multiply<T, T, T, Sum<T>>(op_a, op_b, m, n, k, *alpha, a[i], lda, b[i], ldb, *beta, c[i], ldc);        \
    return OK;                                                                                               \
  }
GEMM(S, float)
GEMM(D, double)
GEMM(C, Complex)
GEMM(Z, DoubleComplex)

namespace {

// cudaDataType_t
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, C_32F = 4, C_64F = 5, R_32I = 10, R_16BF = 14 };
// cublasComputeType_t; each but the fast ones is followed by its pedantic form.
enum {
  COMPUTE_16F = 64,
  COMPUTE_32F = 68,
  COMPUTE_64F = 70,
  COMPUTE_32I = 72,
  FAST_16F = 74,
  FAST_16BF = 75,
  FAST_TF32 = 77,
};

long bytes(int type) {
  switch (type) {
    case R_8I: return 1;
    case R_16F:
    case R_16BF: return 2;
    case R_64F:
    case C_32F: return 8;
    case C_64F: return 16;
    default: return 4;
  }
}

struct Product {
  int op_a, op_b, m, n, k;
  const void *alpha, *a;
  int type_a, lda;
  const void* b;
  int type_b, ldb;
  const void* beta;
  void* c;
  int type_c, ldc, compute;

  // Computes with factors of type F, which are for real numbers made double.
  template <class F, class T, class TC>
  Status run() const {
    typedef Sum<F> S;
    const S x = load(*static_cast<const F*>(alpha)), y = load(*static_cast<const F*>(beta));
    multiply<T, T, TC, S>(op_a, op_b, m, n, k, x, static_cast<const T*>(a), lda, static_cast<const T*>(b),
                          ldb, y, static_cast<TC*>(c), ldc);
    return OK;
  }

  bool types(int inputs, int output) const {
    return type_a == inputs && type_b == inputs && type_c == output;
  }

  Status run_any() const {
    const int kind = compute == COMPUTE_16F + 1 || compute == COMPUTE_32F + 1 || compute == COMPUTE_64F + 1 ||
                             compute == COMPUTE_32I + 1
                         ? compute - 1
                         : compute;
    const bool fast = kind == FAST_16F || kind == FAST_16BF || kind == FAST_TF32;
    if (kind == COMPUTE_16F && types(R_16F, R_16F)) return run<Half, Half, Half>();
    if (kind == COMPUTE_32I && types(R_8I, R_32I) && lda % 4 == 0 && ldb % 4 == 0)
      return run<int32_t, int8_t, int32_t>();
    if (kind == COMPUTE_64F && types(R_64F, R_64F)) return run<double, double, double>();
    if (kind == COMPUTE_64F && types(C_64F, C_64F)) return run<DoubleComplex, DoubleComplex, DoubleComplex>();
    if ((kind == COMPUTE_32F || fast) && types(C_32F, C_32F)) return run<Complex, Complex, Complex>();
    if ((kind == COMPUTE_32F || fast) && types(R_32F, R_32F)) return run<float, float, float>();
    if (kind == COMPUTE_32F && types(R_16F, R_16F)) return run<float, Half, Half>();
    if (kind == COMPUTE_32F && types(R_16F, R_32F)) return run<float, Half, float>();
    if (kind == COMPUTE_32F && types(R_16BF, R_16BF)) return run<float, Bfloat16, Bfloat16>();
    if (kind == COMPUTE_32F && types(R_16BF, R_32F)) return run<float, Bfloat16, float>();
    if (kind == COMPUTE_32F && types(R_8I, R_32F)) return run<float, int8_t, float>();
    fprintf(stderr, "Emulated CUDA: cublasGemmEx with types %d, %d, %d and compute type %d\n", type_a, type_b,
            type_c, compute);
    return UNSUPPORTED;
  }
};

}  // namespace

API cublasGemmEx(Handle* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                 int type_a, int lda, const void* b, int type_b, int ldb, const void* beta, void* c,
                 int type_c, int ldc, int compute, int algorithm) {
  CHECK(fits(op_a, op_b, m, n, k, lda, ldb, ldc, alpha, beta));
  return Product{op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute}
      .run_any();
}

API cublasGemmStridedBatchedEx(Handle* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                               const void* a, int type_a, int lda, long long step_a, const void* b,
                               int type_b, int ldb, long long step_b, const void* beta, void* c, int type_c,
                               int ldc, long long step_c, int count, int compute, int algorithm) {
  CHECK(count >= 0 && fits(op_a, op_b, m, n, k, lda, ldb, ldc, alpha, beta));
  Product product{op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute};
  for (long i = 0; i < count; ++i) {
    product.a = static_cast<const char*>(a) + i * step_a * bytes(type_a);
    product.b = static_cast<const char*>(b) + i * step_b * bytes(type_b);
    product.c = static_cast<char*>(c) + i * step_c * bytes(type_c);
    if (Status status = product.run_any()) return status;
  }
  return OK;
}

API cublasSgemmEx(Handle* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const void* a,
                  int type_a, int lda, const void* b, int type_b, int ldb, const float* beta, void* c,
                  int type_c, int ldc) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,
                      ldc, COMPUTE_32F, 0);
}
