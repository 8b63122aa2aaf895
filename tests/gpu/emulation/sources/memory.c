// Memory: a list of blocks, so that every pointer can be looked up. Fresh memory and memory given back
// are filled with values that no program mistakes for its own.
#include "runtime.h"

static const size_t kTotal = 8ull << 30;  // memory of a device; this is a host

static Block* blocks;
static size_t used[MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* take(size_t size, int kind) {
  void* start = NULL;
  if (posix_memalign(&start, 512, size ? size : 1)) return NULL;
  memset(start, 0xfd, size);
  Block* block = malloc(sizeof(Block));
  *block = (Block){start, size, current_device, kind, NULL};
  pthread_mutex_lock(&lock);
  block->next = blocks;
  blocks = block;
  if (kind == DEVICE) used[current_device] += size;
  pthread_mutex_unlock(&lock);
  return start;
}

// Returns 0 where the pointer was the start of a block, or NULL.
static int give_back(void* pointer) {
  if (!pointer) return 0;
  Block* gone = NULL;
  pthread_mutex_lock(&lock);
  for (Block** link = &blocks; *link; link = &(*link)->next)
    if ((*link)->start == pointer) {
      gone = *link;
      *link = gone->next;
      if (gone->kind == DEVICE) used[gone->device] -= gone->size;
      break;
    }
  pthread_mutex_unlock(&lock);
  if (!gone) return 1;
  memset(gone->start, 0xfb, gone->size);
  free(gone->start);
  free(gone);
  return 0;
}

Block* find_block(const void* pointer) {
  const char* p = pointer;
  Block* found = NULL;
  pthread_mutex_lock(&lock);
  for (Block* block = blocks; block && !found; block = block->next)
    if (p >= block->start && p < block->start + (block->size ? block->size : 1)) found = block;
  pthread_mutex_unlock(&lock);
  return found;
}

// For NCCL: 0 where bytes are memory of a device, 1 where they are not, 2 where they are too few, 3 where
// they are on another device.
EXPORTED int emulation_check_memory(const void* pointer, size_t size, int device) {
  Block* block = find_block(pointer);
  if (!block || block->kind != DEVICE) return 1;
  if ((const char*)pointer + size > block->start + block->size) return 2;
  return block->device == device ? 0 : 3;
}

RUNTIME(cudaMalloc)(void** pointer, size_t size) {
  CHECK_FORK();
  CHECK_CAPTURE("cudaMalloc");
  REFUSE_IF(size > kTotal - used[current_device], cudaErrorMemoryAllocation);
  *pointer = take(size, DEVICE);
  REFUSE_IF(!*pointer, cudaErrorMemoryAllocation);
  return cudaSuccess;
}

RUNTIME(cudaMallocAsync)(void** pointer, size_t size, cudaStream_t stream) {
  return emulated_cudaMalloc(pointer, size);
}

RUNTIME(cudaMallocFromPoolAsync)(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return emulated_cudaMalloc(pointer, size);
}

RUNTIME(cudaMallocManaged)(void** pointer, size_t size, unsigned flags) {
  *pointer = take(size, MANAGED);
  REFUSE_IF(!*pointer, cudaErrorMemoryAllocation);
  return cudaSuccess;
}

RUNTIME(cudaHostAlloc)(void** pointer, size_t size, unsigned flags) {
  *pointer = take(size, HOST);
  REFUSE_IF(!*pointer, cudaErrorMemoryAllocation);
  return cudaSuccess;
}

RUNTIME(cudaMallocHost)(void** pointer, size_t size) { return emulated_cudaHostAlloc(pointer, size, 0); }

RUNTIME(cudaFree)(void* pointer) {
  REFUSE_IF(give_back(pointer), cudaErrorInvalidValue);
  return cudaSuccess;
}

RUNTIME(cudaFreeAsync)(void* pointer, cudaStream_t stream) { return emulated_cudaFree(pointer); }
RUNTIME(cudaFreeHost)(void* pointer) { return emulated_cudaFree(pointer); }
RUNTIME(cudaHostRegister)(void* pointer, size_t size, unsigned flags) { return cudaSuccess; }
RUNTIME(cudaHostUnregister)(void* pointer) { return cudaSuccess; }

RUNTIME(cudaMemGetInfo)(size_t* available, size_t* total) {
  *total = kTotal;
  *available = kTotal - used[current_device];
  return cudaSuccess;
}

RUNTIME(cudaPointerGetAttributes)(struct cudaPointerAttributes* attributes, const void* pointer) {
  Block* block = find_block(pointer);
  memset(attributes, 0, sizeof *attributes);
  attributes->device = -2;
  if (!block) return cudaSuccess;
  attributes->type = block->kind;
  attributes->device = block->device;
  attributes->devicePointer = (void*)pointer;
  attributes->hostPointer = block->kind == DEVICE ? NULL : (void*)pointer;
  return cudaSuccess;
}

RUNTIME(cudaMemAdvise)(const void* p, size_t n, enum cudaMemoryAdvise a, struct cudaMemLocation l) {
  return cudaSuccess;
}

RUNTIME(cudaMemPrefetchAsync)
(const void* p, size_t n, struct cudaMemLocation l, unsigned flags, cudaStream_t stream) {
  return cudaSuccess;
}

// One memory pool, about which there is nothing to know.
static cudaMemPool_t const kPool = (cudaMemPool_t)0x77;

RUNTIME(cudaDeviceGetDefaultMemPool)(cudaMemPool_t* pool, int device) {
  *pool = kPool;
  return cudaSuccess;
}

RUNTIME(cudaDeviceGetMemPool)(cudaMemPool_t* pool, int device) {
  *pool = kPool;
  return cudaSuccess;
}

RUNTIME(cudaDeviceSetMemPool)(int device, cudaMemPool_t pool) { return cudaSuccess; }
RUNTIME(cudaMemPoolTrimTo)(cudaMemPool_t pool, size_t size) { return cudaSuccess; }

RUNTIME(cudaMemPoolGetAttribute)(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  *(size_t*)value = 0;
  return cudaSuccess;
}

RUNTIME(cudaMemPoolSetAttribute)(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  return cudaSuccess;
}
