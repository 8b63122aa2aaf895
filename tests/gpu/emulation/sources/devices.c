// Devices, their properties, errors, and what becomes of CUDA in a forked process.
#include "runtime.h"

enum { VERSION = 13000, MULTIPROCESSORS = 4, COMPUTE_CAPABILITY = 9 };

__thread int current_device = 0;
static __thread cudaError_t last_error;

static int initialized, is_forked;
static char peers[MAX_DEVICES][MAX_DEVICES];

static void in_child(void) { is_forked = initialized; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

int forked(void) {
  initialized = 1;
  return is_forked;
}

cudaError_t fail(cudaError_t error) {
  last_error = error;
  return error;
}

static int setting(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text && *text ? atoi(text) : otherwise;
}

int device_count(void) {
  const int count = setting("CHAINER_EMULATION_DEVICES", 1);
  return count < MAX_DEVICES ? count : MAX_DEVICES;
}

static int no_device(int device) { return device < 0 || device >= device_count(); }

RUNTIME(cudaGetDevice)(int* device) {
  CHECK_FORK();
  *device = current_device;
  return cudaSuccess;
}

RUNTIME(cudaSetDevice)(int device) {
  CHECK_FORK();
  REFUSE_IF(no_device(device), cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}

RUNTIME(cudaGetDeviceCount)(int* count) {
  CHECK_FORK();
  *count = device_count();
  REFUSE_IF(!*count, cudaErrorNoDevice);
  return cudaSuccess;
}

RUNTIME(cudaDriverGetVersion)(int* version) {
  *version = VERSION;
  return cudaSuccess;
}

RUNTIME(cudaRuntimeGetVersion)(int* version) {
  *version = VERSION;
  return cudaSuccess;
}

RUNTIME(cudaDeviceSynchronize)(void) {
  CHECK_FORK();
  CHECK_CAPTURE("cudaDeviceSynchronize");
  COUNT(emulation_synchronizations);
  return cudaSuccess;
}

RUNTIME(cudaDeviceGetAttribute)(int* value, enum cudaDeviceAttr attribute, int device) {
  REFUSE_IF(no_device(device), cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = COMPUTE_CAPABILITY; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMultiProcessorCount: *value = MULTIPROCESSORS; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = MAX_THREADS; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = PLAIN_SHARED; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = MAX_SHARED; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = MAX_SHARED + 1024; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2 * MAX_THREADS; break;
    case cudaDevAttrMaxGridDimX: *value = 2147483647; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrWarpSize: *value = WARP; break;
    default: *value = 1;
  }
  return cudaSuccess;
}

RUNTIME(cudaGetDeviceProperties)(struct cudaDeviceProp* properties, int device) {
  REFUSE_IF(no_device(device), cudaErrorInvalidDevice);
  memset(properties, 0, sizeof *properties);
  strcpy(properties->name, "Emulated GPU");
  properties->totalGlobalMem = 8ull << 30;
  properties->major = COMPUTE_CAPABILITY;
  properties->multiProcessorCount = MULTIPROCESSORS;
  properties->warpSize = WARP;
  properties->maxThreadsPerBlock = MAX_THREADS;
  properties->maxThreadsPerMultiProcessor = 2 * MAX_THREADS;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = MAX_THREADS;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->sharedMemPerBlock = PLAIN_SHARED;
  properties->sharedMemPerBlockOptin = MAX_SHARED;
  properties->sharedMemPerMultiprocessor = MAX_SHARED + 1024;
  properties->memoryPoolsSupported = properties->unifiedAddressing = 1;
  return cudaSuccess;
}

RUNTIME(cudaDeviceCanAccessPeer)(int* can, int device, int peer) {
  *can = device != peer && setting("CHAINER_EMULATION_PEERS", 1);
  return cudaSuccess;
}

RUNTIME(cudaDeviceEnablePeerAccess)(int peer, unsigned flags) {
  REFUSE_IF(no_device(peer) || peer == current_device, cudaErrorInvalidDevice);
  REFUSE_IF(peers[current_device][peer], cudaErrorPeerAccessAlreadyEnabled);
  peers[current_device][peer] = 1;
  return cudaSuccess;
}

int peers_enabled(int from, int to) { return from == to || peers[from][to]; }

RUNTIME(cudaDeviceGetLimit)(size_t* value, enum cudaLimit limit) {
  *value = 1 << 20;
  return cudaSuccess;
}

RUNTIME(cudaDeviceSetLimit)(enum cudaLimit limit, size_t value) { return cudaSuccess; }

RUNTIME(cudaDeviceGetPCIBusId)(char* text, int size, int device) {
  snprintf(text, size, "0000:0%d:00.0", device);
  return cudaSuccess;
}

RUNTIME(cudaDeviceGetStreamPriorityRange)(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

RUNTIME(cudaProfilerStart)(void) { return cudaSuccess; }
RUNTIME(cudaProfilerStop)(void) { return cudaSuccess; }

RUNTIME(cudaGetLastError)(void) {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

RUNTIME(cudaPeekAtLastError)(void) { return last_error; }

static const struct {
  cudaError_t code;
  const char *name, *text;
} kErrors[] = {
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
};

EXPORTED const char* emulated_cudaGetErrorName(cudaError_t error) {
  for (size_t i = 0; i < sizeof kErrors / sizeof *kErrors; ++i)
    if (kErrors[i].code == error) return kErrors[i].name;
  return "cudaError";
}

EXPORTED const char* emulated_cudaGetErrorString(cudaError_t error) {
  for (size_t i = 0; i < sizeof kErrors / sizeof *kErrors; ++i)
    if (kErrors[i].code == error) return kErrors[i].text;
  return "unknown error";
}
