// The driver API, as far as CuPy uses it: modules are shared objects that compiler.py made, whose
// kernels are functions called emulation_launch_X.
#include <dlfcn.h>

#include "runtime.h"

#define DRIVER(name) EXPORTED int name

// Codes of the driver API; where the runtime has the same error, the number is the same.
enum {
  INVALID_VALUE = 1,
  NOT_INITIALIZED = 3,
  INVALID_IMAGE = 200,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
  CAPTURE_IMPLICIT = 906,
};

typedef struct {
  const char* (*launch)(unsigned* sizes, void** arguments);  // returns an error or NULL
  const char* may_point;  // for each argument '1' where it begins with room for a pointer, else '0'
  const char* name;
} Function;

long emulation_launches;
static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;
static int idle;  // launches do nothing: what is left is the work of the host

__attribute__((constructor)) static void read_idle(void) { idle = getenv("CHAINER_EMULATION_IDLE") != NULL; }

DRIVER(cuInit)(unsigned flags) { return 0; }

DRIVER(cuDriverGetVersion)(int* version) {
  *version = 13000;
  return 0;
}

DRIVER(cuGetErrorName)(int error, const char** text) {
  *text = error == INVALID_VALUE     ? "CUDA_ERROR_INVALID_VALUE"
          : error == NOT_FOUND       ? "CUDA_ERROR_NOT_FOUND"
          : error == INVALID_HANDLE  ? "CUDA_ERROR_INVALID_HANDLE"
          : error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == NOT_SUPPORTED   ? "CUDA_ERROR_NOT_SUPPORTED"
                                     : "CUDA_ERROR_LAUNCH_FAILED";
  return 0;
}

DRIVER(cuGetErrorString)(int error, const char** text) {
  *text = "error of the emulated device";
  return 0;
}

// One context for each device.
static void* const kContexts = (void*)0x100;

DRIVER(cuCtxGetCurrent)(void** context) {
  *context = (char*)kContexts + current_device;
  return 0;
}

DRIVER(cuCtxSetCurrent)(void* context) { return 0; }

DRIVER(cuCtxGetDevice)(int* device) {
  *device = current_device;
  return 0;
}

DRIVER(cuCtxCreate)(void** context, unsigned flags, int device) {
  *context = (char*)kContexts + device;
  return 0;
}

DRIVER(cuCtxDestroy)(void* context) { return 0; }
DRIVER(cuDevicePrimaryCtxRelease)(int device) { return 0; }

DRIVER(cuStreamGetCtx)(void* stream, void** context) {
  *context = (char*)kContexts + stream_device(stream);
  return 0;
}

// The image of a module is the path of a shared object.
DRIVER(cuModuleLoadData)(void** module, const void* image) {
  *module = dlopen((const char*)image, RTLD_NOW | RTLD_LOCAL);
  if (*module) return 0;
  COMPLAIN("%s\n", dlerror());
  return INVALID_IMAGE;
}

DRIVER(cuModuleLoad)(void** module, const char* path) { return cuModuleLoadData(module, path); }
DRIVER(cuModuleUnload)(void* module) { return 0; }

static void* look_up(void* module, const char* prefix, const char* name) {
  char buffer[4096];
  snprintf(buffer, sizeof buffer, "%s%s", prefix, name);
  return dlsym(module, buffer);
}

DRIVER(cuModuleGetFunction)(void** handle, void* module, const char* name) {
  void* launch = look_up(module, "emulation_launch_", name);
  const char* (*may_point)(void) = look_up(module, "emulation_arguments_", name);
  if (!launch || !may_point) {
    COMPLAIN("there is no kernel %s\n", name);
    return NOT_FOUND;
  }
  Function* function = malloc(sizeof(Function));
  *function = (Function){launch, may_point(), strdup(name)};
  *handle = function;
  return 0;
}

