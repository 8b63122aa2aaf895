// NCCL on host memory: processes and threads of one machine meet in POSIX shared memory named after the
// unique id. Stricter than the real one: mismatched calls, foreign or too short memory and duplicate devices
// are errors, waits end after CHAINER_EMULATION_NCCL_TIMEOUT (60) seconds, and ncclCommDestroy waits for the
// other ranks (CHAINER_EMULATION_NCCL_DESTROY=local: it does not).
#pragma once
#include <atomic>
#include <cstdarg>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>
#include <algorithm>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <sched.h>

typedef int Result;  // ncclResult_t
enum { OK, UNHANDLED_CUDA, SYSTEM, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE, REMOTE, IN_PROGRESS };
struct ncclUniqueId {
  char internal[128];
};
#define API extern "C" __attribute__((visibility("default")))
static const int MAX = 16;  // ranks
static const size_t SLOT = 1 << 20, BOX = 1 << 18;

inline Result fail(Result r, const char* f, ...) {
  va_list a;
  va_start(a, f);
  fprintf(stderr, "Emulated NCCL [%d]: ", (int)getpid());
  vfprintf(stderr, f, a);
  fputc('\n', stderr);
  va_end(a);
  return r;
}
inline double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
inline double patience() {
  const char* s = getenv("CHAINER_EMULATION_NCCL_TIMEOUT");
  return s ? atof(s) : 60;
}
inline bool tracing() {
  static bool v = getenv("CHAINER_EMULATION_NCCL_TRACE");
  return v;
}

// What a rank says of its call, so that the others can compare.
struct Call {
  int kind, dtype, op, root;
  uint64_t count;
};
// What one rank sends to another.
struct Box {
  std::atomic<int> full;
  uint64_t size;
  char data[BOX];
};
// The memory that all ranks of a communicator share.
struct Shared {
  std::atomic<int> arrived, turn, aborted, joined[MAX], device[MAX], size;
  Call calls[MAX];
  int split[MAX][2];
  alignas(64) char slots[MAX][SLOT];
  Box boxes[MAX][MAX];
};
// A rank of a communicator.
struct Comm {
  std::string name;
  Shared* s = nullptr;
  int size = 0, rank = 0, device = 0, error = OK;
  long splits = 0;
  bool ready = false, aborted = false;
};
typedef Comm* comm_t;

// Waits until something is the case, or for what ends the waiting.
template <class P>
inline Result wait(Comm* c, P done, const char* what) {
  double end = now() + patience();
  for (long i = 0; !done(); ++i) {
    if (c->aborted) return c->error = fail(INTERNAL, "%s: rank %d was aborted", what, c->rank);
    if (c->s->aborted) return c->error = fail(REMOTE, "%s: another rank aborted", what);
    if (now() > end)
      return c->error = fail(SYSTEM, "%s: rank %d of %d waited %g s for the others", what, c->rank, c->size,
                             patience());
    if (i < 50)
      sched_yield();
    else
      usleep(i < 500 ? 50 : 500);
  }
  return OK;
}
inline Result barrier(Comm* c, const char* what) {
  int turn = c->s->turn;
  if (++c->s->arrived == c->size) {
    c->s->arrived = 0;
    ++c->s->turn;
    return OK;
  }
  return wait(c, [=] { return c->s->turn != turn; }, what);
}
// Returns from a function where a call fails.
#define TRY(e)         \
  do {                 \
    Result r_ = (e);   \
    if (r_) return r_; \
  } while (0)

inline int cuda_device() {
  auto f = (int (*)(int*))dlsym(RTLD_DEFAULT, "emulated_cudaGetDevice");
  int d = 0;
  if (f) f(&d);
  return d;
}
inline int cuda_set(int d) {
  auto f = (int (*)(int))dlsym(RTLD_DEFAULT, "emulated_cudaSetDevice");
  return f ? f(d) : 0;
}
// 0 where n bytes at p are memory of the device
inline Result memory(Comm* c, const void* p, size_t n, const char* what) {
  if (!n) return OK;
  auto f = (int (*)(const void*, size_t, int))dlsym(RTLD_DEFAULT, "emulation_check_memory");
  int e = f ? f(p, n, c->device) : 0;
  if (!e) return OK;
  return fail(INVALID_ARGUMENT, "%s: rank %d (device %d): %s", what, c->rank, c->device,
              e == 1   ? "not memory of a device"
              : e == 2 ? "past the end of the memory"
                       : "memory of another device");
}

// Calls
enum Kind { ALL_REDUCE, REDUCE, BROADCAST, REDUCE_SCATTER, ALL_GATHER, SEND, RECV, INIT };
static const char* const names[] = {"ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclReduceScatter",
                                    "ncclAllGather", "ncclSend",   "ncclRecv",      "ncclCommInitRank"};
struct Op {
  int kind;
  Comm* c;
  const char* in;
  char* out;
  size_t count;
  int dtype, op, root;
};

// nccl_operations.cpp
Result submit(const Op& o);     // makes a call, or keeps it for the end of the group
extern thread_local int depth;  // of groups
extern thread_local std::vector<Op> queue;

API Result ncclGroupStart();
API Result ncclGroupEnd();

// nccl_communicators.cpp
Result join(Comm* c);
