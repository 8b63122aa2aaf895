// Launches: the blocks of a grid run one after the other. The threads of a block are fibers that take
// turns, and switch where they wait for each other; kernels whose threads never wait need no fibers.
#pragma once
#include <ucontext.h>

struct EmulatedDimensions {
  unsigned x, y, z;
};

static EmulatedDimensions threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace emulation {

struct Fiber {
  ucontext_t context;
  char* stack;
  bool done;
};

typedef void (*Body)(void** arguments);

constexpr size_t kStack = 128 * 1024;
constexpr int kThreads = 1024, kWarps = kThreads / 32, kShared = 232448;
constexpr unsigned char kGarbage = 0xfd;

static Fiber fibers[kThreads];
static ucontext_t scheduler;
static Body body;
static void** arguments;
static const char* error;
static int current;  // the thread that runs
static int alive;    // threads of the block that have not come to their end
static long events;  // grows with everything that happens; where nothing does, threads wait in vain
static int block_arrived, block_generation;
static int warp_arrived[kWarps], warp_generation[kWarps];
static unsigned shared_size;
alignas(128) static char shared[kShared];

static int size() { return blockDim.x * blockDim.y * blockDim.z; }

static void yield() { swapcontext(&fibers[current].context, &scheduler); }

static void run() {
  body(arguments);
  fibers[current].done = true;
  --alive;
  ++events;
  yield();
}

static void place(int thread) {
  current = thread;
  threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / (blockDim.x * blockDim.y)};
}

static void start(Fiber& fiber) {
  if (!fiber.stack) fiber.stack = static_cast<char*>(malloc(kStack));
  fiber.done = false;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, run, 0);
}

static void run_fibers() {
  const int count = size();
  block_arrived = 0;
  alive = count;
  memset(warp_arrived, 0, sizeof(warp_arrived));
  memset(shared, kGarbage, shared_size);
  for (int i = 0; i < count; ++i) start(fibers[i]);
  while (alive > 0) {
    const long before = events;
    for (int i = 0; i < count; ++i) {
      if (fibers[i].done) continue;
      place(i);
      swapcontext(&scheduler, &fibers[i].context);
      if (error) return;
    }
    if (events == before) {
      error = "threads of a block wait for others that never come";
      return;
    }
  }
}

static void run_plainly() {
  const int count = size();
  for (int i = 0; i < count; ++i) {
    place(i);
    body(arguments);
  }
}

// Runs a kernel; returns what went wrong, or NULL. Sizes are those of the grid, of a block, and the bytes
// of shared memory.
static const char* launch(const unsigned* sizes, Body kernel, void** values, bool with_fibers) {
  error = nullptr;
  gridDim = {sizes[0], sizes[1], sizes[2]};
  blockDim = {sizes[3], sizes[4], sizes[5]};
  shared_size = sizes[6];
  body = kernel;
  arguments = values;
  for (unsigned z = 0; z < gridDim.z; ++z)
    for (unsigned y = 0; y < gridDim.y; ++y)
      for (unsigned x = 0; x < gridDim.x && !error; ++x) {
        blockIdx = {x, y, z};
        if (with_fibers)
          run_fibers();
        else
          run_plainly();
      }
  return error;
}

template <class... A, size_t... I>
static void unpack(void (*kernel)(A...), void** values, std::integer_sequence<size_t, I...>) {
  kernel(*(typename std::remove_reference<A>::type*)values[I]...);
}

// Calls a kernel with arguments at addresses, as the driver hands them over.
template <class... A>
static void invoke(void (*kernel)(A...), void** values) {
  unpack(kernel, values, std::make_integer_sequence<size_t, sizeof...(A)>());
}

// Returns '1' for each argument that begins with room for a pointer (a pointer, CuPy's structure of an
// array), '0' for others.
template <class... A>
static const char* may_point(void (*)(A...)) {
  static const char kinds[] = {(sizeof(A) >= sizeof(void*) && !std::is_arithmetic<A>::value ? '1' : '0')...,
                               0};
  return kinds;
}

}  // namespace emulation

// What is put after the text of a source for each kernel; the rest of the arguments is its name in C++.
#define EMULATION_KERNEL(name, with_fibers, ...)                                   \
  extern "C" const char* emulation_launch_##name(unsigned* sizes, void** values) { \
    auto body = [](void** values) { emulation::invoke(__VA_ARGS__, values); };     \
    return emulation::launch(sizes, body, values, with_fibers);                    \
  }                                                                                \
  extern "C" const char* emulation_arguments_##name() { return emulation::may_point(__VA_ARGS__); }