DRIVER(cuModuleGetGlobal)(void** pointer, void* module, const char* name) {
  *pointer = dlsym(module, name);
  return *pointer ? 0 : NOT_FOUND;
}

DRIVER(cuFuncGetAttribute)(int* value, int attribute, void* function) {
  enum { MAX_THREADS_PER_BLOCK = 0, PTX_VERSION = 5, BINARY_VERSION = 6 };
  *value = attribute == MAX_THREADS_PER_BLOCK                        ? MAX_THREADS
           : attribute == PTX_VERSION || attribute == BINARY_VERSION ? 90
                                                                     : 0;
  return 0;
}

DRIVER(cuFuncSetAttribute)(void* function, int attribute, int value) { return 0; }

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int* count, void* f, int threads, size_t shared) {
  *count = 2 * MAX_THREADS / threads;
  return 0;
}

DRIVER(cuOccupancyMaxPotentialBlockSize)
(int* grid, int* block, void* function, void* size_of_shared, size_t shared, int limit) {
  *grid = 8;
  *block = 256;
  return 0;
}

// Returns a code where arguments lie on a device whose memory the current one cannot reach.
static int check_arguments(Function* function, void** arguments) {
  for (int i = 0; function->may_point[i]; ++i) {
    if (function->may_point[i] == '0') continue;
    Block* block = find_block(*(void**)arguments[i]);
    if (!block || block->kind != DEVICE || peers_enabled(current_device, block->device)) continue;
    COMPLAIN("%s runs on device %d, its argument %d is on device %d\n", function->name, current_device, i,
             block->device);
    return ILLEGAL_ADDRESS;
  }
  return 0;
}

static int check_sizes(Function* function, const unsigned* grid, const unsigned* block, unsigned shared) {
  int bad = grid[0] > 2147483647u || grid[1] > 65535 || grid[2] > 65535 || block[2] > 64 ||
            (unsigned long)block[0] * block[1] * block[2] > MAX_THREADS || shared > MAX_SHARED;
  for (int i = 0; i < 3; ++i) bad |= !grid[i] || !block[i];
  if (bad)
    COMPLAIN("%s cannot be launched with grid (%u, %u, %u), block (%u, %u, %u) and %u bytes\n",
             function->name, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared);
  return bad ? INVALID_VALUE : 0;
}

DRIVER(cuLaunchKernel)
(void* handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
 unsigned block_z, unsigned shared, void* stream, void** arguments, void** extra) {
  Function* function = handle;
  unsigned sizes[7] = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared};
  COUNT(emulation_launches);
  if (idle) return 0;
  if (forked()) return NOT_INITIALIZED;
  int error = check_sizes(function, sizes, sizes + 3, shared);
  if (error) return error;
  if (stream != captured_stream && spoils_capture("a launch on another stream")) return CAPTURE_IMPLICIT;
  if (stream_device(stream) != current_device) {
    COMPLAIN("%s is launched on a stream of another device\n", function->name);
    return INVALID_HANDLE;
  }
  error = check_arguments(function, arguments);
  if (error) return error;
  pthread_mutex_lock(&launching);
  const char* text = function->launch(sizes, arguments);
  pthread_mutex_unlock(&launching);
  if (!text) return 0;
  COMPLAIN("%s: %s\n", function->name, text);
  return LAUNCH_FAILED;
}

DRIVER(cuLaunchCooperativeKernel)
(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
 void* stream, void** arguments) {
  return NOT_SUPPORTED;  // the blocks of a grid run one after the other
}

DRIVER(cuLinkCreate)(void) { return NOT_SUPPORTED; }
DRIVER(cuLinkAddData)(void) { return NOT_SUPPORTED; }
DRIVER(cuLinkAddFile)(void) { return NOT_SUPPORTED; }
DRIVER(cuLinkComplete)(void) { return NOT_SUPPORTED; }
DRIVER(cuLinkDestroy)(void) { return NOT_SUPPORTED; }
