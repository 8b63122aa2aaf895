// Communicators of NCCL: how ranks meet and part.
#include "nccl.hpp"

Result join(Comm* c) {
  int fd = shm_open(c->name.c_str(), O_RDWR | O_CREAT, 0600);
  if (fd < 0) return fail(SYSTEM, "shm_open %s", c->name.c_str());
  if (ftruncate(fd, sizeof(Shared))) return fail(SYSTEM, "ftruncate");
  void* p = mmap(0, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED) return fail(SYSTEM, "mmap");
  c->s = (Shared*)p;
  int none = 0;
  if (!c->s->size.compare_exchange_strong(none, c->size) && none != c->size)
    return fail(INVALID_USAGE, "rank %d says there are %d ranks, another %d", c->rank, c->size, none);
  if (c->s->joined[c->rank]++) return fail(INVALID_USAGE, "rank %d joined twice", c->rank);
  c->s->device[c->rank] = c->device;
  Result r = barrier(c, "ncclCommInitRank");
  if (c->rank == 0 || r) shm_unlink(c->name.c_str());
  TRY(r);
  for (int i = 0; i < c->size; ++i)
    if (i != c->rank && c->s->device[i] == c->device)
      return fail(INVALID_USAGE, "Duplicate GPU detected: ranks %d and %d both on CUDA device %d", i, c->rank,
                  c->device);
  c->ready = true;
  return OK;
}
API Result ncclGetVersion(int* v) {
  *v = 22707;
  return OK;
}
API Result ncclGetUniqueId(ncclUniqueId* id) {
  memset(id, 0, sizeof *id);
  uint64_t r[2];
  if (getrandom(r, 16, 0) != 16) return SYSTEM;
  // not only text: zeros and bytes of all values are to survive the way
  snprintf(id->internal, 64, "/emnccl-%d-%016llx%016llx", (int)getpid(), (unsigned long long)r[0],
           (unsigned long long)r[1]);
  memset(id->internal + 64, 0, 32);
  for (int i = 96; i < 128; ++i) id->internal[i] = (char)(r[0] >> i % 56);
  return OK;
}
API Result ncclCommInitRankConfig(comm_t* out, int size, ncclUniqueId id, int rank, void* config) {
  *out = nullptr;
  if (size < 1 || rank < 0 || rank >= size)
    return fail(INVALID_ARGUMENT, "Invalid rank requested : %d/%d", rank, size);
  if (size > MAX) return fail(INVALID_ARGUMENT, "at most %d ranks", MAX);
  if (memcmp(id.internal, "/emnccl-", 8) || strlen(id.internal) < 40)
    return fail(INVALID_ARGUMENT, "not a unique id");
  uint64_t a;
  char* dash = strchr(id.internal + 8, '-');
  sscanf(std::string(dash + 1, 16).c_str(), "%llx", (unsigned long long*)&a);
  for (int i = 96; i < 128; ++i)
    if (id.internal[i] != (char)(a >> i % 56)) return fail(INVALID_ARGUMENT, "the unique id is damaged");
  Comm* c = new Comm;
  c->name = id.internal;
  c->size = size;
  c->rank = rank;
  c->device = cuda_device();
  *out = c;
  Result r = submit({INIT, c, nullptr, nullptr, 0, 0, 0, 0});
  if (r) *out = nullptr;
  return r;
}
API Result ncclCommInitRank(comm_t* out, int size, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(out, size, id, rank, nullptr);
}
API Result ncclCommInitAll(comm_t* out, int size, const int* devices) {
  ncclUniqueId id;
  TRY(ncclGetUniqueId(&id));
  int before = cuda_device();
  ncclGroupStart();
  Result r = OK;
  for (int i = 0; i < size && !r; ++i) {
    if (cuda_set(devices ? devices[i] : i))
      r = UNHANDLED_CUDA;
    else
      r = ncclCommInitRank(out + i, size, id, i);
  }
  cuda_set(before);
  if (r) {
    depth = 0;
    queue.clear();
    return r;
  }
  return ncclGroupEnd();
}
API Result ncclCommSplit(comm_t c, int color, int key, comm_t* out, void* config) {
  *out = nullptr;
  if (depth) return fail(INVALID_USAGE, "ncclCommSplit in a group is not emulated");
  c->s->split[c->rank][0] = color;
  c->s->split[c->rank][1] = key;
  TRY(barrier(c, "ncclCommSplit"));
  std::vector<std::pair<int, int>> members;
  for (int r = 0; r < c->size; ++r)
    if (c->s->split[r][0] == color) members.push_back({c->s->split[r][1], r});
  std::sort(members.begin(), members.end());
  TRY(barrier(c, "ncclCommSplit"));
  long number = c->splits++;
  if (color < 0) return OK;
  Comm* n = new Comm;
  n->name = c->name + "." + std::to_string(number) + "." + std::to_string(color);
  n->size = members.size();
  n->device = c->device;
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i].second == c->rank) n->rank = i;
  Result r = join(n);
  if (!r) *out = n;
  return r;
}
API Result ncclCommFinalize(comm_t c) { return OK; }
API Result ncclCommDestroy(comm_t c) {
  if (!c) return OK;
  if (c->s) {
    const char* s = getenv("CHAINER_EMULATION_NCCL_DESTROY");
    Result r = OK;
    if (c->ready && !(s && !strcmp(s, "local"))) r = barrier(c, "ncclCommDestroy");
    munmap(c->s, sizeof(Shared));
    if (r) {
      delete c;
      return r;
    }
  }
  delete c;
  return OK;
}
API Result ncclCommAbort(comm_t c) {
  if (c) {
    c->aborted = true;
    if (c->s) c->s->aborted = 1;
  }
  return OK;
}  // kept: another thread may wait in it
API Result ncclCommCount(comm_t c, int* v) {
  if (!c) return INVALID_ARGUMENT;
  *v = c->size;
  return OK;
}
API Result ncclCommUserRank(comm_t c, int* v) {
  if (!c) return INVALID_ARGUMENT;
  *v = c->rank;
  return OK;
}
API Result ncclCommCuDevice(comm_t c, int* v) {
  if (!c) return INVALID_ARGUMENT;
  *v = c->device;
  return OK;
}
API Result ncclCommGetAsyncError(comm_t c, Result* v) {
  if (!c) return INVALID_ARGUMENT;
  *v = c->s && c->s->aborted && !c->error ? REMOTE : c->error;
  return OK;
}
API const char* ncclGetErrorString(Result r) {
  switch (r) {
    case OK: return "no error";
    case UNHANDLED_CUDA: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case SYSTEM: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case INTERNAL: return "internal error - please report this issue to the NCCL developers";
    case INVALID_ARGUMENT: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case INVALID_USAGE: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case REMOTE: return "remote process exited or there was a network error";
    case IN_PROGRESS: return "NCCL operation in progress";
  }
  return "unknown result code";
}
API const char* ncclGetLastError(comm_t) { return ""; }
