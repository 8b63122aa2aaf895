// Calls of NCCL: collective operations and those between two ranks, alone or in groups.
#include "nccl.hpp"

// The bytes of the types of ncclDataType_t.
static const size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
typedef _Float16 f16;
struct bf16 {
  uint16_t v;
  operator float() const {
    uint32_t u = (uint32_t)v << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
  }
  bf16() {}
  bf16(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    v = f != f ? 0x7fc0 : (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  }
};
template <class T, class A>
static void reduce_as(void* out, char (*slots)[SLOT], int n, size_t count, int op) {
  T* o = (T*)out;
  for (size_t i = 0; i < count; ++i) {
    A a = (A)((T*)slots[0])[i];
    for (int r = 1; r < n; ++r) {
      A b = (A)((T*)slots[r])[i];
      switch (op) {
        case 0:
        case 4: a = a + b; break;
        case 1: a = a * b; break;
        case 2: a = a > b || a != a ? a : b; break;
        case 3: a = a < b || a != a ? a : b;
      }
    }
    if (op == 4) a = a / (A)n;
    o[i] = (T)a;
  }
}
static void reduce(void* out, char (*slots)[SLOT], int n, size_t count, int dtype, int op) {
  switch (dtype) {
    case 0: return reduce_as<int8_t, int>(out, slots, n, count, op);
    case 1: return reduce_as<uint8_t, unsigned>(out, slots, n, count, op);
    case 2: return reduce_as<int32_t, int32_t>(out, slots, n, count, op);
    case 3: return reduce_as<uint32_t, uint32_t>(out, slots, n, count, op);
    case 4: return reduce_as<int64_t, int64_t>(out, slots, n, count, op);
    case 5: return reduce_as<uint64_t, uint64_t>(out, slots, n, count, op);
    case 6: return reduce_as<f16, float>(out, slots, n, count, op);
    case 7: return reduce_as<float, float>(out, slots, n, count, op);
    case 8: return reduce_as<double, double>(out, slots, n, count, op);
    case 9: return reduce_as<bf16, float>(out, slots, n, count, op);
  }
}

static Result collective(const Op& o) {
  Comm* c = o.c;
  Shared* s = c->s;
  size_t w = widths[o.dtype];
  int n = c->size, me = c->rank;
  const char* what = names[o.kind];
  if (tracing())
    fprintf(stderr, "Emulated NCCL [%d]: rank %d %s %zu of type %d\n", (int)getpid(), me, what, o.count,
            o.dtype);
  bool reads = o.kind != BROADCAST || me == o.root, writes = o.kind != REDUCE || me == o.root;
  if (reads) TRY(memory(c, o.in, o.count * w * (o.kind == REDUCE_SCATTER ? n : 1), what));
  if (writes) TRY(memory(c, o.out, o.count * w * (o.kind == ALL_GATHER ? n : 1), what));
  if (o.root < 0 || o.root >= n) return fail(INVALID_ARGUMENT, "%s: root %d of %d", what, o.root, n);
  s->calls[me] = Call{o.kind, o.dtype, o.op, o.root, o.count};
  TRY(barrier(c, what));
  Call mine = s->calls[me], other;
  Result mismatch = OK;
  for (int r = 0; r < n; ++r) {
    other = s->calls[r];
    if (other.kind != mine.kind || other.dtype != mine.dtype || other.op != mine.op ||
        other.root != mine.root || other.count != mine.count)
      mismatch = c->error =
          fail(INVALID_USAGE,
               "rank %d calls %s (%zu, type %d, op %d, root %d), rank %d %s (%zu, type %d, op %d, root %d)",
               me, what, (size_t)mine.count, mine.dtype, mine.op, mine.root, r, names[other.kind],
               (size_t)other.count, other.dtype, other.op, other.root);
  }
  TRY(barrier(c, what));
  if (mismatch) return mismatch;
  size_t step = SLOT / w;
  int rounds = o.kind == REDUCE_SCATTER ? n : 1;
  for (int round = 0; round < rounds; ++round)
    for (size_t at = 0; at < o.count; at += step) {
      size_t k = std::min(step, o.count - at);
      if (reads) memcpy(s->slots[me], o.in + (round * o.count + at) * w, k * w);
      TRY(barrier(c, what));
      switch (o.kind) {
        case ALL_REDUCE: reduce(o.out + at * w, s->slots, n, k, o.dtype, o.op); break;
        case REDUCE:
          if (me == o.root) reduce(o.out + at * w, s->slots, n, k, o.dtype, o.op);
          break;
        case BROADCAST: memmove(o.out + at * w, s->slots[o.root], k * w); break;
        case REDUCE_SCATTER:
          if (me == round) reduce(o.out + at * w, s->slots, n, k, o.dtype, o.op);
          break;
        case ALL_GATHER:
          for (int r = 0; r < n; ++r) memcpy(o.out + (r * o.count + at) * w, s->slots[r], k * w);
      }
      TRY(barrier(c, what));
    }
  return OK;
}
static Result point_to_point(const Op& o) {
  Comm* c = o.c;
  size_t w = widths[o.dtype], n = o.count * w;
  bool sends = o.kind == SEND;
  if (o.root < 0 || o.root >= c->size)
    return fail(INVALID_ARGUMENT, "%s: peer %d of %d", names[o.kind], o.root, c->size);
  TRY(memory(c, sends ? o.in : o.out, n, names[o.kind]));
  Box& b = sends ? c->s->boxes[c->rank][o.root] : c->s->boxes[o.root][c->rank];
  for (size_t at = 0; at < n; at += BOX) {
    size_t k = std::min(BOX, n - at);
    TRY(wait(c, [&] { return b.full == !sends; }, names[o.kind]));
    if (sends) {
      b.size = n;
      memcpy(b.data, o.in + at, k);
      b.full = 1;
    } else {
      if (b.size != n)
        return c->error = fail(INVALID_USAGE, "%zu bytes sent, %zu received", (size_t)b.size, n);
      memcpy(o.out + at, b.data, k);
      b.full = 0;
    }
  }
  return OK;
}
static Result perform(const Op& o) {
  if (o.kind == INIT) return join(o.c);
  if (!o.c->ready) return fail(INVALID_USAGE, "%s before the communicator is ready", names[o.kind]);
  return o.kind == SEND || o.kind == RECV ? point_to_point(o) : collective(o);
}
thread_local int depth;
static thread_local Result group_error;
thread_local std::vector<Op> queue;
static Result run_all() {
  std::vector<Op> ops;
  ops.swap(queue);
  std::map<std::tuple<Comm*, int, int>, std::vector<Op>> lanes;  // what of it goes on in its order
  for (auto& o : ops)
    lanes[{o.c,
           o.kind == SEND   ? 1
           : o.kind == RECV ? 2
                            : 0,
           o.kind == SEND || o.kind == RECV ? o.root : 0}]
        .push_back(o);
  std::vector<std::thread> threads;
  std::atomic<Result> result{OK};
  auto body = [&result](std::vector<Op>& lane) {
    for (auto& o : lane)
      if (Result r = perform(o)) {
        result = r;
        return;
      }
  };
  if (lanes.size() == 1)
    body(lanes.begin()->second);
  else {
    for (auto& l : lanes) threads.emplace_back([&, lane = &l.second] { body(*lane); });
    for (auto& t : threads) t.join();
  }
  return result;
}
Result submit(const Op& o) {
  if (!o.c) return fail(INVALID_ARGUMENT, "no communicator");
  if (o.kind != INIT && (o.dtype < 0 || o.dtype > 9)) return fail(INVALID_ARGUMENT, "type %d", o.dtype);
  if (o.kind != INIT && (o.op < 0 || o.op > 4)) return fail(INVALID_ARGUMENT, "op %d", o.op);
  if (o.c->aborted) return fail(INVALID_USAGE, "the communicator was aborted");
  queue.push_back(o);
  return depth ? OK : run_all();
}
API Result ncclGroupStart() {
  if (!depth++) group_error = OK;
  return OK;
}
API Result ncclGroupEnd() {
  if (!depth) return fail(INVALID_USAGE, "ncclGroupEnd without ncclGroupStart");
  return --depth ? OK : run_all();
}

API Result ncclAllReduce(const void* i, void* o, size_t n, int t, int op, comm_t c, void*) {
  return submit({ALL_REDUCE, c, (const char*)i, (char*)o, n, t, op, 0});
}
API Result ncclReduce(const void* i, void* o, size_t n, int t, int op, int root, comm_t c, void*) {
  return submit({REDUCE, c, (const char*)i, (char*)o, n, t, op, root});
}
API Result ncclBroadcast(const void* i, void* o, size_t n, int t, int root, comm_t c, void*) {
  return submit({BROADCAST, c, (const char*)i, (char*)o, n, t, 0, root});
}
API Result ncclBcast(void* b, size_t n, int t, int root, comm_t c, void* s) {
  return ncclBroadcast(b, b, n, t, root, c, s);
}
API Result ncclReduceScatter(const void* i, void* o, size_t n, int t, int op, comm_t c, void*) {
  return submit({REDUCE_SCATTER, c, (const char*)i, (char*)o, n, t, op, 0});
}
API Result ncclAllGather(const void* i, void* o, size_t n, int t, comm_t c, void*) {
  return submit({ALL_GATHER, c, (const char*)i, (char*)o, n, t, 0, 0});
}
API Result ncclSend(const void* i, size_t n, int t, int peer, comm_t c, void*) {
  return submit({SEND, c, (const char*)i, nullptr, n, t, 0, peer});
}
API Result ncclRecv(void* o, size_t n, int t, int peer, comm_t c, void*) {
  return submit({RECV, c, nullptr, (char*)o, n, t, 0, peer});
}
