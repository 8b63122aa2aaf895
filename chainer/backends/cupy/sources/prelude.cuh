// What all kernels share. Each source is compiled once for each combination of types, which it gets by
// typedefs:
//   T      type of the arrays (float16, bfloat16, float, double)
//   A      type of the arithmetic (float for T of 16 bits, else T)
//   Index  type of positions in arrays: int where they fit, else long long
// and others that it names. The typedef of Index stands before this text, the others after it.
// No header is included, neither of CUDA nor of the C++ library: NVRTC compiles the sources wherever
// it is installed, and a C++ compiler does so with the emulation in the tests.

#ifndef CHAINER_EMULATION
__device__ __forceinline__ float half_to_float(unsigned short bits) {
  float value;
  asm("{ cvt.f32.f16 %0, %1; }" : "=f"(value) : "h"(bits));
  return value;
}

__device__ __forceinline__ unsigned short float_to_half(float value) {
  unsigned short bits;
  asm("{ cvt.rn.f16.f32 %0, %1; }" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ __forceinline__ float bits_to_float(unsigned int bits) {
  return __uint_as_float(bits);
}

__device__ __forceinline__ unsigned int float_to_bits(float value) {
  return __float_as_uint(value);
}

__device__ __forceinline__ double bits_to_double(long long bits) {
  return __longlong_as_double(bits);
}
#endif

struct float16 {
  unsigned short bits;
  float16() = default;
  __device__ __forceinline__ float16(float value) : bits(float_to_half(value)) {}
  __device__ __forceinline__ float16(double value) : bits(float_to_half((float)value)) {}
  __device__ __forceinline__ operator float() const { return half_to_float(bits); }
};

struct bfloat16 {
  unsigned short bits;
  bfloat16() = default;
  __device__ __forceinline__ bfloat16(float value) {
    unsigned int wide = float_to_bits(value);
    // To the nearest, ties to even; what is not a number stays so.
    bits = value != value ? 0x7fc0 : (wide + 0x7fff + ((wide >> 16) & 1)) >> 16;
  }
  __device__ __forceinline__ bfloat16(double value) : bfloat16((float)value) {}
  __device__ __forceinline__ operator float() const { return bits_to_float((unsigned int)bits << 16); }
};

// Functions of the precision of their argument.
#define CHAINER_FUNCTION(name)                                                      \
  __device__ __forceinline__ float name##_(float x) { return name##f(x); }   \
  __device__ __forceinline__ double name##_(double x) { return name(x); }
CHAINER_FUNCTION(exp)
CHAINER_FUNCTION(expm1)
CHAINER_FUNCTION(log)
CHAINER_FUNCTION(log1p)
CHAINER_FUNCTION(sqrt)
CHAINER_FUNCTION(tanh)
CHAINER_FUNCTION(erf)
CHAINER_FUNCTION(erfc)
CHAINER_FUNCTION(floor)
CHAINER_FUNCTION(ceil)
#undef CHAINER_FUNCTION

__device__ __forceinline__ float pow_(float x, float y) { return powf(x, y); }
__device__ __forceinline__ double pow_(double x, double y) { return pow(x, y); }

template <class S>
__device__ __forceinline__ S larger(S a, S b) { return a < b ? b : a; }

template <class S>
__device__ __forceinline__ S smaller(S a, S b) { return b < a ? b : a; }

__device__ __forceinline__ double infinity() { return bits_to_double(0x7ff0000000000000LL); }
__device__ __forceinline__ double not_a_number() { return bits_to_double(0x7ff8000000000000LL); }

// Sigmoid by tanh, which neither overflows nor loses digits.
template <class S>
__device__ __forceinline__ S sigmoid_(S x) { return tanh_(x * (S)0.5) * (S)0.5 + (S)0.5; }

// First position of a thread and distance to its next one, in kernels of one thread for each element.
__device__ __forceinline__ Index thread_first() {
  return (Index)blockIdx.x * (Index)blockDim.x + (Index)threadIdx.x;
}

__device__ __forceinline__ Index thread_step() {
  return (Index)gridDim.x * (Index)blockDim.x;
}

#define CHAINER_EACH(i, n) for (Index i = thread_first(); i < (Index)(n); i += thread_step())

struct Sum {
  template <class S>
  static __device__ __forceinline__ S join(S a, S b) { return a + b; }
};

struct Maximum {
  template <class S>
  static __device__ __forceinline__ S join(S a, S b) { return a < b || b != b ? b : a; }
};

// Reduces the values of the threads of one row of a block, those of one threadIdx.y; each of them gets
// the result. blockDim.x is a power of two; where it exceeds 32 the block has one row. All threads of the
// block take part, and their number is a multiple of 32.
template <class Operator, class S>
__device__ __forceinline__ S reduce_row(S value) {
  const int width = blockDim.x;
  for (int offset = (width < 32 ? width : 32) / 2; offset > 0; offset /= 2) {
    value = Operator::join(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  if (width > 32) {
    __shared__ S parts[32];
    const int warp = threadIdx.x / 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[warp] = value;
    __syncthreads();
    value = parts[0];
    for (int k = 1; k < width / 32; ++k) value = Operator::join(value, parts[k]);
  }
  return value;
}

// The row of arrays (outer, n, inner) that the threads of one threadIdx.y share: blockDim.x threads for
// a row, blockDim.y rows in a block. Threads behind the last row have no elements, but take part in
// reductions.
struct MiddleRow {
  Index row, start, count;
  bool used;
  __device__ __forceinline__ MiddleRow(long long rows, long long n, long long inner) {
    row = (Index)blockIdx.x * blockDim.y + threadIdx.y;
    used = row < (Index)rows;
    start = used ? row / (Index)inner * (Index)(n * inner) + row % (Index)inner : 0;
    count = used ? (Index)n : 0;
  }
};

// Maximum of a row, and the sum of the exponentials of what the elements are less than it, so that no
// exponential overflows.
template <class S>
struct RowSoftmax {
  S top, sum;
  template <class E>
  __device__ __forceinline__ RowSoftmax(const E* x, const MiddleRow& r, long long inner) {
    top = -infinity();
    for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
      top = Maximum::join(top, (S)x[r.start + k * (Index)inner]);
    }
    top = reduce_row<Maximum>(top);
    sum = 0;
    for (Index k = threadIdx.x; k < r.count; k += blockDim.x) {
      sum += exp_((S)x[r.start + k * (Index)inner] - top);
    }
    sum = reduce_row<Sum>(sum);
  }
};
