// What threads say to each other: barriers, exchanges between the threads of a warp, atomic operations.
// Stricter than a GPU: exchanges between threads of which some are gone are errors.
#pragma once

namespace emulation {

static uint64_t slots[2 * kThreads];

static void wait(int& arrived, int& generation, int expected) {
  const int mine = generation;
  ++events;
  if (++arrived == expected) {
    arrived = 0;
    ++generation;
    ++events;
    return;
  }
  while (generation == mine) yield();
}

static void wait_for_warp(int expected) {
  const int warp = current / 32;
  wait(warp_arrived[warp], warp_generation[warp], expected);
}

template <class S, class Pick>
static S exchange(unsigned mask, S value, Pick pick) {
  static_assert(sizeof(S) <= sizeof(slots[0]), "an exchange of at most 8 bytes");
  const int warp = current / 32;
  if (mask != 0xffffffffu || (warp + 1) * 32 > size()) {
    error = "an exchange between the threads of a warp that is not complete";
    yield();
  }
  memcpy(&slots[current], &value, sizeof(S));
  wait_for_warp(32);
  S other;
  memcpy((void*)&other, &slots[warp * 32 + pick(current % 32)], sizeof(S));
  wait_for_warp(32);
  return other;
}

}  // namespace emulation

// Threads that have come to their end are not waited for.
static void __syncthreads() {
  using namespace emulation;
  const int mine = block_generation;
  ++events;
  ++block_arrived;
  while (block_generation == mine) {
    if (block_arrived == alive) {
      block_arrived = 0;
      ++block_generation;
      ++events;
      return;
    }
    yield();
  }
}

static void __syncwarp(unsigned mask = 0xffffffffu) {
  const int left = emulation::size() - emulation::current / 32 * 32;
  emulation::wait_for_warp(left < 32 ? left : 32);
}

static void __threadfence() {}
static void __threadfence_block() {}

static long long clock64() {
  static long long now;
  return now += 1 << 30;
}

template <class S>
static S __shfl_sync(unsigned mask, S value, int lane, int width = 32) {
  return emulation::exchange(mask, value, [=](int) { return lane & 31; });
}

template <class S>
static S __shfl_xor_sync(unsigned mask, S value, int bits, int width = 32) {
  return emulation::exchange(mask, value, [=](int lane) { return lane ^ bits; });
}

template <class S>
static S __shfl_down_sync(unsigned mask, S value, int step, int width = 32) {
  return emulation::exchange(mask, value, [=](int lane) { return lane + step < 32 ? lane + step : lane; });
}

template <class S>
static S __shfl_up_sync(unsigned mask, S value, int step, int width = 32) {
  return emulation::exchange(mask, value, [=](int lane) { return lane >= step ? lane - step : lane; });
}

// Threads do not run at the same time: a plain read and write is atomic.
#define EMULATED_ATOMIC(name, result)           \
  template <class S, class V>                   \
  static S name(S* address, V operand) {        \
    const S old = *address, value = (S)operand; \
    *address = (S)(result);                     \
    return old;                                 \
  }

EMULATED_ATOMIC(atomicAdd, old + value)
EMULATED_ATOMIC(atomicSub, old - value)
EMULATED_ATOMIC(atomicExch, value)
EMULATED_ATOMIC(atomicMax, value > old ? value : old)
EMULATED_ATOMIC(atomicMin, value < old ? value : old)
EMULATED_ATOMIC(atomicAnd, old& value)
EMULATED_ATOMIC(atomicOr, old | value)
EMULATED_ATOMIC(atomicXor, old ^ value)
#undef EMULATED_ATOMIC

template <class S, class V, class W>
static S atomicCAS(S* address, V compare, W value) {
  const S old = *address;
  if (old == (S)compare) *address = (S)value;
  return old;
}
