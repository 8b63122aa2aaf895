// Copies: checked against the blocks of memory, and counted where they cross the border to the host.
#include "runtime.h"

long emulation_copies, emulation_synchronizations;

static const char* const kKinds[] = {"host to host", "host to device", "device to host", "device to device"};

static int on_device(Block* block) { return block && block->kind != HOST; }

static int past_end(Block* block, const void* pointer, size_t size) {
  return block && (const char*)pointer + size > block->start + block->size;
}

static cudaError_t check(void* to, const void* from, size_t size, enum cudaMemcpyKind* kind) {
  Block *target = find_block(to), *source = find_block(from);
  enum cudaMemcpyKind seen =
      (on_device(source) ? cudaMemcpyDeviceToHost : 0) + (on_device(target) ? cudaMemcpyHostToDevice : 0);
  if (*kind == cudaMemcpyDefault) *kind = seen;
  if (!size) return cudaSuccess;
  const int anywhere = (source && source->kind == MANAGED) || (target && target->kind == MANAGED);
  if (*kind != cudaMemcpyHostToHost && *kind != seen && !anywhere) {
    COMPLAIN("a copy from %s is said to be from %s\n", kKinds[seen], kKinds[*kind]);
    return cudaErrorInvalidValue;
  }
  if (past_end(target, to, size) || past_end(source, from, size)) {
    COMPLAIN("a copy of %zu bytes goes past the end of the %s\n", size,
             past_end(target, to, size) ? "destination" : "source");
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

static cudaError_t copy(void* to, const void* from, size_t size, enum cudaMemcpyKind kind) {
  const cudaError_t error = check(to, from, size, &kind);
  REFUSE_IF(error, error);
  if (kind != cudaMemcpyDeviceToDevice) COUNT(emulation_copies);
  if (kind == cudaMemcpyDeviceToHost) COUNT(emulation_synchronizations);
  memmove(to, from, size);
  return cudaSuccess;
}

RUNTIME(cudaMemcpy)(void* to, const void* from, size_t size, enum cudaMemcpyKind kind) {
  CHECK_FORK();
  CHECK_CAPTURE("cudaMemcpy");
  return copy(to, from, size, kind);
}

RUNTIME(cudaMemcpyAsync)
(void* to, const void* from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream) {
  CHECK_FORK();
  REFUSE_IF(stream != captured_stream && spoils_capture("cudaMemcpyAsync on another stream"),
            cudaErrorStreamCaptureImplicit);
  return copy(to, from, size, kind);
}

RUNTIME(cudaMemcpyPeer)(void* to, int to_device, const void* from, int from_device, size_t size) {
  CHECK_FORK();
  return copy(to, from, size, cudaMemcpyDeviceToDevice);
}

RUNTIME(cudaMemcpyPeerAsync)
(void* to, int to_device, const void* from, int from_device, size_t size, cudaStream_t stream) {
  CHECK_FORK();
  return copy(to, from, size, cudaMemcpyDeviceToDevice);
}

RUNTIME(cudaMemcpy2D)
(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
 enum cudaMemcpyKind kind) {
  CHECK_FORK();
  CHECK_CAPTURE("cudaMemcpy2D");
  for (size_t row = 0; row < height; ++row) {
    const char* source = (const char*)from + row * from_pitch;
    const cudaError_t error = copy((char*)to + row * to_pitch, source, width, kind);
    if (error) return error;
  }
  return cudaSuccess;
}

RUNTIME(cudaMemcpy2DAsync)
(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
 enum cudaMemcpyKind kind, cudaStream_t stream) {
  return emulated_cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

RUNTIME(cudaMemset)(void* to, int value, size_t size) {
  CHECK_FORK();
  Block* block = find_block(to);
  REFUSE_IF(size && (!on_device(block) || past_end(block, to, size)), cudaErrorInvalidValue);
  memset(to, value, size);
  return cudaSuccess;
}

RUNTIME(cudaMemsetAsync)(void* to, int value, size_t size, cudaStream_t stream) {
  return emulated_cudaMemset(to, value, size);
}
