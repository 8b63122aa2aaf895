// Streams, events and recorded graphs. What is put on a stream is done at once; recording a graph does the
// work, too, and only tells whether a real device could have recorded it.
#include <time.h>

#include "runtime.h"

typedef struct {
  double milliseconds;
  int recorded;
  unsigned flags;
  long synchronizations;  // how many there had been when the event was recorded
  int device;
} Event;

enum { NOT_CAPTURING, CAPTURING, SPOILED };

static int capture;
void* captured_stream;

// Handles up to this are the legacy and the per-thread default streams, of the current device.
enum { DEFAULT_STREAMS = 16 };

int stream_device(void* stream) {
  return (size_t)stream > DEFAULT_STREAMS ? ((Stream*)stream)->device : current_device;
}

int spoils_capture(const char* what) {
  if (!capture) return 0;
  capture = SPOILED;
  if (getenv("CHAINER_EMULATION_VERBOSE")) COMPLAIN("%s while a stream is recorded\n", what);
  return 1;
}

RUNTIME(cudaStreamCreateWithPriority)(cudaStream_t* stream, unsigned flags, int priority) {
  CHECK_FORK();
  Stream* created = calloc(1, sizeof(Stream));
  *created = (Stream){current_device, flags, priority};
  *stream = (cudaStream_t)created;
  return cudaSuccess;
}

RUNTIME(cudaStreamCreateWithFlags)(cudaStream_t* stream, unsigned flags) {
  return emulated_cudaStreamCreateWithPriority(stream, flags, 0);
}

RUNTIME(cudaStreamCreate)(cudaStream_t* stream) { return emulated_cudaStreamCreateWithFlags(stream, 0); }

// Not freed: CuPy asks a stream that is gone for its device.
RUNTIME(cudaStreamDestroy)(cudaStream_t stream) { return cudaSuccess; }

RUNTIME(cudaStreamSynchronize)(cudaStream_t stream) {
  CHECK_FORK();
  CHECK_CAPTURE("cudaStreamSynchronize");
  COUNT(emulation_synchronizations);
  return cudaSuccess;
}

RUNTIME(cudaStreamQuery)(cudaStream_t stream) {
  CHECK_CAPTURE("cudaStreamQuery");
  return cudaSuccess;
}

RUNTIME(cudaStreamWaitEvent)(cudaStream_t stream, cudaEvent_t event, unsigned flags) { return cudaSuccess; }

RUNTIME(cudaStreamGetFlags)(cudaStream_t stream, unsigned* flags) {
  *flags = (size_t)stream > DEFAULT_STREAMS ? ((Stream*)stream)->flags : 0;
  return cudaSuccess;
}

RUNTIME(cudaStreamGetPriority)(cudaStream_t stream, int* priority) {
  *priority = (size_t)stream > DEFAULT_STREAMS ? ((Stream*)stream)->priority : 0;
  return cudaSuccess;
}

RUNTIME(cudaStreamAddCallback)
(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}

RUNTIME(cudaLaunchHostFunc)(cudaStream_t stream, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}

// Recording.

RUNTIME(cudaStreamIsCapturing)(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
  *status = capture && stream == captured_stream ? (enum cudaStreamCaptureStatus)capture
                                                 : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

RUNTIME(cudaStreamBeginCapture)(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  REFUSE_IF(!stream, cudaErrorStreamCaptureUnsupported);
  REFUSE_IF(capture, cudaErrorIllegalState);
  capture = CAPTURING;
  captured_stream = stream;
  return cudaSuccess;
}

RUNTIME(cudaStreamEndCapture)(cudaStream_t stream, cudaGraph_t* graph) {
  const int was = capture;
  capture = NOT_CAPTURING;
  captured_stream = NULL;
  *graph = (cudaGraph_t)0x99;
  REFUSE_IF(was == NOT_CAPTURING, cudaErrorIllegalState);
  REFUSE_IF(was == SPOILED, cudaErrorStreamCaptureInvalidated);
  return cudaSuccess;
}

RUNTIME(cudaGraphInstantiateWithFlags)
(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  *executable = (cudaGraphExec_t)0x98;
  return cudaSuccess;
}

RUNTIME(cudaGraphInstantiate)(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return emulated_cudaGraphInstantiateWithFlags(executable, graph, flags);
}

RUNTIME(cudaGraphDestroy)(cudaGraph_t graph) { return cudaSuccess; }
RUNTIME(cudaGraphExecDestroy)(cudaGraphExec_t executable) { return cudaSuccess; }

// Events. One that was recorded is not ready before the next synchronization: code that asks instead of
// waiting sees both answers.

RUNTIME(cudaEventCreateWithFlags)(cudaEvent_t* event, unsigned flags) {
  CHECK_FORK();
  Event* created = calloc(1, sizeof(Event));
  created->flags = flags;
  created->device = current_device;
  *event = (cudaEvent_t)created;
  return cudaSuccess;
}

RUNTIME(cudaEventCreate)(cudaEvent_t* event) { return emulated_cudaEventCreateWithFlags(event, 0); }

RUNTIME(cudaEventDestroy)(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}

RUNTIME(cudaEventRecord)(cudaEvent_t handle, cudaStream_t stream) {
  Event* event = (Event*)handle;
  if (event->device != stream_device(stream)) {
    COMPLAIN("an event of device %d is recorded on a stream of device %d\n", event->device,
             stream_device(stream));
    return fail(cudaErrorInvalidResourceHandle);
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->milliseconds = now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
  event->recorded = 1;
  event->synchronizations = emulation_synchronizations;
  return cudaSuccess;
}

RUNTIME(cudaEventQuery)(cudaEvent_t handle) {
  Event* event = (Event*)handle;
  const int waits = event->recorded && event->synchronizations == emulation_synchronizations;
  return waits ? cudaErrorNotReady : cudaSuccess;
}

RUNTIME(cudaEventSynchronize)(cudaEvent_t event) {
  CHECK_CAPTURE("cudaEventSynchronize");
  COUNT(emulation_synchronizations);
  return cudaSuccess;
}

RUNTIME(cudaEventElapsedTime)(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  Event *first = (Event*)start, *second = (Event*)end;
  REFUSE_IF(!first->recorded || !second->recorded, cudaErrorInvalidResourceHandle);
  *milliseconds = second->milliseconds - first->milliseconds;
  return cudaSuccess;
}
