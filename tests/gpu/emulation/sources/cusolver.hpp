// cuSOLVER by the LAPACK that comes with NumPy (integers of 64 bits, names in scipy_..._64_).
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <type_traits>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) Status

typedef int Status;
typedef int64_t Integer;
typedef std::complex<float> Complex;
typedef std::complex<double> DoubleComplex;
enum : Status { OK = 0, NOT_INITIALIZED = 1, INVALID = 3, UNSUPPORTED = 9 };

struct Handle {
  uint64_t magic;
  void* stream;
};

constexpr uint64_t kMagic = 0x6375736f6c764641;

#define CHECK(condition)                                            \
  do {                                                              \
    if (!handle || handle->magic != kMagic) return NOT_INITIALIZED; \
    if (!(condition)) return INVALID;                               \
  } while (0)

// The letter of a type in LAPACK, and the type of its absolute values.
template <class T>
struct Traits;
template <>
struct Traits<float> {
  static constexpr char kLetter = 's';
  typedef float Real;
};
template <>
struct Traits<double> {
  static constexpr char kLetter = 'd';
  typedef double Real;
};
template <>
struct Traits<Complex> {
  static constexpr char kLetter = 'c';
  typedef float Real;
};
template <>
struct Traits<DoubleComplex> {
  static constexpr char kLetter = 'z';
  typedef double Real;
};
template <class T>
using Real = typename Traits<T>::Real;
template <class T>
constexpr bool kComplex = !std::is_same<T, Real<T>>::value;

inline void* lapack(const std::string& name) {
  static void* const library = dlopen(LAPACK, RTLD_NOW | RTLD_LOCAL);
  void* function = library ? dlsym(library, ("scipy_" + name + "_64_").c_str()) : nullptr;
  if (function) return function;
  fprintf(stderr, "Emulated CUDA: cuSOLVER needs %s of NumPy's LAPACK, which is not in '%s'\n", name.c_str(),
          LAPACK);
  abort();
}

// Calls a function of LAPACK; the lengths of texts, which are all 1, follow the other arguments.
template <class T, class... A>
void call(const char* name, A... arguments) {
  typedef void Function(A..., size_t, size_t);
  const auto function = reinterpret_cast<Function*>(lapack(std::string(1, Traits<T>::kLetter) + name));
  function(arguments..., 1, 1);
}

// Calls a function of LAPACK twice, first for the size of the room it needs.
template <class T, class F>
void with_room(F&& f) {
  T size[2];
  Integer count = -1;
  f(size, &count);
  count = static_cast<Integer>(std::real(size[0])) + 16;
  std::vector<T> room(count);
  f(room.data(), &count);
}

inline const char* fill_name(int fill) { return fill == 0 ? "L" : "U"; }
inline const char* operation_name(int operation, bool is_complex) {
  return operation == 0 ? "N" : operation == 1 || !is_complex ? "T" : "C";
}
inline bool is_flag(int value) { return value == 0 || value == 1; }

// What buffer sizes are: LAPACK takes its room elsewhere.
inline int some_room(int m, int n) { return std::max({1, m, n}) * 32; }
