// Functions of CUDA's that CuPy's sources and those of users call, and the C++ library has not.
#pragma once

#define __CUDACC_VER_MAJOR__ 13

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

static float __int_as_float(int bits) { return emulation::same_bits<float>(bits); }
static int __float_as_int(float value) { return emulation::same_bits<int>(value); }
static float __uint_as_float(unsigned bits) { return emulation::same_bits<float>(bits); }
static unsigned __float_as_uint(float value) { return emulation::same_bits<unsigned>(value); }
static double __longlong_as_double(long long bits) { return emulation::same_bits<double>(bits); }
static long long __double_as_longlong(double value) { return emulation::same_bits<long long>(value); }

static float rsqrt(float x) { return 1.0f / sqrtf(x); }
static float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static double rsqrt(double x) { return 1.0 / sqrt(x); }
static float __fdividef(float a, float b) { return a / b; }
static double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
static float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }

static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static int __ffs(int x) { return __builtin_ffs(x); }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }

template <class T>
static T __ldg(const T* pointer) {
  return *pointer;
}

template <class A, class B>
static typename std::common_type<A, B>::type max(A a, B b) {
  typedef typename std::common_type<A, B>::type C;
  return (C)a < (C)b ? (C)b : (C)a;
}

template <class A, class B>
static typename std::common_type<A, B>::type min(A a, B b) {
  typedef typename std::common_type<A, B>::type C;
  return (C)b < (C)a ? (C)b : (C)a;
}
