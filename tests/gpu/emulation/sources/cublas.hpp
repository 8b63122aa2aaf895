// cuBLAS on memory of the host: what its parts share. Matrices are in column order; sums are made in
// double precision, so that results are what a GPU computes up to its rounding.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) Status

typedef int Status;
enum : Status { OK = 0, NOT_INITIALIZED = 1, INVALID = 7, UNSUPPORTED = 15 };
enum { PLAIN = 0, TRANSPOSED = 1, ADJOINT = 2 };  // cublasOperation_t
enum { LEFT = 0, RIGHT = 1 };                     // cublasSideMode_t
enum { LOWER = 0, UPPER = 1 };                    // cublasFillMode_t
enum { NON_UNIT = 0, UNIT = 1 };                  // cublasDiagType_t

typedef std::complex<float> Complex;
typedef std::complex<double> DoubleComplex;
typedef _Float16 Half;

struct Bfloat16 {
  uint16_t bits;
};

struct Handle {
  uint64_t magic;
  void* stream;
  int pointer_mode, math_mode;
};

constexpr uint64_t kMagic = 0x6375626c61734641;

// The handle is looked at before the arguments, as by the real library.
#define CHECK(condition)                                            \
  do {                                                              \
    if (!handle || handle->magic != kMagic) return NOT_INITIALIZED; \
    if (!(condition)) return INVALID;                               \
  } while (0)

// The type that sums of a type are made in, and the type of its absolute values.
template <class T>
struct Traits {
  typedef double Sum;
  typedef T Real;
};
template <>
struct Traits<Complex> {
  typedef DoubleComplex Sum;
  typedef float Real;
};
template <>
struct Traits<DoubleComplex> {
  typedef DoubleComplex Sum;
  typedef double Real;
};
template <class T>
using Sum = typename Traits<T>::Sum;
template <class T>
using Real = typename Traits<T>::Real;

template <class T>
inline Sum<T> load(const T& value) {
  return static_cast<Sum<T>>(value);
}
inline double load(const Half& value) { return static_cast<float>(value); }
inline double load(const Bfloat16& value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float number;
  memcpy(&number, &bits, 4);
  return number;
}

template <class T, class S>
inline void store(T& to, S value) {
  to = static_cast<T>(value);
}
inline void store(int32_t& to, double value) { to = static_cast<int32_t>(static_cast<int64_t>(value)); }
inline void store(Half& to, double value) { to = static_cast<Half>(static_cast<float>(value)); }
inline void store(Bfloat16& to, double value) {
  const float number = static_cast<float>(value);
  uint32_t bits;
  memcpy(&bits, &number, 4);
  bits += 0x7fff + ((bits >> 16) & 1);
  to.bits = number != number ? 0x7fff : bits >> 16;
}

inline double conjugate(double value) { return value; }
inline DoubleComplex conjugate(DoubleComplex value) { return std::conj(value); }

// |re| + |im|, by which cuBLAS compares complex numbers.
inline double magnitude(double value) { return std::fabs(value); }
inline double magnitude(DoubleComplex value) { return std::fabs(value.real()) + std::fabs(value.imag()); }

inline bool is_operation(int operation) { return operation >= PLAIN && operation <= ADJOINT; }
inline bool is_flag(int value) { return value == 0 || value == 1; }

// An element of op(A).
template <class T>
inline Sum<T> element(const T* a, long ld, int operation, long row, long column) {
  if (operation == PLAIN) return load(a[row + column * ld]);
  const Sum<T> value = load(a[column + row * ld]);
  return operation == ADJOINT ? conjugate(value) : value;
}

// The first element of a vector whose step may be negative.
template <class T>
inline T* first(T* x, long n, long step) {
  return step < 0 ? x - (n - 1) * step : x;
}
