// CUDA C++ for a C++ compiler: what stands before the text of a kernel. See launch.hpp for how kernels run.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>

#ifndef CHAINER_EMULATION
// Headers that NVRTC has built in, or that sources of CuPy's include. Chainer's own sources include none,
// and see none.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector_types.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#endif

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __align__
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__
#define __align__(n) __attribute__((aligned(n)))

namespace emulation {

template <class To, class From>
static To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "numbers of one size");
  To bits;
  memcpy(&bits, &value, sizeof(To));
  return bits;
}

}  // namespace emulation

#include "launch.hpp"
#include "threads.hpp"
#ifdef CHAINER_EMULATION
#include "numbers_chainer.hpp"
#else
#include "numbers_cupy.hpp"
#endif
