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

// Inverse of erfc, by the third-order iteration of Numerical Recipes, section 6.2.2.
static double erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return NAN;
  if (x == 0 || x == 2) return x == 0 ? INFINITY : -INFINITY;
  const double small = x < 1 ? x : 2 - x, t = sqrt(-2 * log(small / 2));
  double y = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
  for (int step = 0; step < 3; ++step) {
    const double error = erfc(y) - small;
    y += error / (1.12837916709551257 * exp(-y * y) - y * error);
  }
  return x < 1 ? y : -y;
}

static double erfinv(double x) {
  if (fabs(x) > 0.5) return x > 0 ? erfcinv(1 - x) : -erfcinv(1 + x);
  double y = x * 0.886226925452758;
  for (int step = 0; step < 6; ++step) y -= (erf(y) - x) * 0.886226925452758 * exp(y * y);
  return y;
}

// Continued fraction (DLMF 7.9.1) where the product would lose digits or overflow.
static double erfcx(double x) {
  if (x < 5) return exp(x * x) * erfc(x);
  double tail = 0;
  for (int k = 60; k > 0; --k) tail = k * 0.5 / (x + tail);
  return 0.56418958354775628 / (x + tail);
}

static double normcdfinv(double x) { return -1.41421356237309505 * erfcinv(2 * x); }
static double sinpi(double x) { return sin(3.14159265358979324 * fmod(x, 2)); }
static double cospi(double x) { return cos(3.14159265358979324 * fmod(x, 2)); }

#define EMULATION_IN_DOUBLE(name)                              \
  static float name##f(float x) { return (float)name((double)x); } \
  static float name(float x) { return (float)name((double)x); }
EMULATION_IN_DOUBLE(erfcinv)
EMULATION_IN_DOUBLE(erfinv)
EMULATION_IN_DOUBLE(erfcx)
EMULATION_IN_DOUBLE(normcdfinv)
EMULATION_IN_DOUBLE(sinpi)
EMULATION_IN_DOUBLE(cospi)
#undef EMULATION_IN_DOUBLE

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
