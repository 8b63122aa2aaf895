// CUDA for one thread of a processor: the threads of a block take turns, and switch where they wait for
// each other. It is as strict as it can be: threads that wait in vain, and exchanges between threads of
// which some are gone, are errors.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#include <ucontext.h>

#define CHAINER_EMULATION
#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline

struct Dimensions {
  unsigned x, y, z;
};

static Dimensions threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

struct Fiber {
  ucontext_t context;
  char* stack;
  bool done;
};

constexpr size_t kStack = 64 * 1024;
static Fiber fibers[1024];
static ucontext_t scheduler;
static void (*body)(void**);
static void** arguments;
static int current;
static long events;  // grows with everything that happens
static int block_arrived, block_generation;
static int warp_arrived[64], warp_generation[64];
static uint64_t slots[2048];
static const char* error;
static long long atomics;  // number of atomic operations
static bool reversed;  // whether blocks and threads run in descending order

static int size() { return blockDim.x * blockDim.y; }

static void yield() { swapcontext(&fibers[current].context, &scheduler); }

static void wait(int& arrived, int& generation, int expected) {
  const int mine = generation;
  ++events;
  if (++arrived == expected) {
    arrived = 0;
    ++generation;
    return;
  }
  while (generation == mine) yield();
}

static void run() {
  body(arguments);
  fibers[current].done = true;
  ++events;
  swapcontext(&fibers[current].context, &scheduler);
}

static void place(int thread) {
  current = thread;
  threadIdx = {thread % blockDim.x, thread / blockDim.x, 0};
}

// Returns whether all threads came to their end.
static bool run_block() {
  const int count = size();
  block_arrived = 0;
  memset(warp_arrived, 0, sizeof(warp_arrived));
  for (int i = 0; i < count; ++i) {
    Fiber& fiber = fibers[i];
    if (!fiber.stack) fiber.stack = (char*)malloc(kStack);
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(run), 0);
  }
  for (int left = count; left > 0;) {
    const long before = events;
    for (int step = 0; step < count; ++step) {
      const int i = reversed ? count - 1 - step : step;
      if (fibers[i].done) continue;
      place(i);
      swapcontext(&scheduler, &fibers[i].context);
      if (error) return false;
      if (fibers[i].done) --left;
    }
    if (events == before) {
      error = "threads of a block wait for others that never come";
      return false;
    }
  }
  return true;
}

static const char* launch(
    const int* grid, const int* block, void (*function)(void**), void** args) {
  error = nullptr;
  gridDim = {(unsigned)grid[0], (unsigned)grid[1], 1};
  blockDim = {(unsigned)block[0], (unsigned)block[1], 1};
  if (size() > 1024) return "a block has more than 1024 threads";
  body = function;
  arguments = args;
  for (unsigned y = 0; y < gridDim.y; ++y) {
    for (unsigned step = 0; step < gridDim.x; ++step) {
      blockIdx = {reversed ? gridDim.x - 1 - step : step, y, 0};
      if (!run_block()) return error;
    }
  }
  return nullptr;
}

}  // namespace emulation

extern "C" void reverse_order(int value) { emulation::reversed = value; }
extern "C" long long count_atomics() { return emulation::atomics; }

static void __syncthreads() {
  emulation::wait(emulation::block_arrived, emulation::block_generation, emulation::size());
}

template <class S>
static S __shfl_xor_sync(unsigned mask, S value, int offset) {
  const int thread = emulation::current, warp = thread / 32;
  if (mask != 0xffffffffu || (warp + 1) * 32 > emulation::size()) {
    emulation::error = "an exchange between the threads of a warp that is not complete";
    emulation::yield();
  }
  memcpy(&emulation::slots[thread], &value, sizeof(S));
  emulation::wait(emulation::warp_arrived[warp], emulation::warp_generation[warp], 32);
  S other;
  memcpy(&other, &emulation::slots[thread ^ offset], sizeof(S));
  emulation::wait(emulation::warp_arrived[warp], emulation::warp_generation[warp], 32);
  return other;
}

template <class S>
static S atomicAdd(S* address, S value) {
  const S old = *address;
  ++emulation::atomics;
  *address += value;
  return old;
}

static float half_to_float(unsigned short bits) {
  _Float16 half;
  memcpy(&half, &bits, 2);
  return (float)half;
}

static unsigned short float_to_half(float value) {
  const _Float16 half = (_Float16)value;
  unsigned short bits;
  memcpy(&bits, &half, 2);
  return bits;
}

static float bits_to_float(unsigned bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static unsigned float_to_bits(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static double bits_to_double(long long bits) {
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

// What a parameter of a kernel takes: 'p' pointer, 's' structure, 'f' float, 'i' integer, 'b' bool; and
// its size, or that of what it points to.
template <class S>
struct Kind {
  static constexpr char value = std::is_same<S, bool>::value          ? 'b'
                                : std::is_floating_point<S>::value    ? 'f'
                                : std::is_integral<S>::value          ? 'i'
                                                                      : 's';
  static constexpr int size = sizeof(S);
  static constexpr char element = ' ';
};

template <class S>
struct Kind<S*> {
  static constexpr char value = 'p';
  static constexpr int size = sizeof(S);
  static constexpr char element = Kind<typename std::remove_const<S>::type>::value;
};
